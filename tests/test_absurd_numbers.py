"""Numbers that no network has: refused with a sentence, warned of, or run in the time that their packets take."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import tightlink as tl
from tightlink import _core, cli
from tightlink.scenario import memory

WIRE = 'profile = "ns2"\nduration = "2 s"\nlink.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms" }\n'
BULK = WIRE + 'traffic.t = { kind = "bulk", from = "a", to = "b" }'
CBR = WIRE + 'traffic.t = { kind = "cbr", from = "a", to = "b", interval = "1 ms", udp.payload = "100 B" }'
USERS = (
    WIRE
    + """
[traffic.t]
kind = "users"
think = "0.2 s"
places.all = { at = ["a", "b"], sources = 9, receivers = 4 }
interfaces.eth = { rate = "100 Mbit/s", delay = "0.1 ms" }
files.page = { mean = "20 packets" }
"""
)
SCATTER = WIRE + 'traffic.t = { kind = "scatter", at = ["a", "b"], rate = "9 packets/s", sizes.only.size = "100 B" }'
ROUTER = """
profile = "rfc"
duration = "3 s"
link.first = { ends = ["a", "r"], rate = "100 Mbit/s", delay = "5 us" }
link.second = { ends = ["r", "b"], rate = "100 Mbit/s", delay = "5 us" }
node.r.processor = { per_packet = "1 ms", background = { cpu = "100 ns", every = "300 ns" } }
traffic.t = { kind = "cbr", from = "a", to = "b", interval = "1 ms" }
"""

LARGE = "expected an IP packet of at most 65535 B, headers of 40 B included"
MARKS = "traffic.t.tcp.ecn = false: its congestion control reads congestion marks: true, or another control"
#: A scenario, what is changed, and how the sentence begins.
REFUSED: list[tuple[str, dict[str, object], str]] = [
    (BULK, {"traffic.t.tcp.payload": "65496 B"}, f'traffic.t.tcp.payload = "65496 B": {LARGE}'),
    (USERS, {"traffic.t.tcp.payload": "65496 B"}, f'traffic.t.tcp.payload = "65496 B": {LARGE}'),
    (USERS, {"traffic.t.tcp.payload": "20 MB"}, f'traffic.t.tcp.payload = "20 MB": {LARGE}'),
    (CBR, {"traffic.t.udp.payload": "65536 B"}, 'traffic.t.udp.payload = "65536 B": expected an IP packet of at'),
    (SCATTER, {"traffic.t.sizes.only.size": "66 kB"}, 'traffic.t.sizes.only.size = "66 kB": expected an IP packet of'),
    (BULK, {"traffic.t.tcp": {"congestion": "dctcp", "ecn": False}}, MARKS),
    (USERS, {"traffic.t.tcp": {"congestion": "prices", "ecn": False}}, MARKS),
    (
        USERS,
        {"traffic.t.controls": {"a": {"congestion": "reno"}, "b": {"congestion": "dctcp", "share": 0.1}}}
        | {"traffic.t.tcp.ecn": False},
        MARKS,
    ),
    (
        BULK,
        {"link.wire.queue": {"kind": "threshold", "limit": "20 packets", "mark": "20 packets"}},
        'link.wire.queue.mark = "20 packets": expected less than the limit, which is 20 packets',
    ),
    (
        BULK,
        {"link.wire.queue": {"kind": "threshold", "limit": "1 BDP", "mark": "14 packets"}},
        'link.wire.queue.mark = "14 packets": expected less than the limit, which is 1 BDP',
    ),
    (
        BULK,
        {"link.wire.queue": {"kind": "threshold", "limit": "2 packets", "mark": "200 kB"}},
        'link.wire.queue.mark = "200 kB": expected less than the limit, which is 2 packets',
    ),
    (
        ROUTER,
        {"node.r.processor": {"per_packet": "1 s", "interrupt": "1 us"}}
        | {"node.r.processor.background": {"cpu": "1 ns", "every": "99 us", "guaranteed": 0.1}},
        'node.r.processor.background.every = "99 us": expected at most 10000 jobs in the 1 s that a packet may take',
    ),
    (
        USERS,
        {"duration": "10000000 s", "link.wire.delay": "1 ns", "traffic.t.interfaces.eth.delay": "0 s"},
        "traffic: expected links with a delay of at least 1.4e-7 s on every circle that traffic can take",
    ),
]


@pytest.mark.parametrize(("text", "changes", "message"), REFUSED)
def test_what_has_no_effect_or_no_bounds_is_refused(text: str, changes: dict[str, object], message: str) -> None:
    with pytest.raises(tl.ScenarioError) as caught:
        tl.simulate(tl.loads(text, set=changes))
    assert caught.value.located(None).sentence().removeprefix("set: ").startswith(message)


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (USERS, {"traffic.t.tcp.payload": "65495 B"}),
        (SCATTER, {"traffic.t.sizes.only.size": "65535 B"}),
        (BULK, {"link.wire.queue": {"kind": "threshold", "limit": "20 packets", "mark": "19 packets"}}),
        # A window of a nanosecond each: three billion of them, of which few have anything to do.
        (USERS, {"link.wire.delay": "1 ns", "traffic.t.interfaces.eth.delay": "0 s", "duration": "3 s"}),
        # The packet in service leaves long after the end, behind ten million jobs each second.
        (ROUTER, {"node.r.processor.per_packet": "1000 h", "node.r.processor.background.guaranteed": 0.1}),
        # Nothing happens but samples: 300 ms of jobs, looked at three thousand times.
        (ROUTER, {"traffic.t.stop": "1 ms", "observe.interval": "1 ms"}),
        (BULK, {"traffic.t.flows": 100_000, "duration": "1 ms"}),
    ],
)
def test_what_is_only_large_takes_no_longer_than_its_packets(text: str, changes: dict[str, object]) -> None:
    assert 0 <= tl.simulate(tl.loads(text, set=changes)).links["utilization"].max() <= 1  # type: ignore[operator]


NO_ROOM = "the queue of link wire has no room for a packet of "


@pytest.mark.parametrize(
    ("text", "queue", "warning"),
    [
        (BULK, "100 B", f"{NO_ROOM}1040 B, as t sends them"),
        # ns-2 drops at an idle line if the limit is one packet.
        (CBR, "1 packet", f"{NO_ROOM}100 B, as t sends them"),
        (USERS, "1039 B", f"{NO_ROOM}1040 B, as t sends them"),
        (SCATTER, "99 B", f"{NO_ROOM}100 B, as t sends them"),
        (BULK, "1040 B", None),
        (CBR, "2 packets", None),
        (USERS, "1040 B", None),
    ],
)
def test_queues_without_room_for_a_packet_are_warned_of(
    text: str, queue: str, warning: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "a.toml"
    file.write_text(text)
    code = cli.main(["run", str(file), "--set", f"link.wire.queue={queue}"])
    found = [line for line in capsys.readouterr().err.splitlines() if " wire has" in line]
    assert (code, found) == ((3, [f"tightlink: warning: {warning}"]) if warning else (0, []))


def test_keys_of_many_parts_are_no_scenario() -> None:
    deep = ".".join(["a"] * 50_000)
    for text in (f"{deep} = 1", f"[{deep}]", f"a = {{ {deep} = 1 }}", f'a = "b"\nlink.{deep} = 1', "a = " + "[" * 40):
        with pytest.raises(tl.ScenarioError, match=r"nested too deeply|not valid TOML"):
            tl.loads(text)
    with pytest.raises(tl.ScenarioError, match="expected a dotted key"):
        tl.loads(BULK, set={deep: 1})
    assert tl.loads("# " + "a. " * 50 + "b\n" + BULK).duration == "2 s"


@pytest.mark.parametrize(
    ("north", "east"), [("1.0E+999", "0"), ("91", "0"), ("5000", "0"), ("-90.5", "0"), ("0", "361")]
)
def test_places_off_the_earth_are_refused(north: str, east: str, tmp_path: Path) -> None:
    (tmp_path / "zoo.gml").write_text(
        f'graph [ node [ id 0 label "A" Latitude {north} Longitude {east} ] node [ id 1 label "B" Latitude 1.0 '
        "Longitude 3.0 ] edge [ source 0 target 1 capacity 1000000 ] ]"
    )
    file = tmp_path / "zoo.toml"
    file.write_text('duration = "1 s"\ntopology.net = { kind = "graph", file = "zoo.gml" }\n' + BULK.splitlines()[-1])
    with pytest.raises(tl.ScenarioError, match="expected a latitude from -90 to 90 degrees and a longitude from -360"):
        tl.load(file).explicit()


def test_memory_is_foreseen_before_a_scenario_is_expanded(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = """
    duration = "1 ms"
    topology.net = { kind = "dumbbell", pairs = 1000000, bottleneck.rate = "1 Gbit/s", access.rate = "1 Gbit/s" }
    traffic.t = { kind = "bulk", from = "net.left[0]", to = "net.right[0]" }
    """
    monkeypatch.setattr(memory, "available", lambda: 2**29)
    for text, changes, needs, remedy in (
        (pairs, {}, "7.1 GiB of memory, for 1 flow, 4,000,000 nodes and links", "fewer flows or a smaller network"),
        (BULK, {"traffic.t.flows": 1_000_000}, "2.3 GiB of memory, for 1,000,000 flows, ", "fewer flows or a smaller"),
        (BULK, {"duration": "9 s", "observe.interval": "1 us"}, "6.7 GiB of memory, for 1 flow, ", "a longer observe"),
        (
            USERS,
            {"duration": "9 s", "observe.interval": "1 us"},
            "7.8 GiB of memory, for 2 nodes and links and ",
            "a longer observe",
        ),
    ):
        with pytest.raises(tl.ScenarioError) as caught:
            tl.loads(text, set=changes).resolve()
        sentence = str(caught.value)
        assert f"this run needs up to {needs}" in sentence
        assert f"and this machine has 512 MiB: take {remedy}" in sentence


@pytest.mark.parametrize("text", [BULK, USERS, SCATTER])
def test_the_engine_itself_takes_no_packet_that_is_too_large(text: str) -> None:
    resolved: dict[str, Any] = tl.loads(text).resolve()
    for user in resolved["users"]:
        user["tcp"]["payload_bytes"] = 65_496
    for flow in resolved["flows"]:
        flow["transport"]["tcp"]["payload_bytes"] = 65_496
    for scatter in resolved["scatter"]:
        scatter["sizes"][0]["bytes"] = 65_536
    with pytest.raises(_core.ScenarioError, match="an IP packet has at most 65535 bytes"):
        _core.simulate(json.dumps(resolved))


def _broken() -> str:
    """A resolved scenario with a mistake that only the model can make: a flow of a node that there is not."""
    resolved: dict[str, Any] = tl.loads(BULK).resolve()
    resolved["flows"][0]["from"] = 99
    return json.dumps(resolved)


def test_a_mistake_of_the_engine_is_an_exception_and_nothing_else(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(_core.EngineError, match=r"index out of bounds.*\(crates/sim/src/.*\.rs:\d+\)"):
        _core.simulate(_broken())
    assert capfd.readouterr() == ("", "")


def test_a_mistake_of_the_engine_is_told_where_it_is_asked_for(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text(_broken())
    program = "import pathlib, sys, tightlink._core as c; c.simulate(pathlib.Path(sys.argv[1]).read_text())"
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "broken.json")],
        env={"TIGHTLINK_TRACEBACK": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "panicked at " in done.stderr
    assert done.returncode == 1


def test_threads_have_bounds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(USERS)
    assert cli.main(["run", str(file), "--threads", "99999999999"]) == 2
    assert capsys.readouterr().err == "tightlink: --threads = 99999999999: expected a whole number from 1 to 1024\n"


def test_a_link_is_never_busier_than_always() -> None:
    """The times at which packets leave are rounded, one after the other: a hundred thousand of them come to less."""
    text = """
    profile = "rfc"
    duration = "19.416 s"
    link.wire = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "1 ms", queue = "1000 packets" }
    traffic.t = { kind = "saturate", from = "a", to = "b", udp.payload = "781 B" }
    """
    assert tl.simulate(tl.loads(text)).links["utilization"].to_list()[0] == 1


def test_what_takes_minutes_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "pairs.toml"
    file.write_text(
        'duration = "1 ms"\ntraffic.t = { kind = "bulk", from = "net.left[0]", to = "net.right[0]" }\n'
        'topology.net = { kind = "dumbbell", pairs = 1000000, bottleneck.rate = "1 Gbit/s", access.rate = "1 Gbit/s" }\n'
    )
    assert cli.main(["run", str(file)]) == 2
    assert re.fullmatch(
        r"tightlink: it needs up to 7\.1 GiB of memory, for 1 flow, 4,000,000 nodes and links, which take minutes .*: take "
        r"fewer, or add --yes\n",
        capsys.readouterr().err,
    )
    monkeypatch.setattr(memory, "_MOST_BUILT", 10)
    few = ["run", str(file), "--set", "topology.net.pairs=5"]
    assert cli.main(few) == 2
    capsys.readouterr()
    assert cli.main([*few, "--yes"]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(memory, "_FEW_BUILT", 10)
    assert cli.main([*few, "--yes"]) == 0
    assert capsys.readouterr().err == (
        "tightlink: building 21 nodes, links and flows, which may take 3 ms, before anything is simulated\n"
    )
