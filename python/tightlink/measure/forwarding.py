"""A scenario measured over this machine's own forwarding path: the router is its kernel, and nothing is emulated.

Sender and router have a processor each, so what the one does is not the other's load. Whether the line, the router or
the sender was the slowest, `slowest` tells: what a slow sender got through is no capacity of a router.
"""

from __future__ import annotations

import os
import socket as sockets
import time
from dataclasses import asdict
from functools import partial
from typing import Any, Final, Literal

from tightlink import units
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.measure import metadata
from tightlink.measure.awake import kept_awake
from tightlink.measure.forwarding_sender import Sending, Work, send
from tightlink.measure.kernel_router import ETHERNET_BYTES, Did, KernelRouter
from tightlink.measure.plan import Plan
from tightlink.measure.relay import WAITS, InvalidMeasurementError, check_waited
from tightlink.measure.results import attempted, frame, identity, manifest, time_of_day
from tightlink.measure.sending import Job, jobs
from tightlink.measure.settings import UDP_HEADER
from tightlink.measure.testbed import Bed
from tightlink.measure.traffic import Constant
from tightlink.measure.trains import send_trains
from tightlink.progress import Watch
from tightlink.run import Framed, Run
from tightlink.scenario import Cbr, Link, Scenario, Udp

_BITS: Final = 8
_NS: Final = 1e9
#: Delays, in seconds, that make no difference.
_MOST_S: Final = 100e-6
#: Processors: of the sender, of the router.
_NEEDED: Final = 2
#: From the beginning of the sender to that of the scenario, in seconds.
_LEAD_S: Final = 0.05
#: What is on its way when the sender stops is through when nothing was counted for so long; at most so long.
_QUIET_S: Final = 0.02
_DRAINS_S: Final = 2.0
#: The largest share of the time for which others may have the sender's processor.
_SENDER_WAITS: Final = 0.1
#: What has passed is counted when the flow has stopped, and at most by so much of its time later.
_LATE: Final = 0.005
#: A processor that is busy so long is busy all the time.
FULL: Final = 0.95
_LINE_FULL: Final = 0.98

Slowest = Literal["line", "router", "sender"]

_SMALLEST_BYTES: Final = 100


def forward(scenario: Scenario, *, tries: int = 1, watch: Watch | None = None) -> Run:
    """Measure a scenario over a router that is the kernel of this machine.

    Args:
        scenario: One flow of datagrams, ``cbr`` or ``saturate``, from a host through a router without a processor of
            its own, whose faster link is the way in and whose slower one the line behind it; neither has a delay. More
            than 150,000/s come in trains; those that saturate as fast as one processor makes them, whatever the rate of
            the way in.
        tries: How often to try where the machine was too busy.
        watch: Told now and then how far it is.

    Returns:
        A run like any other: ``load_reported`` of the router is the share of the time for which its thread ran. There
        are no latencies, for nobody reads the datagrams.

    Raises:
        ScenarioError: The scenario is another.
        InvalidMeasurementError: The machine was too busy.
        TightlinkError: The machine lacks something: processors, namespaces, threads of the kernel that forward.
    """
    plan = Plan.of(scenario)
    work = Work(plan, _job(plan), _processors(), watch)
    return attempted(tries, partial(_once, work))


def try_out() -> None:
    """Find out whether this machine can be such a router, and its sender fast enough: a few packets.

    Raises:
        TightlinkError: What it lacks.
    """
    _processors()
    with Bed() as bed:
        plan = Plan.of(_smallest())
        job = _job(plan)
        KernelRouter.lay_out(bed, plan, packet_bytes=_SMALLEST_BYTES)
        with bed.socket(job.sender, sockets.SOCK_DGRAM) as end:
            end.connect(job.target)
            now_ns = time.monotonic_ns()
            # One train: the next would be due when this is over.
            send_trains(
                end, payload_bytes=job.payload_bytes, begin_ns=now_ns, stop_ns=now_ns + int(_NS), interval_s=1.0
            )


def _smallest() -> Scenario:
    return Scenario(
        profile="rfc",
        duration="1 s",
        link={
            "in": Link(ends=("sender", "router"), rate="2 Mbit/s", delay="1 us"),
            "line": Link(ends=("router", "receiver"), rate="1 Mbit/s", delay="1 us", queue="1 packets"),
        },
        traffic={"probe": Cbr(from_="sender", to="receiver", interval="1 s", udp=Udp(datagram=f"{_SMALLEST_BYTES} B"))},
    )


def slowest(run: Run) -> Slowest:
    """What limited such a run: the line if it was full, the router if its thread ran all the time, else the sender."""
    if float(run.links["utilization"][0]) >= _LINE_FULL:
        return "line"
    return "router" if float(run.nodes["load_reported"][0]) >= FULL else "sender"


def _job(plan: Plan) -> Job:
    found = jobs(plan)
    flow = plan.flows()[0]
    key = f"traffic.{flow['group']}"
    if (
        len(found) != 1
        or found[0].tcp
        or not isinstance(found[0].pattern, Constant)
        or plan.hosts[found[0].sender].side != 0
    ):
        text = "what the kernel is to forward is one flow of datagrams, cbr or saturate, in the direction of the link"
        raise ScenarioError(text, key=key, statement=True).located(plan.scenario.file)
    if len(plan.links) > 1:
        text = f"between the kernel as a router and the receiver is one link, and slowest are {', '.join(plan.links)}"
        raise ScenarioError(text, key=f"link.{plan.links[1]}", statement=True).located(plan.scenario.file)
    if plan.processor is not None:
        name = plan.processor[0]
        text = f"{name} is to be the machine's kernel, whose packets cost what they cost"
        raise ScenarioError(text, key=f"node.{name}.processor", statement=True).located(plan.scenario.file)
    (link,), round_trip_s = plan.links, plan.round_trip_s(found[0].sender, found[0].receiver)
    if round_trip_s > _MOST_S:
        text = f"delays of at most {units.format_time(_MOST_S)} there and back: the kernel's own path has next to none"
        value = units.format_time(round_trip_s)
        raise ScenarioError(text, key=f"link.{link}.delay", value=value).located(plan.scenario.file)
    limit = plan.directions[0]["queue"]["limit"]
    if limit == "unlimited" or "packets" not in limit:
        text = "the queue of the line behind a router that is the kernel is in packets"
        raise ScenarioError(text, key=f"link.{link}.queue", statement=True).located(plan.scenario.file)
    return found[0]


