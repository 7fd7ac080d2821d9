"""From a trace to tables: the simulator's own trace must give the simulator's own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from tightlink.measure import traced
from tightlink.measure.up_time import capacities_bps

if TYPE_CHECKING:
    from tightlink.run import Run

#: Flows both ways that fill a queue, drop, and end before the run does.
BUSY = """
profile = "linux"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "10 packets", framing = { overhead = "38 B", smallest = "84 B" }, reverse.rate = "1 Mbit/s" }
traffic.ftp = { kind = "bulk", flows = 2, from = "a", to = "b", start = ["0.1 s", "0.4 s"], tcp.congestion = "reno" }
traffic.short = { kind = "bulk", from = "a", to = "b", start = "0.2 s", bytes = "30 kB" }
traffic.voice = { kind = "cbr", from = "b", to = "a", rate = "1.2 Mbit/s", udp.datagram = "500 B", stop = "2 s" }
observe.interval = "0.25 s"
"""
COLUMNS = ["packets_sent", "packets_delivered", "packets_dropped", "bytes_delivered"]
MEANS = ["one_way_delay_mean_s", "one_way_delay_max_s", "queueing_delay_max_s", "jitter_mean_s"]
#: Of the engine's quantiles: 0.8 % of the delay and of a sixteenth of the delay of an empty path, which is 16 ms at most.
RESOLVED_S = 0.008 * 0.016 / 16
QUANTILES = [f"{delay}_{share}_s" for delay in ("one_way_delay", "queueing_delay") for share in ("p50", "p95", "p99")]


@pytest.fixture(scope="module")
def run() -> Run:
    return tl.simulate(tl.loads(BUSY), trace=True)


def _way(label: str) -> list[tuple[str, str]]:
    return [("b", "a")] if label == "voice" else [("a", "b")]


def _packets(run: Run) -> pl.DataFrame:
    # The relay calls datagrams by their protocol, not by what sends them.
    return run.packets.with_columns(pl.col("type").replace("cbr", "udp"))


def test_flows(run: Run) -> None:
    assert run.flows["packets_dropped"].sum() > 20
    for row in run.flows.iter_rows(named=True):
        found = traced.of_flow(_packets(run), row["flow"], way=_way(row["label"]))
        assert {name: found[name] for name in COLUMNS} == {name: row[name] for name in COLUMNS}
        # Of a flow that never was connected there are none.
        for name in MEANS:
            assert (found[name] is None) == (row[name] is None)
            assert row[name] is None or found[name] == pytest.approx(row[name], rel=1e-9, abs=1e-12)
        for name in QUANTILES:
            assert row[name] is None or found[name] == pytest.approx(row[name], rel=0.008, abs=RESOLVED_S), name


def test_marks_are_those_of_each_flow() -> None:
    marking = {
        "link.wire.queue": {"kind": "codel", "limit": "1000 packets", "ecn": True},
        "traffic.ftp.tcp.ecn": True,
        "duration": "10 s",
    }
    run = tl.simulate(tl.loads(BUSY).set_all(marking), trace=True)
    marks = [
        traced.of_flow(_packets(run), row, way=_way(label))["packets_marked"]
        for row, label in run.flows.select("flow", "label").rows()
    ]
    assert marks == run.flows["packets_marked"].to_list()
    assert [count > 0 for count in marks] == [True, True, False, False]


def test_copies_that_a_link_makes_were_not_sent() -> None:
    copied = tl.simulate(tl.loads(BUSY).set("link.wire.duplicate", 0.1), trace=True)
    for row in copied.flows.iter_rows(named=True):
        found = traced.of_flow(_packets(copied), row["flow"], way=_way(row["label"]))
        names = [*COLUMNS, "bytes_sent"]
        assert {name: found[name] for name in names} == {name: row[name] for name in names}


def test_copies_that_a_link_makes_are_delivered_and_not_sent() -> None:
    copied = tl.simulate(tl.loads(BUSY).set("link.wire.duplicate", "20 %"), trace=True)
    packets = _packets(copied)
    assert packets.filter(event="r").height > packets.filter(event="-").height
    for row in copied.flows.iter_rows(named=True):
        found = traced.of_flow(packets, row["flow"], way=_way(row["label"]))
        assert {name: found[name] for name in COLUMNS} == {name: row[name] for name in COLUMNS}


def test_distributions_of_delays_are_the_simulators() -> None:
    simulated = tl.simulate(tl.loads(BUSY + "observe.delays = true\n"), trace=True)
    packets = _packets(simulated)
    of_links = {
        row["link"]: traced.delays_of_link(packets, (row["from"], row["to"]))
        for row in simulated.links.rows(named=True)
    }
    for row in simulated.flows.filter(pl.col("label") != "short").iter_rows(named=True):
        for delay, values in traced.delays_of_flow(packets, row["flow"], way=_way(row["label"])).items():
            _same_steps(values, simulated.delays.filter(entity=row["label"], delay=delay))
    for link, values in of_links.items():
        _same_steps(values, simulated.delays.filter(entity=link))


def _same_steps(delays: pl.Series, simulated: pl.DataFrame) -> None:
    found = traced.steps(delays)
    assert found["packets"].sum() == simulated["packets"].sum()
    if not len(delays):
        return
    # The shortest delay need not be that of an empty path: classes differ.
    for share in (0.2, 0.5, 0.99, 1.0):
        first, second = (
            frame.filter(pl.col("packets").cum_sum() >= share * pl.col("packets").sum())["at_most_s"][0]
            for frame in (found, simulated)
        )
        assert first == pytest.approx(second, rel=1 / 32, abs=2 * RESOLVED_S), share


def test_links(run: Run) -> None:
    resolved = tl.loads(BUSY).resolve()
    for row, link in zip(run.links.iter_rows(named=True), resolved["links"], strict=True):
        found = traced.of_link(_packets(run), link, (row["from"], row["to"]), 3.0)
        assert list(found) == list(row)
        for name, value in row.items():
            relative, absolute = (0.008, 8e-9) if name in QUANTILES else (1e-9, 0.0)
            close = pytest.approx(value, rel=relative, abs=absolute) if isinstance(value, float) else value
            assert found[name] == close, name


def test_series(run: Run) -> None:
    resolved = tl.loads(BUSY).resolve()
    times = run.series["time_s"].unique().sort().to_list()
    for link, ends in zip(resolved["links"], (("a", "b"), ("b", "a")), strict=True):
        _same(traced.series_of_link(_packets(run), link, ends, times), run, link["name"])
    for row in run.flows.iter_rows(named=True):
        header = 28 if row["transport"] == "udp" else None
        own = (row["flow"], row["label"], _way(row["label"]))
        found = traced.series_of_flow(_packets(run), *own, times, header_bytes=header)
        _same(found, run, row["label"])


def _same(found: pl.DataFrame, run: Run, entity: str) -> None:
    wanted = run.series.filter(pl.col("entity") == entity)
    for metric in found["metric"].unique():
        ours, theirs = (frame.filter(pl.col("metric") == metric)["value"].to_list() for frame in (found, wanted))
        assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12), (entity, metric)


def test_an_emulated_link_says_how_long_packets_waited(run: Run) -> None:
    unknown = [pl.lit(None, pl.Float64).alias(name) for name in run.links.columns if name.startswith("queueing_delay")]
    found = traced.with_queueing_delays(run.links.with_columns(unknown), _packets(run))
    assert found.columns == run.links.columns
    assert found["queueing_delay_max_s"].to_list() == pytest.approx(run.links["queueing_delay_max_s"].to_list())
    assert found["queueing_delay_p95_s"].null_count() == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"outages.schedule": [{"at": "1 s", "for": "800 ms"}]},
        {"outages": {"schedule": [{"at": "1 s", "for": "800 ms"}], "flush": True}},
        {"outages": {"up": "400 ms", "down": "100 ms"}},
        {"rate": {"schedule": [{"at": "0 s", "rate": "2 Mbit/s"}, {"at": "1.1 s", "rate": "500 kbit/s"}]}},
    ],
)
def test_what_a_link_that_changes_sent_is_a_share_of_what_it_could_have_sent(changes: dict[str, object]) -> None:
    scenario = tl.loads(BUSY).set_all({f"link.wire.{key}": value for key, value in changes.items()})
    run, resolved = tl.simulate(scenario, trace=True), scenario.resolve()
    times = run.series["time_s"].unique().sort().to_list()
    whole = capacities_bps(resolved, interval_s=3.0, intervals=1)
    each = capacities_bps(resolved, interval_s=0.25, intervals=len(times))
    for row, link in zip(run.links.iter_rows(named=True), resolved["links"], strict=True):
        ends, name = (row["from"], row["to"]), row["link"]
        if name not in whole:
            continue
        found = traced.of_link(_packets(run), link, ends, 3.0, capacity_bps=whole[name][0])
        # Of the packet that is on the line in the end nobody knows how much was sent.
        packet = 8 * 1538 / 3.0 / whole[name][0]
        assert found["utilization"] == pytest.approx(row["utilization"], abs=packet)
        series = traced.series_of_link(_packets(run), link, ends, times, each[name])
        for metric in ("utilization", "capacity_bps"):
            ours, theirs = (
                frame.filter((pl.col("entity") == name) & (pl.col("metric") == metric))["value"].to_list()
                for frame in (series, run.series)
            )
            assert ours == pytest.approx(theirs, rel=1e-9, abs=12 * packet), metric


def test_a_ring_drops_what_never_comes_to_the_link() -> None:
    text = """
