"""From a scenario with its defaults to what the engine simulates.

The result mirrors the engine's own definition of a scenario key by key: neither side knows a default.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.errors import ABSENT, ScenarioError
from tightlink.lazy import _core
from tightlink.scenario.beside_users import check_beside_users
from tightlink.scenario.dscp import check_classes
from tightlink.scenario.flows import flow_specs, packet_bytes
from tightlink.scenario.memory import check_fits, outline
from tightlink.scenario.network import Network, check_thresholds, limit_of, relative_in
from tightlink.scenario.nodes import processor_spec
from tightlink.scenario.paths import Router, no_path
from tightlink.scenario.profiles import PROFILES
from tightlink.scenario.queues import discipline
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.scatter_spec import scatter_spec
from tightlink.scenario.sizes import check_whole
from tightlink.scenario.table import given
from tightlink.scenario.transfers import Transfers
from tightlink.scenario.transfers_spec import transfers_spec
from tightlink.scenario.transport import first_in_bdp
from tightlink.scenario.users import Users
from tightlink.scenario.users_spec import users_spec
from tightlink.scenario.values import UNLIMITED, seconds

if TYPE_CHECKING:
    from tightlink.scenario.model import Scenario

_MOST_SAMPLES: Final = 10_000_000
#: Characters of a scenario of many transfers up to which it is kept.
_MOST_KEPT: Final = 2**24


def resolve(scenario: Scenario) -> dict[str, Any]:
    """An explicit scenario (`Scenario.explicit`) in SI units, with groups and topologies expanded."""
    check_fits(outline(scenario))
    network = Network(scenario)
    tables = filled(relative(scenario, network))
    check_thresholds(network.hops, tables["links"])
    return tables


def filled(tables: dict[str, Any]) -> dict[str, Any]:
    """The tables of `relative` with what depends on others, such as bandwidth-delay products, as the engine has it."""
    if not tables.keys() & {"routing", "transfers"} and not depends_on_others(tables):
        return tables
    try:
        text = _completed(json.dumps(tables, allow_nan=False))
    except _core.ScenarioError as error:
        expected, *place = error.args
        key, value = place or (None, ABSENT)
        raise ScenarioError(expected, key=key, value=value, statement=not place) from None
    if len(text) > _MOST_KEPT:
        _completed.cache_clear()
    found: dict[str, Any] = json.loads(text)
    return found


@lru_cache(maxsize=4)
def _completed(tables: str) -> str:
    """Kept, as a run, what is said of it and its report each ask for the same."""
    return _core.fill(tables)


def depends_on_others(tables: dict[str, Any]) -> bool:
    """Whether a queue or a window in the tables of `relative` depends on other links or on flows."""
    queues = [link["queue"] for link in tables["links"]]
    transports = [flow["transport"] for flow in tables["flows"]]
    transports += [group["flow"]["transport"] for group in tables.get("transfers", ())]
    return (
        any(queue["kind"] == "red" for queue in queues)
        or any(True for queue in queues for name in ("limit", "mark") for _ in relative_in(queue.get(name)))
        or any(first_in_bdp(transport["tcp"]) for transport in transports if "tcp" in transport)
    )


def relative(
    scenario: Scenario, network: Network, links: Callable[[Network], list[dict[str, Any]]] = Network.specs
) -> dict[str, Any]:
    """The same, but for quantities that depend on others: these are left to the engine (`filled`)."""
    profile = PROFILES[scenario.profile]
    duration = units.time(scenario.duration)
    check_beside_users(scenario, network)
    flows: list[dict[str, Any]] = []
    users: list[dict[str, Any]] = []
    scatter: list[dict[str, Any]] = []
    transfers: list[dict[str, Any]] = []
    for name, traffic in scenario.traffic.items():
        match traffic:
            case Users():
                users.append(users_spec(name, traffic, network, profile, duration))
            case Scatter():
                scatter.append(scatter_spec(name, traffic, network, duration))
            case Transfers():
                transfers.append(transfers_spec(name, traffic, network, profile, duration))
            case _:
                flows += flow_specs(name, traffic, network, profile, duration=duration, seed=scenario.seed)
    if not scenario.traffic:
        raise ScenarioError("at least one flow, such as traffic.ftp", key="traffic")
    paths = _Paths(network)
    _check_mtus(scenario, flows, network, paths)
    _check_saturated(flows, network, paths)
    check_classes(((f"{hop.key}.queue", discipline(given(hop.wire.queue)).classes()) for hop in network.wires.values()),
                  [*flows, *(group["flow"] for group in transfers)])  # fmt: skip
    return {
        "profile": profile.name,
        "duration_s": duration,
        "seed": scenario.seed,
        "nodes": [
            {"name": name, "processor": processor_spec(*network.processors[index], duration)}
            if index in network.processors
            else {"name": name}
            for name, index in network.nodes.items()
        ],
        "links": links(network),
        "flows": flows,
        "users": users,
        "scatter": scatter,
        **({"transfers": transfers} if transfers else {}),
        "observe": _observe(scenario, duration),
        **({} if scenario.routing is None else scenario.routing.spec()),
    }


class _Paths:
    """The links of each flow in both directions, found when they are asked for."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._router: Router | None = None

    def forward(self, flow: dict[str, Any]) -> list[int]:
        """From the sender to the receiver."""
        return self._find(flow, "path", flow["from"], flow["to"]) or []

    def reverse(self, flow: dict[str, Any]) -> list[int]:
        """From the receiver to the sender; nothing where there is no way back."""
        return self._find(flow, "reverse_path", flow["to"], flow["from"]) or []

    def _find(self, flow: dict[str, Any], side: str, origin: int, target: int) -> list[int] | None:
        if flow[side] is not None:
            return list(flow[side])
        if self._router is None:
            self._router = Router.of(self._network)
        path = self._router.path(origin, target)
        if path is None and (side == "path" or "tcp" in flow["transport"]):
            raise no_path(f"traffic.{flow['label']}", self._network, origin, target)
        return path


