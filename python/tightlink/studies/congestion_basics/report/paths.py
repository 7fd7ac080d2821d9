"""The part of the report on the path of 252 Mbit/s."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.analysis.sawtooth import queue_for, utilization
from tightlink.report import Chart, Format, Section, Table, charts
from tightlink.studies.congestion_basics.observe.paths import STATED
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from tightlink.studies.congestion_basics.observe.paths import Paths

TITLE = "252 Mbit/s, and 89 % of it"


def sawtooth() -> tuple[list[float], list[float]]:
    """The curve of one flow's sawtooth: queues and utilizations."""
    sizes = [place / 100 for place in range(56)]
    return sizes, [utilization(size) for size in sizes]


def section(found: Paths) -> Section:
    """Utilization over the queue, and the queues of the stated share."""
    words = pl.when(pl.col("flows") == 1).then(pl.lit("flow")).otherwise(pl.lit("flows"))
    named = found.grid.with_columns(of=pl.format("{} {}, {} ms", "flows", words, pl.col("rtt_ms").cast(pl.Int64)))
    sizes, used = sawtooth()
    curve = pl.DataFrame(
        {"queue_bdp": sizes, "utilization": [100 * share for share in used], "theory": "sawtooth of one flow"}
    )
    chart = charts.points(
        named.select("queue_bdp", pl.col("utilization") * 100, "of", "flows", "rtt_ms"), "queue_bdp", "utilization",
        by="of", curves=curve, curve="theory", x_title="queue (bandwidth-delay products)", y_title="utilization (%)",
        x_domain=(0, 0.55), y_domain=(70, 100), height=340,
    )  # fmt: skip
    queues = found.queues()
    finding = (
        f"{percent(STATED)} is what one Reno flow reaches with a queue of {min(queues):.3f} to {max(queues):.3f} "
        f"bandwidth-delay products, at every round trip; its sawtooth says {queue_for(STATED):.3f}. With no queue it "
        "would be 75 %, with a whole product 100 %."
    )
    about = (
        "Utilization of 252 Mbit/s by one Reno flow and by eight, at round trips of 10 to 70 ms, an ACK for every "
        "packet, without the beginning; one flow's runs have at least three losses after it."
    )
    reached = found.reached.rename({"rtt_ms": "round trip (ms)", "queue_bdp": "queue (bandwidth-delay products)"})
    formats: dict[str, Format] = {"queue (bandwidth-delay products)": ".3f"}
    table = Table(reached, "The queue at which 89 % is reached (–: not between queues of the grid)", formats)
    return Section(TITLE, finding, [Chart(chart, about), table])
