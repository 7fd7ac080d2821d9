"""What a diagnosis consists of: causes that bound the rate, the delay of the queues, and what would help.

Example:
    >>> cause = Cause("receiver_window", 0.9, "certain", "", "the receiver's window of 20 packets holds it back")
    >>> cause.certainty
    'certain'
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Literal

from tightlink.diagnosis.words import listed, named
from tightlink.shell import broken

Certainty = Literal["certain", "likely", "cannot be told"]

#: Characters of a line, as on a usual terminal.
WIDTH: Final = 80
#: Diagnoses that are printed; to_dict has all.
MOST_SAID: Final = 5
_INDENT: Final = "  "
#: Below this share of the time, the second cause is named too, if it has enough.
CLEAR: Final = 0.7
_WORTH_NAMING: Final = 0.1
#: From here on a share of time is not worth saying.
ALWAYS: Final = 0.97
#: Suggestions that a sentence names; the others are in `suggestions`.
_TRIED: Final = 3


@dataclass(frozen=True)
class Cause:
    """Something that bounds the rate of a flow."""

    name: str
    """One of `tightlink.diagnosis.CAUSES`, such as saturated_link."""
    share: float | None
    """Share of the flow's time; nothing where the source does not tell, as captures."""
    certainty: Certainty
    """How sure it is."""
    where: str
    """The link or the node; empty where it is none, or not known."""
    text: str
    """The cause in words."""

    @property
    def said(self) -> str:
        """The cause in words, and where that is not sure, that it is likely."""
        return f"likely {self.text}" if self.certainty == "likely" else self.text


def merged(weighted: Iterable[tuple[Cause, float]], total: float = 1.0) -> list[Cause]:
    """One cause for each name and place, in the words of the first: its share is the sum of theirs over a total."""
    first: dict[tuple[str, str], Cause] = {}
    shares: dict[tuple[str, str], float] = {}
    for cause, weight in weighted:
        key = (cause.name, cause.where)
        first.setdefault(key, cause)
        shares[key] = shares.get(key, 0.0) + (cause.share or 0.0) * weight
    return [cause if cause.share is None else replace(cause, share=shares[key] / total) for key, cause in first.items()]


def named_causes(found: Sequence[Cause]) -> list[Cause]:
    """The causes that a sentence names: the first, and the second where the first is not clear."""
    share = found[0].share
    second = share is not None and share < CLEAR and any((cause.share or 0.0) >= _WORTH_NAMING for cause in found[1:2])
    return list(found[: 1 + second])


@dataclass(frozen=True)
class Delay:
    """What queues add to the delay of a path."""

    where: str
    """The link whose queue adds most, or the node whose ring does; empty where it is not known."""
    mean_s: float
    """Mean of what queues add, in seconds."""
    p95_s: float | None
    """What they add to one packet in twenty, or more; nothing where the source does not tell."""
    base_s: float
    """Delay of the path with empty queues, in seconds."""
    round_trip: bool
    """Whether these are delays of a round trip, rather than one way."""
    text: str
    """The delay in words."""
    wire: str = ""
    """What adds delay beside queues, such as "the jitter of radio"; empty where that is little."""
    wire_s: float = 0.0
    """Mean of what that adds, in seconds."""
    variation_p95_s: float | None = None
    """What it and queues add together to one datagram in twenty, or more, where the p95 of queues alone is not all."""


@dataclass(frozen=True)
class Suggestion:
    """A change that would help, and the command that tests it."""

    text: str
    """What to change, and what is expected of it."""
    command: str
    """What to type; Python where the scenario is not in a file, empty where nothing can test it."""
    changes: dict[str, Any]
    """The keys of the scenario that it changes, with their values."""
    vary: dict[str, tuple[str | int, ...]] = field(default_factory=dict)
    """The key that a sweep varies, with its levels."""


def to_try(help_: Sequence[Suggestion]) -> list[str]:
    """A sentence on the first suggestions, without its point; none where there are none."""
    return [f"Try {listed([each.text for each in help_[:_TRIED]], 'or')}"] if help_ else []


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Two answers for flows that have the same: what bounds the rate, and what that does to delay."""

    flows: tuple[str, ...]
    """Names of the flows."""
    causes: tuple[Cause, ...]
    """What bounds the rate, the largest share of time first; the receiver's delay of the last ACK behind others."""
    delay: Delay | None
    """What queues add to the delay; nothing where it cannot be told."""
    suggestions: tuple[Suggestion, ...]
    """What would help, the first first."""
    answer: str
    """Both answers and the suggestions in sentences, without the names of the flows."""
    tcp_info: dict[str, float] | None = None
    """What the kernel of a measured flow's sender counted itself: shares of the flow's time, and its shortest RTT."""
    of_groups: bool = False
    """Whether the names are those of traffic groups, which the table does not divide into flows."""

    @property
    def subject(self) -> str:
        """The flows in short: "4 flows, upload[0..3]"."""
        many = "groups" if self.of_groups else "flows"
        # Connections that come one after the other from one port have one name.
        names = named(dict.fromkeys(self.flows))
        return names if len(self.flows) == 1 else f"{len(self.flows)} {many}, {names}"

    @property
    def sentence(self) -> str:
        """The answer with the names of the flows before it."""
        return f"{self.subject}: {self.answer}" if self.flows else self.answer

    def text(self, width: int = WIDTH) -> str:
        """The answer in lines of so many characters, and the command that tests the first suggestion below it."""
        lines = textwrap.wrap(
            self.sentence, width, subsequent_indent=_INDENT, break_long_words=False, break_on_hyphens=False
        )
        command = next((suggestion.command for suggestion in self.suggestions if suggestion.command), "")
        return "\n".join([*lines, *_broken(command, width)])

    def __str__(self) -> str:
        """The same in lines of 80 characters."""
        return self.text()

    # What one reads at Python's prompt, too.
    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """The diagnosis as JSON has it."""
        return {
            "flows": list(self.flows),
            "sentence": self.sentence,
            "causes": list(map(asdict, self.causes)),
            "delay": None if self.delay is None else asdict(self.delay),
            "suggestions": list(map(asdict, self.suggestions)),
            "tcp_info": self.tcp_info,
        }


