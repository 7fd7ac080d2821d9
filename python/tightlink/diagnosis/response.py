"""Windows that losses allow which come one by one: the response functions of Reno and CUBIC.

Example:
    >>> round(renos_window(0.0001)), round(cubics_window(0.0001, 0.1))
    (122, 187)
"""

from __future__ import annotations

import math


def renos_window(lost: float) -> float:
    """Packets of a share of which so many are lost: √(1.5 / p) (Mathis et al. 1997, eq. 3)."""
    return math.sqrt(1.5 / lost)


def cubics_window(lost: float, rtt_s: float) -> float:
    """CUBIC's, if that is more than Reno's: 1.054 (RTT / p)^0.75 (RFC 9438 §5.1, with C = 0.4 and β = 0.7)."""
    return 1.054 * float((rtt_s / lost) ** 0.75)
