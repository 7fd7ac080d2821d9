"""Commands that test a change of a run's scenario: the file of the scenario, what was changed already, and the change.

A run that was measured is measured again, where an emulated link can carry the change.

Example:
    >>> run = tl.simulate(tl.load("examples/one-flow.toml", set={"duration": "5 s"}))
    >>> changed = Changed(run)
    >>> print(changed.command({"link.bottleneck.queue": {"kind": "fq-codel"}}))
    tightlink run examples/one-flow.toml --set duration="5 s" --set link.bottleneck.queue="{ kind = 'fq-codel' }"
    >>> print(changed.sweep("traffic.ftp.tcp.congestion", ["reno", "cubic"]))
    tightlink sweep examples/one-flow.toml --set duration="5 s" --vary traffic.ftp.tcp.congestion="reno,cubic"
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tightlink.diagnosis.answers import Suggestion
from tightlink.diagnosis.kinds import POLICER
from tightlink.diagnosis.trials import Trials
from tightlink.errors import ScenarioError
from tightlink.scenario.overrides import kinds_at, values_at
from tightlink.shell import quoted

if TYPE_CHECKING:
    from tightlink.run import Run

#: What a shell takes as it is between double quotes.
_PLAIN: Final = re.compile(r"[^\"\\$`!\n]*")
#: How files of stored runs end, which hold more than a scenario.
_STORED: Final = ".parquet"
_MEASURED: Final = "measurement"
#: Options of `tightlink measure`: where the manifest has what was given, and what is meant without the option.
_MEASURED_BY: Final = (("--sender", "sender", "name", "probe"), ("--device", "link", "device", "tun"))
#: Links of a scenario whose only wire is the one that is emulated.
_ONE_WIRE: Final = 2
#: Said of what cannot be measured, where the run was.
_SIMULATED: Final = " in a simulation"

#: A command without its changes of the scenario, and these.
Typed: TypeAlias = tuple[str, Mapping[str, object]]
#: A change in words, and as values by keys of the scenario.
Tried: TypeAlias = "tuple[str, dict[str, Any]]"


class Changed:
    """The changes of a run's scenario that can be suggested.

    What was typed to simulate it, and the changes that were typed beside it, are ``typed``; without it the scenario's
    file and what was changed of it are named. Where resolving it takes no time to speak of (``small``), every
    suggestion is tried as far as that.
    """

    def __init__(self, run: Run, typed: Typed | None = None, *, small: bool = True) -> None:
        self._run = run
        self._scenario = run.scenario
        self._typed = typed
        self._small = small
        self._trials = Trials(run)

    @property
    def simulated(self) -> bool:
        """Whether the run was simulated, as sweeps are."""
        return self._run.source != _MEASURED

    def repeats(self, changes: Mapping[str, object]) -> bool:
        """Whether the command makes a run of the same source: queues can be measured, controls with options cannot."""
        return self.simulated or all(
            key.endswith(".queue") or not isinstance(value, dict) for key, value in changes.items()
        )

    def suggestions(self, tried: Iterable[Tried], groups: Collection[str]) -> list[Suggestion]:
        """Each change once that the scenario allows, with the command that tests it, for traffic groups.

        Where that takes no time to speak of it is tried: what helps nobody, or does nothing but harm to these groups,
        is left out, what it costs is said, and what costs nobody comes first.
        """
        made: list[Suggestion] = []
        costly: set[str] = set()
        for text, changes in tried:
            command = "" if self._lifts_policer(changes) else self.command(changes)
            if command and all(changes != each.changes for each in made):
                found = self._trials.of(changes)
                said = text if found is None else _beside(text, found.costs)
                if found is not None and found.costs:
                    costly.add(command)
                if found is None or (found.helps and not found.harms.issuperset(groups)):
                    made.append(Suggestion(said if self.repeats(changes) else f"{said}{_SIMULATED}", command, changes))
        return sorted(made, key=lambda each: each.command in costly)

    def _lifts_policer(self, changes: Mapping[str, object]) -> bool:
        """Whether a policer goes without a shaper in its place: what a provider sells would be more than it is."""
        shaped = {key.removesuffix(".shaper") for key in changes if key.endswith(".shaper")}
        queues = (key for key in changes if key.endswith(".queue") and key.removesuffix(".queue") not in shaped)
        return POLICER in kinds_at(self._scenario.written(), queues)

    def delays(self, changes: Mapping[str, object]) -> bool:
        """Whether a change that was tried makes somebody wait longer."""
        found = self._trials.of(changes)
        return found is not None and found.delays

    def swept(self, text: str, key: str, levels: Sequence[str | int]) -> list[Suggestion]:
        """A sweep over levels of a key, where the scenario allows them."""
        command = self.sweep(key, levels)
        said = text if self.simulated else f"{text}{_SIMULATED}"
        return [Suggestion(said, command, {}, {key: tuple(levels)})] if command else []

    def command(self, changes: Mapping[str, object]) -> str:
        """What to type to run the scenario with keys changed; empty if the scenario does not allow the change."""
        if not self._allowed(changes):
            return ""
        again = not self.simulated and self.repeats(changes)
        if not self._in_file():
            written = ", ".join(f"{key!r}: {value!r}" for key, value in changes.items())
            return f"{'measure' if again else 'tl.simulate'}(run.scenario.set_all({{{written}}})).why()"
        options = [each for key, value in changes.items() for each in self._options(key, value)]
        return " ".join([self._measure(changes) if again else self._begin(changes), *options])

    def _options(self, key: str, value: object) -> list[str]:
        """What to type for a change: of a table that is there with the same keys, what becomes other in it."""
        there = values_at(self._scenario.written(), key)
        if (
            isinstance(value, dict)
            and there
            and all(isinstance(each, dict) and each.keys() == value.keys() for each in there)
        ):
            changed = [name for name in value if any(each[name] != value[name] for each in there)]
            if "kind" not in changed:
                return [option(f"{key}.{name}", value[name]) for name in changed]
        return [option(key, value)]

    def sweep(self, key: str, levels: Sequence[str | int]) -> str:
        """What to type to simulate the scenario at levels of a key; empty if it does not allow one of them."""
        if not self._small or not all(self._allowed({key: level}) for level in levels):
            return ""
        if not self._in_file():
            return f"tl.sweep(run.scenario, {{{key!r}: {list(levels)!r}}})"
        begin = self._begin({key: None})
        if " --replay " in begin:
            # A run that was typed by its name in a sweep's folder has no file that could be swept.
            return ""
        return f"{begin.replace(' run ', ' sweep ', 1)} {option(key, ','.join(map(str, levels)), by='--vary')}"

    def _allowed(self, changes: Mapping[str, object]) -> bool:
        try:
            changed = self._scenario.set_all(changes)
            if self._small:
                changed.resolve()
        except ScenarioError:
            return False
        return True

    def _in_file(self) -> bool:
        file = self._scenario.file
        return self._typed is not None or (file is not None and not file.endswith(_STORED))

    def _begin(self, changes: Mapping[str, object]) -> str:
        """What simulates the scenario as it is, but for keys that change."""
        typed = f"tightlink run {self._file()}" if self._typed is None else self._typed[0]
        return " ".join([typed, *self._known(changes)])

    def _measure(self, changes: Mapping[str, object]) -> str:
        """What measures the scenario once more, as it was measured."""
        made = [
            f"{name} {quoted(given)}"
            for name, table, key, usual in _MEASURED_BY
            if (given := self._run.manifest.get(table, {}).get(key, usual)) != usual
        ]
        if len(self._scenario.resolve()["links"]) > _ONE_WIRE:
            made += [f"--link {quoted(link)}" for link in self._run.manifest.get("link", {}).get("names", ())]
        return " ".join(["tightlink measure", self._file(), *self._known(changes), *made])

    def _file(self) -> str:
        return quoted(self._scenario.file or "")

    def _known(self, changes: Mapping[str, object]) -> list[str]:
        """What was changed of the scenario's file already, and is not changed once more."""
        again = tuple(f"{key}." for key in changes)
        data = self._scenario.written()
        # What was removed has no value.
        changed = {key: found[0] for key in self._scenario.changed if (found := values_at(data, key))}
        before = self._typed[1] if self._typed else changed
        kept = {key: value for key, value in before.items() if not f"{key}.".startswith(again)}
        return [option(key, value) for key, value in kept.items() if value is not None]


