"""A scenario's links between real hosts, for whoever wants to run programs over them.

Example:
    What ping says of a link::

        plan = Plan.of(tl.load("wire.toml"))
        with Emulation(plan, trace=True) as emulation:
            print(emulation.bed.run("sender", ["ping", "-c", "3", "10.64.128.1"], timeout_s=9).output)
            run = emulation.finish()
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from typing import Any

from tightlink import units
from tightlink.measure import metadata
from tightlink.measure.burning import as_router, input_ring
from tightlink.measure.hosts import QUEUE, Device, lay_out, unread
from tightlink.measure.plan import Plan
from tightlink.measure.relay import Relay, check_read, relay_spec
from tightlink.measure.results import identity, manifest
from tightlink.measure.settings import largest_of_programs
from tightlink.measure.testbed import Bed
from tightlink.measure.traced import with_queueing_delays
from tightlink.run import Framed, Run


class Emulation(contextlib.AbstractContextManager["Emulation"]):
    """Hosts, and the links between them at work; a context manager, at whose end all is gone.

    Args:
        plan: The hosts and the links.
        device: Kind of the devices at the links: ``tun`` for IP packets, ``packet`` for Ethernet frames.
        duration_s: When the links end, in seconds; without it, with the context.
        late_s: A packet forwarded later than this after it was due is late, in seconds; without it,
            `tightlink.measure.relay.late_after_s`.
        burn: Whether the processor time that packets cost the router is spent, instead of added up.
        trace: Whether to record what happens to every packet.

    Raises:
        ScenarioError: The hosts cannot be as the scenario says.
        TightlinkError: The machine lacks something; the sentence says what.
    """

    def __init__(
        self,
        plan: Plan,
        device: Device = "tun",
        *,
        duration_s: float | None = None,
        late_s: float | None = None,
        burn: bool = False,
        trace: bool = False,
    ) -> None:
        self.plan = plan
        self._device = device
        self._burn = burn
        spec = relay_spec(plan, device, duration_s=duration_s, late_s=late_s, burn=burn)
        ring = input_ring(plan, device) if burn else QUEUE
        with contextlib.ExitStack() as stack:
            self.bed = stack.enter_context(Bed())
            mtu = largest_of_programs(plan)
            hosts = stack.enter_context(contextlib.closing(lay_out(self.bed, plan, device, mtu=mtu, queue=ring)))
            self.warnings = [*plan.warnings, *(f"not set: {text}" for text in hosts.not_set)]
            self._known = metadata.machine() | {"hosts": metadata.hosts(self.bed, plan)}
            self._load, self._began = metadata.load(), time.time()
            self.relay = stack.enter_context(Relay(spec, hosts.ports, trace=trace))
            self._open = stack.pop_all()

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all programs and remove everything; a second time does nothing."""
        self._open.close()

    def finish(self) -> Run:
        """End the links: what went over them, as a run.

        Raises:
            InvalidMeasurementError: The links were not what they should have been.
            TightlinkError: Something failed meanwhile.
        """
        relayed = self.relay.finish()
        lost = unread(self.bed, self.plan) if self._device == "tun" else 0
        if self._burn:
            relayed = as_router(relayed, lost)
        else:
            check_read(lost)
        scenario = self.plan.scenario
        told = manifest(
            scenario,
            identity(self.plan, "emulate", self._device, self._began, relayed.summary),
            warnings=self.warnings,
            relay={name: value for name, value in relayed.summary.items() if name not in {"links", "node"}},
            host=self._known | metadata.between(self._load, metadata.load()),
            timing={"wall_s": time.time() - self._began},
        )
        tables = dict(relayed.tables)
        if "packets" in tables:
            tables["links"] = with_queueing_delays(tables["links"], tables["packets"])
        return Run(scenario, told, Framed(tables))


def told(relayed: Mapping[str, Any]) -> str:
    """How late a relay was, in words."""
    late = relayed["lateness"]
    if not late["packets"]:
        return "no packet was forwarded"
    p50, p99, most = (units.format_time(float(f"{late[name]:.2g}")) for name in ("p50_s", "p99_s", "max_s"))
    return (
        f"{late['packets']} packets forwarded, half of them within {p50} after they were due, 99 % within {p99}, "
        f"all within {most}"
    )
