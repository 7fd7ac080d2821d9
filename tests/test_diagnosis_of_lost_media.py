"""Why are packets of calls and streams lost, or late without a queue? Policers, outages, wires, fragments."""

from __future__ import annotations

import re
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl
from media import BACKUP, BEYOND, CALL, CAMERA, diagnosed, row_with, simulated
from tightlink.diagnosis import Delay
from tightlink.diagnosis.queueing import together
from tightlink.run import Framed, Run

POLICED: Final = f"""
duration = "10 s"
link.up = {{ ends = ["a", "b"], rate = "100 Mbit/s", delay = "10 ms", queue = {{ kind = "policer", rate = "5 Mbit/s", burst = "30 kB", limit = "100 packets" }} }}
{CAMERA}"""
DOWN: Final = f"""
duration = "30 s"
link.up = {{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "25 ms", queue = "200 ms", outages = {{ schedule = [{{ at = "10 s", for = "2 s" }}] }} }}
{CALL}"""
#: BBR through FQ-CoDel, which retransmits much of what had arrived after timeouts.
AGAIN: Final = """
duration = "40 s"
link.sat = { ends = ["net", "home"], network = "leo", queue = { kind = "fq-codel" } }
traffic.up = { kind = "bulk", from = "home", to = "net", tcp.congestion = "bbr" }
"""


def test_a_policer_that_drops_frames() -> None:
    camera = diagnosed(POLICED, "camera")
    assert (camera.causes[0].name, camera.causes[0].where) == ("policer", "up")
    assert "the policer of up (5 Mbit/s, bursts of 30 kB) drops 1" in camera.sentence
    assert "which come in longer bursts" in camera.sentence
    burst, spread, shaper = (each.changes for each in camera.suggestions if each.changes)
    assert ([*burst], [*shaper]) == (["link.up.queue.burst"], ["link.up.queue", "link.up.shaper"])
    assert spread == {"traffic.camera.spread": True}
    for changes in (burst, shaper):
        after = row_with(POLICED, "camera", changes)
        assert (after["packets_dropped"], after["frames_complete"]) == (0, after["frames_sent"])
    # Beside TCP a shaper would make it wait for that.
    beside = diagnosed(POLICED + 'traffic.tcp = { kind = "bulk", from = "a", to = "b" }', "camera")
    assert (beside.causes[0].name, beside.suggestions) == ("policer", ())


def test_a_call_beside_frames_that_a_policer_drops() -> None:
    """It comes one by one, and leaves room for a burst that takes frames."""
    camera, call = (diagnosed(POLICED + CALL, flow) for flow in ("camera", "call"))
    assert call.causes[0].name == "policer"
    assert ", as others' bursts take what it lets through; " in call.sentence
    assert ", which come in longer bursts; " in camera.sentence
    first = camera.suggestions[0]
    assert first.text.endswith(" (the largest frames)")
    before, after = (row_with(POLICED + CALL, "camera", changes) for changes in ({}, first.changes))
    assert after["packets_dropped"] == 0 < before["packets_dropped"]
    assert after["one_way_delay_p95_s"] < 0.03


def test_the_wait_for_the_end_of_an_outage_is_no_queues() -> None:
    call = diagnosed(DOWN, "call")
    assert "Link up is down for 2 s of 30 s. The outages of up add 68 ms (5" in call.sentence
    assert "at p95, 2 s at most)" in call.sentence
    at_random = diagnosed(DOWN, "call", ("link.up.outages", {"up": "10 s", "down": "1 s"}))
    assert "of 30 s on average. The outages of up add " in at_random.sentence
    upload = 'traffic.backup = { kind = "bulk", from = "a", to = "b" }'
    assert "The queue of up (250 kB), which backup fills, adds" in diagnosed(DOWN + upload, "call").sentence


