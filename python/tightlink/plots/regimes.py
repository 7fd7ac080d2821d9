"""Figures of a router under load: load and loss over packet rate or bit rate, a line for each length."""

from __future__ import annotations

from typing import Any, Final, Literal

from tightlink.analysis.limits.regimes import Length, Regimes
from tightlink.lazy import Axes
from tightlink.plots import labels, palette
from tightlink.plots.style import axes, legend

#: Regions are told by markers as well as by the ground: full, hollow, crossed.
_MARKERS: Final[dict[str, dict[str, Any]]] = {
    "stable": {"marker": "o"},
    "unstable": {"marker": "o", "markerfacecolor": "none"},
    "highly unstable": {"marker": "x"},
}
_SHADES: Final = {"unstable": palette.SERIES[4], "highly unstable": palette.SERIES[1]}


def load_over(
    found: Regimes, x: Literal["packets_per_s", "throughput_bps"] = "packets_per_s", *, log: bool = False,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Load over packet rate or bit rate; regions are shaded where they begin at one place for all lengths.

    Args:
        found: The regions of a router.
        x: Column along.
        log: Whether the axis along is logarithmic.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> table = tl.analyze.read_measurements("examples/router-load.csv")
        >>> found = tl.analyze.regimes(table.filter(router="A"))
        >>> ax = tl.plots.load_over(found)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('packet rate (packets/s)', 'load (%)')
    """
    return _over(found, x, "load", log=log, ax=ax)


def loss_over(
    found: Regimes, x: Literal["packets_per_s", "throughput_bps"] = "packets_per_s", *, log: bool = False,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Loss over packet rate or bit rate, for the lengths of which it was measured.

    Args:
        found: The regions of a router.
        x: Column along.
        log: Whether the axis along is logarithmic.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> table = tl.analyze.read_measurements("examples/router-load.csv")
        >>> found = tl.analyze.regimes(table.filter(router="A"))
        >>> ax = tl.plots.loss_over(found)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('packet rate (packets/s)', 'loss (%)')
    """
    return _over(found, x, "loss", log=log, ax=ax)


def _over(found: Regimes, x: str, y: str, *, log: bool, ax: Axes | None) -> Axes:
    ax = axes(ax)
    lengths = [length for length in found.lengths if y in length.points.columns]
    across = labels.axis(x, max((float(length.points[x][-1]) for length in lengths), default=None))
    up = labels.axis(y)
    if log:
        ax.set_xscale("log")
    for place, length in enumerate(lengths):
        _draw(ax, length, (x, across), (y, up), palette.SERIES[place % len(palette.SERIES)])
    regions = {str(region) for length in lengths for region in length.points["region"]}
    for region, marker in _MARKERS.items():
        if region in regions - {"stable"}:
            ax.plot([], [], color=palette.NEUTRAL, linestyle="none", label=region, **marker)
    if found.governs == x and found.onset is not None:
        _shade(ax, found, x, across.factor)
    ax.set(xlabel="bit rate" + across.title.removeprefix("throughput") if x == "throughput_bps" else across.title,
           ylabel=up.title)  # fmt: skip
    if not log:
        ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    return legend(ax)


def _draw(ax: Axes, length: Length, x: tuple[str, labels.Axis], y: tuple[str, labels.Axis], color: str) -> None:
    values = [length.points[name] * axis.factor for name, axis in (x, y)]
    ax.plot(*values, color=color, linewidth=1.0, label=f"{length.packet_bytes:g} B", zorder=2)
    for (region,), part in length.points.group_by("region", maintain_order=True):
        dots = [part[name] * axis.factor for name, axis in (x, y)]
        ax.plot(*dots, color=color, linestyle="none", zorder=3, **_MARKERS[str(region)])


def _shade(ax: Axes, found: Regimes, x: str, factor: float) -> None:
    """The ground of the regions, from the last probe before each begins; to the end of the axis."""
    bits = [8 * length.packet_bytes if x == "throughput_bps" else 1.0 for length in found.lengths]
    onset = found.onset.low if found.onset is not None else None
    lengths = zip(found.lengths, bits, strict=True)
    declines = [(each.decline.low or 0.0) * bit for each, bit in lengths if each.decline is not None]
    end = ax.get_xlim()[1]
    starts = [("unstable", onset), ("highly unstable", min(declines, default=None))]
    edges = [(name, start * factor) for name, start in starts if start is not None and start * factor < end]
    for place, (name, start) in enumerate(edges):
        stop = edges[place + 1][1] if place + 1 < len(edges) else end
        ax.axvspan(start, stop, color=_SHADES[name], alpha=0.13, linewidth=0, zorder=0)
    ax.set_xlim(right=end)
