"""The fundamental diagram, flow over density, of packets and of vehicles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.plots import labels, palette
from tightlink.plots.style import LEGEND, axes

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.axes import Axes


def fundamental_diagram(
    frame: pl.DataFrame, *, density: str, flow: str, title: str | None = None, ax: Axes | None = None
) -> Axes:
    """Flow over density: the measured points, their means, and where the mean flow is largest.

    Args:
        frame: A row a measurement.
        density: Column of what stands for the density, such as the number of TCP connections.
        flow: Column of the flow, such as "throughput_bps".
        title: Below the axis along; without it, from the column's name.
        ax: Where to draw; without it, in a new figure.
    """
    import polars as pl

    ax = axes(ax)
    across, up = (labels.axis(column, max(frame[column].to_list(), default=None)) for column in (density, flow))
    means = frame.group_by(density).agg(pl.col(flow).mean()).sort(density)
    ax.plot((means[density] * across.factor).to_list(), (means[flow] * up.factor).to_list(), color=palette.SERIES[0])
    ax.scatter((frame[density] * across.factor).to_list(), (frame[flow] * up.factor).to_list(), s=16,
               color=palette.SERIES[0], linewidths=0, zorder=3)  # fmt: skip
    if means.height:
        top = means.row(int(means[flow].arg_max() or 0), named=True)
        name = f"largest mean flow, at {top[density] * across.factor:g}"
        ax.axvline(top[density] * across.factor, color=palette.NEUTRAL, linestyle="--", linewidth=1, label=name)
        ax.legend(**LEGEND)
    ax.set(xlabel=title or across.title, ylabel=up.title)
    ax.set_xlim(left=0)
    ax.set_ylim(bottom=0)
    return ax


def vehicle_traffic(
    *, speed_km_h: float = 100, capacity_per_h: float = 2200, jam_per_km: float = 140, ax: Axes | None = None
) -> Axes:
    """The triangular fundamental diagram of a lane of road, to stand beside that of packets.

    Flow grows with density at the free speed up to the capacity, then falls to zero at the jam density:
    C. F. Daganzo, The Cell Transmission Model, Transportation Research B 28(4), 1994.

    Args:
        speed_km_h: Free speed.
        capacity_per_h: Largest flow, in vehicles an hour.
        jam_per_km: Density at which nothing moves, in vehicles a kilometre.
        ax: Where to draw; without it, in a new figure.
    """
    ax = axes(ax)
    critical = capacity_per_h / speed_km_h
    ax.plot([0, critical], [0, capacity_per_h], color=palette.SERIES[0], label="free flow")
    ax.plot([critical, jam_per_km], [capacity_per_h, 0], color=palette.SERIES[1], label="congested")
    ax.set(xlabel="density (vehicles/km)", ylabel="flow (vehicles/h)", xlim=(0, jam_per_km))
    ax.set_ylim(bottom=0)
    ax.legend(**LEGEND)
    return ax
