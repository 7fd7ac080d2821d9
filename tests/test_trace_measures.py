"""Measures of a packet trace, against traces that were worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from tightlink.analysis.traffic import trace
from tightlink.reduce import jain

# Two packets of 1000 B and one of 500 B from a to b at 1 Mbit/s with 10 ms of delay. The second
# arrives while the first is being sent (8 ms), waits, and the third finds a queue of one: dropped.
# An ACK travels back, and is none of the flow's data.
ROWS = [
    ("+", 0.000, "a", "b", "tcp", 1000, 0, 1, ""),
    ("-", 0.000, "a", "b", "tcp", 1000, 0, 1, ""),
    ("+", 0.002, "a", "b", "tcp", 1000, 0, 2, ""),
    ("+", 0.004, "a", "b", "tcp", 500, 0, 3, ""),
    ("d", 0.004, "a", "b", "tcp", 500, 0, 3, "queue"),
    ("-", 0.008, "a", "b", "tcp", 1000, 0, 2, ""),
    ("r", 0.018, "a", "b", "tcp", 1000, 0, 1, ""),
    ("+", 0.018, "b", "a", "ack", 40, 0, 9, ""),
    ("r", 0.026, "a", "b", "tcp", 1000, 0, 2, ""),
]


@pytest.fixture
def packets() -> pl.DataFrame:
    names = ["event", "time_s", "from", "to", "type", "size_bytes", "flow", "uid", "reason"]
    return pl.DataFrame(ROWS, schema=names, orient="row")


def test_journeys(packets: pl.DataFrame) -> None:
    trips = trace.journeys(packets, to="b")
    assert trips["sent_s"].to_list() == [0.0, 0.002]
    assert trips["arrived_s"].to_list() == [0.018, 0.026]
    assert trips["latency_s"].round(9).to_list() == [0.018, 0.024]
    assert trace.journeys(packets, to="b", flow=1).is_empty()


def test_journeys_over_several_hops_begin_at_the_source() -> None:
    rows = [
        ("+", 1.0, "a", "m", "cbr", 100, 0, 5, ""),
        ("r", 1.1, "a", "m", "cbr", 100, 0, 5, ""),
        ("+", 1.1, "m", "b", "cbr", 100, 0, 5, ""),
        ("r", 1.3, "m", "b", "cbr", 100, 0, 5, ""),
    ]
    names = ["event", "time_s", "from", "to", "type", "size_bytes", "flow", "uid", "reason"]
    trips = trace.journeys(pl.DataFrame(rows, schema=names, orient="row"), to="b")
    assert trips["latency_s"].round(9).to_list() == [0.3]


def test_throughput(packets: pl.DataFrame) -> None:
    found = trace.throughput(trace.journeys(packets, to="b"), start_s=0.0, keep=0.9)
    # 8000 bits in the 18 ms since the start, then in the 8 ms since the packet before.
    assert found["instant_bps"].to_list() == pytest.approx([8000 / 0.018, 1e6])
    assert found["smoothed_bps"].to_list() == pytest.approx([8000 / 0.018, 0.9 * 8000 / 0.018 + 0.1 * 1e6])
    assert found["system_bps"].to_list() == pytest.approx([8000 / 0.018, 16000 / 0.026])


def test_jitter_keeps_its_sign(packets: pl.DataFrame) -> None:
    assert trace.jitter(trace.journeys(packets, to="b"))["jitter_s"].round(9).to_list() == [0.006]


def test_queue_length(packets: pl.DataFrame) -> None:
    queue = trace.queue_length(packets, "a", "b")
    assert queue["packets"].to_list() == [1, 0, 1, 2, 1, 0]
    held = dict(trace.occupancy(queue, start_s=0.0, stop_s=0.010).rows())
    # Empty for 2 ms at the start and 2 ms at the end; the dropped packet takes no time.
    assert held == pytest.approx({0: 0.4, 1: 0.6})
    assert dict(trace.occupancy(queue, start_s=0.003, stop_s=0.008).rows()) == pytest.approx({1: 1.0})


def test_a_packet_lost_on_the_wire_has_left_the_queue(packets: pl.DataFrame) -> None:
    lost = packets.with_columns(reason=pl.when(pl.col("event") == "d").then(pl.lit("wire")).otherwise(pl.lit("")))
    assert trace.queue_length(lost, "a", "b")["packets"].to_list() == [1, 0, 1, 2, 1]


def test_accepted_bytes(packets: pl.DataFrame) -> None:
    assert trace.accepted_bytes(packets, "a", "b") == 2000


def test_jain() -> None:
    assert jain([3.0, 3.0]) == 1.0
    assert jain([1.0, 2.0, 3.0]) == pytest.approx(36 / (3 * 14))
    assert jain([0.0, 0.0]) == 1.0
