"""Filling in what a scenario leaves to its profile."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.control import is_built_in
from tightlink.errors import ScenarioError
from tightlink.scenario.beside_users import first_users
from tightlink.scenario.congestion import control_name, has_slow_start, reads_marks
from tightlink.scenario.nodes import check_output_rings
from tightlink.scenario.problems import below
from tightlink.scenario.profiles import PROFILES, Profile
from tightlink.scenario.queues import with_defaults
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.shares import completed
from tightlink.scenario.table import merged
from tightlink.scenario.topologies.tiers import Tiers
from tightlink.scenario.traffic import OnOff, Video
from tightlink.scenario.transfers import LASTING, PAIRS, Transfers
from tightlink.scenario.users import Think, Users

if TYPE_CHECKING:
    from tightlink.scenario.model import Scenario
    from tightlink.scenario.traffic import Flow

_SHAPE = 1.5
#: 256 descriptors are what drivers of network interfaces usually begin with.
_PROCESSOR: Final = {"per_byte": "0 s", "interrupt": "0 s", "input_ring": "256 packets", "receive": False}
_SIZE_CLASSES: Final = ["10 kB", "100 kB", "1 MB", "10 MB"]
_SCATTER: Final = {"start": "0 s", "sizes": {"full": {"size": "1500 B"}}}
#: Of the tables over time where there are users or scattered datagrams.
_INTERVAL: Final = "1 s"
_BACKGROUND: Final = {"guaranteed": 0.0}
#: Routers report a one-minute mean.
_METER: Final = {"window": "60 s", "cpu": "1 ms", "every": "1 s", "average": "window"}


def filled(scenario: Scenario) -> dict[str, Any]:
    """The scenario's dictionary with every default of its profile.

    Raises:
        ScenarioError: A key is set that has no effect with what the profile says.
    """
    profile = PROFILES[scenario.profile]
    data = scenario.written()
    data["profile"] = profile.name
    data["seed"] = scenario.seed
    links = _links(profile)
    if "topology" in data:
        data["topology"] = {}
        for name, topology in scenario.topology.items():
            with below(f"topology.{name}"):
                data["topology"][name] = topology.filled(links)
    if "link" in data:
        data["link"] = {name: merged(links, link.spelled_out()) for name, link in scenario.link.items()}
    if scenario.file is not None:
        _place_traces([data.get("link", {}), data.get("topology", {})], Path(scenario.file).resolve().parent)
    if "node" in data:
        check_output_rings(scenario, profile.queue)
        data["node"] = {name: merged(_node(node), node) for name, node in data["node"].items()}
    if "traffic" in data:
        data["traffic"] = {
            name: _traffic(name, flow, profile, data["duration"]) for name, flow in scenario.traffic.items()
        }
    # Links of a data centre are to be used side by side; users and datagrams have one path to each place.
    several = _has_flows(scenario) and any(isinstance(net, Tiers) for net in scenario.topology.values())
    if several or "routing" in data:
        data["routing"] = {"ecmp": "flow" if several else "none", "by": "hops"} | data.get("routing", {})
    data["observe"] = _observe(scenario) | data.get("observe", {})
    _complete_queues(data)
    return data


def _complete_queues(table: dict[str, Any], *, ruled: bool = False) -> None:
    """Fill in what the queues of all links have by default, but for a limit where a rule for buffers gives one."""
    ruled = ruled or "buffers" in table
    for key, value in table.items():
        if key == "queue" and isinstance(value, dict):
            whole = with_defaults(value)
            table[key] = {name: whole[name] for name in whole if name != "limit" or not ruled or name in value}
        else:
            for each in value if isinstance(value, list) else (value,):
                if isinstance(each, dict):
                    _complete_queues(each, ruled=ruled)


def _place_traces(tables: list[Any], folder: Path) -> None:
    """Has traces and tables be found from anywhere: their names are relative to the scenario's file."""
    while tables:
        table = tables.pop()
        for key in ("trace", "table"):
            if isinstance(table.get(key), str):
                table[key] = str(folder / table[key])
        tables += [below for below in table.values() if isinstance(below, dict)]


def _links(profile: Profile) -> dict[str, Any]:
    framing = {"overhead": "0 B", "smallest": "0 B"}
    defaults = {
        "delay": "0 s",
        "queue": profile.queue,
        "framing": framing,
        "loss": 0.0,
        "duplicate": 0.0,
        "flow_control": False,
    }
    return defaults if profile.mtu is None else defaults | {"mtu": profile.mtu}


def _node(node: dict[str, Any]) -> dict[str, Any]:
    processor = node.get("processor")
    if processor is None:
        return {}
    tables = {"background": _BACKGROUND, "meter": _METER}
    return {"processor": _PROCESSOR | {key: table for key, table in tables.items() if key in processor}}


def _traffic(name: str, flow: Flow | Transfers | Users | Scatter, profile: Profile, duration: str) -> dict[str, Any]:
    if isinstance(flow, Users):
        return _users(name, flow, profile)
    if isinstance(flow, Scatter):
        data = _SCATTER | {"stop": duration} | flow.written()
        return data | {"sizes": completed(data["sizes"])}
    if isinstance(flow, Transfers):
        return _transfers(name, flow, profile, duration)
    own = flow.complete() if isinstance(flow, OnOff | Video) else flow.written()
    data = _shaped({"start": "0 s", "stop": duration} | own)
    if isinstance(data["start"], dict):
        data["start"] = {"first": "0 s"} | data["start"]
    if flow.transport == "tcp":
        return data | {"tcp": _tcp(name, data.get("tcp", {}), profile)}
    udp = data.get("udp", {})
    if "sizes" in data:
        return data | {"udp": udp, "sizes": completed(data["sizes"])}
    return data | {"udp": udp if "datagram" in udp else {"payload": profile.udp.payload} | udp}


