"""Testbeds: hosts reach each other, and nothing is left of them whatever ends them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from in_real_time import needs_links
from programs import need
from tightlink.errors import TightlinkError
from tightlink.measure.testbed import Bed
from waiting import PATIENCE_S, soon

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = needs_links

#: How long programs would sleep, in seconds: a number by which this process knows its own.
_SLEEP = f"1000.{os.getpid()}"
#: Not one long sleep: a signal between two instructions of Python is seen at its next, which would be after that.
_LASTING = "while True: time.sleep(0.1)"
#: A bed with a program that would last, in its own process.
_HELD = """
import faulthandler, sys, time
faulthandler.dump_traceback_later({patience} / 2)  # where it is stuck
from tightlink.measure.testbed import Bed
with Bed() as bed:
    bed.add_host("a")
    tun = bed.add_tun("a", "10.0.0.1/32")
    bed.popen("a", ["sh", "-c", "sleep {sleep} & sleep {sleep}"])
    print(bed.process, flush=True)
    {then}
"""


@pytest.fixture
def bed() -> Iterator[Bed]:
    with Bed() as made:
        yield made


def _wired(bed: Bed) -> None:
    for host in ("a", "b"):
        bed.add_host(host)
    bed.add_wire(("a", "10.0.0.1/24"), ("b", "10.0.0.2/24"))


def _running(text: str) -> list[int]:
    """The processes of this machine with a text in their command line."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal() and text.encode() in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


def _namespaces() -> set[str]:
    """The network namespaces in which there are processes."""
    found = set()
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdecimal():
                found.add(str((folder / "ns" / "net").readlink()))
    return found


def _devices() -> set[str]:
    """The devices of the machine itself that are of testbeds."""
    return {device.name for device in Path("/sys/class/net").iterdir()} & {"tight0", "wire0"}


def _gone(process: int) -> bool:
    return soon(lambda: not Path(f"/proc/{process}").exists() and not _running(f"sleep\x00{_SLEEP}"))


def test_hosts_reach_each_other(bed: Bed) -> None:
    _wired(bed)
    found = bed.run("a", [sys.executable, "-c", _ECHO_CLIENT], timeout_s=PATIENCE_S)
    assert found.code != 0  # nobody listens yet
    server = bed.popen("b", [sys.executable, "-c", _ECHO_SERVER])
    for _ in range(50):
        found = bed.run("a", [sys.executable, "-c", _ECHO_CLIENT], timeout_s=PATIENCE_S)
        if found.code == 0:
            break
    assert found.output == "hello\n", found.errors
    server.stop()
    assert server.poll() == -signal.SIGTERM


_ECHO_SERVER = """
import socket
listener = socket.create_server(("10.0.0.2", 7))
while True:
    peer, _ = listener.accept()
    peer.sendall(peer.recv(100))
    peer.close()
"""
_ECHO_CLIENT = """
import socket
with socket.create_connection(("10.0.0.2", 7), 5) as peer:
    peer.sendall(b"hello")
    print(peer.recv(100).decode())
"""


def test_tun_gives_packets_and_takes_them(bed: Bed) -> None:
    bed.add_host("a")
    tun = bed.add_tun("a", "10.0.0.1/32", mtu=1040, queue=20)
    try:
        bed.add_route("a", "10.0.128.0/17", "tight0", metrics={"initcwnd": 2, "quickack": 1})
        sent = bed.run("a", [sys.executable, "-c", _DATAGRAM], timeout_s=PATIENCE_S)
        assert sent.code == 0, sent.errors
        assert select.select([tun], [], [], 5)[0]
        packet = os.read(tun, 2000)
        assert packet[0] >> 4 == 4
        assert packet[12:20] == bytes([10, 0, 0, 1, 10, 0, 128, 1])
        assert packet[-5:] == b"hello"
        # Back to where it came from: addresses and ports exchanged, which leaves the checksums as they are.
        echo = bed.popen("a", [sys.executable, "-c", _RECEIVER])
        returned = packet[:12] + packet[16:20] + packet[12:16] + packet[22:24] + packet[20:22] + packet[24:]
        until = time.monotonic() + PATIENCE_S
        while echo.poll() is None and time.monotonic() < until:
            os.write(tun, returned)
            time.sleep(0.02)
        assert echo.finish(5).output == "hello\n"
    finally:
        os.close(tun)


