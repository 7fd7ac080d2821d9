"""The diagnosis of a flow of a scenario, simulated or measured: the causes, the delay, what would help."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis.answers import Cause, Delay, Diagnosis, Suggestion, merged
from tightlink.diagnosis.bounds import saturated_links
from tightlink.diagnosis.causes import causes
from tightlink.diagnosis.commands import Changed, Typed
from tightlink.diagnosis.completions import of_flows
from tightlink.diagnosis.kernel import Kernel, disagreement
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.queueing import delay, together
from tightlink.diagnosis.suggestions import suggestions
from tightlink.diagnosis.transfers import took
from tightlink.diagnosis.words import family, listed, named, percent, sentence

if TYPE_CHECKING:
    from tightlink.run import Run

#: Below this share of the time, the second cause is named too, if it has enough.
_CLEAR: Final = 0.7
_WORTH_NAMING: Final = 0.1
#: From here on a share of time is not worth saying.
_ALWAYS: Final = 0.97
#: From so many saturated links of one family on, one sentence is about all of them.
_MANY_LINKS: Final = 4
#: Suggestions that the sentence names.
_TRIED: Final = 3
_LOSSES: Final = "losses keep the window small"
_SHORT: Final = {
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
    """Diagnoses of the flows of a scenario's run; what was typed to make it, if that is known, begins commands."""

    def __init__(self, run: Run, command: Typed | None = None) -> None:
        self._paths = Paths(run)
        self._changed = Changed(run, command, small=self._paths.small)
        self._kernel = Kernel(run)
        self._took = {label: (took_s, slowdown) for label, took_s, slowdown in of_flows(run).iter_rows()}

    def of(self, rows: Sequence[Mapping[str, Any]]) -> list[Diagnosis]:
        """Diagnoses of flows by their rows of the table ``flows``: those that have the same are one."""
        groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
        found: dict[str, tuple[Cause, ...]] = {}
        for row in rows:
            label = row["label"]
            found[label] = causes(row, self._paths.of(label), self._paths, self._kernel.shares(row))
            groups.setdefault(self._alike(row, found[label]), []).append(row)
        made = [self._of_group(*family) for family in self._families(list(groups.values()), found)]
        return sorted(made, key=lambda diagnosis: -len(diagnosis.flows))

    def _families(
        self, groups: Sequence[list[Mapping[str, Any]]], found: Mapping[str, tuple[Cause, ...]]
    ) -> Iterator[tuple[list[Mapping[str, Any]], list[tuple[Cause, ...]], str]]:
        """The groups with their causes; those at many saturated links of a family, core[0], core[1], …, are one."""
        families: dict[tuple[Any, ...], list[list[Mapping[str, Any]]]] = {}
        for rows in groups:
            name, where, *rest = self._alike(rows[0], found[rows[0]["label"]])
            stem = family(where) if name == "saturated_link" else where
            families.setdefault((name, stem, *rest), []).append(rows)
        for (name, *_), members in families.items():
            if name != "saturated_link" or len(members) < _MANY_LINKS:
                yield from ((rows, [found[row["label"]] for row in rows], "") for rows in members)
                continue
            rows = sorted((row for each in members for row in each), key=lambda row: row["flow"])
            links = (self._paths.of(row["label"]).busiest for row in rows)
            busy = {link.name: link.utilization for link in links}
            said = saturated_links(busy, [len(self._paths.users.get(link, ())) for link in busy])
            every = [found[row["label"]] for row in rows]
            yield rows, [(replace(each[0], where=named(busy), text=said), *each[1:]) for each in every], named(busy)

    def _alike(self, row: Mapping[str, Any], found: tuple[Cause, ...]) -> tuple[Any, ...]:
        """What flows have in common that one sentence is about."""
        path, first = self._paths.of(row["label"]), found[0]
        window = path.written_window if first.name == "receiver_window" else None
        size = path.spec["traffic"].get("bytes") if first.name == "slow_start" else None
        control = path.congestion if first.name in {"control", "pacing"} else None
        return first.name, first.where, window, size, control, path.tcp is None

    def _delay(self, row: Mapping[str, Any]) -> Delay:
        return delay(row, self._paths.of(row["label"]), self._kernel.shortest_s(row["label"]))

    def _of_group(self, rows: Sequence[Mapping[str, Any]], found: Sequence[tuple[Cause, ...]], links: str) -> Diagnosis:
        """One diagnosis of flows that are alike, perhaps at several links: in the words of the flow in the middle."""
        ranked = sorted(range(len(rows)), key=lambda place: rows[place]["throughput_bps"] or 0.0)
        middle = ranked[len(ranked) // 2]
        row, path = rows[middle], self._paths.of(rows[middle]["label"])
        mean = _mean(found, found[middle])
        delays = [self._delay(each) for each in rows]
        queues = together(delays, delays[middle], links)
        most = self._paths.takes_most(path.busiest.name)
        # Who has nearly all of it would get less.
        alike = most is None or all(self._paths.group(each["label"]) == most[0] for each in rows)
        help_ = suggestions(row, path, mean, queues, self._changed, alike=alike)
        kernel = self._kernel.shares(row)
        done = took([self._took[each["label"]] for each in rows if each["label"] in self._took])
        answer = done + _answer(mean, queues, help_, disagreement(row, kernel))
        return Diagnosis(tuple(each["label"] for each in rows), mean, queues, help_, answer, kernel)


def _mean(found: Sequence[tuple[Cause, ...]], middle: Sequence[Cause]) -> tuple[Cause, ...]:
    """The causes of flows that are alike with their mean shares, in the words of the flow in the middle."""
    every = ((cause, 1.0) for group in found for cause in group)
    mean = merged([*((cause, 0.0) for cause in middle), *every], len(found))
    # What they have in common comes first, even where one of them has more of something else.
    return tuple(mean[:1] + sorted(mean[1:], key=lambda cause: -(cause.share or 0.0)))


def _said(found: Sequence[Cause]) -> list[Cause]:
    """The causes that the sentence names: the first, and the second where the first is not clear."""
    if len(found) > 1 and (found[0].share or 1.0) < _CLEAR and (found[1].share or 0.0) >= _WORTH_NAMING:
        return list(found[:2])
    return list(found[:1])


def _answer(found: Sequence[Cause], queues: Delay, help_: Sequence[Suggestion], other: str) -> str:
    """Both answers and the suggestions in words."""
    first, *second = _said(found)
    share = 1.0 if first.share is None else first.share
    text = f"likely {first.text}" if first.certainty == "likely" else first.text
    if share < _ALWAYS:
        text = f"for {percent(share)} of the time {text}"
    if second:
        text += f", for {percent(second[0].share or 0.0)} {_SHORT.get(second[0].name, _LOSSES)}"
    words = [text, *([other] if other else []), sentence(queues.text)]
    if help_:
        # The others are in `suggestions`.
        words.append(f"Try {listed([each.text for each in help_[:_TRIED]], 'or')}")
    return ". ".join(words) + "."
