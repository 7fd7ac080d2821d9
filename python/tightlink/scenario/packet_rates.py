"""Rates in packets per second, and lines that may be limited in packets or in bits.

Example:
    >>> line_rate("8 packets/ms"), line_rate("96 Mbit/s")
    ((96000000.0, 8000.0), (96000000.0, None))
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Final

from pydantic import BeforeValidator, WithJsonSchema

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario.table import wrong

#: What counts as a packet where a line that is limited in packets needs a rate in bit/s: an Ethernet's.
_PACKET_BITS: Final = 8 * 1500
_SLOWEST: Final = Fraction(1, 10**6)
_FASTEST: Final = Fraction(10**14)

PACKET_RATE: Final = units.Kind(
    name="a rate",
    example="8 packets/ms",
    units={"packets/s": Fraction(1), "packets/ms": Fraction(1000)},
    spellings={
        spelling: f"packets/{unit}" for unit in ("s", "ms") for spelling in (f"packets/{unit}", f"packet/{unit}")
    },
)


def _checked(*kinds: units.Kind) -> BeforeValidator:
    expected = "a rate such as " + " or ".join(f'"{kind.example}"' for kind in kinds)

    def check(value: object) -> str:
        try:
            kind, quantity = units.parse(value, *kinds)
        except ScenarioError as error:
            raise wrong(expected, value=value, suggestion=error.suggestion) from None
        packets = quantity.exact if kind is PACKET_RATE else quantity.exact / _PACKET_BITS
        if not _SLOWEST <= packets <= _FASTEST:
            raise wrong(f"{expected}, above zero and within reason", value=value)
        return str(quantity)

    return BeforeValidator(check)


def _schema(*examples: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": list(examples)})


PacketRate = Annotated[str, _checked(PACKET_RATE), _schema("10 packets/s", "8 packets/ms")]
LineRate = Annotated[str, _checked(PACKET_RATE, units.RATE), _schema("8 packets/ms", "96 Mbit/s")]


def packet_rate(text: str) -> float:
    """Packets per second. ``packet_rate("8 packets/ms")`` is 8000.0."""
    return float(units.parse(text, PACKET_RATE)[1].exact)


def line_rate(text: str) -> tuple[float, float | None]:
    """A line's rate in bit/s, and in packets per second where that is its limit.

    Packets of a line that is limited in packets count as 1500 B where bits are asked for.
    """
    kind, quantity = units.parse(text, PACKET_RATE, units.RATE)
    if kind is PACKET_RATE:
        return float(quantity.exact * _PACKET_BITS), float(quantity.exact)
    return float(quantity.exact), None
