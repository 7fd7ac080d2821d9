"""Correlated responses: the matrix in three colours, and the index-index plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink.plots import labels, palette
from tightlink.plots.correlation import BANDS, COLORS
from tightlink.report.encoding import finished

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tightlink.analysis.correlation import Correlation
    from tightlink.report.encoding import Width

#: Of a cell, in pixels, and of the names below.
_CELL: Final = 24
_SMALL_CELL: Final = 16
_FEW: Final = 20


def correlation_matrix(found: Correlation, *, title: str = "", width: Width = "container") -> alt.LayerChart:
    """All pairs below the diagonal, in the three colours of document 003, with 100 r in each cell.

    Args:
        found: The correlations.
        title: Above the chart.
        width: In pixels, or as wide as there is room.

    Example:
        >>> import polars as pl
        >>> from tightlink.analysis.correlation import correlation
        >>> runs = pl.DataFrame({"a": [1, 2, 4, 3], "b": [2, 1, 5, 3], "c": [1, 5, 2, 2]})
        >>> len(correlation_matrix(correlation(runs, ["a", "b", "c"])).layer)
        2
    """
    import altair as alt
    import polars as pl

    names = labels.told_apart(found.responses)
    cells = found.pairs.select(
        across=pl.col("first").replace(names), up=pl.col("second").replace(names), r="r", p="p", runs="runs",
        band=pl.col("strength").replace(BANDS), number=(100 * pl.col("r")).round().cast(pl.Int64),
    )  # fmt: skip
    order = list(names.values())
    place: dict[str, Any] = {"x": _axis(alt.X, "across", order[:-1]), "y": _axis(alt.Y, "up", order[1:])}
    scale = alt.Scale(domain=list(BANDS.values()), range=[COLORS[band] for band in BANDS])
    squares = alt.Chart(cells).mark_rect(stroke="white", strokeWidth=0.5)
    squares = squares.encode(
        **place,
        color=alt.Color("band", type="nominal", scale=scale, legend=alt.Legend(title=None, symbolType="square")),
        tooltip=[
            alt.Tooltip("across", type="nominal", title="response"),
            alt.Tooltip("up", type="nominal", title="with"),
            alt.Tooltip("r", type="quantitative", format=".3f"),
            alt.Tooltip("p", type="quantitative", format=".2~g"),
            alt.Tooltip("runs", type="quantitative"),
        ],
    )
    text = alt.Chart(cells).mark_text(fontSize=10 if len(order) <= _FEW else 8, color="white")
    text = text.encode(**place, text=alt.Text("number", type="quantitative"), tooltip=alt.value(None))
    return finished(alt.LayerChart(layer=[squares, text]), title, _height(len(order) - 1), width, {})


def index_index(found: Correlation, *, title: str = "", width: Width = "container") -> alt.LayerChart:
    """Which responses go together: kept pairs, on both axes the responses by their number of partners.

    Args:
        found: The correlations.
        title: Above the chart.
        width: In pixels, or as wide as there is room.
    """
    import altair as alt
    import polars as pl

    order = list(labels.told_apart(found.places["response"]).values())
    pairs, own = _points(found)
    axes: dict[str, Any] = {"x": _axis(alt.X, "across", order), "y": _axis(alt.Y, "up", order[::-1])}
    kinds = ["within a group", "between groups", "representative"]
    scale = alt.Scale(domain=kinds, range=[COLORS["strong"], palette.NEUTRAL, palette.SERIES[0]])
    shapes = alt.Scale(domain=kinds, range=["circle", "circle", "diamond"])
    shape = alt.Shape("kind", type="nominal", scale=shapes, legend=alt.Legend(title=None))
    color = alt.Color("kind", type="nominal", scale=scale, legend=alt.Legend(title=None))
    dots = alt.Chart(pairs).mark_point(filled=True, size=70, opacity=1).encode(
        **axes, color=color, shape=shape,
        tooltip=[alt.Tooltip("across", type="nominal", title="response"),
                 alt.Tooltip("up", type="nominal", title="with"), alt.Tooltip("r", type="quantitative", format=".3f")],
    )  # fmt: skip
    diagonal = alt.Chart(own.filter(pl.col("representative"))).mark_point(filled=True, size=80, opacity=1).encode(
        **axes, color=color, shape=shape,
        tooltip=[alt.Tooltip("across", type="nominal", title="response"), alt.Tooltip("group", type="nominal"),
                 alt.Tooltip("partners", type="quantitative")],
    )  # fmt: skip
    return finished(alt.LayerChart(layer=[dots, diagonal]), title, _height(len(order)), width, {})


def _points(found: Correlation) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Kept pairs on both sides of the diagonal, and the responses on it."""
    import polars as pl

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
    own = found.places.select(
        "group", "partners", "representative", across=name, up=name, kind=pl.lit("representative")
    )
    return pairs, own


def _axis(make: Any, column: str, order: list[str]) -> Any:
    import altair as alt

    axis = alt.Axis(labelAngle=-60 if column == "across" else 0, labelLimit=190, labelOverlap=False)
    return make(column, type="nominal", scale=alt.Scale(domain=order), title=None, axis=axis)


def _height(rows: int) -> int:
    return rows * (_CELL if rows <= _FEW else _SMALL_CELL)
