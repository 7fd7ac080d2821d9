"""Delay: against throughput, as a distribution, and as the times that transfers took.

Example:
    >>> import polars as pl
    >>> flows = pl.DataFrame({
    ...     "label": ["cubic", "bbr"], "throughput_bps": [9.2e6, 8.9e6], "queueing_delay_p95_s": [0.095, 0.012],
    ... })
    >>> delay_throughput(flows).to_dict()["layer"][0]["encoding"]["x"]["title"]
    'p95 queueing delay (ms)'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from tightlink.report.charts.lines import line
from tightlink.report.encoding import axis_of, channel, color, finished, largest, round_above, scaled, tooltip

if TYPE_CHECKING:
    from collections.abc import Iterable

    import altair as alt
    import polars as pl

    from tightlink.report.encoding import Kind, Width

_Align: TypeAlias = Literal["left", "right", "center"]

#: Steps of a distribution: about one a pixel.
_MOST_STEPS: Final = 800
#: Names up to so many stand at their points.
_MOST_NAMED: Final = 12
#: About how large a chart and a letter are, in pixels, to keep names apart.
_WIDE: Final = 900
_LETTER: Final = (6.5, 13.0)
_DOT: Final = 46
_MEAN: Final = 130
_PALE: Final = 0.3
#: Where a name may stand, the first that is free: how the text is aligned, and how far from the point it begins.
_SIDES: Final[tuple[tuple[_Align, float, float], ...]] = (
    ("left", 8.0, 0.0),
    ("right", -8.0, 0.0),
    ("center", 0.0, -13.0),
    ("center", 0.0, 13.0),
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
    title: str = "",
    height: int = 320,
    width: Width = "container",
    x_scale: Kind = "linear",
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
        title: Above the chart.
        height: In pixels.
        width: In pixels, or as wide as there is room.
        x_scale: Kind of the axis along.
    """
    import altair as alt
    import polars as pl

    found = frame.drop_nulls([delay, rate, by])
    if x_scale == "log":
        found = found.filter(pl.col(delay) > 0)
    axes = {delay: axis_of(found, delay, None), rate: axis_of(found, rate, None)}
    # From zero on: a difference that is small looks small.
    ends = {column: (0.0, round_above(largest(found, column) or 1.0)) for column in axes}
    shown = scaled(found, axes).with_columns(pl.col(by).cast(pl.String))
    means = shown.group_by(by, maintain_order=True).agg(pl.col(delay, rate).mean(), pl.len().alias("rows"))
    repeated = means.filter(pl.col("rows") > 1)
    encoding: dict[str, Any] = {
        "x": channel(alt.X, shown, delay, axes[delay], kind=x_scale, domain=None if x_scale == "log" else ends[delay]),
        "y": channel(alt.Y, shown, rate, axes[rate], domain=ends[rate]),
        "color": color(shown, by, among),
    }
    if repeated.height and means.height > 1:
        encoding["color"].legend.symbolOpacity = 1
    names = {column: axis.title for column, axis in axes.items()}
    pale = _PALE if repeated.height else 0.9
    size = _DOT if repeated.height else _MEAN
    layers = [
        alt.Chart(shown)
        .mark_point(filled=True, size=size, opacity=pale)
        .encode(**encoding, tooltip=tooltip(shown, names))
    ]
    if repeated.height:
        told = names | {"rows": "mean of so many rows"}
        dots = alt.Chart(means).mark_point(filled=True, size=_MEAN, opacity=1.0)
        layers.append(dots.encode(**encoding, tooltip=tooltip(means, told)))
    if means.height <= _MOST_NAMED:
        layers += _names(means, (delay, rate, by), height, encoding)
    corner = alt.Chart(shown.head(1)).mark_text(align="left", fontSize=11, opacity=0.7, color="currentColor")
    layers.append(corner.encode(x=alt.value(8), y=alt.value(8), text=alt.value("↖ better"), tooltip=alt.value(None)))
    return finished(alt.LayerChart(layer=layers), title, height, width, {})


def _names(
    means: pl.DataFrame, columns: tuple[str, str, str], height: int, encoding: dict[str, Any]
) -> list[alt.Chart]:
    """The names at their points, on a side where nothing else stands; those without room only show on hovering."""
    import altair as alt
    import polars as pl

    across, up, by = columns
    x, y = (_pixels(means, column, size) for column, size in ((across, _WIDE), (up, height)))
    points = [(right, -high) for right, high in zip(x, y, strict=True)]
    placed = means.with_columns(pl.Series("side", _free_sides(means[by].to_list(), points), dtype=pl.Int64))
    layers = []
    for side, (align, dx, dy) in enumerate(_SIDES):
        part = placed.filter(pl.col("side") == side)
        if part.height:
            text = alt.Chart(part).mark_text(align=align, dx=dx, dy=dy, fontSize=11.5)
            layers.append(text.encode(**encoding, text=alt.Text(by, type="nominal"), tooltip=alt.value(None)))
    return layers


