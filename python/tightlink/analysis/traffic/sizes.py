"""Sizes of flows: how heavy their tail is, and how much the largest carry.

The tail is taken as P(X > x) ∝ x^−α. α is Hill's estimator, over the values above the one from which on the fit is
closest (Clauset, Shalizi, Newman 2009); an exponential tail is the alternative, by Vuong's test. With α below 2 the
variance has no bound, with α below 1 not even the mean has.

The interval of α is a bootstrap's, in which each resample of the sizes is searched for the beginning, too. It does not
count bias: where the sizes only come near a power law, as those of Lomax's distribution do, α comes out too small.
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
#: Resamples of the sizes, for the interval: fewer than where each is cheap (`estimates.RESAMPLES`).
_RESAMPLES: Final = 199
#: Groups of sizes that are resampled.
_GROUPS: Final = 100
#: Below this probability the exponential tail is the worse one.
_LEVEL: Final = 0.01
_POINTS: Final = 500
#: Shares of flows, largest first.
_LARGEST: Final = (0.001, 0.01, 0.1, 0.2)


@dataclass(frozen=True)
class Tail:
    """What a set of sizes says of its tail: what `tightlink.analyze.tail` returns."""

    flows: int
    mean: float
    largest: float
    alpha: Estimate
    """Exponent of the tail, with its 95 % interval by the bootstrap, in which bias is not counted."""
    begin: float
    """The size from which on the tail is fitted."""
    tail: int
    """Number of sizes above that."""
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
        sizes: One size for each flow, such as its bytes; those that are zero are left out.

    Returns:
        The exponent (``alpha``, with its 95 % interval), the size from which on it holds (``begin``), and what the
        largest flows carry; ``heavy`` says whether the tail is heavier than an exponential one.

    Raises:
        TightlinkError: There are too few, or they are all alike, or one is negative or missing.

    Example:
        >>> sizes = (1 - np.random.default_rng(1).random(5000)) ** (-1 / 1.2) * 1000
        >>> print(tl.analyze.tail(sizes).sentence().partition(";")[0])
        the tail falls as x^-1.21 (1.17 to 1.26) above 1,000, heavier than an exponential one
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
    downwards = np.cumsum(x[::-1]) / x.sum()
    n = len(x)
    return Tail(
        n,
        float(x.mean()),
        float(x[-1]),
        Estimate.of(alpha, _resampled(x)),
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


def _resampled(x: Array) -> Array:
    """Exponents of resamples of the sizes, each with the beginning that fits it best.

    Sizes are resampled in groups, narrow towards the largest, so that a million of them take no longer than a thousand.
    """
    n, logs = len(x), np.log(x)
    firsts = np.unique(np.searchsorted(x, x[n - np.geomspace(1, n, _GROUPS).astype(int)]))
    counts = np.diff(firsts, append=n)
    begins, ends, means = logs[firsts], logs[firsts + counts - 1], np.add.reduceat(logs, firsts) / counts
    drawn = np.random.default_rng(1).multinomial(n, counts / n, size=_RESAMPLES)
    above, sums = (np.cumsum(each[:, ::-1], axis=1)[:, ::-1] for each in (drawn, drawn * means))
    above = np.pad(above, ((0, 0), (0, 1)))
    closest, alphas = np.full(_RESAMPLES, np.inf), np.full(_RESAMPLES, np.nan)
    for place, begin in enumerate(begins):
        count = above[:, place]
        excess = sums[:, place] - count * begin
        possible = (count >= _LEAST_TAIL) & (excess > 0)
        alpha = np.divide(count, excess, out=np.ones(_RESAMPLES), where=possible)[:, None]
        larger = above[:, place:] / np.maximum(count, 1)[:, None]
        distance = np.maximum(
            np.abs(np.exp(-alpha * (begins[place:] - begin)) - larger[:, :-1]).max(axis=1),
            np.abs(np.exp(-alpha * (ends[place:] - begin)) - larger[:, 1:]).max(axis=1),
        )
        better = possible & (distance < closest)
        closest[better], alphas[better] = distance[better], alpha[better, 0]
    searched: Array = alphas[np.isfinite(alphas)]
    return searched


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
