"""The process that holds a test bed: its namespaces, its devices and the programs in them.

It is a script of its own, as entering a user namespace takes a process with one thread, which Python's no longer is
once it has imported polars. It serves requests over a socket and passes descriptors with them (SCM_RIGHTS). All that
it makes hangs on it: network namespaces are anonymous, so that they end with what holds them open; programs live in a
PID namespace, which the kernel empties when its first process, this one, ends. It ends when its socket closes or the
process that started it is gone, whatever killed that.

Usage: keeper.py DESCRIPTOR
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import json
import os
import select
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# <linux/sched.h>
_CLONE_NEWNS: Final = 0x00020000
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWPID: Final = 0x20000000
_CLONE_NEWNET: Final = 0x40000000
# <linux/mount.h>
_MS_BIND: Final = 0x1000
_MS_REC: Final = 0x4000
_MS_PRIVATE: Final = 0x40000
_MNT_DETACH: Final = 0x2
# <linux/prctl.h>
_PR_SET_PDEATHSIG: Final = 1
# <linux/if_tun.h>
_TUNSETIFF: Final = 0x400454CA
_IFF_TUN: Final = 0x0001
_IFF_NO_PI: Final = 0x1000
# <linux/ethtool.h>, <linux/sockios.h>: the commands that get and set what a device does for the kernel
_SIOCETHTOOL: Final = 0x8946
_OFFLOADS: Final = {
    "tso": (0x1E, 0x1F),
    "gso": (0x23, 0x24),
    "gro": (0x2B, 0x2C),
    "tx-checksum": (0x16, 0x17),
    "rx-checksum": (0x14, 0x15),
    "scatter-gather": (0x18, 0x19),
}
#: What an interface may be given at once where its link cuts it (GSO_MAX_SEGS).
_MOST_SEGMENTS: Final = 65535
# <linux/if_ether.h>
_ETH_P_ALL: Final = 0x0003

#: Where files are made before they take the place of the machine's, in a mount namespace of our own.
_SCRATCH: Final = "/tmp"  # noqa: S108  # covered by an empty file system of our own
#: Descriptors and bytes that come with a request.
_MOST_DESCRIPTORS: Final = 16
_LARGEST_REQUEST: Final = 1 << 20
_ABOVE: Final = 64

_libc: Final = ctypes.CDLL(None, use_errno=True)

#: What an operation answers: its result, and descriptors to pass.
Answer = tuple[Any, list[int]]


class Refused(Exception):  # noqa: N818  # it is not an error of the keeper
    """What cannot be done here; the text is a sentence for the user."""


def main(descriptor: int) -> int:
    """Enter the namespaces and serve until nobody asks any more."""
    # Ctrl-C in a terminal reaches all of its processes: what is to end then is for who started this one to say.
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=descriptor)
    parent = os.pidfd_open(os.getppid())
    try:
        user = _enter()
    except Refused as refused:
        control.send(json.dumps({"id": 0, "error": str(refused)}).encode())
        return 1
    # Who makes a PID namespace is not in it; its first child is, as process 1.
    child = os.fork()
    if child:
        control.close()
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    try:
        Keeper(control, parent).serve(user=user)
    finally:
        os._exit(0)


def _enter() -> bool:
    """New network, PID and mount namespaces, in a user namespace of our own where we may not make them otherwise.

    Returns:
        Whether there is a user namespace.

    Raises:
        Refused: Neither is allowed.
    """
    user, group = os.getuid(), os.getgid()
    wanted = _CLONE_NEWNET | _CLONE_NEWPID | _CLONE_NEWNS
    if _unshare(wanted) == 0:
        return False
    if (code := _unshare(_CLONE_NEWUSER)) != 0:
        raise Refused(
            f"no namespaces can be made here ({os.strerror(code).lower()}): be root, or allow user namespaces"
        )
    try:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    except OSError as error:
        raise Refused(f"the user namespace has no users ({str(error.strerror).lower()}): be root") from None
    if (code := _unshare(wanted)) != 0:
        raise Refused(f"a user namespace may not have other namespaces here ({os.strerror(code).lower()}): be root")
    return True


def _unshare(flags: int) -> int:
    """Zero, or the number of the error."""
    return 0 if _libc.unshare(flags) == 0 else ctypes.get_errno()


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind)]
    if _libc.mount(*words, ctypes.c_ulong(flags), None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), target)


class Keeper:
    """Namespaces by the name of their host, and the programs that run in them."""

    def __init__(self, control: socket.socket, parent: int) -> None:
        self._control = control
        self._parent = parent
        #: That of process 1 as others see it, by which namespaces can be entered from outside.
        self._process = int(Path("/proc/self").readlink().name)
        self._namespaces: dict[str, int] = {}
        self._routes: dict[str, Any] = {}
        #: Exit codes of programs that have ended, until they are asked for.
        self._ended: dict[int, int] = {}
        #: Programs with a session of their own, which are signalled with all of it.
        self._sessions: set[int] = set()
        self._own = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._operations: Mapping[str, Callable[..., Answer]] = {
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
            "start": self._start,
            "ended": self._has_ended,
            "signal": self._signal,
        }

    def serve(self, *, user: bool) -> None:
        """Answer requests until nobody can ask any more; the first answer says where it is."""
        woken, wake = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._answer({"id": 0, "result": {"process": self._process, "user": user}}, [])
        poll = select.poll()
        for descriptor in (self._control.fileno(), self._parent, woken):
            poll.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
                self._reap()
            if self._control.fileno() in ready and not self._serve_one():
                return
            if self._parent in ready:
                return

    def _serve_one(self) -> bool:
        """Whether there was a request rather than the end."""
        try:
            content, passed, _, _ = socket.recv_fds(
                self._control, _LARGEST_REQUEST, _MOST_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
            )
        except ConnectionError:
            return False
        if not content:
            return False
        request = json.loads(content)
        number, operation = request.pop("id"), request.pop("operation")
        made: list[int] = []
        try:
            result, made = self._operations[operation](passed, **request)
            answer = {"id": number, "result": result}
        except Refused as refused:
            answer = {"id": number, "error": str(refused)}
        except OSError as error:
            answer = {"id": number, "error": _sentence(error)}
        except Exception as error:  # noqa: BLE001  # pyroute2's have no class in common
            code = getattr(error, "code", None)
            answer = {"id": number, "error": os.strerror(code).lower() if isinstance(code, int) else repr(error)}
        finally:
            for descriptor in passed:
                os.close(descriptor)
        self._answer(answer, made)
        for descriptor in made:
            os.close(descriptor)
        return True

    def _answer(self, answer: Mapping[str, Any], descriptors: Sequence[int]) -> None:
        # Who asked may be gone.
        with contextlib.suppress(OSError):
            socket.send_fds(self._control, [json.dumps(answer).encode()], descriptors)

    def _reap(self) -> None:
        """Take note of what has ended; as process 1, of the children of others, too."""
        while True:
            try:
                process, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if process == 0:
                return
            self._ended[process] = os.waitstatus_to_exitcode(status)

    # Namespaces, devices and routes.

    def _in(self, host: str | None) -> None:
        """Be in the network namespace of a host, or in that of none."""
        namespace = self._own if host is None else self._namespaces[host]
        if _libc.setns(namespace, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")

    def _host(self, _: list[int], host: str) -> Answer:
        from pyroute2 import IPRoute

        if (code := _unshare(_CLONE_NEWNET)) != 0:
            raise Refused(f"no further network namespace can be made ({os.strerror(code).lower()})")
        self._namespaces[host] = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._routes[host] = IPRoute()
        with contextlib.suppress(OSError):
            # Its neighbour discovery would be packets that nobody counts on; where it is not built in, it is off.
            Path("/proc/sys/net/ipv6/conf/all/disable_ipv6").write_text("1", encoding="ascii")
        self._routes[host].link("set", index=1, state="up")
        return self._namespaces[host], []

    def _tun(self, _: list[int], host: str, device: str) -> Answer:
        self._in(host)
        try:
            descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        except OSError as error:
            raise Refused(f"/dev/net/tun cannot be opened ({str(error.strerror).lower()}): load or allow TUN") from None
        try:
            request = struct.pack("16sH22x", device.encode(), _IFF_TUN | _IFF_NO_PI)
            fcntl.ioctl(descriptor, _TUNSETIFF, request)
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
        """Give a device its properties and start it."""
        routes, index = self._routes[host], self._index(host, device)
        offloads, address = settings["offloads"], settings["address"]
        segments = _MOST_SEGMENTS if offloads else 1
        routes.link("set", index=index, mtu=settings["mtu"], txqlen=settings["queue"], gso_max_segs=segments)
        if not offloads:
            self._in(host)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
                for _get, switch in _OFFLOADS.values():
                    _offload(any_socket, device, switch)
        if address is not None:
            place, _slash, length = address.partition("/")
            routes.addr("add", index=index, address=place, prefixlen=int(length or 32))
        routes.link("set", index=index, state="up")
        return None, []

    def _offloads(self, _: list[int], host: str, device: str) -> Answer:
        """Which offloads of a device are on."""
        self._in(host)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            return {name: _offload(any_socket, device, get) for name, (get, _set) in _OFFLOADS.items()}, []

    def _threaded(self, _: list[int], host: str, device: str) -> Answer:
        """Have a thread of the kernel's own take what arrives at a device, rather than whoever sends it."""
        self._in(host)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            # A veth has a ring, and what empties it, only with GRO, which leaves datagrams as they are.
            _offload(any_socket, device, _OFFLOADS["gro"][1], on=True)
        _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
        try:
            # One that is mounted shows the devices of the network in which that was done.
            _mount("sysfs", _SCRATCH, "sysfs", 0)
            try:
                Path(_SCRATCH, "class/net", device, "threaded").write_text("1", encoding="ascii")
            finally:
                _libc.umount2(_SCRATCH.encode(), _MNT_DETACH)
        except OSError as error:
            why = str(error.strerror).lower()
            raise Refused(
                f"no thread of the kernel can forward here ({why}): it takes Linux 5.12 or later and its own sysfs"
            ) from None
        return None, []

    def _shaper(self, _: list[int], host: str, device: str, shape: dict[str, int]) -> Answer:
        """Have a device send no faster than a rate in bit/s, with a queue of so many bytes and bursts of so many."""
        routes, rate = self._routes[host], f"{shape['rate_bps']}bit"
        index = self._index(host, device)
        routes.tc("add", "tbf", index, 0x10000, rate=rate, burst=shape["burst_bytes"], limit=shape["queue_bytes"])
        return None, []

    def _counters(self, _: list[int], host: str) -> Answer:
        """What the devices of a host have counted so far, as /proc/net/dev has it, and when that was."""
        self._in(host)
        text = Path("/proc/self/net/dev").read_text(encoding="ascii")
        return [time.monotonic_ns(), text], []

    def _neighbour(self, _: list[int], host: str, device: str, address: str, hardware: str) -> Answer:
        index = self._index(host, device)
        self._routes[host].neigh("replace", dst=address, lladdr=hardware, ifindex=index, state="permanent")
        return None, []

    def _route(
        self,
        _: list[int],
        host: str,
        destination: str,
        device: str,
        via: str | None,
        metrics: dict[str, int | str],
    ) -> Answer:
        place: dict[str, Any] = {"gateway": via} if via else {"scope": "link"}
        self._routes[host].route("replace", dst=destination, oif=self._index(host, device), metrics=metrics, **place)
        return None, []

    def _settings(self, _: list[int], host: str, settings: dict[str, str]) -> Answer:
        """Write sysctls; those that could not be, with why."""
        self._in(host)
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
        _mount(None, "/", None, _MS_REC | _MS_PRIVATE)
        _mount("tmpfs", _SCRATCH, "tmpfs", 0)
        try:
            for place, content in (("/etc/hosts", "\n".join(lines) + "\n"), ("/etc/resolv.conf", "")):
                file = Path(_SCRATCH, Path(place).name)
                file.write_text(content, encoding="utf-8")
                if Path(place).exists():
                    _mount(str(file), place, None, _MS_BIND)
        finally:
            _libc.umount2(_SCRATCH.encode(), _MNT_DETACH)
        return None, []

    def _socket(self, _: list[int], host: str, kind: int, protocol: int) -> Answer:
        self._in(host)
        return None, [socket.socket(socket.AF_INET, kind, protocol).detach()]

    def _packet_socket(self, _: list[int], host: str, device: str) -> Answer:
        self._in(host)
        # The protocol is given by bind: without one, nothing is received before.
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_NONBLOCK, 0) as made:
            made.bind((device, _ETH_P_ALL))
            return None, [made.detach()]

    # Programs.

    def _start(self, passed: list[int], host: str | None, argv: list[str], session: bool) -> Answer:  # noqa: FBT001
        """Start a program with these descriptors as its 0, 1, 2, 3, …; its number here, and a descriptor of it."""
        self._in(host)
        failure, report = os.pipe2(os.O_CLOEXEC)
        process = os.fork()
        if process == 0:
            _become(passed, argv, report, session=session)
        os.close(report)
        try:
            content = os.read(failure, 16)
        finally:
            os.close(failure)
        if content:
            os.waitpid(process, 0)
            raise Refused(f"{argv[0]} cannot be started: {os.strerror(int(content)).lower()}")
        if session:
            self._sessions.add(process)
        return process, [os.pidfd_open(process)]

    def _has_ended(self, _: list[int], process: int) -> Answer:
        self._reap()
        return self._ended.pop(process, None), []

    def _signal(self, _: list[int], process: int, number: int) -> Answer:
        with contextlib.suppress(ProcessLookupError):
            (os.killpg if process in self._sessions else os.kill)(process, number)
        return None, []


def _become(passed: Sequence[int], argv: Sequence[str], report: int, *, session: bool) -> NoReturn:
    """In a child: become the program, or say why not."""
    try:
        if session:
            os.setsid()
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        # First out of the way of each other.
        above = [fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _ABOVE) for descriptor in passed]
        report = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
        for place, descriptor in enumerate(above):
            os.dup2(descriptor, place, inheritable=True)
        os.execvp(argv[0], list(argv))  # noqa: S606
    except OSError as error:
        os.write(report, str(error.errno).encode())
    finally:
        os._exit(127)


def _offload(any_socket: socket.socket, device: str, command: int, *, on: bool = False) -> bool:
    """Ask whether an offload is on, or switch it, as the command is."""
    value = ctypes.create_string_buffer(struct.pack("II", command, on))
    request = struct.pack("16sP16x", device.encode(), ctypes.addressof(value))
    try:
        fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
    except OSError as error:
        # A device that has it never is as good as one that has it off.
        if error.errno not in {errno.EOPNOTSUPP, errno.EINVAL}:
            raise
        return False
    _command, found = struct.unpack_from("II", value.raw)
    return bool(found)


def _sentence(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{(error.strerror or str(error)).lower()}"


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
