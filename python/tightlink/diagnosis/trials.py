"""What a change of a scenario does, by simulating it: whom it helps, and what it costs others that share the network.

Example:
    >>> run = tl.simulate(tl.loads('''
    ... profile = "linux"
    ... duration = "20 s"
    ... link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "24 ms", queue = "2 BDP" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b", flows = 2 }
    ... traffic.bursty = { kind = "on-off", from = "a", to = "b", rate = "5 Mbit/s", on = "500 ms", off = "500 ms" }
    ... '''))
    >>> tried = Trials(run).of({"link.w.queue": {"kind": "fq-codel"}})
    >>> tried.helps, tried.costs
    (True, ['bursty loses 14 % in place of 3.1 % and waits 111 ms in place of 77 ms'])
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

from tightlink import control
from tightlink.diagnosis.kinds import MANAGED, SCALABLE
from tightlink.diagnosis.words import ms, percent, small_percent
from tightlink.errors import ScenarioError
from tightlink.lazy import _core
from tightlink.scenario.overrides import kinds_at

if TYPE_CHECKING:
    from tightlink.run import Run

#: Packet-hops that the trials of a run take in all, which is about a second.
_MOST_HOPS: Final = 2_000_000
#: Less of a rate, or of a time, is what another seed changes, too; and a change that brings less helps nobody.
_COSTS, _GAINS = 0.15, 0.02
#: Losses that are fewer by so many standard deviations, each by itself, are not so by chance.
_ERRORS: Final = 2.0
#: Losses of datagrams, and waits, are worth a word where they are more by so much: a share, and seconds.
_LOST, _WAITS_S = 0.01, 0.005
#: So are those of one flow of a group, of so many packets at least, as other seeds have others of them lose.
_LOST_OF_ONE, _MANY = 0.02, 100
#: Of waits that are long at times only, which other seeds move further.
_WAITS_P95_S: Final = 0.01
#: What leaves all connections together less than this share of what they had helps none of them by as much.
_LEFT: Final = 0.5
#: Of TCP, which loses packets to learn of full queues, a larger share.
_LOST_OF_TCP: Final = 0.05
#: Traffic of which the rate, or the time that it takes, is all that matters.
_UNHURRIED: Final = frozenset({"bulk", "saturate", "transfers"})
_SIMULATED: Final = "simulation"
_FOUND: Final[WeakKeyDictionary[Run, dict[str, Effect | None]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Effect:
    """What a change does."""

    helps: bool
    """Whether anybody gets more, waits less, or loses less."""
    costs: list[str]
    """What it costs, in words, by traffic groups."""
    delays: bool = False
    """Whether somebody waits longer, for whom that matters."""
    harms: frozenset[str] = frozenset()
    """Traffic groups whom it costs something and brings nothing."""


@dataclass
class _Group:
    """What the flows of a traffic group have got."""

    datagrams: bool = False
    scalable: bool = False
    """Whether their control keeps queues short: they are sent for the sake of that."""
    goodput_bps: float = 0.0
    sent: int = 0
    dropped: int = 0
    most_lost: float = 0.0
    """The largest share that one of its flows lost."""
    retransmitted: int = 0
    delivered: int = 0
    waited_s: float = 0.0
    """Of all their packets in queues."""
    waits_p95_s: float = 0.0
    """What one in twenty of the packets waits at least, of the flow of which that is longest."""
    rtts_s: float = 0.0
    """Mean round trips, each as often as packets were delivered."""
    frames: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """Of a video: sent, and complete."""
    slowdown: float | None = None
    """Mean of the open-loop transfers that are complete."""
    slowest: float = 0.0
    """The largest slowdown that is known of them."""
    unfinished: float = 0.0
    """The share of them that are not complete."""

    def add(self, row: Mapping[str, Any]) -> None:
        """Count what a flow has got."""
        self.datagrams = row["transport"] == "udp"
        self.scalable = row["congestion"] in SCALABLE
        self.goodput_bps += _number(row["goodput_bps"])
        sent, dropped = (int(_number(row[name])) for name in ("packets_sent", "packets_dropped"))
        self.sent += sent
        self.dropped += dropped
        self.most_lost = max(self.most_lost, dropped / max(_MANY, sent))
        self.retransmitted += int(_number(row["packets_retransmitted"]))
        delivered = int(_number(row["packets_delivered"]))
        self.delivered += delivered
        waits_s = _number(row["queueing_delay_mean_s"])
        self.waited_s += delivered * waits_s
        # On links whose delay changes waits have no percentiles.
        longer_s = _number(row["one_way_delay_p95_s"]) - _number(row["one_way_delay_mean_s"])
        self.waits_p95_s = max(self.waits_p95_s, _number(row["queueing_delay_p95_s"], longer_s + waits_s))
        self.rtts_s += delivered * _number(row["rtt_mean_s"])
        for place, name in enumerate(("frames_sent", "frames_complete")):
            self.frames[place] += _number(row[name])

    @property
    def lost(self) -> float:
        """The share of their packets that were lost."""
        return self.dropped / max(1, self.sent)

    @property
    def complete(self) -> float:
        """The share of the frames of a video that are complete."""
        return self.frames[1] / (self.frames[0] or 1.0)

    @property
    def waits_s(self) -> float:
        """What a packet waits in queues."""
        return self.waited_s / max(1, self.delivered)

    @property
    def rtt_s(self) -> float:
        """The mean round trip."""
        return self.rtts_s / max(1, self.delivered)


class Trials:
    """Trials of changes of a run's scenario, as long as these take no time to speak of."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._hops = run.manifest.get("packet_hops") or math.inf
        self._known = _FOUND.setdefault(run, {})

    def of(self, changes: Mapping[str, Any]) -> Effect | None:
        """What a change does; nothing where it is not tried: of what was measured, and of long runs."""
        key = json.dumps(changes, sort_keys=True)
        if key not in self._known:
            self._known[key] = self._try(changes) if self._can else None
        return self._known[key]

    @property
    def _can(self) -> bool:
        run, made = self._run, sum(each is not None for each in self._known.values())
        as_now = run.manifest.get("engine_behaviour") == _core.engine_behaviour and "part_until_s" not in run.manifest
        controls = run.flows.filter(transport="tcp")["congestion"].drop_nulls().unique() if as_now else ()
        known = all(map(control.is_built_in, controls))
        return run.source == _SIMULATED and as_now and known and (made + 1) * self._hops <= _MOST_HOPS

    def _try(self, changes: Mapping[str, Any]) -> Effect | None:
        tables = self._tables(changes)
        if tables is None:
            return None
        completions = self._run.completion_times.iter_rows(named=True) if "completion_times" in self._run.tables else ()
        before = _groups(self._run.flows.iter_rows(named=True), completions)
        after = _groups(*tables)
        both = {name: (before[name], after[name]) for name in before if name in after}
        # Who is to send less gets less.
        less = {
            name for name in both if {f"traffic.{name}.{key}" for key in ("rate", "load", "flows")} & changes.keys()
        }
        plain, traffic = self._replaces_discipline(changes), self._run.scenario.traffic
        waits = {
            name: [*_waits(*pair)] if plain or pair[0].scalable or traffic[name].kind not in _UNHURRIED else []
            for name, pair in both.items()
        }
        found = {name: [*_costs(*pair, less=name in less), *waits[name]] for name, pair in both.items()}
        costs = [f"{name} {' and '.join(said)}" for name, said in found.items() if said]
        costs += _lost_of_tcp([pair for pair in both.values() if not pair[0].datagrams])
        was, now = (
            sum(pair[side].goodput_bps for name, pair in both.items() if not pair[0].datagrams and name not in less)
            for side in (0, 1)
        )
        helped = {name for name, pair in both.items() if _helps(*pair)}
        harms = frozenset(name for name, said in found.items() if said and name not in helped)
        return Effect(now >= _LEFT * was and bool(helped), costs, any(waits.values()), harms)

    def _replaces_discipline(self, changes: Mapping[str, Any]) -> bool:
        """Whether a plain queue takes the place of one that keeps itself short."""
        plain = (key for key, new in changes.items() if isinstance(new, str))
        return not kinds_at(self._run.scenario.written(), plain).isdisjoint(MANAGED)

    def _tables(self, changes: Mapping[str, Any]) -> tuple[Iterator[dict[str, Any]], Iterator[dict[str, Any]]] | None:
        """Flows and completion times with the change."""
        try:
            resolved = self._run.scenario.set_all({**changes, "observe": None}).resolve()
            outcome = _core.simulate(json.dumps(resolved), threads=1)
        except (ScenarioError, _core.ScenarioError):
            return None
        completions = outcome.table("completion_times") if "completion_times" in outcome.tables else {}
        return _rows(outcome.table("flows")), _rows(completions)


