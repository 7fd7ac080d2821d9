"""Figures of correlated responses: the matrix in three colours, the histogram of |r|, the index-index plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.plots import labels, palette
from tightlink.plots.style import LEGEND, axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tightlink.analysis.correlation import Correlation

#: Document 003's red, blue and green, as the colour-blind tell them apart.
COLORS: Final = {"strong": palette.SERIES[1], "moderate": palette.SERIES[0], "weak": palette.SERIES[2]}
BANDS: Final = {"strong": "|r| ≥ 0.80", "moderate": "0.30 ≤ |r| < 0.80", "weak": "|r| < 0.30"}
#: Up to so many responses there is room for numbers in the cells.
_MOST_NUMBERS: Final = 30
#: With more names than this they are written smaller.
_FEW: Final = 12
_SMALL: Final = 6.5


def correlation_matrix(found: Correlation, *, ax: Axes | None = None) -> Axes:
    """All pairs below the diagonal, in the three colours of document 003, with 100 r in each cell.

    Args:
        found: The correlations.
        ax: Where to draw; without it, in a new figure.
    """
    from matplotlib.patches import Rectangle

    ax = axes(ax)
    names = list(found.responses)
    size = len(names)
    for row in found.pairs.iter_rows(named=True):
        across, down = names.index(row["first"]), names.index(row["second"])
        ax.add_patch(Rectangle((across - 0.5, down - 0.5), 1, 1, facecolor=COLORS[row["strength"]], edgecolor="white",
                               linewidth=0.5))  # fmt: skip
        if size <= _MOST_NUMBERS:
            ax.text(across, down, f"{100 * row['r']:.0f}".replace("-", "−"), ha="center", va="center", color="white",
                    fontsize=_SMALL)  # fmt: skip
    for strength, color in COLORS.items():
        ax.scatter([], [], marker="s", s=36, color=color, label=BANDS[strength])
    _names(ax, names[:-1], names)
    ax.set(xlim=(-0.5, size - 1.5), ylim=(size - 0.5, 0.5))
    ax.legend(**LEGEND, loc="upper right", title="numbers are 100 r", title_fontsize=8.5)
    return ax


def correlation_histogram(found: Correlation, *, ax: Axes | None = None) -> Axes:
    """How many pairs have which |r|; those above the threshold, which are kept, stand out.

    Args:
        found: The correlations.
        ax: Where to draw; without it, in a new figure.
    """
    from matplotlib.ticker import MaxNLocator

    from tightlink.analysis.correlation import histogram

    ax = axes(ax)
    bins = histogram(found)
    lows, widths = bins["low"].to_list(), (bins["high"] - bins["low"]).to_list()
    kept, other = bins["kept"].to_list(), (bins["pairs"] - bins["kept"]).to_list()
    ax.bar(lows, other, width=widths, align="edge", color=palette.NEUTRAL, label="left out", edgecolor="white")
    ax.bar(
        lows, kept, width=widths, align="edge", bottom=other, color=COLORS["strong"], label="kept", edgecolor="white"
    )
    ax.axvline(found.threshold, color=palette.NEUTRAL, linestyle="--", linewidth=1,
               label=f"threshold {found.threshold:.3g}")  # fmt: skip
    ax.set(xlabel="|r|", ylabel="pairs of responses", xlim=(0, 1))
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(**LEGEND)
    return ax


def index_index(found: Correlation, *, ax: Axes | None = None) -> Axes:
    """Which responses go together: kept pairs, on both axes the responses by their number of partners.

    A group of mutual correlation shows as a full square about the diagonal; its frame is drawn, and the response
    that stands for it is marked on the diagonal.

    Args:
        found: The correlations.
        ax: Where to draw; without it, in a new figure.
    """
    from matplotlib.patches import Rectangle

    ax = axes(ax)
    names = found.places["response"].to_list()
    place = {name: number for number, name in enumerate(names)}
    number = dict(found.places.select("response", "group").rows())
    kept = found.pairs.filter("kept").select("first", "second").rows()
    for within, color, label in (
        (True, COLORS["strong"], "within a group"),
        (False, palette.NEUTRAL, "between groups"),
    ):
        ends = [pair for pair in kept if (number[pair[0]] == number[pair[1]]) == within]
        xs = [place[one] for one, _ in ends] + [place[other] for _, other in ends]
        ys = [place[other] for _, other in ends] + [place[one] for one, _ in ends]
        if ends:
            ax.scatter(xs, ys, s=30, color=color, label=label, linewidths=0, zorder=3)
    for representative, marker, label in ((True, "D", "representative"), (False, "_", "")):
        own = [place[name] for name in found.places.filter(representative=representative)["response"]]
        ax.scatter(own, own, s=26, marker=marker, color=palette.SERIES[0] if representative else palette.NEUTRAL,
                   label=label, zorder=3)  # fmt: skip
    for group in found.groups:
        for low, high in _stretches(sorted(place[name] for name in group.responses)):
            side = high - low + 0.9
            ax.add_patch(Rectangle((low - 0.45, low - 0.45), side, side, facecolor="none", edgecolor=palette.NEUTRAL,
                                   linewidth=0.8))  # fmt: skip
    _names(ax, names, names)
    ax.set(xlim=(-0.6, len(names) - 0.4), ylim=(-0.6, len(names) - 0.4))
    ax.legend(**LEGEND, loc="lower left", bbox_to_anchor=(0, 1), ncols=3, handletextpad=0.3, columnspacing=1,
              title=f"pairs kept, {found.dimension} groups of {len(names)} responses", title_fontsize=8.5,
              alignment="left")  # fmt: skip
    return ax


def _stretches(places: Sequence[int]) -> list[tuple[int, int]]:
    """Runs of neighbours, first and last of each."""
    found: list[tuple[int, int]] = []
    for place in places:
        if found and place == found[-1][1] + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found


def _names(ax: Axes, across: Sequence[str], up: Sequence[str]) -> None:
    called = labels.told_apart(up)
    size = 8.5 if len(up) <= _FEW else _SMALL
    ax.set_xticks(range(len(across)), [called[name] for name in across], rotation=60, ha="right",
                  rotation_mode="anchor", fontsize=size)  # fmt: skip
    ax.set_yticks(range(len(up)), list(called.values()), fontsize=size)
    ax.tick_params(length=0)
    ax.grid(visible=False)
