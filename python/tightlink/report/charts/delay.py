"""Delay: against throughput, as a distribution, and as the times that transfers took.

Example:
    >>> flows = pl.DataFrame({
    ...     "label": ["cubic", "bbr"], "throughput_bps": [9.2e6, 8.9e6], "queueing_delay_p95_s": [0.095, 0.012],
    ... })
    >>> delay_throughput(flows).to_dict()["layer"][0]["encoding"]["x"]["title"]
    'p95 queueing delay (ms)'
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from tightlink.lazy import alt, pl
from tightlink.plots import labels
from tightlink.plots.figures import distributed
from tightlink.report.charts import ellipses
from tightlink.report.charts.lines import line
from tightlink.report.encoding import (
    NAMES,
    Kind,
    axis_of,
    channel,
    color,
    finished,
    fixed,
    round_above,
    tooltip,
    with_told,
    written,
)

_Align: TypeAlias = Literal["left", "right", "center"]

#: Steps of a distribution: about one a pixel.
_MOST_STEPS: Final = 800
#: Names up to so many stand at their points.
_MOST_NAMED: Final = 12
#: Widths between which a chart may turn out, and about how large a letter and a point are, in pixels.
_NARROWEST: Final = 280.0
_WIDEST: Final = 1100.0
_LETTER: Final = (6.5, 13.0)
_POINT: Final = 6.0
#: Room of the words in the corner, in pixels.
_CORNER: Final = (60.0, 16.0)
_DOT: Final = 46
_MEAN: Final = 130
_PALE: Final = 0.3
_ALIGNED: Final[tuple[tuple[_Align, float], ...]] = (("center", 0.0), ("left", 4.0), ("right", -4.0))
#: Where a name may stand, the first that is free: beside its point, else in one of four lines below or above it. How
#: the text is aligned, and how far from the point it begins.
_SIDES: Final[tuple[tuple[_Align, float, float], ...]] = (
    ("left", 8.0, 0.0),
    ("right", -8.0, 0.0),
    *((align, dx, line * sign) for line in (15.0, 29.0, 43.0, 57.0) for sign in (1, -1) for align, dx in _ALIGNED),
)
#: By the end of a column's name: the share of all values that are at most so large.
_SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


def delay_throughput(  # noqa: PLR0913
    frame: pl.DataFrame,
    *,
    delay: str = "queueing_delay_p95_s",
    rate: str = "throughput_bps",
    by: str = "label",
    among: Iterable[str] | None = None,
    ordered: bool = False,
    spread: bool = False,
    title: str = "",
    height: int = 320,
) -> alt.LayerChart:
    """The plane of delay and throughput: up and to the left is better, more throughput with less delay.

    Each row is a point. Where several rows have one name, such as replications, they are pale, and their mean is a
    large point. Hovering a point shows its row.

    Args:
        frame: One row a flow, a control, or a run.
        delay: Column along, such as the 95th percentile of the queueing delay; rows without it are left out.
        rate: Column up, such as the throughput.
        by: Column of the names, which have their colours and stand at their points if they are few.
        among: All names that share their colours, such as all flows of a run.
        ordered: Whether the names are levels from small to large, whose colours are shades of one.
        spread: Whether an ellipse around each mean of three rows or more is one standard deviation of them in each
            direction (RFC 7928, 2.7): the narrower, the steadier; how it leans says what more delay goes with.
        title: Above the chart.
        height: In pixels.
    """
    found = frame.drop_nulls([delay, rate, by])
    axes = {delay: axis_of(found, delay, None), rate: axis_of(found, rate, None)}
    # From zero on: a difference that is small looks small.
    ends = {
        column: (0.0, round_above(labels.largest(found, column) or 1 / axis.factor)) for column, axis in axes.items()
    }
    shown, titles = with_told(found, axes, by)
    shown = shown.with_columns(pl.col(by).cast(pl.String))
    means = shown.group_by(by, maintain_order=True).agg(pl.col(delay, rate).mean(), pl.len().alias("rows"))
    repeated = means.filter(pl.col("rows") > 1)
    encoding: dict[str, Any] = {
        "x": channel(alt.X, shown, delay, axes[delay], domain=ends[delay]),
        "y": channel(alt.Y, shown, rate, axes[rate], domain=ends[rate]),
        "color": color(shown, by, among, ordered=ordered),
    }
    points, singles = (
        [(row[delay] / axes[delay].factor / ends[delay][1],
          height * (1 - row[rate] / axes[rate].factor / ends[rate][1])) for row in part.iter_rows(named=True)]
        for part in (means, shown)
    )  # fmt: skip
    few = means.height <= _MOST_NAMED
    sides = _free_sides(means[by].to_list(), points, singles, height) if few else [None] * means.height
    if None not in sides:
        # All names stand at their points.
        encoding["color"].legend = None
    pale = _PALE if repeated.height else 0.9
    size = _DOT if repeated.height else _MEAN
    # A legend's symbols are as opaque as points may be at most, which these never are.
    opacity = alt.OpacityValue(pale, condition={"test": "false", "value": 1.0})
    singly = alt.Chart(shown).mark_point(filled=True, size=size)
    layers = [singly.encode(**encoding, opacity=opacity, tooltip=tooltip(shown, titles))]
    if repeated.height:
        dots = alt.Chart(means).mark_point(filled=True, size=_MEAN, opacity=1.0)
        layers.append(dots.encode(**encoding, tooltip=tooltip(means, titles | {"rows": "mean of so many rows"})))
    if spread:
        circles = alt.Chart(ellipses.around(shown, by, delay, rate)).mark_line(clip=True, strokeWidth=1.2)
        layers.append(circles.encode(**encoding, order=alt.Order("step"), tooltip=alt.TooltipValue(None)))
    if ordered:
        # The palest of the shades is no colour for a text.
        encoding["color"] = alt.ColorValue("currentColor")
    layers += _names(means.with_columns(pl.Series("side", sides, dtype=pl.Int64)), by, encoding)
    # Where delay is long and throughput small, fewest points are.
    corner = alt.Chart(shown.head(1)).mark_text(align="right", fontSize=11, opacity=0.7, color="currentColor")
    at = fixed(x=alt.ExprRef("width - 6"), y=height - 9)
    layers.append(corner.encode(**at, text=alt.TextValue("↖ better"), tooltip=alt.TooltipValue(None)))
    return finished(alt.LayerChart(layer=layers), height, title=title)


def _names(means: pl.DataFrame, by: str, encoding: dict[str, Any]) -> list[alt.Chart]:
    """The names that have room at their points."""
    layers = []
    for side, (align, dx, dy) in enumerate(_SIDES):
        part = means.filter(pl.col("side") == side)
        if part.height:
            text = alt.Chart(part, name=f"{NAMES}{side}").mark_text(align=align, dx=dx, dy=dy, fontSize=11.5)
            layers.append(written(text, by, **encoding))
    return layers


@dataclass(frozen=True)
class _Box:
    """A rectangle whose place depends on how wide the chart is: pixels from a share of its width."""

    share: float
    left: float
    right: float
    top: float
    bottom: float

    def within(self, height: float) -> bool:
        """Whether it is inside of the chart, however wide that is."""
        inside = self.share * _NARROWEST + self.left >= 0 and self.right <= (1 - self.share) * _NARROWEST
        return inside and self.top >= 0 and self.bottom <= height

    def meets(self, other: _Box) -> bool:
        """Whether it covers another one at some width of the chart."""
        if self.bottom <= other.top or other.bottom <= self.top:
            return False
        apart = [(self.share - other.share) * width for width in (_NARROWEST, _WIDEST)]
        return min(apart) < other.right - self.left and other.left - self.right < max(apart)


def _free_sides(
    names: list[str], points: list[tuple[float, float]], singles: list[tuple[float, float]], height: float
) -> list[int | None]:
    """The first side of each point on which its name covers no other name and no point, if there is one.

    Args:
        names: Those of the points.
        points: Where they are: across as a share of the width, and in pixels from the top.
        singles: Where single rows are, of which a point is the mean.
        height: That of the chart, in pixels.
    """
    taken = [_Box(share, -_POINT, _POINT, y - _POINT, y + _POINT) for share, y in (*points, *singles)]
    taken.append(_Box(1.0, -_CORNER[0], 0.0, height - _CORNER[1], height))
    sides: list[int | None] = []
    for name, (share, y) in zip(names, points, strict=True):
        long, high = len(name) * _LETTER[0], _LETTER[1] / 2
        sides.append(None)
        for side, (align, dx, dy) in enumerate(_SIDES):
            left = dx - {"left": 0.0, "right": long, "center": long / 2}[align]
            box = _Box(share, left, left + long, y + dy - high, y + dy + high)
            if box.within(height) and not any(box.meets(other) for other in taken):
                sides[-1] = side
                taken.append(box)
                break
    return sides


def distribution(  # noqa: PLR0913
    frame: pl.DataFrame,
    x: str,
    *,
    by: str | None = None,
    among: Iterable[str] | None = None,
    weight: str | None = None,
    censored: bool = False,
    title: str = "",
    x_title: str | None = None,
    x_scale: Kind = "linear",
) -> alt.Chart:
    """The distribution of values (CDF): the share of rows whose value is at most so large.

    Args:
        frame: One row a value, such as the round-trip times of a flow or the times that transfers took.
        x: Column of the values.
        by: Column that tells distributions apart.
        among: All names that share their colours, such as all flows of a run.
        weight: Column of how many values a row stands for; without it, one.
        censored: Whether a row without a value counts as larger than all, such as a transfer that was not complete at
            the end: the line stops below 100 %. Otherwise it is left out.
        title: Above the chart.
        x_title: Below the axis; without it, from the column's name.
        x_scale: Kind of the axis along.

    >>> chart = distribution(pl.DataFrame({"rtt_s": [0.02, 0.01, 0.04, 0.03]}), "rtt_s")
    >>> chart.to_dict()["encoding"]["y"]["title"]
    'share at most so large (%)'
    """
    listed = frame if censored else frame.drop_nulls(x)
    kinds = [listed] if by is None or listed.is_empty() else listed.partition_by(by, maintain_order=True)
    steps = pl.concat(distributed(kind, x, weight) for kind in kinds)
    return line(
        steps, x, "share", by=by, among=among, title=title, x_title=x_title, y_title="share at most so large (%)",
        y_domain=(0.0, 100.0), x_scale=x_scale, step=True, most=_MOST_STEPS,
    )  # fmt: skip


def quantiles(
    frame: pl.DataFrame,
    delay: str = "queueing_delay",
    *,
    by: str = "label",
    among: Iterable[str] | None = None,
    title: str = "",
) -> alt.Chart | None:
    """The upper half of a distribution, from the quantiles in totals: median, 95th and 99th percentile, and largest.

    Args:
        frame: One row a flow or a link, with columns such as ``queueing_delay_p95_s``.
        delay: Which delay: the columns' name up to the quantile.
        by: Column of the names.
        among: All names that share their colours, such as all flows of a run.
        title: Above the chart.

    Returns:
        The chart; nothing where fewer than two quantiles are known.
    """
    there = {end: share for end, share in _SHARES.items() if f"{delay}_{end}_s" in frame.columns}
    value = f"{delay}_s"
    parts = [
        frame.select(pl.col(by).cast(pl.String), **{value: f"{delay}_{end}_s"}, share=pl.lit(100 * share))
        for end, share in there.items()
    ]
    if len(parts) < 2:  # noqa: PLR2004
        return None
    listed = pl.concat(parts).drop_nulls(value)
    return line(
        listed, value, "share", by=by, among=among, title=title, y_title="share at most so large (%)",
        y_domain=(100 * min(there.values()), 100.0), dots=True,
    )  # fmt: skip
