"""Why is it slow beside others? Flows that share links: who is told of together, what each waits for, and that what is
suggested to one harms no other."""

from __future__ import annotations

import re
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl
from tightlink import units

CALL: Final = """
profile = "linux"
duration = "20 s"
link.line = { ends = ["provider", "home"], rate = "20 Mbit/s", delay = "10 ms", queue = "256 packets", reverse = { rate = "2 Mbit/s", queue = "100 packets" } }
traffic.upload = { kind = "bulk", from = "home", to = "provider" }
traffic.talk = { kind = "cbr", from = "home", to = "provider", interval = "20 ms", udp.payload = "172 B" }
traffic.listen = { kind = "cbr", from = "provider", to = "home", interval = "20 ms", udp.payload = "172 B" }
"""


def test_both_directions_of_a_call_are_two_answers() -> None:
    """The one waits behind an upload, and the other nowhere; what helps the upload must not harm the call."""
    run = tl.simulate(tl.loads(CALL))
    talk, listen, upload = (run.why(flow).diagnoses[0] for flow in ("talk", "listen", "upload"))
    assert len(run.why().diagnoses) == 3
    assert talk.delay is not None
    assert listen.delay is not None
    assert (talk.delay.where, round(talk.delay.mean_s, 1), listen.delay.mean_s) == ("line.reverse", 0.4, 0.0)
    fair = {"link.line.reverse.queue": {"kind": "fq-codel"}}
    assert [each.suggestions[0].changes for each in (talk, upload)] == [fair, fair]
    lost = run.flows.row(by_predicate=pl.col("label") == "talk", named=True)["packets_dropped"]
    better = tl.simulate(tl.loads(CALL).set_all(fair)).flows.row(by_predicate=pl.col("label") == "talk", named=True)
    assert lost > 0 == better["packets_dropped"]


def test_controls_that_heed_losses_are_not_starved_by_a_suggestion() -> None:
    """Beside BBR, as a queue of one BDP does it."""
    both = """
    profile = "linux"
    duration = "20 s"
    link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "16 BDP" }
    traffic.bbr = { kind = "bulk", from = "a", to = "b", tcp.congestion = "bbr" }
    traffic.cubic = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }
    """
    (diagnosis,) = tl.simulate(tl.loads(both)).why().diagnoses
    tried = [each.changes for each in diagnosis.suggestions]
    assert tried[0] == {"link.wire.queue": {"kind": "fq-codel"}}
    assert {"link.wire.queue": "35 packets"} not in tried


def test_who_does_not_fill_its_turns_is_not_held_by_the_link() -> None:
    """Through a fair queue beside a flow that fills the link, random losses hold a flow that is alone in its queue."""
    beside = """
    profile = "linux"
    duration = "20 s"
    link.far = { ends = ["server", "isp"], rate = "1 Gbit/s", delay = "30 ms", loss = "0.5 %", reverse.loss = "0 %" }
    link.access = { ends = ["isp", "client"], rate = "50 Mbit/s", delay = "5 ms", queue = { kind = "fq-codel" } }
    traffic.bbr = { kind = "bulk", from = "server", to = "client", tcp.congestion = "bbr" }
    traffic.cubic = { kind = "bulk", from = "server", to = "client" }
    """
    run = tl.simulate(tl.loads(beside))
    assert run.why("bbr").diagnoses[0].causes[0].name == "saturated_link"
    cause = run.why("cubic").diagnoses[0].causes[0]
    assert (cause.name, cause.where) == ("random_loss", "far")


def test_a_group_is_told_of_from_the_least_to_the_most() -> None:
    """Of losses and of timeouts, which one of its flows has not for all."""
    flood = """
    profile = "linux"
    duration = "30 s"
    link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets" }
    traffic.big = { kind = "bulk", flows = 4, from = "a", to = "b" }
    traffic.voice = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s", udp.payload = "172 B" }
    traffic.flood = { kind = "cbr", from = "a", to = "b", rate = "20 Mbit/s", udp.payload = "1400 B" }
    """
    run = tl.simulate(tl.loads(flood))
    sentences = {each.flows[0]: each.sentence for each in run.why().diagnoses}
    shares = pl.col("packets_dropped") / pl.col("packets_sent") * 100
    for first, group in (("big[0]", pl.col("label").str.starts_with("big")), ("voice", pl.col("transport") == "udp")):
        lost = sorted(run.flows.filter(group).select(shares).to_series())
        assert f"{lost[0]:.2g} to {lost[-1]:.2g} % " in sentences[first]
    timeouts = sorted(run.flows.filter(pl.col("label").str.starts_with("big"))["timeouts"])
    assert f"with {timeouts[0]} to {timeouts[-1]} timeouts each" in sentences["big[0]"]


