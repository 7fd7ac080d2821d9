"""What the hosts of a planned scenario begin with: sysctls and metrics of routes that make Linux's TCP as it says.

Example:
    >>> import tightlink as tl
    >>> from tightlink.measure.plan import Plan
    >>> plan = Plan.of(tl.loads('''
    ... profile = "ns2"
    ... duration = "10 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... '''))
    >>> found = of_hosts(plan)
    >>> found["a"].metrics, found["b"].metrics, largest_packet(plan)
    ({'initcwnd': 2, 'rto_min': 200}, {'quickack': 1}, 1040)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tightlink import units
from tightlink.errors import ScenarioError, located
from tightlink.measure.plan import Plan
from tightlink.measure.testbed import ETHERNET_MTU
from tightlink.scenario.congestion import congestion_spec, control_name
from tightlink.scenario.profiles import LINUX
from tightlink.scenario.values import ACCURATE_ECN

#: What TCP adds to a segment, in bytes: IP 20 and TCP 20; with timestamps (RFC 7323) 12 more.
PLAIN_HEADER: Final = 40
TIMESTAMPS: Final = 12
#: What UDP adds to a datagram: IP 20 and UDP 8.
UDP_HEADER: Final = 28
#: Least payload and options of a segment (TCP_MIN_SND_MSS), and the least MTU (RFC 791).
_LEAST_SEGMENT: Final = 48
_LEAST_MTU: Final = 68
#: Recoveries as Linux has them: with selective ACKs or without.
_SACK: Final = {"reno": "0", "newreno": "0", "sack": "1", "rack": "1"}
#: Values of tcp_ecn: not, and asked for (RFC 3168; RFC 9768 where the kernel has its handshake, which 6.18 refuses).
_ECN: Final = {False: "0", True: "1", ACCURATE_ECN: "3"}
#: Values of tcp_ecn_option: never, and on each ACK that has something to count.
_ECN_OPTION: Final = {False: "0", True: "2"}
#: Congestion controls that are Linux's own, as ours are made after them.
CONTROLS: Final = ("reno", "cubic", "bbr")

#: The sysctl that names the control of connections that ask for none.
CONGESTION_CONTROL: Final = "net.ipv4.tcp_congestion_control"

#: The sysctl with the smallest, first and largest send buffer of a connection.
_SEND_BUFFERS: Final = "net.ipv4.tcp_wmem"
_RECEIVE_BUFFERS: Final = "net.ipv4.tcp_rmem"
#: Both where they cannot be read: Linux's defaults.
_USUAL_BUFFERS: Final = {_SEND_BUFFERS: (4096, 16_384, 1 << 22), _RECEIVE_BUFFERS: (4096, 131_072, 6 << 20)}
#: What a window takes in a send buffer: its overhead, and as much again that is written ahead.
_SEND_OVERHEAD: Final = 4

#: The sysctl that says whether a window that was not used is given up.
_AFTER_IDLE: Final = "net.ipv4.tcp_slow_start_after_idle"

#: The same for all hosts.
_ALWAYS: Final = {
    # What an earlier connection learned must not be where the next one begins.
    "net.ipv4.tcp_no_metrics_save": "1",
    # For ping without privileges; inside a user namespace there is one group.
    "net.ipv4.ping_group_range": "0 0",
}


@dataclass
class HostSettings:
    """Those of a host."""

    system: dict[str, str] = field(default_factory=lambda: dict(_ALWAYS))
    """Sysctls."""
    metrics: dict[str, int | str] = field(default_factory=dict)
    """Of the routes to the other side, by the names of rtnetlink."""


def of_hosts(plan: Plan) -> dict[str, HostSettings]:
    """What each host begins with.

    Raises:
        ScenarioError: Linux has no such congestion control or recovery, or two flows want one host to be different.
    """
    with located(plan.scenario.file):
        return _of_hosts(plan)


def _of_hosts(plan: Plan) -> dict[str, HostSettings]:
    found = {name: HostSettings() for name in plan.hosts}
    send_buffers = _send_buffers()
    wanted: dict[tuple[str, str], tuple[Any, str]] = {}
    controls: dict[str, set[str]] = {}
    for flow in plan.flows():
        tcp = flow["transport"].get("tcp")
        if tcp is None:
            continue
        key = f"traffic.{flow['group']}.tcp"
        sender, receiver = plan.node(flow["from"]), plan.node(flow["to"])
        controls.setdefault(sender, set()).add(control(key, tcp))
        found[sender].system[_SEND_BUFFERS] = send_buffers
        restarts = plan.scenario.profile == LINUX.name and tcp.get("slow_start_after_idle", True)
        after_idle = (sender, _AFTER_IDLE, str(int(restarts)), f"{key}.slow_start_after_idle")
        for host, name, value, said in (after_idle, *_of_flow(key, tcp, sender, receiver)):
            before, whose = wanted.setdefault((host, name), (value, said))
            if before != value:
                text = f"{host} has one value for all of its connections, and {whose} asks for another"
                raise ScenarioError(text, key=said, statement=True)
            if name.startswith("net."):
                found[host].system[name] = str(value)
            else:
                found[host].metrics[name] = value
    for host, names in controls.items():
        # Each sender asks for its own control, which a route's would override; this is for programs that ask for none.
        if len(names) == 1:
            found[host].system[CONGESTION_CONTROL] = names.pop()
    return found


def _send_buffers() -> str:
    """Send buffers that hold the largest window of a receiver: scenarios have windows, and no send buffers.

    Without offloads a segment takes more than its payload, so that Linux's largest one holds some 1800 segments.
    """
    least, first, most = _buffers(_SEND_BUFFERS)
    window_bytes = _buffers(_RECEIVE_BUFFERS)[2] // 2
    return f"{least} {first} {max(most, _SEND_OVERHEAD * window_bytes)}"


def _buffers(name: str) -> tuple[int, int, int]:
    """Smallest, first and largest buffer of connections here, in bytes."""
    try:
        least, first, most = map(int, Path("/proc/sys", *name.split(".")).read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return _USUAL_BUFFERS[name]
    return least, first, most


def _of_flow(key: str, tcp: Mapping[str, Any], sender: str, receiver: str) -> Iterable[tuple[str, str, Any, str]]:
    """Host, setting, value, and the key that asks for it."""
    yield sender, "initcwnd", max(1, round(tcp["initial_window_packets"])), f"{key}.initial_window"
    yield sender, "rto_min", round(tcp["rto"]["min_s"] * 1000), f"{key}.rto.min"
    if tcp["delayed_ack_s"] is None:
        yield receiver, "quickack", 1, f"{key}.delayed_acks"
    sack = _SACK.get(tcp["recovery"])
    if sack is None:
        raise ScenarioError(
            "a recovery that Linux has: reno, newreno, sack or rack", key=f"{key}.recovery", value=tcp["recovery"]
        )
    timestamps = tcp["header_bytes"] - PLAIN_HEADER == TIMESTAMPS
    asked = (("ecn", tcp["ecn"]), ("receiver_ecn", tcp.get("receiver_ecn", tcp["ecn"])))
    for host, (ecn, value) in zip((sender, receiver), asked, strict=True):
        yield host, "net.ipv4.tcp_sack", sack, f"{key}.recovery"
        yield host, "net.ipv4.tcp_timestamps", str(int(timestamps)), f"{key}.payload"
        yield host, "net.ipv4.tcp_ecn", _ECN[value], f"{key}.{ecn}"
        if value == ACCURATE_ECN:
            option = _ECN_OPTION[tcp.get("ecn_option", False)]
            yield host, "net.ipv4.tcp_ecn_option", option, f"{key}.ecn_option"


def control(key: str, tcp: Mapping[str, Any]) -> str:
    """The congestion control of a flow as Linux calls it."""
    name = control_name(tcp["congestion"])
    if name not in CONTROLS:
        raise ScenarioError(f"one that Linux has: {', '.join(CONTROLS)}", key=f"{key}.congestion", value=name)
    # The control's own defaults, whatever the profile, or those of Linux.
    if tcp["congestion"] not in (name, congestion_spec(f"{key}.congestion", name, LINUX.tcp.control_options)):
        raise ScenarioError("its options as they are in Linux", key=f"{key}.congestion", value=name)
    return name


def largest_packet(plan: Plan) -> int:
    """The MTU of the devices, in bytes: that of the links, or the largest packet of a flow where that is smaller."""
    sizes: list[int] = []
    for flow in plan.flows():
        (spec,) = flow["transport"].values()
        size = spec["payload_bytes"] + spec["header_bytes"]
        least = PLAIN_HEADER + _LEAST_SEGMENT if "tcp" in flow["transport"] else UDP_HEADER + 1
        if size < least:
            text = f"packets of at least {least} B with their headers, as Linux sends no smaller ones"
            (transport,) = flow["transport"]
            key = f"traffic.{flow['group']}.{transport}.payload"
            raise ScenarioError(text, key=key, value=f"{spec['payload_bytes']} B").located(plan.scenario.file)
        sizes.append(size)
    return max(_LEAST_MTU, min([max(sizes), *_limits(plan)]))


def largest_of_programs(plan: Plan) -> int:
    """The MTU of devices over which any program sends, in bytes: that of the links; of links without one, Ethernet's.

    Over links without one packets of the scenario may be larger.
    """
    specs = [spec for flow in plan.flows() for spec in flow["transport"].values()]
    sizes = [spec["payload_bytes"] + spec["header_bytes"] for spec in specs]
    return max(_LEAST_MTU, min(_limits(plan), default=max(ETHERNET_MTU, *sizes)))


def _limits(plan: Plan) -> list[int]:
    return [link["mtu_bytes"] for link in plan.directions if link["mtu_bytes"] is not None]


def differences(plan: Plan) -> list[str]:
    """Where the hosts' TCP is Linux's own instead of what the scenario says, by key."""
    own = LINUX.tcp
    found: dict[str, None] = {}
    for flow in plan.flows():
        tcp = flow["transport"].get("tcp")
        if tcp is None:
            continue
        name = control_name(tcp["congestion"])
        slow_start = own.slow_start if name == own.congestion else own.slow_start_of_others
        ssthresh = tcp["initial_ssthresh_packets"]
        window = tcp["window_packets"]
        checks = {
            "recovery": tcp["recovery"] != "rack",
            "slow_start": tcp["slow_start"] != slow_start,
            "initial_ssthresh": ssthresh is not None and ssthresh < window,
            "loss_window": "loss_window_packets" in tcp,
            "limited_transmit": not tcp["limited_transmit"],
            "pacing": tcp["pacing"] and name != "bbr",
            "processing_delay": "processing_delay_s" in tcp,
            "delayed_ack_timeout": tcp["delayed_ack_s"] not in (None, units.time(own.delayed_ack_timeout)),
            **{
                f"rto.{name}": tcp["rto"][f"{name}_s"] != units.time(getattr(own.rto, name))
                for name in ("initial", "max", "granularity")
            },
        }
        found |= dict.fromkeys(f"traffic.{flow['group']}.tcp.{name}" for name, differs in checks.items() if differs)
    return list(found)
