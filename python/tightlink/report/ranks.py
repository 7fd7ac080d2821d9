"""What a sweep without repeated levels shows, as of a Latin hypercube: which responses rise or fall with which factors.

Example:
    >>> cells = pl.DataFrame({
    ...     "link.wire.rate": ["1 Mbit/s", "30 Mbit/s", "8 Mbit/s", "4 Mbit/s", "60 Mbit/s", "11 Mbit/s"],
    ...     "link.wire.delay": ["7 ms", "3 ms", "9 ms", "1 ms", "5 ms", "4 ms"],
    ...     "loss": [0.2, 0.02, 0.05, 0.1, 0.01, 0.03],
    ... })
    >>> print(sentence(cells, ["link.wire.rate", "link.wire.delay"], ["loss"]))
    The loss falls as link.wire.rate rises (rank correlation −1.00 over 6 combinations).
    >>> together(cells.with_columns(queue=pl.col("link.wire.delay")), "queue", ["link.wire.delay", "queue"])
    ['link.wire.delay']
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from tightlink.analysis.effects.factors import in_si
from tightlink.analysis.traffic.by_chance import p_value
from tightlink.diagnosis import words
from tightlink.lazy import Array, NDArray, np, pl, stats
from tightlink.report.changes import response_name

#: Of all correlations of a sweep, chance has one that is told in this share of cases at most (Bonferroni's bound).
_LEVEL: Final = 0.05
#: Up to so many combinations orders are drawn at random, as Student's t has too small probabilities for them.
_FEW: Final = 30
_ORDERS: Final = 9_999
_SEED: Final = 1
_MOST_TOLD: Final = 3
#: Of fewer combinations no order is beyond chance.
FEWEST: Final = 5
#: What varies by less of its size is constant.
_ROUNDING: Final = 1e-9


def sentence(cells: pl.DataFrame, factors: Sequence[str], responses: Sequence[str]) -> str:
    """Which responses go with which factors, by Spearman's rank correlation, the closest first."""
    found: list[tuple[float, float, str, str]] = []
    for factor in factors:
        numbers = in_si(cells[factor].to_list())
        for response in responses if numbers is not None else ():
            values = cells[response].cast(pl.Float64).fill_null(math.nan).to_numpy()
            there = np.isfinite(values)
            if (
                numbers is None
                or there.sum() < FEWEST
                or np.ptp(values[there]) <= _ROUNDING * np.abs(values[there]).max()
            ):
                continue
            found.append((*_correlation(np.array(numbers[1])[there], values[there]), factor, response))
    beyond = [(rho, factor, response) for rho, p, factor, response in found if p * len(found) < _LEVEL]
    ranked = sorted(beyond, key=lambda each: -abs(each[0]))
    if not ranked:
        return f"No response goes with a factor beyond chance (rank correlations over {cells.height} combinations)."
    told: dict[str, str] = {}
    for rho, factor, response in ranked:
        name = response_name(response)
        article = "" if name.startswith("Jain") else "the "
        sign = f"{rho:.2f}".replace("-", "−")
        told.setdefault(response, f"{article}{name} {'rises' if rho > 0 else 'falls'} as {factor} rises ({sign})")
    first, *others = list(told.values())[:_MOST_TOLD]
    first = f"{first[:-1].replace('(', '(rank correlation ')} over {cells.height} combinations)"
    return f"{'; '.join([words.sentence(first), *others])}."


def _correlation(one: Array, other: Array) -> tuple[float, float]:
    """Spearman's rank correlation, and the probability of one at least as strong by chance.

    >>> rho, p = _correlation(np.arange(6.0), np.arange(6.0))
    >>> round(rho, 9), abs(p - 2 / 720) < 0.001
    (1.0, True)
    """
    count = len(one)
    ranks = [stats.rankdata(values) - (count + 1) / 2 for values in (one, other)]
    length = float(np.linalg.norm(ranks[0]) * np.linalg.norm(ranks[1]))
    if not length:
        return 0.0, 1.0
    rho = float(ranks[0] @ ranks[1]) / length
    if count > _FEW:
        return rho, float(stats.spearmanr(one, other).pvalue)
    return rho, p_value(abs(rho) - _ROUNDING, np.abs(ranks[1][_orders(count)] @ ranks[0]) / length)


@lru_cache(maxsize=4)
def _orders(count: int) -> NDArray[np.int64]:
    places = np.broadcast_to(np.arange(count), (_ORDERS, count))
    return np.random.default_rng(_SEED).permuted(places, axis=1)


def together(cells: pl.DataFrame, factor: str, factors: Sequence[str]) -> list[str]:
    """The other factors that not all levels of a factor have alike: what changes may be their doing."""
    unlike = []
    for other in factors:
        if other == factor:
            continue
        counts = cells.group_by(factor, other).len()
        crossed = counts.height == cells[factor].n_unique() * cells[other].n_unique()
        if not crossed or counts.group_by(other).agg(pl.col("len").n_unique())["len"].max() != 1:
            unlike.append(other)
    return unlike