def _check_mtus(scenario: Scenario, flows: list[dict[str, Any]], network: Network, paths: _Paths) -> None:
    smallest = network.smallest_mtu
    if smallest is None:
        return
    for flow in flows:
        sizes = getattr(scenario.traffic[flow["group"]], "sizes", None)
        # Datagrams are sent in fragments, but for those of a video, which are cut to fit.
        (transport,) = flow["transport"]
        cut = transport == "udp" and flow["traffic"]["kind"] != "video"
        if sizes is None and (cut or packet_bytes(flow["transport"]) <= smallest):
            continue
        hops = [network.hops[link] for link in paths.forward(flow)]
        # Of a path the smallest: what fits there fits everywhere.
        known = [(hop.mtu, hop.name) for hop in hops if hop.mtu is not None]
        if not known:
            continue
        mtu, link = min(known, key=operator.itemgetter(0))
        if sizes is not None:
            check_whole(f"traffic.{flow['group']}", sizes, mtu, f"the MTU of link {link}")
        elif packet_bytes(flow["transport"]) > mtu:
            header = flow["transport"][transport]["header_bytes"]
            written = scenario.traffic[flow["group"]].written()[transport]
            size = "payload" if "payload" in written else "datagram"
            above = f", as headers of {header} B come on top and" if size == "payload" else ", as"
            largest = f"{mtu - (header if size == 'payload' else 0)} B"
            raise ScenarioError(
                f"at most {largest}{above} link {link} has an MTU of {mtu} B",
                key=f"traffic.{flow['group']}.{transport}.{size}",
                value=written[size],
                suggestion=f'"{largest}"',
            )


def _check_saturated(flows: list[dict[str, Any]], network: Network, paths: _Paths) -> None:
    for flow in flows:
        if flow["traffic"]["kind"] != "saturate":
            continue
        hop = network.hops[paths.forward(flow)[0]]
        if limit_of(hop.wire) == UNLIMITED:
            expected = f"a limit: a queue without one never pushes back traffic.{flow['group']}, which saturates it"
            raise ScenarioError(expected, key=f"{hop.key}.queue", value=UNLIMITED)


def _observe(scenario: Scenario, duration: float) -> dict[str, Any]:
    observe = given(scenario.observe)
    interval = seconds(observe.interval)
    if interval is not None and duration / interval > _MOST_SAMPLES:
        raise ScenarioError(f"at most {_MOST_SAMPLES} samples", key="observe.interval", value=observe.interval)
    periods = _periods(observe.periods or {}, interval, duration)
    if observe.transport and interval is None:
        expected = "an interval beside it (observe.interval): it adds to the series"
        raise ScenarioError(expected, key="observe.transport", value=True)
    more = {name: True for name in ("transport", "delays") if getattr(observe, name)}
    return {"interval_s": interval, "flows": given(observe.flows), "periods": periods, **more}


def _periods(written: Mapping[str, tuple[str, str]], interval: float | None, duration: float) -> list[dict[str, Any]]:
    """The periods in their order in time."""
    times = {name: (units.time(start), units.time(stop)) for name, (start, stop) in written.items()}
    before: str | None = None
    periods = []
    for name, (start, stop) in sorted(times.items(), key=lambda item: item[1]):
        key, value = f"observe.periods.{name}", list(written[name])
        if stop > duration:
            expected = f"a period within the duration, which is {units.format_time(duration)}"
            raise ScenarioError(expected, key=key, value=value)
        if before is not None and start < times[before][1]:
            expected = f"a period that does not overlap {before}, which lasts until {written[before][1]}"
            raise ScenarioError(expected, key=key, value=value)
        if interval is not None and stop - start < interval:
            expected = f"a period of at least observe.interval, which is {units.format_time(interval)}"
            raise ScenarioError(expected, key=key, value=value)
        periods.append({"name": name, "start_s": start, "stop_s": stop})
        before = name
    return periods
