"""What waits at one server near its critical load: the master curve of a queue.

A server that takes a constant time for each packet, and gets its packets at random, has a backlog that near its
critical load moves as a Brownian motion that is held above zero. Started empty, after n service times at the
utilization ρ it has on average √n G((ρ − 1) √n) packets, with one function G: the queue's law of scaling, with
exponents ½ and ½. Below the critical load G(z) → 1 / (2 |z|), the queue of M/D/1 in heavy traffic; beyond, G(z) → z,
what the server cannot serve. (J. M. Harrison: Brownian Motion and Stochastic Flow Systems, 1985, section 1.9.)

Example:
    >>> round(float(master(0.0)), 4), round(float(master(-50.0)), 4), round(float(master(50.0)), 2)
    (0.7979, 0.01, 50.01)
"""

from __future__ import annotations

import math
from typing import Any, Final

from tightlink.lazy import ArrayLike, NDArray, np, stats

#: Nearer to 0 than this the quotient in G is its limit.
_NEAR: Final = 1e-6


def master(z: ArrayLike) -> NDArray[Any]:
    """G(z) = z Φ(z) + φ(z) + (2 Φ(z) − 1) / (2 z), with the normal distribution Φ and its density φ."""
    at = np.asarray(z, dtype=float)
    small = np.abs(at) < _NEAR
    safe = np.where(small, 1.0, at)
    above, density = stats.norm.cdf(at), stats.norm.pdf(at)
    rest = np.where(small, 1 / math.sqrt(2 * math.pi), (2 * stats.norm.cdf(safe) - 1) / (2 * safe))
    return np.asarray(at * above + density + rest)


def stationary_queue(utilization: ArrayLike, variability: float = 1.0) -> NDArray[Any]:
    """Mean number of packets that wait at M/G/1 (Pollaczek and Khinchine): ρ² × variability / (2 (1 − ρ)).

    >>> float(stationary_queue(0.5))
    0.25
    """
    rho = np.asarray(utilization, dtype=float)
    return np.asarray(rho**2 * variability / (2 * (1 - rho)))
