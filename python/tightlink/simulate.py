"""Running a scenario in the engine."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tightlink import arguments, control, units
from tightlink.calls import answered
from tightlink.errors import Argument, ScenarioError, TightlinkError, closest, one_of
from tightlink.files import check_new
from tightlink.lazy import _core
from tightlink.progress import Progress, check_watch
from tightlink.run import SIMULATION, Run, Simulated
from tightlink.scenario import Scenario
from tightlink.scenario.as_keys import as_keys
from tightlink.scenario.beside_users import check_trace
from tightlink.scenario.idle import idle, idle_networks
from tightlink.scenario.memory import Memory, check_fits, needed
from tightlink.scenario.overrides import values_at
from tightlink.scenario.values import LARGEST_PACKET

#: More than a machine has processors are not started, however many are asked for.
_MOST_THREADS: Final = 1024
#: A run that ends before anything of it happens.
_AT_ONCE_S: Final = 1e-9
#: Of more the engine would take seconds to make what it checks.
_MOST_SOURCES_CHECKED: Final = 10_000
_MEMBER: Final = re.compile(r"\[\d+\]")
#: How the names of captures end.
_CAPTURES: Final = (".pcapng", ".pcap")
#: What fits into an IP datagram, which has 16 bits for its length, beside its header.
_MOST_CUT_BYTES: Final = LARGEST_PACKET - 20


@answered(as_keys("tl.simulate(scenario.set({key}, {value}))", "tl.sweep(scenario, {{{key}: {value}}})"))
def simulate(  # noqa: PLR0913
    scenario: Scenario,
    *,
    seed: int | None = None,
    trace: bool = False,
    tr: str | os.PathLike[str] | None = None,
    pcap: str | os.PathLike[str] | None = None,
    pcap_at: Sequence[str] | None = None,
    threads: int | None = None,
    watch: Callable[[SimulationProgress], None] | None = None,
    part: bool = False,
) -> Run:
    """Simulate a scenario, packet by packet.

    Args:
        scenario: What to simulate.
        seed: Seed to use instead of the scenario's.
        trace: Whether to record what happens to every packet (`Run.packets`).
        tr: File to write the packets to in ns-2's 12-column format; it must not exist yet.
        pcap: File to write the packets to as a capture with times in nanoseconds, ``.pcapng`` or ``.pcap``; it must not
            exist yet. Packets have their headers, and no payload.
        pcap_at: Nodes at which packets are captured, or groups such as ``net.left[*]``, each packet once at each of
            them; without it each flow at the host that sends its data.
        threads: Threads to use at most; without it, as many as there are processors that other programs leave. Of these
            as many are used as make the run faster (`manifest["timing"]["threads"]`); the tables do not depend on it.
        watch: Told now and then how far the run is. What it raises ends the run, and is raised.
        part: Whether a run that is interrupted by Ctrl-C returns what was measured until then, marked as a part,
            instead of raising KeyboardInterrupt.

    Returns:
        The run, whose tables are in memory.

    Raises:
        ScenarioError: The scenario cannot be simulated.
        TightlinkError: An option is wrong, or a file to write to exists.

    Example:
        >>> import tightlink as tl
        >>> scenario = tl.loads('''
        ... profile = "ns2"
        ... duration = "2 s"
        ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
        ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        ... ''')
        >>> run = tl.simulate(scenario)
        >>> run.flows.select("label", "packets_sent", "goodput_bps").rows()
        [('ftp', 486, 1868000.0)]
        >>> tl.simulate(scenario, trace=True).packets["event"].unique().sort().to_list()
        ['+', '-', 'r']
    """
    check_scenario(scenario)
    if seed is not None:
        scenario = with_seed(scenario, seed)
    check_watch(watch)
    threads = check_threads(threads)
    trace = arguments.truth("trace", trace, "; tr and pcap name files to write")
    part = arguments.truth("part", part)
    if trace or tr is not None or pcap is not None:
        check_trace(scenario)
    prepared = prepare(scenario)
    if pcap is not None:
        _check_fragments(prepared)
    watched = Watched(
        trace=trace,
        tr=_written("tr", tr),
        pcap=_capture_file(pcap),
        pcap_at=_places(prepared, pcap_at, captured=pcap is not None),
    )
    watcher = None if watch is None else _Watcher(watch, units.time(scenario.duration))
    try:
        with _of_profile(scenario):
            outcome = prepared.simulate(watched, threads=threads, watch=watcher, part=part)
    except KeyboardInterrupt:
        if watcher is None or watcher.raised is None:
            raise
    if watcher is not None and watcher.raised is not None:
        raise watcher.raised
    return Run(scenario, prepared.manifest(outcome), Simulated(outcome))


def check(scenario: Scenario) -> dict[str, Any]:
    """Refuse what cannot be simulated, also what only the engine sees, which ends before anything is sent.

    Args:
        scenario: What `simulate` would take. Of many users the engine checks nothing: it would make all of them first.

    Returns:
        The scenario with all quantities in SI units.

    Raises:
        ScenarioError: It cannot be simulated.

    Example:
        >>> import tightlink as tl
        >>> check(tl.network("dsl").set("traffic.download.tcp.congestion", "bbr").set("profile", "ns2"))
        Traceback (most recent call last):
        tightlink.errors.ScenarioError: traffic.download.tcp.recovery = "reno": expected "sack" or "rack" with bbr, \
