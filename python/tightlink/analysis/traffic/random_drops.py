"""Which flows random drops would hit: k of M packets are drawn, each packet alike, without replacement.

A flow with m of the packets is missed with the probability C(M − m, k) / C(M, k), and two flows together with
C(M − m − m', k) / C(M, k). Mean and variance of the number of flows that are hit follow, exactly.

Example:
    >>> packets = np.array([1, 1, 2])
    >>> missed(packets, 1).round(3).tolist()
    [0.75, 0.75, 0.5]
    >>> variance(packets, 1)
    0.0
"""

from __future__ import annotations

from typing import Final

from tightlink.analysis.traffic.by_chance import portions
from tightlink.lazy import Array, NDArray, np

#: What is left of terms that cancel out is less, relatively: of logarithms of factorials 16 digits are known.
_ROUNDING: Final = 1e-9


def missed(packets: NDArray[np.int64], drops: int) -> Array:
    """The probability of each flow that no packet of it is among those dropped."""
    return _no_drop_among(packets, int(packets.sum()), drops)


def variance(packets: NDArray[np.int64], drops: int) -> float:
    """The variance of the number of flows that lose a packet."""
    total = int(packets.sum())
    # Flows with as many packets are alike, and most have few.
    sizes, flows = np.unique(packets, return_counts=True)
    alone = _no_drop_among(sizes, total, drops)
    pairs = _no_drop_among(sizes[:, None] + sizes[None, :], total, drops) - alone[:, None] * alone[None, :]
    of_others = float(flows @ pairs @ flows) - float(flows @ np.diagonal(pairs))
    of_each = float(flows @ (alone * (1 - alone)))
    found = of_each + of_others
    # Where as many flows are hit in any case, nothing varies.
    return found if found > _ROUNDING * of_each else 0.0


def drawn(packets: NDArray[np.int64], drops: int, random: np.random.Generator, draws: int) -> NDArray[np.int64]:
    """The number of flows that lose a packet, in each of so many draws.

    >>> drawn(np.array([1, 1, 2]), 4, np.random.default_rng(1), draws=2).tolist()
    [3, 3]
    """
    parts = [
        (random.multivariate_hypergeometric(packets, drops, size=some, method="marginals") > 0).sum(axis=1)
        for some in portions(draws, len(packets))
    ]
    return np.concatenate(parts)


def _no_drop_among(packets: NDArray[np.int64], total: int, drops: int) -> Array:
    from scipy.special import gammaln

    others = total - packets
    possible = others >= drops
    rest = np.where(possible, others, drops)
    logarithm = gammaln(rest + 1) - gammaln(rest - drops + 1) - gammaln(total + 1) + gammaln(total - drops + 1)
    return np.where(possible, np.exp(np.minimum(logarithm, 0)), 0.0)