def _beside(text: str, costs: Sequence[str]) -> str:
    """A suggestion with what it costs.

    >>> _beside("CoDel", ["up gets 20 % less"]), _beside("a queue (9 packets)", ["up gets 20 % less"])
    ('CoDel (up gets 20 % less)', 'a queue (9 packets; up gets 20 % less)')
    """
    if not costs:
        return text
    said = ", ".join(costs)
    return f"{text[:-1]}; {said})" if text.endswith(")") else f"{text} ({said})"


def option(key: str, value: object, *, by: str = "--set") -> str:
    """An option that changes a key of a scenario, as it is typed.

    >>> option("duration", "5 s"), option("link[*].loss", 0.1)
    ('--set duration="5 s"', '--set "link[*].loss=0.1"')
    """
    text = value if isinstance(value, str) else _toml(value)
    if _PLAIN.fullmatch(text):
        if "[" in key:
            return f'{by} "{key}={text}"'
        return f"{by} {key}=" + (f'"{text}"' if re.search(r"[^\w.+-]", text) else text)
    return f"{by} {quoted(f'{key}={text}')}"


def _toml(value: object) -> str:
    """A value as TOML, texts in single quotes: a shell takes them between double ones."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f"'{value}'"
        case dict():
            return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }"
        case list() | tuple():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case _:
            return repr(value)
