"""Emulated links, in their own process, between the sides of a plan.

Example:
    Between two hosts of a testbed::

        with Bed() as bed:
            hosts = lay_out(bed, plan)
            with Relay(relay_spec(plan), hosts.ports) as relay:
                bed.run("sender", ["ping", "-c", "3", plan.hosts["receiver"].address], timeout_s=9)
                print(relay.finish().lateness["p99_s"])
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

from tightlink import units
from tightlink.errors import TightlinkError
from tightlink.lazy import _core, pl
from tightlink.measure.awake import kept_awake
from tightlink.measure.hosts import Device
from tightlink.measure.metadata import scheduled
from tightlink.measure.plan import Plan
from tightlink.measure.sides import Route
from tightlink.tables import TABLES, schema

_PROCESS: Final = Path(__file__).with_name("relaying.py")
#: What a relay may take to begin and, with a long trace, to end, in seconds; a busy machine included.
_BEGINS_S: Final = 60.0
_ENDS_S: Final = 300.0
#: Late is what comes later than this share of the time that the link takes with a full queue, and than this.
_LATE_SHARE: Final = 0.01
_LATE_S: Final = 100e-6
#: The share of time for which a relay may be awake and still spin; all relays together have a quarter of the machine.
_SPIN_SHARE: Final = 0.5
#: The largest share of the time for which others may have the processor of a router that spends its time.
WAITS: Final = 0.02
#: Packets of which the time that a full queue takes is told, in bytes.
_USUAL: Final = 1500
_DEVICES: Final = {"tun": "datagram", "packet": "packet"}


class InvalidMeasurementError(TightlinkError):
    """A link that was not what it should have been: what was measured over it is no result."""


def check_waited(waited_s: float, passed_s: float) -> None:
    """Check that a router had its processor when it needed it.

    Raises:
        InvalidMeasurementError: Something else had it for more than `WAITS` of the time.
    """
    if waited_s > WAITS * passed_s:
        raise InvalidMeasurementError(
            f"lateness: the router waited for a processor for {waited_s / passed_s:.1%} of the time, and at most "
            f"{WAITS:.0%} are accepted: the machine is too busy"
        )


def check_read(lost: int) -> None:
    """Check that a relay has read all packets."""
    if lost:
        raise InvalidMeasurementError(f"lateness: {lost} packets were lost before the relay could read them")


def relay_spec(
    plan: Plan,
    device: Device = "tun",
    *,
    duration_s: float | None = None,
    late_s: float | None = None,
    burn: bool = False,
    beside: int = 0,
) -> dict[str, Any]:
    """What a relay is to be, as crates/relay/src/spec.rs describes it.

    Without a duration it works until it is told to end, and without ``late_s`` packets are late by `late_after_s`. The
    other arguments are those of `tightlink.measure.measuring.measure`.

    Raises:
        TightlinkError: No router has a processor whose time could be spent.
    """
    if burn and plan.processor is None:
        raise TightlinkError("there is no processor time to spend: no router of the scenario has a processor")
    router = None
    if plan.processor is not None:
        node, side, processor = plan.processor
        router = {"node": node, "processor": processor, "port": side, "burn": burn}
    return {
        "profile": plan.resolved["profile"],
        "seed": plan.resolved["seed"],
        "duration_s": duration_s,
        "nodes": [node["name"] for node in plan.resolved["nodes"]],
        "links": list(plan.directions),
        "ports": [_port(plan, side) for side in range(plan.sides)],
        "routes": [_route(plan, route) for route in plan.routes],
        "processor": router,
        "device": _DEVICES[device],
        "lateness_bound_s": late_after_s(plan) if late_s is None else late_s,
        # What a router's processor does besides its packets would be a part of its load.
        "spin_share": 0.0 if burn else min(_SPIN_SHARE, _SPIN_SHARE * (os.cpu_count() or 1) / (2 * (1 + beside))),
    }


def _port(plan: Plan, side: int) -> dict[str, Any]:
    hosts = plan.of_side(side)
    # Where one link begins or ends, or the only host.
    node = plan.ends(side)[0] if len(plan.links) == 1 else hosts[0].name
    return {"node": node, "addresses": [host.address for host in hosts]}


def _route(plan: Plan, route: Route) -> dict[str, Any]:
    between = None
    if route.hosts is not None:
        source, destination = (plan.hosts[name].address for name in route.hosts)
        between = {"source": source, "destination": destination}
    return {
        "from": route.sides[0],
        "to": route.sides[1],
        "between": between,
        "links": route.links,
        "before_s": route.before_s,
        "gaps_s": route.gaps_s,
        "beyond_s": route.beyond_s,
    }


def late_after_s(plan: Plan) -> float:
    """When a packet is late, in seconds: 1 % of what the shortest way takes with full queues, at least 0.1 ms."""
    usual = (route for route in plan.routes if route.hosts is None and route.links)
    full_s = (plan.propagation_s(each) + sum(_wait_s(plan.directions[link]) for link in each.links) for each in usual)
    return max(_LATE_S, _LATE_SHARE * min(full_s))


def _wait_s(link: Mapping[str, Any]) -> float:
    """Seconds behind a full queue; one without a limit is taken as empty."""
    limit = link["queue"]["limit"]
    per_second = link["rate_pps"] or link["rate_bps"] / (8 * _USUAL)
    packets = 1.0
    if isinstance(limit, dict):
        packets = limit["packets"] if "packets" in limit else limit["bytes"] / _USUAL
    return float(packets / per_second)


@dataclass(frozen=True)
class Relayed:
    """What a relay did."""

    summary: Mapping[str, Any]
    """``duration_s``, ``links``, ``node``, ``lateness``, ``flows``, ``priority``, …: crates/relay/src/summary.rs."""
    tables: Mapping[str, pl.DataFrame]
    """``links``, ``nodes`` if a router has a processor, ``packets`` and ``deliveries`` if there is a trace."""

    @property
    def lateness(self) -> Mapping[str, Any]:
        """How much later than planned packets were forwarded, in seconds."""
        late: Mapping[str, Any] = self.summary["lateness"]
        return late

    def check(self) -> None:
        """Refuse what a link did that was not what it should have been."""
        late = self.lateness
        if late["invalid"]:
            bound, p99, most = (units.format_time(float(f"{late[name]:.3g}")) for name in ("bound_s", "p99_s", "max_s"))
            share, accepted = (units.format_fraction(round(late[f"share_{name}"], 4)) for name in ("late", "accepted"))
            # A router that burns its processor's time has another priority by intent.
            ordinary = self.summary["priority"] != "real-time" and self.summary["node"] is None
            asks = "; real-time priority helps, which takes root or CAP_SYS_NICE" if ordinary else ""
            raise InvalidMeasurementError(
                f"lateness: {share} of {late['packets']} packets were forwarded more than {bound} "
                f"after they were due, and at most {accepted} may be (99 % within {p99}, all within "
                f"{most}): the machine is too busy, or the link too fast for it{asks}"
            )
        check_read(self.summary["unread"])
        if self.summary["full"]:
            raise InvalidMeasurementError(
                "the relay had no room left for packets: its queue and its delay hold too many of them"
            )
        if self.summary["trace_lost"]:
            raise InvalidMeasurementError(
                f"{self.summary['trace_lost']} packets are missing in the trace: the disk is too slow for it"
            )


class Relay(contextlib.AbstractContextManager["Relay"]):
    """A relay at work; a context manager, at whose end it is gone.

    Its ports are descriptors of the devices of the sides; they stay the caller's.

    It has its own process, which ends when this one does, whatever ends that.
    """

    def __init__(self, spec: Mapping[str, Any], ports: Sequence[int], *, trace: bool = False) -> None:
        self._open = contextlib.ExitStack()
        #: Without a name, so that nothing is left of it.
        self._trace: IO[bytes] | None = tempfile.TemporaryFile() if trace else None  # noqa: SIM115
        self._stop, theirs = socket.socketpair()
        descriptor = None if self._trace is None else self._trace.fileno()
        request: dict[str, Any] = {"extension": _core.__file__, "spec": spec, "ports": [*ports]}
        request |= {"stop": theirs.fileno(), "trace": descriptor}
        passed = [*ports, theirs.fileno(), *([] if descriptor is None else [descriptor])]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_PROCESS)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=passed,
                # What Ctrl-C ends is for who started it to say.
                start_new_session=True,
            )
        try:
            router = spec["processor"]
            if router is None or not router["burn"]:
                # A router that burns has no real-time priority, and would wait now and then.
                self._open.enter_context(kept_awake())
            self._begin(json.dumps(request).encode())
        except BaseException:
            self.close()
            raise

    def _begin(self, request: bytes) -> None:
        if self._process.stdin is None:
            raise AssertionError("its input is a pipe")
        with contextlib.suppress(BrokenPipeError), self._process.stdin as pipe:
            pipe.write(request)
        self._process.stdin = None
        self._stop.settimeout(_BEGINS_S)
        try:
            began = self._stop.recv(1)
        except TimeoutError:
            raise TightlinkError(f"the relay did not begin within {_BEGINS_S:g} s") from None
        if not began:
            self._answer()
            raise TightlinkError("the relay ended before it began")

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def works(self) -> bool:
        """Whether it has not ended: of itself it ends with its duration, or when a host is gone."""
        return not self.wait(0)

    @property
    def scheduled(self) -> tuple[float, float] | None:
        """How long the thread that is the link has run, and how long it had to wait for a processor, in seconds.

        By the kernel's scheduler; nothing where this kernel does not count it.
        """
        try:
            ran_s, waited_s, _ = scheduled(self._process.pid)
        except OSError:
            return None
        return ran_s, waited_s

    def wait(self, timeout_s: float) -> bool:
        """Wait until it ends of itself, but no longer than that; whether it has ended."""
        # Popen takes a lock to be asked: Ctrl-C between that and what releases it would leave it taken, and what waits
        # for the process later would wait for ever.
        return bool(select.select([self._stop], [], [], timeout_s)[0])

    def finish(self, *, check: bool = True) -> Relayed:
        """End it, if it has not ended, and check that the link was what it should have been, unless told otherwise."""
        with contextlib.suppress(OSError):
            self._stop.send(b"x")
        summary = self._answer()
        relayed = Relayed(summary, _tables(summary, self._trace))
        if check:
            relayed.check()
        return relayed

    def close(self) -> None:
        """End it at once, if it works, and forget what it did."""
        self._open.close()
        self._stop.close()
        self._process.kill()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._trace is not None:
            self._trace.close()

    def _answer(self) -> dict[str, Any]:
        try:
            output, _ = self._process.communicate(timeout=_ENDS_S)
        except subprocess.TimeoutExpired:
            raise TightlinkError(f"the relay did not end within {_ENDS_S:g} s") from None
        if not output:
            raise TightlinkError(f"the relay was ended by something else (exit code {self._process.returncode})")
        answer: dict[str, Any] = json.loads(output)
        if "error" in answer:
            raise TightlinkError(f"the relay failed: {answer['error']}")
        return answer


def _tables(summary: Mapping[str, Any], trace: IO[bytes] | None) -> dict[str, pl.DataFrame]:
    tables = {"links": pl.DataFrame(summary["links"], schema("links"))}
    if summary["node"] is not None:
        tables["nodes"] = pl.DataFrame([summary["node"]], schema("nodes"))
    if trace is not None:
        trace.seek(0)
        lines = pl.read_parquet(trace)
        # What sequence numbers in packets would be, only the hosts know.
        seq = pl.lit(None, pl.Int64).alias("seq")
        tables["packets"] = lines.with_columns(seq).select(column.name for column in TABLES["packets"])
        # What a link hands to the next one is never late.
        delivered = lines.filter((pl.col("event") == "r") & pl.col("due_s").is_not_nan())
        late = (pl.col("time_s") - pl.col("due_s")).alias("late_s")
        tables["deliveries"] = delivered.select("uid", "from", "to", "due_s", "time_s", late)
    return tables
