"""Figures of loss synchronization: which flows lose packets when, and how many of them at once.

Both take what `tightlink.analysis.traffic.synchronization` gives, draw into ``ax`` and return it.
"""

from __future__ import annotations

from typing import Final

from tightlink.analysis.traffic.synchronization import Synchronization
from tightlink.lazy import Axes
from tightlink.plots import palette
from tightlink.plots.style import axes, legend
from tightlink.text_table import shortened

#: Names of more flows cannot be read.
_NAMED: Final = 16


def losses_by_flow(found: Synchronization, *, ax: Axes | None = None) -> Axes:
    """The congestion events in which each flow lost packets: columns of dots are flows that lost together.

    Args:
        found: What was found.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> scenario = tl.network("dsl").set("duration", "20 s").set("traffic.download.flows", 2)
        >>> found = tl.analyze.synchronization(tl.simulate(scenario, trace=True))
        >>> ax = tl.plots.losses_by_flow(next(iter(found.values())))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'flow')
    """
    ax = axes(ax)
    names = found.flows["flow"].to_list()
    place = {name: row for row, name in enumerate(names)}
    rows = [place[name] for name in found.losses["flow"]]
    ax.scatter(
        found.losses["begin_s"], rows, s=max(4.0, 160 / max(len(names), 10)), color=palette.SERIES[0], linewidths=0
    )
    readable = len(names) <= _NAMED
    ylabel = "flow" if readable else f"{len(names)} flows"
    ax.set(xlabel="time (s)", ylabel=ylabel, ylim=(len(names) - 0.5, -0.5))
    shown = list(map(shortened, names)) if readable else []
    ax.set_yticks(range(len(shown)), shown)
    return ax


def synchronization_over_time(found: Synchronization, *, ax: Axes | None = None) -> Axes:
    """The share of the active flows that lost packets in each congestion event, beside that by chance.

    Args:
        found: What was found.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> scenario = tl.network("dsl").set("duration", "20 s").set("traffic.download.flows", 2)
        >>> found = tl.analyze.synchronization(tl.simulate(scenario, trace=True))
        >>> ax = tl.plots.synchronization_over_time(next(iter(found.values())))
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (s)', 'share of flows that lost packets')
    """
    ax = axes(ax)
    events = found.events
    blue, orange = palette.SERIES[:2]
    ax.scatter(events["begin_s"], events["share"], s=12, color=blue, linewidths=0, label="event")
    ax.axhline(found.rate.value, color=blue, linewidth=1.2, label="mean")
    if not found.retransmitted:
        ax.axhline(found.by_chance, color=orange, linewidth=1.2, linestyle="--", label="by chance")
    lost = "retransmitted" if found.retransmitted else "lost packets"
    ax.set(xlabel="time (s)", ylabel=f"share of flows that {lost}", ylim=(0, 1.05))
    return legend(ax)