@dataclass(frozen=True, repr=False)
class Why:
    """Why the flows of a run are as fast as they are: what `Run.why` returns. Printed, it is the answer in words.

    Flows that have the same causes share a diagnosis.

    Example:
        >>> why = tl.simulate(tl.network("dsl").set("duration", "2 s")).why()
        >>> [(cause.name, cause.where) for cause in why.causes][0], why.delay.where
        (('saturated_link', 'access'), 'access')
        >>> why.suggestions[0].changes
        {'link.access.queue': '61 packets'}
    """

    diagnoses: tuple[Diagnosis, ...]
    """The diagnoses, those of most flows first."""
    left_out: int = 0
    """Flows that were not looked at, because there are too many: those with the fewest bytes."""
    part: str | None = None
    """What of it was simulated until it was interrupted, such as "396 s of 20000 s"; nothing of a whole run."""

    @property
    def sentence(self) -> str:
        """All diagnoses, one after the other."""
        return " ".join(diagnosis.sentence for diagnosis in self.diagnoses)

    @property
    def causes(self) -> tuple[Cause, ...]:
        """What bounds the rates, the largest share of the flows' time first."""
        counted = [(diagnosis, len(diagnosis.flows) or 1) for diagnosis in self.diagnoses]
        weighted = ((cause, count) for diagnosis, count in counted for cause in diagnosis.causes)
        found = merged(weighted, sum(count for _, count in counted))
        return tuple(sorted(found, key=lambda cause: -(cause.share or 0.0)))

    @property
    def delay(self) -> Delay | None:
        """The largest delay that queues add to any of the flows."""
        found = [diagnosis.delay for diagnosis in self.diagnoses if diagnosis.delay is not None]
        return max(found, key=lambda delay: delay.mean_s, default=None)

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """What would help, each change once."""
        found = {f"{each.changes}{each.vary}{each.text}": each for said in self.diagnoses for each in said.suggestions}
        return tuple(found.values())

    def text(self, width: int = WIDTH) -> str:
        """For a terminal of so many characters: some lines for each diagnosis."""
        return "\n".join([*self._lines(width), *self._notes()])

    def __str__(self) -> str:
        """The same in lines of 80 characters."""
        return self.text()

    __repr__ = __str__

    def _lines(self, width: int) -> Iterator[str]:
        told: set[str] = set()
        for diagnosis in self.diagnoses[:MOST_SAID]:
            # A command that two diagnoses share is printed once.
            fresh = tuple(each for each in diagnosis.suggestions[:1] if each.command not in told)
            told |= {each.command for each in fresh}
            yield replace(diagnosis, suggestions=fresh).text(width)
        rest = self.diagnoses[MOST_SAID:]
        if rest:
            flows = sum(len(diagnosis.flows) for diagnosis in rest)
            diagnoses = "1 more diagnosis" if len(rest) == 1 else f"{len(rest)} more diagnoses"
            yield f"… and {diagnoses} of {'1 flow' if flows == 1 else f'{flows} flows'} (--json has all)"

    def _notes(self) -> Iterator[str]:
        """What the diagnoses do not cover."""
        if self.left_out:
            yield f"{self.left_out} flows with fewer bytes were not looked at."
        if self.part:
            yield f"Of a part of the run only: it was interrupted after {self.part}."

    def _repr_html_(self) -> str:
        """For notebooks: a list of the diagnoses with the commands that test what they suggest."""
        items = []
        for diagnosis in self.diagnoses:
            commands = "".join(
                f"<br><code>{html.escape(each.command)}</code>" for each in diagnosis.suggestions[:1] if each.command
            )
            who = f"<b>{html.escape(diagnosis.subject)}</b>: " if diagnosis.flows else ""
            items.append(f"<li>{who}{html.escape(diagnosis.answer)}{commands}</li>")
        return f"<ul>{''.join(items)}</ul>{''.join(f'<p>{note}</p>' for note in self._notes())}"

    def to_dict(self) -> dict[str, Any]:
        """The answers as JSON has them."""
        delay = self.delay
        return {
            "sentence": self.sentence,
            "causes": list(map(asdict, self.causes)),
            "delay": None if delay is None else asdict(delay),
            "suggestions": list(map(asdict, self.suggestions)),
            "diagnoses": [diagnosis.to_dict() for diagnosis in self.diagnoses],
            "flows_left_out": self.left_out,
            "part": self.part,
        }


def _broken(command: str, width: int) -> list[str]:
    """A command in lines that a shell takes as one."""
    if not command:
        return []
    if len(_INDENT + command) <= width or not command.startswith("tightlink "):
        return [_INDENT + command]
    first, *options = command.split(" --")
    return broken([first, *(f"--{option}" for option in options)], _INDENT)
