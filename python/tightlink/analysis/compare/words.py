"""A comparison as text: values with their units, changes in per cent, agreements with their intervals.

Example:
    >>> _change("goodput_bps", (2e6, 1e6), -0.5), _change("utilization", (0.8, 0.9), 0.125)
    ('−50.0 %', '+10.0 points')
    >>> _change("goodput_bps", (2e6, 1e6), -0.5, (1e5, 0.06))
    '−50.0 ± 6.0 %'
    >>> _change("utilization", (0.8, 0.9), 0.125, (0.02, 0.03), (0.01, 0.02))
    '+10.0 ± 2.0 points'
    >>> [_change("utilization", (0.97, 0.99), 0.02, (0.02, 0.02), spread) for spread in ((0.02, 0.01), (0.0, 0.0))]
    ['+2.0 ± 2.0 points', '+2.0 ± ? points']
    >>> _change("queue_mean_packets", (2e-5, 0.0), -1.0), _change("queue_mean_packets", (2.0, 0.0), -1.0)
    ('–', '−100.0 %')
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from tightlink.analysis.compare.comparison import Comparison
from tightlink.analysis.compare.pairs import SIDES
from tightlink.console import largest, quantity
from tightlink.lazy import pl
from tightlink.numbers import NO_QUEUE, NONE, UNKNOWN, interval, is_share, leaves, percent
from tightlink.text_table import TextTable, layout

#: What columns are called where words of the column do not say it.
_NAMES: Final = {
    "jain": "fairness (Jain's index)",
    "jitter_mean_s": "jitter",
    "queue_mean_packets": "queue mean",
    "queue_max_packets": "queue max",
    "load_true": "load",
}
#: Half of a tenth of a point: smaller differences have one digit more.
_TENTH: Final = 0.0005
#: So many times as much and more is said as that, and not in per cent.
_TIMES: Final = 10
#: Sums of the halves of intervals are equal up to here.
_ROUNDING: Final = 1e-9
#: What no clock of a measurement tells from nothing.
_NO_TIME_S: Final = 1e-6
#: What is looked at first of flows, links, nodes and runs.
MAIN: Final = (
    *("goodput_bps", "jain", "packets_sent", "packets_dropped", "packets_marked", "packets_retransmitted", "timeouts"),
    "loss",
    *("frames_sent", "frames_complete", "one_way_delay_mean_s", "one_way_delay_p95_s", "delay_variation_p99_s"),
    *("jitter_mean_s", "rtt_mean_s"),
    *("utilization", "queue_mean_packets", "queueing_delay_p95_s", "load_true"),
    *("unfinished", "completion_p50_s", "completion_p99_s", "slowdown_p50", "slowdown_p99"),
)


def is_main() -> pl.Expr:
    """Whether a metric is looked at first: marks where there are any, of traffic groups in sweeps what each carries."""
    metric = pl.col("metric")
    says = (metric != "packets_marked") | (pl.max_horizontal(*SIDES) > 0)
    return (metric.is_in(MAIN) & says) | metric.str.ends_with(".goodput_bps")


def written(rows: pl.DataFrame) -> pl.DataFrame:
    """``entity``, ``metric`` in words, values with their units, and changes in per cent."""
    return rows.select("entity", pl.Series("metric", _words(rows), dtype=pl.String), *_values(rows))


def summarized(found: Comparison) -> pl.DataFrame:
    """The summary of two runs: what, both values, the change and the verdict; for people."""
    rows = found.summary
    names = [f"{name}, {of}" for name, of in zip(_words(rows), rows["of"].to_list(), strict=True)]
    shown = [pl.Series("summary", names, dtype=pl.String), *_values(rows), rows["verdict"]]
    return pl.DataFrame(shown).rename(dict(zip(SIDES, found.titles, strict=True)))


def text(found: Comparison) -> str:
    """What differs between two scenarios, and what became better and worse; of folders the main values of runs."""
    tables = [
        layout(TextTable(part.columns, [tuple(map(str, row)) for row in part.rows()], words), None)
        for part, words in _parts(found)
    ]
    said = ["\n".join([*table.head, *table.lines]) for table in tables] or ["nothing in common"]
    return "\n\n".join([*said, *(["\n".join(found.notes)] if found.notes else [])])


def as_html(found: Comparison) -> str:
    """The same for notebooks, with what must be read before it is trusted."""
    tables = []
    for part, words in _parts(found):
        sides = [
            f'<td style="text-align:{"left" if place in {0, *words} else "right"}">' for place in range(part.width)
        ]
        head = "".join(f"<th>{html.escape(name)}</th>" for name in part.columns)
        rows = (zip(sides, map(str, row), strict=True) for row in part.rows())
        lines = ("".join(f"{cell}{html.escape(value)}</td>" for cell, value in row) for row in rows)
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        tables.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
    first, second = map(html.escape, found.titles)
    warned = (f"<p><b>Warning:</b> {html.escape(warning)}</p>" for warning in found.warnings)
    notes = (f"<p>{html.escape(note)}</p>" for note in found.notes)
    said = tables or ["<p>nothing in common</p>"]
    return "".join([f"<p><b>Comparison</b>: {second} against {first}</p>", *warned, *said, *notes])


def _parts(found: Comparison) -> Iterator[tuple[pl.DataFrame, tuple[int, ...]]]:
    """Tables that are not empty, and the places of their columns of words: differences, and the summary or values."""
    if found.differences.height:
        yield found.differences.rename(dict(zip(("key", *SIDES), ("scenario", *found.titles), strict=True))), (1, 2)
    values = found.values.filter(is_main() & (pl.col("table") != "series"))
    if found.summary.height:
        yield summarized(found), (4,)
    elif values.height:
        yield written(values), (1,)


def _words(rows: pl.DataFrame) -> list[str]:
    names = rows["metric"].to_list()
    plain = [re.sub(r"_(s|bps)$", "", name).replace("_", " ").replace(".", " ") for name in names]
    plain = [name.replace("one way", "one-way").replace("rtt", "RTT") for name in plain]
    return [_NAMES.get(name, words) for name, words in zip(names, plain, strict=True)]


def _values(rows: pl.DataFrame) -> list[pl.Series]:
    """Both sides with their units, and the change."""
    sides = []
    for side in SIDES:
        half = rows[f"{side}_half_width"] if f"{side}_half_width" in rows.columns else [None] * rows.height
        sides.append([_value(*row) for row in zip(rows["metric"], rows[side], half, strict=True)])
    shown, said = rows, ["change"]
    if "difference" in rows.columns:
        spread = pl.concat_list(pl.col(f"{side}_half_width").fill_nan(None).fill_null(0.0) for side in SIDES)
        halves = pl.concat_list("difference_half_width", "change_half_width")
        second = (pl.col(SIDES[0]) + pl.col("difference")).alias(SIDES[1])
        shown = rows.with_columns(second, halves=halves, spread=spread)
        said += ["halves", "spread"]
    changes = [
        _change(metric, (first, second), *of)
        for metric, first, second, *of in shown.select("metric", *SIDES, *said).rows()
    ]
    texts = dict(zip((*SIDES, "change"), (*sides, changes), strict=True))
    return [pl.Series(name, column, dtype=pl.String) for name, column in texts.items()]


def _value(metric: str, value: float, half_width: float | None) -> str:
    if not half_width:
        return quantity(metric, value)
    return interval(value, half_width, partial(quantity, metric), largest(metric))


def _change(
    metric: str,
    sides: tuple[float | None, float | None],
    change: float | None,
    halves: Sequence[float | None] = (None, None),
    spread: Sequence[float] = (0.0, 0.0),
) -> str:
    """A change in per cent, or so many times as much; of shares, which are in per cent already, in points.

    With half its interval, if that is known.

    Of the two halves the first is of the difference, the second of the change.

    An interval that leaves what is possible is unknown: of shares that lie between nothing and all of it, and within
    half their own intervals of what they are.
    """
    (first, second), (half, half_change) = sides, halves
    if change and max(abs(first or 0.0), abs(second or 0.0)) < _least(metric):
        return NONE
    most = largest(metric)
    if not is_share(metric) or first is None or second is None:
        if change is not None and half is None and change + 1 >= _TIMES:
            return f"× {float(f'{change + 1:.3g}'):,.0f}"
        unknown = half is not None and second is not None and leaves(second, half, most)
        return _within(change, half_change if first else None, 1, unknown=unknown)
    lowest, highest = (
        [min(max(value + sign * width, 0.0), most) for value, width in zip((first, second), spread, strict=True)]
        for sign in (-1, 1)
    )
    low, high = lowest[1] - highest[0] - _ROUNDING, highest[1] - lowest[0] + _ROUNDING
    unknown = half is not None and not low <= second - first - half <= second - first + half <= high
    digits = 1 if abs(second - first) >= _TENTH else 2
    return f"{_within(second - first, half, digits, unknown=unknown).removesuffix(' %')} points"


def _least(metric: str) -> float:
    """Below this a value on both sides is nothing, of which a change in per cent says nothing."""
    return _NO_TIME_S if metric.endswith("_s") else NO_QUEUE if metric == "queue_mean_packets" else 0.0


def _within(change: float | None, half: float | None, digits: int, *, unknown: bool = False) -> str:
    said = percent(change, digits, signed=True)
    width = f"{UNKNOWN} %" if unknown else percent(half, digits)
    return said if half is None or said == NONE else f"{said.removesuffix(' %')} ± {width}"


def changed_most(rows: pl.DataFrame, most: int) -> pl.DataFrame:
    """The rows of those flows, links or nodes of a table that changed most, from the furthest on.

    How far a metric changed is told beside the largest value that any of them has of it on either side: a queue of no
    importance that is twice as long changed little.

    >>> rows = pl.DataFrame({"entity": ["a", "b", "c"], "metric": "queue", "first": [1.0, 100.0, 80.0],
    ...                      "second": [3.0, 120.0, 80.0]})
    >>> changed_most(rows, 2)["entity"].to_list(), changed_most(rows, 1)["entity"].to_list()
    (['b', 'a'], ['b'])
    """
    largest = pl.max_horizontal(*(pl.col(side).abs() for side in SIDES)).max().over("metric")
    size = pl.when(largest > 0).then((pl.col("second") - pl.col("first")).abs() / largest).otherwise(0.0)
    sizes = rows.with_columns(size=size).group_by("entity", maintain_order=True).agg(pl.col("size").max())
    first = sizes.filter(pl.col("size") > 0).sort("size", descending=True, maintain_order=True).head(most)
    return first.select("entity").join(rows, on="entity", how="left", maintain_order="left_right").select(rows.columns)


def in_order(rows: pl.DataFrame) -> pl.DataFrame:
    """Values with those of one flow, link or node together."""
    return rows.sort(pl.col("entity").cast(pl.Enum(rows["entity"].unique(maintain_order=True))), maintain_order=True)


def main_agreements(found: Comparison) -> list[str]:
    """Which agreements are looked at first; all, if none of them is usual."""
    names = [name for name in found.agreements if name.partition(".")[2] in MAIN]
    return names or list(found.agreements)


def agreements(found: Comparison, names: Iterable[str]) -> pl.DataFrame:
    """A row for each of these metrics: points, both R², slope, residuals; for people."""
    rows = [
        {
            "metric": name,
            "points": each.points,
            "R², origin": f"{each.origin:.3f}" if each.origin else NONE,
            "R², free": f"{each.free:.3f}" if each.free else NONE,
            "slope": None if each.slope is None else round(each.slope, 3),
            # Agreements have (o − s) / o, as SLAC 2000; a change is that of the second against the first.
            "change, median": percent(-each.median, 1, signed=True),
            "largest": percent(each.largest, 1),
            "within ±10 %": percent(each.within, 0),
        }
        for name in names
        for each in [found.agreements[name]]
    ]
    return pl.DataFrame(rows)
