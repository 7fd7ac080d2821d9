"""``tightlink measure path`` and ``serve``: in namespaces and on loopback where there are such, and else alone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tightlink as tl
from ports import unused_port
from programs import need
from tightlink.errors import TightlinkError
from tightlink.measure import listener
from tightlink.measure import path as probes
from tightlink.measure.listener import Limits
from tightlink.measure.probe import listen, send_udp
from tightlink.measure.traffic import Constant, UdpFlow, UdpReceived, UdpSent
from tightlink.measure.visitor import NobodyListensError, visiting
from waiting import soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Said = Callable[..., tuple[int, str, str]]

HERE = "127.0.0.1"

#: Nothing outlives the script, as it is process 1 of a namespace.
ALONE = ["unshare", "-Urnmp", "--fork", "--kill-child", "--mount-proc"]
#: Here, a router whose link to there has 10 Mbit/s and a queue of 20, there: in namespaces that end with the script.
NETWORK = """
set -e
ip link set lo up
unshare -n sleep 60 & ROUTER=$!
unshare -n sleep 60 & THERE=$!
for each in $ROUTER $THERE; do
    while [ $(readlink /proc/$each/ns/net) = $(readlink /proc/self/ns/net) ]; do sleep 0.01; done
done
ip link add here type veth peer name to_here netns $ROUTER
nsenter -t $ROUTER -n ip link add to_there type veth peer name there netns $THERE
ip addr add 10.9.0.1/24 dev here
ip link set here up
ip route add default via 10.9.0.2
nsenter -t $ROUTER -n sh -c 'ip addr add 10.9.0.2/24 dev to_here; ip addr add 10.9.1.2/24 dev to_there
    ip link set to_here up; ip link set to_there up; echo 1 > /proc/sys/net/ipv4/ip_forward
    tc qdisc add dev to_there root handle 1: tbf rate 10000000bit burst 1540 limit 10000000
    tc qdisc add dev to_there parent 1: handle 10: pfifo limit 20'