def _rows(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a table as the engine gives it, of which words may be numbered."""
    plain = {
        name: [values[1][code] for code in values[0]] if isinstance(values, tuple) else list(values)
        for name, values in columns.items()
    }
    for row in zip(*plain.values(), strict=True):
        yield dict(zip(plain, row, strict=True))


def _groups(flows: Iterable[Mapping[str, Any]], completions: Iterable[Mapping[str, Any]]) -> dict[str, _Group]:
    found: dict[str, _Group] = {}
    for row in flows:
        found.setdefault(row["label"].partition("[")[0], _Group()).add(row)
    for row in completions:
        group = found.get(row["label"])
        # Of flows that are alone the rate tells.
        if group is not None and row["size_class"] == "all" and row["transfers"] > 1:
            group.slowdown = _number(row["slowdown_mean"])
            group.slowest = max(_number(row[f"slowdown_{name}"]) for name in ("mean", "p50", "p95", "p99", "max"))
            group.unfinished = row["unfinished"] / row["transfers"]
    return found


def _helps(before: _Group, after: _Group) -> bool:
    pairs = [(before.waits_s, after.waits_s), (before.rtt_s, after.rtt_s), (1 - before.complete, 1 - after.complete)]
    # TCP retransmits what it loses: longer round trips for fewer losses alone bring it nothing.
    if before.datagrams or after.rtt_s <= (1 + _GAINS) * before.rtt_s:
        pairs += [(before.lost, after.lost)] if _is_no_chance(before.dropped, after.dropped) else []
        retransmitted = (before.retransmitted, after.retransmitted)
        pairs += [retransmitted] if _is_no_chance(*retransmitted) else []
    if before.slowdown and after.slowdown:
        was, now = _slowdowns(before, after)
        pairs.append((was, now))
    less = any(now < (1 - _GAINS) * was for was, now in pairs)
    return less or after.goodput_bps > (1 + _GAINS) * before.goodput_bps


def _is_no_chance(before: int, after: int) -> bool:
    """Whether there are so many fewer losses that another seed would hardly have as few."""
    return before - after > _ERRORS * math.sqrt(before + after)


def _waits(before: _Group, after: _Group) -> Iterator[str]:
    if _are_longer(before.waits_s, after.waits_s, _WAITS_S):
        yield f"waits {ms(after.waits_s)} in place of {ms(before.waits_s)}"
    elif _are_longer(before.waits_p95_s, after.waits_p95_s, _WAITS_P95_S):
        yield f"waits {ms(after.waits_p95_s)} at p95 in place of {ms(before.waits_p95_s)}"


def _are_longer(before_s: float, after_s: float, worth_s: float) -> bool:
    """Whether waits are longer by a share and by a time that are worth a word."""
    return after_s > max((1 + _COSTS) * before_s, before_s + worth_s)


def _slowdowns(*both: _Group) -> list[float]:
    """Mean slowdowns, those that are not complete as slow as the slowest of either."""
    slowest = max(each.slowest for each in both)
    return [(each.slowdown or 0.0) * (1 - each.unfinished) + slowest * each.unfinished for each in both]


def _costs(before: _Group, after: _Group, *, less: bool) -> Iterator[str]:
    """What a change costs a group, in words; what it is to send less is no cost."""
    if before.slowdown and after.slowdown:
        was, now = _slowdowns(before, after)
        if now > (1 + _COSTS) * was:
            yield f"takes {percent(now / was - 1)} longer"
        return
    if after.complete < (1 - _COSTS) * before.complete:
        yield f"has {percent(after.complete)} of its frames complete in place of {percent(before.complete)}"
    elif after.goodput_bps < (1 - _COSTS) * before.goodput_bps and not less:
        yield f"gets {percent(1 - after.goodput_bps / before.goodput_bps)} less"
    elif before.datagrams and after.lost > max((1 + _COSTS) * before.lost, before.lost + _LOST):
        yield f"loses {small_percent(after.lost)} in place of {small_percent(before.lost)}"
    elif before.datagrams and after.most_lost > max(2 * before.most_lost, before.most_lost + _LOST_OF_ONE):
        # As where flows in step meet a short queue, of which one comes last each time.
        yield f"loses up to {small_percent(after.most_lost)} of a flow in place of {small_percent(before.most_lost)}"


def _lost_of_tcp(both: Sequence[tuple[_Group, _Group]]) -> Iterator[str]:
    """What all of TCP loses more: at short queues windows that do not shrink lose much."""
    was, now = (
        sum(pair[side].dropped for pair in both) / max(1, sum(pair[side].sent for pair in both)) for side in (0, 1)
    )
    if now > was + _LOST_OF_TCP:
        yield f"{small_percent(now)} of the packets are lost in place of {small_percent(was)}"


def _number(value: Any, otherwise: float = 0.0) -> float:
    """A value of a table, or what it is taken for where it has none."""
    return otherwise if value is None or value != value else float(value)  # noqa: PLR0124  # NaN is what the engine has for none.
