"""The parts of the report on the phases of a flow, and on the two paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.sawtooth import queue_for, utilization
from tightlink.report import Chart, Format, Section, Table, charts
from tightlink.studies.congestion_basics.observe.paths import STATED
from tightlink.studies.congestion_basics.setup.long_path import COMPARED_LOSS, COMPARED_S, DURATION_S, QUEUE, RTT_MS
from tightlink.studies.congestion_basics.setup.phases import END_S, FLOOD_S, RTT_S, THRESHOLD
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from tightlink.studies.congestion_basics.observe.long_path import LongPath
    from tightlink.studies.congestion_basics.observe.paths import Paths
    from tightlink.studies.congestion_basics.observe.phases import Phases

#: The section with the picture of the study.
TITLE: Final = "252 Mbit/s, and 89 % of it"


def phases(found: Phases) -> Section:
    """The window over time, and the table of phases."""
    table = pl.DataFrame(found.listed, schema=["phase", "begin_s", "end_s"], orient="row")
    chart = charts.line(found.window, "time_s", "cwnd_packets", height=300, x_domain=(0, END_S))
    _, begin, end = found.listed[1]
    finding = (
        f"Slow start takes {end - begin:.1f} s to {THRESHOLD} packets; congestion avoidance then adds "
        f"as many in {THRESHOLD * RTT_S:.0f} s. What a loss costs is repaid packet by packet."
    )
    about = (
        f"One Reno flow over 50 Mbit/s and {RTT_S * 1e3:.0f} ms, a queue of 0.25 BDP, an ACK for every packet, a "
        f"threshold of {THRESHOLD} packets. It loses at its own queue; from {FLOOD_S} s on others flood "
        "the path for a second."
    )
    return Section("The phases of a flow", finding, [Chart(chart, about), Table(table)])


def sawtooth() -> tuple[list[float], list[float]]:
    """The curve of one flow's sawtooth: queues and utilizations."""
    sizes = [place / 100 for place in range(56)]
    return sizes, [utilization(size) for size in sizes]


def bottleneck(found: Paths) -> Section:
    """Utilization of 252 Mbit/s over the queue, and the queues of the stated share."""
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


def long_path(found: LongPath) -> Section:
    """From Chicago to Dublin: standard TCP at some losses, and all controls at one."""
    chart = charts.line(found.goodput, "time_s", "goodput_bps", by="control", height=340)
    named = pl.col("loss").map_elements(lambda loss: f"loss {loss:g}", return_dtype=pl.String)
    wide = found.standard.with_columns(named).pivot("loss", index="slow_start_to", values="utilization")
    formats: dict[str, Format] = {name: percent for name in wide.columns if name != "slow_start_to"}
    low = found.standard.filter(pl.col("loss") == COMPARED_LOSS)["utilization"].to_list()
    compared = found.replacements.sort("utilization", descending=True)
    best = compared.row(0)
    finding = (
        f"With one loss in a million, standard TCP uses {percent(min(low))} to {percent(max(low))} of the path in "
        f"{DURATION_S} s; {best[0]}, {percent(best[1])} within {COMPARED_S} s."
    )
    about = (
        f"One flow of each control over 1 Gbit/s, {RTT_MS} ms and {QUEUE}, one loss in a million, slow start up to 100 "
        "packets, as in NIST's experiments with a low threshold."
    )
    table = Table(wide, f"Utilization by one standard TCP flow in {DURATION_S} s", formats)
    return Section("1 Gbit/s from Chicago to Dublin", finding, [table, Chart(chart, about), Table(compared)])
