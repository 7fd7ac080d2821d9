"""Algorithms compared: ranks, each beside the standard TCP that competes with it, and where each is an outlier."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink.analysis.compared import labels as numbered
from tightlink.analysis.outliers import effective
from tightlink.plots import labels, palette
from tightlink.reduce import largest
from tightlink.report.charts.marks import points
from tightlink.report.encoding import color, finished, round_above, tooltip

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tightlink.analysis.ranks import Ranks
    from tightlink.report.encoding import Width

_CELL: Final = 18


def rank_scatter(found: Ranks, *, title: str = "", height: int = 300, width: Width = "container") -> alt.LayerChart:
    """Mean rank along, its standard deviation up, with names: bottom left is good nearly everywhere.

    Args:
        found: The ranks.
        title: Above the chart.
        height: In pixels.
        width: In pixels, or as wide as there is room.
    """
    import altair as alt

    shown = found.summary.fill_null(0.0).sort("algorithm")
    place = {
        "x": alt.X("rank_mean", type="quantitative", scale=alt.Scale(zero=False), title="mean rank (1 is the best)"),
        "y": alt.Y("rank_sd", type="quantitative", scale=alt.Scale(zero=False), title="standard deviation of the rank"),
    }
    dots = alt.Chart(shown).mark_point(filled=True, size=70, opacity=1).encode(
        **place, color=color(shown, "algorithm"), tooltip=tooltip(shown, {}),
    )  # fmt: skip
    names = alt.Chart(shown).mark_text(align="left", dx=7, fontSize=11).encode(
        **place, text=alt.Text("algorithm", type="nominal"), color=color(shown, "algorithm"), tooltip=alt.value(None),
    )  # fmt: skip
    return finished(alt.LayerChart(layer=[dots, names]), title, height, width, {})


def beside_standard(points_: pl.DataFrame, *, height: int = 180) -> list[alt.LayerChart]:
    """Throughput biplots, one an algorithm: ``report.Row(beside_standard(...))``; on the diagonal both get the same.

    Args:
        points_: What `shares.beside` returns.
        height: Of each chart, in pixels.
    """
    import polars as pl

    own, standard = points_.columns[-2:]
    end = round_above(max(largest(points_[own]), largest(points_[standard])) or 1.0)
    diagonal = pl.DataFrame({own: [0.0, end], standard: [0.0, end]})
    return [
        points(part.drop("algorithm"), own, standard, curves=diagonal, title=str(name), height=height,
               x_domain=(0.0, end), y_domain=(0.0, end))
        for (name,), part in points_.group_by("algorithm", maintain_order=True)
    ]  # fmt: skip


def outlier_grid(
    found: pl.DataFrame, *, least: float = 0.0, title: str = "", width: Width = "container"
) -> alt.LayerChart:
    """Which algorithm is an outlier under which condition in which response; hovering shows by how much.

    Args:
        found: What `outliers.outliers` returns.
        least: Relative effect below which outliers are left out.
        title: Above the chart.
        width: In pixels, or as wide as there is room.
    """
    import altair as alt
    import polars as pl

    conditions = found["condition"].unique(maintain_order=True).to_list()
    responses = labels.told_apart(found["response"].unique(maintain_order=True))
    algorithms = sorted(found.filter("outlier")["algorithm"].unique().to_list())
    called = {name: label if len(label) == 1 else "" for name, label in numbered(algorithms).items()}
    finite = pl.col("relative_effect").is_finite()
    cells = effective(found, least).select(
        "condition", "algorithm", "value", "others_mean", "p",
        response=pl.col("response").replace(responses),
        text=pl.col("algorithm").replace(called) + pl.col("sign"),
        effect=pl.when(finite).then("relative_effect"),
    )  # fmt: skip
    place: dict[str, Any] = {
        "x": alt.X("condition", type="nominal", scale=alt.Scale(domain=conditions), title=None,
                   axis=alt.Axis(labelAngle=-90, labelLimit=240, labelOverlap=False)),
        "y": alt.Y("response", type="nominal", scale=alt.Scale(domain=list(responses.values())), title=None,
                   axis=alt.Axis(labelLimit=200, labelOverlap=False)),
    }  # fmt: skip
    shades = list(palette.colors(algorithms).values())
    squares = alt.Chart(cells).mark_rect(stroke="white", strokeWidth=0.5).encode(
        **place,
        color=alt.Color("algorithm", type="nominal", scale=alt.Scale(domain=algorithms, range=shades),
                        legend=alt.Legend(title=None, symbolType="square")),
        tooltip=[alt.Tooltip("condition", type="nominal"), alt.Tooltip("response", type="nominal"),
                 alt.Tooltip("algorithm", type="nominal"), alt.Tooltip("value", type="quantitative", format=".4~g"),
                 alt.Tooltip("others_mean", type="quantitative", format=".4~g", title="mean of the others"),
                 alt.Tooltip("effect", type="quantitative", format="+.0%"),
                 alt.Tooltip("p", type="quantitative", format=".2~g")],
    )  # fmt: skip
    text = alt.Chart(cells).mark_text(fontSize=10, color="white")
    text = text.encode(**place, text=alt.Text("text", type="nominal"), tooltip=alt.value(None))
    return finished(alt.LayerChart(layer=[squares, text]), title, _CELL * len(responses), width, {})


def share_bars(found: pl.DataFrame, *, title: str = "", height: int = 240, width: Width = "container") -> alt.Chart:
    """The share of the available throughput: a bar for each algorithm, then one for the TCP beside each of them.

    Args:
        found: What `shares.shares` returns.
        title: Above the chart.
        height: In pixels.
        width: In pixels, or as wide as there is room.
    """
    import altair as alt
    import polars as pl

    algorithms = found["algorithm"].unique(maintain_order=True).to_list()
    kinds = {"alternative": "these flows", "standard TCP": "standard TCP beside them"}
    shown = found.with_columns(pl.col("flows").replace(kinds))
    chart: alt.Chart = alt.Chart(shown).mark_bar().encode(
        x=alt.X("flows", type="nominal", sort=list(kinds.values()), title=None, axis=alt.Axis(labelAngle=0)),
        xOffset=alt.XOffset("algorithm", type="nominal", sort=algorithms),
        y=alt.Y("share", type="quantitative", axis=alt.Axis(format="%"), title="share of the available throughput"),
        color=color(shown, "algorithm"),
        tooltip=[alt.Tooltip("algorithm", type="nominal"), alt.Tooltip("flows", type="nominal"),
                 alt.Tooltip("share", type="quantitative", format=".1%"), alt.Tooltip("runs", type="quantitative")],
    )  # fmt: skip
    return finished(chart, title, height, width, {})
