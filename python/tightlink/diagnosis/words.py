"""How numbers and names of a diagnosis are written in a sentence."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from tightlink import units
from tightlink.numbers import grouped

_ELEMENT: Final = re.compile(r"(.+)\[(\d+)\]")
#: In the row of a flow whose words are those of several: the rows of all.
ALIKE: Final = "alike"
#: In the row of a group that the table does not divide into flows: how many these are.
MEMBERS: Final = "members"
#: In the row of a flow: timeouts that expired while a link was down that keeps what waits; ``timeouts`` lacks them.
WAITED_OUT: Final = "waited_out"
#: In the row of a flow: whether all its bytes have arrived, so that no timer is awaited at its end.
COMPLETE: Final = "complete"
#: Names of disciplines in a sentence; a drop-tail queue has none.
DISCIPLINES: Final = {
    "cake": "CAKE",
    "cobalt": "COBALT",
    "codel": "CoDel",
    "dualpi2": "DualPI2",
    "fq-cobalt": "FQ-COBALT",
    "fq-codel": "FQ-CoDel",
    "fq-pie": "FQ-PIE",
    "pie": "PIE",
    "red": "RED",
    "rem": "REM",
    "threshold": "the marking threshold",
}
#: More names than this are counted, not listed.
_MOST_NAMES: Final = 4


def of_each(row: Mapping[str, Any], name: str) -> float:
    """A sum of a row, or of the flows of a group in the mean.

    >>> of_each({"timeouts": 8}, "timeouts"), of_each({"timeouts": 8, MEMBERS: 4}, "timeouts")
    (8.0, 2.0)
    """
    return float((row[name] or 0.0) / row.get(MEMBERS, 1))


def percent(share: float) -> str:
    """A share of a whole for reading: never "100 %" for nearly all, nor "0 %" for a little.

    >>> percent(0.974), percent(0.99996), percent(1.0), percent(0.001), percent(0.0)
    ('97 %', 'over 99.9 %', '100 %', 'under 1 %', '0 %')
    """
    if 0.9995 <= share < 1.0 - 1e-9:  # noqa: PLR2004
        return "over 99.9 %"
    if 0 < share < 0.005:  # noqa: PLR2004
        return "under 1 %"
    if 0.99 <= share < 1.0 - 1e-9:  # noqa: PLR2004
        return f"{share * 100:.1f} %"
    return f"{share * 100:.0f} %"


def small_percent(share: float) -> str:
    """A small share, such as one of losses, with two digits.

    >>> small_percent(0.0209), small_percent(0.33), small_percent(0.996)
    ('2.1 %', '33 %', '99.6 %')
    """
    return f"{share * 100:.2g} %" if share < 0.99 else percent(share)  # noqa: PLR2004


def between(low: str, high: str) -> str:
    """From one quantity to another, the unit only once where it is the same; one where they are equal.

    >>> between("2 %", "8 %"), between("20 ms", "1.5 s"), between("5 ms", "5 ms"), between("0", "3")
    ('2 to 8 %', '20 ms to 1.5 s', '5 ms', '0 to 3')
    """
    unit = high.rpartition(" ")[2]
    return high if low == high else f"{low.removesuffix(f' {unit}')} to {high}"


def span(values: Iterable[float], write: Callable[[float], str]) -> str:
    """From the least of some values to the largest, as they are written; one where that is the same.

    >>> span([0.02, 1.5, 0.3], ms), span([3, 3], str)
    ('20 ms to 1.5 s', '3')
    """
    ordered = sorted(values)
    return between(write(ordered[0]), write(ordered[-1]))


def lost_percent(row: Mapping[str, Any]) -> str:
    """The share of its packets that a flow lost; of flows of which one sentence is, from the least to the most.

    >>> lost_percent({"packets_sent": 50, "packets_dropped": 1})
    '2 %'
    >>> lost_percent({ALIKE: [{"packets_sent": 50, "packets_dropped": n} for n in (1, 4, 2)]})
    '2 to 8 %'
    """
    shares = [(each["packets_dropped"] or 0) / max(1, each["packets_sent"] or 0) for each in row.get(ALIKE, [row])]
    return span(shares, small_percent)


def timeouts(row: Mapping[str, Any]) -> str:
    """How many timeouts a flow had, or the least and the most of several flows, as words behind others."""
    counts = [each["timeouts"] or 0 for each in row.get(ALIKE, [row])]
    if not max(counts):
        return ""
    many = "s" if max(counts) > 1 else ""
    return f", with {span(counts, str)} timeout{many}{' each' if len(counts) > 1 else ''}"


def ms(seconds: float) -> str:
    """A time in the unit that suits it, of two or three digits.

    >>> ms(0.00004), ms(0.0202), ms(0.0998), ms(1.5), ms(2e-8)
    ('0.04 ms', '20.2 ms', '100 ms', '1.5 s', '0 ms')
    """
    if seconds >= 1:
        return f"{seconds:.3g} s"
    whole = seconds * 1000
    if whole < 0.0005:  # noqa: PLR2004
        return "0 ms"
    return f"{whole:.0f} ms" if whole >= 49.95 else f"{float(f'{whole:.3g}' if whole >= 10 else f'{whole:.2g}'):g} ms"  # noqa: PLR2004


def rate(bps: float) -> str:
    """A rate of three digits.

    >>> rate(9_961_234.0)
    '9.96 Mbit/s'
    """
    return units.format_rate(float(f"{bps:.3g}"))


def two_digits(bps: float, rounded: Callable[[float], int]) -> str:
    """A rate of two digits, rounded down or up.

    >>> two_digits(1_234_000.0, math.floor), two_digits(1_234_000.0, math.ceil)
    ('1.2 Mbit/s', '1.3 Mbit/s')
    """
    step = 10.0 ** (math.floor(math.log10(bps)) - 1)
    return units.format_rate(rounded(bps / step) * step)


def amount(number: float) -> str:
    """A number of packets: whole from ten on.

    >>> amount(167.2), amount(3.04)
    ('167', '3')
    """
    return grouped(f"{number:.0f}" if number >= 10 else f"{number:.2g}")  # noqa: PLR2004


def round_trips(number: float) -> str:
    """How many round trips something lasts.

    >>> round_trips(1.02), round_trips(2.86)
    ('1 round trip', '2.9 round trips')
    """
    said = amount(number)
    return f"{said} round trip{'' if said == '1' else 's'}"


def times(number: float) -> str:
    """How many times something is another thing.

    >>> times(6.02), times(0.094)
    ('6', '0.09')
    """
    return grouped(f"{number:.0f}") if number >= 9.5 else f"{number:.1g}" if number < 1 else f"{number:.2g}"  # noqa: PLR2004


def listed(names: Sequence[str], word: str = "and") -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"], "or")
    ('a', 'a, b or c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def sentence(text: str) -> str:
    """A text as a sentence begins.

    >>> sentence("queues add little")
    'Queues add little'
    """
    return text[:1].upper() + text[1:]


def by_number(names: Iterable[str]) -> list[str]:
    """Names by their numbers, those of one direction together.

    >>> by_number(["a[1].reverse", "a[10]", "a[9]", "a[0].reverse"])
    ['a[9]', 'a[10]', 'a[0].reverse', 'a[1].reverse']
    """
    return sorted(names, key=lambda name: (len(name), name))


def named(labels: Iterable[str]) -> str:
    """Names of flows in short: members of a group that follow one another by the first and the last.

    >>> named(["up[0]", "up[2]"]), named(f"f{n}" for n in range(9))
    ('up[0] and up[2]', 'f0, f1, f2 and 6 more')
    >>> named(f"up[{n}]" for n in (0, 1, 3, 5, 7, 9, 10))
    'up[0..1], up[3], up[5] and 3 more'
    """
    spans: list[tuple[str, int, int] | str] = []
    for label in labels:
        match = _ELEMENT.fullmatch(label)
        last = spans[-1] if spans else None
        if match is None:
            spans.append(label)
        elif isinstance(last, tuple) and last[0] == match[1] and last[2] + 1 == int(match[2]):
            spans[-1] = (match[1], last[1], int(match[2]))
        else:
            spans.append((match[1], int(match[2]), int(match[2])))
    names = [each if isinstance(each, str) else _members(*each) for each in spans]
    if len(names) > _MOST_NAMES:
        rest = sum(1 if isinstance(each, str) else each[2] - each[1] + 1 for each in spans[_MOST_NAMES - 1 :])
        names = [*names[: _MOST_NAMES - 1], f"{rest} more"]
    return listed(names) if names else ""


def family(name: str) -> str:
    """What names of a group have in common.

    >>> family("core[3]"), family("net.bottleneck")
    ('core[*]', 'net.bottleneck')
    """
    return _ELEMENT.sub(r"\1[*]", name)


def tier(link: str) -> tuple[str, bool]:
    """What links of a tier have in common: their name for both directions, and whether theirs is the reverse one.

    >>> tier("net.core[3].reverse")
    ('net.core[*]', True)
    """
    return family(link.removesuffix(".reverse")), link.endswith(".reverse")


def _members(stem: str, first: int, last: int) -> str:
    return f"{stem}[{first}]" if first == last else f"{stem}[{first}..{last}]"
