"""Figures of principal components: scree, loadings, the runs along two components, and both as a biplot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.plots import labels, palette
from tightlink.plots.style import LEGEND, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tightlink.analysis.components import Components

#: An arrow of correlation 1 ends this far out, as a share of the farthest run along the shorter axis.
_REACH: Final = 0.9
#: Groups are told by markers as well as by colours.
_MARKERS: Final = "os^Dv<>PX*"
_MOST_BARS: Final = 3
_INK: Final = "#1b1f24"
#: Height of a label, as a share of the axis.
_LINE: Final = 0.032
#: With more names than this they are written smaller, or upright.
_FEW: Final = 12


def scree(found: Components, *, ax: Axes | None = None) -> Axes:
    """The share of the variance that each component has, and that of all up to it.

    Args:
        found: The components.
        ax: Where to draw; without it, in a new figure.
    """
    ax = axes(ax)
    names = found.variances["component"].to_list()
    places = range(len(names))
    ax.bar(places, (100 * found.variances["share"]).to_list(), color=palette.SERIES[0], label="each")
    ax.plot(places, (100 * found.variances["cumulated"]).to_list(), "o-", color=palette.SERIES[1], label="up to it")
    ax.axhline(
        100 / len(found.responses), color=palette.NEUTRAL, linestyle="--", linewidth=1, label="a single response"
    )
    ax.set(ylabel="share of the variance (%)", ylim=(0, 105))
    ax.set_xticks(places, names, rotation=90 if len(names) > _FEW else 0)
    ax.legend(**LEGEND, loc="center right")
    return ax


def component_loadings(found: Components, *, components: int = 2, ax: Axes | None = None) -> Axes:
    """What the first components are made of: the correlation of each response with each of them.

    Args:
        found: The components.
        components: How many to draw.
        ax: Where to draw; without it, in a new figure.
    """
    ax = axes(ax)
    names = list(found.responses)
    kept = found.variances["component"].to_list()[: max(1, min(components, _MOST_BARS))]
    thick = 0.8 / len(kept)
    for place, component in enumerate(kept):
        values = found.loadings.filter(component=component)["correlation"].to_list()
        heights = [row + (place - (len(kept) - 1) / 2) * thick for row in range(len(names))]
        ax.barh(heights, values, height=0.9 * thick, color=palette.SERIES[place], label=component)
    ax.axvline(0, color=palette.NEUTRAL, linewidth=0.8)
    ax.set(xlabel="correlation with the component", xlim=(-1, 1), ylim=(len(names) - 0.4, -0.6))
    ax.set_yticks(
        range(len(names)), list(labels.told_apart(names).values()), fontsize=8.5 if len(names) <= _FEW else 6.5
    )
    ax.tick_params(axis="y", length=0)
    ax.grid(visible=False)
    ax.legend(**LEGEND, loc="lower left", bbox_to_anchor=(0, 1), ncols=3)
    return ax


def component_scores(
    found: Components, *, x: str = "PC1", y: str = "PC2", by: str | None = None, ax: Axes | None = None
) -> Axes:
    """The runs along two components, in groups.

    Args:
        found: The components.
        x: Component along.
        y: Component up.
        by: Column of the runs that tells groups apart.
        ax: Where to draw; without it, in a new figure.
    """
    ax = axes(ax)
    parts = [("", found.scores)] if by is None else found.scores.group_by(by, maintain_order=True)
    for place, (name, part) in enumerate(parts):
        ax.scatter(part[x].to_list(), part[y].to_list(), s=18, alpha=0.85, linewidths=0,
                   color=palette.SERIES[place % len(palette.SERIES)],
                   marker=_MARKERS[place % len(_MARKERS)] if by is not None else "o",
                   label="" if by is None else str(name[0]), zorder=2)  # fmt: skip
    for line in (ax.axhline, ax.axvline):
        line(0, color=palette.NEUTRAL, linewidth=0.6, zorder=1)
    ax.set(xlabel=_title(found, x), ylabel=_title(found, y))
    ax.grid(visible=False)
    if by is not None:
        ax.legend(**LEGEND, title=labels.words(by), title_fontsize=8.5, loc="upper left", bbox_to_anchor=(1, 1))
    return ax


def component_biplot(
    found: Components, *, x: str = "PC1", y: str = "PC2", by: str | None = None, ax: Axes | None = None
) -> Axes:
    """The runs along two components, and where each response points: arrows that point alike are correlated.

    Args:
        found: The components.
        x: Component along.
        y: Component up.
        by: Column of the runs that tells groups apart.
        ax: Where to draw; without it, in a new figure.
    """
    from tightlink.reduce import largest

    ax = component_scores(found, x=x, y=y, by=by, ax=ax)
    far = min(largest(found.scores[x].abs()), largest(found.scores[y].abs()))
    along, up = (
        dict(found.loadings.filter(component=name).select("response", "correlation").rows()) for name in (x, y)
    )
    ends = {name: (_REACH * far * along[name], _REACH * far * up[name]) for name in found.responses}
    # Arrows have no part in the ends of the axes.
    ax.update_datalim(list(ends.values()))
    ax.margins(0.16)
    ax.autoscale_view()
    low, high = ax.get_ylim()
    heights = labels.apart({name: end[1] for name, end in ends.items() if end[0] >= 0}, _LINE * (high - low))
    heights |= labels.apart({name: end[1] for name, end in ends.items() if end[0] < 0}, _LINE * (high - low))
    called = labels.told_apart(ends)
    for response, end in ends.items():
        ax.annotate("", xy=end, xytext=(0, 0), zorder=3, arrowprops={"arrowstyle": "-|>", "color": _INK, "lw": 0.9})
        side = 1 if end[0] >= 0 else -1
        ax.annotate(called[response], xy=(end[0], heights[response]), xytext=(4 * side, 0), color=_INK,
                    textcoords="offset points", ha="left" if side > 0 else "right", va="center", fontsize=7.5,
                    zorder=4)  # fmt: skip
    return ax


def _title(found: Components, component: str) -> str:
    share = found.variances.filter(component=component)["share"].item()
    return f"{component} ({100 * share:.0f} % of the variance)"