_DATAGRAM = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.bind(("10.0.0.1", 5000))
sender.sendto(b"hello", ("10.0.128.1", 5001))
"""
_RECEIVER = """
import socket
receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
receiver.bind(("10.0.0.1", 5000))
receiver.settimeout(8)
print(receiver.recv(100).decode())
"""


def test_routes_carry_what_connections_begin_with(bed: Bed) -> None:
    need("ip")
    _wired(bed)
    bed.add_route("a", "10.1.0.0/16", "wire0", via="10.0.0.2", metrics={"initcwnd": 2, "quickack": 1, "rto_min": 200})
    shown = bed.run("a", ["ip", "route", "show", "10.1.0.0/16"], timeout_s=PATIENCE_S).output
    assert "via 10.0.0.2" in shown
    assert "initcwnd 2 rto_min 200ms quickack 1" in shown


def test_hosts_know_each_other_by_name_and_nobody_else(bed: Bed) -> None:
    _wired(bed)
    outside = Path("/etc/hosts").read_bytes()
    bed.set_names({"a": "10.0.0.1", "b": "10.0.0.2"})
    asked = "import socket; print(socket.gethostbyname('b'), socket.gethostbyname('localhost'))"
    assert bed.run("a", [sys.executable, "-c", asked], timeout_s=PATIENCE_S).output == "10.0.0.2 127.0.0.1\n"
    unknown = bed.run("a", [sys.executable, "-c", "import socket; socket.gethostbyname('c.test')"], timeout_s=30)
    assert "gaierror" in unknown.errors
    entered = subprocess.run([*bed.enter("a").split(), "cat", "/etc/hosts"], capture_output=True, text=True, check=True)
    assert "10.0.0.2 b" in entered.stdout
    assert Path("/etc/hosts").read_bytes() == outside


def test_a_host_can_be_entered(bed: Bed) -> None:
    need("nsenter")
    _wired(bed)
    argv = [*bed.enter("b").split(), "cat", "/proc/self/net/fib_trie"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=10, check=True)
    assert "10.0.0.2" in done.stdout


def test_a_host_is_entered_in_the_folder_where_one_is(bed: Bed, tmp_path: Path) -> None:
    need("nsenter")
    _wired(bed)
    argv = [*bed.enter("a").split(), "touch", "here"]
    subprocess.run(argv, cwd=tmp_path, timeout=10, check=True)
    assert (tmp_path / "here").exists()


def test_settings_are_those_of_a_host(bed: Bed) -> None:
    _wired(bed)
    before = Path("/proc/sys/net/ipv4/tcp_timestamps").read_text(encoding="ascii")
    other = "0" if before.strip() == "1" else "1"
    assert bed.set("a", {"net.ipv4.tcp_timestamps": other}) == {}
    assert bed.run("a", ["cat", "/proc/sys/net/ipv4/tcp_timestamps"], timeout_s=PATIENCE_S).output.strip() == other
    assert Path("/proc/sys/net/ipv4/tcp_timestamps").read_text(encoding="ascii") == before
    assert bed.set("a", {"net.ipv4.nothing": "1"}) == {"net.ipv4.nothing": "no such file or directory"}


def test_frames_pass_whole_and_small(bed: Bed) -> None:
    """Without offloads, what a socket sends leaves as the segments that a wire would carry, with their checksums."""
    for host in ("a", "between"):
        bed.add_host(host)
    _, hardware = bed.add_wire(("a", "10.0.0.1/24"), ("between", None), mtu=1040)
    bed.add_neighbour("a", "wire0", "10.0.0.2", hardware)
    port = bed.packet_socket("between", "wire0")
    try:
        assert bed.run("a", [sys.executable, "-c", _LONG_DATAGRAM], timeout_s=PATIENCE_S).code == 0
        frames = []
        while select.select([port], [], [], 0.5)[0]:
            frames.append(os.read(port, 65536))
        assert [len(frame) - 14 for frame in frames] == [1036, 1036, 1004]
        assert not any(bed.offloads("a", "wire0").values())
    finally:
        os.close(port)


_LONG_DATAGRAM = """
import socket
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sender.sendto(bytes(3008), ("10.0.0.2", 5001))
"""


def test_what_cannot_be_started_says_so(bed: Bed) -> None:
    bed.add_host("a")
    with pytest.raises(TightlinkError, match=r"^nothing-of-that-name cannot be started: no such file or directory$"):
        bed.popen("a", ["nothing-of-that-name"])
    with pytest.raises(TightlinkError, match=r"^sleep did not end within 0\.1 s$"):
        bed.run("a", ["sleep", _SLEEP], timeout_s=0.1)
    assert not _running(f"sleep\x00{_SLEEP}")


def test_a_program_has_the_descriptors_that_it_is_given(bed: Bed) -> None:
    bed.add_host("a")
    with Path("/dev/null").open("rb") as nothing:
        reading, writing = os.pipe()
        program = "import os; os.write(3, b'three')"
        given = [nothing.fileno(), nothing.fileno(), nothing.fileno(), writing]
        started = bed.popen("a", [sys.executable, "-c", program], descriptors=given)
        assert started.finish(PATIENCE_S).code == 0
        assert os.read(reading, 10) == b"three"
        os.close(reading)
        os.close(writing)


def test_nothing_is_left_when_it_is_closed() -> None:
    with Bed() as other:
        _wired(other)
        process = other.process
        program = other.popen("a", ["sh", "-c", f"setsid sleep {_SLEEP} & sleep {_SLEEP}"])
        assert program.poll() is None
        network = other.run("a", ["readlink", "/proc/self/ns/net"], timeout_s=PATIENCE_S).output.strip()
        assert network in _namespaces()
    assert _gone(process)
    assert network not in _namespaces()
    with pytest.raises(TightlinkError, match="the testbed is gone"):
        other.add_host("c")


@pytest.mark.parametrize(
    ("then", "number", "code"),
    [
        ("raise SystemExit(7)", None, 7),
        ("1 / 0", None, 1),
        (_LASTING, signal.SIGINT, -signal.SIGINT),
        (_LASTING, signal.SIGKILL, -signal.SIGKILL),
        (_LASTING, signal.SIGTERM, -signal.SIGTERM),
    ],
    ids=["exit", "error", "ctrl-c", "kill", "terminate"],
)
def test_nothing_is_left_whatever_ends_it(then: str, number: int | None, code: int) -> None:
    program = _HELD.format(sleep=_SLEEP, patience=PATIENCE_S, then=then)
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as held:
        try:
            assert held.stdout is not None
            process = int(held.stdout.readline())
            if number is not None:
                assert soon(lambda: bool(_running(f"sleep\x00{_SLEEP}")))
                held.send_signal(number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                held.wait(PATIENCE_S)
        finally:
            held.kill()
            _, errors = held.communicate()
    assert held.returncode == code, errors
    assert _gone(process)
    assert not _devices()


def test_nothing_is_left_when_the_keeper_is_killed(bed: Bed) -> None:
    bed.add_host("a")
    bed.popen("a", ["sleep", _SLEEP])
    bed._supervisor.kill()
    assert _gone(bed.process)
    with pytest.raises(TightlinkError, match="the testbed is gone"):
        bed.add_host("b")


def test_without_namespaces_a_sentence_says_so() -> None:
    """Root without any capability may make a user namespace, but not be anybody in it."""
    need("setpriv")
    if os.getuid() != 0:
        pytest.skip("only root can take that much away")
    program = "from tightlink.measure.testbed import Bed\ntry:\n    Bed()\nexcept Exception as error:\n    print(error)"
    argv = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", sys.executable, "-c", program]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.endswith("): be root\n") or "allow user namespaces" in done.stdout, done.stdout


def test_works_without_privileges() -> None:
    """In a user namespace, which somebody without capabilities may make; and can be entered from outside."""
    need("setpriv")
    program = _HELD.format(
        sleep=_SLEEP,
        patience=PATIENCE_S,
        then='print(bed.run("a", ["cat", "/proc/self/uid_map"], timeout_s=60).output, bed.enter("a")); '
        'bed.set_names({"a": "10.0.0.1"}); print(bed.run("a", ["cat", "/etc/hosts"], timeout_s=60).output)',
    )
    # Root needs CAP_SETFCAP to map itself; others map themselves without it.
    argv = ["setpriv", "--bounding-set=-all,+setfcap", "--inh-caps=-all", sys.executable, "-c", program]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if "allow user namespaces" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    process, *mapped = done.stdout.split()
    assert mapped[:3] == ["0", str(os.getuid()), "1"]
    assert mapped[-2:] == ["10.0.0.1", "a"]
    assert f"nsenter --user=/proc/{process}/ns/user --preserve-credentials --mount=" in done.stdout
    assert _gone(int(process))
