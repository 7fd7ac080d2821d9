"""The diagnosis of open-loop transfers: how much longer they take than on an empty path, and why."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis import queueing
from tightlink.diagnosis.answers import ALWAYS, Cause, Delay, Diagnosis, named_causes, to_try
from tightlink.diagnosis.commands import Changed
from tightlink.diagnosis.filling import Filling, filled_by
from tightlink.diagnosis.kinds import APART
from tightlink.diagnosis.paths import paths_of
from tightlink.diagnosis.transfer_causes import causes, lost_at, lost_share
from tightlink.diagnosis.transfer_help import fills, helps
from tightlink.diagnosis.under_way import Group, UnderWay
from tightlink.diagnosis.words import ms, percent, sentence, times
from tightlink.numbers import grouped, several

if TYPE_CHECKING:
    from tightlink.run import Run

#: How much longer than on an empty path is not worth a word.
_AS_LONG: Final = 1.05
#: From so many transfers on the 99th percentile is not the slowest.
_HUNDRED: Final = 100
#: A link that so much of their bytes take is on the way of all.
_ALL: Final = 0.999
#: A percentile that is no larger than that is not said beside the mean; waits that are so much less are little.
_ABOVE, _LITTLE = 1.05, 0.1
#: Causes whose words say how sure they are.
_OWN: Final = frozenset({"saturated_link", "handshake", "timeouts"})


def of_transfers(run: Run, rows: Sequence[Mapping[str, Any]], filling: Filling, changed: Changed) -> list[Diagnosis]:
    """What bounds the transfers of a run, by the rows of the table ``flows`` that are groups of them."""
    whole = {row["label"]: row for row in run.completion_times.iter_rows(named=True) if row["size_class"] == "all"}
    under_way = UnderWay(run, paths_of(run))
    return [_diagnosis(run, Group(under_way, row), whole[row["label"]], filling, changed) for row in rows]


def _diagnosis(run: Run, group: Group, took_: Mapping[str, Any], filling: Filling, changed: Changed) -> Diagnosis:
    waits = _delay(run, group, filling)
    found = causes(group, waits, group.paths)
    help_ = helps(run, group, took_, found, filling=filling, changed=changed)
    words = [completed(took_), *_spent(found.causes, overload=bool(found.overloaded)), sentence(waits.text)]
    if (where := lost_at(group)) and not any(lost_share(group) in text for text in words[1:]):
        words.append(f"{lost_share(group)} of their packets are lost, most at {where}")
    return Diagnosis((group.row["label"],), found.causes, waits, help_, ". ".join([*words, *to_try(help_)]) + ".")


def _spent(found: Sequence[Cause], *, overload: bool) -> list[str]:
    """What their time is spent on, in sentences: the first cause, and the second where that is not nearly all.

    An outage is named in any case: few wait for it, and long.
    """
    told = named_causes(found)
    told += [cause for cause in found if cause.name == "outage" and cause not in told]
    sentences = []
    for cause in told:
        text = cause.text if cause.name in _OWN else cause.said
        always = (cause.share or 0.0) >= ALWAYS or (overload and cause is found[0])
        sentences.append(sentence(text if always else f"for {percent(cause.share or 0.0)} of their time {text}"))
    return sentences


def _delay(run: Run, group: Group, filling: Filling) -> Delay:
    """What queues add to the round trips of a group's own packets, and which of its links' adds most."""
    where, whole = _waits_at(group)
    path = group.path(where)
    found = queueing.delay(group.row, path, fill=lambda link: filled_by(fills(run, group, link, filling)))
    base_s = path.base_rtt_s if whole else group.base_rtt_s
    upper = f" ({ms(found.p95_s)} at p95)" if found.p95_s is not None and found.p95_s > _ABOVE * found.mean_s else ""
    if found.mean_s < _LITTLE * base_s:
        text = f"queues add {ms(found.mean_s)}{upper} to a base RTT of {ms(base_s)}"
    elif whole:
        return found
    else:
        behind = filled_by(fills(run, group, found.where, filling))
        who = f", {behind}" if behind else ""
        text = f"queues, most that of {found.where}{who}, add {ms(found.mean_s)}{upper} to a base RTT of {ms(base_s)}"
    return replace(found, base_s=base_s, text=text)


def _waits_at(group: Group) -> tuple[str, bool]:
    """The link on the way there at which a group's packets wait longest, and whether all of them take it.

    Where a queue tells flows or classes apart, they wait no longer than is left of their own waits.
    """
    waits = {used.link.name: used.part * used.link.queueing_s for used in group.there}
    apart = {used.link.name for used in group.there if used.link.discipline in APART}
    own_s = group.row["queueing_delay_mean_s"]
    if own_s is not None:
        left_s = max(0.0, own_s - sum(wait for name, wait in waits.items() if name not in apart))
        waits |= {name: min(waits[name], left_s) for name in apart}
    worst = max(group.there, key=lambda used: waits[used.link.name])
    return worst.link.name, worst.part >= _ALL


def completed(row: Mapping[str, Any]) -> str:
    """How many transfers were complete, and how much longer they took than on an empty path."""
    done, every = row["transfers"] - row["unfinished"], row["transfers"]
    said = f"{grouped(done)} of {several(every, 'transfer')} {'was' if every == 1 else 'were'} complete at the end"
    median, p99 = row["slowdown_p50"], row["slowdown_p99"]
    if median is None:
        return said
    if p99 is not None and p99 < _AS_LONG:
        return f"{said}; {'it' if done == 1 else 'they'} took as long as on an empty path"
    if done == 1:
        return f"{said}; it took {times(median)} times as long as on an empty path"
    # Those that were not complete are slower than all that were. Of fewer than a hundred it is the slowest.
    at = "at 99 %" if every >= _HUNDRED else "at most"
    slowest = "" if p99 is None else f", {times(p99)} times{' as long' if median < _AS_LONG else ''} {at}"
    usual = "as long" if median < _AS_LONG else f"{times(median)} times as long"
    return f"{said}; they took {usual} as on an empty path in the median{slowest}"


def took(flows: Sequence[tuple[float | None, float | None]]) -> str:
    """How long flows with given bytes took, and how much longer than on an empty path; nothing of flows without end.

    Args:
        flows: Completion time in seconds and slowdown of each, none where it was not complete at the end.

    >>> took([(0.2915, 1.81)]), took([(0.2, 1.0), (0.4, 2.0), (None, None)]), took([(None, None)])
    ('took 292 ms, 1.8 times as long as on an empty path; ', 'took 400 ms in the median, 2 times as long as on an \
empty path, and 1 of 3 was not complete at the end; ', 'was not complete at the end; ')
    """
    left = sum(time_s is None for time_s, _ in flows)
    said = []
    if 2 * left < len(flows):
        # Those that were not complete are slower than all that were.
        every = [(math.inf, math.inf) if None in each else each for each in flows]
        time_s, slowdown = (statistics.median(values) for values in zip(*every, strict=True))
        usual = " in the median" if len(flows) > 1 else ""
        than = "as long" if slowdown < _AS_LONG else f"{times(slowdown)} times as long"
        said.append(f"took {ms(time_s)}{usual}, {than} as on an empty path")
    if left:
        verb = "was" if left == 1 else "were"
        said.append(f"{f'{left} of {len(flows)} ' if len(flows) > 1 else ''}{verb} not complete at the end")
    return f"{', and '.join(said)}; " if said else ""
