"""What each case is good for: real-time, interactive and bulk traffic.

Latency is one-way and that of the 99 % of packets that do best; delay variation is the 99.9 % quantile
less the least latency (ITU-T Y.1541's IPDV); both of the second half of the run, after the start.
Thresholds: ITU-T G.114 (2003): up to 150 ms for most applications, 400 ms at most. ITU-T Y.1541
(2011): variation up to 50 ms for real time (classes 0 and 1), latency up to 100 ms for highly
interactive and 400 ms for interactive data (classes 2 and 3), up to 1 s for bulk data (class 4), loss
up to 0.1 % in all of them. The document's own limit for real time is 300 ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink.studies.words import percent

GOOD: Final = "good"
FAIR: Final = "fair"
BAD: Final = "bad"
G114_GOOD_S: Final = 0.150
G114_MOST_S: Final = 0.400
DOCUMENT_MOST_S: Final = 0.300
Y1541_INTERACTIVE_S: Final = 0.100
Y1541_BULK_S: Final = 1.0
Y1541_VARIATION_S: Final = 0.050
Y1541_LOSS: Final = 0.001
#: Shares of the link's payload rate with which a transfer is content; ours, no standard's.
BULK_GOOD: Final = 0.95
BULK_FAIR: Final = 0.80


@dataclass(frozen=True)
class Quality:
    """What an application notices of a path."""

    latency_s: float
    variation_s: float
    loss: float
    share: float
    """Goodput over the rate that the link has for payload."""

    def real_time(self) -> str:
        """For calls: latency, its variation, loss.

        >>> Quality(0.073, 0.0, 0.0, 1.0).real_time(), Quality(0.313, 0.0, 0.0, 1.0).real_time()
        ('good', 'bad: latency')
        """
        if self.loss > Y1541_LOSS:
            return f"{BAD}: loss"
        if self.variation_s > Y1541_VARIATION_S:
            return f"{BAD}: delay variation"
        if self.latency_s > DOCUMENT_MOST_S:
            return f"{BAD}: latency"
        return GOOD if self.latency_s <= G114_GOOD_S else f"{FAIR}: latency"

    def interactive(self) -> str:
        """For terminals and pages: latency and loss."""
        if self.loss > Y1541_LOSS:
            return f"{BAD}: loss"
        if self.latency_s > G114_MOST_S:
            return f"{BAD}: latency"
        return GOOD if self.latency_s <= Y1541_INTERACTIVE_S else f"{FAIR}: latency"

    def bulk(self, *, repairs: bool) -> str:
        """For files: goodput, where the transport repairs losses."""
        if self.loss > Y1541_LOSS and not repairs:
            return f"{BAD}: loss, not repaired"
        if self.latency_s > Y1541_BULK_S:
            return f"{BAD}: latency"
        if self.share >= BULK_GOOD:
            return GOOD
        return f"{FAIR if self.share >= BULK_FAIR else BAD}: {percent(self.share)} of the link"
