"""How many packets of one size a processor carries: packets per second as a separate limit.

Example:
    >>> processor = {"per_packet": "150 us", "per_byte": "50 ns"}
    >>> packet_capacity(processor, 1000) == 5000
    True
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from tightlink import units


def packet_capacity(processor: Mapping[str, Any], packet_bytes: int, *, arriving: bool = True) -> Fraction | None:
    """Packets of one size, headers included, that a processor carries in a second without loss.

    At the capacity C the processor has work all the time: C × (interrupt + per_packet + per_byte × size) is one, but
    for the time that background work is guaranteed. Guaranteed work g gets its share of the time that interrupts leave,
    and never more than it asks for, b: the larger of C = (1 − g) / (work + (1 − g) × interrupt) and C = (1 − b) / (work
    + interrupt). The keys are those of ``node.NAME.processor``. Packets that come from a link (``arriving``) cost an
    interrupt each, a host's own do not. Nothing where packets cost it nothing.
    """
    work = _time(processor, "per_packet") + _time(processor, "per_byte") * packet_bytes
    interrupt = _time(processor, "interrupt") if arriving else Fraction(0)
    if work + interrupt == 0:
        return None
    background, meter = processor.get("background") or {}, processor.get("meter") or {}
    guaranteed = units.exact(units.fraction(background.get("guaranteed", 0)))
    asked = _share(background) + _share(meter)
    shared = (1 - guaranteed) / (work + (1 - guaranteed) * interrupt) if work else 1 / interrupt
    return max(shared, (1 - asked) / (work + interrupt))


def _share(job: Mapping[str, Any]) -> Fraction:
    """The share of the time that a job asks for."""
    return _time(job, "cpu") / _time(job, "every") if job else Fraction(0)


def _time(table: Mapping[str, Any], key: str) -> Fraction:
    """A time as exactly as it is written; one that is not set costs nothing."""
    value = table.get(key)
    return Fraction(0) if value is None else units.parse(value, units.TIME)[1].exact
