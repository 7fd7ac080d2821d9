"""The cells of an experiment: means over replications, with confidence intervals.

Example:
    >>> import polars as pl
    >>> runs = pl.DataFrame({
    ...     "run": ["0/0", "0/1", "1/0", "1/1"], "replication": [0, 1, 0, 1], "seed": [1, 2, 1, 2],
    ...     "status": ["done"] * 4, "queue": ["5 packets"] * 2 + ["20 packets"] * 2, "loss": [0.1, 0.3, 0.0, 0.0],
    ...     "identity": list("abcd"),
    ... })
    >>> summary(runs, ["queue"]).select("cell", "queue", "runs", "loss").rows()
    [('0', '5 packets', 2, 0.2), ('1', '20 packets', 2, 0.0)]
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from tightlink.experiment.precision import student_t
from tightlink.lazy import pl

#: At the end of a column's name.
_UNIT: Final = re.compile(r"((?:_(?:bps|per_s|s|packets|bytes))?)$")
#: Deviations below this share of the mean are none.
_ROUNDING: Final = 1e-12
#: Percentiles of the times of transfers, which runs lack in which so many transfers did not end.
_OF_TRANSFERS: Final = re.compile(r"(completion|slowdown)_(p\d+|max)(_s)?")
_UNFINISHED: Final = "unfinished"
_FIRST: Final = ("run", "replication", "seed", "status", "identity")


def cell() -> pl.Expr:
    """The cell of a run, of which names are CELL/REPLICATION."""
    return pl.col("run").str.split("/").list.first()


def without_copies(runs: pl.DataFrame, copies: Sequence[str]) -> pl.DataFrame:
    """The runs with the first replication alone of cells whose replications are copies of one run.

    Copies are no replications: they would make every difference significant.
    """
    return runs.filter((pl.col("replication") == 0) | ~cell().is_in(copies))


def copied(copies: Sequence[str], cells: int) -> str:
    """What to say of cells whose replications are equal.

    >>> print(copied(["0", "1", "2"], 3))
    nothing random changes any combination: their replications are copies, without confidence intervals; starts such \
as { within = "1 s" } are others with each seed
    """
    which = (
        "any combination"
        if len(copies) == cells
        else f"combination{'s' if len(copies) > 1 else ''} {', '.join(copies)}"
    )
    return (
        f"nothing random changes {which}: their replications are copies, without confidence intervals; starts such as "
        '{ within = "1 s" } are others with each seed'
    )


def without_censored(runs: pl.DataFrame, within: pl.Expr) -> pl.DataFrame:
    """The runs without percentiles of transfer times that others of the same combination lack.

    In these more transfers were on their way at the end than the percentile leaves out: it is larger than those that
    are known, of which the mean would be too small, and its interval too narrow. ``within`` is what runs of one mean
    have in common.

    >>> runs = pl.DataFrame({"run": ["0/0", "0/1", "1/0"], "unfinished": [0.0, 2.0, 0.0],
    ...                      "completion_p99_s": [3.0, None, 4.0]})
    >>> without_censored(runs, cell())["completion_p99_s"].to_list()
    [None, None, 4.0]
    """
    lacking = {name: (pl.col(name).is_null() | pl.col(name).is_nan()) & (pl.col(ended) > 0)
               for name, ended in _censored(runs.columns).items()}  # fmt: skip
    return runs.with_columns(pl.when(~each.any().over(within)).then(name) for name, each in lacking.items())


def censored(runs: pl.DataFrame) -> str:
    """What to say of percentiles of transfer times that `without_censored` leaves out; nothing where there are none."""
    kept = without_censored(runs, cell())
    if all(kept[name].null_count() == runs[name].null_count() for name in _censored(runs.columns)):
        return ""
    return (
        "percentiles of transfer times have no mean where, in some replication, they fall on transfers that did not end"
    )


def _censored(columns: Sequence[str]) -> dict[str, str]:
    """Percentiles of the times of transfers, and how many of the same transfers did not end."""
    found = {}
    for name in columns:
        *places, metric = name.split(".")
        ended = [".".join([*places[:count], _UNFINISHED]) for count in range(len(places), -1, -1)]
        there = next((each for each in ended if each in columns), None)
        if there is not None and _OF_TRANSFERS.fullmatch(metric):
            found[name] = there
    return found


def metric_names(runs: pl.DataFrame, keys: Sequence[str]) -> list[str]:
    """The columns of the table of runs that are metrics; notes that somebody added to it are none."""
    return [name for name, kind in runs.schema.items() if name not in {*_FIRST, *keys} and kind.is_numeric()]


def width_of(metric: str) -> str:
    """The column with half the confidence interval of a metric's mean.

    >>> width_of("goodput_bps"), width_of("loss"), width_of("packets_per_s")
    ('goodput_half_width_bps', 'loss_half_width', 'packets_half_width_per_s')
    """
    return _UNIT.sub(r"_half_width\1", metric, count=1)


def known_width(frame: pl.DataFrame, metric: str) -> str | None:
    """The column with half the confidence intervals of a metric's means, where some are known."""
    return width_of(metric) if frame[width_of(metric)].drop_nulls().drop_nans().len() else None


def summary(runs: pl.DataFrame, keys: Sequence[str], copies: Sequence[str] = ()) -> pl.DataFrame:
    """A row for each cell: its means, and half their confidence intervals.

    Columns are ``cell``, the keys of what was varied, ``runs`` that are done, then each metric and what `width_of`
    names. Cells whose replications are ``copies`` of one run have no interval: one of zero would say nothing.
    """
    metrics = metric_names(runs, keys)
    runs = without_censored(runs, cell())
    done = pl.col("status") == "done"
    found = (
        runs.with_columns(cell=cell())
        .group_by("cell", maintain_order=True)
        .agg(
            *(pl.col(key).first() for key in keys if key in runs.columns),
            done.sum().cast(pl.Int64).alias("runs"),
            *(pl.col(name).mean() for name in metrics),
            *(pl.col(name).std().alias(width_of(name)) for name in metrics),
            *(pl.col(name).count().alias(f"_{name}") for name in metrics),
        )
    )
    most = max((count for name in metrics for count in found[f"_{name}"].to_list()), default=0)
    factors = pl.Series([math.nan, math.nan, *(student_t(n) / math.sqrt(n) for n in range(2, most + 1))])
    # The deviation of equal numbers is rounding.
    deviations = (
        pl.when(pl.col(width_of(name)) > _ROUNDING * pl.col(name).abs()).then(pl.col(width_of(name)))
        .otherwise(pl.col(width_of(name)) * 0.0).alias(width_of(name))
        for name in metrics
    )  # fmt: skip
    found = found.with_columns(*deviations)
    widths = (
        pl.when(pl.col("cell").is_in(copies)).then(None)
        .otherwise(pl.col(width_of(name)) * pl.lit(factors).gather(pl.col(f"_{name}"))).alias(width_of(name))
        for name in metrics
    )  # fmt: skip
    return found.with_columns(*widths).select(pl.exclude(*(f"_{name}" for name in metrics)))
