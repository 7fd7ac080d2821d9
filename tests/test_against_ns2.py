"""Profile ns2 against ns-2.35, event by event.

Against traces that it made (data/ns2/ORIGIN.md), and against itself where it is installed.
"""

from __future__ import annotations

import csv
import lzma
import subprocess
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tightlink as tl
from programs import need

if TYPE_CHECKING:
    import polars as pl

DATA = Path(__file__).parent / "data" / "ns2"

ONE_LINK = """\
profile = "ns2"
duration = "10 s"
link.wire = { ends = ["n0", "n1"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets", reverse.queue = "50 packets" }
"""
ONE_FLOW = ONE_LINK + ('traffic.ftp = { kind = "bulk", from = "n0", to = "n1", start = "0.1 s" }\n')
UDP = ONE_LINK + ('traffic.cbr = { kind = "cbr", from = "n0", to = "n1", start = "0.1 s", rate = "2.5 Mbit/s" }\n')

#: What differs from the base case, by the name of the trace.
CASES = {
    "one-flow/base": {},
    "one-flow/packet-100": {"traffic.ftp.tcp.payload": "100 B"},
    "one-flow/packet-4000": {"traffic.ftp.tcp.payload": "4000 B"},
    "one-flow/bandwidth-1mbit": {"link.wire.rate": "1 Mbit/s"},
    "one-flow/queue-5": {"link.wire.queue": "5 packets"},
    "one-flow/queue-5-minrto-1s": {"link.wire.queue": "5 packets", "traffic.ftp.tcp.rto.min": "1 s"},
    "one-flow/delay-100ms": {"link.wire.delay": "100 ms"},
    "udp/rate-1.9Mb": {"traffic.cbr.rate": "1.9 Mbit/s"},
    "udp/rate-2Mb": {"traffic.cbr.rate": "2 Mbit/s"},
    "udp/rate-2.5Mb": {},
    "udp/packet-100": {"traffic.cbr.udp.payload": "100 B"},
    "udp/packet-4000": {"traffic.cbr.udp.payload": "4000 B"},
    "udp/queue-5": {"link.wire.queue": "5 packets"},
    "udp/delay-100ms": {"link.wire.delay": "100 ms"},
    "udp/bandwidth-1mbit": {"link.wire.rate": "1 Mbit/s", "traffic.cbr.rate": "2 Mbit/s"},
}
#: One link with RED: what ns-2's defaults are not.
RED: dict[str, dict[str, object]] = {
    "udp": {},
    "tcp": {},
    "adaptive": {"adaptive": True},
    # So many that the average is often above the upper threshold.
    "adaptive-many": {"adaptive": True},
    **{f"ecn-{recovery}": {"ecn": True} for recovery in ("tahoe", "reno", "newreno", "sack")},
    "hard": {"gentle": False, "wait": False},
    # ns-2 counts bytes, and packets of 500 B, unless it is told otherwise.
    "defaults": {"min": "2500 B", "max": "7500 B", "packet": "500 B"},
}
#: Scenarios with their scripts for ns-2, one for each rule of its that nothing else here reaches.
PAIRS = sorted(f"pairs/{file.stem}" for file in (DATA / "pairs").glob("*.toml"))
#: ns-2's agents, by the recovery that they are here.
AGENTS = {"tahoe": "Tahoe", "reno": "Reno", "newreno": "Newreno", "sack": "Sack1"}
#: The options of run.tcl that make some of the traces.
OPTIONS = {
    "one-flow/base": ["one-flow"],
    "one-flow/queue-5": ["one-flow", "-queue", "5"],
    "udp/packet-4000": ["udp", "-packet", "4000"],
    "dumbbell/Reno-2": ["dumbbell", "-agent", "TCP/Reno", "-end", "6.0"],
    "dumbbell/Sack1-2": ["dumbbell", "-agent", "TCP/Sack1", "-end", "6.0"],
}


