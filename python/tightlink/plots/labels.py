"""What axes and tables call a column: words, and the unit in a readable scale."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from tightlink import reduce
from tightlink.lazy import pl
from tightlink.numbers import NOTHING, grouped, is_share, percent


@dataclass(frozen=True)
class Axis:
    """A title with its unit, and what values are multiplied with to be in that unit."""

    title: str
    factor: float = 1.0


#: By the end of a column's name: the unit, and the scales that it is written in, smallest first.
_UNITS: Final[dict[str, tuple[tuple[str, float], ...]]] = {
    "_bps": (("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("Tbit/s", 1e12)),
    "_bytes": (("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)),
    "_s": (("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)),
}
#: Units of the time since the beginning, and the end of the axis from which on each is taken.
_TIME: Final = "time_s"
_LONG: Final[tuple[tuple[str, float, float], ...]] = (("h", 3600.0, 5 * 3600.0), ("min", 60.0, 1800.0))
_COUNTS: Final = {"_packets": "packets", "_pps": "packets/s", "_bdp": "BDP"}
_SHARES_OF_GROUPS: Final = ("share", "loss")
#: What is at most 1: shares of a whole, which loads may exceed, and Jain's index.
_AT_MOST_ONE: Final = re.compile(r"(?:[^.]+\.)?(?:utilization|loss|share|jain)|limited_by_\w+")
#: How far sums of shares may be off, relatively.
_ROUNDING: Final = 1e-9
#: Columns with a title of their own; sizes of packets stay in bytes.
_OWN: Final = {"packet_bytes": "packet size (B)", "packets_per_s": "packet rate (packets/s)"}
#: Effects below this share of the mean have a decimal.
_SMALL: Final = 0.1
#: From here on a value is written in the next larger unit.
_LEAST: Final = 1.0
#: The unit of times that are all nothing: that of delays.
_OF_NOTHING: Final = "ms"
#: What differs by less than this share of its size looks as if it did not.
_STILL: Final = 0.01
_WORDS: Final = {
    "cwnd": "congestion window",
    "ssthresh": "slow-start threshold",
    "rtt": "round-trip time",
    "seq": "sequence number",
    "bytes_out": "bytes transmitted",
    "flow": "number",
    "label": "flow",
    "packets_retransmitted": "packets retransmitted",
    "jitter_mean": "mean jitter",
    "queue_mean": "mean queue",
    "queue_max": "largest queue",
    "one_way_delay": "one-way delay",
    "receiver_window": "receiver's window",
    "sent": "payload sent",
    "acknowledged": "payload acknowledged",
    "jain": "Jain's index",
}
#: Of columns that summarize a delay: which delay, and how.
_SUMMARY: Final = re.compile(
    r"(?:(?P<of>one_way_delay|queueing_delay|delay_variation|rtt)_)?(?P<how>mean|min|median|p50|p95|p99|max|largest)"
)
_HOW: Final = {"p50": "median", "min": "smallest", "max": "largest"}
#: Metrics of a traffic group, whose columns are GROUP.METRIC.
_OF_GROUP: Final = re.compile(r"([^.]+)\.(share|jain|loss|goodput|\w+_(?:mean|p95))")


def axis(column: str, largest: float | None = None) -> Axis:
    """Title and scale of a column; of a time since the beginning in minutes from half an hour on, from five in hours.

    Args:
        column: Name with the unit at its end, as the tables have it.
        largest: The largest absolute value, which decides the prefix; without it there is none.

    >>> axis("time_s", 10.0), axis("one_way_delay_mean_s", 0.07), axis("utilization")
    (Axis(title='time (s)', factor=1.0), Axis(title='mean one-way delay (ms)', factor=1000.0), \
Axis(title='utilization (%)', factor=100.0))
    >>> axis("time_s", 6960.0).title, axis("time_s", 86400.0).title, axis("completion_time_s", 6960.0).title
    ('time (min)', 'time (h)', 'completion time (s)')
    """
    if column in _OWN:
        return Axis(_OWN[column])
    if column == _TIME:
        for unit, size, least in _LONG:
            if largest is not None and largest >= least:
                return Axis(f"{words('time')} ({unit})", 1.0 / size)
    of_group = _OF_GROUP.fullmatch(column)
    if (is_share(column) and not column.startswith("share")) or (of_group and of_group[2] in _SHARES_OF_GROUPS):
        return Axis(f"{words(column)} (%)", 100.0)
    for ending, scales in _UNITS.items():
        if column.endswith(ending):
            unit, size = _scale(scales, largest)
            return Axis(f"{words(column.removesuffix(ending))} ({unit})", 1.0 / size)
    for ending, unit in _COUNTS.items():
        if column.endswith(ending):
            return Axis(f"{words(column.removesuffix(ending))} ({unit})")
    return Axis(words(column))


def largest(frame: pl.DataFrame, column: str) -> float | None:
    """The largest absolute value of a column of numbers, if there is one that is finite."""
    if not frame.schema[column].is_numeric():
        return None
    values = frame[column].cast(pl.Float64)
    found = values.filter(values.is_finite()).abs().max()
    return (found if found >= NOTHING else 0.0) if isinstance(found, float) else None


def summarized(column: str) -> str:
    """The delay that a column summarizes, so that columns beside each other have one unit; of others the column itself.

    >>> summarized("rtt_p95_s"), summarized("largest_s"), summarized("goodput_bps")
    ('rtt', '', 'goodput_bps')
    """
    found = _SUMMARY.fullmatch(column.removesuffix("_s")) if column.endswith("_s") else None
    return found["of"] or "" if found else column


def still(values: pl.Series) -> bool:
    """Whether values differ so little beside their size that an axis without a zero would show nothing but rounding.

    >>> still(pl.Series([0.187, 0.188])), still(pl.Series([0.020, 0.023])), still(pl.Series([0.0, 1.0]))
    (True, False, False)
    """
    finite = values.cast(pl.Float64).drop_nulls().drop_nans()
    return not finite.is_empty() and reduce.smallest(finite) >= (1 - _STILL) * reduce.largest(finite) >= 0


def axis_of(frame: pl.DataFrame, column: str) -> Axis:
    """Title and scale of a column by the values that it has.

    >>> axis_of(pl.DataFrame({"goodput_bps": [float("nan"), 2e6, None]}), "goodput_bps").title
    'goodput (Mbit/s)'
    """
    return axis(column, largest(frame, column))


def most_of(column: str, largest: float | None = None) -> float | None:
    """The largest value that a column can have, where there is one; none if it has a larger one nevertheless.

    >>> most_of("utilization", 1.0000000000004), most_of("web.share"), most_of("load"), most_of("loss", 2.0)
    (1.0, 1.0, None, None)
    """
    bounded = _AT_MOST_ONE.fullmatch(column) is not None
    return 1.0 if bounded and (largest is None or largest <= 1 + _ROUNDING) else None


def axis_drawn(column: str, title: str) -> Axis | None:
    """The axis of a column by the title that it was given already; none if that is of something else.

    >>> axis_drawn("goodput_bps", "goodput (kbit/s)"), axis_drawn("goodput_bps", "time (s)")
    (Axis(title='goodput (kbit/s)', factor=0.001), None)
    >>> axis_drawn("time_s", "time (h)").factor == 1 / 3600
    True
    """
    sizes = [size for ending, scales in _UNITS.items() if column.endswith(ending) for _, size in scales]
    found = (axis(column, size) for size in (*sizes, *(least for _, _, least in _LONG)))
    return next((each for each in found if each.title == title), None)


def plain(column: str) -> str:
    """A column's name in words, without its unit.

    >>> plain("goodput_bps"), plain("queue_mean_packets")
    ('goodput', 'mean queue')
    """
    ending = next((ending for ending in (*_UNITS, *_COUNTS) if column.endswith(ending)), "")
    return words(column.removesuffix(ending))


def told_apart(columns: Iterable[str]) -> dict[str, str]:
    """Names in words without units, by column; the column's own name where two would be called the same.

    >>> told_apart(["goodput_bps", "queue_packets", "queue_s"])
    {'goodput_bps': 'goodput', 'queue_packets': 'queue_packets', 'queue_s': 'queue_s'}
    """
    names = {column: plain(column) for column in columns}
    called = list(names.values())
    return {column: name if called.count(name) == 1 else column for column, name in names.items()}


def words(column: str) -> str:
    """A column's name in words.

    >>> words("cwnd"), words("packets_sent"), words("rtt_p95"), words("bulk.queueing_delay_p95")
    ('congestion window', 'packets sent', 'p95 RTT', 'p95 queueing delay of bulk')
    """
    if of_group := _OF_GROUP.fullmatch(column):
        return f"{words(of_group[2])} of {of_group[1]}"
    summary = _SUMMARY.fullmatch(column)
    if summary is not None and summary["of"]:
        of = "RTT" if summary["of"] == "rtt" else words(summary["of"])
        return f"{_HOW.get(summary['how'], summary['how'])} {of}"
    return _WORDS.get(column, column.replace("_", " "))


def shortest(names: Iterable[str]) -> dict[str, str]:
    """The end of each dotted path that tells it from the others.

    >>> shortest(["net.a.queue", "net.b.queue", "flows"])
    {'net.a.queue': 'a.queue', 'net.b.queue': 'b.queue', 'flows': 'flows'}
    """
    paths = {name: name.split(".") for name in names}
    found = {}
    for name, path in paths.items():
        others = [other for each, other in paths.items() if each != name]
        parts = 1
        while parts < len(path) and any(other[-parts:] == path[-parts:] for other in others):
            parts += 1
        found[name] = ".".join(path[-parts:])
    return found


def effect(effect: float | None, relative: float, mark: str, factor: float) -> str:
    r"""An effect with its mark, and below it the effect as a share of the mean; one of logarithms is a factor.

    >>> effect(-2e6, -0.051, "**", 1e-6), effect(None, 0.5, "", 1.0)
    ('−2 **\n−5.1 %', '× 1.5\n+50 %')
    """
    if effect is None:
        number = "" if math.isnan(relative) else f"× {1 + relative:.3g}"
    else:
        number = grouped(f"{effect * factor:+.3g}") if math.isfinite(effect) else ""
    share = [percent(relative, decimals(relative), signed=True)] if math.isfinite(relative) else []
    return "\n".join([f"{number} {mark}".strip(), *share])


def decimals(share: float) -> int:
    """How many decimals an effect beside the mean has in per cent."""
    return 1 if abs(share) < _SMALL else 0


def apart(heights: Mapping[str, float], least: float) -> dict[str, float]:
    """Heights at which labels stand at least so far apart, about where they belong.

    >>> apart({"a": 1.0, "b": 1.0, "c": 9.0}, 2.0)
    {'a': 0.0, 'b': 2.0, 'c': 9.0}
    """
    stacks: list[list[str]] = []

    def bottom(stack: list[str]) -> float:
        return sum(heights[name] - place * least for place, name in enumerate(stack)) / len(stack)

    for name in sorted(heights, key=heights.__getitem__):
        stacks.append([name])
        # A stack that reaches into the one below becomes part of it, and both settle about their middle.
        while len(stacks) > 1 and bottom(stacks[-1]) < bottom(stacks[-2]) + least * len(stacks[-2]):
            stacks[-2:] = [stacks[-2] + stacks[-1]]
    return {name: bottom(stack) + place * least for stack in stacks for place, name in enumerate(stack)}


def _scale(scales: tuple[tuple[str, float], ...], largest: float | None) -> tuple[str, float]:
    if not largest:
        wanted = None if largest is None else _OF_NOTHING
        plain = next(scale for scale in scales if scale[1] == _LEAST)
        return next((scale for scale in scales if scale[0] == wanted), plain)
    fitting = [scale for scale in scales if abs(largest) / scale[1] >= _LEAST]
    return fitting[-1] if fitting else scales[0]
