"""A scenario measured: real senders on real transports, over an emulated link; the result is a run like any other.

Example:
    >>> import tightlink as tl
    >>> measure(tl.network("dsl"), sender="netperf")
    Traceback (most recent call last):
    tightlink.errors.TightlinkError: sender = "netperf": expected one of probe, iperf3
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink import units
from tightlink.errors import TightlinkError, located, one_of
from tightlink.measure import metadata, settings
from tightlink.measure.burning import as_router, input_ring
from tightlink.measure.echo import Echoes
from tightlink.measure.hosts import QUEUE, Device, Hosts, lay_out, unread
from tightlink.measure.plan import Plan
from tightlink.measure.relay import InvalidMeasurementError, Relay, check_read, check_waited, relay_spec
from tightlink.measure.results import Measured, attempted, run
from tightlink.measure.sender_iperf3 import Iperf3
from tightlink.measure.sender_iperf3 import warnings as of_iperf3
from tightlink.measure.sender_probe import Probe
from tightlink.measure.sending import Job, Sender, jobs, not_kept
from tightlink.measure.testbed import Bed
from tightlink.progress import Progress
from tightlink.run import Run
from tightlink.scenario import Scenario

SENDERS: Final[dict[str, Callable[[], Sender]]] = {"probe": Probe, "iperf3": Iperf3}
_NS: Final = 1e9
#: From the beginning of the relay to the beginning of the scenario, in seconds.
_LEAD_S: Final = 0.3
#: When a scenario begins whose link changes, from the begin of the link, and how long before that all must be ready.
_READY_S: Final = 2.5
_SHORTEST_S: Final = 0.1
#: How often senders are asked what is due, in seconds.
_STEP_S: Final = 0.005
#: How often it is told how far it is, in seconds.
_TELLS_S: Final = 0.2
#: Samples of connections where the scenario does not say how often, in seconds.
_SAMPLES_S: Final = 0.1


@dataclass(frozen=True)
class MeasurementProgress(Progress):
    """How far a measurement is (`tightlink.progress`)."""

    passed_s: float
    """Of the scenario's time, in seconds."""
    duration_s: float

    @property
    def share(self) -> float:
        """What has passed of it, from 0 to 1."""
        return self.passed_s / self.duration_s

    def __str__(self) -> str:
        times = f"{units.format_time(round(self.passed_s, 1))} of {units.format_time(self.duration_s)}"
        return f"measuring, {times}"


def measure(  # noqa: PLR0913
    scenario: Scenario,
    *,
    sender: str = "probe",
    links: Sequence[str] = (),
    device: Device = "tun",
    echo_s: float | None = None,
    late_s: float | None = None,
    burn: bool = False,
    tries: int = 1,
    beside: int = 0,
    watch: Callable[[MeasurementProgress], None] | None = None,
) -> Run:
    """Measure a scenario in real time.

    Args:
        scenario: What to measure: links that its flows cross are emulated between hosts of this machine.
        sender: What sends and receives: ``probe``, which is exact, or ``iperf3``, the witness.
        links: The links to emulate, instead of the slowest on the way of each flow.
        device: Kind of devices between the hosts and the links: ``tun``, or ``packet`` for Ethernet frames.
        echo_s: Interval of echoes beside the traffic, in seconds; without it there are none.
        late_s: A packet that the link forwards later than this after it was due is late, in seconds.
        burn: Whether the processor time that packets cost the router is spent, instead of added up.
        tries: How often to try where the machine was too busy.
        beside: How many others are measured on this machine meanwhile: their links share its processors.
        watch: Told now and then how far it is.

    Raises:
        ScenarioError: The scenario cannot be measured; the sentence says why.
        InvalidMeasurementError: The machine was too busy for the link to be what it should have been.
        TightlinkError: The machine lacks something, or a sender failed.
    """
    plan, wanted = check(scenario, sender=sender, links=links)
    spec = relay_spec(plan, device, late_s=late_s, burn=burn, beside=beside)
    return attempted(tries, lambda: _once(plan, device, _Work(wanted, SENDERS[sender](), spec, burn, echo_s, watch)))


def check(scenario: Scenario, *, sender: str = "probe", links: Sequence[str] = ()) -> tuple[Plan, Sequence[Job]]:
    """How a scenario is measured, as far as it is known before anything is made: its hosts, and what they send.

    The arguments are those of `measure`.
    """
    if sender not in SENDERS:
        raise TightlinkError(f'sender = "{sender}": expected {one_of(SENDERS)}')
    plan = Plan.of(scenario, links=links)
    settings.of_hosts(plan)
    settings.largest_packet(plan)
    wanted = jobs(plan)
    with located(scenario.file):
        SENDERS[sender]().check(wanted)
    return plan, wanted


