"""What a flow's queue means for the connections that fill it: where else they wait, and how long their round trips are.

Example:
    >>> scenario = tl.loads('''
    ... profile = "linux"
    ... duration = "10 s"
    ... link.line = { ends = ["net", "home"], rate = "50 Mbit/s", delay = "10 ms", queue = "500 packets" }
    ... traffic.down = { kind = "bulk", from = "net", to = "home" }
    ... traffic.up = { kind = "bulk", from = "home", to = "net" }
    ... ''')
    >>> from tightlink.diagnosis.paths import Paths
    >>> run = tl.simulate(scenario)
    >>> paths, row = Paths(run), run.flows.row(0, named=True)
    >>> beside = Beside.of(Filling(run, paths), "line", row, paths.of("down"))
    >>> [link.name for link in beside.together], round(beside.rtt_s, 3)
    (['line', 'line.reverse'], 0.02)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tightlink.diagnosis.commands import Tried
from tightlink.diagnosis.filling import Filling
from tightlink.diagnosis.kinds import APART, MANAGED
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.path import Path

#: A queue is another one to change where packets wait for so much of what they wait at the first.
_SECOND: Final = 0.3
#: Where packets are so much smaller than full ones, many are ACKs or a call's, which a limit in packets counts alike.
SMALL: Final = 0.75


@dataclass(frozen=True)
class Beside:
    """The connections that share a queue with a flow, itself included."""

    together: tuple[Link, ...] = ()
    """That link and another one where they wait for data, such as that of the other direction, if there is one."""
    elsewhere: Link | None = None
    """Without a second one, the longest other queue that somebody fills, where they may wait instead."""
    acked: frozenset[str] = frozenset()
    """Which of these links carry many ACKs."""
    rtt_s: float = 0.0
    """The longest round trip of an empty path of theirs; none where there are datagrams alone."""

    @classmethod
    def of(cls, filling: Filling, where: str, row: Mapping[str, Any], path: Path) -> Beside:
        """Those that fill the queue of a link while the flow of a row lasts."""
        paths = filling.connections(where, row) + ([] if path.tcp is None else [path])
        if not paths:
            return cls()
        # Datagrams wait at other links of their own path, too, which others may fill.
        every = {link.name: link for each in (*paths, path) for link in (*each.forward, *each.reverse)}
        first, full = every.get(where), max(each.packet_bytes for each in paths)
        longest_s = max(each.unfilled_rtt_s for each in paths)
        if first is None:
            return cls(rtt_s=longest_s)
        filled = _filled(filling, first, [*every.values()], row)
        also = next((each for each in filled if _waits_s(each, each) >= _SECOND * _waits_s(first, each)), None)
        links = (first, *filled[:1]) if also is None else (first, also)
        acked = {link.name for link in links if filling.returns(link) and link.mean_bytes < SMALL * full}
        together = () if also is None else _in_order(first, also)
        return cls(together, filled[0] if filled and also is None else None, frozenset(acked), longest_s)

    def with_elsewhere(self, link: Link) -> Beside:
        """The same with the other queue as one that is changed together with that of a link."""
        return self if self.elsewhere is None else replace(self, together=_in_order(link, self.elsewhere))


def _in_order(*links: Link) -> tuple[Link, ...]:
    return tuple(sorted(links, key=lambda link: link.name))


def _filled(filling: Filling, first: Link, links: Sequence[Link], row: Mapping[str, Any]) -> list[Link]:
    """The other queues that somebody fills, where somebody fills the first, the longest first."""
    if not filling.of(first.name, row):
        return []
    found = [
        link for link in links if link is not first and link.discipline not in APART and filling.of(link.name, row)
    ]
    return sorted(found, key=lambda link: -link.queueing_s)


def _waits_s(link: Link, like: Link) -> float:
    """The wait at a link that is compared with another's: the mean, or the p95 beside a discipline."""
    p95_s = link.queueing_p95_s
    return link.queueing_s if p95_s is None or like.discipline not in MANAGED else p95_s


@dataclass(frozen=True)
class Others:
    """Those who share a flow's queues."""

    controls: Sequence[str] = ()
    """Of those in the queue that adds most to its delay; empty for datagrams."""
    alike: bool = True
    """Whether those on its busiest link have parts that are not far from equal, and would with a shorter queue."""
    fill: Mapping[str, str] = field(default_factory=dict)
    """Controls of those that fill the queue that adds most to its delay, by names; empty for datagrams."""
    slower: Tried | None = None
    """Rates at which datagrams that fill that queue would fit."""
    in_turn: Tried | None = None
    """A rate of datagrams beside TCP at which they would fit into their turn, if that queue gave turns."""
    needless: bool = False
    """Whether a flow retransmits much that was not lost, and no datagrams wait behind it in a queue without turns."""
    own_class: Tried | None = None
    """A class for who sends at a rate and waits behind connections in a queue that tells classes apart."""
    ordered: Tried | None = None
    """A strict queue for datagrams that have a class where the queue tells none apart."""
    marks: Sequence[Tried] = ()
    """That all on its busiest link answer its marks alike, where who does not gets nearly all; or have other marks."""
    burst: Tried | None = None
    """A burst that takes what media send at once, where a policer drops them."""
    spread: Tried | None = None
    """Frames that do not leave at once, where these fill that queue or are lost there."""
    own_frames: Tried | None = None
    """The same of frames of which packets are lost that take their turn, whatever others do."""
    beside: Beside = field(default_factory=Beside)
    """Of the connections that fill that queue."""
    load: float = 0.0
    """What open-loop transfers ask of their busiest link, of what it carries."""
    flows: int = 1
    """How many share the busiest link."""
    groups: frozenset[str] = frozenset()
    """Traffic groups of the flows that are told of; empty for that of the one whose path it is."""
    alone: bool = True
    """Whether no other group of connections shares the busiest link."""
