"""What the document prints and the model takes from it: its sizes, and the figures to which the interface is fitted.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554). All other figures stand in the
table of claims.
"""

from __future__ import annotations

from typing import Final

BANDWIDTH_BPS: Final = 100e6
#: Payloads that were measured: 25 to 1450 B in steps of 25 B.
STEP_BYTES: Final = 25
SMALLEST_BYTES: Final = 25
LARGEST_BYTES: Final = 1450
#: What it says of fragments is said of a datagram of so many bytes.
FRAGMENT_LIMIT_BYTES: Final = 1475
#: Section 4: T_max and p_c, which eq. 7 takes, and the packet rates at both ends of saturation.
PLATEAU_MBIT: Final = 96
CRITICAL_BYTES: Final = 451
#: The payload at which interface and line are equally fast: the middle of what 451 B within half a step allows, 439 to
#: 463 B, and 25 thousand/s within half of its last digit, which a line of 100 Mbit/s carries up to 444 B.
BALANCED_BYTES: Final = 441
LARGEST_RATE: Final = 30_000
