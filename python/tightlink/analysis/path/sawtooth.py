"""The sawtooth of one standard TCP flow that has a link for itself.

Lengths are in bandwidth-delay products, times in round trips of the empty path for each packet of that product.

Example:
    >>> round(utilization(0), 4), round(utilization(1), 4), round(queue_for(0.89), 3)
    (0.75, 1.0, 0.243)
"""

from __future__ import annotations


def utilization(queue: float) -> float:
    """What one flow uses of a link, where each loss halves its window and losses come from the queue alone.

    The window grows from half of 1 + b to 1 + b. Below one bandwidth-delay product the link idles in part of each
    round trip; above it the queue grows, and the round trips with it.
    """
    idle, full = _phases(queue)
    low = 1 - idle
    return ((low + 1) / 2 * idle + full) / (idle + full)


def epoch_s(queue: float, bdp_packets: float, rtt_s: float) -> float:
    """Time from loss to loss, with an ACK for every packet.

    >>> round(epoch_s(0, 1000, 0.1), 3)
    50.0
    """
    return sum(_phases(queue)) * bdp_packets * rtt_s


def queue_for(share: float) -> float:
    """The queue at which one flow uses a share of the link, from 0.75 to 1, in bandwidth-delay products."""
    low, high = 0.0, 1.0
    while high - low > 1e-9:  # noqa: PLR2004
        middle = (low + high) / 2
        low, high = (middle, high) if utilization(middle) < share else (low, middle)
    return (low + high) / 2


def _phases(queue: float) -> tuple[float, float]:
    """Time below and above one bandwidth-delay product."""
    top = 1 + queue
    return max(0.0, 1 - top / 2), (top**2 - max(1.0, top / 2) ** 2) / 2
