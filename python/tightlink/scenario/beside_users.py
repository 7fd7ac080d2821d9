"""What cannot be simulated together with users or scattered datagrams.

These are processed epoch by epoch rather than event by event: in each a link serves all of its arrivals at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink import control
from tightlink.errors import ScenarioError
from tightlink.scenario.congestion import control_name
from tightlink.scenario.network import queue_spec, relative_in
from tightlink.scenario.queues import discipline
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.table import given, kind_of
from tightlink.scenario.traffic import Saturate
from tightlink.scenario.users import Users

if TYPE_CHECKING:
    from tightlink.scenario.model import Scenario
    from tightlink.scenario.network import Network
    from tightlink.scenario.traffic import Flow
    from tightlink.scenario.transfers import Transfers


def first_users(scenario: Scenario) -> str | None:
    """The first traffic of users or scattered datagrams, by name; nothing where there is none."""
    return next((name for name, traffic in scenario.traffic.items() if isinstance(traffic, Users | Scatter)), None)


def check_beside_users(scenario: Scenario, network: Network) -> None:
    """An error where a scenario with users or scattered datagrams has what only flows by themselves can have."""
    first = first_users(scenario)
    if first is None:
        return
    beside = f"beside traffic.{first}, of kind {kind_of(scenario.traffic[first])}"
    flows = [traffic for traffic in scenario.traffic.values() if not isinstance(traffic, Users | Scatter)]
    if scenario.routing is not None and not flows:
        raise ScenarioError(f"no routing {beside}, which has one path to each destination", key="routing")
    for name, traffic in scenario.traffic.items():
        _check_controls(f"traffic.{name}", traffic, beside)
        if isinstance(traffic, Saturate):
            expected = f"no source that waits for its interface {beside}"
            raise ScenarioError(expected, key=f"traffic.{name}.kind", value=traffic.kind)
    # Without processors, nothing has flow control.
    for key, _ in network.processors.values():
        raise ScenarioError(f"no processor {beside}", key=key)
    for hop in network.wires.values():
        for amount in relative_in(queue_spec(f"{hop.key}.queue", discipline(given(hop.wire.queue)))):
            if "bdp" in amount:
                expected = f"a number of packets or bytes {beside}, which has no one round trip"
                raise ScenarioError(expected, key=amount["key"], value=amount["written"])


def check_trace(scenario: Scenario) -> None:
    """An error where a scenario has no record of its packets."""
    first = first_users(scenario)
    if first is not None:
        kind = kind_of(scenario.traffic[first])
        message = f"the packets of {kind} are not recorded one by one: run without a trace"
        raise ScenarioError(message, key=f"traffic.{first}", file=scenario.file, statement=True)


def _check_controls(key: str, traffic: Flow | Transfers | Users | Scatter, beside: str) -> None:
    controls = (traffic.controls or {}) if isinstance(traffic, Users) else {}
    written = {f"controls.{kind}": entry.congestion for kind, entry in controls.items()}
    tcp = getattr(traffic, "tcp", None)
    for place, congestion in {"tcp": None if tcp is None else tcp.congestion, **written}.items():
        if congestion is not None and control.find(control_name(congestion)) is not None:
            expected = f"a control that is built in, not one that is written in Python, {beside}"
            raise ScenarioError(expected, key=f"{key}.{place}.congestion", value=control_name(congestion))
