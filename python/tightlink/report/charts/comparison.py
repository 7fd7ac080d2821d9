"""Algorithms compared: ranks, each beside the standard TCP that competes with it, and where each is an outlier."""

from __future__ import annotations

from typing import Any, Final

from tightlink.analysis.responses.compared import labels as numbered
from tightlink.analysis.responses.fairness import ALTERNATIVE, STANDARD, fairness
from tightlink.analysis.responses.outliers import effective
from tightlink.analysis.responses.ranks import Ranks
from tightlink.lazy import alt, pl
from tightlink.plots import labels, palette
from tightlink.reduce import largest
from tightlink.report.charts.marks import PERCENT, points
from tightlink.report.encoding import NAMES, color, finished, fixed, painted, round_above, tip, tooltip, written

#: Of a cell, its height and its least width on paper, and of a bar, in pixels.
_CELL: Final = 18
_ACROSS: Final = 24
_BAR: Final = 22
#: Least width for two words above two groups of bars.
_HEADS: Final = 280
#: Of a biplot, its width on paper and its height.
_SMALL: Final = 180
#: Standard TCP's bars are paler than those of what it competes with.
_PALE: Final = 0.5
#: What a name beside a point takes, as shares of the axes.
_NAME: Final = (0.2, 0.04)
#: Room for a name at either end of an axis, in pixels.
_NAME_ROOM: Final = 60


def rank_scatter(found: Ranks, *, title: str = "") -> alt.LayerChart:
    """Mean rank along, its standard deviation up, with names: bottom left is good nearly everywhere.

    Args:
        found: The ranks.
        title: Above the chart.
    """
    shown = found.summary.fill_null(0.0).sort("algorithm")
    sideways, upwards = alt.Scale(zero=False, padding=_NAME_ROOM), alt.Scale(zero=False)
    place: dict[str, Any] = {
        "x": alt.X("rank_mean", type="quantitative", scale=sideways, title="mean rank (1 is the best)"),
        "y": alt.Y("rank_sd", type="quantitative", scale=upwards, title="standard deviation of the rank"),
    }
    tint = color(shown, "algorithm", legend=False)
    layers: list[Any] = [alt.Chart(shown).mark_point(filled=True, size=70, opacity=1).encode(
        **place, color=tint, tooltip=tooltip(shown, {}),
    )]  # fmt: skip
    crowded = _crowded(shown)
    for side, align, dx in ((~crowded, "left", 7), (crowded, "right", -7)):
        names: Any = alt.Chart(shown.filter(side), name=f"{NAMES}{align}")
        layers.append(written(names.mark_text(align=align, dx=dx, fontSize=11), "algorithm", **place, color=tint))
    return finished(alt.LayerChart(layer=layers), 300, title=title)


def _crowded(points_: pl.DataFrame) -> pl.Series:
    """Whether another point stands where a point's name would be, on its right."""
    xs, ys = points_["rank_mean"].to_list(), points_["rank_sd"].to_list()
    wide, high = (share * ((max(values) - min(values)) or 1.0) for share, values in zip(_NAME, (xs, ys), strict=True))
    return pl.Series(
        any(0 < other - x < wide and abs(level - y) < high for other, level in zip(xs, ys, strict=True))
        for x, y in zip(xs, ys, strict=True)
    )


def beside_standard(points_: pl.DataFrame) -> list[alt.LayerChart]:
    """Throughput biplots, one an algorithm: ``report.Row(beside_standard(...))``; on the diagonal both get the same.

    Above each stands by which factor the algorithm gets more, as the geometric mean over the conditions.

    Args:
        points_: What `shares.beside` returns.
    """
    own, standard = points_.columns[-2:]
    end = round_above(max(largest(points_[own]), largest(points_[standard])) or 1.0)
    axis = labels.axis(own, end)
    unit = axis.title.removeprefix(labels.plain(own))
    ends = (0.0, end * axis.factor)
    diagonal = pl.DataFrame({own: ends, standard: ends})
    ratios = dict(fairness(points_).select("algorithm", "ratio").rows())
    shown = points_.with_columns(pl.col(own, standard) * axis.factor)
    return [
        points(
            part.drop("algorithm"), own, standard, curves=diagonal, height=_SMALL, x_domain=ends, y_domain=ends,
            title=str(name) if ratios[name] is None else f"{name}: × {ratios[name]:.2f}",
            x_title=f"throughput of the algorithm{unit}", y_title=f"of standard TCP{unit}",
        ).properties(usermeta={"paper": _SMALL})
        for (name,), part in shown.group_by("algorithm", maintain_order=True)
    ]  # fmt: skip


