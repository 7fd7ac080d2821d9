"""Frames that a link retransmits when its wire loses them.

Example:
    >>> Arq(after="8 ms", retransmissions=3).spec()
    {'after_s': 0.008, 'most': 3}
"""

from __future__ import annotations

from typing import Annotated, Any

from tightlink import units
from tightlink.scenario.changes import Changing, Nothing
from tightlink.scenario.forms import Forms
from tightlink.scenario.values import ShortPeriod, whole


class Arq(Changing):
    """What ``loss`` loses is retransmitted by the link, in order: losses show as delay, as in mobile networks.

    The transmissions of a frame follow each other on the line; what comes after it waits for it at the far end.
    """

    after: ShortPeriod
    """What each retransmission adds to the delay of its frame: the time until the sender knows of the loss."""
    retransmissions: Annotated[int, whole(1, 1000)] = 7
    """Most retransmissions of a frame, after which it is lost."""

    def spec(self) -> dict[str, Any]:
        """The options as the engine reads them."""
        return {"after_s": units.time(self.after), "most": self.retransmissions}


#: Retransmissions of a link, or none.
AnyArq = Annotated[Nothing | Arq, Forms()]
