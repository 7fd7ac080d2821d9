"""What the document prints, and how near a figure that it prints must be met.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554). Its figures are
read off curves and printed with few digits, most of them after "about". So a figure is met within half of
its last digit, and a packet size within half of the 25 bytes between the sizes that were measured.

Example:
    >>> half_digit(96), half_digit(750), half_digit(25_000, digits=2)
    (0.5, 5.0, 500.0)
"""

from __future__ import annotations

from typing import Final

#: The document, as claims cite it.
DOCUMENT: Final = "Smith 2009, Data Traffic Dynamics and Saturation on a Single Link"

BANDWIDTH_BPS: Final = 100e6
#: Payloads that were measured: 25 to 1450 B in steps of 25 B.
STEP_BYTES: Final = 25
SMALLEST_BYTES: Final = 25
LARGEST_BYTES: Final = 1450
#: Section 4: T_max, p_c, and the packet rates that it names.
PLATEAU_MBIT: Final = 96
CRITICAL_BYTES: Final = 451
CRITICAL_RATE: Final = 25_000
LARGEST_RATE: Final = 30_000
FREE_FLOW_RATE: Final = 7_000
SMALLEST_SHARE_PERCENT: Final = 6
#: Section 3: what it says of a datagram of 1475 B.
FRAGMENT_LIMIT_BYTES: Final = 1475
SECOND_FRAGMENT_BYTES: Final = 3
MEAN_FRAGMENT_BYTES: Final = 750
#: Half of the distance between two sizes that were measured.
SIZE_TOLERANCE: Final = STEP_BYTES / 2


def half_digit(value: int, digits: int | None = None) -> float:
    """Half of the last digit of a figure.

    Args:
        value: As it is printed.
        digits: How many of its digits count; without it, all but zeros at the end.
    """
    text = str(value)
    counted = len(text.rstrip("0")) if digits is None else digits
    return 10.0 ** (len(text) - counted) / 2
