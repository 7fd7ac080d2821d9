"""What a packet costs in time: two laws of saturation, fitted to packet rates over packet sizes.

A packet of p bytes takes the longer of two times: (p + overhead) · 8 / line rate on the line, and
per packet + per byte · p at the interface or processor. That is the law of a cost per packet and byte.
The ideal law is its special case without overhead and without a cost per byte: throughput
T = T_max · min(1, p / p_c), so that the packet rate is at most f_max = T_max / p_c.

Both are fitted to ln f by least squares: errors of measured rates are relative, and the fit is the same
whether rates or throughputs were measured. Sizes are in bytes and ascend; logarithms of rates (packets/s) have a row
for each data set.

Example:
    >>> sizes = np.arange(50.0, 1500.0, 50.0)
    >>> rates = np.minimum(25_000.0, 96e6 / (8 * sizes))
    >>> law = fit_ideal(sizes, np.log(rates)[None, :])
    >>> round(float(law.critical_bytes[0])), round(float(law.throughput_max_bps[0]))
    (480, 96000000)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.lazy import Array, np

BITS: Final = 8
#: Distinct sizes that a regime must have: a line through two says nothing of itself.
LEAST_SIZES: Final = 3
#: Steps of Gauss and Newton from relative to logarithmic errors; the third changes nothing that counts.
_STEPS: Final = 3


@dataclass(frozen=True)
class Costs:
    """Parameters of the law for each of several data sets: arrays of equal length."""

    line_rate_bps: Array
    overhead_bytes: Array
    per_packet_s: Array
    per_byte_s: Array

    @property
    def critical_bytes(self) -> Array:
        """p_c: where both times are equal."""
        per_byte = BITS / self.line_rate_bps
        with np.errstate(divide="ignore", invalid="ignore"):
            critical: Array = (self.per_packet_s - self.overhead_bytes * per_byte) / (per_byte - self.per_byte_s)
        return critical

    @property
    def packets_per_s_max(self) -> Array:
        """f_max: the packet rate at the critical size, the largest of free flow."""
        return self.line_rate_bps / BITS / (self.critical_bytes + self.overhead_bytes)

    @property
    def throughput_max_bps(self) -> Array:
        """T_max: the throughput at the critical size."""
        return self.packets_per_s_max * self.critical_bytes * BITS

    def log_rates(self, sizes: Array) -> Array:
        """Logarithm of the packet rate at each size: a row for each data set."""
        line = (sizes[None, :] + self.overhead_bytes[:, None]) * (BITS / self.line_rate_bps[:, None])
        processor = self.per_packet_s[:, None] + self.per_byte_s[:, None] * sizes[None, :]
        return -np.log(np.maximum(line, processor))

    def squares(self, sizes: Array, log_rates: Array) -> Array:
        """Sum of squared residuals of each data set."""
        total: Array = ((log_rates - self.log_rates(sizes)) ** 2).sum(axis=1)
        return total


def fit_ideal(sizes: Array, log_rates: Array) -> Costs:
    """The ideal law that fits each data set best: exactly, as it is quadratic between two sizes."""
    x = np.log(sizes)
    best = _nowhere(log_rates)
    for cut in _cuts(sizes):
        level = log_rates[:, :cut].mean(axis=1)
        crossing = (log_rates[:, cut:] + x[cut:]).mean(axis=1) - level
        kink = np.clip(crossing, x[cut - 1], x[cut])
        # Where the kink had to be moved, the level moves with it.
        level = (log_rates + np.maximum(0, x[None, :] - kink[:, None])).mean(axis=1)
        zero = np.zeros_like(level)
        best = _better(best, Costs(BITS * np.exp(level + kink), zero, np.exp(-level), zero), sizes, log_rates)
    return best


def fit_cost(sizes: Array, log_rates: Array, overhead_bytes: float | None = None) -> Costs:
    """The cost per packet and byte that fits each data set best; the overhead is fitted where it is not known."""
    best = fit_ideal(sizes, log_rates) if not overhead_bytes else _nowhere(log_rates)
    for cut in _cuts(sizes):
        per_packet, per_byte = fit_line(sizes[:cut], log_rates[:, :cut])
        if overhead_bytes is None:
            fixed, slope = fit_line(sizes[cut:], log_rates[:, cut:])
        else:
            slope = np.exp(-(log_rates[:, cut:] + np.log(sizes[cut:] + overhead_bytes)).mean(axis=1))
            fixed = overhead_bytes * slope
        with np.errstate(divide="ignore", invalid="ignore"):
            costs = Costs(BITS / slope, fixed / slope, per_packet, per_byte)
        best = _better(best, costs, sizes, log_rates)
    return best


def fit_line(sizes: Array, log_rates: Array) -> tuple[Array, Array]:
    """The time per packet a + b · p, neither negative, that fits each data set best.

    Returns:
        a in seconds, and b in seconds a byte.
    """
    unit = sizes.mean()
    p = (sizes / unit)[None, :]
    times = np.exp(-log_rates)
    alone = np.exp(-log_rates.mean(axis=1)), np.exp(-(log_rates + np.log(p)).mean(axis=1))
    a, b = _weighted(p, times, 1 / times**2, alone)
    for _ in range(_STEPS):
        model = a[:, None] + b[:, None] * p
        working = model * (1 - log_rates - np.log(model))
        a, b = _weighted(p, working, 1 / model**2, alone)
    return a, b / unit


def _weighted(p: Array, times: Array, weights: Array, alone: tuple[Array, Array]) -> tuple[Array, Array]:
    """Weighted least squares of a + b · p; where one would be negative it is zero, and the other is what fits alone."""
    of_p = weights * p
    total, first, second = weights.sum(axis=1), of_p.sum(axis=1), (of_p * p).sum(axis=1)
    by_one, by_p = (weights * times).sum(axis=1), (of_p * times).sum(axis=1)
    spread = total * second - first * first
    a = (second * by_one - first * by_p) / spread
    b = (total * by_p - first * by_one) / spread
    flat, straight = alone
    a, b = np.where(b < 0, flat, a), np.where(a < 0, straight, b)
    # Rounding must not make a cost of what is none: it would be amplified where lines cross.
    return np.where(a < 0, 0.0, a), np.where(b < 0, 0.0, b)


def _cuts(sizes: Array) -> list[int]:
    """The places at which the sizes can be divided into two regimes."""
    distinct = np.unique(sizes)
    return [int(np.searchsorted(sizes, size)) for size in distinct[LEAST_SIZES : len(distinct) - LEAST_SIZES + 1]]


def _nowhere(log_rates: Array) -> Costs:
    none = np.full(len(log_rates), np.nan)
    return Costs(none, none, none, none)


def _better(best: Costs, other: Costs, sizes: Array, log_rates: Array) -> Costs:
    """For each data set the costs that fit better, among those whose regimes meet within the sizes."""
    before = np.nan_to_num(best.squares(sizes, log_rates), nan=np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        critical = other.critical_bytes
        after = np.where((critical > sizes[0]) & (critical <= sizes[-1]), other.squares(sizes, log_rates), np.inf)
    take = np.nan_to_num(after, nan=np.inf) < before
    pairs = ((getattr(other, name), getattr(best, name)) for name in Costs.__dataclass_fields__)
    return Costs(*(np.where(take, new, old) for new, old in pairs))
