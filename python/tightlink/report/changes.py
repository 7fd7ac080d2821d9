"""What the factors of an experiment change most: responses ranked by how far their means move between levels.

Example:
    >>> levels = {"link.wire.queue": pl.DataFrame({
    ...     "link.wire.queue": ["10 packets", "80 packets"], "goodput_bps": [9.1e6, 9.4e6],
    ...     "queueing_delay_p95_s": [0.013, 0.107],
    ... })}
    >>> print(changes(levels, ["goodput_bps", "queueing_delay_p95_s"])[0].text)
    largest p95 queueing delay 13 → 107 ms
    >>> print(sentence(levels, ["goodput_bps", "queueing_delay_p95_s"]))
    The largest p95 queueing delay goes from 13 to 107 ms as link.wire.queue goes from 10 to 80 packets; \
goodput 9.10 → 9.40 Mbit/s.
    >>> levels = {"queue": pl.DataFrame({
    ...     "queue": [1, 4, 16], "queueing_delay_p95_s": [0.02, 0.1, 0.6], "bbr.share": [0.93, 0.11, 0.31]})}
    >>> print(sentence(levels, ["queueing_delay_p95_s", "bbr.share"]))
    The largest p95 queueing delay goes from 20 to 600 ms as queue goes from 1 to 16; \
share of bbr 93.0 → 31.0 % (least 11.0 at 4).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from tightlink.analysis.effects.factors import called
from tightlink.diagnosis import words
from tightlink.experiment.metrics import is_largest, is_mean_of_flows
from tightlink.experiment.precision import half_width
from tightlink.experiment.summary import width_of
from tightlink.lazy import pl
from tightlink.numbers import grouped, is_share
from tightlink.plots import labels

#: Digits of the larger of two means, and how many more there may be.
_DIGITS: Final = 3
_MORE: Final = 4
#: The factor that changes nothing but chance.
_SEED: Final = "seed"
#: Changes below this are not worth a sentence.
_LEAST: Final = 0.02
_MOST_TOLD: Final = 3
#: A change of another factor that is told beside the largest; how many are.
_MUCH: Final = 0.1
_MOST_OTHERS: Final = 2
_MOST_TOLD_OF_OTHERS: Final = 2
#: A change that is so much less of the response's largest, or of another factor's, is not told in place of it.
_MUCH_LESS: Final = 0.5
#: A mean that is so much of a change beyond it is told.
_FAR: Final = 0.2
#: Words of a quantity: a number and a unit.
_QUANTITY: Final = 2


#: Means of a response at the levels of a factor, by replication, which all levels have with the same seeds.
Replications: TypeAlias = Mapping[Any, Mapping[int, float]]
#: These of a factor and a response, where they are known.
Known: TypeAlias = Callable[[str, str], Replications]


@dataclass(frozen=True)
class Change:
    """How far a factor moves a response: the two levels whose means are furthest apart, in the order of levels."""

    factor: str
    response: str
    levels: tuple[Any, Any]
    means: tuple[float, float]
    size: float
    """From 0 to 1: the difference of the means over the largest of all levels, and itself where they are shares."""
    beyond: tuple[Any, float] | None = None
    """A level whose mean is not between the two, and that mean: the furthest."""

    @property
    def text(self) -> str:
        """Its response and its means in words: "goodput 9.10 → 9.40 Mbit/s (most 9.6 at 40 packets)"."""
        also = ""
        if self.beyond is not None:
            level, mean = self.beyond
            factor = self._axis.factor
            value, _ = _alike(mean * factor, self.means[0] * factor)
            also = f" ({'least' if mean < self.means[0] else 'most'} {value} at {called(level)})"
        return f"{response_name(self.response)} {self.means_in_words}{also}"

    @property
    def means_in_words(self) -> str:
        """Its means: "9.10 → 9.40 Mbit/s"."""
        low, high, unit = self.numbers
        return f"{low} → {high} {unit}".rstrip()

    @property
    def numbers(self) -> tuple[str, str, str]:
        """Its means, with as many digits as it takes to tell them apart, and their unit."""
        axis = self._axis
        unit = axis.title.removeprefix(labels.plain(self.response)).strip(" ()")
        return (*_alike(*(mean * axis.factor for mean in self.means)), unit)

    @property
    def _axis(self) -> labels.Axis:
        return labels.axis(self.response, max(map(abs, self.means)))

    @property
    def kind(self) -> str:
        """What responses have in common that say the same: goodput, fairness, delay or the response itself."""
        metric = self.response.rpartition(".")[2]
        if metric in {"share", "jain"}:
            return "fairness"
        return "delay" if is_delay(metric) else metric


def response_name(metric: str) -> str:
    """A metric of a run in words: "goodput", "largest p95 queueing delay", "flows' mean p95 RTT"."""
    of_all = "largest " if is_largest(metric) else "flows' mean " if is_mean_of_flows(metric) else ""
    return of_all + labels.plain(metric)


def is_delay(metric: str) -> bool:
    """Whether a metric is a delay: one way, of queues, or of round trips."""
    return metric.startswith(("queueing_delay_", "one_way_delay_", "rtt_"))


def changes(levels: Mapping[str, pl.DataFrame], responses: Sequence[str], known: Known | None = None) -> list[Change]:
    """How far each factor moves each response, the largest change first.

    Levels are as `tightlink.analysis.effects.levels.over_levels` gives them; ``known`` are the means by replication.

    Changes within their confidence intervals, where there are some, are left out: that of the differences in each
    replication where these are known, else those of the two means.
    """
    found = []
    for factor, table in levels.items():
        for response in responses:
            means = _means(table, response)
            there = sorted((place for place in range(len(means)) if math.isfinite(means[place])), key=means.__getitem__)
            if there:
                found.append(_between(table, factor, response, sorted((there[0], there[-1])), known))
    return sorted((change for change in found if change is not None), key=lambda change: -change.size)


def told(levels: Mapping[str, pl.DataFrame], responses: Sequence[str], known: Known | None = None) -> list[Change]:
    """The changes that the sentence tells of the factor that moves a response most; none where none does much."""
    levels = _without_seed(levels)
    return _told(levels, changes(levels, responses, known), known)


def _without_seed(levels: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    return {factor: table for factor, table in levels.items() if factor != _SEED}


def sentence(levels: Mapping[str, pl.DataFrame], responses: Sequence[str], known: Known | None = None) -> str:
    """What changes most, between which levels, what else changes between them, and what other factors do as much to.

    >>> levels = {
    ...     "queue": pl.DataFrame({"queue": [1, 4, 16], "rtt_p95_s": [0.1, 0.2, 0.9], "jain": [0.5, 0.9, 0.5]}),
    ...     "delay": pl.DataFrame({"delay": ["5 ms", "80 ms"], "rtt_p95_s": [0.3, 0.4], "jain": [0.4, 0.8]}),
    ... }
    >>> print(sentence(levels, ["rtt_p95_s", "jain"]))
    The flows' mean p95 RTT goes from 100 to 900 ms as queue goes from 1 to 16; Jain's index 0.500 → 0.900 from 1 to \
