"""Numbers in sentences."""

from __future__ import annotations

from typing import Final

MS: Final = 1e-3
KBIT: Final = 1e3


def percent(share: float, digits: int = 0) -> str:
    """A share in percent.

    >>> percent(0.1667), percent(0.01907, 1)
    ('17 %', '1.9 %')
    """
    return f"{100 * share:.{digits}f} %"


def ms(seconds: float, digits: int = 1) -> str:
    """A time in milliseconds.

    >>> ms(0.07304)
    '73.0 ms'
    """
    return f"{seconds / MS:.{digits}f} ms"


def kbit(bits: float) -> str:
    """A rate in kbit/s.

    >>> kbit(1_911_919)
    '1912 kbit/s'
    """
    return f"{bits / KBIT:.0f} kbit/s"