duration = "1 s"
link.near = { ends = ["a", "x"], rate = "100 Mbit/s" }
link.wire = { ends = ["x", "b"], rate = "2 Mbit/s", delay = "10 ms" }
node.x.processor = { per_packet = "1 ms", input_ring = "5 packets", output_ring = "10 packets" }
traffic.voice = { kind = "cbr", from = "a", to = "b", interval = "0.7 ms", udp.datagram = "500 B" }
"""
    run = tl.simulate(tl.loads(text), trace=True)
    flow = run.flows.row(0, named=True)
    # The trace of a relay has nothing of the link before the processor but what its ring drops, under the other link.
    near = (pl.col("from") == "a") & (pl.col("event") != "d")
    packets = _packets(run).filter(~near).with_columns(pl.lit("x").alias("from"), pl.lit("b").alias("to"))
    found = traced.of_flow(packets, 0, way=[("x", "b")])
    assert 100 < found["packets_dropped"] == flow["packets_dropped"]
    # What waits in the ring at the end has not come to the link yet.
    assert found["packets_sent"] == pytest.approx(flow["packets_sent"], abs=6)
    row = run.links.filter(link="wire").row(0, named=True)
    link = next(link for link in tl.loads(text).resolve()["links"] if link["name"] == "wire")
    assert traced.of_link(packets, link, ("x", "b"), 1.0)["packets_dropped"] == row["packets_dropped"]


@pytest.mark.parametrize(("delay", "limit"), [("10 ms", "network"), ("100 ms", "receiver_window")])
def test_a_full_path_is_told_from_a_small_window(delay: str, limit: str) -> None:
    """As the simulator tells them: a window of 20 packets fills the path of 10 ms, and leaves that of 100 ms idle."""
    text = f"""