nsenter -t $THERE -n sh -c 'ip addr add 10.9.1.1/24 dev there; ip link set there up; ip route add default via 10.9.1.2'
nsenter -t $THERE -n $PYTHON -m tightlink measure serve 10.9.1.1 --visits 5 &
for i in $(seq 100); do nsenter -t $THERE -n ss -ltn | grep -q 5202 && break; sleep 0.1; done
"$@"
"""


@pytest.mark.usefixtures("few_controls")
def test_a_path_between_namespaces_is_measured_and_feeds_predict(tmp_path: Path, said: Said) -> None:
    need("unshare", "nsenter", "ip", "tc", "ss")
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("no user namespaces are allowed here")
    # The shaper counts the 14 B of Ethernet, too, and lets a packet pass by its token.
    expected = 10e6 * 1428 / 1442
    # A machine that is busy takes away from it: hardly three times in a row.
    for attempt in range(3):
        file = tmp_path / f"path{attempt}.toml"
        measure = [sys.executable, "-m", "tightlink", "measure", "path", "10.9.1.1", "-o", str(file), "--json",
                   "--trains", "20", "--overload-packets", "600"]  # fmt: skip
        done = subprocess.run(
            [*ALONE, "bash", "-c", NETWORK, "network", *measure],
            capture_output=True, text=True, check=False, timeout=90, env={**os.environ, "PYTHON": sys.executable},
        )  # fmt: skip
        if "qdisc" in done.stderr or "Operation not permitted" in done.stderr:
            pytest.skip(f"this kernel cannot shape: {done.stderr.splitlines()[-1]}")
        assert done.returncode in {0, 3}, done.stderr
        assert "sending at most 1144 datagrams, 1606912 B, to 10.9.1.1 port 5202" in done.stderr
        found = json.loads(done.stdout)
        if found["bandwidth_bps"]["value"] == pytest.approx(expected, rel=0.05):
            break
    assert found["bandwidth_bps"]["value"] == pytest.approx(expected, rel=0.05)
    assert 0 < found["rtt_s"]["value"] < 0.05
    assert found["queue_packets"]["value"] == pytest.approx(21, abs=2)
    link = tl.load(file).link["path"]
    assert link.queue in {f"{packets} packets" for packets in range(19, 24)}
    code, out, err = said("plan", "path", "--path", str(file), "--rtt", "20 ms", "--flows", "1", "--json")
    assert code in {0, 3}, err
    assert json.loads(out)["path"]["bandwidth_bps"] == pytest.approx(expected, rel=0.05)


def test_a_host_without_listener_is_pinged_and_what_is_missing_is_said(
    said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "PINGS", 2)
    code, out, err = said("measure", "path", HERE, "--port", "9", "--json")
    found = json.loads(out)
    assert code == (1 if found["rtt_s"] is None else 3)
    assert "127.0.0.1: tightlink measure serve does not listen at port 9 (connection refused)" in err
    assert found["queue_packets"] is None
    assert "warning: queue: only an overload would tell" in err
    if found["rtt_s"] is None:
        assert "ping" in err
    else:
        assert found["rtt_s"]["value"] < 0.1


def wait_until(holds: Callable[[], bool]) -> None:
    def comes_true() -> bool:
        with suppress(OSError, ValueError, TightlinkError):
            return holds()
        return False

    assert soon(comes_true)


def echoed(place: tuple[str, int]) -> int:
    """A short visit: how many datagrams were sent back, of none."""
    with visiting(place, "echo", most=1, seconds=0.1, idle_s=0.1) as visit:
        return visit.echoed()


@contextmanager
def served(visits: int = 1, limits: Limits | None = None) -> Iterator[tuple[str, int]]:
    """A listener; it must still be whole in the end, when the last visit is a good one."""
    port = unused_port()
    ready = threading.Event()
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        ready.set()

    thread = threading.Thread(
        target=listener.serve, args=(HERE, port), kwargs={"visits": visits, "say": say, "limits": limits}, daemon=True
    )
    thread.start()
    assert ready.wait(10)
    try:
        yield HERE, port
        # Those who were there may still be there for a moment.
        wait_until(lambda: echoed((HERE, port)) == 0)
    finally:
        thread.join(30)
    assert not thread.is_alive()
    assert said[-1] == f"{HERE}: 0 datagrams sent back"


def ask(place: tuple[str, int], request: bytes, *, source: str = HERE) -> bytes:
    """What a listener answers, all of it."""
    with socket.create_connection(place, timeout=20, source_address=(source, 0)) as visitor:
        visitor.sendall(request)
        visitor.shutdown(socket.SHUT_WR)
        return visitor.makefile("rb").read()


STRANGE = "not a request of tightlink measure path"


def request(**changed: object) -> bytes:
    """A request of one datagram that is sent back, with some of its keys changed."""
    asked = {"tightlink": 1, "do": "echo", "most": 1, "seconds": 0.1, "idle": 0.1} | changed
    return json.dumps({key: value for key, value in asked.items() if value is not None}).encode() + b"\n"


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET / HTTP/1.1\r\n", STRANGE),
        (b"[1, 2]\n", STRANGE),
        (b"\n", STRANGE),
        (b"", STRANGE),
        (b"\xff\xfe\n", STRANGE),
        (b"[" * 4095 + b"\n", STRANGE),
        (b'{"a":' * 800 + b"\n", STRANGE),
        (b"x" * 100_000, STRANGE),
        (b'{"tightlink": 1, "do": "echo"', STRANGE),
        (request(do=[]), STRANGE),
        (request(do={}), STRANGE),
        (request(do="rm"), STRANGE),
        (request(do=None), STRANGE),
        (request(most=1e9), STRANGE),
        (request(most=True), STRANGE),
        (request(most="1"), STRANGE),
        (request(seconds=float("nan")), STRANGE),
        (request(seconds=float("inf")), STRANGE),
        (request(more=1), STRANGE),
        (request(tightlink=True), STRANGE),
        (request(tightlink=10**4000), STRANGE),
        (request(tightlink=99), "this end speaks version 1, not 99: install the same version on both"),
        (request(tightlink=99, do=None, also=1), "this end speaks version 1, not 99: install the same version on both"),
        (request(most=10**9), "expected at most 100000 datagrams in 60 s"),
        (request(most=10**30), "expected at most 100000 datagrams in 60 s"),
        (request(most=-1), "expected at most 100000 datagrams in 60 s"),
        (request(seconds=1e300), "expected at most 100000 datagrams in 60 s"),
        (request(idle=0), "expected at most 100000 datagrams in 60 s"),
    ],
)
def test_a_listener_refuses_what_it_does_not_know(request_: bytes, answer: str) -> None:
    with served() as place:
        assert json.loads(ask(place, request_)) == {"error": answer}


def closed(visitor: socket.socket) -> bool:
    """Whether the other end has closed a connection, without a word."""
    try:
        assert visitor.recv(100) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        pass
    return True


def test_a_visitor_that_is_slow_keeps_nobody_waiting() -> None:
    limits = Limits(patience_s=1.0)
    with served(2, limits) as place, ExitStack() as stack:
        slow = [stack.enter_context(socket.create_connection(place, timeout=20)) for _ in range(limits.of_one - 1)]
        began = time.monotonic()
        with visiting(place, "echo", most=1, seconds=0.1, idle_s=0.1) as visit:
            assert visit.echoed() == 0
        # A byte now and then does not make its time longer.
        for each in slow:
            each.settimeout(0)
        while slow:
            assert time.monotonic() < began + 20
            for each in slow:
                with suppress(OSError):
                    each.send(b"{")
            time.sleep(0.3)
            slow = [each for each in slow if not closed(each)]


BUSY = "busy with another measurement: try again in a minute"


def test_a_listener_measures_one_at_a_time_and_tells_the_others(said: Said) -> None:
    with served(2, Limits(kept_s=60.0)) as place:
        with visiting(place, "receive", most=2, seconds=20, idle_s=0.5) as visit:
            assert json.loads(ask(place, request())) == {"error": BUSY}
            assert json.loads(ask(place, request(), source="127.0.0.2")) == {"error": BUSY}
            code, out, err = said("measure", "path", HERE, "--port", str(place[1]))
            assert (code, out) == (2, "")
            assert err.splitlines()[-1] == f"tightlink: {HERE} port {place[1]}: the other end refuses: {BUSY}"
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
                end.connect(place)
                sent = send_udp([UdpFlow(place, 100, Constant(0.001), stop_s=0.0015)], limit_s=5, most=2, ends=[end])
            assert visit.received().seq == sent.seq.tolist() == [0, 1]
        # Between the visits of a measurement it is kept for it.
        assert json.loads(ask(place, request(), source="127.0.0.2")) == {"error": BUSY}


def test_who_leaves_frees_the_listener() -> None:
    with served() as place, visiting(place, "receive", most=2, seconds=60, idle_s=60):
        # Nothing is sent, and the next visit comes before the minute is over.
        pass


def test_a_listener_has_room_for_so_many() -> None:
    limits = Limits(visitors=4, of_one=3, patience_s=20)
    with served(1, limits) as place, ExitStack() as stack:
        there = [stack.enter_context(socket.create_connection(place, timeout=20)) for _ in range(3)]
        wait_until(lambda: json.loads(ask(place, b"")) == {"error": BUSY})
        other = stack.enter_context(socket.create_connection(place, timeout=20, source_address=("127.0.0.2", 0)))
        wait_until(lambda: json.loads(ask(place, b"", source="127.0.0.3")) == {"error": BUSY})
        for each in (*there, other):
            each.close()
        wait_until(lambda: json.loads(ask(place, b"")) == {"error": STRANGE})


def test_a_listener_that_cannot_listen_says_so(said: Said) -> None:
    code, _, err = said("measure", "serve", "192.0.2.1")
    assert (code, err) == (2, "tightlink: 192.0.2.1:5202: cannot listen there: cannot assign requested address\n")
    code, _, err = said("measure", "serve", HERE, "--port", "70000")
    assert (code, err) == (2, "tightlink: --port = 70000: expected a whole number from 1 to 65535\n")
    # To Python every address, as a variable of a script that is not set.
    code, _, err = said("measure", "serve", "")
    assert (code, err) == (2, 'tightlink: "": expected an address of this machine to listen at\n')


@pytest.mark.parametrize("address", [HERE, "0.0.0.0", "0"])
def test_where_a_listener_listens(address: str) -> None:
    class HeardError(Exception):
        pass

    def say(text: str) -> None:
        raise HeardError(text)

    port = unused_port()
    with pytest.raises(HeardError) as heard:
        listener.serve(address, port, say=say)
    everywhere = f"listening at every address of this machine, port {port}, TCP and UDP"
    one = f"listening at {HERE} port {port}, TCP and UDP, and nowhere else"
    assert str(heard.value) == (one if address == HERE else everywhere)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--payload", "9 kB"], "--payload = 9000: expected a whole number from 200 to 8900"),
        (["--trains", "5"], "--trains = 5: expected a whole number from 20 to 1000"),
        (
            ["--overload-packets", "99999999"],
            "--overload-packets = 99999999: expected a whole number from 100 to 50000",
        ),
        (["--payload", "12"], '--payload = "12": expected a unit, too: a size such as'),
        (["-o", "/dev/null/path.toml"], "/dev/null: expected a folder, and it is a file"),
        (
            ["-o", "/proc/path.toml"],
            # Permissions tell it to all but root.
            "/proc/path.toml: cannot be written to: permission for /proc is denied"
            if os.geteuid()
            else "/proc: takes no files (no such file or directory)",
        ),
    ],
)
def test_a_path_asked_for_wrongly_is_one_sentence(options: list[str], problem: str, said: Said) -> None:
    code, _, err = said("measure", "path", HERE, *options)
    assert code == 2
    assert err.startswith(f"tightlink: {problem}")
    assert err.count("\n") == 1


def test_where_nothing_is_known_it_fails_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: Said
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = said("measure", "path", HERE, "--port", "9", "-o", str(tmp_path / "path.toml"))
    assert code == 1
    assert out.count("not known") == 3
    assert "warning: rtt: ping is not installed" in err
    assert "warning: bandwidth: iperf3 is not installed here" in err
    assert not (tmp_path / "path.toml").exists()


def lying(answers: list[bytes]) -> tuple[threading.Thread, int]:
    """Somebody who answers a visitor with these lines."""
    end = listen(HERE)

    def answer() -> None:
        with end:
            end.settimeout(10)
            for line in answers:
                visitor, _ = end.accept()
                with visitor, suppress(OSError):
                    visitor.sendall(b'{"ready": true}\n' + line)
                    visitor.recv(1000)

    thread = threading.Thread(target=answer)
    thread.start()
    return thread, int(end.getsockname()[1])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"hello\n", "the other end is no tightlink measure serve, or has ended"),
        (b"", "the other end is no tightlink measure serve, or has ended"),
        (b'{"error": "busy"}\n', "the other end refuses: busy"),
        (b'{"seq": [0]}\n', "an answer that cannot be understood"),
        (
            b'{"seq": [7000], "received_ns": [1], "overflowed": 0}\n',
            "about datagrams that were not sent",
        ),
        (
            b'{"seq": [[0]], "received_ns": [[1]], "overflowed": 0}\n',
            "an answer that cannot be understood",
        ),
        (
            b'{"seq": [0], "received_ns": [1, 2], "overflowed": 0}\n',
            "about datagrams that were not sent",
        ),
        (
            b'{"seq": ["x"], "received_ns": [1], "overflowed": 0}\n',
            "an answer that cannot be understood",
        ),
        (b'{"seq": [], "received_ns": [], "overflowed": 0}\n', "no datagram arrives there"),
        (b'{"seq": [0], "received_ns": [1], "overflowed": 1e300}\n', "an answer that cannot be understood"),
        (b'{"seq": [true], "received_ns": [1], "overflowed": 0}\n', "an answer that cannot be understood"),
        (b'{"seq": [0], "received_ns": [%d], "overflowed": 0}\n' % 10**30, "an answer that cannot be understood"),
        (b'{"seq": [0], "received_ns": [-1], "overflowed": 0}\n', "an answer that cannot be understood"),
        (b'{"seq": [-1], "received_ns": [1], "overflowed": 0}\n', "an answer that cannot be understood"),
        (b'{"seq": [0, 1], "received_ns": [0, %d], "overflowed": 0}\n' % 2**60, "arrived later than it waited"),
        (b'{"seq": [0], "received_ns": [1], "over', "an answer that cannot be understood"),
        (b'{"seq": [NaN], "received_ns": [1], "overflowed": 0}\n', "an answer that cannot be understood"),
        (b'{"a":' * 900 + b"\n", "an answer that cannot be understood"),
        (b"[" * 1000 + b"\n", "the other end is no tightlink measure serve"),
        (b" " * 1_000_000, "an answer longer than there were datagrams"),
        (b'{"error": 1}\n', "an answer that cannot be understood"),
        (b'{"error": "a\\nb"}\n', "the other end refuses: a b$"),
        (b'{"error": "%s"}\n' % (b"x" * 900), "the other end refuses: x{200}$"),
    ],
)
def test_answers_are_not_trusted(line: bytes, problem: str) -> None:
    thread, port = lying([line])
    with pytest.raises(TightlinkError, match=problem):
        probes.trains((HERE, port), probes.Plan())
    thread.join(20)


@pytest.mark.parametrize(
    ("visits", "known", "what"), [(2, [False, True, False], "bandwidth"), (4, [True, True, False], "queue")]
)
def test_what_was_measured_before_the_other_end_left_is_kept(
    visits: int, known: list[bool], what: str, said: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probes, "_LEAST_INTERVAL_S", 0.0)
    port = unused_port()
    ready = threading.Event()
    other = {"visits": visits, "say": lambda _: ready.set()}
    thread = threading.Thread(target=listener.serve, args=(HERE, port), kwargs=other, daemon=True)
    thread.start()
    assert ready.wait(10)
    code, out, err = said("measure", "path", HERE, "--port", str(port), "--trains", "20", "--json")
    thread.join(30)
    found = json.loads(out)
    assert code == 3
    assert [found[name] is not None for name in ("bandwidth_bps", "rtt_s", "queue_packets")] == known
    # It has ended, or has closed its port, too.
    assert f"tightlink: warning: {what}: {HERE}" in err


def test_a_path_that_swallows_large_packets_without_a_word_is_no_path_without_udp() -> None:
    thread, port = lying([b'{"seq": [], "received_ns": [], "overflowed": 0}\n'])
    expected = "packets of 92 B come back, and none of 1428 B arrives: .*; choose a smaller payload, such as 1200 B$"
    with pytest.raises(TightlinkError, match=expected):
        probes.trains((HERE, port), probes.Plan(), [92])
    thread.join(20)


def test_a_listener_that_says_a_byte_now_and_then_is_given_up() -> None:
    end = listen(HERE)

    def answer() -> None:
        with end, suppress(OSError):
            visitor, _ = end.accept()
            with visitor:
                for _ in range(100):
                    visitor.sendall(b" ")
                    time.sleep(0.2)

    thread = threading.Thread(target=answer)
    thread.start()
    with (
        pytest.raises(TightlinkError, match="the other end is gone: no answer"),
        visiting((HERE, int(end.getsockname()[1])), "echo", most=1, seconds=0.1, idle_s=0.1, patience_s=1.0),
    ):
        pytest.fail("it was never ready")
    thread.join(60)


def test_datagrams_that_lie_change_no_round_trip() -> None:
    """What comes back says when it was sent; that is not believed, and neither are numbers that were not sent."""
    seq = np.array([0, 0, 7, -1, 1, 2, 3], np.int64)
    four = np.arange(4)
    sent = UdpSent(0, "done", 0, 0, 0.0, four, four, four, four * 1000)
    came = np.array([50, 60, 70, 80, 1050, 1999, 3300], np.int64)
    back = UdpReceived("done", 0, 0, seq, seq, np.full(7, -(2**62)), came, seq)
    assert probes.round_trips(sent, back).tolist() == pytest.approx([50e-9, 50e-9, 300e-9])


def test_datagrams_that_the_path_does_not_take_whole_are_refused() -> None:
    need("unshare", "ip")
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("no user namespaces are allowed here")
    asked = (
        "from tightlink.measure import path; path.check_whole(('127.0.0.1', 9), path.Plan(payload_bytes=1272)); "
        "path.check_whole(('127.0.0.1', 9), path.Plan())"
    )
    script = 'ip link set lo mtu 1300 up && "$@"'
    done = subprocess.run(
        [*ALONE, "bash", "-c", script, "path", sys.executable, "-c", asked],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    expected = "127.0.0.1: the path takes packets of 1300 B whole: choose a payload of 1272 B or less"
    assert done.stderr.splitlines()[-1].endswith(expected)


def test_a_listener_that_is_not_reached_may_listen_all_the_same() -> None:
    silent = NobodyListensError(("192.0.2.1", 5202), TimeoutError())
    assert str(silent) == "192.0.2.1: tightlink measure serve is not reached at port 5202 (no answer)"


def test_a_name_of_no_host(said: Said) -> None:
    code, _, err = said("measure", "path", "no-such-host.invalid")
    assert code == 2
    assert err.startswith("tightlink: no-such-host.invalid: no such host")
