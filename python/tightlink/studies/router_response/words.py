"""Numbers in sentences."""

from __future__ import annotations

from typing import Final

MBIT: Final = 1e6
#: A space at which no line breaks.
_TIED: Final = "\u00a0"


def percent(share: float, digits: int = 0) -> str:
    r"""A share in percent.

    >>> percent(0.7171)
    '72\xa0%'
    """
    return f"{100 * share:.{digits}f}{_TIED}%"


def per_s(rate: float) -> str:
    r"""A packet rate.

    >>> per_s(4049.69)
    '4,050\xa0packets/s'
    """
    return f"{rate:,.0f}{_TIED}packets/s"


def mbit(bits_per_s: float, digits: int = 2) -> str:
    r"""A bit rate.

    >>> mbit(2_000_000)
    '2.00\xa0Mbit/s'
    """
    return f"{bits_per_s / MBIT:.{digits}f}{_TIED}Mbit/s"
