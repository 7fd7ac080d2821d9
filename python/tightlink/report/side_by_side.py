"""The report of a comparison: what got better and what worse, every value, series of both in one picture."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from tightlink.analysis.compare.comparison import GIVEN, RUNS_TABLE, Comparison
from tightlink.analysis.compare.pairs import SIDES
from tightlink.analysis.compare.words import agreements, in_order, main_agreements, summarized, written
from tightlink.analysis.path.residuals import NEAR
from tightlink.console import quantity
from tightlink.laboratory.embedded import Offer
from tightlink.lazy import pl
from tightlink.numbers import percent
from tightlink.report import charts
from tightlink.report.blocks import Block, Row, Section, Table, Text
from tightlink.report.page import write

_MOST_ROWS: Final = 500
_MOST_CHARTS: Final = 12
#: Series that are looked at first.
_FIRST: Final = ("goodput_bps", "throughput_bps", "cwnd_packets", "rtt_s", "queue_packets", "packets_dropped")
#: Charts of series beside each other.
_BESIDE: Final = 2
_WORDS: Final = {
    "flows": "Flows",
    "links": "Links",
    "nodes": "Nodes",
    "completion_times": "Transfers",
    RUNS_TABLE: "Runs",
}


def write_comparison(
    found: Comparison, folder: str | os.PathLike[str], names: tuple[str, str], *, laboratories: Sequence[Offer] = ()
) -> Path:
    """Write ``report.html`` of a comparison into a folder; names are what the two are called, such as their folders."""
    place = Path(folder)
    notes = "".join(f"\n\n{note}." for note in found.notes)
    parts = [_summary(found), _scenarios(found), _agreement(found), _series(found)]
    parts += [_table(found, name) for name in found.values["table"].unique(maintain_order=True) if name != "series"]
    parts.append(_alone(found))
    first, second = found.titles
    counted = f"{found.values.height} values are on both sides"
    pairs = found.values.filter(pl.col("change").is_not_null())
    if found.agreements and pairs.height:
        near = pairs.filter(pl.col("change").abs() <= NEAR).height / pairs.height
        counted += f"; {percent(near, 0)} of the {second} ones are within ±{percent(NEAR, 0)} of the {first} ones"
    # Sides that are called as their folders need no word of it.
    called = "".join(f"{title}: `{name}`. " for title, name in zip(found.titles, names, strict=True) if title != name)
    signed = f"A change is ({second} − {first}) / {first}: −16 % means that the second has less."
    return write(
        place / "report.html",
        title=f"{second} against {first}",
        lead=f"{_better(found)}{called}{counted}. {signed}{notes}",
        sections=[part for part in parts if part is not None],
        figures=place / "figures" if (place / "figures").is_dir() else (),
        warnings=found.warnings,
        laboratories=laboratories,
    )


def _better(found: Comparison) -> str:
    """What got better and what worse, or is more and less, a paragraph; nothing where nothing is judged."""
    if found.summary.is_empty():
        return ""
    said = [
        (word, [f"{row['summary']} {row['change']}" for row in summarized(found).filter(verdict=word).to_dicts()])
        for word in _words(found)
    ]
    return " ".join(f"{word.capitalize()}: {'; '.join(values) or 'nothing'}." for word, values in said) + "\n\n"


def _words(found: Comparison) -> tuple[str, str]:
    """The two verdicts of runs that can be judged; of a measurement and its simulation neither is the better one."""
    return ("more", "less") if {"more", "less"} & set(found.summary["verdict"]) else ("better", "worse")


def _summary(found: Comparison) -> Section | None:
    title = " and ".join(_words(found)).capitalize()
    return None if found.summary.is_empty() else Section(title, "", [Table(summarized(found))])


def _scenarios(found: Comparison) -> Section | None:
    if found.differences.is_empty():
        return None
    return Section("Where the scenarios differ", "", [Table(_titled(found, found.differences))])


def _agreement(found: Comparison) -> Section | None:
    if not found.agreements:
        return None
    names = (name.partition(".") for name in main_agreements(found)[:_MOST_CHARTS])
    small = [charts.compared_values(found, table, metric) for table, _, metric in names]
    first, second = found.titles
    caption = f"The {first} values over the {second} ones; on the line both are equal."
    text = (
        "R² is 1 − Σ(o − fit)² / Σ(o − mean)², with its interval from drawing points anew; of the line through the "
        "origin it can be negative. There is none where it would be, and values are all within a tenth of each other."
    )
    return Section("Agreement", "", [Row(small, caption), Table(agreements(found, found.agreements)), Text(text)])


def _table(found: Comparison, name: str) -> Section:
    same = pl.col("metric").is_in(GIVEN) & (pl.col("change") == 0)
    rows = in_order(found.values.filter((pl.col("table") == name) & ~same).drop("table"))
    table = Table.first(rows, _MOST_ROWS, "values")
    return Section(_WORDS.get(name, name), "", [replace(table, frame=_titled(found, written(table.frame)))])


def _titled(found: Comparison, frame: pl.DataFrame) -> pl.DataFrame:
    return frame.rename(dict(zip(SIDES, found.titles, strict=True)))


def _series(found: Comparison) -> Section | None:
    order = pl.col("metric").replace_strict(_FIRST, range(len(_FIRST)), default=len(_FIRST), return_dtype=pl.Int64)
    moving = found.series.filter(pl.col("value") != 0).select("entity", "metric").unique(maintain_order=True)
    moving = moving.sort(order, maintain_order=True)
    if moving.is_empty():
        return None
    drawn = [charts.compared_series(found, entity, metric) for entity, metric in moving.head(_MOST_CHARTS).iter_rows()]
    blocks: list[Block] = [Row(drawn[place : place + _BESIDE]) for place in range(0, len(drawn), _BESIDE)]
    rest = f" The first {_MOST_CHARTS} of {moving.height} have a picture." if moving.height > _MOST_CHARTS else ""
    means = found.values.filter(pl.col("table") == "series")
    if means.height:
        blocks.append(Table(_titled(found, written(means.head(_MOST_ROWS))), "Means over the time that both have."))
    return Section("Over time", f"Samples of both, over the same time.{rest}", blocks)


def _alone(found: Comparison) -> Section | None:
    if found.alone.is_empty():
        return None
    table = Table.first(found.alone, _MOST_ROWS)
    values = [quantity(metric, value) for metric, value in table.frame.select("metric", "value").iter_rows()]
    sides = dict(zip(SIDES, found.titles, strict=True))
    shown = table.frame.with_columns(pl.col("side").replace(sides), pl.Series("value", values, dtype=pl.String))
    return Section("On one side only", "", [replace(table, frame=shown)])