def _transfers(name: str, transfers: Transfers, profile: Profile, duration: str) -> dict[str, Any]:
    with below(f"traffic.{name}"):
        written = transfers.written_out().written()
    data: dict[str, Any] = {"pairs": PAIRS[0], "size_classes": _SIZE_CLASSES} | written
    if data["pairs"] in LASTING:
        data = {"together": False} | data
    if "times" not in data:
        data = {"spacing": "poisson", "start": "0 s", "stop": duration} | data
    if isinstance(data["size"], dict):
        data["size"] = _shaped(data["size"])
    return data | {"tcp": _tcp(name, data.get("tcp", {}), profile)}


def _shaped(law: dict[str, Any]) -> dict[str, Any]:
    """A law with the shape that it has unless one is given, if it has any."""
    return {"shape": _SHAPE} | law if law.get("distribution") == "pareto" else law


def _users(name: str, users: Users, profile: Profile) -> dict[str, Any]:
    data = users.complete()
    own = data.get("tcp", {})
    if users.controls is None:
        tcp = _tcp(name, own, profile)
    else:
        data["controls"] = completed(data["controls"])
        chosen = [entry["congestion"] for entry in data["controls"].values()]
        # What belongs to the profile's own control alone is not for a mix, and what one of them needs is for all.
        other = next((each for each in chosen if control_name(each) != profile.tcp.congestion), chosen[0])
        tcp = _tcp(name, own | {"congestion": other}, profile, chosen)
        tcp["ecn"] = own.get("ecn", profile.tcp.ecn or any(reads_marks(control_name(each)) for each in chosen))
        del tcp["congestion"]
    interfaces = {kind: {"delay": "0 s"} | entry for kind, entry in completed(data["interfaces"]).items()}
    flow = {"start": "0 s", "interface": next(iter(interfaces))}
    data |= {"interfaces": interfaces, "files": completed(data["files"]), "tcp": tcp}
    data["places"] = {kind: place.complete() for kind, place in users.places.items()}
    if isinstance(users.think, Think):
        data["think"] = _shaped(users.think.complete())
    if users.long_lived is not None:
        data["long_lived"] = {kind: flow | entry for kind, entry in data["long_lived"].items()}
    return data


def _observe(scenario: Scenario) -> dict[str, Any]:
    own = scenario.observe
    first = first_users(scenario)
    if own is not None and own.periods is not None and not _has_users(scenario):
        expected = "nothing here: only the transfers of users are counted by periods"
        raise ScenarioError(expected, key="observe.periods", value=own.written()["periods"])
    if first is None:
        return {"flows": "each"}
    flows = "each" if _has_flows(scenario) else "none"
    if flows == "none" and own is not None and own.flows not in {None, "none"}:
        expected = f"nothing here: traffic.{first} has no flows of which there are rows"
        raise ScenarioError(expected, key="observe.flows", value=own.flows)
    whole = {"periods": {"whole": ["0 s", scenario.duration]}} if _has_users(scenario) else {}
    interval = min(_INTERVAL, scenario.duration, key=units.time)
    return {"flows": flows, "interval": interval, **whole}


def _has_flows(scenario: Scenario) -> bool:
    return not all(isinstance(traffic, Users | Scatter) for traffic in scenario.traffic.values())


def _has_users(scenario: Scenario) -> bool:
    return any(isinstance(traffic, Users) for traffic in scenario.traffic.values())


def _tcp(name: str, own: dict[str, Any], profile: Profile, mix: Sequence[Any] = ()) -> dict[str, Any]:
    """A table of TCP with its defaults; of users with several controls, with one of the mix."""
    tcp = profile.tcp
    ours = ("_bytes", "_of_others", "_options")
    values = {key: value for key, value in vars(tcp).items() if not key.endswith(ours)} | {"rto": dict(vars(tcp.rto))}
    values["initial_ssthresh"] = tcp.initial_ssthresh or own.get("window", tcp.window)
    control = control_name(own.get("congestion", tcp.congestion))
    values["ecn"] = tcp.ecn or reads_marks(control)
    if control != tcp.congestion:
        values["slow_start"] = tcp.slow_start_of_others
    begins = any(map(has_slow_start, mix or [own.get("congestion", tcp.congestion)]))
    # Rapid start paces, whatever the control of the engine.
    others = {"rapid"}
    if not begins and not is_built_in(control):
        others, values["slow_start"] = set(), "standard"
    start = own.get("slow_start", values["slow_start"])
    if not begins and start not in {*others, values["slow_start"]}:
        expected = f"nothing here, as {control} does not begin with slow start"
        raise ScenarioError(expected, key=f"traffic.{name}.tcp.slow_start", value=start)
    if own.get("slow_start") != "limited":
        if "max_ssthresh" in own:
            expected = 'nothing here, as slow_start is not "limited"'
            raise ScenarioError(expected, key=f"traffic.{name}.tcp.max_ssthresh", value=own["max_ssthresh"])
        del values["max_ssthresh"]
    if not own.get("delayed_acks", tcp.delayed_acks):
        if "delayed_ack_timeout" in own:
            whose = "delayed_acks is false" + ("" if "delayed_acks" in own else f" in profile {profile.name}")
            raise ScenarioError(
                f"nothing here, as {whose}",
                key=f"traffic.{name}.tcp.delayed_ack_timeout",
                value=own["delayed_ack_timeout"],
            )
        del values["delayed_ack_timeout"]
    return merged(values, own)
