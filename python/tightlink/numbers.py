"""Numbers as people read them: in terminals, reports, comparisons and claims, written in one way.

Thousands have commas, what is below zero has a minus sign, and what there is not is a dash. A mean has as many
decimals as half of its confidence interval, which has two digits. What programs read is not written by this.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Final

#: What stands where there is no number.
NONE: Final = "–"
#: Sign, whole part, decimals, and what follows: an exponent, a unit.
_NUMBER: Final = re.compile(r"([-+−]?)(\d+)((?:\.\d+)?)(.*)", re.DOTALL)

#: Columns of shares of a whole, and what begins alike and is none.
_SHARES: Final = ("limited_by_", "utilization", "loss", "load", "share")
_NO_SHARES: Final = "loss_run"


def grouped(number: str | float) -> str:
    """A number, or one that is written already and may have a unit, with its thousands apart and a minus sign.

    What is rounded to zero has no sign.

    >>> grouped("1234567.25"), grouped(-2385), grouped("-1500 ms"), grouped("-0.00 %"), grouped("1e-07")
    ('1,234,567.25', '−2,385', '−1,500 ms', '0.00 %', '1e-07')
    """
    match = _NUMBER.fullmatch(str(number))
    if match is None:
        return str(number)
    sign, whole, decimals, rest = match.groups()
    if not (whole + decimals).strip("0."):
        sign = ""
    return f"{'−' if sign == '-' else sign}{int(whole):,}{decimals}{rest}"


def significant(number: float, digits: int, *, signed: bool = False) -> str:
    """A number with so many significant digits, and without an exponent where it is large.

    >>> significant(1997.5, 3), significant(0.01234, 2), significant(100.2, 2, signed=True), significant(-4.0, 3)
    ('2,000', '0.012', '+100', '−4')
    """
    return grouped(f"{float(f'{number:.{digits}g}'):{'+' if signed else ''}.15g}")


def several(number: int, word: str) -> str:
    """A number of things.

    >>> several(1, "flow"), several(0, "packet")
    ('1 flow', '0 packets')
    """
    return f"{grouped(number)} {word}" if number == 1 else f"{grouped(number)} {word}s"


def percent(share: float | None, digits: int = 0, *, signed: bool = False) -> str:
    """A share in per cent; nothing at all has no decimals.

    >>> percent(0.1234, 1), percent(-0.5, 1, signed=True), percent(0.0, 1, signed=True), percent(None)
    ('12.3 %', '−50.0 %', '0 %', '–')
    """
    if share is None or not math.isfinite(share):
        return NONE
    return grouped(f"{100 * share:{'+' if signed else ''}.{digits if share else 0}f} %")


#: What is less is what adding up leaves where there was nothing.
NOTHING: Final = 1e-12
#: A queue of fewer packets on average is none to speak of.
NO_QUEUE: Final = 0.001
#: Half an interval of too few replications, and what it means.
UNKNOWN: Final = "?"
TOO_FEW: Final = f"± {UNKNOWN}: too few replications for an interval, which would leave the values that are possible"


def is_share(column: str) -> bool:
    """Whether values of a column are shares, which people read in per cent.

    >>> is_share("utilization"), is_share("loss_runs")
    (True, False)
    """
    return column.startswith(_SHARES) and not column.startswith(_NO_SHARES)


def leaves(value: float, half_width: float, most: float = math.inf) -> bool:
    """Whether a confidence interval leaves what is possible, from zero to a largest value: of too few replications.

    >>> leaves(0.4, 1.3, 1.0), leaves(0.98, 0.1, 1.0), leaves(0.98, 0.1), leaves(46.1, 62.3)
    (True, True, False, True)
    """
    return value >= 0 and (value - half_width < 0 or value + half_width > most)


def too_few(value: float | None, half_width: float | None) -> bool:
    """Whether half a confidence interval is told as unknown: one that would go below zero (`TOO_FEW`).

    >>> too_few(46.1, 62.3), too_few(0.98, 0.1), too_few(0.98, None)
    (True, False, False)
    """
    return value is not None and half_width is not None and 0 <= value < half_width


def interval(value: float, half_width: float, write: Callable[[float], str] = str, most: float = math.inf) -> str:
    """A mean and half its confidence interval in one unit, the latter with two digits: "8.46 ± 0.10 Mbit/s".

    One that would go below zero is "?" (`TOO_FEW` says why), and one above the largest value ends there.

    Args:
        value: The mean.
        half_width: Half of its interval.
        write: Writes a number with the unit that suits it, powers of ten apart; without it there is none. What
            it writes in another way, as with an exponent, stands as it is.
        most: The largest value that is possible.

    >>> interval(8.463e6, 97.86e3, lambda bps: f"{bps / 1e6:.4g} Mbit/s"), interval(46.1, 9.3), interval(4210.0, 130.0)
    ('8.463 ± 0.098 Mbit/s', '46.1 ± 9.3', '4,210 ± 130')
    >>> interval(46.1, 62.3), *(interval(x, 30.0, lambda share: f"{share:.0f} %", 100) for x in (20.0, 85.0))
    ('46.1 ± ?', '20 ± ? %', '85 (55 to 100) %')
    """
    if half_width and leaves(value, half_width, most):
        mean, _, unit = write(value).partition(" ")
        if too_few(value, half_width):
            return f"{mean} ± {UNKNOWN} {unit}".rstrip()
        low, high = (write(end).partition(" ")[0] for end in (value - half_width, most))
        return f"{mean} ({low} to {high}) {unit}".rstrip()
    text, _, unit = write(max(abs(value), half_width)).partition(" ")
    number = _NUMBER.fullmatch(text.replace(",", ""))
    if number is None or number[4]:
        return f"{write(value)} ± {write(half_width)}"
    if not half_width or not float(number[0]):
        return write(value)
    # Units are powers of ten apart; the number itself may have been rounded.
    scale = 10.0 ** round(math.log10(float(number[0]) / max(abs(value), half_width)))
    half = half_width * scale
    decimals = 1 - math.floor(math.log10(half))
    mean, width = (grouped(f"{round(each, decimals):.{max(0, decimals)}f}") for each in (value * scale, half))
    return f"{mean} ± {width} {unit}".rstrip()
