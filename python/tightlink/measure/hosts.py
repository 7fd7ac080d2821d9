"""The hosts of a planned scenario in a testbed: addresses, routes, and devices towards the emulated links.

A side with one host has its device in that host. With several hosts a router between them and the link has it, and
forwards at the speed of the machine.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Final, Literal

from tightlink.errors import TightlinkError
from tightlink.measure.plan import Plan
from tightlink.measure.settings import CONGESTION_CONTROL, HostSettings, largest_packet, of_hosts
from tightlink.measure.sides import SIDES, Host
from tightlink.measure.testbed import Bed

Device = Literal["tun", "packet"]

#: The device of a side at its links, and that of a host towards the router of its side.
DEVICE: Final = "tight0"
_INSIDE: Final = "inside0"
#: Names that no node can have.
_ROUTERS: Final = ("<router 0>", "<router 1>")
_RELAY: Final = "<relay>"
#: Where a router is for the hosts behind it.
_GATEWAY: Final = "10.65.0.1"
#: What a device holds until it is read, in packets: more than come while a relay that has no priority waits its turn.
QUEUE: Final = 10_000


@dataclass
class Hosts:
    """The hosts of a plan, made."""

    ports: list[int]
    """Descriptors of the devices at the links, one for each side: of TUN devices, of which a read gives an IP packet,
    or of packet sockets, of which it gives a frame."""
    mtu: int
    """Largest IP packet, in bytes."""
    not_set: list[str] = field(default_factory=list)
    """Settings that the machine refused, with why."""

    def close(self) -> None:
        """Give the descriptors back."""
        for port in self.ports:
            os.close(port)


def lay_out(bed: Bed, plan: Plan, device: Device = "tun", *, mtu: int | None = None, queue: int = QUEUE) -> Hosts:
    """Make the hosts of a plan in a bed without any.

    Devices at the links are of a kind: ``tun`` gives and takes IP packets, ``packet`` Ethernet frames. The MTU is in
    bytes (default: that of the scenario's flows), and what a TUN device holds until it is read in packets.
    """
    settings, mtu = of_hosts(plan), mtu or largest_packet(plan)
    for name in plan.hosts:
        bed.add_host(name)
    not_set = [f"{name} ({why})" for host, own in settings.items() for name, why in _set(bed, host, own).items()]
    not_set += _named(bed, plan)
    hardware: list[str] = []
    ports: list[int] = []
    try:
        if device == "packet":
            bed.add_host(_RELAY)
        for side in range(plan.sides):
            owner, address = _owner(bed, plan, side)
            if device == "tun":
                ports.append(bed.add_tun(owner, address, device=DEVICE, mtu=mtu, queue=queue))
            else:
                own, _ = bed.add_wire((owner, address), (_RELAY, None), devices=(DEVICE, f"port{side}"), mtu=mtu)
                hardware.append(own)
                ports.append(bed.packet_socket(_RELAY, f"port{side}"))
        for side in range(plan.sides):
            _connect(bed, plan, settings, side, mtu)
            owner, _ = device_owner(plan, side)
            for host in plan.hosts.values() if hardware else ():
                if host.side != side:
                    bed.add_neighbour(owner, DEVICE, host.address, hardware[host.side])
    except BaseException:
        for port in ports:
            os.close(port)
        raise
    return Hosts(ports, mtu, sorted(set(not_set)))


def _named(bed: Bed, plan: Plan) -> list[str]:
    """Have hosts know each other by name; what the machine refused."""
    try:
        bed.set_names({name: host.address for name, host in plan.hosts.items()})
    except TightlinkError as error:
        return [f"names of hosts ({error})"]
    return []


def device_of(plan: Plan, host: Host) -> str:
    """The device of a host towards the links."""
    owner, _ = device_owner(plan, host.side)
    return DEVICE if owner == host.name else _INSIDE


def device_owner(plan: Plan, side: int) -> tuple[str, str]:
    """Who has the device of a side, and its address."""
    hosts = plan.of_side(side)
    return (hosts[0].name, hosts[0].address) if len(hosts) == 1 else (_ROUTERS[side], _GATEWAY)


def _owner(bed: Bed, plan: Plan, side: int) -> tuple[str, str]:
    name, address = device_owner(plan, side)
    if name not in bed.hosts:
        bed.add_host(name)
        bed.set(name, {"net.ipv4.ip_forward": "1"})
    return name, address


def _set(bed: Bed, host: str, own: HostSettings) -> dict[str, str]:
    """Write a host's sysctls; those that could not be written, and why."""
    failed = bed.set(host, own.system)
    if failed.pop(CONGESTION_CONTROL, None):
        # Not one that everybody may have. A route may name it, which then counts also for who asks for another.
        own.metrics["cc_algo"] = own.system[CONGESTION_CONTROL]
    return failed


def _connect(bed: Bed, plan: Plan, settings: dict[str, HostSettings], side: int, mtu: int) -> None:
    """The routes of a side to the others, and the wires of its hosts if they have a router."""
    owner, _ = device_owner(plan, side)
    hosts = plan.of_side(side)
    there = SIDES[1 - side] if len(plan.links) == 1 else SIDES[0]
    if owner == hosts[0].name:
        bed.add_route(owner, there, DEVICE, metrics=settings[owner].metrics)
        return
    bed.add_route(owner, there, DEVICE)
    for number, host in enumerate(hosts):
        inside = f"host{number}"
        own, its = bed.add_wire((host.name, host.address), (owner, _GATEWAY), devices=(_INSIDE, inside), mtu=mtu)
        bed.add_neighbour(host.name, _INSIDE, _GATEWAY, its)
        bed.add_neighbour(owner, inside, host.address, own)
        bed.add_route(host.name, f"{_GATEWAY}/32", _INSIDE)
        bed.add_route(host.name, there, _INSIDE, via=_GATEWAY, metrics=settings[host.name].metrics)
        bed.add_route(owner, f"{host.address}/32", inside)


def unread(bed: Bed, plan: Plan) -> int:
    """Packets that the TUN devices at the links lost so far, as they were full and nobody read them."""
    lost = 0
    for host, _ in (device_owner(plan, side) for side in range(plan.sides)):
        _, counters = bed.counters(host)
        if DEVICE not in counters:
            raise TightlinkError(f"{host} has no device {DEVICE} any more")
        lost += counters[DEVICE].dropped_out
    return lost
