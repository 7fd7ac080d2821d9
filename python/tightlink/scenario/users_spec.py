"""Users as the engine reads them: sites, shares, distributions in SI units and packets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from tightlink import units
from tightlink.errors import ScenarioError, in_quotes, one_of
from tightlink.scenario.congestion import congestion_spec, control_name, works_with
from tightlink.scenario.network import Network, span_s
from tightlink.scenario.paths import check_connected
from tightlink.scenario.profiles import Profile
from tightlink.scenario.table import given
from tightlink.scenario.transport import check_mtu, first_in_bdp, tcp_spec
from tightlink.scenario.users import Crowd, LongLived, Think, Users, law
from tightlink.scenario.values import line_rate

_MOST_HOSTS: Final = 500_000_000


@dataclass(frozen=True)
class _Scene:
    """Where and how long users act."""

    network: Network
    sites: list[dict[str, int]]
    duration: float

    def site(self, node: int) -> int | None:
        """The place of a router among the sites, if users live behind it."""
        return self._places.get(node)

    @cached_property
    def _places(self) -> dict[int, int]:
        return {site["node"]: index for index, site in enumerate(self.sites)}


def users_spec(name: str, users: Users, network: Network, profile: Profile, duration: float) -> dict[str, Any]:
    """The users of one group of traffic, with every default filled in."""
    key = f"traffic.{name}"
    sites = _sites(key, users, network)
    tcp, controls = _transport(key, users, profile)
    check_mtu(f"{key}.tcp", given(users.tcp), tcp, network)
    payload = tcp["payload_bytes"]
    scene = _Scene(network, sites, duration)
    patience, crowd = users.patience, users.crowd
    think = users.think if isinstance(users.think, Think) else Think(mean=users.think)
    return {
        "label": name,
        "tcp": tcp,
        "controls": controls,
        "classes": list(users.places),
        "sites": sites,
        "interfaces": [
            {
                "name": kind,
                **dict(zip(("rate_bps", "rate_pps"), line_rate(interface.rate), strict=True)),
                "delay_s": units.time(given(interface.delay)),
                "share": given(interface.share),
            }
            for kind, interface in users.interfaces.items()
        ],
        "think": law(think.distribution, units.time(think.mean), think.shape),
        "files": [
            {
                "name": kind,
                "share": given(file.share),
                "mean_packets": _packets(file.mean, payload),
                "shape": file.shape,
            }
            for kind, file in users.files.items()
        ],
        "connect_tries": users.connect_tries,
        "patience": None
        if patience is None
        else {"least_s": units.time(patience.least), "packets_per_s": units.packet_rate(patience.rate)},
        "crowd": None if crowd is None else _crowd(f"{key}.crowd", crowd, scene, payload),
        "long_lived": [
            _long_lived(f"{key}.long_lived.{flow}", flow, entry, list(users.interfaces), scene)
            for flow, entry in (users.long_lived or {}).items()
        ],
        "sending_at_start": users.sending_at_start,
    }


def _sites(key: str, users: Users, network: Network) -> list[dict[str, int]]:
    """The routers behind which somebody lives."""
    sites: list[dict[str, int]] = []
    classes = list(users.places)
    taken: dict[int, str] = {}
    for number, (name, place) in enumerate(users.places.items()):
        at = f"{key}.places.{name}.at"
        for node in network.members(at, place.at):
            if node in taken:
                expected = f"routers that stand once: {network.name(node)} is one of {taken[node]} already"
                raise ScenarioError(expected, key=at, value=place.at)
            taken[node] = name
            sites.append({"node": node, "class": number, "sources": place.sources, "receivers": place.receivers})
    if len(sites) == 1:
        raise ScenarioError("at least two routers: users talk to others elsewhere", key=f"{key}.places")
    hosts = sum(site["sources"] + site["receivers"] for site in sites)
    if hosts > _MOST_HOSTS:
        expected = f"at most {_MOST_HOSTS} hosts in all, not {hosts}"
        raise ScenarioError(expected, key=f"{key}.places")
    sources, receivers = (sum(site[what] for site in sites) for what in ("sources", "receivers"))
    if sources == 0 and not users.long_lived:
        raise ScenarioError("at least one source somewhere", key=f"{key}.places")
    for site in sites:
        if site["sources"] and receivers == site["receivers"]:
            message = f"sources behind {network.name(site['node'])} need receivers behind another router"
            raise ScenarioError(message, key=f"{key}.places.{classes[site['class']]}", statement=True)
    check_connected(f"{key}.places", network, [site["node"] for site in sites])
    return sites


def _transport(key: str, users: Users, profile: Profile) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """TCP with the first of the congestion controls, and all of them with their shares."""
    tcp = given(users.tcp)
    found: list[tuple[str, Any, Any]] = [
        (f"{key}.controls.{name}.congestion", control.congestion, control.share)
        for name, control in (users.controls or {}).items()
    ]
    if found:
        tcp = tcp.model_copy(update={"congestion": found[0][1]})
    else:
        found = [(f"{key}.tcp.congestion", given(tcp.congestion), 1.0)]
    spec = tcp_spec(f"{key}.tcp", tcp, profile)
    if name := first_in_bdp(spec):
        expected = "a number of packets or bytes: users have paths of many bandwidth-delay products"
        raise ScenarioError(expected, key=f"{key}.tcp.{name}", value=getattr(tcp, name))
    controls = []
    for place, congestion, share in found:
        chosen = congestion_spec(place, congestion, profile.tcp.control_options)
        controls.append({"share": share, "congestion": chosen})
        if not works_with(congestion, spec["recovery"]):
            expected = f"a congestion control that works with recovery {spec['recovery']}"
            raise ScenarioError(expected, key=place, value=control_name(congestion))
    return spec, controls


def _packets(text: str, payload: int) -> float:
    kind, quantity = units.parse(text, units.PACKETS, units.SIZE)
    return float(quantity.exact if kind is units.PACKETS else quantity.exact / payload)


def _crowd(key: str, crowd: Crowd, scene: _Scene, payload: int) -> dict[str, Any]:
    start, stop = span_s(key, crowd.start, crowd.stop, scene.duration)
    places = []
    for node in scene.network.members(f"{key}.at", crowd.at):
        place = scene.site(node)
        if place is None or scene.sites[place]["sources"] == 0:
            expected = f"routers with sources: {scene.network.name(node)} has none"
            raise ScenarioError(expected, key=f"{key}.at", value=crowd.at)
        places.append(place)
    return {
        "start_s": start,
        "stop_s": stop,
        "sites": sorted(set(places)),
        "share": crowd.share,
        "mean_packets": _packets(crowd.mean, payload),
    }


def _long_lived(key: str, name: str, entry: LongLived, interfaces: list[str], scene: _Scene) -> dict[str, Any]:
    ends = []
    for side, node in (("from", entry.from_), ("to", entry.to)):
        place = scene.site(scene.network.node(f"{key}.{side}", node, 0))
        if place is None:
            raise ScenarioError("a router at which users live", key=f"{key}.{side}", value=node)
        ends.append(place)
    if ends[0] == ends[1]:
        raise ScenarioError(f"another router than from, which is {entry.from_}", key=f"{key}.to", value=entry.to)
    start = units.time(given(entry.start))
    if start >= scene.duration:
        expected = f"a time before the duration, which is {units.format_time(scene.duration)}"
        raise ScenarioError(expected, key=f"{key}.start", value=entry.start)
    interface = given(entry.interface)
    if interface not in interfaces:
        suggestion = in_quotes(interface, interfaces)
        raise ScenarioError(one_of(interfaces), key=f"{key}.interface", value=interface, suggestion=suggestion)
    return {"name": name, "from": ends[0], "to": ends[1], "interface": interfaces.index(interface), "start_s": start}
