"""Loss synchronization, held against tables and runs of which the answer is known."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tightlink as tl
from tightlink import cli
from tightlink.analysis.traffic.congestion_events import hits
from tightlink.analysis.traffic.losses import of_packets, of_run
from tightlink.analysis.traffic.random_drops import missed, variance
from tightlink.analysis.traffic.synchronization import LEVEL, of_places
from tightlink.analysis.traffic.window_correlation import windows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tightlink.run import Run

#: Flow, time, and whether the packet was dropped; a round trip is 0.1 s. The packet of b at 2 s is in no event.
BY_HAND = [
    ("a", 0.95, False), ("c", 0.97, False), ("a", 1.00, True), ("b", 1.08, True),
    ("b", 2.00, False),
    ("b", 3.00, False), ("a", 3.02, True),
    ("a", 9.00, True),
]  # fmt: skip


def table(rows: list[tuple[str, float, bool]]) -> pl.DataFrame:
    events = [(event, time, flow) for flow, time, dropped in rows for event in ("+", "d")[: 1 + dropped]]
    return pl.DataFrame(events, ["event", "time_s", "flow"], orient="row").with_columns(marked=False)


def random_drops(rng: np.random.Generator, events: int) -> pl.DataFrame:
    """Packets of eight flows, some of them dropped at random, once a second: column by column, as there are many."""
    flows, dropped = [], []
    for _ in range(events):
        flows.append(np.repeat(np.arange(8), rng.integers(1, 20, size=8)))
        dropped.append(np.zeros(len(flows[-1]), dtype=bool))
        dropped[-1][rng.choice(len(flows[-1]), size=rng.integers(1, 12), replace=False)] = True
    offered = pl.DataFrame(
        {
            "event": pl.repeat("+", sum(map(len, flows)), eager=True),
            "time_s": np.repeat(np.arange(events, dtype=float), [*map(len, flows)]),
            "flow": pl.Series(list("abcdefgh"))[np.concatenate(flows)],
        }
    )
    lost = offered.filter(pl.Series(np.concatenate(dropped)))
    return pl.concat([offered, lost.with_columns(event=pl.lit("d"))])


def dumbbell(queue: str, flows: int = 4, rate: str = "10 Mbit/s", **changes: Any) -> Run:
    scenario = tl.loads(f"""
        duration = "120 s"
        topology.net = {{ kind = "dumbbell", pairs = {flows}, bottleneck = {{ rate = "{rate}", delay = "48 ms", queue = {queue} }}, access = {{ rate = "100 Mbit/s", delay = "1 ms" }} }}
        observe.interval = "100 ms"
        [traffic.tcp]
        kind = "bulk"
        from = "net.left[*]"
        to = "net.right[*]"
        flows = {flows}
        start = {{ every = "0.1 s" }}
        tcp = {{ congestion = "reno", processing_delay = "0.2 ms" }}
    """)
    return tl.simulate(scenario.set_all(changes), trace=True)


@pytest.fixture(scope="module")
def drop_tail() -> Run:
    return dumbbell('"1 BDP"')


@pytest.fixture(scope="module")
def shorter() -> Run:
    """The same with a few congestion events, where nothing is asked of their mean."""
    return dumbbell('"1 BDP"', duration="40 s")


def test_a_table_by_hand() -> None:
    found = of_places(of_packets(table(BY_HAND)), round_trip_s=0.1)["link"]
    # The third event has one flow, which could only lose alone. Of the first, two of the packets a, a, b and c are
    # dropped: a is missed by the one pair b, c of six, b and c by three each. So two flows are hit in five cases of
    # six, and one in the other. Of the second, one of two packets is: one flow in any case.
    assert found.events.to_dicts() == [
        {"begin_s": 1.0, "end_s": 1.08, "packets_dropped": 2, "packets_marked": 0, "flows_active": 3, "flows_lost": 2,
         "share": pytest.approx(2 / 3), "by_chance": pytest.approx(11 / 18)},
        {"begin_s": 3.02, "end_s": 3.02, "packets_dropped": 1, "packets_marked": 0, "flows_active": 2, "flows_lost": 1,
         "share": 0.5, "by_chance": pytest.approx(0.5)},
    ]  # fmt: skip
    assert found.rate.value == pytest.approx(7 / 12)
    # Student's t of one degree of freedom is 12.7, and the standard error 1/12: the interval ends where shares do.
    assert (found.rate.low, found.rate.high) == (0.0, 1.0)
    assert found.by_chance == pytest.approx(5 / 9)
    # Either of the two cases is at least as far from the mean.
    assert found.p == 1
    flows = found.flows.select("flow", "packets", "packets_dropped", "events", "events_lost", "share").rows()
    assert flows == [("a", 3, 2, 2, 2, 1.0), ("b", 2, 1, 2, 1, 0.5), ("c", 1, 0, 1, 0, 0.0)]
    assert found.flows["by_chance"].to_list() == pytest.approx([(5 / 6 + 1 / 2) / 2, 1 / 2, 1 / 2])
    assert found.losses.rows() == [(1.0, "a"), (1.0, "b"), (3.02, "a")]
    assert found.time_in_events == pytest.approx(0.08 / (9 - 0.95))
    assert not found.synchronized
    assert found.sentence() == (
        "in 2 congestion events 58 % (0 to 100 %) of the active flows lost packets on average, 56 % by chance: "
        "chance can explain it (p = 1)"
    )


def test_many_events_by_hand() -> None:
    """Of two flows with two packets each, two drops hit both in four draws of six, here in each of forty events."""
    rows = [
        (flow, event + tick / 10, tick > 1) for event in range(40) for tick in (0, 1, 2, 3) for flow in ["ab"[tick % 2]]
    ]
    found = of_places(of_packets(table(rows)), round_trip_s=0.5)["link"]
    assert found.rate.value == 1
    assert found.by_chance == pytest.approx(5 / 6)
    # A share is one half or one, and its variance by chance 2/6 · 4/6 / 4.
    assert found.p == pytest.approx(2 * stats.norm.sf((1 - 5 / 6) / math.sqrt(1 / 18 / 40)))
    assert found.synchronized
    few = of_places(of_packets(table(rows[:24])), round_trip_s=0.5)["link"]
    assert few.p == pytest.approx(sum(stats.binom.pmf([0, 1, 2, 6], 6, 4 / 6)), abs=0.04)
    apart = of_places(of_packets(table(rows)), round_trip_s=1.0)["link"]
    assert (apart.events.height, apart.synchronized) == (1, False)
    assert apart.time_in_events == pytest.approx(39.1 / 39.3)
    assert apart.sentence().endswith("events take 99 % of the time, and are hardly told apart")
    # A single event is one where packets come before and after it.
    one = of_places(of_packets(table(rows[:12])), round_trip_s=0.5, begin_s=1.0, end_s=2.0)["link"]
    assert (one.events.height, one.apart) == (1, True)


def test_drops_a_round_trip_apart_are_one_event() -> None:
    rows = [(flow, time, True) for time, flow in ((1.0, "a"), (1.5, "b"), (2.0, "a"), (2.75, "b"))]
    ends = {trip: hits(frame.filter(event="+"), frame.filter(event="d"), trip)["end_s"].unique().sort().to_list()
            for frame in [table(rows)] for trip in (0.25, 0.5, 0.75)}  # fmt: skip
    assert ends == {0.25: [1.0, 1.5, 2.0, 2.75], 0.5: [2.0, 2.75], 0.75: [2.75]}


def test_what_waited_for_longer_than_a_round_trip_before_its_drop_counts_as_a_packet() -> None:
    """CoDel drops what leaves, which came long before."""
    frame = pl.DataFrame(
        [("+", 0.0, "a"), ("+", 0.0, "a"), ("+", 1.0, "b"), ("d", 1.0, "a"), ("d", 1.0, "a")],
        ["event", "time_s", "flow"], orient="row",
    ).with_columns(marked=False)  # fmt: skip
    hit = hits(frame.filter(event="+"), frame.filter(event="d"), 0.1)
    assert hit.select("flow", "packets", "packets_dropped").rows() == [("a", 2, 2), ("b", 1, 0)]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_random_drops_are_those_of_all_draws(packets: list[int], data: st.DataObject) -> None:
    total = sum(packets)
    drops = data.draw(st.integers(1, min(total, 6)))
    owners = [flow for flow, count in enumerate(packets) for _ in range(count)]
    drawn = [{owners[place] for place in places} for places in itertools.combinations(range(total), drops)]
    exact = [sum(flow not in hit for hit in drawn) / len(drawn) for flow in range(len(packets))]
    counts = np.array(packets)
    assert missed(counts, drops).tolist() == pytest.approx(exact, abs=1e-12)
    assert variance(counts, drops) == pytest.approx(np.var([len(hit) for hit in drawn]), abs=1e-9)


PACKETS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.integers(0, 200).map(lambda tick: tick / 8), st.booleans()), min_size=1
)


@settings(deadline=None)
@given(PACKETS, st.sampled_from([0.125, 0.5, 2.0]))
def test_events_hold_each_drop_once(rows: list[tuple[str, float, bool]], trip: float) -> None:
    frame = table(rows)
    offered, lost = frame.filter(event="+"), frame.filter(event="d")
    hit = hits(offered, lost, trip)
    assert hit["packets_dropped"].sum() == lost.height
    assert hit["packets"].sum() <= offered.height
    assert (hit["packets_dropped"] <= hit["packets"]).all()
    assert hit.equals(hits(offered.reverse(), lost.reverse(), trip))
    bounds = hit.unique("event").sort("event")
    # Events are further apart than a round trip, and within each one nothing is.
    assert (bounds["begin_s"].shift(-1) - bounds["end_s"]).drop_nulls().to_numpy().min(initial=math.inf) > trip
    for begin, end in bounds.select("begin_s", "end_s").rows():
        times = lost.filter(pl.col("time_s").is_between(begin, end))["time_s"].sort()
        assert times.diff().drop_nulls().to_numpy().max(initial=0) <= trip
        active = offered.filter(pl.col("time_s").is_between(begin - trip, end))["flow"].unique().sort().to_list()
        assert hit.filter(begin_s=begin)["flow"].to_list() == active


@pytest.mark.parametrize("events", [3, 10, 40])
def test_random_drops_are_not_called_synchronized(events: int) -> None:
    """Of as many series as the level says, and not fewer by much: few events are normal enough."""
    rng, series, level = np.random.default_rng(4), 400, 0.05
    below = {LEVEL: 0, level: 0}
    for _ in range(series):
        p = of_places(of_packets(random_drops(rng, events)), round_trip_s=0.5)["link"].p
        below = {limit: count + (p <= limit) for limit, count in below.items()}
    for limit, count in below.items():
        assert stats.binom.cdf(count, series, limit) > 0.001
        assert stats.binom.sf(count - 1, series, limit) > 0.001


def test_drop_tail_synchronizes_and_turns_of_flows_do_not(drop_tail: Run) -> None:
    queues = {"red": '{ kind = "red", limit = "1 BDP" }', "fq-codel": '{ kind = "fq-codel", limit = "1000 packets" }'}
    runs = {"drop-tail": drop_tail} | {name: dumbbell(queue) for name, queue in queues.items()}
    found = {name: tl.analyze.synchronization(run, begin_s=20) for name, run in runs.items()}
    assert {name: list(each) for name, each in found.items()} == {name: ["net.bottleneck"] for name in runs}
    tail, red, fair = (found[name]["net.bottleneck"] for name in runs)
    # Each flow of Reno sends one packet more in each round trip: where these do not fit, it loses one of them.
    assert tail.synchronized
    assert tail.rate.low > tail.by_chance
    assert tail.rate.value > 0.75
    # RED drops at random, which is the hypothesis, and hardly more than a packet in a round trip.
    assert red.p > LEVEL
    assert red.rate.value < 0.35
    # With turns the losses of a flow are those of the flow's queue.
    assert fair.desynchronized
    assert fair.rate.high < fair.by_chance
    assert fair.rate.high < tail.rate.low


def test_drops_are_those_of_the_link(shorter: Run) -> None:
    found = tl.analyze.synchronization(shorter)["net.bottleneck"]
    assert found.events["packets_dropped"].sum() == shorter.flows["packets_dropped"].sum()
    assert dict(found.flows.select("flow", "packets_dropped").rows()) == dict(
        shorter.flows.select("label", "packets_dropped").rows()
    )
    assert found.round_trip_s == shorter.flows["rtt_mean_s"].median()


def test_windows_of_two_flows_in_step_and_of_many_that_are_not() -> None:
    """Appenzeller, Keslassy and McKeown 2004: the sum of many windows varies as if they were independent."""
    two = tl.analyze.synchronization(dumbbell('"1 BDP"', flows=2), begin_s=20)["net.bottleneck"]
    assert two.rate.value > 0.95
    assert two.windows is not None
    assert two.windows.correlation > 0.8
    assert two.windows.variation > 0.9 * two.windows.in_step
    spread = {f"link.access{place}": tl.Link(ends=(f"s{place}", "left"), rate="100 Mbit/s", delay=f"{1 + 2 * place} ms")
              for place in range(40)}  # fmt: skip
    many = tl.Scenario(
        duration="60 s",
        link={name.partition(".")[2]: link for name, link in spread.items()}
        | {"wire": tl.Link(ends=("left", "right"), rate="60 Mbit/s", delay="10 ms", queue="1 BDP")},
        traffic={f"t{place}": tl.Bulk(from_=f"s{place}", to="right", start=f"{place * 53} ms", tcp=tl.Tcp(congestion="reno"))
                 for place in range(40)},
        observe=tl.Observe(interval="100 ms"),
    )  # fmt: skip
    found = tl.analyze.synchronization(tl.simulate(many, trace=True), begin_s=15)["wire"]
    assert found.windows is not None
    assert found.windows.flows == 40
    assert abs(found.windows.correlation) < 0.05
    assert found.windows.variation < 0.4 * found.windows.in_step
    # With spread round trips an event hits fewer flows than random drops would.
    assert found.desynchronized
    assert found.rate.high < two.rate.value / 2


def test_windows_by_hand() -> None:
    def series(values: dict[str, list[float]]) -> pl.DataFrame:
        return pl.DataFrame(
            [(float(time), flow, "cwnd_packets", value) for flow, those in values.items() for time, value in enumerate(those)],
            ["time_s", "entity", "metric", "value"], orient="row",
        )  # fmt: skip

    up, down = [1.0, 3.0] * 6, [5.0, 3.0] * 6
    against = windows(series({"a": up, "b": down, "still": [4.0] * 12}), ["a", "b", "still", "gone"])
    assert against is not None
    assert (against.flows, against.samples, against.correlation, against.variation) == (2, 12, -1.0, 0.0)
    assert against.independent == pytest.approx(math.sqrt(2) / 6)
    assert against.in_step == pytest.approx(2 / 6)
    together = windows(series({"a": up, "b": [2 * value for value in up]}), ["a", "b"], begin_s=1, end_s=10)
    assert together is not None
    assert (together.samples, together.correlation) == (10, 1.0)
    assert together.variation == pytest.approx(3 / 6)
    assert windows(series({"a": up, "b": down}), ["a"]) is None
    assert windows(series({"a": up[:9], "b": down}), ["a", "b"]) is None


def test_a_capture_has_retransmissions_in_place_of_drops(tmp_path: Path) -> None:
    scenario = tl.loads("""
        duration = "60 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "48 ms", queue = "1 BDP" }
        traffic.bulk = { kind = "bulk", from = "a", to = "b", flows = 4, tcp.congestion = "reno" }
    """)
    run = tl.simulate(scenario, trace=True, pcap=tmp_path / "run.pcap")
    traced = tl.analyze.synchronization(run, begin_s=10)["wire"]
    captured = tl.analyze.synchronization(tl.capture(tmp_path / "run.pcap", packets=True), begin_s=10)
    assert list(captured) == ["from 10.0.0.1"]
    found = captured["from 10.0.0.1"]
    assert found.rate.value == pytest.approx(traced.rate.value, abs=0.15)
    assert found.events.height == pytest.approx(traced.events.height, rel=0.2)
    # What flows retransmit in a round trip is not drawn at random.
    assert math.isnan(found.p)
    assert "by chance" not in found.sentence()
    assert "of the active flows retransmitted packets on average" in found.sentence()
    assert found.counted().startswith(
        "retransmissions, which stand for drops, that follow each other within a round trip, "
    )


def test_what_a_wire_loses_and_datagrams_are_no_congestion_of_tcp() -> None:
    run = tl.simulate(tl.loads("""
        duration = "10 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets", loss = "1 %" }
        traffic.bulk = { kind = "bulk", from = "a", to = "b", flows = 2 }
        traffic.call = { kind = "cbr", from = "a", to = "b", interval = "2 ms" }
    """), trace=True)  # fmt: skip
    (place,) = [place for place in of_run(run) if place.lost.height]
    reasons = run.packets.filter(pl.col("event") == "d", pl.col("type") == "tcp")["reason"]
    assert {"wire", "queue"} == set(reasons)
    assert place.lost.height == (reasons != "wire").sum()
    assert {place.label(flow) for flow in place.offered["flow"].unique()} == {"bulk[0]", "bulk[1]"}


def test_marks_are_in_events_beside_drops() -> None:
    run = tl.simulate(tl.loads("""
        duration = "20 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "codel", limit = "1000 packets", ecn = true } }
        traffic.says = { kind = "bulk", from = "a", to = "b", flows = 2, tcp.ecn = true }
        traffic.lacks = { kind = "bulk", from = "a", to = "b", flows = 2, tcp.ecn = false }
    """), trace=True)  # fmt: skip
    marked = run.links.filter(link="wire")["packets_marked"].item()
    (place,) = [place for place in of_run(run) if place.lost.height]
    of_flow = place.lost.filter("marked").group_by("flow").len().sort("flow")
    assert of_flow.rows() == run.flows.filter(pl.col("packets_marked") > 0).select("flow", "packets_marked").rows()
    assert (place.lost.filter("marked").height, place.untold) == (marked, 0)
    found = tl.analyze.synchronization(run)["wire"]
    assert found.events["packets_dropped"].sum() == run.flows["packets_dropped"].sum()
    by_label = dict(found.flows.select("flow", "packets_marked").rows())
    assert all((count > 0) == label.startswith("says") for label, count in by_label.items())
    assert "lost packets or had some marked" in found.sentence()
    assert found.counted().startswith("drops and marks that follow each other within a round trip")


def test_marks_of_queues_that_do_not_drop_are_events() -> None:
    run = tl.simulate(tl.loads("""
        duration = "20 s"
        link.first = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = { kind = "codel", limit = "1000 packets", ecn = true } }
        link.second = { ends = ["b", "c"], rate = "12 Mbit/s", delay = "10 ms", queue = { kind = "red", limit = "1000 packets", ecn = true } }
        traffic.bulk = { kind = "bulk", from = "a", to = "c", flows = 2, tcp.ecn = true }
    """), trace=True)  # fmt: skip
    places = {place.name: place for place in of_run(run)}
    marks = run.links.filter(link="first")["packets_marked"].item()
    assert places["first"].lost.filter("marked").height == marks > 0
    # What the first marked is marked at the second, too, which did not mark it.
    assert places["second"].lost.filter("marked").height == run.links.filter(link="second")["packets_marked"].item()
    found = tl.analyze.synchronization(run)["first"]
    assert " of the active flows had packets marked on average" in found.sentence()


def test_marks_of_which_a_trace_does_not_tell_whose_are_in_no_event() -> None:
    flows = {("a", "b"): ("wire", 7)}
    (place,) = of_packets(table(BY_HAND).with_columns(pl.lit("a").alias("from"), pl.lit("b").alias("to")), links=flows)
    (found,) = of_places([place], round_trip_s=0.1).values()
    assert found.untold == 7
    assert found.counted().endswith(
        "; 7 packets that the queue marked do not count, as a trace does not tell whose they are"
    )


def test_flows_have_their_labels_where_rows_of_flows_are_not_groups() -> None:
    scenario = tl.loads("""
        duration = "20 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets" }
        traffic.web = { kind = "transfers", from = "a", to = "b", load = "20 %", of = "wire", size = { distribution = "pareto", mean = "60 kB" } }
        traffic.bulk = { kind = "bulk", from = "a", to = "b", flows = 2 }
        observe.interval = "100 ms"
    """)
    run = tl.simulate(scenario, trace=True)
    found = tl.analyze.synchronization(run)["wire"]
    assert found.flows["flow"].to_list()[:3] == ["bulk[0]", "bulk[1]", "flow 2"]
    assert found.windows is not None
    assert found.windows.flows == 2
    group = tl.simulate(scenario.set("observe.flows", "group"), trace=True)
    same = tl.analyze.synchronization(group, round_trip_s=found.round_trip_s)["wire"]
    assert same.flows["flow"].to_list()[:3] == ["flow 0", "flow 1", "flow 2"]
    assert same.rate == found.rate
    assert tl.analyze.synchronization(group)["wire"].round_trip_s == group.flows["rtt_mean_s"].median()


def test_the_command(
    shorter: Run, tmp_path: Path, said: Callable[..., tuple[int, str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    shorter.save(tmp_path / "run")
    run = str(tmp_path / "run")
    figure = tmp_path / "losses.png"
    code, out, _ = said("analyze", "synchronization", run, "--begin", "20 s", "-o", str(figure))
    found = tl.analyze.synchronization(shorter, begin_s=20)["net.bottleneck"]
    assert code == 0
    assert found.windows is not None
    lines = out.splitlines()
    assert lines[:3] == [
        f"net.bottleneck: {text}" for text in (found.sentence(), found.counted(), found.windows.sentence())
    ]
    assert found.counted().endswith(" ms (the median of the flows' means), are one event")
    assert [line.split()[0] for line in lines[4:]] == ["flow", "tcp[0]", "tcp[1]", "tcp[2]", "tcp[3]"]
    assert figure.stat().st_size > 10_000
    assert cli.main(["analyze", "synchronization", run, "--begin", "20 s", "--round-trip", "0.2 s", "--json"]) == 0
    as_json = json.loads(capsys.readouterr().out)
    (row,) = as_json["links"]
    given = tl.analyze.synchronization(shorter, round_trip_s=0.2, begin_s=20)["net.bottleneck"]
    assert (row["link"], row["round_trip_s"], row["round_trip_given"]) == ("net.bottleneck", 0.2, True)
    assert (row["finding"], row["rate"]["value"]) == (given.sentence(), given.rate.value)
    tables = {"flows": given.flows, "events": given.events, "losses": given.losses}
    assert {name: len(as_json[name]) for name in tables} == {name: each.height for name, each in tables.items()}
    assert {each["link"] for name in tables for each in as_json[name]} == {"net.bottleneck"}
    table(BY_HAND).write_csv(tmp_path / "drops.csv")
    code, out, _ = said("analyze", "synchronization", str(tmp_path / "drops.csv"), "--round-trip", "100 ms")
    assert (code, out.splitlines()[1]) == (
        0,
        "link: drops that follow each other within a round trip, 100 ms (as given), are one event",
    )


def test_what_has_no_answer(shorter: Run, tmp_path: Path, said: Callable[..., tuple[int, str, str]]) -> None:
    one = """
        duration = "5 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets" }
        traffic.bulk = { kind = "bulk", from = "a", to = "b", flows = 1 }
    """
    scenarios = {
        "one": tl.loads(one),
        "lossless": tl.loads(one).set("link.wire.queue", "1000000 packets"),
    }
    for name, scenario in scenarios.items():
        tl.simulate(scenario, trace=True).save(tmp_path / name)
    tl.simulate(scenarios["one"]).save(tmp_path / "untraced")
    shorter.save(tmp_path / "run")
    table(BY_HAND).write_csv(tmp_path / "drops.csv")
    (tmp_path / "other.csv").write_text("time_s,flow\n1,2\n")
    (tmp_path / "words.csv").write_text("event,time_s,flow\n+,soon,2\nd,1,2\n")
    (tmp_path / "numbers.csv").write_text("event,time_s,flow\n1,1,2\n2,1,2\n")
    wrong = {
        ("untraced",): "this run has no table packets: ",
        ("one",): "only one flow is active in each congestion event: expected two or more that share a link",
        ("lossless",): "no packet of TCP was dropped or marked at any link in that time: expected a run with drops",
        ("run", "--link", "net.botleneck"): "no packets of TCP at a link net.botleneck: expected one of ",
        ("run", "--link", "net.bottleneck.reverse"): "no packets of TCP at a link net.bottleneck.reverse: expected one of",
        ("run", "--begin", "50 s"): "no packet of TCP was dropped or marked at any link in that time: expected a run with drops",
        ("run", "--round-trip", "0 s"): "--round-trip",
        ("drops.csv",): "link: no round-trip time of its flows is known: expected one, as --round-trip or round_trip_s",
        ("words.csv",): 'words.csv: line 2: time_s = "soon": expected a number',
        ("numbers.csv",): "no packet of TCP was dropped or marked at any link in that time",
        ("other.csv",): "no column event: expected event, time_s and flow, and has one of time_s, flow",
    }  # fmt: skip
    for (name, *words), expected in wrong.items():
        code, out, err = said("analyze", "synchronization", str(tmp_path / name), *words)
        assert (code, out) == (2, "")
        assert expected in err
        assert err.count("\n") == 1
        assert err.count(f"/{name}: ") == (words[:1] != ["--round-trip"])
    with pytest.raises(tl.TightlinkError, match="time_s: expected a number in each row"):
        of_packets(pl.read_csv(tmp_path / "words.csv"))
    with pytest.raises(tl.TightlinkError, match=r"round_trip_s = -1: expected a number above zero"):
        tl.analyze.synchronization(shorter, round_trip_s=-1)
