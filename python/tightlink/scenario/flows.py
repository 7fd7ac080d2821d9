"""Traffic expanded to single flows, as the engine reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Final

from tightlink import units
from tightlink.errors import ScenarioError, show
from tightlink.scenario.dscp import CODE_POINTS
from tightlink.scenario.network import Network, check_stop
from tightlink.scenario.profiles import Profile
from tightlink.scenario.table import given
from tightlink.scenario.traffic import Bulk, Cbr, Flow, Mixed, OnOff, Saturate, Starts, Video
from tightlink.scenario.transport import tcp_spec, udp_spec
from tightlink.scenario.users import law

_SHORTEST_INTERVAL: Final = 1e-9
#: Of the hash that a random number is made of, as many bits as a double holds.
_BITS: Final = 53


def flow_specs(
    name: str, flow: Flow, network: Network, profile: Profile, *, duration: float, seed: int
) -> Iterator[dict[str, Any]]:
    """Every flow of a traffic group, with its place in the network and its times."""
    key = f"traffic.{name}"
    if flow.transport == "tcp":
        transport = {"tcp": tcp_spec(f"{key}.tcp", given(flow.tcp), profile)}
    else:
        sizes = flow.sizes if isinstance(flow, Mixed) else None
        transport = {"udp": udp_spec(key, given(flow.udp), sizes, profile)}
    traffic = _traffic(key, flow, transport)
    dscp = CODE_POINTS[flow.dscp or "CS0"]
    starts = _starts(name, flow, seed)
    stop = units.time(given(flow.stop))
    _check_times(key, flow, starts, stop, duration)
    paths = [("path", flow.path), ("reverse_path", flow.reverse_path)]
    if flow.transport == "udp" and flow.reverse_path is not None:
        raise ScenarioError(
            "nothing here: nothing returns to a UDP sender", key=f"{key}.reverse_path", value=flow.reverse_path
        )
    for index in range(flow.flows or 1):
        origin = network.node(f"{key}.from", flow.from_, index)
        target = network.node(f"{key}.to", flow.to, index)
        if origin == target:
            expected = f"another node than from, which is {show(flow.from_)}"
            raise ScenarioError(expected, key=f"{key}.to", value=flow.to)
        links = {
            side: None if names is None else [network.link(f"{key}.{side}", link, index) for link in names]
            for side, names in paths
        }
        _check_path(network, f"{key}.path", flow.path, links["path"], (origin, target))
        _check_path(network, f"{key}.reverse_path", flow.reverse_path, links["reverse_path"], (target, origin))
        yield {
            "label": name if flow.flows is None else f"{name}[{index}]",
            "group": name,
            "index": index,
            "from": origin,
            "to": target,
            "start_s": starts[index],
            "stop_s": stop,
            **links,
            # Two ways to write one scenario must not be two runs.
            **({"dscp": dscp} if dscp else {}),
            "traffic": traffic,
            "transport": transport,
        }


def packet_bytes(transport: dict[str, Any]) -> int:
    """The size of a full data packet, headers included; of datagrams of several sizes, the largest."""
    (spec,) = transport.values()
    return int(spec["payload_bytes"] + spec["header_bytes"])


def _traffic(key: str, flow: Flow, transport: dict[str, Any]) -> dict[str, Any]:
    match flow:
        case Bulk():
            return {"kind": "bulk", "bytes": None if flow.bytes is None else units.size(flow.bytes)}
        case Saturate():
            return {"kind": "saturate"}
        case Video():
            interval = 1 / flow.frames_per_second
            return {
                "kind": "video",
                "interval_s": interval,
                "frame_bytes": units.rate(flow.rate) * interval / 8,
                "group_of_pictures": flow.group_of_pictures,
                "key_frame_ratio": flow.key_frame_ratio,
                "variation": flow.variation,
                "spread": flow.spread,
            }
        case Cbr():
            # Two ways to write one scenario must not be two runs.
            random = {"random": flow.random} if flow.random else {}
            return {"kind": "cbr", "pace": _pace(key, flow, transport), **random}
        case OnOff():
            times = {
                side: law(flow.distribution, units.time(getattr(flow, side)), flow.shape) for side in ("on", "off")
            }
            return {"kind": "on-off", "pace": _pace(key, flow, transport), **times}
        case _:
            raise AssertionError(f"traffic kind {type(flow).__name__} is not resolved")


def _pace(key: str, flow: Cbr | OnOff, transport: dict[str, Any]) -> dict[str, float]:
    if flow.interval is not None:
        return {"interval_s": units.time(flow.interval)}
    rate = given(flow.rate)
    (spec,) = transport.values()
    smallest = min((entry["bytes"] for entry in spec.get("sizes", [])), default=packet_bytes(transport))
    if 8 * smallest / units.rate(rate) < _SHORTEST_INTERVAL:
        raise ScenarioError("a rate with at least 1 ns from packet to packet", key=f"{key}.rate", value=rate)
    return {"rate_bps": units.rate(rate)}


def _starts(name: str, flow: Flow, seed: int) -> list[float]:
    count = flow.flows or 1
    match flow.start:
        case Starts(first=first, within=str(within)):
            begin_s, within_s = units.time(first), units.time(within)
            return [begin_s + within_s * _drawn(seed, name, index) for index in range(count)]
        case Starts(first=first, every=str(every)):
            begin, step = (units.parse(text, units.TIME)[1].exact for text in (first, every))
            return [float(begin + index * step) for index in range(count)]
        case list():
            return [units.time(text) for text in flow.start]
        case _:
            return [units.time(given(flow.start))] * count


def _drawn(seed: int, group: str, index: int) -> float:
    """A random number in [0, 1) for the start of a flow: a hash, so that neither other flows nor machines change it."""
    text = f"{seed} {group} {index} start"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return float((number >> (64 - _BITS)) / (1 << _BITS))


def _check_times(key: str, flow: Flow, starts: list[float], stop: float, duration: float) -> None:
    check_stop(key, flow.stop, duration)
    last, which = max(starts), ""
    if isinstance(flow.start, Starts) and flow.start.within is not None:
        # What is allowed must not depend on the seed.
        last = units.time(flow.start.first) + units.time(flow.start.within)
        which = f"; one may start as late as {units.format_time(last)}"
    elif len(starts) > 1:
        which = f"; flow {starts.index(last)} starts at {units.format_time(last)}"
    written = flow.start.written() if isinstance(flow.start, Starts) else flow.start
    if last >= duration:
        expected = f"starts before the duration, which is {units.format_time(duration)}{which}"
        raise ScenarioError(expected, key=f"{key}.start", value=written)
    if last >= stop:
        expected = f"a time after the start, which is {units.format_time(last)}"
        raise ScenarioError(expected, key=f"{key}.stop", value=flow.stop)


def _check_path(
    network: Network, key: str, names: list[str] | None, links: list[int] | None, ends: tuple[int, int]
) -> None:
    if links is None:
        return
    at, target = ends
    for link in links:
        hop = network.hops[link]
        if hop.origin != at:
            expected = f"links that follow each other: {hop.name} does not begin at {network.name(at)}"
            raise ScenarioError(expected, key=key, value=names)
        at = hop.target
    if at != target:
        expected = f"links that lead to {network.name(target)}, not to {network.name(at)}"
        raise ScenarioError(expected, key=key, value=names)
