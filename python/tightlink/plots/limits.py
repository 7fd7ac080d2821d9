"""Figures of what limits a link or a router: saturation, its bifurcation, and load and loss over what is offered.

Every function takes what a module of `tightlink.analysis.limits` gives, draws into ``ax`` and returns it.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from tightlink.analysis.limits.regimes import Length, Regimes
from tightlink.analysis.limits.saturation import Law, Saturation
from tightlink.lazy import Axes, np, pl
from tightlink.plots import labels, palette
from tightlink.plots.style import axes, legend

_DENSE: Final = 400
#: Top of a bifurcation diagram, in plateaus.
_HEADROOM: Final = 1.6
_NAMES: Final = {"ideal": "ideal law", "cost": "cost per packet and byte"}
_DASHES: Final = {"ideal": "--", "cost": "-"}
_POINTS: Final[dict[str, Any]] = {"s": 16, "linewidths": 0, "zorder": 3}
_REGIMES: Final = {"free flow": palette.SERIES[0], "saturated": palette.SERIES[1], "undivided": palette.NEUTRAL}
#: Regions are told by markers as well as by the ground: full, hollow, crossed.
_MARKERS: Final[dict[str, dict[str, Any]]] = {
    "stable": {"marker": "o"},
    "unstable": {"marker": "o", "markerfacecolor": "none"},
    "highly unstable": {"marker": "x"},
}
_SHADES: Final = {"unstable": palette.SERIES[4], "highly unstable": palette.SERIES[1]}


def throughput_over_size(found: Saturation, *, ax: Axes | None = None) -> Axes:
    """Throughput over packet size, with both laws and the interval of the critical size.

    Args:
        found: What `tightlink.analyze.saturation` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> found = tl.analyze.saturation(tl.analyze.read_measurements("examples/link-sweep.csv"))
        >>> ax = tl.plots.throughput_over_size(found)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('packet size (B)', 'throughput (Mbit/s)')
    """
    return _over_size(found, "throughput_bps", ax)


def rate_over_size(found: Saturation, *, ax: Axes | None = None) -> Axes:
    """Packet rate over packet size, with both laws and the interval of the critical size.

    Args:
        found: What `tightlink.analyze.saturation` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> found = tl.analyze.saturation(tl.analyze.read_measurements("examples/link-sweep.csv"))
        >>> ax = tl.plots.rate_over_size(found)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('packet size (B)', 'packet rate (packets/s)')
    """
    return _over_size(found, "packets_per_s", ax)


def throughput_over_rate(found: Saturation, *, ax: Axes | None = None) -> Axes:
    """Throughput over packet rate, both following the packet size.

    Args:
        found: What `tightlink.analyze.saturation` returns.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> found = tl.analyze.saturation(tl.analyze.read_measurements("examples/link-sweep.csv"))
        >>> ax = tl.plots.throughput_over_rate(found)
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('packet rate (packets/s)', 'throughput (Mbit/s)')
    """
    ax = axes(ax)
    across, up = (labels.axis_of(found.points, column) for column in ("packets_per_s", "throughput_bps"))
    sizes = _sizes(found)
    for law in found.laws:
        ax.plot(law.packets_per_s(sizes) * across.factor, law.throughput_bps(sizes) * up.factor, **_style(law))
    _scatter(ax, found, ("packets_per_s", across), ("throughput_bps", up))
    return _finished(ax, across, up)


def bifurcation(
    branches: pl.DataFrame, measured: pl.DataFrame | None = None, *, reduced: bool = False, ax: Axes | None = None
) -> Axes:
    """The bifurcation diagram: branches of throughput over packet size, from large to small packets.

    Args:
        branches: As `tightlink.analysis.limits.bifurcation.branches` gives them.
        measured: ``packet_bytes`` and ``throughput_bps`` of a link, to be drawn over them.
        reduced: Whether the axis along is ε = 1 − p / p_c instead of the packet size.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> from tightlink.analysis.limits.bifurcation import branches
        >>> ax = tl.plots.bifurcation(branches(96e6, 480.0, range(100, 1500, 100)))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('packet size (B)', 'throughput (Mbit/s)')
    """
    ax = axes(ax)
    column = "reduced" if reduced else "packet_bytes"
    own = labels.Axis("reduced parameter 1 − p / p$_c$") if reduced else labels.axis_of(branches, column)
    up = labels.axis_of(branches.filter(pl.col("branch") == "free flow"), "throughput_bps")
    for place, name in enumerate(("free flow", "saturated")):
        for stable, dash in ((True, "-"), (False, "--")):
            # The point where branches meet belongs to both of their halves.
            half = pl.col("stable").is_null() | (pl.col("stable") == stable)
            part = branches.filter(pl.col("branch") == name, half)
            label = f"{name}, {'stable' if stable else 'unstable'}"
            heights = part["throughput_bps"] * up.factor
            ax.plot(part[column] * own.factor, heights, dash, color=palette.SERIES[place], label=label)
    if measured is not None:
        at = measured["packet_bytes"]
        if reduced:
            ratios = branches.filter(pl.col("reduced") != 1).select(pl.col("packet_bytes") / (1 - pl.col("reduced")))
            at = 1 - at / float(ratios.item(0, 0))
        heights = measured["throughput_bps"] * up.factor
        ax.scatter(at, heights, color=palette.NEUTRAL, label="measured", **_POINTS)
    if not reduced:
        ax.invert_xaxis()
    # The unstable end of the saturated branch would press all else together.
    highest = float(branches.filter(pl.col("branch") == "free flow")["throughput_bps"][0])
    ax.set_ylim(top=_HEADROOM * highest * up.factor)
    return _finished(ax, own, up)


def _over_size(found: Saturation, column: str, ax: Axes | None) -> Axes:
    ax = axes(ax)
    across, up = labels.axis_of(found.points, "packet_bytes"), labels.axis_of(found.points, column)
    sizes = _sizes(found)
    for law in found.laws:
        ax.plot(sizes, getattr(law, column)(sizes) * up.factor, **_style(law))
    if found.laws:
        critical = found.better.critical_bytes
        ax.axvspan(critical.low, critical.high, color=palette.NEUTRAL, alpha=0.35, linewidth=0, zorder=0,
                   label=f"critical size {critical.value:,.0f} B")  # fmt: skip
    _scatter(ax, found, ("packet_bytes", across), (column, up))
    ax.set_xlim(left=0)
    return _finished(ax, across, up)


def _scatter(ax: Axes, found: Saturation, x: tuple[str, labels.Axis], y: tuple[str, labels.Axis]) -> None:
    for (regime,), part in found.points.group_by("regime", maintain_order=True):
        values = [part[name] * axis.factor for name, axis in (x, y)]
        ax.scatter(*values, color=_REGIMES[str(regime)], label=f"measured, {regime}", **_POINTS)


def _style(law: Law) -> dict[str, Any]:
    return {"color": palette.NEUTRAL, "linestyle": _DASHES[law.name], "label": _NAMES[law.name], "zorder": 1}


def _sizes(found: Saturation) -> Any:
    sizes = found.points["packet_bytes"]
    return np.linspace(float(sizes[0]), float(sizes[-1]), _DENSE)


def _finished(ax: Axes, across: labels.Axis, up: labels.Axis) -> Axes:
    ax.set(xlabel=across.title, ylabel=up.title)
    ax.set_ylim(bottom=0)
    return legend(ax)


def load_over(
    found: Regimes, x: Literal["packets_per_s", "throughput_bps"] = "packets_per_s", *, log: bool = False,
    ax: Axes | None = None,
) -> Axes:  # fmt: skip
    """Load over packet rate or bit rate; regions are shaded where they begin at one place for all lengths.

    Args:
        found: What `tightlink.analyze.regimes` returns.
        x: Column of the horizontal axis.
        log: Whether the horizontal axis is logarithmic.
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
        found: What `tightlink.analyze.regimes` returns.
        x: Column of the horizontal axis.
        log: Whether the horizontal axis is logarithmic.
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
    if x == "throughput_bps":
        across = labels.Axis("bit rate" + across.title.removeprefix("throughput"), across.factor)
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
    if not log:
        ax.set_xlim(left=0)
    return _finished(ax, across, up)


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
