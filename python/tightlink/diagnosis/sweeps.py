"""What a sweep would show of a suggestion that chooses a rate, a queue or a control.

Example:
    >>> made = [Suggestion("a rate of 2 Mbit/s for camera", "", {"traffic.camera.rate": "2 Mbit/s"})]
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "3 Mbit/s", delay = "20 ms" }
    ... traffic.camera = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s" }
    ... ''')
    >>> from tightlink.diagnosis.paths import Paths
    >>> swept(Paths(tl.simulate(scenario)).of("camera"), made)[1:]
    ('traffic.camera.rate', ('1 Mbit/s', '1.5 Mbit/s', '2 Mbit/s', '2.5 Mbit/s', '3 Mbit/s'))
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tightlink import units
from tightlink.diagnosis.answers import Suggestion
from tightlink.diagnosis.kinds import DEAF
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.queue_lengths import holds
from tightlink.diagnosis.words import between, listed

#: What is tried: lengths of a queue by what the path holds, parts of a rate or of a number of flows, kinds of queues,
#: congestion controls.
_LENGTHS: Final = (0.25, 0.5, 1, 2, 4)
_PARTS: Final = (0.5, 0.75, 1, 1.25, 1.5)
_KINDS: Final = ("drop-tail", "codel", "pie", "fq-codel")
_CONTROLS: Final = ("reno", "cubic", "bbr")
#: Kinds of queues that mark by default.
_MARKING: Final = ("fq-codel", "cake", "dualpi2")
#: Recoveries that tell of each packet, as BBR needs.
SELECTIVE: Final = ("sack", "rack")
#: A queue of fewer packets drops the bursts that delayed ACKs make.
_SHORTEST: Final = 4


def swept(path: Path, made: Sequence[Suggestion]) -> tuple[str, str, tuple[str | int, ...]] | None:
    """What a sweep would show of the first suggestion that chooses a queue or a control: text, key, levels."""
    # Without the shaper in front of it, another length of its queue would be that of another link.
    alone = [each for each in made if not any(key.endswith(".shaper") for key in each.changes) and _is_of_kind(each)]
    for key, value in [item for each in alone for item in each.changes.items()]:
        if key.endswith((".rate", ".flows")) and len(alone[0].changes) == 1:
            return _parts(key, value)
        if key.endswith(".tcp.congestion"):
            able = _CONTROLS if (path.tcp or {})["recovery"] in SELECTIVE else tuple(set(_CONTROLS) - DEAF)
            return "a sweep over controls", key, tuple(dict.fromkeys((path.congestion, *able)))
        if key.endswith(".queue.mark"):
            least = int(str(value).split()[0])
            lengths = sorted({max(1, math.ceil(least * times)) for times in _LENGTHS})
            return (
                f"a sweep of marks from {lengths[0]} to {lengths[-1]} packets",
                key,
                tuple(f"{each} packets" for each in lengths),
            )
        if key.endswith(".queue") and not isinstance(value, str):
            kinds = (*_KINDS, *({value["kind"]} - {*_KINDS}))
            # The others drop by default, which is not what makes their delay.
            marking = listed([kind for kind in kinds if kind in _MARKING])
            marks = f" (those that mark: {marking})" if (path.tcp or {}).get("ecn") else ""
            return f"a sweep over kinds of queues{marks}", f"{key}.kind", kinds
        if key.endswith(".queue"):
            link = next(each for each in (*path.forward, *path.reverse) if key == f"{each.key}.queue")
            lengths = _lengths(link, path, int(value.split()[0]))
            levels = tuple(f"{each} packets" for each in lengths)
            return f"a sweep from {lengths[0]} to {lengths[-1]} packets", key, levels
    return None


def _parts(key: str, value: str | int) -> tuple[str, str, tuple[str | int, ...]]:
    """A sweep of a rate, or of a number of flows, around what is tried."""
    if isinstance(value, int):
        flows = sorted({max(1, round(times * value)) for times in _PARTS})
        return f"a sweep from {flows[0]} to {flows[-1]} flows", key, tuple(flows)
    rates = [units.format_rate(float(f"{times * units.rate(value):.2g}")) for times in _PARTS]
    return f"a sweep of rates from {between(rates[0], rates[-1])}", key, tuple(rates)


def _is_of_kind(suggestion: Suggestion) -> bool:
    """Whether its queue is one that is given no times, which no sweep over kinds would give it."""
    queues = [value for key, value in suggestion.changes.items() if key.endswith(".queue") and isinstance(value, dict)]
    return not queues or (len(queues) == 1 and "interval" not in queues[0])


def _lengths(link: Link, path: Path, tried: int) -> list[int]:
    """Lengths of a queue around what the path holds, in packets, with its own and the one that is tried first."""
    limit, one = link.limit_packets(path.packet_bytes), holds(link, path)
    found = {math.ceil(times * one) for times in _LENGTHS} | {tried, tried if limit is None else math.floor(limit)}
    return sorted(each for each in found if each >= _SHORTEST)