def dumbbell(recovery: str, flows: int, duration: str) -> tl.Scenario:
    delays = ", ".join(f'"{1 + 3 * flow} ms"' for flow in range(flows))
    return tl.loads(f"""\
profile = "ns2"
duration = "{duration}"
[topology.net]
kind = "dumbbell"
pairs = {flows}
bottleneck = {{ rate = "10 Mbit/s", delay = "20 ms", queue = "25 packets" }}
access = {{ rate = "100 Mbit/s", delay = [{delays}], queue = "1000 packets" }}
[traffic.ftp]
kind = "bulk"
flows = {flows}
from = "net.left[*]"
to = "net.right[*]"
start = {{ first = "0.1 s", every = "0.13 s" }}
tcp = {{ recovery = "{recovery}", window = "100 packets" }}
""")


def red(case: str) -> tl.Scenario:
    queue: dict[str, object] = {"kind": "red", "limit": "50 packets", "min": "5 packets", "max": "15 packets"}
    own = {"weight": 0.002} if case != "defaults" else {}
    traffic: dict[str, object] = {
        "kind": "bulk",
        "flows": 20 if case == "adaptive-many" else 4,
        "start": {"first": "0.1 s", "every": "0.13 s"},
        "tcp": {"recovery": "newreno", "window": "100 packets"},
    }
    if case.startswith("ecn-"):
        # Of more flows, marks cut some window below a packet: then ns-2 never sends again.
        traffic["flows"] = 2
        traffic["tcp"] = {"recovery": case.removeprefix("ecn-"), "window": "100 packets", "ecn": True}
    if case == "udp":
        traffic = {"kind": "cbr", "start": "0.1 s", "rate": "2.2 Mbit/s", "udp": {"payload": "1000 B"}}
    wire = tl.loads(ONE_FLOW).set("duration", "10 s").set("link.wire.queue", queue | own | RED[case])
    return tl.Scenario.from_dict(wire.written() | {"traffic": {"t": traffic | {"from": "n0", "to": "n1"}}})


def scenario(name: str) -> tl.Scenario:
    """The scenario of a trace."""
    if name in PAIRS:
        return tl.load(DATA / f"{name}.toml")
    if name.startswith("red/"):
        return red(name.removeprefix("red/"))
    if name.startswith("dumbbell/"):
        agent = name.removeprefix("dumbbell/").removesuffix("-2")
        return dumbbell(next(recovery for recovery, known in AGENTS.items() if known == agent), 2, "6 s")
    base = tl.loads(ONE_FLOW if name.startswith("one-flow/") else UDP)
    for key, value in CASES[name].items():
        base = base.set(key, value)
    return base


NAMES = [*CASES, *(f"dumbbell/{agent}-2" for agent in AGENTS.values()), *(f"red/{case}" for case in RED), *PAIRS]
Columns = dict[str, list[str]]


def stored(name: str) -> Columns:
    """A stored trace of ns-2, in words; times in microseconds."""
    with lzma.open(DATA / f"{name}.csv.xz", "rt", encoding="utf-8") as file:
        columns = {key: values for key, *values in (line.rstrip("\n").split(",") for line in file)}
    for key in ("time_us", "seq", "uid"):
        columns[key] = [str(value) for value in accumulate(map(int, columns[key]))]
    return columns


def simulated(packets: pl.DataFrame, nodes: list[str]) -> Columns:
    """A trace of ours in the same form. ns-2 rounds times to microseconds, halves up."""
    number = {node: str(place) for place, node in enumerate(nodes)}
    microseconds = np.floor(packets["time_s"].to_numpy() * 1e6 + 0.5).astype(np.int64)
    columns = {
        key: [str(value) for value in packets[key]] for key in ("event", "type", "size_bytes", "flow", "seq", "uid")
    }
    columns["time_us"] = [str(value) for value in microseconds]
    for key in ("from", "to"):
        columns[key] = [number[node] for node in packets[key]]
    return columns


