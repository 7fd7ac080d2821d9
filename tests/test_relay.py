"""The relay between sockets, between hosts, and as a command. Times are asserted loosely, packets exactly."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from in_real_time import measures, needs_links, tried_again
from processes import descendants, lives
from programs import needs
from tightlink import _core, cli
from tightlink.errors import TightlinkError
from tightlink.measure.emulation import Emulation
from tightlink.measure.plan import Plan
from tightlink.measure.relay import InvalidMeasurementError, Relay, late_after_s, relay_spec
from tightlink.measure.traced import of_flow
from tightlink.tables import TABLES
from waiting import soon

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType

    Said = Callable[..., tuple[int, str, str]]


_WIRE = """
profile = "linux"
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "400 kbit/s", delay = "10 ms", queue = "5 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
"""
_ROUTER = """
profile = "linux"
duration = "1 s"
link.lan = { ends = ["a", "router"], rate = "1 Gbit/s", delay = "1 ms", queue = "1000 packets" }
link.serial = { ends = ["router", "b"], rate = "100 Mbit/s", delay = "1 ms", queue = "100 packets" }
node.router.processor = { per_packet = "2 ms", input_ring = "10 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
"""
#: Sends so many datagrams of 972 B, 1000 with their headers, at once, and waits until the last has crossed the link.
_FLOOD = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
    for number in range(int(sys.argv[2])):
        out.sendto(bytes(972), (sys.argv[1], 9))
time.sleep(0.3)
"""


def _plan(text: str = _WIRE, **changes: str) -> Plan:
    return Plan.of(tl.loads(text).set_all(changes))


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, ...]]:
    """Two hosts' ends, and the ports that belong to them."""
    pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
    (a, port_a), (b, port_b) = pairs
    with a, b, port_a, port_b:
        a.settimeout(10)
        b.settimeout(10)
        yield a, b, port_a, port_b


def _between(sockets: tuple[socket.socket, ...], spec: dict[str, Any], *, trace: bool = True) -> Relay:
    return Relay(spec, (sockets[2].fileno(), sockets[3].fileno()), trace=trace)


@tried_again
def test_the_queue_takes_what_the_simulators_would(sockets: tuple[socket.socket, ...]) -> None:
    a, b, *_ = sockets
    with _between(sockets, relay_spec(_plan())) as relay:
        # 20 ms each on the line: of thirty that come at once, the queue takes five.
        for number in range(30):
            a.send(bytes([number]) * 1000)
        assert [b.recv(2000)[0] for _ in range(5)] == [0, 1, 2, 3, 4]
        b.send(bytes(100))
        assert len(a.recv(2000)) == 100
        relayed = relay.finish(check=False)
    there, back = relayed.tables["links"].iter_rows(named=True)
    assert (there["link"], there["from"], there["to"]) == ("wire", "a", "b")
    assert (there["packets_in"], there["packets_out"], there["packets_dropped"]) == (30, 5, 25)
    assert (there["bytes_out"], there["queue_max_packets"], back["packets_in"]) == (5000, 4, 1)
    assert there["queue_mean_packets"] * relayed.summary["duration_s"] == pytest.approx(0.02 * (1 + 2 + 3 + 4), rel=0.2)


def test_a_long_queue_makes_no_packet_wait_for_its_memory(sockets: tuple[socket.socket, ...]) -> None:
    a, b, *_ = sockets
    took_s = list[float]()
    # The first packet of each relay would wait; one of ten finds a processor at its time on a busy machine, too.
    while len(took_s) < 10 and min(took_s, default=1.0) >= 0.06:
        with _between(sockets, relay_spec(_plan(**{"link.wire.queue": "unlimited"})), trace=False):
            sent_s = time.monotonic()
            a.send(bytes(1000))
            b.recv(2000)
            took_s.append(time.monotonic() - sent_s)
    # 20 ms on the line, and 10 ms of delay.
    assert min(took_s) < 0.06, took_s


def test_whether_it_works_is_asked_without_a_lock(sockets: tuple[socket.socket, ...]) -> None:
    # Ctrl-C while Popen is asked leaves its lock taken, once in some hundred times; what waits for it then never ends.
    with _between(sockets, relay_spec(_plan())) as relay, relay._process._waitpid_lock:  # type: ignore[attr-defined]
        assert relay.works
        os.kill(relay._process.pid, signal.SIGKILL)
        assert relay.wait(20)
        assert not relay.works


