"""Dendrograms of algorithms, a small chart for each condition: ``report.Row(dendrograms(...))``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tightlink.analysis.responses.clusters import Dendrogram
from tightlink.analysis.responses.compared import labels as numbered
from tightlink.lazy import alt, pl
from tightlink.plots import palette
from tightlink.report.encoding import finished, painted, tip

_ROOM: Final = 1.08
#: Letters of the longest name that lies below its leg; longer ones stand.
_NUMBER: Final = 2
#: Letters in a line of a title.
_TITLE: Final = 22
#: Of a small chart on paper: least, and for each algorithm, in pixels.
_SMALL: Final = 150
_EACH: Final = 18


def dendrograms(
    found: Sequence[Dendrogram], *, names: Mapping[str, str] | None = None, same: bool = False
) -> list[alt.LayerChart]:
    """A dendrogram for each condition; hovering a join shows its distance and what it joins.

    Args:
        found: The dendrograms.
        names: What to call the algorithms; without it, by their numbers in NIST 2010 where all are of its eight.
        same: Whether all have the same axis, for distances that can be compared (`clusters` with spread "all").

    Example:
        >>> from tightlink.analysis.responses.clusters import clusters
        >>> runs = pl.DataFrame({"load": ["low"] * 3, "tcp": ["reno", "bic", "fast"], "loss": [0.1, 0.12, 0.3]})
        >>> chart, = dendrograms(clusters(runs, condition="load", algorithm="tcp"))
        >>> [layer.mark.type for layer in chart.layer]
        ['line', 'rule']
    """
    called = numbered({name: None for each in found for name in each.order}) if names is None else names
    top = max(each.height for each in found)
    paper = max(_SMALL, _EACH * len(called))
    return [
        _chart(each, called, top if same else each.height, 130, paper=paper)
        .properties(title=alt.TitleParams(textwrap.wrap(each.condition, _TITLE)))
        for each in found
    ]  # fmt: skip


def dendrogram(found: Dendrogram, *, names: Mapping[str, str] | None = None) -> alt.LayerChart:
    """The joins of the algorithms under one condition, coloured below the cut, a dashed line.

    Args:
        found: The dendrogram.
        names: What to call the algorithms; without it, by their numbers in NIST 2010 where all are of its eight.
    """
    return _chart(found, numbered(found.order) if names is None else names, found.height, 200)


def _chart(found: Dendrogram, called: Mapping[str, str], top: float, height: int, **meta: Any) -> alt.LayerChart:
    """A dendrogram below whose highest join, or that of others beside it, the axis ends."""
    shown = [called[name] for name in found.order]
    long = max(map(len, shown)) > _NUMBER
    # Of the ticks that are given, Vega draws as many as it is told, or as it chooses.
    axis = alt.Axis(values=list(range(len(shown))), tickCount=len(shown), labelExpr=_chosen(shown), ticks=False,
                    grid=False, labelOverlap=False, labelAngle=-90 if long else 0)  # fmt: skip
    end = _ROOM * top or 1.0
    x = alt.X("place", type="quantitative", scale=alt.Scale(domain=[-0.6, len(shown) - 0.4], nice=False), axis=axis,
              title=None)  # fmt: skip
    y = alt.Y("height", type="quantitative", scale=alt.Scale(domain=[0, end], nice=False), title="distance")
    lines = alt.Chart(_lines(found, called)).mark_line(strokeWidth=1.6, interpolate="linear").encode(
        x=x, y=y, detail=alt.Detail("join", type="nominal"), order=alt.Order("corner", type="quantitative"),
        color=painted("cluster", cluster_colors(range(len(found.clusters) + 1))),
        tooltip=[tip("distance", ".3~g"), tip("joins"), tip("with")],
    )  # fmt: skip
    cut = alt.Chart(pl.DataFrame({"height": [found.cut]})).mark_rule(strokeDash=[3, 3], color=palette.NEUTRAL)
    layers = [lines, cut.encode(y=y, tooltip=alt.TooltipValue(None))]
    return finished(alt.LayerChart(layer=layers), height, note=_key(called), **meta)


def cluster_colors(numbers: Iterable[int]) -> dict[int, str]:
    """The colours of clusters by their numbers: 0 is what is in none."""
    return {
        number: palette.SERIES[(number - 1) % len(palette.SERIES)] if number else palette.NEUTRAL for number in numbers
    }


def _key(called: Mapping[str, str]) -> str:
    """Which number is which algorithm, to stand below the chart."""
    numbers = sorted((label, name) for name, label in called.items() if label != name)
    return ", ".join(f"{label}\u00a0{name}" for label, name in numbers)


def _lines(found: Dendrogram, called: Mapping[str, str]) -> pl.DataFrame:
    """The four corners of each join, from its left foot to its right one."""
    rows: list[dict[str, Any]] = []
    for number, join in enumerate(found.joins):
        left, right = (" ".join(called[name] for name in part) for part in join.joined)
        corners = [(join.left, join.left_height), (join.left, join.height), (join.right, join.height),
                   (join.right, join.right_height)]  # fmt: skip
        rows += [
            {"join": number, "corner": corner, "place": place, "height": height, "cluster": join.cluster or 0,
             "distance": join.height, "joins": left, "with": right}
            for corner, (place, height) in enumerate(corners)
        ]  # fmt: skip
    return pl.DataFrame(rows)


def _chosen(names: Sequence[str]) -> str:
    """What Vega is to write at places that are counted from 0."""
    listed = ", ".join("'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'" for name in names)
    return f"[{listed}][datum.value]"
