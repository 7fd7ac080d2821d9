"""Where a line over time is interrupted: nothing was sampled there, and a straight line would be made up.

Round trips of a flow that waits for its timer have no samples, and the line from the last one to the next one looks
like a measurement.

Example:
    >>> samples = pl.DataFrame({"time_s": [1.0, 2.0, 3.0, 23.0, 24.0], "rtt_s": [0.02, 0.02, 0.03, 0.05, 0.05]})
    >>> gaps(samples, "time_s", "rtt_s").rows()
    [(13.0, None)]
"""

from __future__ import annotations

from typing import Final

from tightlink.lazy import pl

#: A gap is so many times as long as half of the distances between samples of the line are, or longer.
LONG: Final = 5.0


def gaps(frame: pl.DataFrame, x: str, y: str, *, by: str | None = None) -> pl.DataFrame:
    """Rows without a value in the middle of each gap, which interrupt a line."""
    line: pl.Expr = pl.lit(0) if by is None else pl.col(by)
    columns = [x, y, *([] if by is None else [by])]
    apart = pl.col(x).diff().over(line)
    found = frame.select(columns).drop_nulls().with_columns(apart.alias("apart_"))
    long = found.filter(pl.col("apart_") > LONG * pl.col("apart_").median().over(line))
    return long.select(pl.col(x) - pl.col("apart_") / 2, pl.lit(None, frame.schema[y]).alias(y), *columns[2:])