def test_a_call_waits_for_the_end_of_outages_whatever_is_sent_beside_it() -> None:
    """Frames that wait there, too, are not why; at another link somebody else may be."""
    down = {"schedule": [{"at": "2 s", "for": "300 ms"}], "period": "5 s"}
    idle = ("link.up.rate", "100 Mbit/s"), ("link.up.delay", "3 ms"), ("link.up.outages", down)
    for flow in ("call", "camera"):
        told = diagnosed(DOWN + CAMERA, flow, *idle)
        assert "The outages of up add 1" in told.sentence
        assert "fills" not in told.sentence
    beyond = """
    link.wan = { ends = ["b", "c"], rate = "20 Mbit/s", delay = "10 ms", queue = "100 packets" }
    traffic.photos = { kind = "bulk", from = "a", to = "c", bytes = "10 MB", start = "10 s" }
    """
    call = diagnosed(DOWN + CAMERA + beyond, "call", *idle, ("traffic.call.to", "c"), ("traffic.camera.to", "c"))
    assert re.search(
        r"that of wan \(100 packets\), which photos fills, [\d.]+ ms and the outages of up [\d.]+ ms", call.sentence
    )


@pytest.mark.parametrize(("window", "said"), [
    ("14 packets", "The outages of line add 16.1 ms (3 ms at p95, 2 s at most) to a base RTT of 55 ms."),
    ("100 packets", "of it by outages, to a base RTT of 55 ms. Try a queue of what the path holds (14 packets)"),
])  # fmt: skip
def test_a_window_that_waits_for_the_end_of_an_outage_is_no_queue(window: str, said: str) -> None:
    """One that fits the path never waits in a queue, and no queue makes it wait less."""
    diagnosis = diagnosed(
        """
profile = "ns2"
duration = "10 s"
link.access = { ends = ["n0", "n1"], rate = "10 Mbit/s", delay = "5 ms" }
link.line = { ends = ["n1", "n2"], rate = "2 Mbit/s", delay = "20 ms", outages = { schedule = [{ at = "3 s", for = "2 s" }] } }
traffic.ftp = { kind = "bulk", from = "n0", to = "n2", start = "0.5 s", tcp.recovery = "newreno" }
""",
        "ftp",
        ("traffic.ftp.tcp.window", window),
    )
    assert said in diagnosis.sentence
    assert bool(diagnosis.suggestions) == ("Try" in said)


def test_drops_of_a_queue_are_no_random_losses() -> None:
    """BBR's window does not follow from a few losses on the wire; what it retransmits without need is said."""
    up = diagnosed(AGAIN, "up")
    row = simulated(AGAIN).flows.row(0, named=True)
    assert "random" not in up.sentence
    assert f"packets are retransmitted, though {row['packets_dropped']:,} were lost" in up.sentence
    assert up.suggestions[0].changes == {"link.sat.reverse.queue": "173 packets"}
    assert row_with(AGAIN, "up", up.suggestions[0].changes)["goodput_bps"] > 1.2 * row["goodput_bps"]


def test_losses_on_a_wire_are_its_own() -> None:
    """Of a flow that loses packets at a queue, too, the sentence says which share is lost on the wire."""
    lossy = """
    duration = "10 s"
    link.wire = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "20 ms", queue = "20 packets", loss = "1 %" }
    traffic.flood = { kind = "cbr", from = "a", to = "b", rate = "15 Mbit/s", random = "exponential" }
    traffic.f = { kind = "bulk", from = "a", to = "b" }
    """
    found = diagnosed(lossy, "f")
    assert found.causes[0].name == "random_loss"
    assert found.causes[0].text.startswith("random losses on the wire of wire (0.98 %, and 2.2 % in all")


