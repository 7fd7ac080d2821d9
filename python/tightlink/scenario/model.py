"""The scenario: network, traffic, what is observed, duration and seed.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.Scenario(
    ...     profile="ns2",
    ...     duration="10 s",
    ...     link={"bottleneck": tl.Link(ends=("sender", "receiver"), rate="2 Mbit/s", delay="10 ms")},
    ...     traffic={"ftp": tl.Bulk(from_="sender", to="receiver", start="0.1 s")},
    ... )
    >>> scenario.resolve()["links"][1]["name"]
    'bottleneck.reverse'
    >>> scenario.set("link.bottleneck.rate", "4 Mbit/s").link["bottleneck"].rate
    '4 Mbit/s'
"""

from __future__ import annotations

import html
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BeforeValidator, Field, PrivateAttr, ValidationError

from tightlink import arguments, units
from tightlink.calls import answered
from tightlink.errors import ScenarioError, show
from tightlink.scenario import toml
from tightlink.scenario.as_keys import as_keys
from tightlink.scenario.endpoints import A_NODE, meant_node
from tightlink.scenario.links import Link
from tightlink.scenario.nodes import Node, NodeNames
from tightlink.scenario.observe import Observe
from tightlink.scenario.overrides import in_unit_of_before, override, whole_path
from tightlink.scenario.problems import below, placed, scenario_error
from tightlink.scenario.profiles import DEFAULT_PROFILE, PROFILES
from tightlink.scenario.routing import Routing
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.topologies import AnyTopology
from tightlink.scenario.traffic import Traffic
from tightlink.scenario.transfers import Transfers
from tightlink.scenario.values import LARGEST_SEED, Name, Period, choice, whole


def named(table: str, *keys: str) -> BeforeValidator:
    """Refuse the ``keys`` of one of several tables where the names of these are expected."""

    def check(value: object) -> object:
        if isinstance(value, dict) and any(key in keys and not isinstance(value[key], dict | Table) for key in value):
            raise wrong(f"a name for each, as in [{table}.NAME]", value=value)
        return value

    return BeforeValidator(check)


