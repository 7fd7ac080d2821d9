"""Figures of two runs side by side: values over each other, series in one picture.

Both take what `tightlink.analysis.compare.comparison.compare` gives, draw into ``ax`` and return it.
"""

from __future__ import annotations

from tightlink.analysis.compare.comparison import Comparison
from tightlink.analysis.compare.pairs import SIDES
from tightlink.analysis.path.residuals import NEAR
from tightlink.lazy import Axes, pl
from tightlink.numbers import percent
from tightlink.plots import labels, palette
from tightlink.plots.figures import line
from tightlink.plots.style import axes, legend


def compared_values(found: Comparison, table: str, metric: str, *, ax: Axes | None = None) -> Axes:
    """The first over the second, with the line on which both are equal, and those a tenth beside it.

    Args:
        found: Two runs, or two sweeps.
        table: Such as "flows".
        metric: Such as "goodput_bps".
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> dsl = tl.network("dsl").set("duration", "1 s")
        >>> found = tl.compare(tl.simulate(dsl), tl.simulate(dsl.set("link.access.queue", "20 packets")))
        >>> ax = tl.plots.compared_values(found, "flows", "goodput_bps")
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('second: goodput (Mbit/s)', 'first: goodput (Mbit/s)')
    """
    ax = axes(ax)
    rows = found.of(table, metric)
    before, after = (rows[side].to_list() for side in SIDES)
    most = max([*map(abs, before), *map(abs, after)], default=1.0) or 1.0
    scale = labels.axis(metric, most)
    ends = [0.0, most * scale.factor]
    ax.plot(ends, ends, color=palette.NEUTRAL, linewidth=1, label="equal", zorder=1)
    # (o − s) / o = ±NEAR.
    for place, share in enumerate((NEAR, -NEAR)):
        ax.plot(ends, [end / (1 - share) for end in ends], "--", color=palette.NEUTRAL, linewidth=0.8, zorder=1,
                label=f"±{percent(NEAR)}" if place == 0 else None)  # fmt: skip
    ax.scatter([value * scale.factor for value in after], [value * scale.factor for value in before],
               s=18, color=palette.SERIES[0], linewidths=0, zorder=2)  # fmt: skip
    first, second = found.titles
    ax.set(xlabel=f"{second}: {scale.title}", ylabel=f"{first}: {scale.title}")
    return legend(ax)


def compared_series(found: Comparison, entity: str, metric: str, *, ax: Axes | None = None) -> Axes:
    """A metric over time, of both sides.

    Args:
        found: Two runs.
        entity: A flow, a link or a node.
        metric: Such as "queue_packets".
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> dsl = tl.network("dsl").set("duration", "1 s")
        >>> found = tl.compare(tl.simulate(dsl), tl.simulate(dsl.set("link.access.queue", "20 packets")))
        >>> ax = tl.plots.compared_series(found, "access", "queue_packets")
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (ms)', 'queue (packets)')
    """
    rows = found.series.filter((pl.col("entity") == entity) & (pl.col("metric") == metric))
    named = rows.with_columns(pl.col("side").replace(dict(zip(SIDES, found.titles, strict=True))))
    return line(named.rename({"value": metric}), x="time_s", y=metric, by="side", ax=axes(ax), linewidth=1)
