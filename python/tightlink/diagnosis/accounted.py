"""The diagnosis of a flow of a scenario, simulated or measured: the causes, the delay, what would help."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis import kernel, losses
from tightlink.diagnosis.answers import ALWAYS, CLEAR, Cause, Delay, Diagnosis, Suggestion, merged, named_causes, to_try
from tightlink.diagnosis.beside import Beside, Others
from tightlink.diagnosis.bounds import LOSES, lasted, lasts, saturated_links
from tightlink.diagnosis.causes import causes, in_order
from tightlink.diagnosis.classes import class_for, strict_for
from tightlink.diagnosis.commands import Changed, Tried
from tightlink.diagnosis.completions import of_flows
from tightlink.diagnosis.datagrams import in_fragments
from tightlink.diagnosis.filling import Filling, peak_bps
from tightlink.diagnosis.kinds import BY_RATE, FAIR, SCALABLE
from tightlink.diagnosis.links import Link
from tightlink.diagnosis.media import fitting, larger_burst, spread
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import paths_of
from tightlink.diagnosis.queueing import delay, is_little, together
from tightlink.diagnosis.suggestions import suggestions
from tightlink.diagnosis.transfers import took
from tightlink.diagnosis.words import (
    ALIKE,
    COMPLETE,
    MEMBERS,
    WAITED_OUT,
    by_number,
    family,
    ms,
    named,
    percent,
    sentence,
)
from tightlink.numbers import grouped, several

if TYPE_CHECKING:
    from tightlink.run import Run

#: From so many saturated links of one family on, one sentence is about all of them.
_MANY_LINKS: Final = 4
_SHORT: Final = {
    **dict.fromkeys(
        ("random_loss", "small_queue", "policer", "early_drops", "recovery"), "losses keep the window small"
    ),
    "timeouts": "timeouts are awaited",
    "reordering": "packets that overtake each other are taken for lost",
    "ack_path": "the reverse path of its ACKs is full",
    "falling_rate": "a link carries less than what comes",
    "saturated_link": "the path is full",
    "router_packet_rate": "a router is full",
    "receiver_window": "the receiver's window is full",
    "application": "the application pauses",
    "last_ack": "the last ACK is awaited",
    "sender_packet_rate": "the sender's interface is full",
    "send_buffer": "the send buffer is full",
    "handshake": "the handshake is under way",
    "congestion_marks": "marks keep the window small",
    "slow_start": "slow start lasts",
    "window_growth": "the congestion window still grows",
    "control": "its control holds back",
    "pacing": "its control paces",
}


class Accounted:
    """Diagnoses of the flows of a scenario's run."""

    def __init__(self, run: Run, filling: Filling, changed: Changed) -> None:
        self._run, self._paths = run, paths_of(run)
        self._filling, self._changed = filling, changed
        self._took = {label: (took_s, slowdown) for label, took_s, slowdown in of_flows(run).iter_rows()}

    def of(self, rows: Sequence[Mapping[str, Any]]) -> list[Diagnosis]:
        """Diagnoses of flows by their rows of the table ``flows``: those that have the same are one."""
        flows = [self._flow({**row, MEMBERS: self._paths.flows_of(row["label"])}) for row in rows]
        made = [self._of_group(*family) for family in self._families(self._groups(flows))]
        return sorted(made, key=lambda diagnosis: -len(diagnosis.flows))

    def _groups(self, flows: Sequence[_Flow]) -> list[list[_Flow]]:
        """Flows that are alike; and that wait in the same queue and on the same wires, unless they wait in many."""
        alike: dict[tuple[Any, ...], dict[tuple[str, str], list[_Flow]]] = {}
        # What is little to the flows of longer paths is the same queue.
        much = {(_alike(flow), flow.delay.where) for flow in flows if not is_little(flow.delay)}
        for flow in flows:
            key, where = _alike(flow), flow.delay.where
            queue = where if (key, where) in much else "", flow.delay.wire
            alike.setdefault(key, {}).setdefault(queue, []).append(flow)
        return [
            group
            for queues in alike.values()
            for group in (queues.values() if len(queues) < _MANY_LINKS else [[*itertools.chain(*queues.values())]])
        ]

    def _families(self, groups: Sequence[list[_Flow]]) -> Iterator[tuple[list[_Flow], str]]:
        """The groups, and the links of those that are several; at many saturated links of a family they are one."""
        families: dict[tuple[Any, ...], list[list[_Flow]]] = {}
        for flows in groups:
            name, where, *rest = _alike(flows[0])
            stem = family(where) if name == "saturated_link" else where
            families.setdefault((name, stem, *rest), []).append(flows)
        for (name, *_), members in families.items():
            every = sorted(itertools.chain(*members), key=lambda flow: flow.row["flow"])
            at_link = {flow.path.busiest.name: flow for flow in every} if name == "saturated_link" else {}
            busy = {link: at_link[link].path.busiest.utilization for link in by_number(at_link)}
            if len(busy) < _MANY_LINKS:
                yield from ((flows, "") for flows in members)
                continue
            said = saturated_links(busy, [self._paths.sharing(link, at_link[link].row) for link in busy])
            yield [flow.at(named(busy), said) for flow in every], named(busy)

    def _flow(self, row: Mapping[str, Any]) -> _Flow:
        label = row["label"]
        path = self._paths.of(label)
        needless = path.needless_timeouts(row)
        # Neither losses nor queues have to do with these.
        row = {**row, "timeouts": row["timeouts"] and row["timeouts"] - needless, WAITED_OUT: needless}
        row[COMPLETE] = self._took.get(label, (None,))[0] is not None
        found = causes(row, path, self._paths, kernel.shares(self._run, row))
        waits = delay(row, path, kernel.shortest_s(self._run, label), fill=lambda link: self._filling.others(link, row))
        fills = path.tcp is None and (
            label in self._filling.of(waits.where, row)
            or (not is_little(waits) and self._filling.waits_for_frames(waits.where, row))
        )
        return _Flow(row, path, found, waits, fills)

    def _of_group(self, flows: Sequence[_Flow], links: str) -> Diagnosis:
        """One diagnosis of flows that are alike, perhaps at several links: in the words of the flow in the middle."""
        ranked = sorted(flows, key=lambda flow: flow.row["throughput_bps"] or 0.0)
        middle = ranked[len(ranked) // 2]
        row, path, words, counted = middle.row, middle.path, middle.causes, kernel.shares(self._run, middle.row)
        if len(flows) > 1 and not links:
            words = causes({**row, ALIKE: [flow.row for flow in flows]}, path, self._paths, counted)
        mean = _mean([flow.causes for flow in flows], words)
        queues = together([flow.delay for flow in flows], middle.delay, links)
        most = self._paths.takes_most(path.busiest.name)
        # Who has nearly all of it would get less.
        equal = most is None or all(self._paths.is_of(flow.label, most[0]) for flow in flows)
        # What DualPI2 drops is coupled.
        alike = equal and (path.busiest.discipline == "dualpi2" or not self._paths.are_unlike(path.busiest.name))
        # Of packets of which none has arrived nobody knows the delay, though others wait on their path.
        told = None if all(flow.row.get("packets_delivered") == 0 for flow in flows) else queues
        needless = [flow for flow in flows if losses.needless(flow.row, flow.path)]
        # What is changed for a group is said of all of it.
        whole = len(flows) == self._paths.members(path.busiest.name, middle.label)
        others = self._others(middle, flows, mean[0], queues.where, alike=alike, needless=whole and middle in needless)
        help_ = suggestions(row, path, mean, told or replace(queues, mean_s=0.0), changed=self._changed, others=others)
        done = took([self._took[flow.label] for flow in flows if flow.label in self._took])
        cut = in_fragments([flow.row for flow in flows], path)
        more = [kernel.disagreement(row, counted), _outage(middle), _falling(mean), _needless(needless, flows), cut]
        answer = done + _answer(mean, told, help_, more, always=_is_always_full(mean[0], middle))
        names, groups = tuple(flow.label for flow in flows), any(flow.row[MEMBERS] > 1 for flow in flows)
        return Diagnosis(names, mean, told, help_, answer, counted, groups)

    def _others(
        self, middle: _Flow, flows: Sequence[_Flow], first: Cause, where: str, *, alike: bool, needless: bool
    ) -> Others:
        """Those who share the queue that adds most to the delay of flows, and what datagrams could do about it."""
        row, path = middle.row, middle.path
        policed = first.name == "policer" and path.tcp is None
        loses = policed or (first.name == "small_queue" and path.tcp is None)
        where = first.where if loses else where
        controls = self._paths.controls_beside(where, row)
        link = path.crosses(where)
        turns = all(controls) or (link is not None and link.discipline in FAIR)
        classes = {self._paths.group(flow.label): flow.path.spec.get("dscp") for flow in flows}
        fill = {label: self._paths.control(label) for label in self._filling.of(where, row)}
        in_turn = first.name == "application" and link is not None and link.discipline in FAIR
        loses_in_turn = in_turn and row["packets_dropped"] > LOSES * row["packets_sent"]
        return Others(
            controls,
            alike,
            fill=fill,
            slower=fitting(self._run, self._filling.datagrams(where, row)),
            in_turn=fitting(self._run, self._filling.turn(where, row)),
            marks=[*self._marks(path.busiest)],
            burst=larger_burst(self._run, self._paths, path.link(first.where)) if policed else None,
            spread=spread(self._paths, [*fill, *((flow.label for flow in flows) if loses else ())]),
            own_frames=spread(self._paths, [flow.label for flow in flows]) if loses_in_turn else None,
            needless=needless and turns,
            own_class=class_for(path, where, classes, self._filling) if any(fill.values()) else None,
            ordered=strict_for(path, where, classes, self._filling) if any(fill.values()) else None,
            beside=Beside.of(self._filling, where, row, path),
            flows=self._paths.sharing(path.busiest.name, row) or 1,
            groups=frozenset(classes),
            alone=self._paths.has_alone(path.busiest.name, row),
        )

    def _marks(self, link: Link) -> Iterator[Tried]:
        """ECN for who does not answer the marks of a link; where others have a control that is made for them, that.

        Beside Prague, which the Internet may have, a queue that gives it marks by itself (RFC 9332).
        """
        halved, control, _ = self._paths.halved_by_marks(link)
        if halved:
            if control == "prague":
                yield "DualPI2 (marks for L4S beside drops for others)", {f"{link.key}.queue": {"kind": "dualpi2"}}
            changes = {f"traffic.{each}.tcp.congestion": control for each in halved}
            yield f"{control} for {named(halved)} as well", changes
        deaf, controls = self._paths.deaf_to_marks(link)
        if not deaf:
            return
        key = f"traffic.{self._paths.group(deaf)}.tcp"
        if controls <= SCALABLE:
            control = min(controls)
            yield f"{control} for {deaf} as well", {f"{key}.congestion": control}
            return
        own = {self._paths.control(label) for label in self._paths.users[link.name] if self._paths.is_of(label, deaf)}
        # With ECN these ignore marks, too.
        if not own & BY_RATE:
            yield f"ECN for {deaf} as well", {f"{key}.ecn": True}


@dataclass(frozen=True)
class _Flow:
    """A flow with what bounds its rate and what queues add to its delay."""

    row: Mapping[str, Any]
    path: Path
    causes: tuple[Cause, ...]
    delay: Delay
    fills: bool
    """Whether these are datagrams that fill the queue in which they wait, or frames that wait for their own packets."""

    @property
    def label(self) -> str:
        """Its name in the table of flows."""
        return str(self.row["label"])

    def at(self, where: str, text: str) -> _Flow:
        """The same with other words of where its first cause is."""
        return replace(self, causes=(replace(self.causes[0], where=where, text=text), *self.causes[1:]))


def _alike(flow: _Flow) -> tuple[Any, ...]:
    """What flows have in common that one sentence is about."""
    path, first = flow.path, flow.causes[0]
    window = path.written_window if first.name == "receiver_window" else None
    size = path.spec["traffic"].get("bytes") if first.name == "slow_start" else None
    control = path.congestion if first.name in {"control", "pacing"} else None
    sent, lost = flow.row["packets_sent"] or 0, flow.row["packets_dropped"] or 0
    # Of few packets a wire that loses some may have lost none by chance.
    loses = path.tcp is None and (lost > LOSES * sent or losses.random_share(losses.most_on_wire(path)) > LOSES)
    down = next((cause.where for cause in named_causes(flow.causes) if cause.name == "outage"), "")
    falls = next((cause.where for cause in flow.causes if cause.name == "falling_rate"), "")
    ends = bool(path.spec["traffic"].get("bytes"))
    fills = first.name == "application" and flow.fills
    # Who comes in bursts, and who is dropped for these.
    policed = first.name == "policer" and path.tcp is None
    bursts = policed and peak_bps(flow.row, path) > path.link(first.where).shaped_bps
    return first.name, first.where, down, falls, window, size, control, path.tcp is None, fills, bursts, loses, ends


def _mean(found: Sequence[tuple[Cause, ...]], middle: Sequence[Cause]) -> tuple[Cause, ...]:
    """The causes of flows that are alike with their mean shares, in the words of the flow in the middle."""
    every = ((cause, 1.0) for group in found for cause in group)
    mean = merged([*((cause, 0.0) for cause in middle), *every], len(found))
    # What they have in common comes first, even where one of them has more of something else.
    return tuple(mean[:1] + in_order(mean[1:]))


def _short(cause: Cause) -> str:
    return cause.text.partition(",")[0] if cause.name == "outage" else _SHORT[cause.name]


def _outage(flow: _Flow) -> str:
    """That a link of the path is down for a part of a flow's time, where no cause says so."""
    down_s, link = flow.path.down(flow.row["start_s"], flow.row["stop_s"])
    told = any(cause.name in {"outage", "handshake"} for cause in named_causes(flow.causes))
    if not down_s or told:
        return ""
    text = f"Link {link.name} is down for {ms(down_s)} of {ms(lasted(flow.row))}"
    text += " on average" if link.fails_at_random else ""
    expire, many = flow.row[WAITED_OUT], "s expire" if flow.row[WAITED_OUT] > 1 else " expires"
    return text + (f", where {expire} timeout{many}" if expire else "")


def _falling(found: Sequence[Cause]) -> str:
    """That a link is slower at times than what comes, where no cause that is said says so."""
    unsaid = [cause for cause in found if cause not in named_causes(found)]
    return next((sentence(cause.text) for cause in unsaid if cause.name == "falling_rate"), "")


def _needless(found: Sequence[_Flow], flows: Sequence[_Flow]) -> str:
    """That some of the flows retransmit much more than was lost."""
    if not found:
        return ""
    again, lost = (sum(flow.row[name] or 0 for flow in found) for name in ("packets_retransmitted", "packets_dropped"))
    who = f" by {named(flow.label for flow in found)}" if len(found) < len(flows) else ""
    were = f"{grouped(str(lost))} {'was' if lost == 1 else 'were'}" if lost else "none was"
    return f"{several(again, 'packet')} {'is' if again == 1 else 'are'} retransmitted{who}, though {were} lost"


def _is_always_full(cause: Cause, flow: _Flow) -> bool:
    """Whether a link is busy all the time of a flow, whatever else it waits for in some of it, such as timeouts."""
    busiest = flow.path.busiest
    full = busiest.utilization >= ALWAYS and lasts(flow.row, busiest)
    return full and cause.name == "saturated_link" and cause.where == busiest.name


def _answer(
    found: Sequence[Cause], queues: Delay | None, help_: Sequence[Suggestion], others: Sequence[str], *, always: bool
) -> str:
    """Both answers and the suggestions in words."""
    first, *second = named_causes(found)
    share = 1.0 if first.share is None else first.share
    text = first.said
    if share < (CLEAR if always else ALWAYS):
        text = f"for {percent(share)} of the time {text}"
    if second:
        text += f", for {percent(second[0].share or 0.0)} {_short(second[0])}"
    words = [text, *filter(None, others), *([] if queues is None else [sentence(queues.text)]), *to_try(help_)]
    return ". ".join(words) + "."
