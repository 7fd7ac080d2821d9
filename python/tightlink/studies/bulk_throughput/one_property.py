"""Goodput over one property at a time: the document's example figures, whose values it does not give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.analysis.bulk_vary import FACTORS, one_at_a_time
from tightlink.experiment.execute import Task
from tightlink.report import Row, Section, Text, charts
from tightlink.studies.bulk_throughput.paths import DARESBURY
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.analysis.bulk_vary import Variation
    from tightlink.run import Run

#: The path of Daresbury with windows that overflow its queue, and with ones that do not.
_BASES: Final = {"1 × 128 kB": (88, 1), "4 × 64 kB": (44, 4), "10 × 128 kB": (88, 10)}
_WIDE: Final = 3


def variations() -> dict[str, tuple[str, Variation]]:
    """By the name of their task: which base, and what is changed."""
    return {
        f"one-property/{window}/{flows}/{place.factor}/{place.value:g}": (base, place)
        for base, (window, flows) in _BASES.items()
        for place in one_at_a_time(DARESBURY.path, window, flows)
    }


def tasks() -> list[Task]:
    """All of them."""
    return [Task(name, place.path.scenario(place.window, place.flows)) for name, (_, place) in variations().items()]


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each: base, property, value, goodput and loss."""
    rows = []
    for name, (base, place) in variations().items():
        found = cell(runs[name], place.path)
        rows.append({
            "base": base,
            "property": place.factor,
            "value": float(place.value),
            "goodput_bps": found["goodput_bps"],
            "goodput_share": found["goodput_share"],
            "loss": found["loss"],
        })  # fmt: skip
    return pl.DataFrame(rows)


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    found = table(runs)
    small = found.filter((pl.col("base") == "4 × 64 kB") & (pl.col("property") == "rtt_s")).sort("value")
    at = {row["value"]: row["goodput_share"] for row in small.iter_rows(named=True)}
    doubled = 2 * DARESBURY.path.rtt_s
    finding = (
        f"Where the window limits, goodput follows window × flows / round trip, and nothing else matters: at twice the "
        f"round trip four flows of 64 kB fall from {percent(at[DARESBURY.path.rtt_s])} to {percent(at[doubled])} of "
        "the bandwidth. Where the queue overflows, its length and the run time matter."
    )
    drawn = [
        charts.line(
            found.filter(pl.col("property") == name).select("base", pl.col("value").alias(name), "goodput_bps"),
            name, "goodput_bps", by="base", title=title.partition(" (")[0], height=170, x_scale="log",
            # In bit/s the labels would not fit: without a title the axis takes a larger unit.
            x_title=None if name == "bandwidth_bps" else title,
        )
        for name, title in FACTORS.items()
    ]  # fmt: skip
    text = (
        "The path of Daresbury; one property is changed at a time, all others stay. Axes along are logarithmic; "
        "lines are named by flows × window."
    )
    rows = [Row(drawn[place : place + _WIDE]) for place in range(0, len(drawn), _WIDE)]
    return Section("One property at a time", finding, [Text(text), *rows])
