"""Why is it slow over a satellite? Long round trips, outages and handovers, and what they do to a window."""

from __future__ import annotations

from typing import Any, Final

import tightlink as tl
from tightlink.diagnosis import Diagnosis
from tightlink.run import Run

#: A download over 600 ms whose ACKs come in slots.
SLOTS: Final = """
profile = "linux"
duration = "20 s"
link.sat = { ends = ["net", "home"], rate = "20 Mbit/s", delay = "279 ms", queue = "1 BDP", reverse = { rate = "2 Mbit/s", jitter = { kind = "uniform", most = "40 ms" } } }
traffic.d = { kind = "bulk", from = "net", to = "home", tcp.window = "4 MiB" }
"""
#: A transfer over two hops by satellite.
TWO_HOPS: Final = """
profile = "linux"
duration = "20 s"
link.sat = { ends = ["net", "home"], rate = "10 Mbit/s", delay = "600 ms", queue = "1 BDP" }
traffic.d = { kind = "bulk", from = "net", to = "home", bytes = "200 kB" }
"""
#: A download over a low orbit, whose satellites take half a second to hand over.
HANDOVERS: Final = """
profile = "linux"
duration = "50 s"
link.sat = { ends = ["net", "home"], rate = "150 Mbit/s", delay = { kind = "leo", shortest = "20 ms", longest = "30 ms", outage = "400 ms" }, queue = { kind = "codel", limit = "1000 packets" }, reverse = { rate = "15 Mbit/s", queue = "100 ms" } }
traffic.d = { kind = "bulk", from = "net", to = "home" }
"""


def _run(text: str, changes: dict[str, Any] | None = None) -> Run:
    return tl.simulate(tl.loads(text).set_all(changes or {}))


def _told(text: str, changes: dict[str, Any] | None = None) -> Diagnosis:
    return _run(text, changes).why("d").diagnoses[0]


def test_losses_that_have_cut_no_window_yet_do_not_hold_it() -> None:
    """The queue overflows for the first time as the run ends, after HyStart has left slow start at 49 packets."""
    run = _run(SLOTS, {"seed": 7})
    assert run.flows.select("packets_dropped", "packets_retransmitted", "timeouts").row(0)[1:] == (0, 0)
    assert run.flows["packets_dropped"][0] > 0
    found = run.why("d").diagnoses[0]
    assert (found.causes[0].name, found.causes[0].certainty) == ("window_growth", "likely")
    assert "HyStart has left slow start early" in found.sentence


def test_hystart_that_left_late_does_not_hold_a_window_that_losses_hold() -> None:
    """In a short queue few losses are enough, where round trips are long (RFC 9438 §5.1)."""
    queue = {"kind": "codel", "limit": "4000 packets", "interval": "600 ms", "target": "30 ms"}
    changes = {"link.sat.rate": "100 Mbit/s", "link.sat.queue": queue, "duration": "90 s"}
    run = _run(SLOTS, changes | {"traffic.d.tcp.window": "16 MiB"})
    assert 0 < run.flows["packets_dropped"][0] < run.flows["packets_sent"][0] / 1000
    found = run.why("d").diagnoses[0]
    assert "HyStart" not in found.sentence


def test_a_lost_syn_is_no_random_loss() -> None:
    near = {"link.sat.delay": "100 ms", "link.sat.reverse": {"loss": 0}}
    once = near | {"link.sat.loss": {"packets": [1]}}
    lost = _told(TWO_HOPS, once | {"profile": "rfc"})
    assert lost.causes[0].name == "window_growth"
    assert "which began with one packet as a SYN was lost" in lost.sentence
    assert not lost.suggestions
    # Linux does not mind.
    lost = _told(TWO_HOPS, once)
    assert [cause.name for cause in lost.causes][:2] == ["handshake", "slow_start"]
    # What is lost later cuts the window.
    assert _told(TWO_HOPS, near | {"link.sat.loss": {"packets": [9, 40]}}).causes[0].name == "random_loss"


def test_a_first_timeout_below_the_round_trip_is_told() -> None:
    found = _told(TWO_HOPS, {"profile": "rfc"})
    assert "which began with one packet as the handshake timed out" in found.sentence
    assert found.suggestions[0].changes == {"traffic.d.tcp.rto.initial": "3 s"}
    before, after = (
        _run(TWO_HOPS, {"profile": "rfc"} | changes).flows["goodput_bps"][0]
        for changes in ({}, found.suggestions[0].changes)
    )
    assert after > 2 * before


