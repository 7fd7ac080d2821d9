"""How many responses each factor moves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink.lazy import alt, pl
from tightlink.plots import labels, palette
from tightlink.report.charts.components import SHAPES
from tightlink.report.charts.marks import PERCENT
from tightlink.report.encoding import finished, legend_columns, tip

#: Of a factor, in pixels.
_ROW: Final = 22


def influence(found: pl.DataFrame, *, names: Mapping[str, str] | None = None) -> alt.LayerChart:
    """The share of responses that each factor moves, the most influential factor first.

    Args:
        found: What `tightlink.analysis.effects.influence.influence` found; a mark for each value of its first columns.
        names: What to call factors; without it, the ends of their names that tell them apart.
    """
    by = found.columns[: found.columns.index("factor")]
    means = found.group_by("factor", maintain_order=True).agg(pl.col("psi").mean())
    factors = means.sort("psi", descending=True, maintain_order=True)["factor"].to_list()
    short = names or labels.shortest(factors)
    of = ", ".join(by)
    shown = found.select(
        "psi",
        factor=pl.col("factor").replace_strict(short, return_dtype=pl.String),
        by=pl.concat_str(by, separator=", ") if by else pl.lit(""),
    )
    kinds = shown["by"].unique(maintain_order=True).to_list()
    legend = alt.Legend(title=of, symbolFillColor="transparent", symbolStrokeWidth=1.6, columns=legend_columns(kinds))
    told: dict[str, Any] = {"type": "nominal", "legend": legend if by else None}
    marks = alt.Chart(shown).mark_point(size=60, strokeWidth=1.6, opacity=1).encode(
        x=alt.X("psi", type="quantitative", scale=alt.Scale(domain=[0, 1], padding=8), axis=alt.Axis(labelExpr=PERCENT),
                title="influence Ψ: share of responses"),
        y=alt.Y("factor", type="nominal", sort=[short[factor] for factor in factors], title=None,
                axis=alt.Axis(grid=True, labelOverlap=False, labelLimit=260)),
        color=alt.Color("by", scale=alt.Scale(domain=kinds, range=palette.SERIES), **told),
        shape=alt.Shape("by", scale=alt.Scale(domain=kinds, range=SHAPES), **told),
        tooltip=[tip("factor"), *([tip("by", title=of)] if by else []), tip("psi", ".1%", "Ψ")],
    )  # fmt: skip
    return finished(alt.LayerChart(layer=[marks]), _ROW * len(factors))
