"""Relations that hold between runs of random scenarios, whatever the right result is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Powers of two, by which times and rates are scaled without rounding.
_SPEEDS = (1.0, 2.0)


def _time(seconds: float, speed: float) -> str:
    return f"{seconds / speed:.20f} s"


def _rate(bps: float, speed: float) -> str:
    return f"{bps * speed:.0f} bit/s"


#: Times are multiples of 2^-15 s, of which parts down to 2^-20 s are written in full.
_delays = st.integers(1, 1000).map(lambda steps: steps / 2**15)
_rates = st.integers(200_000, 20_000_000)
#: Queues that know no time but that of packets.
_scaling = st.one_of(
    st.integers(3, 60).map(lambda limit: lambda _: f"{limit} packets"),
    st.integers(4, 60).map(lambda limit: lambda _: {"kind": "drr", "limit": f"{limit} packets"}),
)
#: The clock of CoDel ticks each 1024 ns, as Linux's.
_codel = _delays.map(
    lambda target: lambda speed: {"kind": "codel", "target": _time(target, speed), "interval": _time(target * 8, speed)}
)
_losses = st.sampled_from([0, 0.02, {"kind": "gilbert-elliott", "to_bad": 0.01, "to_good": 0.3}])


@st.composite
def _links(draw: st.DrawFn, queues: st.SearchStrategy[Any]) -> Any:
    rate, delay, queue, loss = draw(_rates), draw(_delays), draw(queues), draw(_losses)
    changes, at = draw(st.sampled_from(["nothing", "nothing", "rate", "outage", "flush"])), draw(_delays) * 16

    def link(speed: float) -> dict[str, Any]:
        made: dict[str, Any] = {"rate": _rate(rate, speed)}
        if changes == "rate":
            slower = {"at": _time(at, speed), "rate": _rate(rate // 5, speed)}
            made = {"rate": {"schedule": [{"at": "0 s", "rate": _rate(rate, speed)}, slower]}}
        elif changes != "nothing":
            down = {"at": _time(at, speed), "for": _time(at / 2, speed)}
            made["outages"] = {"schedule": [down], "flush": changes == "flush"}
        return made | {"delay": _time(delay, speed), "queue": queue(speed), "loss": loss}

    return link


@st.composite
def _flows(draw: st.DrawFn) -> Any:
    kind = draw(st.sampled_from(["bulk", "bulk", "cbr", "on-off"]))
    ends = draw(st.sampled_from([("a", "c"), ("c", "a"), ("a", "b"), ("b", "c")]))
    start, interval = draw(_delays) * 4, draw(_delays) / 2 + 2**-10
    recovery = draw(st.sampled_from(["reno", "newreno", "sack"]))
    control = draw(st.sampled_from(["reno", "bic", "scalable", "illinois", "dctcp"]))

    def flow(speed: float) -> dict[str, Any]:
        # What is a constant in RFC 6298 and RFC 5681 has to be scaled, too.
        tcp = {
            "congestion": control,
            "recovery": recovery,
            "rto": {
                name: _time(seconds, speed)
                for name, seconds in [("initial", 1), ("min", 0.25), ("granularity", 2**-10)]
            },
            "delayed_ack_timeout": _time(0.125, speed),
            "delayed_acks": True,
        }
        spans: dict[str, Any] = {"interval": _time(interval, speed)} if kind != "bulk" else {"tcp": tcp}
        if kind == "on-off":
            spans |= {"on": _time(interval * 16, speed), "off": _time(interval * 8, speed)}
        return {"kind": kind, "from": ends[0], "to": ends[1], "start": _time(start, speed)} | spans

    return flow


@st.composite
def networks(draw: st.DrawFn, queues: st.SearchStrategy[Any] = _scaling | _codel) -> Any:
    """Two links in a row, with up to three flows over both or one of them; a function of how many times as fast it is."""
    first, second = draw(_links(queues)), draw(_links(queues))
    flows = draw(st.lists(_flows(), min_size=1, max_size=3))
    profile, seed = draw(st.sampled_from(["rfc", "ns2"])), draw(st.integers(1, 1000))

    def network(speed: float = 1.0, duration: float = 1.0) -> dict[str, Any]:
        return {
            "profile": profile,
            "duration": _time(duration, speed),
            "seed": seed,
            "link": {"first": {"ends": ["a", "b"]} | first(speed), "second": {"ends": ["b", "c"]} | second(speed)},
            "traffic": {f"t{number}": flow(speed) for number, flow in enumerate(flows)},
        }

    return network


def run(scenario: Mapping[str, Any], **options: Any) -> tl.Run:
    return tl.simulate(tl.Scenario.from_dict(dict(scenario)), threads=1, **options)


cases = settings(max_examples=12, deadline=None)


@given(networks(_scaling))
@cases
def test_a_network_twice_as_fast_does_the_same_in_half_the_time(network: Any) -> None:
    slow, fast = (run(network(speed), trace=True).packets for speed in _SPEEDS)
    assert slow.with_columns(pl.col("time_s") / 2).equals(fast)


@given(networks())
@cases
def test_who_looks_changes_nothing(network: Any) -> None:
    unseen = run(network())
    seen = run(network() | {"observe": {"interval": "70 ms", "transport": True, "delays": True}}, trace=True)
    for table in ("flows", "links", "nodes"):
        assert unseen.table(table).equals(seen.table(table)), table
    assert unseen.manifest["random_draws"] == seen.manifest["random_draws"]


@given(networks())
@cases
def test_samples_count_what_the_trace_has(network: Any) -> None:
    found = run(network() | {"observe": {"interval": "70 ms"}}, trace=True)
    drops = found.packets.filter(event="d")
    for link, begin, end in found.links.select("link", "from", "to").iter_rows():
        sampled = found.series.filter(entity=link, metric="packets_dropped").sort("time_s")
        times = drops.filter(pl.col("from") == begin, pl.col("to") == end)["time_s"]
        so_far = [times.filter(times < at_s).len() for at_s in sampled["time_s"]]
        assert sampled["value"].cum_sum().to_list() == so_far, link


@given(networks())
@cases
def test_a_longer_run_begins_with_the_shorter_one(network: Any) -> None:
    observed = {"observe": {"interval": "70 ms"}}
    short, long = run(network() | observed, trace=True), run(network(duration=1.5) | observed, trace=True)
    assert short.packets.equals(long.packets.filter(pl.col("time_s") < 1))
    assert short.series.equals(long.series.filter(pl.col("time_s") < 1))


@given(networks())
@cases
def test_what_happens_elsewhere_changes_nothing(network: Any) -> None:
    alone, more = network(), network()
    more["link"]["elsewhere"] = {"ends": ["x", "y"], "rate": "1 Mbit/s", "loss": 0.1}
    more["link"]["unused"] = {"ends": ["c", "z"], "rate": "1 Mbit/s"}
    more["traffic"]["elsewhere"] = {"kind": "cbr", "from": "x", "to": "y", "interval": "5 ms"}
    beside = run(more)
    for table in ("flows", "links"):
        before = run(alone).table(table)
        assert before.equals(beside.table(table).head(before.height)), table


@given(networks())
@cases
def test_delays_of_flows_are_those_of_their_packets(network: Any) -> None:
    found = run(network(), trace=True)
    packets = found.packets.filter(pl.col("type") != "ack")
    for flow, begin, end, mean_s, most_s in found.flows.select(
        "flow", "from", "to", "one_way_delay_mean_s", "one_way_delay_max_s"
    ).iter_rows():
        its = packets.filter(pl.col("flow") == flow)
        sent = its.filter(pl.col("event") == "+", pl.col("from") == begin).group_by("uid").agg(pl.col("time_s").min())
        # No SYN, nor the ACK that completes the handshake.
        data = its.filter(pl.col("event") == "r", pl.col("to") == end).filter(
            (pl.col("type") != "tcp") | (pl.col("seq") > 0)
        )
        arrived = data.join(sent, on="uid", suffix="_sent")
        delays = (arrived["time_s"] - arrived["time_s_sent"]).to_list()
        assert len(delays) == data.height
        if delays:
            assert mean_s == pytest.approx(sum(delays) / len(delays))
            assert most_s == pytest.approx(max(delays))


def test_a_queue_that_drops_a_repetition_keeps_what_came_first() -> None:
    scenario = tl.loads("""
        profile = "linux"
        duration = "1 s"
        [link.wire]
        ends = ["a", "b"]
        rate = "1 Mbit/s"
        delay = "10 ms"
        outages = { schedule = [{ at = "20.9 ms", for = "500 ms" }] }
        queue = { kind = "drr", limit = "6 packets" }
        [traffic.page]
        kind = "bulk"
        from = "a"
        to = "b"
        bytes = "7240 B"
    """)
    packets = tl.simulate(scenario, trace=True).packets.filter(type="tcp", seq=5)
    first, repetition = packets.filter(event="+")["uid"].to_list()
    assert packets.filter(event="d")["uid"].to_list() == [repetition]
    assert packets.filter(event="r")["uid"].to_list() == [first]
