"""The responses of the NIST study, from tables with known answers."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.analysis.responses.nist import RESPONSES, by_period, over_time, responses

COUNTS = {
    "packets_sent": [100, 300, 500, 100],
    "packets_delivered": [90, 270, 500, 100],
    "transfers_completed": [2, 4, 8, 0],
    "connections_failed": [0, 1, 0, 0],
    "transfers_abandoned": [0, 0, 0, 0],
    "packets_retransmitted": [10, 10, 0, 0],
    "window_increases": [50, 70, 90, 0],
    "duplicate_acks": [4, 8, 0, 0],
    "timeouts": [1, 2, 3, 0],
}
#: Four intervals of 2 s, the last of which is cut short.
USERS = pl.DataFrame(
    {
        "time_s": [2.0, 4.0, 6.0, 7.0],
        "label": ["web"] * 4,
        "sources_transmitting": [2, 4, 8, 0],
        "sources_connecting": [1, 1, 0, 0],
        "sources_thinking": [7, 5, 2, 10],
        **COUNTS,
        "cwnd_mean_packets": [10.0, 40.0, 5.0, None],
        "rtt_mean_s": [0.1, 0.2, None, 0.4],
        "queueing_delay_mean_s": [0.0, 0.12, None, 0.3],
    }
)
PATHS = pl.DataFrame(
    {
        "time_s": [2.0, 2.0, 4.0, 4.0, 6.0, 6.0, 7.0, 7.0],
        "label": ["web"] * 8,
        "path": ["direct-direct", "fast-normal"] * 4,
        "sources_transmitting": [1, 1, 3, 1, 8, 0, 0, 0],
        "packets_delivered": [40, 50, 120, 150, 500, 0, 100, 0],
    }
)
LONG_LIVED = pl.DataFrame(
    {
        "time_s": [2.0, 2.0, 4.0, 4.0, 6.0, 6.0, 7.0, 7.0],
        "label": ["web"] * 8,
        "flow": ["far", "near"] * 4,
        "packets_delivered": [10, 20, 30, 60, 8, 8, 5, 0],
    }
)


def values(periods: dict[str, tuple[float, float]], **tables: pl.DataFrame) -> dict[tuple[str, str], Any]:
    given = {"users": USERS, "paths": PATHS, "long_lived": LONG_LIVED} | tables
    found = by_period(given["users"], given["paths"], given["long_lived"], periods)
    return {(row["period"], row["response"]): row["value"] for row in found.iter_rows(named=True)}


def test_the_document_numbers_twenty_two() -> None:
    assert [each.number for each in RESPONSES] == [f"y{place}" for place in range(1, 23)]
    assert len({each.name for each in RESPONSES}) == 22


def test_known_answers() -> None:
    found = values({"calm": (0.0, 4.0)})
    expected = {
        "sources_transmitting": 3.0,
        "share_transmitting": 6 / 20,
        "packets_entering": 200.0,
        "packets_leaving": 180.0,
        "loss": 0.1,
        "transfers_completed": 3.0,
        "completion_rate": 0.5,
        "connections_failed": 0.5,
        "failure_rate": 1 / 7,
        "retransmission_rate": 20 / 400,
        # Two sources with 10 packets, four with 40.
        "cwnd_mean_packets": 30.0,
        "window_increases": 60.0,
        "duplicate_acks": 6.0,
        "timeouts": 1.5,
        # 90 packets with 0.1 s, 270 with 0.2 s.
        "rtt_mean_s": 0.175,
        "queueing_delay_mean_s": 0.09,
        # 160 packets by 1 and then 3 sources, each for 2 s.
        "direct-direct_pps": 20.0,
        "fast-normal_pps": 50.0,
        "far_pps": 10.0,
        "near_pps": 20.0,
    }
    assert {name: value for (_, name), value in found.items()} == pytest.approx(expected)


def test_intervals_belong_to_the_period_that_holds_them_wholly() -> None:
    found = values({"late": (3.0, 7.0), "early": (0.0, 4.000000001)})
    assert found["late", "sources_transmitting"] == 4.0
    assert found["late", "packets_entering"] == 300.0
    assert found["early", "packets_entering"] == 200.0
    # The last interval has 1 s, the one before 2 s.
    assert found["late", "direct-direct_pps"] == 600 / 16
    assert found["late", "near_pps"] == pytest.approx(8 / 3)


def test_what_is_not_there_has_no_value() -> None:
    found = values({"end": (6.0, 7.0)})
    assert found["end", "cwnd_mean_packets"] is None
    assert found["end", "direct-direct_pps"] is None
    assert found["end", "completion_rate"] is None
    assert found["end", "loss"] == 0.0
    assert found["end", "rtt_mean_s"] == 0.4


def test_labels_and_periods_keep_their_order_and_numbers() -> None:
    other = USERS.with_columns(label=pl.lit("a"))
    both = by_period(
        pl.concat([USERS, other]), pl.concat([PATHS, PATHS.with_columns(label=pl.lit("a"))]), LONG_LIVED,
        {"z": (0.0, 2.0), "b": (2.0, 4.0)},
    )  # fmt: skip
    assert both["label"].unique(maintain_order=True).to_list() == ["web", "a"]
    assert both["period"].unique(maintain_order=True).to_list() == ["z", "b"]
    numbers = {row["response"]: (row["number"], row["summary"]) for row in both.iter_rows(named=True)}
    assert numbers["sources_transmitting"] == ("y1", "Y2")
    assert numbers["fast-normal_pps"] == ("y21", "")
    assert (numbers["far_pps"], numbers["near_pps"]) == (("", "Y13"), ("", "Y14"))


def test_responses_of_a_run() -> None:
    run = tl.simulate(
        tl.loads("""\
        duration = "3 s"
        link.east = { ends = ["core", "a"], rate = "50 Mbit/s", delay = "2 ms" }
        link.west = { ends = ["core", "b"], rate = "50 Mbit/s", delay = "2 ms" }
        [traffic.web]
        kind = "users"
        think = "0.2 s"
        places.direct = { at = "a", sources = 20, receivers = 20 }
        places.normal = { at = "b", sources = 20, receivers = 20 }
        interfaces.ethernet = { rate = "8 packets/ms", delay = "0.1 ms" }
        files.page = { mean = "20 packets" }
        [observe]
        interval = "500 ms"
        periods = { begin = ["0 s", "1 s"], rest = ["1 s", "3 s"] }
        """)
    )
    found = responses(run)
    assert found["period"].unique(maintain_order=True).to_list() == ["begin", "rest"]
    value = {(row["period"], row["number"]): row["value"] for row in found.iter_rows(named=True)}
    rest = run.users.filter(pl.col("time_s") > 1.1)
    assert value["rest", "y3"] == rest["packets_sent"].mean()
    assert value["rest", "y5"] == pytest.approx(
        1 - float(rest["packets_delivered"].sum()) / float(rest["packets_sent"].sum())
    )
    assert value["rest", "y19"] > 0
    # Each transfer has 20 packets, none of which is lost on this empty network.
    each = run.transfers.filter(pl.col("period") == "rest").row(0, named=True)
    assert (each["path"], each["interface"]) == ("direct-normal", "ethernet")
    assert each["packets"] == 20 * each["completed"]
    series = over_time(run)
    assert series["time_s"].to_list() == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert series["packets_entering"].to_list() == run.users["packets_sent"].to_list()


def test_a_run_without_users_has_no_responses(one_flow: str) -> None:
    run = tl.simulate(tl.loads(one_flow))
    with pytest.raises(tl.TightlinkError, match='no table users: its scenario has no traffic of kind "users"'):
        responses(run)