def test_queues_of_a_flow_are_its_own_where_they_are_known_apart_from_the_wire() -> None:
    """A link's mean wait is of all packets: a call has its share of it, and of the changing delay the rest."""
    run = simulated(BACKUP, ("link.up.jitter", {"kind": "uniform", "most": "20 ms"}))
    known = {"queueing_delay_mean_s": 0.03, "queueing_delay_p95_s": 0.11}
    flows = run.flows.with_columns(pl.lit(value).alias(name) for name, value in known.items())
    told = Run(run.scenario, run.manifest, Framed({"flows": flows, "links": run.links})).why("call")
    row = run.flows.row(by_predicate=pl.col("label") == "call", named=True)
    moves = row["one_way_delay_mean_s"] - 0.0101 - 0.03
    assert "adds 30 ms (110 ms at p95)" in told.sentence
    assert f"the jitter of up adds {moves * 1000:.1f}" in told.sentence


@pytest.mark.parametrize(("key", "value", "what"), [
    ("delay", {"schedule": [{"at": "0 s", "delay": "15 ms"}, {"at": "5 s", "delay": "60 ms"}]}, "changing delay"),
    ("jitter", {"kind": "gamma", "mean": "12 ms", "shape": 1}, "jitter"),
    ("arq", {"after": "40 ms"}, "ARQ"),
])  # fmt: skip
def test_what_a_wire_adds_is_said_of_flows_together_as_of_one(key: str, value: dict[str, Any], what: str) -> None:
    fast = ("link.up.rate", "100 Mbit/s"), ("link.up.delay", "30 ms"), ("link.up.loss", 0.05)
    run = simulated(BEYOND, *fast, (f"link.up.{key}", value))
    (both,) = run.why().diagnoses
    assert re.search(rf"he {what} of up adds [\d. to]+ ms.*, together [\d. to]+ ms at p95", both.sentence)
    alone = run.why("call").diagnoses[0].delay
    assert alone is not None
    row = run.flows.row(by_predicate=pl.col("label") == "call", named=True)
    assert alone.wire_s == pytest.approx(row["one_way_delay_mean_s"] - alone.base_s - alone.mean_s)
    assert alone.variation_p95_s == pytest.approx(row["one_way_delay_p95_s"] - alone.base_s)


def test_what_wires_add_to_flows_that_wait_unlike_each_other() -> None:
    wire = "the jitter of radio"
    camera = Delay(
        "radio", 0.0024, 0.009, 0.0152, round_trip=False, text="", wire=wire, wire_s=0.0117, variation_p95_s=0.0491
    )
    call = Delay(
        "radio", 0.00018, 0.0, 0.015, round_trip=False, text="", wire=wire, wire_s=0.0113, variation_p95_s=0.045
    )
    assert together([camera, call], camera).text == (
        "queues, most that of radio, add 0.18 to 2.4 ms (0 to 9 ms at p95) to a base delay of 15.2 ms; the jitter of radio "
        "adds 11.3 to 11.7 ms more, together 45 to 49.1 ms at p95"
    )


def test_the_p95_of_a_link_is_no_flows_that_waits_less_there() -> None:
    """Over a jitter only the mean of its waits is known of a flow: a call was told a p95 of more than its delay varies."""
    run = simulated(BEYOND, ("link.up.rate", "15 Mbit/s"), ("link.up.jitter", {"kind": "uniform", "most": "4 ms"}))
    call = run.why("call").diagnoses[0].delay
    assert call is not None
    assert call.p95_s is None
    assert run.links["queueing_delay_p95_s"][0] > (call.variation_p95_s or 0.0)
    assert re.search(
        r"adds [\d.]+ ms to a base delay of [\d.]+ ms; the jitter of up adds [\d.]+ ms more, together", call.text
    )


