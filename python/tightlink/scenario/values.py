"""The types of the values in a scenario: quantities with units, fractions, whole numbers, words.

A quantity is kept as text with its unit in canonical spelling (``"10Mbps"`` becomes ``"10 Mbit/s"``),
so that what was understood can be printed; `resolve` turns it into a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeGuard, TypeVar, get_args

from pydantic import AfterValidator, BeforeValidator, ValidatorFunctionWrapHandler, WithJsonSchema, WrapValidator

from tightlink import units
from tightlink.control import CongestionControl, Given, given
from tightlink.errors import ScenarioError, in_quotes, one_of
from tightlink.scenario.table import NAME, Table, key_of, wrong

if TYPE_CHECKING:
    import re

T = TypeVar("T")

UNLIMITED: Final = "unlimited"
#: The packet by which a rate in packets is one in bits, where only bits are understood.
PACKET_BYTES: Final = 1500
LARGEST_SEED: Final = 2**63 - 1
#: The largest IP packet, in bytes (RFC 791).
LARGEST_PACKET: Final = 2**16 - 1


def _check_name(name: str) -> str:
    if NAME.fullmatch(name) is None:
        raise wrong("a name of letters, digits, _ and -, beginning with a letter")
    return name


#: The name of a link, of traffic, of one of several files.
Name = Annotated[str, AfterValidator(_check_name)]


@dataclass(frozen=True)
class _Quantity(BeforeValidator):
    """The check of a quantity, and the kinds that it may be of."""

    kinds: tuple[units.Kind, ...] = ()


def _quantity(
    *kinds: units.Kind,
    zero: bool = False,
    smallest: tuple[str, ...] = (),
    largest: float = float("inf"),
    words: tuple[str, ...] = (),
) -> _Quantity:
    """Checks a quantity of one of the kinds, or one of the words, and spells it canonically.

    What is the smallest is said for each kind that has one.
    """
    expected = " or ".join([units.expected(*kinds), *(f'"{word}"' for word in words)])
    least = dict(units.parse(text, *kinds) for text in smallest)

    @units.remembered
    def check(value: object) -> str:
        if isinstance(value, str) and value in words:
            return value
        try:
            kind, quantity = units.parse(value, *kinds)
        except ScenarioError as error:
            # What the error expects of a bare number, or what it knows of one kind alone, says more.
            text = expected if error.expected == units.expected(*kinds) else error.expected
            suggestion = error.suggestion
            raise wrong(text, value=value, suggestion=suggestion or in_quotes(value, words)) from None
        if quantity.exact < 0 or (quantity.exact == 0 and not zero):
            sign = "that is not negative" if zero else "above zero"
            raise wrong(f'{kind.name} {sign}, such as "{kind.example}"', value=value)
        if kind in least and quantity.exact < least[kind].exact:
            raise wrong(f'{kind.name} of at least "{least[kind]}"', value=value)
        if quantity.exact > largest:
            raise wrong(f'{kind.name} of at most "{kind.limit(largest)}"', value=value)
        return str(quantity)

    return _Quantity(check, kinds=kinds)


def _schema(*examples: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "examples": list(examples)})


#: Times beyond this are not resolved to a microsecond any more.
LONGEST_TIME: Final = 1e9
#: Rates in bit/s or in packets/s. Slower ones would stop the clock.
SLOWEST: Final = 1
FASTEST: Final = 1e18
_LARGEST_LOAD: Final = 100
_LARGEST_BARE_LOAD: Final = 2
_A_LOAD: Final = f'a share above 0 and up to {_LARGEST_BARE_LOAD}, or per cent up to "{100 * _LARGEST_LOAD} %"'
_MOST_BYTES = 2**31 - 1
#: The largest window that TCP can advertise, scaled by 14 bits (RFC 7323 §2.3).
LARGEST_WINDOW_BYTES: Final = 2**30
MOST_PACKETS: Final = 2**31 - 1
#: The smallest packet that every link must carry whole (RFC 791).
_SMALLEST_MTU = "68 B"
#: Shorter times would stop the clock.
_SHORTEST_PERIOD = "1 ns"
#: What repeats more often would only take time.
_SHORTEST_UPDATE = "10 us"
#: Rates of events, which need not keep a link busy.
_SLOWEST_PACKETS = "0.000001 packets/s"
_SMALLEST_RATES = (f"{SLOWEST} bit/s", f"{SLOWEST} packet/s")


Rate = Annotated[
    str, _quantity(units.RATE, smallest=_SMALLEST_RATES[:1], largest=FASTEST), _schema("2 Mbit/s", "1 Gbit/s")
]
LineRate = Annotated[
    str,
    _quantity(units.RATE, units.PACKET_RATE, smallest=_SMALLEST_RATES, largest=FASTEST),
    _schema("2 Mbit/s", "20 packets/ms"),
]
LineRateOrNone = Annotated[str, _quantity(units.RATE, zero=True, largest=FASTEST), _schema("2 Mbit/s", "0 bit/s")]
PacketRate = Annotated[
    str,
    _quantity(units.PACKET_RATE, smallest=(_SLOWEST_PACKETS,), largest=FASTEST),
    _schema("10 packets/s", "8 packets/ms"),
]
ArrivalRate = Annotated[
    str,
    _quantity(units.ARRIVAL_RATE, smallest=("0.000001 transfers/s",), largest=FASTEST),
    _schema("100 transfers/s", "2 transfers/ms"),
]
Delay = Annotated[str, _quantity(units.TIME, zero=True, largest=LONGEST_TIME), _schema("10 ms", "5 us")]
PropagationDelay = Annotated[str, _quantity(units.DELAY, zero=True, largest=LONGEST_TIME), _schema("10 ms", "5 us")]
Period = Annotated[
    str, _quantity(units.TIME, smallest=(_SHORTEST_PERIOD,), largest=LONGEST_TIME), _schema("10 s", "500 ms")
]
#: The same for what lasts no longer than packets wait, so that who writes 5 means milliseconds.
ShortPeriod = Annotated[
    str, _quantity(units.DELAY, smallest=(_SHORTEST_PERIOD,), largest=LONGEST_TIME), _schema("10 ms", "500 us")
]
#: From a step or an update of something to the next.
Update = Annotated[
    str, _quantity(units.TIME, smallest=(_SHORTEST_UPDATE,), largest=LONGEST_TIME), _schema("10 s", "500 ms")
]
Size = Annotated[str, _quantity(units.SIZE, largest=_MOST_BYTES), _schema("1000 B", "1460 B")]
Overhead = Annotated[str, _quantity(units.SIZE, zero=True, largest=_MOST_BYTES), _schema("38 B")]
Amount = Annotated[str, _quantity(units.SIZE, largest=2**63 - 1), _schema("10 MB", "64 KiB")]
SizePoint = Annotated[str, _quantity(units.SIZE, zero=True, largest=2**53), _schema("10 kB", "1 MB")]
FileSize = Annotated[str, _quantity(units.PACKETS, units.SIZE, largest=2**53), _schema("50 packets", "75 kB")]
Mtu = Annotated[str, _quantity(units.SIZE, smallest=(_SMALLEST_MTU,), largest=_MOST_BYTES), _schema("1500 B")]
Window = Annotated[
    str, _quantity(units.PACKETS, units.SIZE, units.BDP, largest=MOST_PACKETS), _schema("20 packets", "64 KiB", "1 BDP")
]
Threshold = Annotated[
    str,
    _quantity(units.PACKETS, units.SIZE, units.BDP, largest=MOST_PACKETS, words=(UNLIMITED,)),
    _schema("46 packets", UNLIMITED),
]
QueueLimit = Annotated[
    str,
    _quantity(units.PACKETS, units.SIZE, units.TIME, units.BDP, largest=_MOST_BYTES, words=(UNLIMITED,)),
    _schema("20 packets", "64 KiB", "20 ms", "1 BDP", UNLIMITED),
]
MarkingThreshold = Annotated[
    str,
    _quantity(units.PACKETS, units.SIZE, units.TIME, units.BDP, largest=_MOST_BYTES),
    _schema("20 packets", "64 KiB", "50 us", "0.2 BDP"),
]
Backlog = Annotated[str, _quantity(units.PACKETS, largest=MOST_PACKETS), _schema("20 packets")]
Burst = Annotated[str, _quantity(units.PACKETS, largest=MOST_PACKETS), _schema("64 packets")]
RingLimit = Annotated[str, _quantity(units.PACKETS, units.SIZE, largest=_MOST_BYTES), _schema("75 packets", "64 KiB")]


#: What the engine calls quantities, and in which units it has them.
_IN_SI: Final[dict[units.Kind, tuple[str, Callable[[object], float]]]] = {
    units.TIME: ("_s", units.time),
    units.DELAY: ("_s", units.time),
    units.RATE: ("_bps", units.rate),
    units.SIZE: ("_bytes", units.size),
    units.PACKETS: ("_packets", units.packets),
}


def in_si(table: Table, *without: str) -> dict[str, Any]:
    """The keys of a table with its defaults as the engine reads them: quantities in SI units, in which their keys end.

    Keys that the engine does not read, or not so, are ``without``.
    """
    return {
        key + unit: None if (value := getattr(table, name)) is None else read(value)
        for name, key, unit, read in _readers(type(table))
        if key not in without
    }


@cache
def _readers(table: type[Table]) -> list[tuple[str, str, str, Callable[[Any], Any]]]:
    found = []
    for name, field in table.model_fields.items():
        kinds = next(_kinds([*field.metadata, field.annotation]), ())
        unit, read = _IN_SI[kinds[0]] if len(kinds) == 1 else ("", lambda value: value)
        found.append((name, key_of(name), unit, read))
    return found


def _kinds(parts: Any) -> Iterator[tuple[units.Kind, ...]]:
    """The kinds of the quantities in an annotation."""
    for part in parts:
        if isinstance(part, _Quantity):
            yield part.kinds
        else:
            yield from _kinds(get_args(part))


def seconds(text: str | None) -> float | None:
    """A time in seconds, or nothing where there is none."""
    return None if text is None else units.time(text)


def packets_or_bytes(text: object) -> dict[str, int]:
    """A limit as the engine reads it.

    >>> packets_or_bytes("5 packets"), packets_or_bytes("64 kB")
    ({'packets': 5}, {'bytes': 64000})
    """
    kind, quantity = units.parse(text, units.PACKETS, units.SIZE)
    return {"packets" if kind is units.PACKETS else "bytes": int(quantity.exact)}


def limit_spec(text: str) -> str | dict[str, Any]:
    """A limit of a queue, or a threshold, as the engine reads it; in BDP or time it is left to it.

    >>> limit_spec("64 kB"), limit_spec("unlimited"), limit_spec("1.5 BDP")
    ({'bytes': 64000}, 'unlimited', {'bdp': '3/2', 'written': '1.5 BDP'})
    """
    if text == UNLIMITED:
        return UNLIMITED
    kind, quantity = units.parse(text, units.PACKETS, units.SIZE, units.TIME, units.BDP)
    if kind not in {units.BDP, units.TIME}:
        return packets_or_bytes(text)
    return {"bdp" if kind is units.BDP else "time_s": str(quantity.exact), "written": text}


def line_rate(text: object) -> tuple[float, float | None]:
    """What a line transmits, in bit/s, and in packets/s where that limits it.

    >>> line_rate("2 Mbit/s"), line_rate("2 packets/ms")
    ((2000000.0, None), (24000000.0, 2000.0))
    """
    kind, quantity = units.parse(text, units.RATE, units.PACKET_RATE)
    if kind is units.RATE:
        return float(quantity.exact), None
    return float(quantity.exact * 8 * PACKET_BYTES), float(quantity.exact)


def _share(holds: Callable[[float], bool], expected: str) -> BeforeValidator:
    """A number, or one in per cent, of which ``holds`` is true."""

    def check(value: object) -> float:
        try:
            share = units.fraction(value)
        except ScenarioError as error:
            raise wrong(expected, value=value, suggestion=error.suggestion) from None
        if not holds(share):
            raise wrong(expected, value=value)
        return share

    return BeforeValidator(check)


Fraction = Annotated[
    float | str,
    _share(lambda share: 0 <= share <= 1, 'a fraction from 0 to 1, or such as "1 %"'),
    WithJsonSchema(
        {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string"}], "examples": [0.01, "1 %"]}
    ),
]


def _check_load(value: object) -> float | str:
    try:
        share = units.fraction(value)
    except ScenarioError as error:
        bare = isinstance(value, str) and value.strip().isdecimal()
        raise wrong(_A_LOAD, value=value, suggestion=f'"{value} %"' if bare else error.suggestion) from None
    if not 0 < share <= _LARGEST_LOAD:
        raise wrong(_A_LOAD, value=value)
    if share <= _LARGEST_BARE_LOAD:
        return share
    if not isinstance(value, str):
        # Who offers several times what a link carries says so; who writes 60 has per cent in mind.
        raise wrong(_A_LOAD, value=value, suggestion=f'"{value:g} %"')
    return units.format_fraction(share)


#: A share of a rate, which may be offered more than it carries.
Load = Annotated[
    float | str,
    BeforeValidator(_check_load),
    WithJsonSchema(
        {
            "anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": _LARGEST_BARE_LOAD}, {"type": "string"}],
            "examples": [0.5, "50 %"],
        }
    ),
]


def ensured(holds: Callable[[Any], object], expected: str) -> Callable[[T], T]:
    """A check for pydantic that leaves a value as it is, and refuses those of which ``holds`` is not true."""

    def check(value: T) -> T:
        if not holds(value):
            raise wrong(expected, value=list(value) if isinstance(value, tuple) else value)
        return value

    return check


def matching(expected: str, *patterns: re.Pattern[str]) -> Callable[[T], T]:
    """A check for pydantic that a value is a text of one of these forms."""
    return ensured(lambda text: isinstance(text, str) and any(form.fullmatch(text) for form in patterns), expected)


def number(holds: Callable[[float], bool], expected: str) -> BeforeValidator:
    """A plain number of which ``holds`` is true; true and false are none."""
    check = ensured(
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and holds(value), expected
    )
    return BeforeValidator(lambda value: float(check(value)))


def between(smallest: float, largest: float, example: float, *, what: str = "a number") -> BeforeValidator:
    """A plain number within bounds."""
    expected = f"{what} from {smallest:.10g} to {largest:.10g}, such as {example:g}"
    return number(lambda value: smallest <= value <= largest, expected)


def above(bound: float, largest: float, example: float) -> BeforeValidator:
    """A plain number above a bound, up to a largest one."""
    expected = f"a number above {bound:g} and up to {largest:g}, such as {example:g}"
    return number(lambda value: bound < value <= largest, expected)


def whole(smallest: int, largest: int, of: str = "") -> BeforeValidator:
    """A whole number within bounds, of packets or other things; true and false are none."""
    numbers = range(smallest, largest + 1)
    return BeforeValidator(
        ensured(
            lambda value: isinstance(value, int) and not isinstance(value, bool) and value in numbers,
            f"a whole number{of and f' of {of}'} from {smallest} to {largest}",
        )
    )


def two(expected: str) -> BeforeValidator:
    """A list of two values."""
    return BeforeValidator(ensured(lambda value: isinstance(value, list | tuple) and len(value) == 2, expected))  # noqa: PLR2004


def choice(*names: str, meant: Callable[[object], str | None] = lambda _: None) -> BeforeValidator:
    """One of a few words, with "did you mean": what ``meant`` says, or else the word that is most like it."""

    def check(value: object) -> str:
        if isinstance(value, str) and value in names:
            return value
        raise wrong(one_of(names), value=value, suggestion=meant(value) or in_quotes(value, names))

    return BeforeValidator(check)


def switch_or(word: str, meant: Callable[[object], str | None]) -> BeforeValidator:
    """True, false, or a word instead; ``meant`` says what somebody has in mind who writes anything else."""

    def check(value: object) -> bool | str:
        if isinstance(value, bool) or value == word:
            return value
        raise wrong(f'true, false or "{word}"', value=value, suggestion=meant(value))

    return BeforeValidator(check)


#: Accurate ECN, by its usual name (RFC 9768).
ACCURATE_ECN: Final = "accecn"
Ecn = Annotated[
    bool | str,
    switch_or(ACCURATE_ECN, lambda value: in_quotes(value, (ACCURATE_ECN,))),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"enum": [ACCURATE_ECN]}], "examples": [True, ACCURATE_ECN]}),
]


def is_control(value: object) -> TypeGuard[type[CongestionControl]]:
    """Whether a value is a class of a congestion control, which stands for its name."""
    return isinstance(value, type) and issubclass(value, CongestionControl) and value is not CongestionControl


def _check_congestion(value: object, check: ValidatorFunctionWrapHandler) -> object:
    if is_control(value):
        # Past pydantic, which would keep the text and not the class.
        return given(value)
    if isinstance(value, Given):
        return value
    if isinstance(value, dict) and "kind" in value:
        kind = given(value["kind"]) if is_control(value["kind"]) else value["kind"]
        return check(value | {"kind": str(kind)}) | {"kind": kind} if isinstance(kind, Given) else check(value)
    if isinstance(value, str):
        return check(value)
    raise wrong("the name of a congestion control, or a table with its name as kind and its options", value=value)


#: What it names, and its options, are checked when the scenario is resolved: the engine knows them.
Congestion = Annotated[
    str | dict[str, str | float | bool] | type[CongestionControl],
    WrapValidator(_check_congestion),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "object", "required": ["kind"]}], "examples": ["reno", "cubic"]}
    ),
]