def test_round_trips_wait_no_longer_than_they_are() -> None:
    """Though a queue of ACKs is long while others use it: the means of links are of all their packets."""
    scenario = tl.loads(CALL).set("traffic.listen", None).set("traffic.download", {
        "kind": "bulk", "from": "provider", "to": "home", "start": "5 s", "bytes": "10 MB",
    }).set("link.line.reverse.queue", {"kind": "fq-codel"})  # fmt: skip
    run = tl.simulate(scenario)
    row = run.flows.row(by_predicate=pl.col("label") == "upload", named=True)
    delay = run.why("upload").diagnoses[0].delay
    assert delay is not None
    assert delay.mean_s <= row["rtt_mean_s"] - delay.base_s + 1e-9
    assert delay.mean_s >= row["queueing_delay_mean_s"]
    assert delay.p95_s == pytest.approx(row["rtt_p95_s"] - delay.base_s)


def test_a_queue_is_as_long_to_who_sends_small_packets() -> None:
    """Its packets are those of all, and so are the bandwidth-delay products that they are."""
    run = tl.simulate(
        tl.loads("""
duration = "10 s"
link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "24 ms", queue = "1 BDP" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
traffic.telnet = { kind = "cbr", from = "a", to = "b", interval = "200 ms", random = "exponential", tcp.payload = "100 B" }
""")
    )
    for flow in ("ftp", "telnet"):
        assert "(40 packets, 1 BDP" in run.why(flow).sentence


@pytest.mark.parametrize(
    ("on", "tried"), [("500 ms", "CoDel (ftp gets 15 % less)"), ("5 ms", "FQ-CoDel (a queue for each flow)")]
)
def test_bursts_that_wait_longer_by_turns_are_to_have_none(on: str, tried: str) -> None:
    """Half a second at 5 Mbit/s waits longer in a queue of 3.3 Mbit/s for itself than behind two connections."""
    scenario = tl.loads("""
duration = "60 s"
link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "24 ms", queue = "1 BDP" }
traffic.ftp = { kind = "bulk", flows = 2, from = "a", to = "b" }
traffic.bursty = { kind = "on-off", from = "a", to = "b", rate = "5 Mbit/s", on = "500 ms", off = "500 ms" }
""").set_all({"traffic.bursty.on": on, "traffic.bursty.off": on})
    (bursty,) = tl.simulate(scenario).why("bursty").diagnoses
    first = bursty.suggestions[0]
    assert first.text == tried
    (after,) = tl.simulate(scenario.set_all(first.changes)).why("bursty").diagnoses
    assert after.delay is not None
    assert bursty.delay is not None
    assert after.delay.mean_s < 0.6 * bursty.delay.mean_s


@pytest.mark.parametrize("queue", ["1 BDP", "4 BDP"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        # Transmission is much of a round trip.
        {"link.w.rate": "2 Mbit/s", "link.w.delay": "10 ms"},
        {"link.w.framing": {"overhead": "200 B"}},
        # The longest propagation is that of datagrams.
        {"link.far": {"ends": ["b", "c"], "rate": "1 Gbit/s", "delay": "50 ms"}, "traffic.call.to": "c"},
        {"link.w.shaper": {"rate": "5 Mbit/s", "burst": "10 kB"}},
    ],
    ids=["plain", "short", "framing", "datagrams", "shaper"],
)
def test_a_bdp_is_that_of_the_unit(queue: str, changes: dict[str, Any]) -> None:
    """What is written "4 BDP" is told so, and so is the same queue in packets, but for parts of them."""
    scenario = tl.loads("""
profile = "linux"
duration = "5 s"
link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "1 BDP" }
traffic.f = { kind = "bulk", from = "a", to = "b" }
traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }
""").set_all({**changes, "link.w.queue": queue})
    packets = scenario.resolve()["links"][0]["queue"]["limit"]["packets"]
    assert f"({units.format_packets(packets)}, {queue})" in tl.simulate(scenario).why("f").sentence
    said = tl.simulate(scenario.set("link.w.queue", f"{packets} packets")).why("f").sentence
    told = re.search(r"packets?, ([\d.]+) BDP\)", said)
    assert told is not None
    # Of parts of packets two digits are told.
    assert 0.95 <= float(told[1]) / float(queue.split(maxsplit=1)[0]) <= 1.05 * packets / (packets - 1)


