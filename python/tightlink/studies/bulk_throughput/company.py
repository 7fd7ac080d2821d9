"""With other people's traffic, which the document says its simulator lacks: how the prediction's interval widens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.analysis.cross_traffic import MOMENTS, spread, weekly
from tightlink.experiment.claims import holds_if
from tightlink.experiment.execute import Task
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.paths import DARESBURY, DOCUMENT
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

_SHARES: Final = (0.0, 0.1, 0.2, 0.3, 0.4)
_SEEDS: Final = (1, 2)
#: What the rules choose for Daresbury, and the single flow.
_CHOSEN: Final = {"1 flow of 128 kB": (88, 1), "4 flows of 64 kB": (44, 4), "25 flows of 8 kB": (6, 25)}


def tasks() -> list[Task]:
    """Each share of cross traffic, at times of the week."""
    return [
        Task(
            _name(percent_, window, flows, place, seed),
            MOMENTS[place].path(DARESBURY.path.changed(cross=percent_)).scenario(window, flows, seed=seed),
        )
        for window, flows in _CHOSEN.values()
        for percent_ in _SHARES[1:]
        for place in range(len(MOMENTS))
        for seed in _SEEDS
    ]


def goodputs(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run: what is transferred, mean share, hour, weekend, its weight, goodput."""
    rows = []
    for setting, (window, flows) in _CHOSEN.items():
        calm = cell(runs[f"{DARESBURY.name}/{window}/{flows}"], DARESBURY.path)["goodput_bps"]
        for share in _SHARES:
            for place, moment in enumerate(MOMENTS):
                then = moment.path(DARESBURY.path.changed(cross=share))
                rows += [
                    {
                        "setting": setting, "share": share, "hour": moment.hour, "weekend": moment.weekend,
                        "weight": moment.weight,
                        "goodput_bps": cell(runs[_name(share, window, flows, place, seed)], then)["goodput_bps"]
                        if share else calm,
                    }
                    for seed in _SEEDS
                ]  # fmt: skip
    return pl.DataFrame(rows)


def intervals(found: pl.DataFrame) -> pl.DataFrame:
    """Mean and 95 % interval of one measurement, for each setting and share."""
    rows = []
    for (setting, share), part in found.group_by("setting", "share", maintain_order=True):
        estimate = spread(part["goodput_bps"].to_list(), part["weight"].to_list())
        rows.append({
            "setting": setting, "share": share, "mean_bps": estimate.value, "low_bps": estimate.low,
            "high_bps": estimate.high, "width": (estimate.high - estimate.low) / estimate.value,
        })  # fmt: skip
    return pl.DataFrame(rows)


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """What the document expects of a simulator without cross traffic."""
    found = intervals(goodputs(runs))
    widths = [part["width"].to_list() for _, part in found.group_by("setting", maintain_order=True)]
    least = min(width[-1] - width[0] for width in widths)
    yield holds_if(
        "cross.variability", "Without cross traffic there is less variability than with it",
        f"{DOCUMENT}, summary", least, all(width[0] < min(width[1:]) for width in widths),
        f"Width of the 95 % interval over the mean, at {percent(_SHARES[-1])} of cross traffic more than at none, for "
        "the setting where it grows least. The profile over day and week is this study's assumption.",
    )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    found = goodputs(runs)
    table = intervals(found)
    four = table.filter(pl.col("setting") == "4 flows of 64 kB")
    none, most = four.row(0, named=True), four.row(-1, named=True)
    finding = (
        f"With {percent(_SHARES[-1])} of cross traffic over the week, four flows of 64 kB carry "
        f"{most['mean_bps'] / 1e6:.1f} instead of {none['mean_bps'] / 1e6:.1f} Mbit/s on average, and one measurement "
        f"between {most['low_bps'] / 1e6:.1f} and {most['high_bps'] / 1e6:.1f}."
    )
    text = (
        "Ten on-off sources with Pareto times offer a share of the bottleneck. Their mean follows a cosine over the "
        f"day, busiest at 15 h, and is {weekly(weekend=False):.2f} times the week's on working days and "
        f"{weekly(weekend=True):.2f} times at weekends: an assumption that shows the size of the effect. Each interval "
        "holds 95 % of the measurements of 10 s made at unknown times."
    )
    edges = {"low_bps": "low", "mean_bps": "mean", "high_bps": "high"}
    long = table.unpivot(list(edges), index=["setting", "share"], variable_name="edge", value_name="goodput_bps")
    long = long.with_columns(pl.col("share") * 100, pl.col("edge").replace(edges))
    hourly = (
        found.filter((pl.col("setting") == "4 flows of 64 kB") & ~pl.col("weekend") & (pl.col("share") > 0))
        .group_by("share", "hour").agg(pl.col("goodput_bps").mean()).sort("share", "hour")
        .with_columns(cross=(pl.col("share") * 100).round(0).cast(pl.Int64).cast(pl.String) + " % over the week")
    )  # fmt: skip
    shown = table.select(
        "setting", (pl.col("share") * 100).alias("cross traffic %"), "mean_bps", "low_bps", "high_bps",
        (pl.col("width") * 100).alias("width of the interval %"),
    )  # fmt: skip
    widening = [
        charts.line(part.select("share", "goodput_bps", "edge"), "share", "goodput_bps", by="edge", title=str(setting),
                    x_title="cross traffic (% of the bandwidth)", y_domain=(0, DARESBURY.path.bandwidth_bps),
                    height=180)
        for (setting,), part in long.group_by("setting", maintain_order=True)
    ]  # fmt: skip
    return Section(
        "With cross traffic",
        finding,
        [
            Text(text),
            Row(widening, "Mean and 95 % interval of one measurement."),
            Chart(charts.line(hourly, "hour", "goodput_bps", by="cross", x_title="hour of a working day",
                              height=200), "Four flows of 64 kB over a working day, means over seeds."),
            Table(shown, "", {"cross traffic %": ".0f", "width of the interval %": ".0f"}),
        ],
    )  # fmt: skip


def _name(share: float, window: int, flows: int, place: int, seed: int) -> str:
    return f"cross/{share:g}/{window}/{flows}/{place}/{seed}"