def outlier_grid(found: pl.DataFrame, *, least: float = 0.0) -> alt.LayerChart:
    """Which algorithm is an outlier under which condition in which response; hovering shows by how much.

    Args:
        found: What `outliers.outliers` returns.
        least: Relative effect below which outliers are left out.
    """
    conditions = found["condition"].unique(maintain_order=True).to_list()
    responses = labels.told_apart(found["response"].unique(maintain_order=True))
    algorithms = sorted(found.filter("outlier")["algorithm"].unique().to_list())
    called = numbered(algorithms)
    short = {name: label if len(label) == 1 else "" for name, label in called.items()}
    named = {name: name if label == name else f"{label} {name}" for name, label in called.items()}
    finite = pl.col("relative_effect").is_finite()
    kept = effective(found, least)
    cells = kept.select(
        "condition", "value", "others_mean", "p",
        algorithm=pl.col("algorithm").replace(named),
        response=pl.col("response").replace(responses),
        text=pl.col("algorithm").replace(short) + pl.col("sign"),
        effect=pl.when(finite).then("relative_effect"),
    )  # fmt: skip
    place: dict[str, Any] = {
        "x": alt.X("condition", type="nominal", scale=alt.Scale(domain=conditions), title=None,
                   axis=alt.Axis(labelAngle=-90, labelLimit=240, labelOverlap=False)),
        "y": alt.Y("response", type="nominal", scale=alt.Scale(domain=list(responses.values())), title=None,
                   axis=alt.Axis(labelLimit=200, labelOverlap=False)),
    }  # fmt: skip
    shades = dict(zip(named.values(), palette.colors(algorithms).values(), strict=True))
    squares = alt.Chart(cells).mark_rect(stroke="white", strokeWidth=0.5).encode(
        **place,
        color=painted("algorithm", shades, alt.Legend(title=None, symbolType="square") if algorithms else None),
        tooltip=[tip("condition"), tip("response"), tip("algorithm"), tip("value", ",.4~r"),
                 tip("others_mean", ",.4~r", "mean of the others"), tip("effect", "+.0%"), tip("p", ".2~g")],
    )  # fmt: skip
    text = written(alt.Chart(cells).mark_text(fontSize=10, color="white"), "text", **place)
    filtered = f" of {100 * least:.0f} % and more" if least else ""
    counted = f"outliers{filtered}: {kept.height} of {found.height} cells"
    paper = _ACROSS * len(conditions)
    return finished(alt.LayerChart(layer=[squares, text]), _CELL * len(responses), title=counted, paper=paper)


def share_bars(found: pl.DataFrame) -> alt.LayerChart:
    """The share of the available throughput: a bar for each algorithm, then one for the TCP beside each of them.

    Args:
        found: What `shares.shares` returns.
    """
    algorithms = found["algorithm"].unique(maintain_order=True).to_list()
    kinds = {ALTERNATIVE: "these flows", STANDARD: "standard TCP beside them"}
    shown = found.with_columns(pl.col("flows").replace(kinds)).with_columns(
        place=pl.concat_str("flows", "algorithm", separator="|")
    )
    order = [*(f"{kinds[ALTERNATIVE]}|{name}" for name in algorithms), "|",
             *(f"{kinds[STANDARD]}|{name}" for name in algorithms)]  # fmt: skip
    name = "slice(datum.label, indexof(datum.label, '|') + 1)"
    below = alt.Axis(labelAngle=-60, labelOverlap=False, labelExpr=name, ticks=False)
    x = alt.X("place", type="nominal", scale=alt.Scale(domain=order), title=None, axis=below)
    bars = alt.Chart(shown).mark_bar().encode(
        x=x,
        y=alt.Y("share", type="quantitative", title="share of the available throughput",
                axis=alt.Axis(labelExpr=PERCENT)),
        color=color(shown, "algorithm", legend=False),
        opacity=alt.condition(alt.datum.flows == kinds[STANDARD], alt.value(_PALE), alt.value(1.0)),
        tooltip=[tip("algorithm"), tip("flows"), tip("share", ".1%"), tip("runs", "")],
    )  # fmt: skip
    first = pl.DataFrame({"place": [f"{kind}|{algorithms[0]}" for kind in kinds.values()], "flows": kinds.values()})
    heads = alt.Chart(first).mark_text(
        align="left", baseline="bottom", dx=-_BAR // 2, fontSize=11, color="currentColor"
    )
    layers = [bars, written(heads, "flows", x=x, **fixed(y=-4))]
    return finished(alt.LayerChart(layer=layers), paper=max(_BAR * len(order), _HEADS))