which samples the rate of deliveries; this is what profile ns2 has
    """
    resolved = scenario.resolve()
    memory = needed(resolved)
    if memory is None or memory.sources <= _MOST_SOURCES_CHECKED:
        at_once = json.dumps(resolved | {"duration_s": _AT_ONCE_S}, allow_nan=False)
        with _of_profile(scenario):
            _in_engine(at_once, Watched())
    return resolved


@contextmanager
def _of_profile(scenario: Scenario) -> Iterator[None]:
    """Within it, errors of the engine name the file, and the profile where it has the value and no line of the file."""
    try:
        yield
    except ScenarioError as error:
        # Of a member of a group, traffic.bulk[0], all of the group has what is written.
        key = _MEMBER.sub("", error.expected.partition(" = ")[0], count=1)
        if key.startswith("traffic.") and values_at(scenario.written(), key) in ([], [None]):
            error.expected += f"; this is what profile {scenario.profile} has"
        raise error.located(scenario.file) from None


def with_seed(scenario: Scenario, seed: int) -> Scenario:
    """The scenario with another seed, which is an argument by itself.

    Raises:
        ScenarioError: It is no seed.
    """
    try:
        return scenario.set("seed", seed)
    except ScenarioError as error:
        raise ScenarioError(error.expected, key=Argument("seed"), value=seed) from None


def check_scenario(scenario: object) -> None:
    """Refuse what is no scenario, above all the name of its file.

    Raises:
        TightlinkError: It is another thing.
    """
    if not isinstance(scenario, Scenario):
        read = ""
        if isinstance(scenario, str | os.PathLike):
            read = f"; tl.load({os.fspath(scenario)!r}) reads one from its file"
        elif isinstance(scenario, Mapping):
            read = "; tl.Scenario.from_dict makes one of it"
        elif isinstance(scenario, Run):
            read = "; run.scenario is that of a run"
        elif isinstance(scenario, list | tuple):
            read = "; [tl.simulate(each) for each in scenarios] runs several, tl.sweep one at many levels"
        raise TightlinkError(f"expected a Scenario, not {type(scenario).__name__}{read}")


def check_threads(threads: object) -> int | None:
    """A number of threads that a machine may have, or none.

    Raises:
        ScenarioError: It is not from 1 to 1024.
    """
    return None if threads is None else arguments.whole("threads", threads, least=1, most=_MOST_THREADS)


def expected_threads(resolved: dict[str, Any], threads: int | None = None) -> str:
    """The threads that a run of a resolved scenario uses, of so many at most, and why: a sentence.

    Args:
        resolved: The scenario with all quantities in SI units.
        threads: Those that it may use; without it, as many as there are processors that other programs leave.
    """
    if threads == 1:
        return "a run uses 1 thread"
    try:
        several, share, turn_s, packet_hops, tried_after_s = _core.threads(json.dumps(resolved), threads)
    except _core.ScenarioError as error:
        return f"a run uses 1 thread: {error}"
    if several == 1:
        return "a run uses 1 thread: more would not be faster here"
    epoch = units.format_time(float(f"{turn_s:.3g}"))
    parts = (
        f"the heaviest of {several} parts has {share:.0%} of the load, and they meet every {epoch} of simulated time, "
        f"after the work of {packet_hops:.2g} packet-hops"
    )
    if tried_after_s is None:
        return f"a run uses {several} threads: {parts}"
    return f"a run uses 1 thread, and tries {several} if it takes more than {tried_after_s:g} s: {parts}"


def _in_engine(resolved: str, watched: Watched, **options: Any) -> _core.Outcome:
    """Run the engine over a resolved scenario, and raise what it says of it."""
    try:
        return _core.simulate(resolved, make=control.make, **options, **vars(watched))
    except _core.ScenarioError as error:
        raise ScenarioError(str(error), statement=True) from None
    except _core.ControlError as error:
        raise TightlinkError(control.trouble(error)) from error.__cause__


@dataclass(frozen=True)
class SimulationProgress(Progress):
    """How far a run is (`tightlink.progress`)."""

    simulated_s: float
    """What has been simulated, in seconds."""
    duration_s: float
    """All that is to be, in seconds."""
    packet_hops: int | None
    """Crossings of links and interfaces so far."""
    sending: int | None
    """Sources that send, in a run with users or scatter."""
    wall_s: float
    """Since the run began, in seconds."""

    @property
    def share(self) -> float:
        """What has been simulated of it, from 0 to 1."""
        return self.simulated_s / self.duration_s

    def __str__(self) -> str:
        parts = [f"{units.format_time(round(self.simulated_s, 1))} of {units.format_time(self.duration_s)}"]
        if self.sending is not None:
            parts.append(f"{self.sending} sources sending")
        if self.packet_hops is not None:
            parts.append(f"{self.packet_hops / max(self.wall_s, 1e-9) / 1e6:.1f} M packet-hops/s")
        return ", ".join(parts)


class _Watcher:
    """Tells a function of the user's how far a run is, and ends the run with what it raises."""

    def __init__(self, watch: Callable[[SimulationProgress], None], duration_s: float) -> None:
        self._watch, self._duration_s, self._begin = watch, duration_s, time.monotonic()
        self.raised: Exception | None = None

    def __call__(self, simulated_s: float, packet_hops: int | None, sending: int | None) -> None:
        wall_s = time.monotonic() - self._begin
        try:
            self._watch(SimulationProgress(simulated_s, self._duration_s, packet_hops, sending, wall_s))
        except Exception as error:
            self.raised = error
            # What ends the engine.
            raise KeyboardInterrupt from error