def _processors() -> tuple[int, int]:
    own = sorted(os.sched_getaffinity(0))
    if len(own) < _NEEDED:
        raise TightlinkError(
            "a router that is the kernel takes a processor beside that of its sender: here is only one"
        )
    # The first is what most of a system's interrupts go to.
    return own[0], own[-1]


def _once(work: Work) -> Run:
    started = time.monotonic()
    with kept_awake(), Bed() as bed:
        router = KernelRouter.lay_out(bed, work.plan, packet_bytes=work.packet_bytes)
        pinned = router.stay_on(work.processors[1])
        known = metadata.machine() | {"hosts": metadata.hosts(bed, work.plan)}
        busy = metadata.load()
        before = router.sample()
        begin_ns, began = time.monotonic_ns() + int(_LEAD_S * _NS), time.time() + _LEAD_S
        sending = send(bed, work, begin_ns)
        ended = router.sample()
        known |= metadata.between(busy, metadata.load())
        during, after = ended.since(before), _drained(router).since(before)
    lasts_ns = int(work.job.stop_s * _NS)
    _check(during, sending, late=(ended.time_ns - begin_ns) / lasts_ns - 1, steal=known["cpu_steal"] or 0.0)
    told = manifest(
        work.plan.scenario,
        identity(work.plan, "kernel", began),
        sender=dict(sending.facts),
        link={"names": list(work.plan.links), "device": "veth", "mtu_bytes": work.packet_bytes},
        began=time_of_day(began),
        host=known,
        forwarding=asdict(during) | {"pinned": pinned, "processors": work.processors},
        timing={"wall_s": time.monotonic() - started},
        warnings=[f"the receiving host had no room for {full} packets"] if (full := after.dropped_out) else [],
    )
    return Run(work.plan.scenario, told, Framed(tables(work.plan, work.job, sending.sent, during, after)))


def _check(during: Did, sending: Sending, *, late: float, steal: float) -> None:
    """Refuse what others took part in.

    ``late`` is by how much longer the router's packets were counted than the flow lasted, over that.
    """
    if steal > WAITS:
        raise InvalidMeasurementError(
            f"lateness: other machines had {steal:.1%} of the processors' time, and at most {WAITS:.0%} are accepted"
        )
    check_waited(during.waited_s, during.passed_s)
    if sending.facts.get("busy", 1.0) < 1 - _SENDER_WAITS:
        had = f"{sending.facts['busy']:.0%}"
        raise InvalidMeasurementError(
            f"lateness: the sender had its processor for {had} of the time: the machine is too busy"
        )
    if late > _LATE:
        raise InvalidMeasurementError(
            f"lateness: packets were counted for {late:.1%} longer than the flow lasted: the machine is too busy"
        )


def _drained(router: KernelRouter) -> Any:
    """What the router has done when nothing is on its way any more."""
    until = time.monotonic() + _DRAINS_S
    last = router.sample()
    while time.monotonic() < until:
        time.sleep(_QUIET_S)
        now = router.sample()
        if (now.packets_in, now.packets_out) == (last.packets_in, last.packets_out):
            break
        last = now
    return last


def tables(plan: Plan, job: Job, sent: int, during: Did, after: Did) -> dict[str, Any]:
    """The tables of a run: ``during`` is until the flow stopped, ``after`` until what was on its way was through."""
    link = plan.directions[0]
    size = job.payload_bytes + UDP_HEADER
    lasted_s = job.stop_s - job.start_s
    delivered = during.packets_out
    flow = {
        "flow": job.index,
        "label": job.label,
        "from": job.sender,
        "to": job.receiver,
        "transport": "udp",
        "start_s": job.start_s,
        "stop_s": job.stop_s,
        "packets_sent": sent,
        "packets_delivered": delivered,
        "packets_dropped": sent - after.packets_out,
        "bytes_sent": sent * size,
        "bytes_delivered": delivered * size,
        "goodput_bps": _BITS * delivered * job.payload_bytes / lasted_s,
        "throughput_bps": _BITS * delivered * size / lasted_s,
    }
    line = {
        "link": plan.links[0],
        "from": plan.node(link["from"]),
        "to": plan.node(link["to"]),
        "packets_in": during.packets_in,
        "packets_out": delivered,
        "packets_dropped": after.packets_in - after.packets_out,
        "bytes_out": delivered * size,
        "utilization": _BITS * delivered * (size + ETHERNET_BYTES) / (link["rate_bps"] * lasted_s),
    }
    node = {
        "node": plan.node(link["from"]),
        "packets_in": sent,
        "packets_served": after.packets_in,
        "dropped_input_ring": sent - after.packets_in,
        "dropped_output_ring": after.packets_in - after.packets_out,
        "load_reported": during.ran_s / lasted_s,
    }
    return {"flows": frame("flows", [flow]), "links": frame("links", [line]), "nodes": frame("nodes", [node])}
