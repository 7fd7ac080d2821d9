"""Quantities with units, as scenarios write them, and their values in SI.

Rates are bit/s or packets/s, times seconds, sizes bytes. ``k``, ``M``, ``G`` and ``T`` are powers of 1000, ``Ki``,
``Mi``, ``Gi`` and ``Ti`` powers of 1024. Case decides: ``Mb`` is a megabit, ``MB`` a megabyte, ``mb``
an error. A number without a unit is an error too. Values are the doubles nearest to what is written.

Example:
    >>> rate("2 Mbit/s"), time("10 ms"), size("64 KiB"), packets("20 packets"), fraction("1 %")
    (2000000.0, 0.01, 65536, 20, 0.01)
    >>> packet_rate("20 packets/ms"), format_packet_rate(20000.0)
    (20000.0, '20 packets/ms')
    >>> format_rate(2e6), format_time(0.01), format_size(65536), format_packets(20)
    ('2 Mbit/s', '10 ms', '64 KiB', '20 packets')
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Decimal
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Final, TypeVar

from tightlink.arguments import plain
from tightlink.errors import ScenarioError, closest

T = TypeVar("T")

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*)", re.DOTALL | re.ASCII)
_LONGEST_NUMBER = 60
_LARGEST_EXPONENT = 350
#: How like a known unit an unknown one must be: units are short.
_LIKENESS = 0.75
_LARGEST_BARE = 10**18
#: Nobody gives so few bits a second.
_SLOWEST_BARE = 10_000
#: Decimal exponents between which a number is written without one.
_PLAIN_EXPONENTS = range(-12, 19)


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of quantity: how to speak of it, and its units with their factors to SI."""

    name: str
    example: str
    units: dict[str, Fraction]
    spellings: dict[str, str]
    integer: bool = False
    bare: str = ""
    """The unit that somebody has in mind who writes none."""

    def limit(self, most: float) -> str:
        """A largest value in the largest decimal unit, with three digits, rounded down.

        >>> SIZE.limit(2**31 - 1), TIME.limit(1e9)
        ('2.14 GB', '1000000000 s')
        """
        decimal = [each for each in self.units.items() if set(str(each[1])) <= set("10")]
        unit, factor = max((each for each in decimal if each[1] <= most), key=lambda each: each[1])
        amount = Decimal(most) / int(factor)
        digits = amount.quantize(Decimal(1).scaleb(amount.adjusted() - 2), ROUND_DOWN)
        return f"{_plain(digits)} {unit}"


@dataclass(frozen=True)
class Quantity:
    """A parsed quantity: the number as written, the unit in its canonical spelling, the exact value."""

    number: str
    unit: str
    exact: Fraction

    def __str__(self) -> str:
        return f"{self.number} {self.unit}"


_DECIMAL = {"": 0, "k": 3, "M": 6, "G": 9, "T": 12}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40}


