"""Effects of factors: the mean of a metric at each level.

In a design in which the levels of other factors are the same at each level of one (full, two-level and
fractional designs), the means differ by that factor alone, as far as the design tells effects apart.

Example:
    >>> import polars as pl
    >>> queues = ["5 packets", "20 packets", "5 packets", "20 packets"]
    >>> runs = pl.DataFrame({"queue": queues, "flows": [1, 1, 2, 2], "loss": [0.2, 0.0, 0.4, 0.1]})
    >>> means(runs, "queue", ["loss"]).rows()
    [('5 packets', 2, 0.30000000000000004), ('20 packets', 2, 0.05)]
    >>> in_si(["5 packets", "20 packets"])
    ('packets', [5.0, 20.0])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink import units
from tightlink.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

#: What the columns of quantities end in, as in all tables.
_SUFFIXES: Final = {
    units.RATE: "bps",
    units.PACKET_RATE: "pps",
    units.TIME: "s",
    units.SIZE: "bytes",
    units.PACKETS: "packets",
    units.FRACTION: "",
    units.BDP: "bdp",
}


def means(runs: pl.DataFrame, key: str, metrics: Sequence[str]) -> pl.DataFrame:
    """A row for each level: the level, ``runs``, and the mean of each metric over the runs that have it."""
    import polars as pl

    grouped = runs.group_by(key, maintain_order=True)
    return grouped.agg(pl.len().cast(pl.Int64).alias("runs"), *(pl.col(name).mean() for name in metrics))


def alone(runs: pl.DataFrame, key: str, others: Sequence[str]) -> pl.DataFrame:
    """The runs in which the other factors are as in the first one: what a one-at-a-time design compares."""
    import polars as pl

    first = runs.row(0, named=True)
    return runs.filter(*(pl.col(name).eq_missing(first[name]) for name in others if name != key))


def in_si(levels: Sequence[object]) -> tuple[str, list[float]] | None:
    """Levels as numbers, with the unit that their column's name ends in; nothing where some are words."""
    numbers = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
    if len(numbers) == len(levels):
        return "", [float(number) for number in numbers]
    try:
        parsed = [units.parse(level, *_SUFFIXES) for level in levels]
    except ScenarioError:
        return None
    kinds = {kind for kind, _ in parsed}
    if len(kinds) != 1:
        return None
    return _SUFFIXES[kinds.pop()], [float(quantity.exact) for _, quantity in parsed]
