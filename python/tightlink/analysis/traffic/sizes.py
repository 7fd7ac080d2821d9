"""Sizes of flows: how heavy their tail is, and how much the largest carry.

The tail is taken as P(X > x) ∝ x^−α. α is Hill's estimator, over the values above the one from which on the fit is
closest (Clauset, Shalizi, Newman 2009); an exponential tail is the alternative, by Vuong's test. With α below 2 the
variance has no bound, with α below 1 not even the mean has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.traffic.values import numbers
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, ArrayLike, np, pl

LEAST_SIZES: Final = 100
#: The tail has at least so many values.
_LEAST_TAIL: Final = 50
#: Where it may begin is looked for at so many places.
_BEGINS: Final = 200
_NORMAL: Final = 1.96
#: Below this probability the exponential tail is the worse one.
_LEVEL: Final = 0.01
_POINTS: Final = 500
#: Shares of flows, largest first.
_LARGEST: Final = (0.001, 0.01, 0.1, 0.2)


@dataclass(frozen=True)
class Tail:
    """What the sizes say."""

    flows: int
    mean: float
    largest: float
    alpha: Estimate
    """The exponent, with its asymptotic 95 % interval."""
    begin: float
    """The size from which on the tail is fitted."""
    tail: int
    """Sizes above it."""
    distance: float
    """Largest difference between the distributions of tail and fit (Kolmogorov, Smirnov)."""
    p_exponential: float
    """Probability of so large an advantage of the power law, if an exponential tail were as good."""
    half: float
    """Share of the flows, largest first, that carries half."""
    carried: pl.DataFrame
    """``flows_share``, ``carried_share``: what the largest flows carry."""
    distribution: pl.DataFrame
    """``size``, ``larger`` (share of flows), ``fit`` (of the tail; null below it)."""

    @property
    def heavy(self) -> bool:
        """Whether the tail is heavier than an exponential one."""
        return self.p_exponential < _LEVEL

    def sentence(self) -> str:
        """The finding, for people."""
        carried = dict(self.carried.rows())[0.01]
        shares = (f"{100 * carried:.0f} %", f"{100 * self.half:.1f} %")
        elephants = f"the largest 1 % of flows carry {shares[0]}, half is carried by {shares[1]} of them"
        if not self.heavy:
            return f"no power law that is told from an exponential tail; {elephants}"
        fall = f"x^-{self.alpha.value:.2f} ({self.alpha.low:.2f} to {self.alpha.high:.2f}) above {self.begin:,.0f}"
        return f"the tail falls as {fall}, heavier than an exponential one; {elephants}"


def tail(sizes: ArrayLike) -> Tail:
    """Look at the tail of sizes, such as bytes of flows.

    Args:
        sizes: One for each flow; those that are zero are left out.

    Raises:
        TightlinkError: There are too few, or they are all alike, or one is negative or missing.

    Example:
        >>> sizes = (1 - np.random.default_rng(1).random(5000)) ** (-1 / 1.2) * 1000
        >>> print(tl.analyze.tail(sizes).sentence().partition(";")[0])
        the tail falls as x^-1.21 (1.18 to 1.24) above 1,000, heavier than an exponential one
    """
    x = np.sort(numbers(sizes))
    if not np.isfinite(x).all() or (len(x) and x[0] < 0):
        raise TightlinkError("a size is missing or negative: expected a number for every flow")
    x = x[x > 0]
    if len(x) < LEAST_SIZES:
        raise TightlinkError(f"{len(x)} sizes above zero: expected at least {LEAST_SIZES}")
    if x[-1] == x[0]:
        raise TightlinkError("the sizes are all alike")
    first, alpha, distance = _begin(x)
    above = x[first:]
    half_width = _NORMAL * alpha / math.sqrt(len(above))
    downwards = np.cumsum(x[::-1]) / x.sum()
    n = len(x)
    return Tail(
        n,
        float(x.mean()),
        float(x[-1]),
        Estimate(alpha, alpha - half_width, alpha + half_width),
        float(above[0]),
        len(above),
        distance,
        _against_exponential(above, alpha),
        float(np.searchsorted(downwards, 0.5) + 1) / n,
        _carried(downwards),
        _distribution(x, first, alpha),
    )


def _begin(x: Array) -> tuple[int, float, float]:
    """Where the tail begins: its place, its exponent, and the distance between the two distributions."""
    n = len(x)
    logs = np.log(x)
    sums = np.cumsum(logs[::-1])[::-1]
    candidates = np.unique(np.geomspace(_LEAST_TAIL, n, _BEGINS).astype(int))
    best = (math.inf, 0, 1.0)
    for count in candidates:
        # Equal sizes belong together.
        first = int(np.searchsorted(x, x[n - count]))
        above = x[first:]
        excess = float(sums[first] - len(above) * logs[first])
        if excess <= 0:
            continue
        alpha = len(above) / excess
        fit = 1 - (above / above[0]) ** -alpha
        steps = np.arange(len(above) + 1) / len(above)
        distance = float(max(np.abs(fit - steps[1:]).max(), np.abs(fit - steps[:-1]).max()))
        best = min(best, (distance, first, alpha))
    distance, first, alpha = best
    return first, alpha, distance


def _against_exponential(above: Array, alpha: float) -> float:
    """Vuong's test of a power law against an exponential, one-sided."""
    begin = above[0]
    scale = float((above - begin).mean())
    advantage = np.log(alpha / begin) - (alpha + 1) * np.log(above / begin) + math.log(scale) + (above - begin) / scale
    deviation = float(advantage.std())
    if deviation == 0:
        return 1.0
    return 0.5 * math.erfc(float(advantage.sum()) / (deviation * math.sqrt(2 * len(above))))


def _carried(downwards: Array) -> pl.DataFrame:
    n = len(downwards)
    shares = [float(downwards[max(1, round(share * n)) - 1]) for share in _LARGEST]
    return pl.DataFrame({"flows_share": _LARGEST, "carried_share": shares})


def _distribution(x: Array, first: int, alpha: float) -> pl.DataFrame:
    n = len(x)
    # Evenly in logarithms from the largest: the tail is what matters.
    places = np.unique(n - np.geomspace(1, n, min(n, _POINTS)).astype(int))
    fit = (n - first) / n * (x[places] / x[first]) ** -alpha
    return pl.DataFrame(
        {"size": x[places], "larger": 1 - (places + 0.5) / n, "fit": np.where(places >= first, fit, np.nan)},
        nan_to_null=True,
    )