def first_difference(ours: Columns, theirs: Columns) -> str | None:
    keys = list(theirs)
    assert set(ours) == set(keys)
    events = [list(zip(*(columns[key] for key in keys), strict=True)) for columns in (ours, theirs)]
    for place, (event, expected) in enumerate(zip(*events, strict=False)):
        if event != expected:
            return f"event {place}: {event} instead of {expected}"
    if len(ours["event"]) != len(theirs["event"]):
        return f"{len(ours['event'])} events instead of {len(theirs['event'])}"
    return None


@pytest.mark.parametrize("name", NAMES)
def test_every_event_is_ns2s(name: str) -> None:
    run = tl.simulate(scenario(name), trace=True)
    assert first_difference(simulated(run.packets, run.nodes["node"].to_list()), stored(name)) is None


def test_a_longer_queue_changes_nothing_without_drops() -> None:
    run = tl.simulate(scenario("one-flow/base").set("link.wire.queue", "50 packets"), trace=True)
    ours = simulated(run.packets, run.nodes["node"].to_list())
    assert first_difference(ours, stored("one-flow/base")) is None


def test_differences_are_found() -> None:
    run = tl.simulate(scenario("one-flow/queue-5").set("link.wire.queue", "6 packets"), trace=True)
    difference = first_difference(simulated(run.packets, run.nodes["node"].to_list()), stored("one-flow/queue-5"))
    assert difference is not None
    assert "'d'" in difference


@pytest.mark.parametrize("flows", [1, 2, 5, 10])
@pytest.mark.parametrize("recovery", AGENTS)
def test_totals_of_the_dumbbells_are_ns2s(recovery: str, flows: int) -> None:
    with (DATA / "dumbbell" / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["agent"] == AGENTS[recovery] and row["flows"] == str(flows)]
    table = tl.simulate(dumbbell(recovery, flows, "20 s")).flows
    theirs = [tuple(int(row[key]) for key in ("packets_received", "bytes_received", "packets_dropped")) for row in rows]
    assert len(theirs) == flows
    assert table.select("packets_delivered", "bytes_delivered", "packets_dropped").rows() == theirs


def tr(name: str, path: Path) -> Path:
    """The trace of a scenario as `--tr` writes it."""
    tl.simulate(scenario(name), tr=path)
    return path


#: Throughput, mean delay and jitter of each flow, as many scripts for ns-2 compute them.
AWK = r"""
$1 == "+" && !($12 in sent) { sent[$12] = $2 }
$1 == "r" && $5 != "ack" && $4 == sink[$8] {
    if (!($8 in first)) first[$8] = $2
    last[$8] = $2; bytes[$8] += $6; delay = $2 - sent[$12]
    if (count[$8]++) { change = delay - before[$8]; jitter[$8] += change < 0 ? -change : change }
    before[$8] = delay; delays[$8] += delay
}
$1 == "d" { dropped[$8]++ }
BEGIN { sink[0] = S0; sink[1] = S1 }
END {
    for (flow = 0; flow < 2; flow++) if (flow in count)
        printf "%d %d packets %.6f kbit/s delay %.9f jitter %.9f dropped %d\n", flow, count[flow],
            8 * bytes[flow] / (last[flow] - first[flow]) / 1000, delays[flow] / count[flow],
            jitter[flow] / (count[flow] - 1), dropped[flow]
}
"""


