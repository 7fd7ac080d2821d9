"""Traces of ns-2, read back: the tables of the run that made them, and what ns-2 itself writes."""

from __future__ import annotations

import csv
import gzip
import lzma
import subprocess
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from programs import needs
from tightlink import cli, console
from tightlink.report import run_report
from tightlink.tables import TABLES

if TYPE_CHECKING:
    from tightlink.run import Run

DATA = Path(__file__).parent / "data" / "ns2"
#: Times are written in microseconds.
US = 1.01e-6

SCENARIOS = {
    "one flow": """
profile = "ns2"
duration = "10 s"
link.wire = { ends = ["n0", "n1"], rate = "2 Mbit/s", delay = "10 ms", queue = "5 packets", reverse.queue = "50 packets" }
traffic.ftp = { kind = "bulk", from = "n0", to = "n1", start = "0.1 s" }
observe.interval = "500 ms"
""",
    "two ways": """
profile = "ns2"
duration = "4 s"
link.near = { ends = ["a", "r"], rate = "10 Mbit/s", delay = "1 ms", queue = "50 packets" }
link.far = { ends = ["r", "b"], rate = "1 Mbit/s", delay = "10 ms", queue = "8 packets", reverse.rate = "100 kbit/s", reverse.queue = "3 packets" }
traffic.ftp = { kind = "bulk", flows = 2, from = "a", to = "b", start = ["0.1 s", "0.3 s"], tcp = { recovery = "newreno", window = "50 packets" } }
traffic.back = { kind = "bulk", from = "b", to = "a", start = "0.5 s", tcp.recovery = "sack" }
traffic.voice = { kind = "cbr", from = "a", to = "b", rate = "300 kbit/s", udp.payload = "200 B", start = "0.7 s" }
observe.interval = "250 ms"
""",
    "rfc": """
profile = "rfc"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "3 Mbit/s", delay = "15 ms", queue = "15 packets" }
traffic.ftp = { kind = "bulk", flows = 2, from = "a", to = "b", start = ["0 s", "0.2 s"] }
observe.interval = "100 ms"
""",
}
INTERVALS = {"one flow": "500 ms", "two ways": "250 ms", "rfc": "100 ms"}
COUNTS = {
    "flows": ["packets_sent", "packets_delivered", "packets_dropped", "bytes_sent", "bytes_delivered"],
    "links": ["packets_in", "packets_dropped", "queue_max_packets"],
}


def both(name: str, folder: Path) -> tuple[Run, Run]:
    scenario = tl.loads(SCENARIOS[name])
    run = tl.simulate(scenario, trace=True, tr=folder / "out.tr")
    return run, tl.capture(folder / "out.tr", interval=INTERVALS[name], packets=True)


@pytest.mark.parametrize("name", SCENARIOS)
def test_flows_are_those_of_the_run(tmp_path: Path, name: str) -> None:
    run, found = both(name, tmp_path)
    assert run.flows["packets_dropped"].sum() > 10
    assert found.flows["flow"].sort().to_list() == run.flows["flow"].to_list()
    same = found.flows.sort("flow")
    for column in COUNTS["flows"]:
        assert same[column].to_list() == run.flows[column].to_list(), column
    assert same["transport"].to_list() == run.flows["transport"].to_list()
    for row in same.drop_nulls("one_way_delay_p95_s").iter_rows(named=True):
        steps = found.delays.filter(entity=row["label"])
        reached = steps.filter(pl.col("packets").cum_sum() >= 0.95 * int(steps["packets"].sum()))["at_most_s"]
        # A class is 2 % wide, and its middle is what the quantile says.
        assert reached[0] == pytest.approx(row["one_way_delay_p95_s"], rel=0.02)
        assert steps["at_most_s"][-1] == pytest.approx(row["one_way_delay_max_s"], abs=US)
    for column in ("one_way_delay_mean_s", "one_way_delay_max_s", "jitter_mean_s"):
        # Of a flow that never was connected there are none.
        assert same[column].is_null().to_list() == run.flows[column].is_null().to_list(), column
        expected = run.flows[column].drop_nulls().to_list()
        assert same[column].drop_nulls().to_list() == pytest.approx(expected, rel=0, abs=2 * US), column
    retransmitted = [
        row["packets_retransmitted"] if row["transport"] == "tcp" else None for row in run.flows.to_dicts()
    ]
    assert same["packets_retransmitted"].to_list() == retransmitted


