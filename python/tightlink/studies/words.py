"""Numbers in sentences."""

from __future__ import annotations

from typing import Final

from tightlink.numbers import grouped

MS: Final = 1e-3
US: Final = 1e-6
KBIT: Final = 1e3
MBIT: Final = 1e6
#: A space at which no line breaks.
_TIED: Final = "\u00a0"


def percent(share: float, digits: int = 0) -> str:
    r"""A share in percent.

    >>> percent(0.1667), percent(0.01907, 1)
    ('17\xa0%', '1.9\xa0%')
    """
    return f"{100 * share:.{digits}f}{_TIED}%"


def ms(seconds: float, digits: int = 1) -> str:
    r"""A time in milliseconds.

    >>> ms(0.07304)
    '73.0\xa0ms'
    """
    return f"{seconds / MS:.{digits}f}{_TIED}ms"


def kbit(bits: float) -> str:
    r"""A rate in kbit/s.

    >>> kbit(1_911_919)
    '1912\xa0kbit/s'
    """
    return f"{bits / KBIT:.0f}{_TIED}kbit/s"


def mbit(bits: float, digits: int = 2) -> str:
    r"""A rate in Mbit/s.

    >>> mbit(2_000_000)
    '2.00\xa0Mbit/s'
    """
    return f"{bits / MBIT:.{digits}f}{_TIED}Mbit/s"


def per_s(rate: float) -> str:
    r"""A packet rate as text with its unit.

    >>> per_s(4049.69)
    '4,050\xa0packets/s'
    """
    return f"{grouped(f'{rate:.0f}')}{_TIED}packets/s"