class Scenario(Table):
    """Everything that a run depends on. Objects are immutable: `set` returns a changed copy.

    Raises:
        ScenarioError: Something in it is wrong; the message names key, value and what was expected.

    Example:
        >>> scenario = tl.Scenario(
        ...     duration="10 s",
        ...     link={"wire": tl.Link(ends=("a", "b"), rate="2 Mbit/s", delay="10 ms")},
        ...     traffic={"ftp": tl.Bulk(from_="a", to="b")},
        ... )
        >>> scenario.set("link.wire.delay", "20 ms").link["wire"].delay
        '20 ms'
    """

    profile: Annotated[str, choice(*PROFILES)] = DEFAULT_PROFILE
    """Transport defaults: ns2, rfc or linux (``tightlink list profiles``)."""
    duration: Period
    """The simulated interval is from 0 to here."""
    seed: Annotated[int, whole(0, LARGEST_SEED)] = 1
    """Seed of every random stream."""
    topology: Annotated[dict[Name, AnyTopology], named("topology", "kind")] = Field(default_factory=dict)
    """Networks made from a few keys, by name."""
    link: Annotated[dict[Name, Link], named("link", "ends", "rate")] = Field(default_factory=dict)
    """Links, by name."""
    node: dict[NodeNames, Node] = Field(default_factory=dict)
    """Processors of nodes, by the name of the node or the group."""
    traffic: Annotated[dict[Name, Traffic], named("traffic", "kind", "from", "to")] = Field(default_factory=dict)
    """Flows and groups of flows, by name."""
    routing: Routing | None = None
    """Which of several shortest paths flows take."""
    observe: Observe | None = None
    """What is recorded beyond the totals."""

    _file: str | None = PrivateAttr(default=None)
    _changed: tuple[str, ...] = PrivateAttr(default=())
    _explicit: Self | None = PrivateAttr(default=None)

    @classmethod
    def _meant_key(cls, key: str, data: Mapping[str, Any]) -> str | None:
        return whole_path(key, data)

    def _check(self) -> None:
        interval = self.observe and self.observe.interval
        if interval and units.time(interval) > units.time(self.duration):
            expected = f"at most the duration, {self.duration}: else there is no sample"
            raise wrong(expected, key="observe.interval", value=interval)
        # What has rows of one name in one of these tables.
        delayed = self.traffic if self.observe and self.observe.delays else ()
        dropping = (name for name, node in self.node.items() if interval and node.processor)
        for key in (*(f"traffic.{name}" for name in delayed), *(f"node.{name}" for name in dropping)):
            link = f"link.{key.partition('.')[2]}"
            if link[5:] in self.link:
                table = "delays" if key.startswith("traffic") else "series"
                expected = f"{link} has the same name, by which the table {table} tells them apart: name one otherwise"
                raise wrong(expected, key=key, statement=True)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, file: str | None = None, changed: tuple[str, ...] = ()) -> Self:
        """The scenario of nested dictionaries, as TOML gives them.

        Args:
            data: Tables with TOML's keys.
            file: Name to give in errors.
            changed: Keys in it that come from ``--set`` rather than from the file.
        """
        data = arguments.table("data", data, "a table of a scenario's keys")
        try:
            scenario = cls.model_validate(dict(data), by_alias=True, by_name=False)
        except ValidationError as error:
            # Not at the top: no scenario that is right needs it.
            from tightlink.scenario.described import example

            problems = scenario_error(error, partial(example, cls), file, changed)
            for problem in (problems, *problems.others):
                cls._suggest_node(problem, data)
            raise problems from None
        return scenario._stamped(file, changed)  # noqa: SLF001

    @classmethod
    def _suggest_node(cls, problem: ScenarioError, data: Mapping[str, Any]) -> None:
        """Say which node, or which group of them, was meant by what is no name of any."""
        if problem.suggestion or not isinstance(problem.value, str) or A_NODE not in problem.expected:
            return
        try:
            network = {key: data[key] for key in ("topology", "link") if key in data}
            found = cls.model_validate({"duration": "1 s"} | network, by_alias=True, by_name=False)
            nodes = [node for name, topology in found.topology.items() for node in topology.nodes(name)]
            groups = [group for name, topology in found.topology.items() for group in topology.groups(name)]
        except (ValidationError, ScenarioError):
            return
        nodes += [end for link in found.link.values() for end in link.ends]
        meant = meant_node(problem.value, nodes, groups)
        problem.suggestion = show(meant) if meant else None

    def _stamped(self, file: str | None, changed: tuple[str, ...]) -> Self:
        self._file, self._changed = file, changed  # type: ignore[misc]
        if file is not None:
            for _, _, reader in self._readers():
                reader.stands_in(Path(file).parent)
        return self

    def _readers(self) -> Iterator[tuple[str, str, AnyTopology | Transfers]]:
        """What may read other files, each with the key of its tables and its name."""
        for name, topology in self.topology.items():
            yield "topology", name, topology
        for name, traffic in self.traffic.items():
            if isinstance(traffic, Transfers):
                yield "traffic", name, traffic

    _elsewhere: ClassVar[Mapping[str, str]] = {
        "load": "tl.load(path)",
        "from_file": "tl.load(path)",
        "loads": "tl.loads(text)",
        "from_toml": "tl.loads(text)",
        "run": "tl.simulate(scenario)",
        "simulate": "tl.simulate(scenario)",
        "sweep": "tl.sweep(scenario, vary)",
        "to_dict": ".written()",
        "save": ".to_toml()",
    }

    @property
    def file(self) -> str | None:
        """The name of the file that it was loaded from, if any."""
        return self._file

    @property
    def changed(self) -> tuple[str, ...]:
        """The keys that were changed since, by `set` or the command's ``--set``."""
        return tuple(dict.fromkeys(self._changed))

    @answered(
        as_keys("scenario.set({key}, {value})"),
        beside='; set_all takes several keys, such as {"duration": "5 s", "seed": 2}',
    )
    def set(self, key: str, value: object) -> Self:
        """A copy with one key changed, or removed where the value is None.

        Args:
            key: Full dotted path, such as ``link.bottleneck.rate`` or ``traffic[*].tcp.window``.
            value: As in TOML: quantities are text with units.

        Raises:
            ScenarioError: The key hits nothing, or the value is wrong.

        Example:
            >>> import tightlink as tl
            >>> dsl = tl.network("dsl").set("link.access.queue", "20 packets").set("observe", None)
            >>> dsl.link["access"].queue, dsl.observe
            ('20 packets', None)
        """
        return self.set_all({key: value})

    @answered(as_keys("scenario.set({key}, {value})"))
    def set_all(self, changes: Mapping[str, object]) -> Self:
        """A copy with several keys changed at once: what holds between keys is checked at the end.

        Args:
            changes: Values by full dotted path, as `set` takes them.

        Raises:
            ScenarioError: A key hits nothing, or a value is wrong.

        Example:
            >>> import tightlink as tl
            >>> tl.network("dsl").set_all({"duration": "5 s", "seed": 7}).seed
            7
        """
        data = before = self.written()
        changes = arguments.table("changes", changes, 'a table, such as { "duration": "10 s" }')
        for key, value in changes.items():
            data = override(data, arguments.text("key", key, "a dotted key, such as link.bottleneck.rate"), value)
        try:
            return self.from_dict(data, file=self._file, changed=(*self._changed, *changes))
        except ScenarioError as error:
            raise in_unit_of_before(error, before) from None

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Pydantic's way to write `set_all`: what is changed is checked as if it had been written so."""
        return self.set_all(update) if update else super().model_copy(deep=deep)

    def explicit(self) -> Self:
        """The same scenario with every default of its profile filled in."""
        if self._explicit is None:
            from tightlink.scenario.defaults import filled

            with self._placed():
                made = self.from_dict(filled(self))._stamped(self._file, self._changed)  # noqa: SLF001
            # Kept, as nothing of a scenario changes: a run asks for it twice.
            self._explicit = made  # type: ignore[misc]
        return self._explicit

    def resolve(self) -> dict[str, Any]:
        """What the engine simulates: SI units, groups expanded, defaults filled in.

        Raises:
            ScenarioError: Names that do not exist, times out of order, sizes that do not fit: all
                that takes the whole scenario to see.
        """
        from tightlink.scenario.resolve import resolve

        explicit = self.explicit()
        with self._placed():
            return resolve(explicit)

    @contextmanager
    def _placed(self) -> Iterator[None]:
        """Errors raised inside say which file, or which option, the key came from."""
        try:
            yield
        except ScenarioError as error:
            raise placed(error, self._file, self._changed) from None

    def written_out(self) -> Self:
        """The same scenario with what it reads from other files written out."""
        tables: dict[str, dict[str, Any]] = {}
        for key, name, table in self._readers():
            with self._placed(), below(f"{key}.{name}"):
                whole = table.written_out()
            if whole is not table:
                tables.setdefault(key, {})[name] = whole.written()
        if not tables:
            return self
        data = self.written()
        return self.from_dict(
            data | {key: data[key] | changed for key, changed in tables.items()}, file=self._file, changed=self._changed
        )

    def to_toml(self) -> str:
        """The scenario as TOML, with what was set and nothing else; what it reads from other files is written out."""
        return toml.dump(self.written_out().written())

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """JSON Schema of the TOML file, for editors that complete and check while typing."""
        return cls.model_json_schema(by_alias=True) | {"$schema": "https://json-schema.org/draft/2020-12/schema"}

    def _repr_html_(self) -> str:
        """For notebooks: the network, drawn, above the scenario as TOML."""
        from tightlink.scenario.drawing import drawing

        try:
            picture = drawing(self.resolve())
        except ScenarioError as error:
            picture = f"<p><b>Not complete:</b> {html.escape(str(error))}</p>"
        return f"{picture}<details><summary>Scenario</summary><pre>{html.escape(self.to_toml())}</pre></details>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.written() == other.written()

    def __hash__(self) -> int:
        return hash(json.dumps(self.written(), sort_keys=True))