@pytest.mark.parametrize("name", SCENARIOS)
def test_links_are_those_of_the_run(tmp_path: Path, name: str) -> None:
    run, found = both(name, tmp_path)
    ends = {row["link"]: row for row in run.links.to_dicts()}
    numbers = {node: str(number) for number, node in enumerate(run.nodes["node"])}
    duration_s = float(run.scenario.duration.split()[0])
    assert found.links.height == len(ends)
    for row in ends.values():
        same = found.links.row(
            by_predicate=(pl.col("from") == numbers[row["from"]]) & (pl.col("to") == numbers[row["to"]]), named=True
        )
        assert same["link"] == f"{same['from']}-{same['to']}"
        assert {name: same[name] for name in COUNTS["links"]} == {name: row[name] for name in COUNTS["links"]}
        # What is on the wire at the end has left the queue, and has not been transmitted.
        assert 0 <= same["packets_out"] - row["packets_out"] <= 1
        # A trace ends with its last event, the run a little later.
        end_s = found.manifest["end_s"]
        tail = row["queue_max_packets"] * (duration_s - end_s)
        waited = row["queue_mean_packets"] * duration_s
        slack = tail + US * same["packets_in"]
        assert same["queue_mean_packets"] * end_s == pytest.approx(waited, rel=0, abs=slack)


@pytest.mark.parametrize("name", SCENARIOS)
def test_series_are_those_of_the_run(tmp_path: Path, name: str) -> None:
    run, found = both(name, tmp_path)
    numbers = {node: str(number) for number, node in enumerate(run.nodes["node"])}
    links = {row["link"]: f"{numbers[row['from']]}-{numbers[row['to']]}" for row in run.links.to_dicts()}
    flows = dict(zip(run.flows["label"], found.flows.sort("flow")["label"], strict=True))
    wanted: list[tuple[str, str, tuple[str, ...]]] = [
        (own, other, ("queue_packets", "packets_dropped")) for own, other in links.items()
    ]
    wanted += [(own, other, ("throughput_bps",)) for own, other in flows.items()]
    for own, other, metrics in wanted:
        for metric in metrics:
            here, there = (
                table.filter((pl.col("entity") == entity) & (pl.col("metric") == metric))
                for table, entity in ((found.series, other), (run.series, own))
            )
            values = dict(there.select("time_s", "value").iter_rows())
            mine = dict(here.select("time_s", "value").iter_rows())
            assert len(mine) >= len(values) - 8
            # What happened in the last microsecond of an interval may be written for the next one.
            times = run.packets["time_s"]
            sure = [time_s for time_s in mine if not times.is_between(time_s - US, time_s).any()]
            assert len(sure) > len(mine) / 2
            assert {time_s: mine[time_s] for time_s in sure} == {time_s: values[time_s] for time_s in sure}


def test_packets_are_the_lines(tmp_path: Path) -> None:
    run, found = both("two ways", tmp_path)
    names = {str(number): node for number, node in enumerate(run.nodes["node"])}
    same = found.packets.with_columns(pl.col("from", "to").replace(names))
    columns = ["event", "from", "to", "type", "size_bytes", "flow", "seq", "uid"]
    assert same.select(columns).equals(run.packets.select(columns))
    assert (same["time_s"] - run.packets["time_s"]).abs().max() <= US  # type: ignore[operator]
    assert found.tables == ["flows", "links", "series", "delays", "packets"]
    for name in found.tables:
        assert found.table(name).columns == [column.name for column in TABLES[name]]
    saved = tl.open_run(found.save(tmp_path / "saved"))
    assert saved.source == "trace"
    assert saved.flows.equals(found.flows)
    with pytest.raises(tl.TightlinkError, match="this run has no table connections: a trace does not tell it"):
        saved.table("connections")


