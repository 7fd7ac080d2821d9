"""The colours of all figures, on paper and on screen: told apart by the colour-blind, and on dark ground.

The series' colours are those of Okabe and Ito without black and yellow, which vanish on a dark and on
a light ground.

Example:
    >>> SERIES[0], LIMITS["receiver_window"].name
    ('#0072b2', "receiver's window")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

#: Colours of series, in the order in which they are used.
SERIES: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c7a5b", "#8f8f8f")
#: Raw values behind a smoothed line of the first colour: half transparent, for light and dark grounds.
PALE: Final = f"{SERIES[0]}66"
#: Axes and grids that read on light and dark grounds.
NEUTRAL: Final = "#8a8f98"

#: Of effects by their mark: blue for p < 0.01 and orange for p < 0.05, as in document 003.
SIGNIFICANT: Final[dict[str, str]] = {"**": SERIES[0], "*": SERIES[4]}


@dataclass(frozen=True)
class Limit:
    """What can hold a flow back: its name for people, and its colour in every figure."""

    name: str
    color: str


#: By the end of the columns ``limited_by_*``, in the order in which bars stack them.
LIMITS: Final[dict[str, Limit]] = {
    "network": Limit("network (the path is full)", "#009e73"),
    "receiver_window": Limit("receiver's window", "#d55e00"),
    "congestion_window": Limit("congestion window", "#0072b2"),
    "sender_rate": Limit("sender's packet rate", "#cc79a7"),
    "pacing": Limit("pacing", "#56b4e9"),
    "application": Limit("application", "#b9bec6"),
    "handshake": Limit("handshake", "#8c7a5b"),
}
