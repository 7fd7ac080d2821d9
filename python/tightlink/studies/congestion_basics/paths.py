"""A path of 252 Mbit/s of which TCP uses 89 %: for which round trips, queues and numbers of flows?"""

from __future__ import annotations

import itertools
from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.sawtooth import epoch_s, queue_for, utilization
from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.experiment.execute import Task
from tightlink.reduce import largest, smallest
from tightlink.report import Chart, Format, Section, Table, charts
from tightlink.studies.congestion_basics.document import DOCUMENT, LINK, PACKET_BYTES, scenario
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run
    from tightlink.scenario import Scenario

RATE_BPS: Final = 252e6
STATED: Final = 0.89
#: The document gives no round trip; the middle one is our choice, that of a path across North America.
RTTS_MS: Final = (10, 40, 70)
CHOSEN_MS: Final = 70
QUEUES_BDP: Final = (0.05, 0.1, 0.2, 0.3, 0.5)
FLOWS: Final = (1, 8)
#: Epochs of a single flow from its first loss on.
EPOCHS: Final = 3.2
_SHORTEST_S: Final = 40
_SAMPLES: Final = 400
_SOURCE: Final = f"{DOCUMENT}, 252 Mbit/s bottleneck path"


def tasks() -> list[Task]:
    """The grid, each run long enough for some losses of a single flow."""
    return [
        Task(_name(rtt, queue, flows), _scenario(rtt, queue, flows))
        for rtt, queue, flows in itertools.product(RTTS_MS, QUEUES_BDP, FLOWS)
    ]


