"""``tightlink measure path``, ``tcp`` and ``udp-sweep``: in namespaces and on loopback where there are such, and else alone."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from tightlink import cli
from tightlink.analysis import measurements
from tightlink.commands import measure_grid
from tightlink.errors import TightlinkError
from tightlink.experiment import open as open_folder
from tightlink.experiment.measured import Finished, Grid, Measured, Repeats, run
from tightlink.measure import iperf3, listener
from tightlink.measure import path as probes
from tightlink.measure.probe import listen, open_udp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

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
    tools = ("unshare", "nsenter", "ip", "tc", "ss")
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        pytest.skip(f"{missing[0]} is not installed")
    if subprocess.run([*ALONE, "true"], capture_output=True, check=False, timeout=30).returncode:
        pytest.skip("no user namespaces are allowed here")
    file = tmp_path / "path.toml"
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
    # The shaper counts the 14 B of Ethernet, too, and lets a packet pass by its token.
    expected = 10e6 * 1428 / 1442
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


def said(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, str, str]:
    code = cli.main(list(command))
    out, err = capsys.readouterr()
    return code, out, err


def test_a_host_without_listener_is_pinged_and_what_is_missing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "measure", "path", HERE, "--port", "9", "--json")
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


def test_a_listener_that_cannot_listen_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "measure", "serve", "192.0.2.1")
    assert (code, err) == (2, "tightlink: 192.0.2.1:5202: cannot listen there: cannot assign requested address\n")
    code, _, err = said(capsys, "measure", "serve", HERE, "--port", "70000")
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
def test_a_path_asked_for_wrongly_is_one_sentence(
    options: list[str], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = said(capsys, "measure", "path", HERE, *options)
    assert code == 2
    assert err.startswith(f"tightlink: {problem}")
    assert err.count("\n") == 1


def test_where_nothing_is_known_it_fails_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    code, out, err = said(capsys, "measure", "path", HERE, "--port", "9", "-o", str(tmp_path / "path.toml"))
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


def test_a_name_of_no_host(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "measure", "path", "no-such-host.invalid")
    assert code == 2
    assert err.startswith("tightlink: no-such-host.invalid: no such host")


PATH = """
duration = "10 s"
link.path = { ends = ["here", "there"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
traffic.bulk = { kind = "bulk", from = "here", to = "there" }
"""


def test_predict_takes_a_path_from_a_scenario(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "path.toml"
    file.write_text(PATH)
    code, of_file, _ = said(capsys, "predict", "--path", str(file), "--flows", "1", "--json")
    assert code == 0
    given = ["--bandwidth", "2 Mbit/s", "--rtt", "20 ms", "--queue", "20"]
    assert said(capsys, "predict", *given, "--flows", "1", "--json")[1] == of_file
    other = json.loads(said(capsys, "predict", "--path", str(file), "--queue", "5", "--flows", "1", "--json")[1])
    assert other["path"]["queue_packets"] == 5


@pytest.mark.parametrize(
    ("text", "options", "problem"),
    [
        (PATH.replace("20 packets", "1 BDP"), [], 'path.toml: link.path.queue = "1 BDP": expected a queue in packets'),
        (PATH.replace("2 Mbit/s", "2 packets/ms"), [], 'link.path.rate = "2 packets/ms": expected a rate in bit/s'),
        (
            PATH + 'link.b = { ends = ["there", "x"], rate = "1 Mbit/s", delay = "1 ms" }',
            [],
            "link: expected a scenario of one link",
        ),
        (PATH, ["--bandwidth", "2 Mbit/s", "--rtt", "20 ms", "--queue", "20"], "--path = "),
    ],
)
def test_predict_refuses_a_scenario_that_is_no_path(
    text: str, options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "path.toml"
    file.write_text(text)
    code, _, err = said(capsys, "predict", "--path", str(file), *options)
    assert code == 2
    assert problem in err


def counted(calls: list[dict[str, Any]], spread: float = 0.0) -> Callable[[Mapping[str, Any]], Measured]:
    def measure(values: Mapping[str, Any]) -> Measured:
        calls.append(dict(values))
        times = sum(call == values for call in calls)
        off = {1: spread, 2: -spread}.get(times, 0.0)
        return Measured({"goodput_bps": 1e6 * values["flows"] * (1 + off)}, [{"flow": 0, "label": "x"}])

    return measure


GRID = Grid({"host": "10.0.0.2", "seconds": 1}, {"window_bytes": [8192, 65536], "flows": [1, 4]})


def test_a_grid_is_measured_in_shuffled_order_and_becomes_tables(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    found = run(GRID, tmp_path, counted(calls), repeats=Repeats(least=3, seed=4))
    assert (found.measured, len(calls)) == (12, 12)
    rounds = [calls[:4], calls[4:8], calls[8:]]
    expected = [GRID.values(cell) for cell in GRID.cells]
    assert all(sorted(map(str, each)) == sorted(map(str, expected)) for each in rounds)
    assert any(each != expected for each in rounds)
    experiment = open_folder(tmp_path)
    runs = experiment.runs.collect()
    assert runs["run"].to_list() == [f"{cell}/{replication}" for cell in range(4) for replication in range(3)]
    assert runs.select("window_bytes", "flows", "goodput_bps").unique(maintain_order=True).rows() == [
        (8192, 1, 1e6), (8192, 4, 4e6), (65536, 1, 1e6), (65536, 4, 4e6),
    ]  # fmt: skip
    assert experiment.flows.select("run", "label").collect().height == 12
    again = run(GRID, tmp_path, counted(calls), repeats=Repeats(least=3, seed=4))
    assert (again.measured, len(calls)) == (0, 12)
    assert open_folder(tmp_path).runs.collect().equals(runs)


def test_an_interrupted_grid_keeps_what_is_finished_and_goes_on(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    measure = counted(calls)

    def interrupted(values: Mapping[str, Any]) -> Measured:
        if len(calls) == 5:
            raise KeyboardInterrupt
        return measure(values)

    with pytest.raises(KeyboardInterrupt):
        run(GRID, tmp_path, interrupted)
    assert open_folder(tmp_path).runs.collect().height == 5
    # A file that was cut off, as by a full disk, is measured again.
    file = next((tmp_path / "measurements").glob("*.json"))
    file.write_text(file.read_text()[:40])
    found = run(GRID, tmp_path, measure)
    assert (found.measured, len(calls)) == (8, 13)
    assert open_folder(tmp_path).runs.collect().height == 12


def test_cells_are_measured_until_their_medians_are_firm(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    steady = run(GRID, tmp_path / "a", counted(calls), repeats=Repeats(least=2, most=9, firm=("goodput_bps", 0.01)))
    # Two agree by chance.
    assert (len(calls), steady.not_firm) == (12, [])
    calls.clear()
    firm = Repeats(least=2, most=9, firm=("goodput_bps", 0.05))
    # 1.3, 0.7, 1, 1, 1: half widths 0.27, 0.12, 0.
    restless = run(GRID, tmp_path / "b", counted(calls, 0.3), repeats=firm)
    assert (len(calls), restless.not_firm) == (20, [])
    never = run(GRID, tmp_path / "c", counted([], 0.3), repeats=Repeats(least=2, most=3, firm=("goodput_bps", 1e-6)))
    assert len(never.not_firm) == 4
    assert open_folder(tmp_path / "c").description["not_precise"] == ["0", "1", "2", "3"]


def test_a_cell_that_fails_is_told_and_measured_again_next_time(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    measure, failing = counted(calls), True
    second = GRID.values([cell for cell, _ in GRID.round(0, seed=4)][1])

    def shaky(values: Mapping[str, Any]) -> Measured:
        if failing and values == second:
            raise TightlinkError("the server hangs")
        return measure(values)

    found = run(GRID, tmp_path, shaky, repeats=Repeats(least=1, seed=4))
    assert list(found.failures.values()) == ["the server hangs"]
    assert open_folder(tmp_path).runs.collect().height == 3
    assert [entry["error"] for entry in open_folder(tmp_path).failures.values()] == ["the server hangs"]
    failing = False
    assert run(GRID, tmp_path, shaky, repeats=Repeats(least=1, seed=4)).measured == 1
    assert open_folder(tmp_path).failures == {}


def test_nothing_is_tried_for_long_where_nothing_works(tmp_path: Path) -> None:
    def dead(_: Mapping[str, Any]) -> Measured:
        raise TightlinkError("connection refused")

    with pytest.raises(TightlinkError, match="connection refused"):
        run(GRID, tmp_path, dead)
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    (sweep / "sweep.json").write_text('{"format": 1}')
    with pytest.raises(TightlinkError, match="holds a sweep of simulations"):
        run(GRID, sweep, dead)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(TightlinkError, match="the folder is not empty"):
        run(GRID, tmp_path / "full", dead)


@contextmanager
def iperf3_server() -> Iterator[int]:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    with socket.socket() as free:
        free.bind((HERE, 0))
        port = free.getsockname()[1]
    server = subprocess.Popen(["iperf3", "-s", "-B", HERE, "-p", str(port)], stdout=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex((HERE, port)) == 0:
                    break
            time.sleep(0.05)
        time.sleep(0.2)
        yield port
    finally:
        server.terminate()
        server.wait(10)


def test_a_grid_of_transfers_on_loopback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "grid"
    with iperf3_server() as port:
        command = ["measure", "tcp", "--host", HERE, "--port", str(port), "--windows", "16K,64K", "--flows", "1,2",
                   "--time", "1 s", "--congestion", "reno", "--repeat", "1", "-o", str(folder)]  # fmt: skip
        code, out, err = said(capsys, *command)
    assert code == 0, err
    assert out.splitlines()[0].split() == ["window_bytes", "flows", "times", "goodput", "±", "rtt", "±"]
    runs = open_folder(folder).runs.collect()
    assert runs.select("window_bytes", "flows").rows() == [(16384, 1), (16384, 2), (65536, 1), (65536, 2)]
    assert (runs["goodput_bps"] > 0).all()
    flows = open_folder(folder).flows.collect()
    assert (flows.height, flows["congestion"].unique().to_list()) == (6, ["reno"])
    # What reads a sweep reads this: the report, the effects, the points to predict beside.
    assert said(capsys, "report", str(folder))[0] == 0
    code, out, _ = said(capsys, "analyze", "effects", str(folder), "--json")
    assert code == 0
    assert {row["factor"] for row in json.loads(out)["effects"]} == {"window_bytes", "flows"}
    from tightlink.analysis.bulk_path import BulkPath
    from tightlink.analysis.observations import read

    assert read([folder], BulkPath(10e6, 0.02))["flows"].to_list() == [1, 2, 1, 2]


def test_a_sweep_of_datagrams_on_loopback(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "sweep"
    with iperf3_server() as port:
        command = ["measure", "udp-sweep", "--host", HERE, "--port", str(port), "--payloads", "100,1450", "--rates",
                   "1000 packets/s", "--time", "1 s", "--repeat", "1", "-o", str(folder)]  # fmt: skip
        code, _, err = said(capsys, *command)
    assert code == 0, err
    runs = open_folder(folder).runs.collect()
    assert runs["packet_bytes"].to_list() == [128, 1478]
    assert runs["offered_packets_per_s"].to_list() == pytest.approx([1000, 1000], rel=0.2)
    rates = runs["packets_per_s"] * runs["packet_bytes"] * 8
    assert runs["throughput_bps"].to_list() == pytest.approx(rates.to_list())
    # What finds saturation reads this: sizes, rates and throughput agree.
    assert measurements.sizes_and_rates(measurements.read(folder)).height == 2


def test_a_server_that_is_not_there_and_a_control_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if shutil.which("iperf3") is None:
        pytest.skip("iperf3 is not installed")
    with open_udp(HERE) as end:
        port = str(end.getsockname()[1])
    base = ["measure", "tcp", "--host", HERE, "--port", port, "--windows", "16K", "--flows", "1", "--time", "1 s"]
    code, _, err = said(capsys, *base, "-o", str(tmp_path / "a"))
    assert code == 2
    assert "tightlink: iperf3: unable to connect to server: Connection refused" in err


def fake_iperf3(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "iperf3"
    program.write_text(f"#!{sys.executable}\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)


def test_the_traps_of_iperf3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_iperf3(tmp_path, "import time; time.sleep(60)", monkeypatch)
    monkeypatch.setattr(iperf3, "_PATIENCE_S", 0.2)
    with pytest.raises(TightlinkError, match=r"no end after 1.2 s: the server hangs"):
        iperf3.transfer(HERE, seconds=1)
    monkeypatch.setattr(iperf3, "_PATIENCE_S", 20)
    # An error with exit code 0 and a warning on standard error; then words that are no JSON; then another JSON.
    for script, expected in (
        (
            "import sys; print('warning: x', file=sys.stderr); print('{\"error\": \"the server is busy\"}')",
            "iperf3: the server is busy",
        ),
        ("import sys; print('iperf3: unknown option', file=sys.stderr); sys.exit(1)", "iperf3: unknown option"),
        ("print('{\"start\": 1}')", "an answer of iperf3 that cannot be understood"),
        ("print('[]')", "an answer of iperf3 that cannot be understood"),
    ):
        fake_iperf3(tmp_path, script, monkeypatch)
        for test in (iperf3.transfer, lambda host: iperf3.datagrams(host, payload_bytes=100, rate_bps=1e6)):
            with pytest.raises(iperf3.Iperf3Error, match=expected):
                test(HERE)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    with pytest.raises(TightlinkError, match="iperf3 is not installed here: install it"):
        iperf3.transfer(HERE)


def test_iperf3_ends_with_us_even_if_we_are_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    number = tmp_path / "number"
    script = f"import os, time; open({str(number)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    fake_iperf3(tmp_path, script, monkeypatch)
    program = "from tightlink.measure.iperf3 import transfer; transfer('127.0.0.1', seconds=50)"
    child = subprocess.Popen([sys.executable, "-c", program])
    try:
        for _ in range(200):
            if number.exists() and number.read_text():
                break
            time.sleep(0.05)
        process = Path("/proc") / number.read_text()
        assert process.exists()
    finally:
        child.kill()
        child.wait(10)
    for _ in range(100):
        if not process.exists() or "(zombie)" in (process / "status").read_text():
            return
        time.sleep(0.05)
    pytest.fail("iperf3 is still there")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--windows", "8x", "--flows", "1"], '--windows = "8x": expected values from 1 to 1073741824'),
        (["--windows", "8K", "--flows", "0"], '--flows = "0": expected values from 1 to 128'),
        (["--windows", "8K", "--flows", "1", "--time", "0.5 s"], '--time = "0.5 s": expected whole seconds'),
        (["--windows", "8K", "--flows", "1", "--most", "5"], "--most = 5: expected --precision beside it"),
        (["--windows", "8K", "--flows", "1", "--precision", "x"], '--precision = "x": expected a fraction'),
        (["--windows", "8K", "--flows", "1", "--repeat", "0"], "--repeat = 0: expected a whole number"),
    ],
)
def test_a_grid_asked_for_wrongly_is_one_sentence(
    options: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = said(capsys, "measure", "tcp", "--host", HERE, *options, "-o", str(tmp_path / "x"))
    assert code == 2
    assert err.startswith(f"tightlink: {problem}")
    assert not (tmp_path / "x").exists()


def test_ctrl_c_ends_a_grid_and_its_iperf3(tmp_path: Path) -> None:
    with iperf3_server() as port:
        command = [sys.executable, "-m", "tightlink", "measure", "tcp", "--host", HERE, "--port", str(port), "--windows",
                   "16K", "--flows", "1", "--time", "1 s", "--repeat", "30", "-o", str(tmp_path / "x")]  # fmt: skip
        child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            for _ in range(200):
                if list(tmp_path.glob("x/measurements/*.json")):
                    break
                time.sleep(0.05)
            child.send_signal(signal.SIGINT)
            _, err = child.communicate(timeout=20)
        finally:
            child.kill()
    assert child.returncode == 130
    assert "interrupted; what is finished is kept" in err
    assert pl.read_parquet(tmp_path / "x" / "runs.parquet").height >= 1


def test_sizes_are_written_as_iperf3_or_as_scenarios_have_them() -> None:
    assert measure_grid._sizes("--windows", "8K, 64k,1 MiB,15 kB,100", (1, 2**30)) == [8192, 65536, 2**20, 15000, 100]
    assert measure_grid._sizes("--windows", "8K..64K:x2", (1, 2**30)) == [8192, 16384, 32768, 65536]
    assert measure_grid._sizes("--payloads", "50..150:50", (16, 2000)) == [50, 100, 150]


def test_what_is_finished_knows_its_medians() -> None:
    finished = Finished(Grid({}, {"flows": [1]}))
    for replication, goodput in enumerate([1.0, 9.0, 2.0]):
        finished.done[(1,), replication] = {"metrics": {"goodput_bps": goodput}}
    assert finished.medians("goodput_bps") == {(1,): 2.0}