def test_timeouts_of_an_outage_are_not_those_of_a_queue() -> None:
    """While a handover keeps packets waiting for longer than the timer lasts, it expires, and nothing is lost by that."""
    found = _told(HANDOVERS)
    assert (found.causes[0].name, found.causes[0].where) == ("early_drops", "sat")
    assert "timeout" not in found.causes[0].text
    assert "Link sat is down for 1.2 s of 50 s, where 3 timeouts expire" in found.sentence
    # The timer is longer than they are.
    assert "timeout" not in _told(HANDOVERS, {"link.sat.delay.outage": "40 ms"}).sentence
    # Nothing is lost at all.
    held = _told(HANDOVERS, {"traffic.d.tcp.window": "100 packets"})
    assert held.causes[0].name == "receiver_window"
    assert "where 3 timeouts expire" in held.sentence


def test_jitter_is_told_where_queues_add_less() -> None:
    """Also to one of two flows that are alike but for the wires on their ways."""
    calls = """
link.sat = { ends = ["net", "home"], network = "geo" }
traffic.up = { kind = "cbr", from = "home", to = "net", interval = "20 ms", udp.payload = "160 B" }
traffic.down = { kind = "cbr", from = "net", to = "home", interval = "20 ms", udp.payload = "160 B" }
duration = "10 s"
"""
    run = tl.simulate(tl.loads(calls))
    up, down = run.why().diagnoses
    assert (up.flows, down.flows) == (("up",), ("down",))
    mean_ms = 1e3 * run.flows["one_way_delay_mean_s"][0] - 279.15
    assert f"The jitter of sat.reverse adds {mean_ms:.1f} ms, queues add under 0.1 ms" in up.sentence
    assert "jitter" not in down.sentence


def test_a_shorter_limit_leaves_a_strict_queue_its_order() -> None:
    """The lowest class that waits loses its last packet there: those above it lose none."""
    uplink = """
profile = "linux"
duration = "60 s"
link.uplink = { ends = ["ship", "hub"], rate = "2 Mbit/s", delay = "270 ms", queue = { kind = "strict", limit = "200 packets", order = ["EF"] } }
traffic.call = { kind = "cbr", from = "ship", to = "hub", interval = "20 ms", dscp = "EF", udp.payload = "160 B" }
traffic.d = { kind = "bulk", from = "ship", to = "hub" }
"""
    before = _run(uplink)
    (found,) = before.why("d").diagnoses
    assert found.suggestions[0].changes == {"link.uplink.queue.limit": "92 packets"}
    after = _run(uplink, found.suggestions[0].changes)
    call, data = after.flows.rows(named=True)
    assert call["packets_dropped"] == 0
    assert data["rtt_mean_s"] < 0.7 * before.flows["rtt_mean_s"][1]
    assert data["goodput_bps"] > 0.98 * before.flows["goodput_bps"][1]
    # Datagrams behind it are to wait: whoever puts classes in an order wants that.
    assert not before.why("call").diagnoses[0].suggestions


def test_outages_of_both_directions_are_those_of_the_link() -> None:
    outages = """
duration = "30 s"
link.sat = { ends = ["net", "home"], rate = "20 Mbit/s", delay = "30 ms", queue = "1000 packets", outages = { schedule = [{ at = "5 s", for = "1500 ms" }], period = "15 s" } }
traffic.d = { kind = "bulk", from = "net", to = "home", tcp = { window = "60 packets" } }
"""
    assert "The outages of sat add" in _told(outages).sentence


def test_no_larger_window_is_suggested_than_tcp_has() -> None:
    """RFC 7323 §2.3: at most 1 GiB, of which 100 Gbit/s and 150 ms are more."""
    wan = """
profile = "linux"
duration = "3 s"
link.wan = { ends = ["a", "b"], rate = "100 Gbit/s", delay = "75 ms" }
traffic.d = { kind = "bulk", from = "a", to = "b", tcp.window = "100 packets" }
"""
    found = _told(wan)
    assert found.suggestions[0].text == "TCP's largest window (741534 packets, 1 GiB)"
    assert found.suggestions[0].changes == {"traffic.d.tcp.window": "741534 packets"}
