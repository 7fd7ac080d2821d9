"""The figures: lines, series of a run, what limited its flows, distributions, points over curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from tightlink import arguments
from tightlink.analysis.effects.designed import numbers
from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.lazy import Array, np, pl
from tightlink.plots import labels, palette
from tightlink.plots.gaps import gaps
from tightlink.plots.observed import begun, observed
from tightlink.plots.style import LEGEND, axes
from tightlink.plots.style import legend as with_legend
from tightlink.run import Run, check_run

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.lines import Line2D

    #: A curve: a function of x, or its points.
    Curve: TypeAlias = Callable[[Array], Any] | tuple[Iterable[float], Iterable[float]]

_DENSE: Final = 200
_FLOW_LABELS: Final = 40
_ONE_LINE: Final = 3
#: Names for which a legend has room.
_MOST_NAMES: Final = 15
#: Ratio of the ends of a logarithmic axis up to which there is room for labels between powers of ten.
_FEW_POWERS: Final = 200


def line(frame: pl.DataFrame, x: str, y: str, *, by: str | None = None, ax: Axes | None = None, **style: Any) -> Axes:
    """Lines of a column over another one.

    Args:
        frame: A row for each point, in the order in which the line is drawn.
        x: Column of the horizontal axis.
        y: Column of the vertical axis.
        by: Column that tells lines apart.
        ax: Where to draw; without it, in a new figure.
        style: Passed on to matplotlib's ``plot``.

    Example:
        >>> frame = pl.DataFrame({"time_s": [0.0, 1.0], "goodput_bps": [0.0, 2e6]})
        >>> tl.plots.line(frame, x="time_s", y="goodput_bps").get_ylabel()
        'goodput (Mbit/s)'
    """
    ax = axes(ax)
    across, up = _axis(frame, x, ax.get_xlabel()), _axis(frame, y, ax.get_ylabel())
    for name, color, part in _lines(frame, by):
        drawn = ax.plot(_values(part, x, across), _values(part, y, up), label=name, **_styled(color, style))
        _within(drawn, y, up)
    _grounded(ax, frame, y)
    return _labelled(ax, across.title, up.title, legend=by is not None)


def series(
    run: Run, metric: str, entity: str | Sequence[str] | None = None, *, ax: Axes | None = None, **style: Any
) -> Axes:
    """A metric over time, each flow and each link in its colour of all figures of the run.

    Args:
        run: A run with ``observe.interval``, or a simulation of about a second, which is then simulated again with it.
        metric: Which series, such as "queue_packets".
        entity: Which link, node or flow, or several of them in their order; without it, all that have the metric.
        ax: Where to draw; without it, in a new figure.
        style: Passed on to matplotlib's ``plot``.

    Raises:
        TightlinkError: The run has no such series.

    Example:
        >>> run = tl.simulate(tl.network("dsl").set("duration", "1 s"))
        >>> ax = tl.plots.series(run, "cwnd_packets")
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('time (ms)', 'congestion window (packets)')
    """
    run = observed(run, "series")
    table = begun(run, _chosen(run.series, "metric", metric))
    if isinstance(entity, str):
        table = _chosen(table, "entity", entity)
    elif entity is not None:
        table = pl.concat(_chosen(table, "entity", name) for name in arguments.several("entity", entity))
    wide = table.select("time_s", "entity", pl.col("value").alias(metric))
    ax = axes(ax)
    across, up = _axis(wide, "time_s", ax.get_xlabel()), _axis(wide, metric, ax.get_ylabel())
    for name, color, part in _lines(wide, "entity", palette.entities(run)):
        label = {} if isinstance(entity, str) else {"label": name}
        drawn = pl.concat([part.drop("entity"), gaps(part, "time_s", metric)]).sort("time_s")
        values = _values(drawn, "time_s", across), _values(drawn, metric, up)
        _within(ax.plot(*values, **(label | _styled(color, style))), metric, up)
    _grounded(ax, wide, metric)
    return _labelled(ax, across.title, up.title, legend=not isinstance(entity, str))


def limited_by(run: Run, *, ax: Axes | None = None) -> Axes:
    """Why each flow was as fast as it was: the shares of its time, stacked.

    Args:
        run: The run whose flows are drawn: simulated, measured or captured.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> run = tl.simulate(tl.network("dsl").set("duration", "1 s"))
        >>> tl.plots.limited_by(run).get_xlabel()
        'share of the time (%)'
    """
    check_run(run)
    flows = run.flows
    ax = axes(ax)
    names = flows["label"].to_list()
    places = list(range(len(names)))
    left = [0.0] * len(names)
    for key, limit in palette.LIMITS.items():
        shares = [100 * share for share in flows[f"limited_by_{key}"].fill_null(0.0)]
        if not any(share > 0 for share in shares):
            continue
        ax.barh(places, shares, left=left, height=0.7, color=limit.color, label=limit.name)
        left = [start + share for start, share in zip(left, shares, strict=True)]
    ax.set(xlim=(0, 100), ylim=(max(len(names), 1) - 0.5, -0.5), xlabel="share of the time (%)")
    ax.grid(visible=False)
    ax.set_yticks(places if len(places) <= _FLOW_LABELS else [], names if len(places) <= _FLOW_LABELS else [])
    ax.tick_params(axis="y", length=0)
    if named := len(ax.get_legend_handles_labels()[1]):
        columns = named if named <= _ONE_LINE else 2
        ax.legend(**LEGEND, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, handlelength=1, borderaxespad=0.2)
    return ax


def cdf(
    frame: pl.DataFrame,
    x: str,
    *,
    by: str | None = None,
    among: Iterable[str] = (),
    weight: str | None = None,
    ax: Axes | None = None,
    **style: Any,
) -> Axes:
    """The share of rows whose value is at most x.

    Args:
        frame: A row for each value.
        x: Column of the values.
        by: Column that tells distributions apart.
        among: All names that share their colours, such as all flows of a run.
        weight: Column of how many values a row stands for; without it, one.
        ax: Where to draw; without it, in a new figure.
        style: Passed on to matplotlib's ``plot``.

    Example:
        >>> tl.plots.cdf(pl.DataFrame({"rtt_s": [0.02, 0.03, 0.05]}), "rtt_s").get_xlabel()
        'round-trip time (ms)'
    """
    ax = axes(ax)
    across = _axis(frame, x, ax.get_xlabel())
    for name, color, part in _lines(frame, by, among):
        steps = distributed(part.drop_nulls(x), x, weight)
        if steps.height:
            values, shares = _values(steps, x, across), steps["share"].to_list()
            ax.plot(values, shares, drawstyle="steps-post", label=name, **_styled(color, style))
    _grounded(ax, frame, x, "x")
    ax.set_ylim(0, 100)
    return _labelled(ax, across.title, "share at most so large (%)", legend=by is not None)


def distributed(frame: pl.DataFrame, x: str, weight: str | None = None) -> pl.DataFrame:
    """The rows that have a value, from the least on, with ``share``: how much of all in per cent is at most so large.

    The least comes twice, at first with no share, so that the first step begins on the ground.

    >>> distributed(pl.DataFrame({"rtt_s": [0.03, None, 0.02], "packets": [1, 2, 1]}), "rtt_s", "packets").rows()
    [(0.02, 1, 0.0), (0.02, 1, 25.0), (0.03, 1, 50.0)]
    """
    counted = frame.with_columns(share=pl.lit(1) if weight is None else pl.col(weight))
    ranked = counted.drop_nulls(x).sort(x).with_columns(share=100 * pl.col("share").cum_sum() / counted["share"].sum())
    return pl.concat([ranked.head(1).with_columns(share=pl.lit(0.0)), ranked])


def delays(run: Run, delay: str = "queueing_delay", *, ax: Axes | None = None, **style: Any) -> Axes:
    """How a delay of all flows and links is distributed, each in its colour of all figures of the run.

    Args:
        run: A run with ``observe.delays``, a measurement, or a simulation of about a second, which is simulated again.
        delay: "queueing_delay", "one_way_delay" or "rtt".
        ax: Where to draw; without it, in a new figure.
        style: Passed on to matplotlib's ``plot``.

    Raises:
        TightlinkError: The run has no such delays.

    Example:
        >>> run = tl.simulate(tl.network("dsl").set("duration", "1 s"))
        >>> tl.plots.delays(run, "rtt").get_xlabel()
        'round-trip time (ms)'
    """
    own = _chosen(observed(run, "delays").delays, "delay", delay).rename({"at_most_s": f"{delay}_s"})
    return cdf(own, f"{delay}_s", by="entity", among=palette.entities(run), weight="packets", ax=ax, **style)


def scatter_with_curves(  # noqa: PLR0913
    frame: pl.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    curves: Mapping[str, Curve] | None = None,
    log: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Points, with curves such as those of a theory behind them.

    Args:
        frame: A row for each point.
        x: Column of the horizontal axis.
        y: Column of the vertical axis.
        by: Column that tells kinds of points apart.
        curves: By name: functions of x, or pairs of x and y, in the units of the columns.
        log: Whether both axes are logarithmic.
        ax: Where to draw; without it, in a new figure.

    Example:
        >>> frame = pl.DataFrame({"loss": [0.01, 0.04], "goodput_bps": [2e6, 1e6]})
        >>> theory = {"theory": lambda p: 2e5 / p**0.5}
        >>> ax = tl.plots.scatter_with_curves(frame, x="loss", y="goodput_bps", curves=theory)
        >>> len(ax.lines), len(ax.collections)
        (1, 1)
    """
    ax = axes(ax)
    across, up = _axis(frame, x, ax.get_xlabel()), _axis(frame, y, ax.get_ylabel())
    if log:
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):
            plain_powers(axis)
    span = [value for value in frame[x].drop_nulls().to_list() if value > 0 or not log]
    for (name, curve), dash in zip((curves or {}).items(), cycle(("-", "--", ":", "-.")), strict=False):
        if callable(curve):
            ends = (min(span, default=1.0), max(span, default=2.0))
            at = np.geomspace(*ends, _DENSE) if log else np.linspace(*ends, _DENSE)
            heights = np.broadcast_to(np.asarray(curve(at), dtype=float), at.shape)
        else:
            at, heights = (np.asarray(list(values), dtype=float) for values in curve)
        ax.plot(at * across.factor, heights * up.factor, dash, color=palette.NEUTRAL, label=name, zorder=1)
    for name, color, part in _lines(frame, by):
        ax.scatter(_values(part, x, across), _values(part, y, up), s=18, label=name, zorder=2, linewidths=0, **color)
    return _labelled(ax, across.title, up.title, legend=by is not None or bool(curves))


