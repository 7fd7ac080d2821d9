"""Lines, alone or in rows of small figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from tightlink.lazy import alt, pl
from tightlink.plots import labels
from tightlink.report.encoding import (
    Domain,
    Kind,
    Width,
    axis_of,
    channel,
    color,
    finished,
    outside,
    round_above,
    scaled,
    steps,
    thinned,
)
from tightlink.report.thin import MOST, thin

#: Height of a small figure, in pixels.
_SMALL: Final = 120
#: Points a line in a small figure: about two a pixel.
_MOST_SMALL: Final = 400
_LINE: Final[dict[str, Any]] = {"strokeWidth": 1.6, "strokeJoin": "round"}


def line(  # noqa: PLR0913
    frame: pl.DataFrame,
    x: str,
    y: str,
    *,
    by: str | None = None,
    among: Iterable[str] | None = None,
    title: str = "",
    x_title: str | None = None,
    y_title: str | None = None,
    height: int = 240,
    width: Width = "container",
    x_domain: Domain | None = None,
    y_domain: Domain | None = None,
    x_scale: Kind = "linear",
    y_scale: Kind = "linear",
    step: bool = False,
    dots: bool = False,
    most: int = MOST,
) -> alt.Chart:
    """Lines over x; hovering shows the values of all of them, and a row of charts answers together.

    Args:
        frame: One row a point, in the order in which the line is drawn.
        x: Column along.
        y: Column up.
        by: Column that tells lines apart.
        among: All names that share their colours, such as all flows of a run of which this chart has some.
        title: Above the chart.
        x_title: Below the axis; without it, from the column's name.
        y_title: Beside the axis; without it, from the column's name.
        height: In pixels.
        width: In pixels, or as wide as there is room.
        x_domain: Ends of the axis, in the unit of the column.
        y_domain: Ends of the axis, in the unit of the column.
        x_scale: Kind of axis.
        y_scale: Kind of axis.
        step: Whether values last until the next one.
        dots: Whether each point is marked.
        most: Points a line beyond which it is thinned.
    """
    kept = thin(frame, x, y, by=by, most=most)
    axes = {x: axis_of(kept, x, x_title, x_domain), y: axis_of(kept, y, y_title, y_domain)}
    shown = scaled(kept, axes)
    encoding: dict[str, Any] = {
        "x": channel(alt.X, shown, x, axes[x], kind=x_scale, domain=x_domain, fit=True),
        "y": channel(alt.Y, shown, y, axes[y], kind=y_scale, domain=y_domain, nice=steps(height)),
        "color": color(shown, by, among),
    }
    cut = outside(frame, x, x_domain) or outside(frame, y, y_domain)
    interpolate: Literal["step-after", "linear"] = "step-after" if step else "linear"
    mark = alt.Chart(shown).mark_line(**_LINE, clip=cut, interpolate=interpolate, point={"size": 28} if dots else False)
    chart: alt.Chart = mark.encode(**encoding)
    hover = {"x": x, "y": y, "by": by, "x_title": axes[x].title, "y_title": axes[y].title}
    return finished(chart, height, title=title, width=width, hover=hover, note=thinned(frame, kept, by))


def small_multiples(  # noqa: PLR0913
    frame: pl.DataFrame,
    x: str,
    metrics: Sequence[str] | Mapping[str, str],
    *,
    by: str | None = None,
    x_title: str | None = None,
    x_domain: Domain | None = None,
    domains: Mapping[str, Domain] | None = None,
    step: bool = False,
) -> list[alt.Chart]:
    """A row of small line charts for one case, one a metric: ``report.Row(small_multiples(...))``.

    Args:
        frame: One row a point, with a column a metric.
        x: Column along.
        metrics: Columns up, or columns with their titles (which leaves the values as they are).
        by: Column that tells lines apart.
        x_title: Below each axis; without it, from the column's name.
        x_domain: Ends of the axes along, in the unit of the column.
        domains: Ends of the axes up, by metric, in the units of the columns: give the same (see
            `shared_domains`) for several cases to compare them.
        step: Whether values last until the next one.
    """
    titles = dict(metrics) if isinstance(metrics, Mapping) else dict.fromkeys(metrics)
    charts = []
    for metric, title in titles.items():
        domain = (domains or {}).get(metric)
        chart = line(
            frame, x, metric, by=by, title=axis_of(frame, metric, title, domain).title, x_title=x_title, y_title=title,
            height=_SMALL, x_domain=x_domain, y_domain=domain, step=step, most=_MOST_SMALL,
        )  # fmt: skip
        chart.encoding.y.title = None
        charts.append(chart)
    return charts


def shared_domains(frames: Iterable[pl.DataFrame], metrics: Iterable[str]) -> dict[str, Domain]:
    """Axes, from zero, on which all the frames can be compared, for `small_multiples`.

    >>> shared_domains([pl.DataFrame({"queue_packets": [3]}), pl.DataFrame({"queue_packets": [19]})], ["queue_packets"])
    {'queue_packets': (0.0, 20.0)}
    """
    listed = list(frames)
    domains = {}
    for metric in metrics:
        greatest = [labels.largest(frame, metric) or 0.0 for frame in listed if metric in frame.columns]
        domains[metric] = (0.0, round_above(max(greatest, default=0.0) or 1.0))
    return domains