def _spell(units: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """From every accepted spelling to the canonical one."""
    return {spelling: canonical for canonical, others in units.items() for spelling in (canonical, *others)}


RATE: Final = Kind(
    name="a rate",
    example="2 Mbit/s",
    units={f"{p}bit/s": Fraction(10**e) for p, e in _DECIMAL.items()},
    spellings=_spell({f"{p}bit/s": (f"{p}bits/s", f"{p}bps", f"{p}b/s") for p in _DECIMAL}),
)
PACKET_RATE: Final = Kind(
    name="a packet rate",
    example="20 packets/ms",
    units={"packets/s": Fraction(1), "packets/ms": Fraction(1000)},
    spellings=_spell({"packets/s": ("packet/s", "pps"), "packets/ms": ("packet/ms",)}),
)
ARRIVAL_RATE: Final = Kind(
    name="a rate of arrivals",
    example="100 transfers/s",
    units={"transfers/s": Fraction(1), "transfers/ms": Fraction(10**3), "transfers/us": Fraction(10**6)},
    spellings=_spell({f"transfers/{unit}": (f"transfer/{unit}",) for unit in ("s", "ms", "us")}),
)
TIME: Final = Kind(
    name="a time",
    example="10 ms",
    units={
        "ns": Fraction(1, 10**9),
        "us": Fraction(1, 10**6),
        "ms": Fraction(1, 10**3),
        "s": Fraction(1),
        "min": Fraction(60),
        "h": Fraction(3600),
    },
    spellings=_spell(
        {
            "ns": (),
            "us": ("µs", "μs"),
            "ms": (),
            "s": ("second", "seconds"),
            "min": ("minute", "minutes"),
            "h": ("hour", "hours"),
        }
    ),
    bare="s",
)
#: What ns-2 multiplies a time by, where it is not in seconds.
_NS2_FACTORS: Final = {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}
#: A time as links have it: nobody who writes 20 means seconds.
DELAY: Final = replace(TIME, bare="ms")
SIZE: Final = Kind(
    name="a size",
    example="1000 B",
    units={f"{p}B": Fraction(10**e) for p, e in _DECIMAL.items()}
    | {f"{p}B": Fraction(2**e) for p, e in _BINARY.items()}
    | {f"{p}bit": Fraction(10**e, 8) for p, e in _DECIMAL.items()},
    spellings=_spell({f"{p}B": () for p in _DECIMAL | _BINARY})
    | _spell({f"{p}bit": (f"{p}bits",) for p in _DECIMAL})
    | {"byte": "B", "bytes": "B"},
    integer=True,
    bare="B",
)
PACKETS: Final = Kind(
    name="a number of packets",
    example="20 packets",
    units={"packets": Fraction(1)},
    spellings={"packets": "packets", "packet": "packets"},
    integer=True,
    bare="packets",
)
FRACTION: Final = Kind(
    name="a fraction",
    example="1 %",
    units={"%": Fraction(1, 100)},
    spellings={"%": "%", "percent": "%"},
)
BDP: Final = Kind(
    name="a bandwidth-delay product",
    example="1 BDP",
    units={"BDP": Fraction(1)},
    spellings={"BDP": "BDP", "BDPs": "BDP"},
)


#: Units as ns-2 and others write them, in any case or in full: for "did you mean" alone.
_MEANT: Final = {
    **dict.fromkeys(("sec", "secs"), "s"),
    **dict.fromkeys(("msec", "msecs", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("usec", "usecs", "microsecond", "microseconds"), "us"),
    **dict.fromkeys(("nsec", "nsecs", "nanosecond", "nanoseconds"), "ns"),
    **dict.fromkeys(("p", "pkt", "pkts"), "packets"),
    **{f"{prefix}{bits}": f"{prefix}bit/s" for prefix in "kMGT" for bits in ("", "b")},
    **{f"{prefix.swapcase()}{bits}": f"{prefix}bit/s" for prefix in "kMGT" for bits in ("", "b")},
}
#: Sizes as iperf3 and dd write them, in powers of 1024; and times, where nothing else can be meant.
_MEANT_SIZES: Final = {letter: f"{prefix}B" for prefix in _BINARY for letter in (prefix[0], prefix[0].lower())}
_MEANT_TIMES: Final = {"m": "min", **dict.fromkeys(("hr", "hrs"), "h")}
#: Somebody who writes more without a unit has bytes in mind: the longest queue that Linux makes by default, FQ-CoDel's.
_MOST_BARE_PACKETS: Final = 10_240
#: A number as some languages write it, with what follows.
_COMMA: Final = re.compile(r"\d+,\d+(?:\s*\D.*)?")
#: One that may be a thousand times as much elsewhere: nothing is proposed.
_THOUSANDS: Final = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?!\d)")
#: The same with points, as others write them.
_POINTS: Final = re.compile(r"[1-9]\d{0,2}(?:\.\d{3})+(?:\.\d{3}|,\d)")
#: One of packets or bytes that may be a thousand times as much: of these there are no parts.
_POINT: Final = re.compile(r"[1-9]\d{0,2}\.\d{3}")


def expected(*kinds: Kind) -> str:
    """For errors: what quantities of one of the kinds look like.

    >>> expected(RATE, PACKET_RATE)
    'a rate such as "2 Mbit/s" or a packet rate such as "20 packets/ms"'
    """
    return " or ".join(f'{kind.name} such as "{kind.example}"' for kind in kinds)


def parse(text: object, *kinds: Kind) -> tuple[Kind, Quantity]:
    """Read a quantity of one of the kinds.

    Raises:
        ScenarioError: The text is no quantity of these kinds; the error says what was expected and,
            where it can be told, what was probably meant.

    Example:
        >>> kind, quantity = parse("1.544Mbps", RATE)
        >>> str(quantity), float(quantity.exact)
        ('1.544 Mbit/s', 1544000.0)
        >>> parse("10 mbps", RATE)
        Traceback (most recent call last):
        tightlink.errors.ScenarioError: "10 mbps": expected a rate such as "2 Mbit/s"; did you mean \
"10 Mbit/s"?
    """
    given = plain(text)
    return _parse(given, kinds) if isinstance(given, str) else _read(given, kinds)


def _read(text: object, kinds: tuple[Kind, ...]) -> tuple[Kind, Quantity]:
    if isinstance(text, str):
        if _POINTS.match(text.strip()):
            raise ScenarioError(f"a number without points between thousands: {expected(*kinds)}", value=text)
        if "," in text:
            _check_comma(text, kinds)
    number, unit = _split(text)
    if number is not None and unit is None:
        raise ScenarioError(f"a unit, too: {expected(*kinds)}", value=text, suggestion=_suggest(number, unit, kinds))
    if number is None or unit is None:
        raise _wrong(text, kinds, None)
    for kind in kinds:
        canonical = kind.spellings.get(unit)
        if canonical is None:
            continue
        exact = _exact(number) * kind.units[canonical]
        thousand = kind.units[canonical] == 1 and _POINT.fullmatch(number)
        if kind.integer and (exact.denominator != 1 or thousand):
            what = "packets" if kind is PACKETS else "bytes"
            point = ", without a point" if thousand else ""
            raise ScenarioError(f"a whole number of {what}{point}", value=text)
        if kind in {PACKETS, PACKET_RATE, ARRIVAL_RATE} and _exact(number) == 1:
            canonical = canonical.replace("packets", "packet").replace("transfers", "transfer")
        return kind, Quantity(number, canonical, exact)
    raise _wrong(text, kinds, _suggest(number, unit, kinds))


def _check_comma(text: str, kinds: tuple[Kind, ...]) -> None:
    """Refuse a number with a comma, and propose it with a point where it is no thousand."""
    if _THOUSANDS.match(text.strip()):
        raise ScenarioError(f"a number without a comma: {expected(*kinds)}", value=text)
    if _COMMA.fullmatch(text.strip()):
        try:
            meant: str | None = f'"{_read(text.replace(",", "."), kinds)[1]}"'
        except ScenarioError as error:
            meant = error.suggestion
        raise ScenarioError(f"a point, not a comma: {expected(*kinds)}", value=text, suggestion=meant)


#: The links of a scenario, and the runs of an experiment, have most of their quantities in common.
_parse = lru_cache(maxsize=4096)(_read)


def remembered(read: Callable[[object], T]) -> Callable[[object], T]:
    """A function of text that is called with the same texts again and again."""
    known = lru_cache(maxsize=4096)(read)

    @wraps(read)
    def look_up(text: object) -> T:
        return known(text) if isinstance(text, str) else read(text)

    return look_up


@remembered
def rate(text: object) -> float:
    """Bits per second. ``rate("1.544 Mbit/s")`` is 1544000.0."""
    return float(parse(text, RATE)[1].exact)


@remembered
def packet_rate(text: object) -> float:
    """Packets per second. ``packet_rate("20 packets/ms")`` is 20000.0."""
    return float(parse(text, PACKET_RATE)[1].exact)


@remembered
def arrival_rate(text: object) -> float:
    """Transfers per second. ``arrival_rate("2 transfers/ms")`` is 2000.0."""
    return float(parse(text, ARRIVAL_RATE)[1].exact)


@remembered
def time(text: object) -> float:
    """Seconds. ``time("0.1 s")`` is 0.1."""
    return float(parse(text, TIME)[1].exact)


@remembered
def time_as_ns2(text: object) -> float:
    """Seconds as ns-2 computes them (`InstVar::time_atof`): the number in ms or us times the double 1e-3 or 1e-6.

    That may be another double than the nearest: then, of two packets that arrive at one instant, the other comes first.

    Example:
        >>> time_as_ns2("51 ms"), time_as_ns2("50 ms"), time_as_ns2("0.051 s")
        (0.051000000000000004, 0.05, 0.051)
    """
    quantity = parse(text, TIME)[1]
    factor = _NS2_FACTORS.get(quantity.unit)
    return float(quantity.exact) if factor is None else float(quantity.number) * factor


@remembered
def size(text: object) -> int:
    """Bytes. ``size("64 KiB")`` is 65536."""
    return int(parse(text, SIZE)[1].exact)


@remembered
def packets(text: object) -> int:
    """A number of packets. ``packets("20 packets")`` is 20."""
    return int(parse(text, PACKETS)[1].exact)


def fraction(value: object) -> float:
    """A fraction: a plain number, or a percentage. ``fraction("1 %")`` is 0.01."""
    given = plain(value)
    if isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    return float(parse(given, FRACTION)[1].exact)


def format_rate(bps: float) -> str:
    """Write bit/s so that `rate` reads the same double: ``format_rate(2e6)`` is "2 Mbit/s"."""
    return _scaled(bps, [(f"{p}bit/s", 10**e) for p, e in reversed(_DECIMAL.items())])


def format_packet_rate(per_second: float) -> str:
    """Write packets/s so that `packet_rate` reads the same double: "20 packets/ms"."""
    text = _scaled(per_second, [("packets/ms", 1000), ("packets/s", 1)])
    return text.replace("packets", "packet") if text.startswith("1 ") else text


def format_time(seconds: float) -> str:
    """Write seconds so that `time` reads the same double: ``format_time(0.01)`` is "10 ms"."""
    if seconds == 0:
        return "0 s"
    units: list[tuple[str, int | Decimal]] = [
        ("s", 1),
        ("ms", Decimal("1e-3")),
        ("us", Decimal("1e-6")),
        ("ns", Decimal("1e-9")),
    ]
    return _scaled(seconds, units)


def format_size(count: int) -> str:
    """Write bytes: "1500 B", "64 KiB", and "128 kB" rather than "125 KiB"."""
    _check(count)
    for prefix in ("T", "G", "M", "k"):
        unit = 10 ** _DECIMAL[prefix]
        # Sizes of packets are in bytes.
        if count >= (10 * unit if prefix == "k" else unit) and count % unit == 0:
            return f"{count // unit} {prefix}B"
    for prefix, exponent in reversed(_BINARY.items()):
        if count >= 2**exponent and count % 2**exponent == 0:
            return f"{count >> exponent} {prefix}B"
    return f"{count} B"


def format_packets(count: int) -> str:
    """Write a number of packets: "1 packet", "20 packets"."""
    _check(count)
    return f"{count} packet" if count == 1 else f"{count} packets"


def format_fraction(value: float) -> str:
    """Write a fraction as a percentage: ``format_fraction(0.01)`` is "1 %"."""
    _check(value)
    return f"{_plain(Decimal(repr(float(value))) * 100)} %"


def exact(value: float) -> Fraction:
    """The decimal that a double is printed as, for sums that must not drift: 0.1 is 1/10."""
    return Fraction(repr(value))


def _split(text: object) -> tuple[str | None, str | None]:
    """The number and the unit; no unit where there is only a number."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        number = repr(text) if abs(text) < _LARGEST_BARE else None
        return number, None
    if not isinstance(text, str):
        return None, None
    match = _QUANTITY.fullmatch(text.strip())
    if match is None or len(match[1]) > _LONGEST_NUMBER:
        return None, None
    if abs(Decimal(match[1]).adjusted()) > _LARGEST_EXPONENT:
        return None, None
    return match[1], match[2].strip() or None


def _exact(number: str) -> Fraction:
    return Fraction(Decimal(number))


def _wrong(text: object, kinds: tuple[Kind, ...], suggestion: str | None) -> ScenarioError:
    return ScenarioError(expected(*kinds), value=text, suggestion=suggestion)


def _suggest(number: str | None, unit: str | None, kinds: tuple[Kind, ...]) -> str | None:
    if number is None:
        return None
    if unit is None:
        many = SIZE in kinds and kinds[0] is PACKETS and _exact(number) > _MOST_BARE_PACKETS
        return _bare(number, SIZE if many else kinds[0])
    for kind in kinds:
        if kind is RATE and (byte_unit := re.fullmatch(r"([kMGT]?)(?:B/s|Bps)", unit)):
            return f'"{format_rate(float(_exact(number)) * 8 * 10 ** _DECIMAL[byte_unit[1]])}"'
        others = _MEANT_SIZES if kind is SIZE else _MEANT_TIMES if kinds == (TIME,) else _MEANT
        meant = closest(unit, kind.spellings, likeness=_LIKENESS) or others.get(unit) or _MEANT.get(unit)
        if meant in kind.spellings:
            return f'"{number} {kind.spellings[meant]}"'
    return None


def _bare(number: str, kind: Kind) -> str | None:
    """A bare number with the unit that it probably had in mind: large rates are in bit/s, small ones in Mbit/s.

    Nothing is below zero, and of what is zero there are times only: neither is proposed, to be refused in turn.
    """
    value = float(_exact(number))
    if value < 0 or (value == 0 and kind not in {TIME, DELAY}):
        return None
    if kind is RATE:
        return f'"{format_rate(value if value >= _SLOWEST_BARE else value * 10**6)}"'
    if kind is DELAY and 0 < value < 1:
        return f'"{number} s" or "{number} ms"'
    if kind is PACKETS:
        return f'"{format_packets(int(value))}"' if value.is_integer() else f'"{kind.example}"'
    return f'"{number} {kind.bare}"' if kind.bare else f'"{kind.example}"'


def _check(value: float | None) -> None:
    """Refuse what no text with a unit says."""
    if value is None or not math.isfinite(value):
        raise ScenarioError("a finite number", value=value)


def _scaled(value: float, units: Sequence[tuple[str, int | Decimal]]) -> str:
    _check(value)
    exact_value = Decimal(repr(float(value)))
    name, factor = next((u for u in units if abs(exact_value) >= u[1]), units[-1])
    return f"{_plain(exact_value / factor)} {name}"


def _plain(number: Decimal) -> str:
    """Without an exponent unless it is far out, without trailing zeros."""
    if number == 0:
        return "0"
    digits = number.normalize()
    return format(digits, "f") if digits.adjusted() in _PLAIN_EXPONENTS else str(digits)