BOTH_WAYS: Final = """
duration = "20 s"
link.l = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "100 packets" }
traffic.f = { kind = "bulk", from = "a", to = "b", tcp.window = "1 BDP" }
traffic.g = { kind = "bulk", from = "b", to = "a", tcp.window = "1 BDP" }
"""


@pytest.mark.parametrize("window", ["1 BDP", "20 packets"])
def test_acks_that_wait_behind_data_of_small_windows_get_turns(window: str) -> None:
    """No link is full, and a longer window of the one would make the other's ACKs wait."""
    scenario = tl.loads(BOTH_WAYS).set_all({f"traffic.{flow}.tcp.window": window for flow in "fg"})
    before = tl.simulate(scenario)
    assert max(before.links["utilization"]) < 0.75
    first = before.why("f").suggestions[0]
    assert first.changes == {"link.l.reverse.queue": {"kind": "fq-codel"}}
    after = tl.simulate(scenario.set_all(first.changes))
    for was, now in zip(before.flows["goodput_bps"], after.flows["goodput_bps"], strict=True):
        assert now > 1.2 * was
    assert not after.why("f").suggestions


LOSSY: Final = """
profile = "linux"
duration = "30 s"
link.l = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "20 ms", queue = "1 BDP", loss = "0.5 %", reverse = { rate = "2 Mbit/s", queue = "60 packets", loss = "0 %" } }
traffic.f = { kind = "bulk", from = "a", to = "b" }
traffic.g = { kind = "bulk", from = "b", to = "a" }
"""


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize(("loss", "cause"), [(0.0005, "ack_path"), (0.005, "random_loss")])
def test_what_costs_more_of_losses_and_a_full_way_back_comes_first(loss: float, cause: str, control: str) -> None:
    """ACKs wait for several round trips in both; what helps more where it is tried is the first cause."""
    scenario = tl.loads(LOSSY).set_all({"link.l.loss": loss, "traffic.f.tcp.congestion": control})
    run = tl.simulate(scenario)
    lossless = tl.simulate(scenario.set("link.l.loss", 0.0))
    found = run.why("f").diagnoses[0]
    assert found.causes[0].name == cause
    # Turns help in both.
    assert found.suggestions[0].changes.keys() == {"link.l.reverse.queue"}
    prompt = tl.simulate(scenario.set_all(found.suggestions[0].changes))
    (none, soon) = (each.flows["goodput_bps"][0] for each in (lossless, prompt))
    assert (soon > none) == (cause == "ack_path")
    assert soon > 2 * run.flows["goodput_bps"][0]
    if cause == "random_loss":
        assert f"round trips take {run.flows['rtt_mean_s'][0] * 1000:.0f} ms, as ACKs wait at l.reverse" in found.answer


DROWNED: Final = """
profile = "linux"
duration = "10 s"
link.l = { ends = ["net", "home"], rate = "100 Mbit/s", delay = "10 ms", queue = "200 packets", reverse = { rate = "1 Mbit/s", queue = "100 packets" } }
traffic.down = { kind = "bulk", from = "net", to = "home" }
traffic.call = { kind = "cbr", from = "home", to = "net", interval = "20 ms", udp.payload = "160 B" }
"""


@pytest.mark.parametrize(("interval", "who"), [("20 ms", "ACKs of down"), ("3 ms", "call and ACKs of down")])
def test_acks_that_fill_a_queue_are_named(interval: str, who: str) -> None:
    """No data of the download come this way; datagrams that fill it as well do not hide that."""
    other = {"kind": "cbr", "from": "home", "to": "net", "interval": "50 ms", "udp": {"payload": "40 B"}}
    scenario = tl.loads(DROWNED).set_all({"traffic.call.interval": interval, "traffic.probe": other})
    assert f"which {who} fill, adds" in tl.simulate(scenario).why("probe").sentence


