"""A testbed: hosts as network namespaces of this machine, with devices, routes and programs in them.

Everything depends on one small process, the supervisor (``supervisor/``), and is gone with it: when the bed is closed,
after an error, Ctrl-C or SIGKILL alike. Root is not needed where user namespaces are allowed. Namespaces have names
inside this program only; no file, no device and no process of the machine changes.

Example:
    Two hosts on one wire::

        with Bed() as bed:
            for host in ("a", "b"):
                bed.add_host(host)
            bed.add_wire(("a", "10.0.0.1/24"), ("b", "10.0.0.2/24"))
            print(bed.run("a", ["ping", "-c", "1", "10.0.0.2"], timeout_s=5).output)
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from tightlink.errors import TightlinkError
from tightlink.measure.programs import GONE, GRACE_S, Finished, Program
from tightlink.measure.system import need_linux

_SUPERVISOR: Final = Path(__file__).parent / "supervisor" / "__main__.py"
_LARGEST_ANSWER: Final = 1 << 20
_MOST_DESCRIPTORS: Final = 4
#: What the supervisor may take to answer, in seconds; a busy machine included.
_PATIENCE_S: Final = 60.0
#: Usual transmit queue of an interface, in packets.
_QUEUE: Final = 1000
ETHERNET_MTU: Final = 1500


@dataclass(frozen=True)
class Counters:
    """What a device has counted since it was made."""

    packets_in: int
    packets_out: int
    dropped_out: int

    @classmethod
    def of(cls, counts: str) -> Self:
        """A line of /proc/net/dev, behind the name of the device.

        >>> Counters.of("500 5 0 1 0 0 0 0 300 3 0 2 0 0 0 0")
        Counters(packets_in=5, packets_out=3, dropped_out=2)
        """
        numbers = [int(word) for word in counts.split()]
        return cls(numbers[1], numbers[9], numbers[11])


class Bed(contextlib.AbstractContextManager["Bed"]):
    """Hosts, what connects them, and the programs in them; a context manager.

    Raises:
        TightlinkError: Namespaces are not allowed here, or this is not Linux.
    """

    def __init__(self) -> None:
        need_linux()
        self._lock = threading.Lock()
        self._number = 0
        self._programs: list[Program] = []
        self._hosts: dict[str, int] = {}
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        with theirs:
            self._supervisor = subprocess.Popen(
                # Without the folder of the script in front, where modules have names that others have, too.
                [sys.executable, "-P", str(_SUPERVISOR), str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        ours.settimeout(_PATIENCE_S)
        try:
            answer, _ = self._answer(0)
            self.process = int(answer["result"]["process"])
            """The number of the supervisor, which no other bed has."""
            self._user = bool(answer["result"]["user"])
        except BaseException:
            self.close()
            raise

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def hosts(self) -> list[str]:
        """Their names, in the order in which they were added."""
        return list(self._hosts)

    def close(self) -> None:
        """End every program and remove everything; a second time does nothing."""
        self._control.close()
        for program in self._programs:
            program.release()
        self._programs.clear()
        try:
            self._supervisor.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._supervisor.kill()
            self._supervisor.wait()

    # Hosts and what connects them.

    def add_host(self, name: str) -> None:
        """A new network namespace, with its loopback up and without IPv6."""
        self._hosts[name], _ = self._ask("host", host=name)

    def add_tun(
        self, host: str, address: str, *, device: str = "tight0", mtu: int = ETHERNET_MTU, queue: int = _QUEUE
    ) -> int:
        """A TUN device in a host, with an address such as 10.0.0.1/32, which holds so many packets until they are read.

        Returns:
            A descriptor, not blocking, of which each read gives one IP packet that the host sends, and to which each
            write delivers one; closing it removes the device. It is the caller's to close.

        Raises:
            TightlinkError: There is no /dev/net/tun, or it may not be opened.
        """
        _, (descriptor,) = self._ask("tun", host=host, device=device)
        try:
            self._start_device(host, device, address, mtu=mtu, queue=queue)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def add_wire(
        self,
        one: tuple[str, str | None],
        other: tuple[str, str | None],
        *,
        devices: tuple[str, str] = ("wire0", "wire0"),
        mtu: int = ETHERNET_MTU,
    ) -> tuple[str, str]:
        """A pair of devices, connected to each other, one in each of two hosts: their hardware addresses.

        Each end is a host and its address, such as ("a", "10.0.0.1/24"), or none where it needs none.
        """
        (first, second), _ = self._ask("veth", host=one[0], device=devices[0], peer_host=other[0], peer=devices[1])
        for (host, address), device in zip((one, other), devices, strict=True):
            self._start_device(host, device, address, mtu=mtu)
        return first, second

    def offloads(self, host: str, device: str) -> dict[str, bool]:
        """What a device does for the kernel, and whether it is on: tso, gso, gro, checksums, scatter-gather."""
        found, _ = self._ask("offloads", host=host, device=device)
        return dict(found)

    def thread_input(self, host: str, device: str) -> None:
        """Have a thread of the kernel, ``napi/DEVICE-…``, take what arrives at a device, from a ring in front of it.

        Otherwise what one end of a wire sends is received, and forwarded, in the time of whoever sends it. The other
        end of the wire cuts nothing large for its host (no offloads).
        """
        self._ask("threaded", host=host, device=device)

    def shape(self, host: str, device: str, *, rate_bps: int, queue_bytes: int, burst_bytes: int) -> None:
        """Have a device send no faster than a rate below 34 Gbit/s (the kernel's tbf), Ethernet's 14 bytes included."""
        shape = {"rate_bps": rate_bps, "queue_bytes": queue_bytes, "burst_bytes": burst_bytes}
        self._ask("shaper", host=host, device=device, shape=shape)

    def counters(self, host: str) -> tuple[int, dict[str, Counters]]:
        """What the devices of a host have counted so far, by name, and when that was, of ``time.monotonic_ns()``."""
        (time_ns, text), _ = self._ask("counters", host=host)
        lines = (line.partition(":") for line in text.splitlines() if ":" in line)
        return time_ns, {name.strip(): Counters.of(counts) for name, _, counts in lines}

    def add_neighbour(self, host: str, device: str, address: str, hardware: str) -> None:
        """What hardware address an IP address has, so that no packet asks for it."""
        self._ask("neighbour", host=host, device=device, address=address, hardware=hardware)

    def add_route(
        self,
        host: str,
        destination: str,
        device: str,
        *,
        via: str | None = None,
        metrics: Mapping[str, int | str] | None = None,
    ) -> None:
        """A route of a host to a network, such as 10.0.128.0/17, by a device and perhaps a next router.

        Metrics of connections that take it have the names of rtnetlink: initcwnd and initrwnd in packets, quickack 1,
        rto_min in ms, cc_algo for the congestion control, ….
        """
        self._ask("route", host=host, destination=destination, device=device, via=via, metrics=dict(metrics or {}))

    def set(self, host: str, settings: Mapping[str, str]) -> dict[str, str]:
        """Write sysctls of a host, such as net.ipv4.tcp_sack; those that could not be written, with why."""
        failed, _ = self._ask("settings", host=host, settings=dict(settings))
        return dict(failed)

    def socket(self, host: str, kind: socket.SocketKind, protocol: int = 0) -> socket.socket:
        """A socket of IPv4 in a host, for this process to use: it stays in the network of the host."""
        _, (descriptor,) = self._ask("socket", host=host, kind=int(kind), protocol=protocol)
        return socket.socket(fileno=descriptor)

    def set_names(self, addresses: Mapping[str, str]) -> None:
        """Have programs of all hosts that start from now on know hosts by these names, and ask no other server."""
        self._ask("names", addresses=dict(addresses))

    def packet_socket(self, host: str, device: str) -> int:
        """A descriptor, not blocking, of an AF_PACKET socket at a device: whole frames; it is the caller's to close."""
        _, (descriptor,) = self._ask("packet_socket", host=host, device=device)
        return descriptor

    def enter(self, host: str) -> str:
        """The shell command with which another terminal enters a host."""
        own = f"/proc/{self.process}"
        # Another mount namespace begins at its root, unless the folder is said: that in which one types the command.
        words = ["nsenter", f"--mount={own}/ns/mnt", f"--net={own}/fd/{self._hosts[host]}", "--wd=."]
        if self._user:
            words[1:1] = [f"--user={own}/ns/user", "--preserve-credentials"]
        return shlex.join(words)

    def _start_device(self, host: str, device: str, address: str | None, *, mtu: int, queue: int = _QUEUE) -> None:
        settings = {"address": address, "mtu": mtu, "queue": queue}
        self._ask("device", host=host, device=device, settings=settings)

    # Programs.

    def popen(
        self, host: str, argv: Sequence[str], *, descriptors: Sequence[int] = (), session: bool = True
    ) -> Program:
        """Start a program in a host.

        ``descriptors`` are what it has as 0, 1, 2, 3, …; without them it has nothing to read, and what it writes is
        kept for `Program.finish`. With its own session Ctrl-C in a terminal does not reach it, and signals reach all
        that it starts.
        """
        kept: list[int] = []
        nothing = os.open(os.devnull, os.O_RDONLY)
        try:
            if not descriptors:
                kept += (os.memfd_create(name) for name in ("output", "errors"))
            given = [*descriptors] or [nothing, *kept]
            process, (descriptor,) = self._ask("start", given, host=host, argv=list(argv), session=session)
        except BaseException:
            for each in kept:
                os.close(each)
            raise
        finally:
            os.close(nothing)
        program = Program(self._ask, process, descriptor, argv[0], kept)
        self._programs.append(program)
        return program

    def run(self, host: str, argv: Sequence[str], *, timeout_s: float) -> Finished:
        """Run a program in a host until it ends, started as by `popen`."""
        return self.popen(host, argv).finish(timeout_s)

    # How the supervisor is asked.

    def _ask(self, operation: str, descriptors: Sequence[int] = (), **values: Any) -> tuple[Any, list[int]]:
        with self._lock:
            self._number += 1
            request = {"id": self._number, "operation": operation, **values}
            try:
                socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
            except OSError:
                raise TightlinkError(GONE) from None
            answer, made = self._answer(self._number)
        return answer["result"], made

    def _answer(self, number: int) -> tuple[dict[str, Any], list[int]]:
        while True:
            try:
                content, made, _, _ = socket.recv_fds(
                    self._control, _LARGEST_ANSWER, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
                )
            except TimeoutError:
                raise TightlinkError(f"the testbed did not answer within {_PATIENCE_S:g} s") from None
            except OSError:
                content, made = b"", []
            if not content:
                raise TightlinkError(GONE)
            answer = json.loads(content)
            if answer["id"] == number:
                break
            # The answer to what Ctrl-C interrupted.
            for descriptor in made:
                os.close(descriptor)
        if "error" in answer:
            raise TightlinkError(answer["error"])
        return answer, made