def _pixels(means: pl.DataFrame, column: str, size: int) -> list[float]:
    """About where values stand on an axis that begins at zero."""
    values = means[column].to_list()
    end = round_above(max(values, default=0.0) or 1.0)
    return [value / end * size for value in values]


def _free_sides(names: list[str], points: list[tuple[float, float]]) -> list[int | None]:
    """The first side of each point on which its name covers no other name and no point, if there is one."""
    taken = [(x - 6, x + 6, y - 6, y + 6) for x, y in points]
    sides: list[int | None] = []
    for name, (x, y) in zip(names, points, strict=True):
        long, high = len(name) * _LETTER[0], _LETTER[1] / 2
        chosen = None
        for side, (align, dx, dy) in enumerate(_SIDES):
            left = x + dx - {"left": 0.0, "right": long, "center": long / 2}[align]
            box = (left, left + long, y + dy - high, y + dy + high)
            if left + long <= _WIDE and not any(_overlap(box, other) for other in taken):
                chosen = side
                taken.append(box)
                break
        sides.append(chosen)
    return sides


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    return one[0] < other[1] and other[0] < one[1] and one[2] < other[3] and other[2] < one[3]


def distribution(  # noqa: PLR0913
    frame: pl.DataFrame,
    value: str,
    *,
    by: str | None = None,
    among: Iterable[str] | None = None,
    censored: bool = False,
    title: str = "",
    x_title: str | None = None,
    height: int = 240,
    width: Width = "container",
    x_scale: Kind = "linear",
) -> alt.Chart:
    """The distribution of values (CDF): the share of rows whose value is at most so large.

    Args:
        frame: One row a value, such as the round-trip times of a flow or the times that transfers took.
        value: Column of the values.
        by: Column that tells distributions apart.
        among: All names that share their colours, such as all flows of a run.
        censored: Whether a row without a value counts as larger than all, such as a transfer that was not complete at
            the end: the line stops below 100 %. Otherwise it is left out.
        title: Above the chart.
        x_title: Below the axis; without it, from the column's name.
        height: In pixels.
        width: In pixels, or as wide as there is room.
        x_scale: Kind of the axis along.

    >>> import polars as pl
    >>> chart = distribution(pl.DataFrame({"rtt_s": [0.02, 0.01, 0.04, 0.03]}), "rtt_s")
    >>> chart.to_dict()["encoding"]["y"]["title"]
    'share at most so large (%)'
    """
    import polars as pl

    listed = frame if censored else frame.drop_nulls(value)
    parts = []
    for part in listed.partition_by(by, maintain_order=True) if by is not None else [listed]:
        ranked = part.drop_nulls(value).sort(value)
        ranked = ranked.with_columns(share=100 * pl.col(value).cum_count() / part.height)
        # The first step begins on the ground.
        parts += [ranked.head(1).with_columns(share=pl.lit(0.0)), ranked]
    steps = pl.concat(parts) if parts else listed.with_columns(share=pl.lit(0.0))
    return line(
        steps, value, "share", by=by, among=among, title=title, x_title=x_title, y_title="share at most so large (%)",
        y_domain=(0.0, 100.0), x_scale=x_scale, height=height, width=width, step=True, most=_MOST_STEPS,
    )  # fmt: skip


def quantiles(  # noqa: PLR0913
    frame: pl.DataFrame,
    delay: str = "queueing_delay",
    *,
    by: str = "label",
    among: Iterable[str] | None = None,
    title: str = "",
    height: int = 240,
    width: Width = "container",
) -> alt.Chart | None:
    """The upper half of a distribution, from the quantiles in totals: median, 95th and 99th percentile, and largest.

    Args:
        frame: One row a flow or a link, with columns such as ``queueing_delay_p95_s``.
        delay: Which delay: the columns' name up to the quantile.
        by: Column of the names.
        among: All names that share their colours, such as all flows of a run.
        title: Above the chart.
        height: In pixels.
        width: In pixels, or as wide as there is room.

    Returns:
        The chart; nothing where fewer than two quantiles are known.
    """
    import polars as pl

    there = {end: share for end, share in _SHARES.items() if f"{delay}_{end}_s" in frame.columns}
    value = f"{delay}_s"
    parts = [
        frame.select(
            pl.col(by).cast(pl.String), pl.col(f"{delay}_{end}_s").alias(value), pl.lit(100 * share).alias("share")
        )
        for end, share in there.items()
    ]
    if len(parts) < 2:  # noqa: PLR2004
        return None
    listed = pl.concat(parts).drop_nulls(value)
    return line(
        listed, value, "share", by=by, among=among, title=title, y_title="share at most so large (%)",
        y_domain=(100 * min(there.values()), 100.0), height=height, width=width, dots=True,
    )  # fmt: skip