@tried_again
def test_the_trace_is_that_of_the_simulator(sockets: tuple[socket.socket, ...]) -> None:
    a, b, *_ = sockets
    with _between(sockets, relay_spec(_plan())) as relay:
        for _ in range(8):
            a.send(bytes(1000))
        for _ in range(5):
            b.recv(2000)
        tables = relay.finish(check=False).tables
    packets, deliveries = tables["packets"], tables["deliveries"]
    for name in ("packets", "deliveries", "links"):
        assert tables[name].columns == [column.name for column in TABLES[name]]
    assert packets["time_s"].is_sorted()
    counts = dict(packets["event"].value_counts().iter_rows())
    assert counts == {"+": 8, "-": 5, "r": 5, "d": 3}
    assert packets.filter(pl.col("event") == "d")["reason"].unique().to_list() == ["queue"]
    assert (deliveries["late_s"] >= 0).all()
    # Each is due its time on the line, its wait and the delay after it came.
    came = packets.filter(pl.col("event") == "+").select("uid", came_s="time_s")
    begun = packets.filter(pl.col("event") == "-").select("uid", begun_s="time_s")
    due = deliveries.join(came, on="uid").join(begun, on="uid")
    assert (due["due_s"] - due["begun_s"]).to_list() == pytest.approx([0.03] * 5, abs=1e-12)
    assert due["begun_s"].diff().drop_nulls().to_list() == pytest.approx([0.02] * 4, abs=1e-12)


def test_who_is_late_has_no_result(sockets: tuple[socket.socket, ...]) -> None:
    a, b, *_ = sockets
    with _between(sockets, relay_spec(_plan(), late_s=0.0), trace=False) as relay:
        a.send(bytes(100))
        b.recv(200)
        with pytest.raises(InvalidMeasurementError, match=r"^lateness: 100 % of 1 packets"):
            relay.finish()


def test_it_ends_with_its_duration(sockets: tuple[socket.socket, ...]) -> None:
    with _between(sockets, relay_spec(_plan(), duration_s=0.1), trace=False) as relay:
        assert relay.wait(30)
        relayed = relay.finish()
    assert relayed.summary["duration_s"] == 0.1
    assert list(relayed.tables) == ["links"]


def test_a_host_that_is_gone_is_one_sentence(sockets: tuple[socket.socket, ...]) -> None:
    a, b, *_ = sockets
    with _between(sockets, relay_spec(_plan())) as relay:
        b.close()
        a.send(bytes(100))
        assert relay.wait(30)
        with pytest.raises(TightlinkError, match=r"^the relay failed: port of b: "):
            relay.finish()


def test_the_relay_is_gone_with_who_started_it() -> None:
    text = f"""
import socket, time
import tightlink as tl
from tightlink.measure.plan import Plan
from tightlink.measure.relay import Relay, relay_spec
(a, port_a), (b, port_b) = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(2)]
relay = Relay(relay_spec(Plan.of(tl.loads({_WIRE!r}))), (port_a.fileno(), port_b.fileno()), trace=True)
print(relay._process.pid, flush=True)
time.sleep(100)
"""
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE) as starter:
        assert starter.stdout is not None
        process = int(starter.stdout.readline())
        starter.kill()
    assert soon(lambda: not lives(process), within_s=20)


def test_nonsense_is_refused() -> None:
    ends = socket.socketpair()
    with ends[0], ends[1], tempfile.TemporaryFile() as file:
        stop, spec = ends[0].fileno(), relay_spec(_plan())
        with pytest.raises(_core.ScenarioError, match=r"^relay: "):
            _core.relay("{}", [stop, stop], stop=stop)
        with pytest.raises(OSError, match="descriptor"):
            _core.relay(json.dumps(spec), [-1, stop], stop=stop, trace=file.fileno())
        spec["links"][0] = spec["links"][0] | {"flow_control": True}
        with pytest.raises(_core.ScenarioError, match="flow control cannot be emulated"):
            _core.relay(json.dumps(spec), [stop, stop], stop=stop)
    with pytest.raises(TightlinkError, match="no router of the scenario has a processor"):
        relay_spec(_plan(), burn=True)


def test_late_is_one_percent_of_a_full_queue_but_no_less_than_a_tenth_of_a_millisecond() -> None:
    # 10 ms, and 5 packets of 30 ms each.
    assert late_after_s(_plan()) == pytest.approx(0.01 * (0.01 + 5 * 0.03))
    fast = {"link.wire.rate": "1 Gbit/s", "link.wire.delay": "0 s"}
    assert late_after_s(_plan(**fast)) == 1e-4


# Between hosts.


