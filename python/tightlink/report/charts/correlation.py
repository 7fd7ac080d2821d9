"""Correlated responses: the matrix in three colours, the histogram of |r|, and the index-index plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tightlink.analysis.responses.correlation import Correlation, histogram
from tightlink.lazy import alt, pl
from tightlink.plots import labels, palette
from tightlink.plots.paper import WIDTH
from tightlink.report.encoding import finished, fixed, painted, tip, written

#: NIST 2010's red, blue and green, as the colour-blind tell them apart.
COLORS: Final = {"strong": palette.SERIES[1], "moderate": palette.SERIES[0], "weak": palette.SERIES[2]}
_BANDS: Final = {"strong": "|r| ≥ 0.80", "moderate": "0.30 ≤ |r| < 0.80", "weak": "|r| < 0.30"}
#: Height of a cell, and its width on paper, in pixels: of few cells at most, of many at least.
_CELL: Final = 24
_WIDEST: Final = 64
_SMALL_CELL: Final = 16
_NARROWEST: Final = 18
_FEW: Final = 20
_DASH: Final = "M-0.45,-0.1h0.9v0.2h-0.9Z"
#: Marks of the index-index plot: their colours and shapes.
_KINDS: Final = {
    "within a group": (COLORS["strong"], "circle"),
    "between groups": (palette.NEUTRAL, "circle"),
    "representative": (palette.SERIES[0], "diamond"),
    "represented": (palette.NEUTRAL, _DASH),
}
_BESIDE: Final = 4
#: Of pairs there is no half.
_WHOLE: Final = "datum.value % 1 ? '' : datum.label"
#: Of a frame about a group, what of a cell is left on each side.
_ASIDE: Final = 0.05


def correlation_matrix(found: Correlation) -> alt.LayerChart:
    """All pairs below the diagonal, in the three colours of NIST 2010, with 100 r in each cell.

    Example:
        >>> from tightlink.analysis.responses.correlation import correlation
        >>> runs = pl.DataFrame({"a": [1, 2, 4, 3], "b": [2, 1, 5, 3], "c": [1, 5, 2, 2]})
        >>> len(correlation_matrix(correlation(runs, ["a", "b", "c"])).layer)
        2
    """
    names = labels.told_apart(found.responses)
    cells = found.pairs.select(
        across=pl.col("first").replace(names), up=pl.col("second").replace(names), r="r", p="p", runs="runs",
        band=pl.col("strength").replace(_BANDS), number=(100 * pl.col("r")).round().cast(pl.Int64),
    )  # fmt: skip
    order = list(names.values())
    place: dict[str, Any] = {"x": _axis(alt.X, "across", order[:-1]), "y": _axis(alt.Y, "up", order[1:])}
    colors = {words: COLORS[band] for band, words in _BANDS.items()}
    legend = alt.Legend(title="numbers are 100 r", symbolType="square")
    squares = alt.Chart(cells).mark_rect(stroke="white", strokeWidth=0.5).encode(
        **place, color=painted("band", colors, legend),
        tooltip=[tip("across", title="response"), tip("up", title="with"), tip("r", ".3f"), tip("p", ".2~g"),
                 tip("runs", "")],
    )  # fmt: skip
    text = alt.Chart(cells).mark_text(fontSize=10 if len(order) <= _FEW else 8, color="white")
    text = text.encode(**place, text=alt.Text("number", type="quantitative"), tooltip=alt.TooltipValue(None))
    return _finished([squares, text], len(order) - 1)


def correlation_histogram(found: Correlation) -> alt.LayerChart:
    """How many pairs have which |r|; those above the threshold, which are kept, stand out."""
    kinds = {"left out": palette.NEUTRAL, "kept": COLORS["strong"]}
    rest = pl.col("pairs") - pl.col("kept")
    bins = histogram(found)
    bars = pl.concat([
        bins.select("low", "high", kind=pl.lit("left out"), pairs=rest, bottom=0 * rest, top=rest),
        bins.select("low", "high", kind=pl.lit("kept"), pairs="kept", bottom=rest, top="pairs"),
    ]).filter(pl.col("pairs") > 0)  # fmt: skip
    x = alt.X("low", type="quantitative", scale=alt.Scale(domain=[0, 1]), title="|r|")
    drawn = alt.Chart(bars).mark_rect(stroke="white", strokeWidth=0.5).encode(
        x=x, x2=alt.X2("high"), y2=alt.Y2("top"),
        y=alt.Y("bottom", type="quantitative", title="pairs of responses", axis=alt.Axis(labelExpr=_WHOLE)),
        color=painted("kind", kinds, alt.Legend(title=None, symbolType="square")),
        tooltip=[tip("low", "", "from"), tip("high", "", "to"), tip("kind"), tip("pairs", "")],
    )  # fmt: skip
    threshold = alt.Chart(pl.DataFrame({"low": [found.threshold], "text": [f"threshold {found.threshold:.3g}"]}))
    rule = threshold.mark_rule(strokeDash=[4, 3], color=palette.NEUTRAL).encode(x=x, tooltip=alt.TooltipValue(None))
    name = threshold.mark_text(align="right", dx=-4, fontSize=11, color="currentColor")
    return finished(alt.LayerChart(layer=[drawn, rule, written(name, "text", x=x, **fixed(y=8))]))


def index_index(found: Correlation) -> alt.LayerChart:
    """Which responses go together: kept pairs, on both axes the responses by their number of partners.

    A group of mutual correlation shows as a full square about the diagonal; its frame is drawn, and the response
    that stands for it is marked on the diagonal.
    """
    order = list(labels.told_apart(found.places["response"]).values())
    pairs, own = _points(found)
    axes: dict[str, Any] = {"x": _axis(alt.X, "across", order), "y": _axis(alt.Y, "up", order[::-1])}
    legend = alt.Legend(
        title=f"pairs kept, {found.dimension} groups of {len(order)} responses", titleLimit=0, columns=_BESIDE
    )
    shapes = alt.Scale(domain=list(_KINDS), range=[shape for _, shape in _KINDS.values()])
    mark = {
        "color": painted("kind", {kind: shade for kind, (shade, _) in _KINDS.items()}, legend),
        "shape": alt.Shape("kind", type="nominal", scale=shapes, legend=legend),
    }
    response, other = tip("across", title="response"), tip("up", title="with")
    dots = alt.Chart(pairs).mark_point(filled=True, size=70, opacity=1)
    dots = dots.encode(**axes, **mark, tooltip=[response, other, tip("r", ".3f")])
    diagonal = alt.Chart(own).mark_point(filled=True, size=80, opacity=1)
    diagonal = diagonal.encode(**axes, **mark, tooltip=[response, tip("group"), tip("partners", "")])
    frames = alt.Chart(_frames(found, order)).mark_rect(filled=False, stroke=palette.NEUTRAL, strokeWidth=0.8).encode(
        x=axes["x"].bandPosition(_ASIDE), y=axes["y"].bandPosition(1 - _ASIDE),
        x2=alt.X2("right", bandPosition=1 - _ASIDE), y2=alt.Y2("top", bandPosition=_ASIDE),
        tooltip=alt.TooltipValue(None),
    )  # fmt: skip
    return _finished([frames, dots, diagonal], len(order))


def _frames(found: Correlation, order: Sequence[str]) -> pl.DataFrame:
    """From which response to which each group stands on the diagonal, in parts where others stand between."""
    names = labels.told_apart(found.places["response"])
    ends: list[tuple[str, str]] = []
    for group in found.groups:
        places = sorted(order.index(names[name]) for name in group.responses)
        firsts = [place for place in places if place - 1 not in places]
        lasts = [place for place in places if place + 1 not in places]
        ends += [(order[first], order[last]) for first, last in zip(firsts, lasts, strict=True)]
    low, high = zip(*ends, strict=True)
    return pl.DataFrame({"across": low, "up": low, "right": high, "top": high})


def _points(found: Correlation) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Kept pairs on both sides of the diagonal, and the responses on it."""
    groups = dict(found.places.select("response", "group").rows())
    kept = found.pairs.filter("kept").select("first", "second", "r")
    both = pl.concat([kept, kept.select(first="second", second="first", r="r")])
    same = pl.col("first").replace_strict(groups, return_dtype=pl.Int64) == pl.col("second").replace_strict(
        groups, return_dtype=pl.Int64
    )
    names = labels.told_apart(found.responses)
    pairs = both.select(
        across=pl.col("first").replace(names), up=pl.col("second").replace(names), r="r",
        kind=pl.when(same).then(pl.lit("within a group")).otherwise(pl.lit("between groups")),
    )  # fmt: skip
    name = pl.col("response").replace(names)
    kind = pl.when("representative").then(pl.lit("representative")).otherwise(pl.lit("represented"))
    own = found.places.select("group", "partners", across=name, up=name, kind=kind)
    return pairs, own


def _axis(make: Any, column: str, order: list[str]) -> Any:
    axis = alt.Axis(labelAngle=-60 if column == "across" else 0, labelLimit=190, labelOverlap=False)
    return make(column, type="nominal", scale=alt.Scale(domain=order), title=None, axis=axis)


def _finished(layers: Sequence[Any], cells: int) -> alt.LayerChart:
    """A chart of as many cells along as up."""
    paper = min(max(WIDTH, _NARROWEST * cells), _WIDEST * cells)
    return finished(alt.LayerChart(layer=layers), cells * (_CELL if cells < _FEW else _SMALL_CELL), paper=paper)
