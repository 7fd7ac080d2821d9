"""Packets that others overtake on the wire of a link.

Example:
    >>> Reorder(probability="1 %", delay="5 ms").spec()
    {'probability': 0.01, 'delay_s': 0.005}
"""

from __future__ import annotations

from typing import Annotated

from tightlink.scenario.changes import Changing, Nothing
from tightlink.scenario.forms import Forms
from tightlink.scenario.values import Fraction, ShortPeriod


class Reorder(Changing):
    """Some packets take longer than others, which overtake them, as where a path has several ways of unlike length."""

    probability: Fraction
    """Share of the packets that take longer."""
    delay: ShortPeriod
    """How much longer each of them takes."""


#: Packets that others overtake, or none.
AnyReorder = Annotated[Nothing | Reorder, Forms()]