def test_a_window_over_a_link_that_was_down_is_to_be_shorter_and_no_queue() -> None:
    """Nothing is delivered in an outage, and a window is full all the same: a queue that it cannot fill helps nobody."""
    scenario = tl.loads("""
profile = "ns2"
duration = "10 s"
link.access = { ends = ["n0", "n1"], rate = "10 Mbit/s", delay = "5 ms" }
link.line = { ends = ["n1", "n2"], rate = "2 Mbit/s", delay = "20 ms", outages = { schedule = [{ at = "3 s", for = "2 s" }] } }
traffic.ftp = { kind = "bulk", from = "n0", to = "n2", start = "0.5 s", tcp = { recovery = "newreno", window = "20 packets" } }
""")
    run = tl.simulate(scenario)
    found = run.why("ftp").diagnoses[0]
    assert [each.changes for each in found.suggestions] == [{"traffic.ftp.tcp.window": "14 packets"}]
    after = tl.simulate(scenario.set_all(found.suggestions[0].changes))
    assert after.flows["goodput_bps"][0] > 0.98 * run.flows["goodput_bps"][0]
    assert after.flows["queueing_delay_mean_s"][0] < 0.5 * run.flows["queueing_delay_mean_s"][0]
    assert not after.why("ftp").suggestions


def test_the_p95_of_a_call_over_a_path_that_is_slow_at_times() -> None:
    """Most packets of its link come while that is fast: what 95 % of these wait is not what its own packets do."""
    run = simulated("""
profile = "linux"
duration = "60 s"
link.l = { ends = ["a", "b"], queue = "100 packets", rate = { schedule = [{ at = "0 s", rate = "10 Mbit/s" }, { at = "20 s", rate = "2 Mbit/s" }, { at = "40 s", rate = "10 Mbit/s" }] }, delay = { schedule = [{ at = "0 s", delay = "20 ms" }, { at = "20 s", delay = "270 ms" }, { at = "40 s", delay = "20 ms" }] }, outages = { flush = true, schedule = [{ at = "20 s", for = "1 s" }, { at = "40 s", for = "50 ms" }] } }
traffic.file = { kind = "bulk", flows = 2, from = "a", to = "b" }
traffic.call = { kind = "cbr", flows = 5, from = "a", to = "b", interval = "20 ms", random = true, udp.payload = "172 B" }
""")
    row = run.flows.filter(label="call[0]").row(0, named=True)
    least_s = row["one_way_delay_p95_s"] - 0.27 - 0.001
    of_link_s = run.links.filter(link="l")["queueing_delay_p95_s"].item()
    delay = run.why("call[0]").delay
    assert delay is not None
    assert of_link_s < 0.9 * least_s, "or else it tells nothing"
    assert delay.p95_s is None
    assert delay.variation_p95_s == pytest.approx(row["one_way_delay_p95_s"] - delay.base_s)
    assert " more, together " in delay.text


def test_datagrams_in_fragments_are_lost_more_often() -> None:
    """Of two fragments each that are lost by 1 %, 2 % of the datagrams are."""
    tunnel = """
duration = "20 s"
link.lan = { ends = ["a", "b"], rate = "1 Gbit/s" }
link.tunnel = { ends = ["b", "c"], rate = "10 Mbit/s", delay = "20 ms", mtu = "1400 B", loss = "1 %" }
traffic.tele = { kind = "cbr", from = "a", to = "c", rate = "5 Mbit/s", udp.payload = "1422 B" }
"""
    found = diagnosed(tunnel, "tele")
    said = re.search(
        r"Each datagram is 2 fragments, as tunnel takes packets of 1400 B: ([0-9.]+) % of the ", found.sentence
    )
    assert said
    row = row_with(tunnel, "tele", {})
    datagrams, whole = (row["packets_delivered"] + row["packets_dropped"]) / 2, row["goodput_bps"] * 20 / 8 / 1422
    assert float(said[1]) == pytest.approx(100 * (1 - whole / datagrams), abs=0.1)
    assert float(said[1]) > 150 * row["packets_dropped"] / row["packets_sent"]
    assert "(1372 B of payload are not cut)" in found.sentence
    for change in (("traffic.tele.udp.payload", "1372 B"), ("link.tunnel.loss", "0 %")):
        assert "fragments" not in diagnosed(tunnel, "tele", change).sentence