def unpacked(name: str) -> str:
    """A trace of ns-2 of two nodes, as it wrote it (data/ns2/ORIGIN.md)."""
    with lzma.open(DATA / f"{name}.csv.xz", "rt") as file:
        columns: dict[str, list[Any]] = {row[0]: row[1:] for row in csv.reader(file)}
    for column in ("time_us", "seq", "uid"):
        columns[column] = list(accumulate(int(value) for value in columns[column]))
    lines = []
    for event, time_us, origin, target, kind, size, flow, seq, uid in zip(*columns.values(), strict=True):
        ends = "1.0 0.0" if kind == "ack" else "0.0 1.0"
        lines.append(f"{event} {time_us / 1e6} {origin} {target} {kind} {size} ------- {flow} {ends} {seq} {uid}\n")
    return "".join(lines)


@pytest.mark.parametrize("name", ["one-flow/queue-5", "udp/queue-5"])
def test_what_ns2_wrote(tmp_path: Path, name: str) -> None:
    """Profile ns2 makes the same traces: its tables are those of ns-2's."""
    (tmp_path / "out.tr.gz").write_bytes(gzip.compress(unpacked(name).encode()))
    found = tl.capture(tmp_path / "out.tr.gz")
    text = SCENARIOS["one flow"]
    if name.startswith("udp"):
        text = text.replace('kind = "bulk"', 'kind = "cbr", rate = "2.5 Mbit/s"')
    run = tl.simulate(tl.loads(text))
    for column in COUNTS["flows"]:
        assert found.flows[column].to_list() == run.flows[column].to_list(), column
    assert found.links["packets_dropped"].sum() == run.links["packets_dropped"].sum() > 10
    assert found.flows["one_way_delay_mean_s"].to_list() == pytest.approx(
        run.flows["one_way_delay_mean_s"].to_list(), abs=US
    )
    assert found.warnings == []


SCRIPT = """
set ns [new Simulator]
set trace [open out.tr w]
$ns trace-all $trace
set a [$ns node]
set r [$ns node]
set b [$ns node]
$ns duplex-link $a $r 10Mb 1ms DropTail
$ns duplex-link $r $b 1Mb 10ms DropTail
$ns queue-limit $r $b 5
set tcp [new Agent/TCP/Newreno]
set sink [new Agent/TCPSink]
$ns attach-agent $a $tcp
$ns attach-agent $b $sink
$ns connect $tcp $sink
$tcp attach $trace
$tcp trace cwnd_
set ftp [new Application/FTP]
$ftp attach-agent $tcp
set udp [new Agent/UDP]
set null [new Agent/Null]
$ns attach-agent $a $udp
$ns attach-agent $b $null
$ns connect $udp $null
set cbr [new Application/Traffic/CBR]
$cbr set packetSize_ 500
$cbr set rate_ 100kb
$cbr attach-agent $udp
$ns at 0.1 "$ftp start"
$ns at 0.2 "$cbr start"
$ns at 3.0 "finish"
proc finish {} {
    global ns trace tcp
    puts "[$tcp set ndatapack_] [$tcp set nrexmitpack_]"
    $ns flush-trace
    close $trace
    exit 0
}
$ns run
"""


def test_lines_that_are_no_text_are_said(tmp_path: Path) -> None:
    event = b"+ 0.5 0 1 tcp 1000 ------- 0 0.0 1.0 0 0\n"
    (tmp_path / "out.tr").write_bytes(event + b"\x80\xff\xfe\n" + b"v 0.5 eval {}\n" + b"\0\0\0\n" + event)
    found = tl.capture(tmp_path / "out.tr")
    assert found.manifest["events"] == 2
    assert found.manifest["lines_skipped"] == 3
    assert found.warnings == [
        "2 lines are no text and were skipped: the file is damaged, or what stands there is no trace of ns-2"
    ]