def _grounded(ax: Axes, frame: pl.DataFrame, column: str, along: Literal["x", "y"] = "y") -> None:
    """Have an axis begin at zero whose values do not differ, so that rounding is not drawn as if they did."""
    if labels.still(frame[column]):
        ax.update_datalim([(0.0, 0.0)], updatex=along == "x", updatey=along == "y")
        ax.autoscale_view()


def _within(drawn: Iterable[Line2D], column: str, axis: labels.Axis) -> None:
    """Have the axis of shares end at 0 and 100 %, whatever margins there are."""
    most = labels.most_of(column)
    if most is not None:
        for each in drawn:
            each.sticky_edges.y.extend((0.0, most * axis.factor))


def _styled(color: dict[str, Any], style: dict[str, Any]) -> dict[str, Any]:
    """What matplotlib is given: the caller's colour, under either of its names, instead of ours."""
    return style if {"c", "color"} & style.keys() else color | style


def _lines(
    frame: pl.DataFrame, by: str | None, among: Iterable[str] = ()
) -> Iterator[tuple[str, dict[str, Any], pl.DataFrame]]:
    """The parts of a frame with their names and colours, in the order in which they come."""
    if by is None:
        yield "", {}, frame
        return
    colors = palette.colors(frame[by].unique(maintain_order=True), among)
    for (name,), part in frame.group_by(by, maintain_order=True):
        yield str(name), {"color": colors[str(name)]}, part


