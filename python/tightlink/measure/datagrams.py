"""What datagrams tell of a path: delay, jitter, losses in a row, order; as the table ``flows`` defines them.

Example:
    >>> import numpy as np
    >>> found = of_arrivals(seq=np.array([0, 1, 4, 3, 4]), delay_s=np.array([0.1, 0.2, 0.1, 0.1, 0.3]), sent=6)
    >>> found.delivered, found.lost, found.duplicates, found.reordered, found.loss_runs, found.loss_run_max
    (4, 2, 1, 1, 1, 1)
    >>> round(found.one_way_delay_mean_s, 6), round(found.jitter_mean_s, 6)
    (0.125, 0.066667)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tightlink.lazy import NDArray, np
from tightlink.measure.traffic import UdpReceived, UdpSent

#: RFC 3550 §6.4.1.
_GAIN: Final = 1 / 16


@dataclass(frozen=True)
class Datagrams:
    """What became of the datagrams of a flow. Duplicates count in nothing but their own number."""

    sent: int
    delivered: int
    duplicates: int
    reordered: int
    """Datagrams that arrived behind one that was sent later (RFC 4737, type-P-reordered)."""
    one_way_delay_mean_s: float | None
    one_way_delay_min_s: float | None
    one_way_delay_max_s: float | None
    jitter_mean_s: float | None
    """Mean of |difference of the latencies of successive arrivals|; nothing of fewer than two."""
    jitter_rfc3550_s: float | None
    loss_runs: int
    """Runs of datagrams lost in a row, as the receiver sees them: one after the last arrival is none."""
    loss_run_mean: float | None
    loss_run_max: int

    @property
    def lost(self) -> int:
        """Datagrams that did not arrive."""
        return self.sent - self.delivered

    def columns(self) -> dict[str, Any]:
        """The same in the columns of the table ``flows``."""
        return {
            "packets_sent": self.sent,
            "packets_delivered": self.delivered,
            "packets_dropped": self.lost,
            "one_way_delay_mean_s": self.one_way_delay_mean_s,
            "one_way_delay_max_s": self.one_way_delay_max_s,
            "jitter_mean_s": self.jitter_mean_s,
            "jitter_rfc3550_s": self.jitter_rfc3550_s,
            "loss_runs": float(self.loss_runs),
            "loss_run_mean_packets": self.loss_run_mean,
            "loss_run_max_packets": float(self.loss_run_max),
        }


def of_flow(flow: int, sent: UdpSent, received: UdpReceived) -> Datagrams:
    """What became of the datagrams of a flow, by its number."""
    own = received.flow == flow
    delay_s = (received.received_ns[own] - received.sent_ns[own]) / 1e9
    return of_arrivals(seq=received.seq[own], delay_s=delay_s, sent=int(np.count_nonzero(sent.flow == flow)))


def of_arrivals(*, seq: NDArray[np.int64], delay_s: NDArray[np.float64], sent: int) -> Datagrams:
    """What became of the datagrams of one flow: their numbers, from 0 on, and delays are in the order of arrival."""
    _, first = np.unique(seq, return_index=True)
    first.sort()
    numbers, delays = seq[first], delay_s[first]
    there = numbers.size > 0
    differences = np.abs(np.diff(delays))
    gaps = np.diff(np.sort(numbers), prepend=-1) - 1
    runs = gaps[gaps > 0]
    newest = np.maximum.accumulate(numbers) if there else numbers
    return Datagrams(
        sent=sent,
        delivered=int(numbers.size),
        duplicates=int(seq.size - numbers.size),
        reordered=int(np.count_nonzero(numbers < newest)),
        one_way_delay_mean_s=float(delays.mean()) if there else None,
        one_way_delay_min_s=float(delays.min()) if there else None,
        one_way_delay_max_s=float(delays.max()) if there else None,
        jitter_mean_s=float(differences.mean()) if differences.size else None,
        jitter_rfc3550_s=_smoothed(differences) if there else None,
        loss_runs=int(runs.size),
        loss_run_mean=float(runs.mean()) if runs.size else None,
        loss_run_max=int(runs.max()) if runs.size else 0,
    )


def _smoothed(differences: NDArray[np.float64]) -> float:
    jitter = 0.0
    for difference in differences.tolist():
        jitter += (difference - jitter) * _GAIN
    return jitter