@needs("ns")
def test_what_ns2_writes_today(tmp_path: Path) -> None:
    """With the variables of an agent among the packets, and all flows of number 0."""
    ran = subprocess.run(
        ["ns", "-"], input=SCRIPT, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60
    )
    sent, retransmitted = map(int, ran.stdout.split())
    found = tl.capture(tmp_path / "out.tr")
    assert found.manifest["lines_skipped"] > 10
    flows = found.flows
    assert flows.select("flow", "label", "transport").rows() == [(0, "0.0-2.0", "tcp"), (1, "0.1-2.1", "udp")]
    # What the agent counts itself, its SYN included.
    assert flows["packets_sent"][0] == sent
    assert flows["packets_retransmitted"].to_list() == [retransmitted, None]
    lines = [line.split() for line in (tmp_path / "out.tr").read_text().splitlines()]
    assert flows["packets_dropped"].sum() == sum(line[0] == "d" for line in lines)


def test_what_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tl.simulate(tl.loads(SCENARIOS["one flow"]), tr=tmp_path / "out.tr")
    file, folder = str(tmp_path / "out.tr"), tmp_path / "run"
    assert cli.main(["capture", file, "-o", str(folder), "--rate", "2 Mbit/s"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [name.strip() for name in lines[0].split("  ") if name.strip()] == [
        *(
            "flow",
            "transport",
            "start",
            "sent",
            "dropped",
            "retransmitted",
            "throughput",
            "one-way delay mean",
            "jitter",
        )
    ]
    assert lines[1].split()[:2] == ["0.0-1.0", "tcp"]
    assert lines[3].split()[-1] == "utilization"
    busy = tl.open_run(folder).links["utilization"][0]
    assert busy == pytest.approx(tl.simulate(tl.loads(SCENARIOS["one flow"])).links["utilization"][0], rel=2e-3)
    page = run_report(folder).read_text()
    assert "A trace of ns-2: 1 flows and 2 links" not in page
    assert "1 flow and 2 links until 9.9" in page


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("+ 1.8 0 1 tcp 40", "a line of 6 columns: expected 12"),
        ("+ soon 0 1 tcp 40 ------- 0 0.0 1.0 0 0", '"soon": expected a time in seconds'),
        ("r 1.8 0 1 tcp 40 ------- 0 0.0.0 1.0 0 0", '"0.0.0": expected NODE.PORT'),
        ("r 1.8 0 1 tcp -40 ------- 0 0.0 1.0 0 0", '"-40": expected a size in bytes'),
        ("r 1.8 " + "0" * 2000, "a line of more than 1024 bytes"),
    ],
)
def test_everything_up_to_the_damage(tmp_path: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    good = "+ 0.1 0 1 tcp 40 ------- 0 0.0 1.0 0 0\n- 0.1 0 1 tcp 40 ------- 0 0.0 1.0 0 0\n"
    (tmp_path / "out.tr").write_text(good + line + "\n" + good)
    assert cli.main(["capture", str(tmp_path / "out.tr")]) == 3
    error = capsys.readouterr().err
    assert f"damaged at byte {len(good)}: {said}" in error
    assert "the tables hold the 2 events before it" in error
    (tmp_path / "out.tr").write_text("+ 0" + line[5:] + "\n" if line.startswith("+ soon") else "+ 0 1\n")
    assert cli.main(["capture", str(tmp_path / "out.tr")]) == console.WRONG


def test_wrong_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "out.tr").write_text("+ 0.1 0 1 tcp 40 ------- 0 0.0 1.0 0 0\nr 1e9 0 1 tcp 40 ------- 0 0.0 1.0 0 0\n")
    assert cli.main(["capture", str(tmp_path / "out.tr"), "--interval", "1 ns"]) == console.WRONG
    assert "the series has more than 16777216 values: expected intervals longer" in capsys.readouterr().err
    (tmp_path / "out.tr").write_text("+ 0.1 0 1 tcp 40 ------- 0 0.0 1.0 0 0\n")
    assert cli.main(["capture", str(tmp_path / "out.tr"), "--connections", "10"]) == console.WRONG
    assert "is a trace, which has none" in capsys.readouterr().err