@dataclass(frozen=True)
class Watched:
    """What is recorded of packets."""

    trace: bool = False
    """The table `packets`."""
    tr: Path | None = None
    """A file in ns-2's format."""
    pcap: Path | None = None
    """A capture."""
    pcap_at: list[int] | None = None
    """The numbers of the nodes at which it is made; none: each flow's sender."""


@dataclass(frozen=True)
class Prepared:
    """A scenario as the engine gets it, and what is known of its run beforehand; cheap to send elsewhere."""

    identity: str
    """Hash of everything that the tables depend on: the resolved scenario, its seed, the engine's behaviour."""
    understood: dict[str, Any]
    """The scenario with its defaults."""
    seed: int
    engine_behaviour: int
    resolved: str
    """What the engine simulates, as JSON."""
    memory: Memory | None
    """What it will need, where that can be told."""
    warnings: tuple[str, ...]
    """What of it does nothing (`tightlink.scenario.idle`)."""

    @property
    def identified(self) -> dict[str, Any]:
        """The part of the manifest that is known before the run."""
        return {
            "identity": self.identity,
            "scenario": self.understood,
            "seed": self.seed,
            "engine_behaviour": self.engine_behaviour,
        }

    def simulate(
        self,
        watched: Watched | None = None,
        *,
        threads: int | None = 1,
        watch: Callable[[float, int | None, int | None], None] | None = None,
        part: bool = False,
    ) -> _core.Outcome:
        """Run the engine over the resolved scenario.

        Raises:
            ScenarioError: Only the engine sees what is wrong, or the run does not fit into this machine's memory.
            TightlinkError: A congestion control written in Python failed.
        """
        check_fits(self.memory)
        return _in_engine(self.resolved, watched or Watched(), threads=threads, watch=watch, part=part)

    def manifest(self, outcome: _core.Outcome) -> dict[str, Any]:
        """The manifest of a run."""
        found: dict[str, Any] = json.loads(outcome.manifest())
        found["warnings"] = [*self.warnings, *found["warnings"]]
        made = {"source": SIMULATION} | self.identified | found
        if outcome.until_s is None:
            return made
        # A part of a run is never taken for the run.
        until = units.format_time(float(f"{outcome.until_s:.4g}"))
        warning = f"interrupted: a part of the run only, until {until} of {self.understood['duration']}"
        part = {"identity": f"{self.identity} until {outcome.until_s} s", "part_until_s": outcome.until_s}
        return made | part | {"warnings": [*found["warnings"], warning]}