profile = "linux"
duration = "3 s"
link.wire = {{ ends = ["a", "b"], rate = "2 Mbit/s", delay = "{delay}", queue = "30 packets" }}
traffic.ftp = {{ kind = "bulk", from = "a", to = "b", tcp = {{ congestion = "reno", payload = "1000 B", window = "20 packets" }} }}
"""
    run = tl.simulate(tl.loads(text), trace=True)
    (link, _) = tl.loads(text).resolve()["links"]
    flow = run.flows.row(0, named=True)
    trip_s = flow["rtt_mean_s"]
    full = traced.full_share(run.packets, [(link, ("a", "b"))], round_trip_s=trip_s, start_s=0.0, stop_s=3.0)
    at_window = flow["limited_by_network"] + flow["limited_by_receiver_window"]
    assert flow[f"limited_by_{limit}"] > 0.8
    assert at_window * full == pytest.approx(flow["limited_by_network"], abs=0.06)


@pytest.mark.parametrize("flush", [True, False])
def test_a_link_that_is_down_is_not_full(flush: bool) -> None:  # noqa: FBT001  # it is a parameter
    """What comes meanwhile is lost or waits, and a timer is awaited beyond the end of the outage."""
    outage = {"schedule": [{"at": "2 s", "for": "2 s"}], "flush": flush}
    text = """
profile = "linux"
duration = "10 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "40 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
"""
    scenario = tl.loads(text).set("link.wire.outages", outage)
    run = tl.simulate(scenario, trace=True)
    (link, _) = scenario.resolve()["links"]
    flow = run.flows.row(0, named=True)
    whole = {"round_trip_s": flow["rtt_mean_s"], "start_s": 0.0, "stop_s": 10.0}
    full = traced.full_share(run.packets, [(link, ("a", "b"))], **whole)
    assert full == pytest.approx(flow["limited_by_network"], abs=0.05)
    assert full < 0.8


def test_time_is_that_of_the_scenario(run: Run) -> None:
    early = run.packets.with_columns(pl.col("time_s") + 5)
    found = traced.in_time(early, {0: 2}, shift_s=-5.0, duration_s=1.0)
    assert 0 <= found["time_s"].min() <= found["time_s"].max() < 1  # type: ignore[operator]
    assert set(found["flow"].unique()) == {2, None}
    first = run.packets.filter((pl.col("flow") == 0) & (pl.col("event") == "+"))["time_s"].min()
    assert traced.first_s(found, 2, way=[("a", "b")]) == pytest.approx(first)


def test_samples_are_held_until_the_next() -> None:
    found = traced.sampled([0.1, 0.3], [1, 2], "cwnd_packets", "ftp", [0.05, 0.1, 0.2, 0.4])
    assert found["time_s"].to_list() == [0.1, 0.2, 0.4]
    assert found["value"].to_list() == [1, 1, 2]


def test_nothing_is_a_table_too() -> None:
    link = tl.loads(BUSY).resolve()["links"][0]
    empty = tl.simulate(tl.loads(BUSY), trace=True).packets.clear()
    row = traced.of_link(empty, link, ("a", "b"), 3.0)
    assert (row["packets_in"], row["utilization"], row["queue_max_packets"]) == (0, 0, 0)
    assert traced.of_flow(empty, 0, way=[("a", "b")])["one_way_delay_mean_s"] is None
    assert traced.first_s(empty, 0, way=[("a", "b")]) is None