@measures
@pytest.mark.parametrize("device", ["tun", "packet"])
def test_hosts_see_the_link(device: Any) -> None:
    with Emulation(_plan(), device, late_s=1.0, trace=True) as emulation:
        flood = emulation.bed.run("a", [sys.executable, "-c", _FLOOD, "10.64.128.1", "30"], timeout_s=20)
        assert flood.code == 0, flood.errors
        run = emulation.finish()
    link, _ = run.links.iter_rows(named=True)
    # Nothing but these: no neighbour discovery, no router solicitation.
    assert (link["packets_in"], link["packets_dropped"], link["bytes_out"]) == (30, 25, 5000)
    assert run.source == "measurement"
    arrived = run.packets.filter((pl.col("event") == "r") & (pl.col("to") == "b"))
    assert arrived["type"].to_list() == ["udp"] * 5
    (there, *_) = run.manifest["relay"]["flows"]
    assert (there["source"][0], there["destination"]) == ("10.64.0.1", ["10.64.128.1", 9])
    # Nobody listens on port 9, and says so.
    assert all(flow["protocol"] in {1, 17} for flow in run.manifest["relay"]["flows"])


@measures
def test_copies_that_a_link_makes_are_received_and_neither_wait_nor_take_its_time() -> None:
    with Emulation(_plan(**{"link.wire.duplicate": "100 %"}), late_s=1.0, trace=True) as emulation:
        flood = emulation.bed.run("a", [sys.executable, "-c", _FLOOD, "10.64.128.1", "4"], timeout_s=20)
        assert flood.code == 0, flood.errors
        run = emulation.finish()
    there = run.packets.filter((pl.col("from") == "a") & (pl.col("type") == "udp"))
    counts = dict(there["event"].value_counts().iter_rows())
    assert counts == {"+": 4, "-": 4, "r": 8}
    (flow,) = there["flow"].unique()
    assert of_flow(there, flow, way=[("a", "b")])["packets_sent"] == 4
    assert of_flow(there, flow, way=[("a", "b")])["packets_delivered"] == 8


@measures
@pytest.mark.parametrize("burn", [False, True])
def test_a_router_costs_time(burn: Any) -> None:
    with Emulation(_plan(_ROUTER), burn=burn, late_s=1.0, trace=True) as emulation:
        emulation.bed.run("a", [sys.executable, "-c", _FLOOD, "10.64.128.1", "200"], timeout_s=20)
        run = emulation.finish()
    (router,) = run.nodes.iter_rows(named=True)
    assert router["node"] == "router"
    assert router["packets_in"] >= 200
    assert router["packets_in"] == router["packets_served"] + router["dropped_input_ring"]
    # They come at once, or in some bursts, and the ring holds ten.
    assert router["dropped_input_ring"] > 100
    there = run.packets.filter((pl.col("event") == "+") & (pl.col("from") == "router") & (pl.col("type") == "udp"))
    assert all(gap_s > 0.0019 for gap_s in there["time_s"].diff().drop_nulls())


@measures
@needs("ping")
def test_several_links_work_side_by_side() -> None:
    emulations = [Emulation(_plan(**{"link.wire.delay": f"{delay} ms"}), late_s=1.0) for delay in (5, 40)]
    try:
        for emulation, delay in zip(emulations, (5, 40), strict=True):
            argv = ["ping", "-c", "1", "-W", "5", "10.64.128.1"]
            output = emulation.bed.run("a", argv, timeout_s=9).output
            assert float(output.partition("time=")[2].split()[0]) >= 2 * delay
    finally:
        for emulation in emulations:
            emulation.close()


# As a command.


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    file = tmp_path / "wire.toml"
    file.write_text(_WIRE, encoding="utf-8")
    return file


