"""A path of 1 Gbit/s from Chicago to Dublin, of which standard TCP uses little, and the proposed replacements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import Claim, holds_if
from tightlink.experiment.execute import Task
from tightlink.report import Chart, Section, Table, charts
from tightlink.studies.congestion_basics.document import DOCUMENT, FLOW, LINK, scenario
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

#: Our choice: 5,900 km of fibre there and back are 59 ms, and real routes take nearly twice that.
RTT_MS: Final = 100
#: Our choice, too: a fifth of a bandwidth-delay product.
QUEUE: Final = "0.2 BDP"
DURATION_S: Final = 300
#: Shares of packets that the path loses by itself.
LOSSES: Final = (0.0, 1e-7, 1e-6, 1e-5)
#: Where slow start ends: never, and NIST's low threshold.
THRESHOLDS: Final = ("unlimited", "100 packets")
#: The eight of the document, and what came after.
CONTROLS: Final = ("reno", "bic", "compound", "fast", "fast-at", "highspeed", "htcp", "scalable", "cubic")
_COMPARED_S: Final = 100
_COMPARED_LOSS: Final = 1e-6
_STATED: Final = 0.89
_SOURCE: Final = f"{DOCUMENT}, 1 Gbit/s path between Chicago and Dublin (Li, Leith, Shorten 2007, fig. 1)"


def tasks() -> list[Task]:
    """Standard TCP at some losses, then all controls at one."""
    alone = [
        Task(
            f"chicago-dublin/{threshold.split()[0]}/{loss:g}",
            scenario("1 Gbit/s", RTT_MS, QUEUE, DURATION_S, loss=loss, interval_s=1, initial_ssthresh=threshold),
        )
        for threshold in THRESHOLDS
        for loss in LOSSES
    ]
    return alone + [
        Task(
            f"replacements/{name}",
            scenario(
                "1 Gbit/s", RTT_MS, QUEUE, _COMPARED_S, loss=_COMPARED_LOSS, interval_s=1,
                initial_ssthresh=THRESHOLDS[-1], congestion=name,
            ),
        )
        for name in CONTROLS
    ]  # fmt: skip


def standard(runs: Mapping[str, Run]) -> pl.DataFrame:
    """What one standard TCP flow uses of the path."""
    rows = [
        (threshold, loss, _used(runs[f"chicago-dublin/{threshold.split()[0]}/{loss:g}"]))
        for threshold in THRESHOLDS
        for loss in LOSSES
    ]
    return pl.DataFrame(rows, schema=["slow_start_to", "loss", "utilization"], orient="row")


def replacements(runs: Mapping[str, Run]) -> pl.DataFrame:
    """What one flow of each control uses of it."""
    rows = [(name, _used(runs[f"replacements/{name}"])) for name in CONTROLS]
    return pl.DataFrame(rows, schema=["control", "utilization"], orient="row")


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """How little standard TCP uses, and how much more the others do."""
    found = standard(runs)
    clean = found.filter((pl.col("loss") == 0) & (pl.col("slow_start_to") == THRESHOLDS[0]))["utilization"][0]
    lossy = found.filter((pl.col("loss") > 0) | (pl.col("slow_start_to") != THRESHOLDS[0]))["utilization"].to_list()
    yield holds_if(
        "dublin.less", "Standard TCP uses much less than 89 % of 1 Gbit/s from Chicago to Dublin", _SOURCE, max(lossy),
        max(lossy) < 0.6 * _STATED,
        f"The largest of {len(lossy)} runs of {DURATION_S} s in which the path loses a packet in ten million or more, "
        "or slow start ends at 100 packets. Round trip and queue are our choice, the document gives neither.",
    )  # fmt: skip
    yield holds_if(
        "dublin.clean", "It does so on a path that loses nothing by itself, too", _SOURCE, clean, clean < 0.6 * _STATED,
        f"In the first {DURATION_S} s. Slow start overshoots and its losses cut the window more than once; what they "
        "took comes back by a packet a round trip.",
    )  # fmt: skip
    compared = replacements(runs)
    own = compared.filter(pl.col("control") == "reno")["utilization"][0]
    others = compared.filter(pl.col("control") != "reno")["utilization"].to_list()
    yield holds_if(
        "dublin.replacements", "Each proposed replacement uses more of it than standard TCP",
        f"{DOCUMENT}, proposed TCP replacements; increase rate", min(others) / own, min(others) > own,
        f"Least of the eight over standard TCP, which uses {percent(own)}; {_COMPARED_S} s from a threshold of 100 "
        "packets, at one loss in a million.",
    )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    found = standard(runs)
    parts = [
        runs[f"replacements/{name}"]
        .series.filter((pl.col("entity") == FLOW) & (pl.col("metric") == "goodput_bps"))
        .select("time_s", pl.col("value").alias("goodput_bps"), control=pl.lit(name))
        for name in CONTROLS
    ]
    chart = charts.line(pl.concat(parts), "time_s", "goodput_bps", by="control", height=340)
    wide = found.with_columns(pl.col("loss").map_elements(lambda loss: f"loss {loss:g}", return_dtype=pl.String)).pivot(
        "loss", index="slow_start_to", values="utilization"
    )
    formats = {name: percent for name in wide.columns if name != "slow_start_to"}
    low = found.filter(pl.col("loss") == _COMPARED_LOSS)["utilization"].to_list()
    compared = replacements(runs).sort("utilization", descending=True)
    best = compared.row(0)
    finding = (
        f"With one loss in a million, standard TCP uses {percent(min(low))} to {percent(max(low))} of the path in "
        f"{DURATION_S} s; {best[0]}, {percent(best[1])} within {_COMPARED_S} s."
    )
    about = (
        f"One flow of each control over 1 Gbit/s, {RTT_MS} ms and {QUEUE}, one loss in a million, slow start up to 100 "
        "packets, as in NIST's experiments with a low threshold."
    )
    return Section(
        "1 Gbit/s from Chicago to Dublin", finding,
        [
            Table(wide, f"Utilization by one standard TCP flow in {DURATION_S} s", dict(formats)),
            Chart(chart, about),
            Table(compared),
        ],
    )  # fmt: skip


def _used(run: Run) -> float:
    return float(run.links.filter(pl.col("link") == LINK)["utilization"][0])
