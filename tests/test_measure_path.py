"""``tightlink measure path`` and ``serve``: in namespaces and on loopback where there are such, and else alone."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from programs import need
from tightlink.errors import TightlinkError
from tightlink.measure import listener
from tightlink.measure import path as probes
from tightlink.measure.probe import listen

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
sleep 0.5
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


def test_a_path_between_namespaces_is_measured_and_feeds_predict(tmp_path: Path) -> None:
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
    command = [
        sys.executable,
        "-m",
        "tightlink",
        "predict",
        "--path",
        str(file),
        "--rtt",
        "20 ms",
        "--flows",
        "1",
        "--json",
    ]
    predicted = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert predicted.returncode in {0, 3}, predicted.stderr
    assert json.loads(predicted.stdout)["path"]["bandwidth_bps"] == pytest.approx(expected, rel=0.05)


def test_a_host_without_listener_is_pinged_and_what_is_missing_is_said(said: Said) -> None:
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


@contextmanager
def served(visits: int) -> Iterator[tuple[str, int]]:
    with socket.socket() as free:
        free.bind((HERE, 0))
        port = free.getsockname()[1]
    ready = threading.Event()
    thread = threading.Thread(
        target=listener.serve, args=(HERE, port), kwargs={"visits": visits, "say": lambda _: ready.set()}
    )
    thread.start()
    ready.wait(10)
    try:
        yield HERE, port
    finally:
        thread.join(30)


@pytest.mark.parametrize(
    ("request_", "answer"),
    [
        (b"GET / HTTP/1.1\r\n", "not a request of tightlink measure path"),
        (b"[1, 2]\n", "not a request of tightlink measure path"),
        (b'{"tightlink": 99, "do": "echo", "most": 1, "seconds": 1, "idle": 1}\n', "this end speaks version 1, not 99"),
        (b'{"tightlink": 1, "do": "echo", "most": 1e9, "seconds": 1, "idle": 1}\n', "not a request"),
        (
            b'{"tightlink": 1, "do": "echo", "most": 1000000000, "seconds": 1, "idle": 1}\n',
            "expected at most 100000 datagrams",
        ),
        (b'{"tightlink": 1, "do": "rm", "most": 1, "seconds": 1, "idle": 1}\n', "not a request"),
        (b"\xff\xfe\n", None),
    ],
)
def test_a_listener_refuses_what_it_does_not_know(request_: bytes, answer: str | None) -> None:
    with served(1) as (host, port), socket.create_connection((host, port), timeout=10) as visitor:
        visitor.sendall(request_)
        got = visitor.makefile("rb").readline()
        if answer is not None:
            assert answer in json.loads(got)["error"]


def test_a_listener_that_cannot_listen_says_so(said: Said) -> None:
    code, _, err = said("measure", "serve", "192.0.2.1")
    assert (code, err) == (2, "tightlink: 192.0.2.1:5202: cannot listen there: cannot assign requested address\n")
    code, _, err = said("measure", "serve", HERE, "--port", "70000")
    assert (code, err) == (2, "tightlink: --port = 70000: expected a whole number from 1 to 65535\n")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--payload", "9 kB"], "--payload = 9000: expected a whole number from 200 to 8900"),
        (["--trains", "5"], "--trains = 5: expected a whole number from 20 to 1000"),
        (
            ["--overload-packets", "99999999"],
            "--overload-packets = 99999999: expected a whole number from 100 to 50000",
        ),
        (["--payload", "12"], '--payload = "12": expected a size such as'),
        (["-o", "/nowhere/path.toml"], "/nowhere/path.toml: there is no folder /nowhere"),
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
                with visitor:
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
            "about datagrams that were not sent",
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
    ],
)
def test_answers_are_not_trusted(line: bytes, problem: str) -> None:
    thread, port = lying([line])
    with pytest.raises(TightlinkError, match=problem):
        probes.trains((HERE, port), probes.Plan())
    thread.join(20)


def test_a_name_of_no_host(said: Said) -> None:
    code, _, err = said("measure", "path", "no-such-host.invalid")
    assert code == 2
    assert err.startswith("tightlink: no-such-host.invalid: no such host")
