"""The simulation of profile linux beside what was measured between stacks of Linux, as `docs/validation.md` has it.

The measurements are stored; each cell is simulated anew.
"""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl


def compared(script: Any, folder: str, measuring: str, patch: pytest.MonkeyPatch, *of: Any) -> Any:
    """What a script compares, or of that what is asked for; nothing is measured now."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError(f"not stored in {folder}")

    patch.setattr(script, measuring, never)
    return script.compared(script.Measured(Path(script.__file__).parent / "measured" / folder), *of)


def test_transfers_take_as_long_as_in_linux(benchmark: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Times within 5 %, but for two through FQ-CoDel of which the measurements differ by one loss."""
    script = benchmark("transfer_times")
    cells = compared(script, "transfer-times", "quietest", monkeypatch)
    near = [each for _, there, here in cells for each in script.near(there, here)]
    assert len(near) == 90
    assert sum(near) >= 88


#: Four flows of CUBIC across three full links get a tenth more than in Linux: by the phase of packets (docs/validation.md).
OPEN = [("lot", "cubic", 4, group, "goodput_bps") for group in ("through", "second")]


def test_flows_over_links_in_a_row_get_what_they_get_in_linux(
    benchmark: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goodputs and delays within 10 %, of each group of flows, or, where chance decides, within two standard errors; but for two."""
    script, near = benchmark("links_in_a_row"), benchmark("changing_links").NEAR
    cells = list(compared(script, "links-in-a-row", "measure", monkeypatch))
    assert len(cells) == 18
    far = []
    for cell, *both in cells:
        for group in both[0][0]:
            before, after = (script.mean([run[group] for run in runs]) for runs in both)
            for key, value in before.items():
                if after[key] == pytest.approx(value, rel=near):
                    continue
                each = ([run[group][key] for run in runs] for runs in both)
                error = math.sqrt(sum(statistics.variance(runs) / len(runs) for runs in each))
                if cell not in script.CHANCE or abs(after[key] - value) > 2 * error:
                    far.append((*cell, group, key))
    assert far == OPEN


def test_flows_that_lose_one_packet_in_twenty_get_what_they_get_in_linux(
    benchmark: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goodputs within 10 %: Reno had 14 % less where the ACK that ends recovery did not let its window grow."""
    script = benchmark("changing_links")
    lossy = {name: link for name, link in script.lossy(Path()).items() if name == "5 %"}
    cells = list(compared(script, "links-that-lose", "quietest", monkeypatch, lossy))
    assert len(cells) == 6
    for cell, there, here in cells:
        assert here["goodput_bps"] == pytest.approx(there["goodput_bps"], rel=script.NEAR), cell


#: What Linux 6.18 sent and acknowledged where given packets were lost, measured by `tightlink measure` of these scenarios
#: between namespaces of one host: packets sent in 12 s, and which of the first 32 segments were acknowledged within SOON_S.
SOON_S = 2.5e-4
GIVEN_LOSSES = pl.read_csv(Path(__file__).parent / "data" / "linux" / "given-losses.csv")


@pytest.mark.parametrize(("control", "seed", "packets_sent", "at_once"), GIVEN_LOSSES.rows())
def test_losses_of_given_packets_do_what_they_do_in_linux(
    control: str, seed: int, packets_sent: int, at_once: str
) -> None:
    """The same ACKs leave, whatever is lost among the first segments; and as much is sent, within 5 % as for transfers."""
    drawn = random.Random(seed)
    lost = [number for number in range(15, 20_000) if drawn.random() < 0.05]
    wire = {
        "ends": ["a", "b"],
        "rate": "12 Mbit/s",
        "delay": "20 ms",
        "queue": "100 packets",
        "loss": {"packets": lost},
    }
    wire |= {"reverse": {"rate": "50 Mbit/s", "loss": "0 %"}}
    bulk = {"kind": "bulk", "from": "a", "to": "b", "tcp": {"congestion": control}}
    tables = {"link": {"wire": wire}, "traffic": {"t": bulk}}
    run = tl.simulate(
        tl.Scenario.from_dict({"profile": "linux", "duration": "12 s", "seed": seed} | tables), trace=True
    )
    assert run.flows["packets_sent"][0] == pytest.approx(packets_sent, rel=0.05)
    # The first two arrivals are of the handshake.
    arrivals = run.packets.filter((pl.col("event") == "r") & (pl.col("to") == "b"))["time_s"].sort()
    acks = run.packets.filter((pl.col("event") == "+") & (pl.col("from") == "b"))["time_s"]
    answered = [any(acks.is_between(time_s, time_s + SOON_S)) for time_s in arrivals[2 : 2 + len(at_once)]]
    assert "".join("1" if soon else "." for soon in answered) == at_once


#: What Linux 6.18 did over a link that was down for a while, from 3 s on, and kept its queue, so that nothing was lost but at
#: the queue before: packets retransmitted and goodput in 10 s, measured by `tightlink measure` of these scenarios.
NEEDLESS_TIMEOUTS = pl.read_csv(Path(__file__).parent / "data" / "linux" / "needless-timeouts.csv")


def down_for(outage_ms: int, control: str) -> tl.Scenario:
    """A link that is down for a while, and keeps what waits."""
    return tl.loads(f"""
        profile = "linux"
        duration = "10 s"
        [link.wire]
        ends = ["a", "b"]
        rate = "8 Mbit/s"
        delay = "20 ms"
        queue = "60 packets"
        outages = {{ schedule = [{{ at = "3 s", for = "{outage_ms} ms" }}] }}
        reverse = {{ rate = "20 Mbit/s", outages = "none" }}
        [traffic.t]
        kind = "bulk"
        from = "a"
        to = "b"
        tcp.congestion = "{control}"
        """)


@pytest.mark.parametrize(("control", "outage_ms", "packets_retransmitted", "goodput_bps"), NEEDLESS_TIMEOUTS.rows())
def test_timeouts_for_an_outage_are_undone_as_in_linux(
    control: str, outage_ms: int, packets_retransmitted: int, goodput_bps: int
) -> None:
    """A window that is on its way is not retransmitted: it was after a pause of a second, with up to 14 % less goodput."""
    flow = tl.simulate(down_for(outage_ms, control)).flows.row(0, named=True)
    assert flow["packets_retransmitted"] == pytest.approx(packets_retransmitted, abs=3)
    assert flow["goodput_bps"] == pytest.approx(goodput_bps, rel=0.01)


@pytest.mark.parametrize(("given_up", "rtt_mean_s"), [("true", 0.0791), ("false", 0.0608)])
def test_a_window_kept_over_silences_fills_queues_as_in_linux(given_up: str, rtt_mean_s: float) -> None:
    """Bursts of 400 ms, 1.6 s apart: the mean of two runs of `tightlink measure` on Linux 6.18, within the 10 % of other cells."""
    run = tl.simulate(
        tl.loads(f"""
        profile = "linux"
        duration = "10 s"
        link.wire = {{ ends = ["a", "b"], rate = "20 Mbit/s", delay = "25 ms", queue = "200 packets" }}
        [traffic.t]
        kind = "on-off"
        from = "a"
        to = "b"
        rate = "16 Mbit/s"
        on = "400 ms"
        off = "1.6 s"
        distribution = "constant"
        tcp = {{ congestion = "reno", slow_start_after_idle = {given_up} }}
        """)
    )
    assert run.flows["rtt_mean_s"][0] == pytest.approx(rtt_mean_s, rel=0.1)


def test_acks_are_quick_after_a_pause_as_in_linux() -> None:
    """Which segments behind an outage of 0.8 s are acknowledged at once, traced on Linux 6.18: the first sixteen, as the pause was longer
    than the receiver's own timeout, which is a quarter of a second here."""
    packets = tl.simulate(down_for(800, "cubic"), trace=True).packets
    arrived = packets.filter(pl.col("event") == "r", pl.col("to") == "b", pl.col("time_s") > 3.5)["time_s"].sort()
    acks = packets.filter((pl.col("event") == "+") & (pl.col("from") == "b"))["time_s"]
    answered = [any(acks.is_between(time_s, time_s + SOON_S)) for time_s in arrived[:24]]
    assert "".join("1" if soon else "." for soon in answered) == "1" * 16 + ".1" * 4


@pytest.mark.parametrize("timeouts", [1, 2, 4])
def test_a_timeout_that_is_needed_is_mended_in_the_order_of_linux(timeouts: int) -> None:
    """The first ten packets are lost, and what Linux 6.18 sent then, traced: new packets before retransmissions (F-RTO)."""
    # The SYN, the third step of the handshake, ten packets, a probe, and what the timer sends in vain.
    lost = list(range(3, 14 + timeouts - 1))
    wire = {
        "ends": ["a", "b"],
        "rate": "10 Mbit/s",
        "delay": "25 ms",
        "loss": {"packets": lost},
        "reverse": {"loss": 0},
    }
    bulk = {"kind": "bulk", "from": "a", "to": "b", "bytes": "72400 B"}
    tables = {"link": {"wire": wire}, "traffic": {"t": bulk}}
    run = tl.simulate(tl.Scenario.from_dict({"profile": "linux", "duration": "6 s"} | tables), trace=True)
    sent = run.packets.filter((pl.col("event") == "+") & (pl.col("from") == "a") & (pl.col("seq") > 0))["seq"].to_list()
    assert sent == [*range(1, 12), *[1] * timeouts, 12, 13, *range(2, 12), *range(14, 51)]


#: ACKs of 10 s over 10 Mbit/s and 50 ms, of an application that writes single segments, and segments of Linux 6.18.
@pytest.mark.parametrize(
    ("source", "lost", "acks"),
    [
        ({"kind": "cbr", "rate": "8 Mbit/s"}, range(100, 5000, 180), 1991),
        ({"kind": "cbr", "rate": "12 Mbit/s"}, (), 4663),
        ({"kind": "cbr", "rate": "4 Mbit/s"}, (), 3321),
    ],
)
def test_segments_that_wait_for_the_window_are_not_pushed_each(
    source: dict[str, str], lost: range | tuple[()], acks: int
) -> None:
    """Where the window holds an application back, one ACK answers two segments: each was answered, 55 to 76 % more ACKs."""
    wire: dict[str, Any] = {"ends": ["a", "b"], "rate": "10 Mbit/s", "delay": "25 ms", "queue": "100 packets"}
    wire |= {"reverse": {"rate": "20 Mbit/s", "loss": 0}} | ({"loss": {"packets": list(lost)}} if lost else {})
    tables = {"link": {"wire": wire}, "traffic": {"t": source | {"from": "a", "to": "b", "tcp": {}}}}
    run = tl.simulate(tl.Scenario.from_dict({"profile": "linux", "duration": "10 s"} | tables))
    back = run.links.row(by_predicate=pl.col("link") == "wire.reverse", named=True)
    assert back["packets_in"] == pytest.approx(acks, rel=0.05)


#: Mbit/s of a download over 50 Mbit/s and 15 ms in 15 s, by the kbit/s of its way back with a queue of 100 packets: the mean
#: of two measurements each with Linux 6.18, of which more than half of the ACKs were lost at that queue.
OVER_A_NARROW_WAY_BACK = {300: 35.77, 500: 44.67}


@pytest.mark.parametrize("back_kbit", OVER_A_NARROW_WAY_BACK)
def test_a_download_fills_a_link_whose_acks_wait(benchmark: Callable[[str], Any], back_kbit: int) -> None:
    """The receiver's window opens by round trips that ACKs' waits are part of."""
    scenario = tl.loads(f"""
        profile = "linux"
        duration = "15 s"
        [link.dsl]
        ends = ["net", "home"]
        rate = "50 Mbit/s"
        delay = "15 ms"
        queue = "300 packets"
        reverse = {{ rate = "{back_kbit} kbit/s", queue = "100 packets" }}
        [traffic.download]
        kind = "bulk"
        from = "net"
        to = "home"
        """)
    run = tl.simulate(scenario)
    near = benchmark("changing_links").NEAR
    assert run.flows["goodput_bps"][0] / 1e6 == pytest.approx(OVER_A_NARROW_WAY_BACK[back_kbit], rel=near)
    back = run.links.filter(pl.col("link") == "dsl.reverse").row(0, named=True)
    assert 0.3 < back["packets_dropped"] / back["packets_in"] < 0.6
