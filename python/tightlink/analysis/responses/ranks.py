"""How algorithms rank: the mean rank over conditions and responses, and how far it varies.

Under each condition and in each response the algorithms are ranked from 1, the best; equal ones share the mean of
their ranks. An algorithm with a low mean rank and a low standard deviation is good nearly everywhere. Friedman's test
says whether ranks differ by more than chance would have them. Responses of one run go together, so that its blocks are
conditions: of several responses each condition has the mean of their ranks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.responses.compared import compared
from tightlink.errors import show
from tightlink.lazy import pl, stats
from tightlink.numbers import several

_FEWEST: Final = 2
_ROUNDING: Final = 1e-9
_BEST: Final = ("largest", "smallest")


@dataclass(frozen=True)
class Ranks:
    """Ranks of algorithms, cell by cell and over all."""

    #: A row for each algorithm in each cell: condition, response, algorithm, value, rank.
    table: pl.DataFrame
    #: A row for each algorithm, the best first: algorithm, rank_mean, rank_sd, first (cells in which it leads, alone
    #: or with others), cells: those in which all algorithms have a value, if there are such cells, as a rank of three
    #: is none of four.
    summary: pl.DataFrame
    #: Cells that lack an algorithm and are no part of the summary.
    left_out: int
    #: Friedman's test over the conditions with cells in which all algorithms have a value: the probability of ranks so
    #: different where all are alike; NaN with fewer than three algorithms or two such conditions.
    p: float

    def sentence(self) -> str:
        """What was found, in words."""
        best = self.summary.row(0, named=True)
        # Means of the same ranks may differ in the last digits.
        first = self.summary.filter((pl.col("rank_mean") - best["rank_mean"]).abs() <= _ROUNDING)["algorithm"].to_list()
        tested = "" if math.isnan(self.p) else f" (Friedman's test: p = {self.p:.2g})"
        if self.left_out:
            lack = "lacks" if self.left_out == 1 else "lack"
            tested += f"; {several(self.left_out, 'other cell')} {lack} an algorithm"
        over = f"of {self.summary.height} over {several(best['cells'], 'cell')}{tested}"
        if len(first) == self.summary.height:
            return f"all have the same mean rank, {best['rank_mean']:.2f} {over}"
        who = f"{first[0]} ranks" if len(first) == 1 else f"{', '.join(first[:-1])} and {first[-1]} rank"
        return f"{who} best, {best['rank_mean']:.2f} {over}"


def ranks(
    runs: pl.DataFrame,
    *,
    condition: str | Sequence[str],
    algorithm: str,
    responses: Sequence[str] | None = None,
    best: Literal["largest", "smallest"] = "largest",
) -> Ranks:
    """Rank algorithms under each condition and in each response.

    Args:
        runs: A row a run, or a row for each number in columns ``response`` and ``value``; runs of the same algorithm
            under the same condition are averaged.
        condition: Column, or columns, of the condition.
        algorithm: Column of the algorithm.
        responses: Which responses, such as the throughputs of groups of flows; without them, all that the table has.
        best: Whether the largest value of a response or the smallest has rank 1.

    Returns:
        The rank in each cell (``table``), the mean rank of each algorithm, the best first (``summary``), and the ``p``
        of Friedman's test.

    Raises:
        MeasurementError: A column is missing, or no cell has two algorithms.

    Example:
        >>> runs = pl.DataFrame({"path": ["short", "short", "long", "long"], "tcp": ["reno", "compound"] * 2,
        ...                      "goodput_bps": [5e6, 5e6, 1e6, 9e6]})
        >>> found = tl.analyze.ranks(runs, condition="path", algorithm="tcp")
        >>> found.summary.select("algorithm", "rank_mean", "rank_sd", "cells").rows()
        [('compound', 1.25, 0.3535533905932738, 2), ('reno', 1.75, 0.3535533905932738, 2)]
    """
    if best not in _BEST:
        raise MeasurementError(f"best = {show(best)}: expected {' or '.join(map(show, _BEST))}")
    rows = [
        (name, response, who, value)
        for name, part in compared(runs, condition, algorithm, responses).items()
        for response, values in part.by_response()
        for who, value in values
    ]
    cell = ["condition", "response"]
    table = pl.DataFrame(rows, schema={**dict.fromkeys([*cell, "algorithm"], pl.String), "value": pl.Float64},
                         orient="row").filter(pl.len().over(cell) >= _FEWEST)  # fmt: skip
    if table.is_empty():
        raise MeasurementError("no response has values of at least two algorithms under one condition")
    # Means of the same numbers may differ in the last digits.
    rounded = pl.col("value").round_sig_figs(12)
    table = table.with_columns(rank=rounded.rank("average", descending=best == "largest").over(cell))
    leads = pl.col("rank") == pl.col("rank").min().over(cell)
    algorithms = table["algorithm"].n_unique()
    whole = table.filter(pl.len().over(cell) == algorithms)
    summary = (
        (table if whole.is_empty() else whole)
        .with_columns(leads=leads)
        .group_by("algorithm", maintain_order=True)
        .agg(rank_mean=pl.col("rank").mean(), rank_sd=pl.col("rank").std(), first=pl.col("leads").sum(), cells=pl.len())
        .sort("rank_mean", "rank_sd", maintain_order=True)
    )
    cells, kept = (part.select(cell).n_unique() for part in (table, whole))
    return Ranks(table, summary, cells - kept if kept else 0, _friedman(whole, summary["algorithm"].to_list()))


def _friedman(table: pl.DataFrame, algorithms: Sequence[str]) -> float:
    means = table.group_by("condition", "algorithm", maintain_order=True).agg(pl.col("rank").mean().round_sig_figs(12))
    wide = means.pivot("algorithm", index="condition", values="rank").drop_nulls()
    if len(algorithms) <= _FEWEST or wide.height < _FEWEST:
        return math.nan
    columns = [wide[name].to_list() for name in algorithms]
    if all(column == columns[0] for column in columns):
        return 1.0
    return float(stats.friedmanchisquare(*columns).pvalue)