def awk(path: Path, name: str) -> str:
    need("awk")
    sinks = ("3", "5") if name.startswith("dumbbell/") else ("1", "-1")
    command = ["awk", "-v", f"S0={sinks[0]}", "-v", f"S1={sinks[1]}", AWK, str(path)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("name", ["one-flow/queue-5", "udp/rate-2.5Mb", "dumbbell/Reno-2"])
def test_an_awk_script_gives_the_same_answer(name: str, tmp_path: Path) -> None:
    columns = stored(name)
    times = [f"{int(time) / 1e6:.15g}" for time in columns["time_us"]]
    shown = ("from", "to", "type", "size_bytes", "flow", "seq", "uid")
    lines = [
        f"{event} {time} {origin} {to} {kind} {size} ------- {flow} 0.0 1.0 {seq} {uid}\n"
        for event, time, (origin, to, kind, size, flow, seq, uid) in zip(
            columns["event"], times, zip(*(columns[key] for key in shown), strict=True), strict=True
        )
    ]
    theirs = tmp_path / "ns2.tr"
    theirs.write_text("".join(lines), encoding="utf-8")
    answer = awk(tr(name, tmp_path / "ours.tr"), name)
    assert answer == awk(theirs, name)
    assert answer.startswith("0 ")
    assert answer.count("\n") == (2 if name.startswith("dumbbell/") else 1)


def without_flags(path: Path) -> list[list[str]]:
    """The lines of a trace; the seventh column, where ns-2 notes a sender's cut of its window, is left out."""
    return [[*words[:6], *words[7:]] for words in map(str.split, path.read_text(encoding="utf-8").splitlines())]


@pytest.mark.parametrize("name", [*OPTIONS, *PAIRS])
def test_the_trace_file_is_the_one_that_ns2_writes(name: str, tmp_path: Path) -> None:
    need("ns")
    theirs = tmp_path / "ns2.tr"
    script = "run.tcl" if name in OPTIONS else f"{name}.tcl"
    command = ["ns", str(DATA / script), str(theirs), *OPTIONS.get(name, [])]
    subprocess.run(command, check=True, capture_output=True)
    ours, expected = (without_flags(path) for path in (tr(name, tmp_path / "ours.tr"), theirs))
    difference = next((pair for pair in zip(ours, expected, strict=False) if pair[0] != pair[1]), None)
    assert difference is None
    assert len(ours) == len(expected)
    if name in OPTIONS:
        assert awk(tmp_path / "ours.tr", name) == awk(theirs, name)


def counted(trace: Path) -> tuple[int, int]:
    """Packets that arrive and that are lost in a trace of one flow, ACKs not counted."""
    events = [words[0] for words in without_flags(trace) if words[4] != "ack"]
    return events.count("r"), events.count("d")


#: Scenarios in which hosts take time, or intervals are random, as options of run.tcl and here.
BY_CHANCE = {
    **{
        recovery: (
            ["one-flow", "-agent", "TCP" if recovery == "tahoe" else f"TCP/{agent}", "-overhead", "0.01"],
            tl.loads(ONE_FLOW).set("traffic.ftp.tcp", {"recovery": recovery, "processing_delay": "10 ms"}),
        )
        for recovery, agent in AGENTS.items()
    },
    "cbr": (
        ["udp", "-cbr", "2Mb", "-random", "1"],
        tl.loads(UDP, set={"traffic.cbr.rate": "2 Mbit/s", "traffic.cbr.random": True}),
    ),
}


@pytest.mark.parametrize("name", BY_CHANCE)
def test_what_is_left_to_chance_is_as_in_ns2(name: str, tmp_path: Path) -> None:
    """It is drawn from other generators, so that the means over seeds are compared: within four standard errors."""
    need("ns")
    seeds = range(1, 9)
    options, scenario = BY_CHANCE[name]
    theirs, ours = [], []
    for seed in seeds:
        trace = tmp_path / "ns2.tr"
        command = ["ns", str(DATA / "run.tcl"), str(trace), *options, "-queue", "8", "-seed", str(seed)]
        subprocess.run(command, check=True, capture_output=True)
        theirs.append(counted(trace))
        run = tl.simulate(scenario.set("link.wire.queue", "8 packets").set("seed", seed))
        ours.append(run.flows.select("packets_delivered", "packets_dropped").row(0))
    difference = np.mean(ours, axis=0) - np.mean(theirs, axis=0)
    error = np.sqrt((np.var(ours, axis=0, ddof=1) + np.var(theirs, axis=0, ddof=1)) / len(seeds))
    assert (np.abs(difference) <= 4 * error).all(), (ours, theirs)
    assert len(set(ours)) > 1