def prepare(scenario: Scenario) -> Prepared:
    """Resolve a scenario, once for all that a run needs of it.

    Raises:
        ScenarioError: The scenario cannot be simulated.
    """
    behaviour = _core.engine_behaviour
    tables = scenario.resolve()
    resolved = json.dumps(tables, sort_keys=True, allow_nan=False)
    inputs = f'{{"engine_behaviour": {behaviour}, "scenario": {resolved}}}'
    identity = hashlib.sha256(inputs.encode()).hexdigest()
    understood, memory, warnings = (
        scenario.explicit().written(),
        needed(tables),
        (*idle(tables), *idle_networks(scenario.link)),
    )
    return Prepared(identity, understood, scenario.seed, behaviour, resolved, memory, warnings)


def _written(name: str, path: str | os.PathLike[str] | None) -> Path | None:
    """A file that the engine writes while it runs: it makes no folders."""
    if path is None:
        return None
    file = arguments.path(name, path)
    check_new(file)
    if not file.parent.is_dir():
        raise TightlinkError(f"{file}: there is no folder {file.parent}")
    return file


def _capture_file(path: str | os.PathLike[str] | None) -> Path | None:
    file = _written("pcap", path)
    if file is not None and file.suffix not in _CAPTURES:
        raise TightlinkError(f"{file}: expected a name that ends in {' or '.join(_CAPTURES)}")
    return file


def _check_fragments(prepared: Prepared) -> None:
    """Refuse datagrams of which fragments would reach beyond what IP can address."""
    resolved = json.loads(prepared.resolved)
    smallest = min((link["mtu_bytes"] for link in resolved["links"] if link["mtu_bytes"] is not None), default=None)
    for flow in resolved["flows"]:
        udp = flow["transport"].get("udp")
        # A profile whose datagrams have headers keeps them within that.
        if udp is None or udp["header_bytes"] or smallest is None or udp["payload_bytes"] <= smallest:
            continue
        if udp["payload_bytes"] > _MOST_CUT_BYTES:
            raise ScenarioError(
                f"at most {_MOST_CUT_BYTES} B for a capture where a link has an MTU, here of {smallest} B: there "
                "fragments have IP headers, and with one a datagram has at most 65535 B",
                key=f"traffic.{flow['group']}.udp.payload",
                value=f"{udp['payload_bytes']} B",
            )


def _places(prepared: Prepared, names: Sequence[str] | None, *, captured: bool) -> list[int] | None:
    """The numbers of nodes by their names, or those of their groups."""
    if names is None:
        return None
    names = [arguments.text("pcap_at", name) for name in arguments.several("pcap_at", names)]
    if not captured:
        raise ScenarioError("a file for pcap beside it", key=Argument("pcap_at"), value=names)
    known = [node["name"] for node in json.loads(prepared.resolved)["nodes"]]
    places = []
    for name in names:
        group = name.removesuffix("*]")
        matches = [place for place, node in enumerate(known) if node == name or (group != name and _is_in(node, group))]
        if not matches:
            raise ScenarioError(one_of(known), key=Argument("pcap_at"), value=name, suggestion=closest(name, known))
        places += matches
    return places


def _is_in(node: str, group: str) -> bool:
    """Whether a node is one of a group, such as ``net.left[``."""
    return node.startswith(group) and node.removeprefix(group).removesuffix("]").isdecimal()