def grid(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Utilization of each cell after the first losses, beside that of one flow's sawtooth."""
    rows = [
        (float(rtt), queue, flows, _used(runs[_name(rtt, queue, flows)]), utilization(queue))
        for rtt, queue, flows in itertools.product(RTTS_MS, QUEUES_BDP, FLOWS)
    ]
    return pl.DataFrame(rows, schema=["rtt_ms", "queue_bdp", "flows", "utilization", "sawtooth"], orient="row")


def region(found: pl.DataFrame) -> pl.DataFrame:
    """The queue at which the stated utilization is reached, for each round trip and number of flows.

    Interpolated; missing where every queue of the grid reaches it.
    """
    rows = []
    for (rtt, flows), part in found.group_by("rtt_ms", "flows", maintain_order=True):
        points = part.sort("queue_bdp").select("queue_bdp", "utilization").rows()
        crossing = [
            low + (STATED - used) / (more - used) * (high - low)
            for (low, used), (high, more) in itertools.pairwise(points)
            if used < STATED <= more
        ]
        rows.append((rtt, flows, crossing[0] if crossing else None))
    return pl.DataFrame(rows, schema={"rtt_ms": pl.Float64, "flows": pl.Int64, "queue_bdp": pl.Float64}, orient="row")


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """The document's figure, and what it takes."""
    found = grid(runs)
    alone = found.filter(pl.col("flows") == 1)
    off = (alone["utilization"] - alone["sawtooth"]).abs().max()
    yield within(
        "252.sawtooth", "One flow uses what its sawtooth says, whatever the round trip",
        "arithmetic: the window goes from half of 1 + b bandwidth-delay products to 1 + b", 0, off, tolerance=0.02,
        reason="Largest difference in the grid, as a share of the link.",
    )  # fmt: skip
    reached = region(found).filter(pl.col("flows") == 1)
    chosen = reached.filter(pl.col("rtt_ms") == CHOSEN_MS)["queue_bdp"][0]
    yield holds_if(
        "252.89", "TCP flows achieve 89 % of a path of 252 Mbit/s", _SOURCE, chosen, chosen is not None,
        f"At our choice of {CHOSEN_MS} ms one flow does with a queue of so many bandwidth-delay products; the document "
        "gives neither. For one flow the round trip does not matter, the queue does.", unit="BDP",
    )  # fmt: skip
    sizes = reached["queue_bdp"].drop_nulls().to_list()
    yield within(
        "252.queue", "For one flow it takes a quarter of a bandwidth-delay product", "arithmetic: sawtooth",
        queue_for(STATED), sum(sizes) / len(sizes), tolerance=0.05, unit="BDP",
        reason=f"Mean over round trips of {', '.join(map(str, RTTS_MS))} ms.",
    )  # fmt: skip
    several = found.filter(pl.col("flows") == max(FLOWS))
    more = several.join(alone, on=["rtt_ms", "queue_bdp"], suffix="_alone")
    gained = more["utilization"] - more["utilization_alone"]
    least, most = smallest(gained), largest(gained)
    yield holds_if(
        "252.flows", f"{max(FLOWS)} flows use no less than one", "arithmetic: sawteeth that add up", least,
        least > -0.01,
        f"Smallest difference in the grid, as a share of the link; the largest is {most:.3f}. It is little, as flows "
        "that start together lose together at a drop-tail queue.",
    )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    found = grid(runs)
    reached = region(found)
    words = pl.when(pl.col("flows") == 1).then(pl.lit("flow")).otherwise(pl.lit("flows"))
    named = found.with_columns(of=pl.format("{} {}, {} ms", "flows", words, pl.col("rtt_ms").cast(pl.Int64)))
    steps = [place / 100 for place in range(56)]
    curve = pl.DataFrame(
        {
            "queue_bdp": steps,
            "utilization": [100 * utilization(size) for size in steps],
            "theory": "sawtooth of one flow",
        }
    )
    chart = charts.points(
        named.select("queue_bdp", pl.col("utilization") * 100, "of", "flows", "rtt_ms"), "queue_bdp", "utilization",
        by="of", curves=curve, curve="theory", x_title="queue (bandwidth-delay products)", y_title="utilization (%)",
        x_domain=(0, 0.55), y_domain=(70, 100), height=340,
    )  # fmt: skip
    alone = reached.filter(pl.col("flows") == 1)["queue_bdp"].drop_nulls().to_list()
    finding = (
        f"{percent(STATED)} is what one Reno flow reaches with a queue of {min(alone):.3f} to {max(alone):.3f} "
        f"bandwidth-delay products, at every round trip; its sawtooth says {queue_for(STATED):.3f}. With no queue it "
        "would be 75 %, with a whole product 100 %."
    )
    about = (
        "Utilization of 252 Mbit/s by one Reno flow and by eight, at round trips of 10 to 70 ms, an ACK for every "
        "packet, without the beginning; one flow's runs have at least three losses after it."
    )
    named_region = reached.rename({"rtt_ms": "round trip (ms)", "queue_bdp": "queue (bandwidth-delay products)"})
    formats: dict[str, Format] = {"queue (bandwidth-delay products)": ".3f"}
    table = Table(named_region, "The queue at which 89 % is reached (–: not between queues of the grid)", formats)
    return Section("252 Mbit/s, and 89 % of it", finding, [Chart(chart, about), table])


def _bdp(rtt_ms: float) -> float:
    return RATE_BPS * rtt_ms / 1e3 / (8 * PACKET_BYTES)


def _duration_s(rtt: float, queue: float, flows: int) -> float:
    """The way to the first loss, and some epochs; several flows have less to regain each."""
    climb = _bdp(rtt) * rtt / 1e3
    return max(_SHORTEST_S, (climb + EPOCHS * epoch_s(queue, _bdp(rtt), rtt / 1e3)) / flows)


def _scenario(rtt: float, queue: float, flows: int) -> Scenario:
    duration = _duration_s(rtt, queue, flows)
    # So low that a burst of slow start fits into the queue: its overshoot would tell of something else.
    threshold = max(2, queue * _bdp(rtt) / flows)
    return scenario(
        f"{RATE_BPS / 1e6:g} Mbit/s", rtt, f"{max(2, round(queue * _bdp(rtt)))} packets", duration, flows=flows,
        interval_s=duration / _SAMPLES, initial_ssthresh=f"{round(threshold)} packets",
    )  # fmt: skip


def _name(rtt: float, queue: float, flows: int) -> str:
    return f"252/{rtt:g}-ms/{queue:g}-bdp/{flows}"


def _used(run: Run) -> float:
    """Utilization over whole epochs: from the first loss to the last one."""
    chosen = pl.col("entity") == LINK
    wide = run.series.filter(chosen & pl.col("metric").is_in(["utilization", "packets_dropped"]))
    samples = wide.pivot("metric", index="time_s", values="value").sort("time_s")
    losses = [place for place, dropped in enumerate(samples["packets_dropped"]) if dropped > 0]
    epochs = samples["utilization"].slice(losses[0] + 1, losses[-1] - losses[0])
    return fmean(epochs.to_list())
