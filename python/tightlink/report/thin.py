"""Fewer points for a screen, without losing a peak.

Example:
    >>> frame = pl.DataFrame({"x": range(10_000), "y": [0.0] * 5000 + [9.0] + [0.0] * 4999})
    >>> thinned = thin(frame, "x", "y", most=100)
    >>> thinned.height, thinned["y"].max()
    (52, 9.0)
"""

from __future__ import annotations

from typing import Final

from tightlink.lazy import pl

#: Points a line beyond which it is thinned.
MOST: Final = 2000


def thin(frame: pl.DataFrame, x: str, y: str, *, by: str | None = None, most: int = MOST) -> pl.DataFrame:
    """The frame with only these columns and with at most about ``most`` points a line.

    Each line is cut into equal runs of points, of which the least, the greatest and the first are
    kept: no peak is lost, and equal frames give equal results. Points without a value go.

    Args:
        frame: One row a point, each line in the order in which it is drawn.
        x: Column along.
        y: Column up.
        by: Column that tells lines apart.
        most: About how many points a line may have.
    """
    columns = [x, y, *([by] if by is not None and by not in {x, y} else [])]
    points = frame.select(columns).drop_nulls([x, y])
    if points.schema[y].is_float():
        points = points.filter(pl.col(y).is_finite())
    line: pl.Expr = pl.lit(0) if by is None else pl.col(by)
    counts = points.group_by(line.alias("line")).len()
    if (counts["len"] <= most).all():
        return points
    run = (pl.int_range(pl.len()) * (most // 2) // pl.len()).over(line)
    numbered = points.with_row_index("row_").with_columns(line.alias("line_"), run.alias("run_"))
    kept = numbered.group_by("line_", "run_").agg(
        pl.col("row_").get(pl.col(y).arg_min()).alias("least"),
        pl.col("row_").get(pl.col(y).arg_max()).alias("greatest"),
    )
    ends = numbered.group_by("line_").agg(pl.col("row_").first().alias("first"), pl.col("row_").last().alias("last"))
    rows = pl.concat([kept["least"], kept["greatest"], ends["first"], ends["last"]]).unique().sort()
    return points[rows]
