"""The hosts of a testbed: network namespaces, and the devices, routes and settings in them."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import kernel
from .answers import Refused

if TYPE_CHECKING:
    from collections.abc import Callable

    from .answers import Answer

# <linux/if_ether.h>
_ETH_P_ALL: Final = 0x0003
#: Where files are made before they take the place of the machine's, in a mount namespace of our own.
_SCRATCH: Final = "/tmp"  # noqa: S108  # covered by an empty file system of our own


class Networks:
    """Namespaces by the name of their host."""

    def __init__(self) -> None:
        self._namespaces: dict[str, int] = {}
        self._routes: dict[str, Any] = {}

    def operations(self) -> dict[str, Callable[..., Answer]]:
        """What can be asked for, by name."""
        return {
            "host": self._host,
            "tun": self._tun,
            "veth": self._veth,
            "device": self._device,
            "offloads": self._offloads,
            "threaded": self._threaded,
            "shaper": self._shaper,
            "counters": self._counters,
            "neighbour": self._neighbour,
            "route": self._route,
            "settings": self._settings,
            "names": self._names,
            "socket": self._socket,
            "packet_socket": self._packet_socket,
        }

    def enter(self, host: str) -> None:
        """Be in the network namespace of a host."""
        kernel.enter_network(self._namespaces[host])

    def _host(self, _: list[int], host: str) -> Answer:
        from pyroute2 import IPRoute

        if (code := kernel.unshare(kernel.NEW_NETWORK)) != 0:
            raise Refused(f"no further network namespace can be made ({os.strerror(code).lower()})")
        self._namespaces[host] = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._routes[host] = IPRoute()
        with contextlib.suppress(OSError):
            # Its neighbour discovery would be packets that nobody counts on; where it is not built in, it is off.
            Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1", encoding="ascii")
        self._routes[host].link("set", index=1, state="up")
        return self._namespaces[host], []

    def _tun(self, _: list[int], host: str, device: str) -> Answer:
        self.enter(host)
        try:
            descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        except OSError as error:
            raise Refused(f"/dev/net/tun cannot be opened ({str(error.strerror).lower()}): load or allow TUN") from None
        try:
            kernel.name_tun(descriptor, device)
        except OSError as error:
            os.close(descriptor)
            raise Refused(f"no TUN device can be made ({str(error.strerror).lower()})") from None
        return None, [descriptor]

    def _veth(self, _: list[int], host: str, device: str, peer_host: str, peer: str) -> Answer:
        """A pair of devices, one in each host; their hardware addresses."""
        routes = self._routes[host]
        there = {"ifname": peer, "net_ns_fd": self._namespaces[peer_host]}
        routes.link("add", ifname=device, kind="veth", peer=there)
        return [self._hardware(host, device), self._hardware(peer_host, peer)], []

    def _hardware(self, host: str, device: str) -> str:
        index = self._index(host, device)
        (link,) = self._routes[host].get_links(index)
        return str(link.get("address"))

    def _index(self, host: str, device: str) -> int:
        found = self._routes[host].link_lookup(ifname=device)
        if not found:
            raise Refused(f"{host} has no device {device}")
        return int(found[0])

    def _device(self, _: list[int], host: str, device: str, settings: dict[str, Any]) -> Answer:
        """Give a device its properties, none of them an offload, and start it."""
        routes, index = self._routes[host], self._index(host, device)
        address = settings["address"]
        # With more, TCP waits until it has several segments to send at once, and the device cuts them.
        routes.link("set", index=index, mtu=settings["mtu"], txqlen=settings["queue"], gso_max_segs=1)
        self.enter(host)
        kernel.switch_offloads_off(device)
        if address is not None:
            place, _slash, length = address.partition("/")
            routes.addr("add", index=index, address=place, prefixlen=int(length or 32))
        routes.link("set", index=index, state="up")
        return None, []

    def _offloads(self, _: list[int], host: str, device: str) -> Answer:
        """Which offloads of a device are on."""
        self.enter(host)
        return kernel.offloads(device), []

    def _threaded(self, _: list[int], host: str, device: str) -> Answer:
        """Have a thread of the kernel's own take what arrives at a device, rather than whoever sends it."""
        self.enter(host)
        # A veth has a ring, and what empties it, only with GRO, which leaves datagrams as they are.
        kernel.switch_gro_on(device)
        kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
        # One that is mounted shows the devices of the network in which that was done.
        kernel.mount("sysfs", _SCRATCH, "sysfs", 0)
        try:
            Path(_SCRATCH, "class/net", device, "threaded").write_text("1", encoding="ascii")
        except OSError as error:
            why = str(error.strerror).lower()
            raise Refused(f"no thread of the kernel can forward here ({why}): it takes Linux 5.12 or later") from None
        finally:
            kernel.unmount(_SCRATCH)
        return None, []

    def _shaper(self, _: list[int], host: str, device: str, shape: dict[str, int]) -> Answer:
        """Have a device send no faster than a rate in bit/s, with a queue of so many bytes and bursts of so many."""
        routes, rate = self._routes[host], f"{shape['rate_bps']}bit"
        index = self._index(host, device)
        routes.tc("add", "tbf", index, 0x10000, rate=rate, burst=shape["burst_bytes"], limit=shape["queue_bytes"])
        return None, []

    def _counters(self, _: list[int], host: str) -> Answer:
        """What the devices of a host have counted so far, as /proc/net/dev has it, and when that was."""
        self.enter(host)
        text = Path("/proc/self/net/dev").read_text(encoding="ascii")
        return [time.monotonic_ns(), text], []

    def _neighbour(self, _: list[int], host: str, device: str, address: str, hardware: str) -> Answer:
        index = self._index(host, device)
        self._routes[host].neigh("replace", dst=address, lladdr=hardware, ifindex=index, state="permanent")
        return None, []

    def _route(
        self, _: list[int], host: str, destination: str, device: str, via: str | None, metrics: dict[str, int | str]
    ) -> Answer:
        place: dict[str, Any] = {"gateway": via} if via else {"scope": "link"}
        self._routes[host].route("replace", dst=destination, oif=self._index(host, device), metrics=metrics, **place)
        return None, []

    def _settings(self, _: list[int], host: str, settings: dict[str, str]) -> Answer:
        """Write sysctls; those that could not be, with why."""
        self.enter(host)
        failed = {}
        for name, value in settings.items():
            # Names of devices may have dots, but ours have not.
            try:
                Path("/proc/sys", *name.split(".")).write_text(value, encoding="ascii")
            except OSError as error:
                failed[name] = str(error.strerror).lower()
        return failed, []

    def _names(self, _: list[int], addresses: dict[str, str]) -> Answer:
        """Have programs know hosts by their names, and ask nobody else: /etc/hosts and /etc/resolv.conf of our own."""
        lines = ["127.0.0.1 localhost", *(f"{address} {name}" for name, address in addresses.items())]
        kernel.mount(None, "/", None, kernel.RECURSIVE | kernel.PRIVATE)
        kernel.mount("tmpfs", _SCRATCH, "tmpfs", 0)
        try:
            for place, content in (("/etc/hosts", "\n".join(lines) + "\n"), ("/etc/resolv.conf", "")):
                file = Path(_SCRATCH, Path(place).name)
                file.write_text(content, encoding="utf-8")
                if Path(place).exists():
                    kernel.mount(str(file), place, None, kernel.BIND)
        finally:
            kernel.unmount(_SCRATCH)
        return None, []

    def _socket(self, _: list[int], host: str, kind: int, protocol: int) -> Answer:
        self.enter(host)
        return None, [socket.socket(socket.AF_INET, kind, protocol).detach()]

    def _packet_socket(self, _: list[int], host: str, device: str) -> Answer:
        self.enter(host)
        # The protocol is given by bind: without one, nothing is received before.
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0) as made:
            made.bind((device, _ETH_P_ALL))
            return None, [made.detach()]
