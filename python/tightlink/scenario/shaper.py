"""A token bucket in front of a link.

Example:
    >>> Shaper(rate="20 Mbit/s", burst="64 kB").spec()
    {'rate_bps': 20000000.0, 'burst_bytes': 64000}
"""

from __future__ import annotations

from typing import Annotated

from tightlink.scenario.changes import Changing, Nothing
from tightlink.scenario.forms import Forms
from tightlink.scenario.values import Rate, Size


class Shaper(Changing):
    """A token bucket in front of a link, as home routers, contracts of providers and clouds have it.

    A packet leaves the queue when there are as many tokens as it has bytes, framing included; one that is longer than
    the bucket waits until that is full and owes the rest.
    """

    rate: Rate
    """Rate at which tokens come."""
    burst: Size
    """Tokens that the bucket holds, which is full at first: as much may leave at the rate of the line."""


#: A token bucket, or none.
AnyShaper = Annotated[Nothing | Shaper, Forms()]