@dataclass(frozen=True)
class _Work:
    """What is to be done in a bed."""

    jobs: Sequence[Job]
    sender: Sender
    relay: dict[str, Any]
    burns: bool
    """Whether the relay spends a router's processor time."""
    echo_s: float | None
    watch: Callable[[MeasurementProgress], None] | None


def _once(plan: Plan, device: Device, work: _Work) -> Run:
    warnings = [*plan.warnings, *not_kept(work.jobs)]
    warnings += of_iperf3(work.jobs) if work.sender.name == "iperf3" else []
    own = settings.differences(plan)
    if own:
        warnings.append(f"as Linux does it, not as in the scenario: {', '.join(own)}")
    before = metadata.load()
    started = time.monotonic()
    with Bed() as bed:
        ring = input_ring(plan, device) if work.burns else QUEUE
        hosts = lay_out(bed, plan, device, queue=ring)
        with contextlib.closing(hosts):
            warnings += [f"not set: {text}" for text in hosts.not_set]
            known = metadata.machine() | {"hosts": metadata.hosts(bed, plan)}
            if work.watch is not None:
                work.watch(MeasurementProgress(0.0, plan.resolved["duration_s"]))
            measured = _measured(bed, hosts, plan, work)
    known |= metadata.between(before, metadata.load())
    timing = {"wall_s": time.monotonic() - started}
    return run(measured, device=device, mtu=hosts.mtu, warnings=warnings, host=known, timing=timing)


def _measured(bed: Bed, hosts: Hosts, plan: Plan, work: _Work) -> Measured:
    duration_s, interval_s = plan.resolved["duration_s"], plan.resolved["observe"]["interval_s"]
    sender = work.sender
    try:
        # A link that changes must know beforehand when the scenario begins.
        planned_ns = time.monotonic_ns() + int(_READY_S * _NS) if plan.changes else None
        with Relay(work.relay | {"begins_ns": planned_ns}, hosts.ports, trace=True) as relay:
            sender.prepare(bed, work.jobs, sample_s=min(_SAMPLES_S, interval_s or _SAMPLES_S))
            now_ns = time.monotonic_ns()
            begin_ns = planned_ns or now_ns + int(_LEAD_S * _NS)
            if begin_ns < now_ns + int(_SHORTEST_S * _NS):
                raise InvalidMeasurementError(f"lateness: the hosts were not ready within {_READY_S:g} s")
            began = time.time() + (begin_ns - now_ns) / _NS
            sender.begin(begin_ns)
            before = relay.scheduled
            with _echoes(bed, work) as echoes:
                _wait(relay, sender, begin_ns, duration_s, work.watch)
            after = relay.scheduled
            sender.finish()
            relayed = relay.finish()
            # Of packet sockets the relay itself knows.
            lost = unread(bed, plan) if work.relay["device"] == "datagram" else 0
            if work.burns:
                load = None if before is None or after is None else _load(before, after, duration_s)
                relayed = as_router(relayed, lost, load=load)
            else:
                check_read(lost)
    finally:
        sender.stop()
    trips = None if echoes is None else echoes.samples(begin_ns)
    return Measured(plan, work.jobs, sender, relayed, begin_ns, began, trips)


def _load(before: tuple[float, float], after: tuple[float, float], duration_s: float) -> float:
    """The share of the time in which the router had its processor.

    Raises:
        InvalidMeasurementError: Something else had it too often.
    """
    ran_s, waited_s = (later - sooner for sooner, later in zip(before, after, strict=True))
    check_waited(waited_s, duration_s)
    # It was looked at a moment before and a moment after.
    return min(1.0, ran_s / duration_s)


def _echoes(bed: Bed, work: _Work) -> contextlib.AbstractContextManager[Echoes | None]:
    """Beside the first flow, in its direction."""
    if work.echo_s is None:
        return contextlib.nullcontext()
    first = work.jobs[0]
    return Echoes(bed, first.sender, first.target[0], every_s=work.echo_s)


def _wait(
    relay: Relay, sender: Sender, begin_ns: int, duration_s: float, watch: Callable[[MeasurementProgress], None] | None
) -> None:
    """Let the scenario's time pass."""
    told = -1
    while (passed_s := (time.monotonic_ns() - begin_ns) / _NS) < duration_s:
        sender.step()
        if not relay.works:
            # It says why when it is asked.
            relay.finish()
            raise TightlinkError("the relay ended before the scenario")
        if watch is not None and int(passed_s / _TELLS_S) != told:
            told = int(passed_s / _TELLS_S)
            watch(MeasurementProgress(max(0.0, passed_s), duration_s))
        time.sleep(min(_STEP_S, max(0.0, duration_s - passed_s)))
    sender.step()