def _axis(frame: pl.DataFrame, column: str, drawn: str) -> labels.Axis:
    """The axis of a column of numbers; as it is drawn already, where something of this column is."""
    numbers(frame, [column])
    return labels.axis_drawn(column, drawn) or labels.axis_of(frame, column)


def _values(frame: pl.DataFrame, column: str, axis: labels.Axis) -> list[float]:
    return [float("nan") if value is None else value * axis.factor for value in frame[column].to_list()]


def _labelled(ax: Axes, across: str, up: str, *, legend: bool) -> Axes:
    ax.set(xlabel=across, ylabel=up)
    names = ax.get_legend_handles_labels()[1] if legend else []
    if len(names) > _MOST_NAMES:
        ax.set_title(f"{len(names)} lines, too many to name", fontsize=8, fontweight="normal", loc="right")
        return ax
    return with_legend(ax) if names else ax


def plain_powers(axis: Axis) -> None:
    """Label a logarithmic axis with plain numbers: powers of ten and, where there are few of them, 2 and 5."""
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(partial(_two_or_five, axis))


def _two_or_five(axis: Axis, value: float, _: int) -> str:
    """The label of a tick between two powers of ten, on axes with few of these."""
    low, high = axis.get_view_interval()
    digit = f"{value:e}"[0]
    return f"{value:g}" if digit in "25" and high <= low * _FEW_POWERS else ""


def _chosen(frame: pl.DataFrame, column: str, wanted: str) -> pl.DataFrame:
    found = frame.filter(pl.col(column) == arguments.text(column, wanted))
    if found.is_empty():
        names = sorted(frame[column].unique().to_list())
        ending = did_you_mean(wanted, names)
        if not ending and (start := [name for name in names if name.startswith(f"{wanted.casefold()}_")]):
            ending = f"; did you mean {start[0]}?"
        raise TightlinkError(f'no series of the {column} "{wanted}": expected {one_of(names)}{ending}')
    return found