def test_transfers_fill_a_queue_with_data_or_with_acks() -> None:
    """Transfers have one row for all of them: which way their data take is told by those of their group."""
    pages = {"kind": "transfers", "from": ["net"], "to": ["home"], "arrivals": "4 transfers/s", "size": "2 MB"}
    scenario = tl.loads(DROWNED).set_all({"traffic.pages": pages, "traffic.down": None})
    listen = {"kind": "cbr", "from": "net", "to": "home", "interval": "20 ms", "udp": {"payload": "160 B"}}
    run = tl.simulate(scenario.set_all({"link.l.rate": "20 Mbit/s", "traffic.listen": listen}))
    assert "which pages fills, adds" in run.why("listen").sentence
    assert "which ACKs of pages fill, adds" in tl.simulate(scenario).why("call").sentence


def test_ledbat_that_comes_late_takes_all() -> None:
    """It takes the queue of the first for the path, and both wait for 200 ms (RFC 6817 section 4.4)."""
    scenario = tl.loads("""
        duration = "200 s"
        link.w = { ends = ["r", "z"], rate = "10 Mbit/s", delay = "20 ms", queue = "2000 packets" }
        link.a = { ends = ["a", "r"], rate = "1 Gbit/s", delay = "0.1 ms" }
        link.b = { ends = ["b", "r"], rate = "1 Gbit/s", delay = "0.1 ms" }
        traffic.first = { kind = "bulk", from = "a", to = "z", tcp.congestion = "ledbat" }
        traffic.late = { kind = "bulk", from = "b", to = "z", start = "10 s", tcp.congestion = "ledbat" }
    """)
    run = tl.simulate(scenario)
    share = run.flows["throughput_bps"][1] / run.flows["throughput_bps"].sum()
    assert share > 0.8
    found = run.why()
    assert f"late gets {100 * share:.0f} %" in found.sentence
    after = tl.simulate(scenario.set_all(found.suggestions[0].changes)).flows
    goodput = after["goodput_bps"].to_list()
    assert min(goodput) > 0.8 * max(goodput)
    assert max(after["queueing_delay_mean_s"].to_list()) < 0.1 * max(run.flows["queueing_delay_mean_s"].to_list())


def test_flows_of_short_and_long_paths_wait_in_one_queue() -> None:
    """What that adds is little to the longer ones alone; links are named by their numbers."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "20 s"
        [topology.n]
        kind = "dumbbell"
        pairs = 2
        access_left = { rate = "1 Gbit/s", delay = ["1 ms", "100 ms"] }
        access_right = { rate = "1 Gbit/s", delay = "1 ms" }
        bottleneck = { rate = "50 Mbit/s", delay = "10 ms", queue = "80 packets" }
        [traffic.f]
        kind = "bulk"
        flows = 2
        from = "n.left[*]"
        to = "n.right[*]"
    """)
    run = tl.simulate(scenario)
    waits = run.flows["queueing_delay_mean_s"]
    assert waits[0] > 0.1 * 0.024
    assert waits[1] < 0.1 * 0.222
    (found,) = run.why().diagnoses
    assert (found.causes[0].name, found.flows) == ("saturated_link", ("f[0]", "f[1]"))
    assert "to base RTTs of 24.3 to 222 ms" in found.answer


def test_saturated_links_are_named_by_their_numbers() -> None:
    scenario = tl.loads("""
        duration = "200 s"
        [topology.n]
        kind = "parking-lot"
        hops = 4
        access = { rate = "1 Gbit/s", delay = "1 ms" }
        access_cross = { rate = "1 Gbit/s", delay = "8.5 ms" }
        hop = { rate = "20 Mbit/s", delay = "5 ms", queue = { kind = "red", limit = "400 packets", min = "10 packets", max = "200 packets" } }
        [traffic.long]
        kind = "bulk"
        from = "n.left[0]"
        to = "n.right[0]"
        [traffic.cross]
        kind = "bulk"
        flows = 4
        from = "n.enter[*]"
        to = "n.leave[*]"
        start = { within = "5 s" }
    """)
    run = tl.simulate(scenario)
    busy = [run.links.filter(link=f"n.hop[{hop}]")["utilization"][0] for hop in range(4)]
    assert max(busy) > busy[0]
    assert "4 links, n.hop[0..3], are saturated" in run.why().sentence