class _Emulating(subprocess.Popen[str]):
    """A command that does not outlive a test that fails."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.kill()
        super().__exit__(kind, error, trace)


def _emulate(*arguments: str | Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "tightlink", "emulate", *map(str, arguments)]
    pipe = subprocess.PIPE
    return _Emulating(argv, stdout=pipe, stderr=pipe, text=True, start_new_session=True)


@needs_links
def test_a_program_runs_over_the_link(wire: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = _emulate(wire, "--late", "1 s", "-o", out, "--", sys.executable, "-c", _FLOOD, "10.64.128.1", "2")
    with ended:
        _, errors = ended.communicate(timeout=60)
    assert (ended.returncode, "b is 10.64.128.1" in errors, "packets forwarded" in errors) == (0, True, True)
    run = tl.open_run(out)
    assert run.links["packets_in"].to_list()[0] == 2
    assert cli.main(["emulate", str(wire), "-o", str(out)]) == 2


@needs_links
def test_the_exit_code_is_the_programs(wire: Path) -> None:
    with _emulate(wire, "--in", "b", "--", "sh", "-c", "exit 7") as ended:
        ended.communicate(timeout=60)
    assert ended.returncode == 7


@needs_links
def test_a_link_that_was_late_has_no_result(wire: Path, tmp_path: Path, said: Said) -> None:
    out = tmp_path / "out"
    program = [sys.executable, "-c", _FLOOD, "10.64.128.1", "2"]
    code, _, errors = said("emulate", str(wire), "--late", "1 ns", "-o", str(out), "--", *program)
    assert (code, out.exists()) == (1, False)
    assert "tightlink: lateness: " in errors


@needs_links
def test_a_program_is_told_of_an_interrupt_that_came_to_the_command_alone(wire: Path) -> None:
    waits = "import sys, time\ntry: print('waits', flush=True); time.sleep(60)\nexcept KeyboardInterrupt: sys.exit(5)"
    with _emulate(wire, "--late", "1 s", "--", sys.executable, "-c", waits) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "waits\n"
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 5


@needs_links
def test_ctrl_c_ends_the_link_and_its_hosts_can_be_entered(wire: Path) -> None:
    with _emulate(wire) as ended:
        assert ended.stdout is not None
        rows = [ended.stdout.readline().split(maxsplit=2) for _ in range(3)]
        way = rows[1][2].strip()
        inside = subprocess.run(f"{way} cat /proc/net/dev", shell=True, capture_output=True, text=True, check=False)
        os.kill(ended.pid, signal.SIGINT)
        ended.communicate(timeout=60)
    assert ([row[0] for row in rows], rows[2][1]) == (["host", "a", "b"], "10.64.128.1")
    assert "tight0" in inside.stdout, inside.stderr
    assert ended.returncode == 0


@needs_links
def test_nothing_is_left_of_a_command_that_was_killed(wire: Path) -> None:
    with _emulate(wire, "--", "sleep", "1000") as killed:
        assert killed.stderr is not None
        assert killed.stderr.readline().startswith("tightlink: a is ")
        # The testbed's process and what runs in it, and the relay.
        assert soon(lambda: len(descendants(killed.pid)) >= 3)
        started = descendants(killed.pid)
        killed.kill()
    assert soon(lambda: not any(map(lives, started)), within_s=20)


@needs_links
def test_the_duration_ends_a_program(wire: Path, said: Said) -> None:
    begin = time.monotonic()
    code, _, errors = said("emulate", str(wire), "--duration", "200 ms", "--", "sleep", "100")
    assert "tightlink: the links have ended, and with them sleep" in errors
    assert code == 128 + signal.SIGTERM
    assert time.monotonic() - begin < 50


@measures
@needs("ping")
def test_a_trace_is_a_link_of_its_own(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What mm-link does: a packet waits for the next instant of the trace, and then for the delay."""
    trace = tmp_path / "up.trace"
    trace.write_text("\n".join(str(at) for at in range(5, 1001, 5)))
    link = ["--late", "1 s", "--trace", str(trace), "--delay", "20 ms"]
    code = cli.main(["emulate", *link, "--", "ping", "-c", "20", "-i", "0.01", "there"])
    # What ping writes, too.
    told, errors = capfd.readouterr()
    assert code == 0, errors
    assert "20 received" in told
    # The delay in both directions.
    shortest_ms = float(told.rpartition("= ")[2].split("/")[0])
    assert shortest_ms >= 40


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--link", "wyre"], '--link = "wyre": expected the name of a link; did you mean "wire"?'),
        (["--in", "b"], '--in = "b": expected a program to run there, after --'),
        (["--in", "c", "--", "true"], '--in = "c": expected one of a, b'),
        (["--duration", "10"], '--duration = "10": expected a unit, too: a time'),
        (["--late", "0 s"], '--late = "0 s": expected a time above zero'),
        (["--delay", "2 ms"], '--delay = "2 ms": expected --trace with it'),
        (["--trace", "no.trace", "--", "true"], '--trace = "no.trace": expected a file that can be read: no such file'),
        (["--trace", __file__, "--delay", "2", "--", "true"], '--delay = "2": expected a unit, too: a time'),
        (["--link", "nothing like it"], '"nothing like it": expected the name of a link, such as wire'),
        (["--burn"], "there is no processor time to spend: no router of the scenario has a processor"),
    ],
)
def test_bad_options_are_one_sentence(
    arguments: list[str], said: str, wire: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["emulate", str(wire), *arguments]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert said in errors