4. As delay goes from 5 to 80 ms: Jain's index 0.400 → 0.800.
    """
    levels = _without_seed(levels)
    found = changes(levels, responses, known)
    there = _told(levels, found, known)
    if not there:
        names = list(dict.fromkeys(map(response_name, responses)))
        return f"{words.sentence(words.listed(names))} changed little, or within their confidence intervals."
    most = there[0]
    also = "".join(f"; {change.text}{_apart(change, most)}" for change in there[1:])
    low, high, unit = most.numbers
    first, last = between(*map(called, most.levels))
    moved = f"{_with_article(most)} goes from {low} to {high} {unit}".rstrip()
    return f"{moved} as {most.factor} goes from {first} to {last}{also}." + _of_others(found, there)


def _with_article(change: Change) -> str:
    name = response_name(change.response)
    return name if name.startswith("Jain") else f"The {name}"


def _told(levels: Mapping[str, pl.DataFrame], found: Sequence[Change], known: Known | None) -> list[Change]:
    """The largest change, and one of each other kind between the same levels or, where it is much larger, its own."""
    if not found or found[0].size < _LEAST:
        return []
    most = found[0]
    table = levels[most.factor]
    names = table[most.factor].to_list()
    places = [names.index(level) for level in most.levels]
    largest = {change.response: change for change in found if change.factor == most.factor}
    others = []
    for response, own in largest.items():
        change = _between(table, most.factor, response, places, known)
        others.append(own if change is None or change.size < _MUCH_LESS * own.size else change)
    kinds = {most.kind: most}
    for change in sorted(others, key=lambda change: -change.size):
        if change.size >= _LEAST and len(kinds) <= _MOST_TOLD:
            kinds.setdefault(change.kind, change)
    return list(kinds.values())


def _apart(change: Change, most: Change) -> str:
    """Between which levels a change is, where these are not those of the largest one."""
    if change.levels == most.levels:
        return ""
    first, last = between(*map(called, change.levels))
    return f" from {first} to {last}"


def _of_others(found: Sequence[Change], there: Sequence[Change]) -> str:
    """What each other factor changes much, also beside what was told of the same response, one of each kind."""
    sizes = {change.response: change.size for change in there}
    factors: dict[str, dict[str, Change]] = {}
    for change in found:
        if change.factor != there[0].factor and change.size >= max(_MUCH, sizes.get(change.response, 0.0) * _MUCH_LESS):
            factors.setdefault(change.factor, {}).setdefault(change.kind, change)
    sentences = []
    for kinds in list(factors.values())[:_MOST_OTHERS]:
        most, *others = list(kinds.values())[:_MOST_TOLD_OF_OTHERS]
        first, last = between(*map(called, most.levels))
        also = "".join(f"; {change.text}{_apart(change, most)}" for change in others)
        sentences.append(f" As {most.factor} goes from {first} to {last}: {most.text}{also}.")
    return "".join(sentences)


def between(first: str, last: str) -> tuple[str, str]:
    """Two levels in words, the unit only once where it is the same.

    >>> between("10 packets", "80 packets"), between("reno", "cubic"), between("5 packets", "1 BDP")
    (('10', '80 packets'), ('reno', 'cubic'), ('5 packets', '1 BDP'))
    """
    one, other = first.split(" "), last.split(" ")
    return (one[0], last) if len(one) == len(other) == _QUANTITY and one[1] == other[1] else (first, last)


def _means(table: pl.DataFrame, response: str) -> list[float]:
    values = table[response].to_list() if response in table.columns else []
    return [math.nan if value is None else float(value) for value in values]


def _noise(table: pl.DataFrame, factor: str, response: str, places: Sequence[int], by: Replications) -> float:
    """What a difference of two rows must be beyond to be none of chance."""
    one, other = (by.get(level, {}) for level in table[factor][list(places)])
    differences = [other[number] - one[number] for number in one if number in other]
    if len(differences) > 1:
        return half_width(differences)
    width = width_of(response)
    return sum(table[width][place] or 0.0 for place in places) if width in table.columns else 0.0


def _between(
    table: pl.DataFrame, factor: str, response: str, places: Sequence[int], known: Known | None
) -> Change | None:
    """The change from one row to another; nothing where it is within its confidence interval."""
    means = _means(table, response)
    if not means:
        return None
    one, other = (means[place] for place in places)
    noise = _noise(table, factor, response, places, known(factor, response) if known else {})
    difference, largest = abs(other - one), max(map(abs, means))
    if not difference > noise:
        return None
    metric = response.rpartition(".")[2]
    # Differences of shares count as they are, others as shares of the largest mean.
    size = difference if is_share(metric) or metric.startswith("jain") else difference / largest
    names = table[factor].to_list()
    ends = (names[places[0]], names[places[1]])
    return Change(factor, response, ends, (one, other), min(size, 1.0), _beyond(names, means, (one, other), noise))


def _beyond(
    names: Sequence[Any], means: Sequence[float], ends: tuple[float, float], noise: float
) -> tuple[Any, float] | None:
    """The level whose mean is furthest from what lies between two, if that is far beside their difference."""
    low, high = sorted(ends)
    far = [max(low - mean, mean - high) if math.isfinite(mean) else 0.0 for mean in means]
    place = max(range(len(far)), key=far.__getitem__)
    return (names[place], means[place]) if far[place] > max(_FAR * (high - low), noise) else None


def _alike(one: float, other: float) -> tuple[str, str]:
    """Two numbers with the same decimals: three digits of the larger, more where it takes more to tell them apart.

    >>> _alike(71.98, 19.64), _alike(22.9, 299.3), _alike(0.02, 31.0), _alike(19.14, 19.12)
    (('72.0', '19.6'), ('23', '299'), ('0.02', '31.00'), ('19.14', '19.12'))
    """
    largest = max(abs(one), abs(other))
    least = max(0, _DIGITS - 1 - math.floor(math.log10(largest))) if largest else 0
    for decimals in range(least, least + _MORE):
        texts = f"{one:.{decimals}f}", f"{other:.{decimals}f}"
        if texts[0] != texts[1] and all(float(text) for text, value in zip(texts, (one, other), strict=True) if value):
            break
    return grouped(texts[0]), grouped(texts[1])
