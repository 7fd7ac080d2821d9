"""Who gets how much: shares of the throughput that is there, and an algorithm beside the TCP that competes with it.

NIST 2010 lets some flows use an alternative and others standard TCP, on the same paths for the same files, and
compares the two: as shares of the rate that was available, and as points, one for each condition, with the
alternative along and standard TCP up. On the diagonal both get the same; below it the alternative gains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tightlink.analysis.effects.designed import numbers, present
from tightlink.analysis.effects.factors import in_si, listed
from tightlink.analysis.measurements import MeasurementError
from tightlink.lazy import pl, stats

#: What the flows are called that compete with an alternative.
STANDARD: Final = "standard TCP"
ALTERNATIVE: Final = "alternative"
#: Throughputs that differ by less, relatively, are the same.
_SAME: Final = 1e-9


def shares(runs: pl.DataFrame, *, algorithm: str, own: str, standard: str, available: str | float) -> pl.DataFrame:
    """The mean share of the available throughput that flows get, of each algorithm and of its competitors.

    Args:
        runs: A row a run; runs without a throughput are left out.
        algorithm: Column of the algorithm.
        own: Column of the throughput of a flow that uses it.
        standard: Column of the throughput of a flow that uses standard TCP beside it.
        available: Column of the throughput that was there, as numbers or as quantities with units; or that throughput.
            In the same unit as the others.

    Returns:
        Columns algorithm, flows ("alternative" or "standard TCP"), share, runs.

    Raises:
        MeasurementError: A column is missing or holds no numbers, or what was available is not above zero.

    Example:
        >>> runs = pl.DataFrame({"control": ["bbr", "fast"], "own_bps": [8e6, 4e6], "reno_bps": [2e6, 5e6]})
        >>> found = tl.analyze.throughput_shares(
        ...     runs, algorithm="control", own="own_bps", standard="reno_bps", available=10e6
        ... )
        >>> found.sort("algorithm", "flows").rows()[:2]
        [('bbr', 'alternative', 0.8, 1), ('bbr', 'standard TCP', 0.2, 1)]
    """
    present(runs, [algorithm])
    numbers(runs, [own, standard])
    whole = _available(runs, own, available)
    if not (whole.drop_nulls() > 0).all():
        raise MeasurementError(f"{available}: what is available must be above zero in every run")
    parts = [
        runs.select(algorithm=pl.col(algorithm).cast(pl.String), flows=pl.lit(flows), share=pl.col(column) / whole)
        for flows, column in ((ALTERNATIVE, own), (STANDARD, standard))
    ]
    long = pl.concat(parts).drop_nulls("share").drop_nans("share")
    return long.group_by("algorithm", "flows", maintain_order=True).agg(share=pl.col("share").mean(), runs=pl.len())


def _available(runs: pl.DataFrame, own: str, available: str | float) -> pl.Series:
    """What was available in each run, in the unit of the throughputs."""
    if not isinstance(available, str):
        if not math.isfinite(available):
            raise MeasurementError(f"available = {available:g}: expected a number above zero")
        return pl.Series([float(available)] * runs.height, dtype=pl.Float64)
    present(runs, [available])
    if runs[available].dtype != pl.String:
        numbers(runs, [available])
        return runs[available].cast(pl.Float64)
    quantities = in_si(runs[available].to_list())
    if quantities is None or not own.endswith(f"_{quantities[0]}"):
        raise MeasurementError(f"{available}: expected numbers, or quantities in the unit of {own}")
    return pl.Series(quantities[1], dtype=pl.Float64)


def beside(
    runs: pl.DataFrame, *, condition: str | Sequence[str], algorithm: str, own: str, standard: str
) -> pl.DataFrame:
    """An algorithm's throughput beside that of the standard TCP that competes with it, a row for each condition.

    Runs of the same algorithm under the same condition are averaged. The columns are those of the condition, algorithm,
    own and standard, under these two columns' names.
    """
    keys = listed(condition)
    present(runs, [*keys, algorithm])
    numbers(runs, [own, standard])
    means = runs.group_by([algorithm, *keys], maintain_order=True).agg(pl.col(own).mean(), pl.col(standard).mean())
    found = means.drop_nulls([own, standard]).rename({algorithm: "algorithm"})
    return found.with_columns(pl.col("algorithm").cast(pl.String)).select(*keys, "algorithm", own, standard)


def fairness(points: pl.DataFrame) -> pl.DataFrame:
    """How an algorithm fares beside standard TCP, over conditions; the fairest last.

    Args:
        points: What `beside` returns: the last two columns are the throughputs.

    Returns:
        Columns algorithm, ratio (geometric mean of own / standard: 0 or infinite where one of them gets nothing under
        some condition, none where each does under some), ahead and behind (conditions in which it gets
        more, and less), conditions, p (sign test: of so uneven a count where both are alike).

    Example:
        >>> runs = pl.DataFrame({"load": ["low", "high"] * 2, "tcp": ["scalable"] * 2 + ["compound"] * 2,
        ...                      "own_bps": [80e6, 60e6, 70e6, 30e6], "standard_bps": [60e6, 15e6, 70e6, 30e6]})
        >>> points = beside(runs, condition="load", algorithm="tcp", own="own_bps", standard="standard_bps")
        >>> tl.analyze.fairness(points).select("algorithm", "ratio", "ahead", "behind").rows()
        [('scalable', 2.309401076758503, 2, 0), ('compound', 1.0, 0, 0)]
    """
    present(points, ["algorithm"])
    own, standard = points.columns[-2:]
    numbers(points, [own, standard])
    # A column of which nothing is known has no type of numbers.
    points = points.with_columns(pl.col(own, standard).cast(pl.Float64))
    ratio = pl.col(own) / pl.col(standard)
    # Who gets nothing under one condition has nothing in the mean; where both get nothing there is no ratio.
    either = (pl.col(own) > 0) | (pl.col(standard) > 0)
    found = points.group_by("algorithm", maintain_order=True).agg(
        ratio=ratio.filter(either).log().mean().exp().fill_nan(None),
        ahead=(pl.col(own) > pl.col(standard) * (1 + _SAME)).sum(),
        behind=(pl.col(own) < pl.col(standard) * (1 - _SAME)).sum(),
        conditions=pl.len(),
    )
    tested = [
        float(stats.binomtest(ahead, ahead + behind).pvalue) if ahead + behind else 1.0
        for ahead, behind in found.select("ahead", "behind").rows()
    ]
    unequal = pl.col("ratio").log().abs()
    return found.with_columns(p=pl.Series(tested, dtype=pl.Float64)).sort(unequal, descending=True, maintain_order=True)
