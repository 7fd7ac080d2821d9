"""Filling in what a scenario leaves to its profile."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from tightlink.errors import ScenarioError
from tightlink.scenario.congestion import control_name, reads_marks
from tightlink.scenario.nodes import check_output_rings
from tightlink.scenario.problems import below
from tightlink.scenario.profiles import PROFILES, Profile
from tightlink.scenario.table import merged
from tightlink.scenario.traffic import Video

if TYPE_CHECKING:
    from tightlink.scenario.model import Scenario
    from tightlink.scenario.traffic import Flow

_SHAPE = 1.5
#: 256 descriptors are what drivers of network interfaces usually begin with.
_PROCESSOR: Final = {"per_byte": "0 s", "interrupt": "0 s", "input_ring": "256 packets", "receive": False}
_VIDEO: Final = ("frames_per_second", "group_of_pictures", "key_frame_ratio", "variation", "spread")
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
        data["link"] = {name: merged(links, link) for name, link in data["link"].items()}
    if "node" in data:
        check_output_rings(scenario, profile.queue)
        data["node"] = {name: merged(_node(node), node) for name, node in data["node"].items()}
    if "traffic" in data:
        data["traffic"] = {
            name: _traffic(name, flow, profile, data["duration"]) for name, flow in scenario.traffic.items()
        }
    data["observe"] = {"flows": "each"} | data.get("observe", {})
    return data


def _links(profile: Profile) -> dict[str, Any]:
    framing = {"overhead": "0 B", "smallest": "0 B"}
    defaults = {"delay": "0 s", "queue": profile.queue, "framing": framing, "loss": 0.0, "flow_control": False}
    return defaults if profile.mtu is None else defaults | {"mtu": profile.mtu}


def _node(node: dict[str, Any]) -> dict[str, Any]:
    processor = node.get("processor")
    if processor is None:
        return {}
    tables = {"background": _BACKGROUND, "meter": _METER}
    return {"processor": _PROCESSOR | {key: table for key, table in tables.items() if key in processor}}


def _traffic(name: str, flow: Flow, profile: Profile, duration: str) -> dict[str, Any]:
    data = {"start": "0 s", "stop": duration} | flow.written()
    if isinstance(data["start"], dict):
        data["start"] = {"first": "0 s"} | data["start"]
    if isinstance(flow, Video):
        data = {key: getattr(flow, key) for key in _VIDEO} | data
    if data.get("distribution") == "pareto":
        data = {"shape": _SHAPE} | data
    elif data["kind"] == "on-off":
        data = {"distribution": "exponential"} | data
    if flow.transport == "tcp":
        return data | {"tcp": _tcp(name, data.get("tcp", {}), profile)}
    udp = data.get("udp", {})
    return data | {"udp": udp if "datagram" in udp else {"payload": profile.udp.payload} | udp}


def _tcp(name: str, own: dict[str, Any], profile: Profile) -> dict[str, Any]:
    tcp = profile.tcp
    values = {key: value for key, value in asdict(tcp).items() if not key.endswith("_bytes")}
    values["initial_ssthresh"] = tcp.initial_ssthresh or own.get("window", tcp.window)
    control = control_name(own.get("congestion", tcp.congestion))
    values["ecn"] = tcp.ecn or reads_marks(control)
    if control != tcp.congestion:
        # HyStart is a part of Linux's CUBIC, not of its other controls.
        values["slow_start"] = "standard"
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
