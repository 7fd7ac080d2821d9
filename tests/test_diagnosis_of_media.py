"""Why is it slow? Calls, cameras and streams: who fills the queue in which they wait, what loses their packets, and that what
is suggested helps whom it is said of."""

from __future__ import annotations

import re
from typing import Any, Final

import polars as pl
import pytest

import tightlink as tl
from tightlink.diagnosis import Delay, Diagnosis
from tightlink.diagnosis.queueing import together
from tightlink.run import Framed, Run

CALL: Final = 'traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }\n'
CAMERA: Final = 'traffic.camera = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s", frames_per_second = 30 }\n'
#: An upload in a part of a call.
BACKUP: Final = f"""
duration = "20 s"
link.up = {{ ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", queue = "256 packets" }}
traffic.backup = {{ kind = "bulk", from = "a", to = "b", start = "8 s", stop = "14 s", tcp.congestion = "cubic" }}
{CALL}"""
#: A camera that sends more than its link carries.
BEYOND: Final = f"""
duration = "10 s"
link.up = {{ ends = ["a", "b"], rate = "3 Mbit/s", delay = "10 ms", queue = "100 packets" }}
{CAMERA}{CALL}"""
#: A camera that sends more than its link carries for a quarter of the time.
FALLS: Final = f"""
duration = "20 s"
link.up = {{ ends = ["a", "b"], rate = {{ schedule = [{{ at = "0 s", rate = "10 Mbit/s" }}, {{ at = "10 s", rate = "2 Mbit/s" }}, {{ at = "15 s", rate = "10 Mbit/s" }}] }}, delay = "10 ms", queue = "200 packets" }}
{CAMERA}{CALL}"""
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


def _run(text: str, *changes: tuple[str, Any]) -> Run:
    return tl.simulate(tl.loads(text, file="case.toml").set_all(dict(changes)))


def _told(text: str, flow: str, *changes: tuple[str, Any]) -> Diagnosis:
    return _run(text, *changes).why(flow).diagnoses[0]


def _row(text: str, flow: str, changes: dict[str, Any]) -> dict[str, Any]:
    """A flow's row with changes: those of a suggestion."""
    run = tl.simulate(tl.loads(text).set_all(changes))
    return run.flows.row(by_predicate=pl.col("label") == flow, named=True)


def test_a_call_waits_behind_an_upload_in_a_part_of_it() -> None:
    call, backup = (_told(BACKUP, flow) for flow in ("call", "backup"))
    assert "The queue of up (256 packets), which backup fills, adds " in call.sentence
    assert "fills" not in backup.sentence
    first = call.suggestions[0]
    assert first.changes == backup.suggestions[0].changes == {"link.up.queue": {"kind": "fq-codel"}}
    before, after = (_row(BACKUP, "call", changes) for changes in ({}, first.changes))
    assert after["one_way_delay_p95_s"] < 0.2 * before["one_way_delay_p95_s"]
    assert _row(BACKUP, "backup", first.changes)["goodput_bps"] > 0.95 * _row(BACKUP, "backup", {})["goodput_bps"]


@pytest.mark.parametrize(
    ("queue", "says"), [("8 packets", "is full at times"), ("30 packets", "does not take the largest")]
)
def test_a_queue_is_to_take_the_largest_frames(queue: str, says: str) -> None:
    """One of twice the length takes no key frame; and losses of fewer packets are those of key frames as well."""
    fast = {"link.up.rate": "100 Mbit/s", "link.up.queue": queue}
    camera = _told(BEYOND, "camera", *fast.items())
    assert (camera.causes[0].name, camera.causes[0].where) == ("small_queue", "up")
    assert says in camera.sentence
    longer = camera.suggestions[0]
    assert longer.text.startswith("a longer queue (68 packets, the largest frames")
    rows = [_row(BEYOND, "camera", {**fast, **changes}) for changes in ({}, longer.changes)]
    assert rows[0]["frames_complete"] < 0.95 * rows[0]["frames_sent"]
    assert rows[1]["frames_complete"] > 0.99 * rows[1]["frames_sent"]


#: A game that says ECT(1) without answering marks, before Prague.
L4S: Final = """
duration = "10 s"
link.up = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "10 ms", queue = { kind = "dualpi2" } }
traffic.camera = { kind = "video", from = "a", to = "b", rate = "20 Mbit/s", frames_per_second = 60, udp.ecn = "ect1" }
traffic.prague = { kind = "bulk", from = "a", to = "b", tcp.congestion = "prague", start = "1 s" }
"""


def test_packets_of_a_frame_wait_for_each_other() -> None:
    """Who is beside them is not why, unless they wait much longer; and frames that are spread do not."""
    cubic = 'traffic.backup = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }'
    for text in (L4S, L4S + cubic):
        assert "The queue of up (DualPI2), which each frame fills, adds " in _told(text, "camera").sentence
    assert "each frame" not in _told(L4S, "camera", ("traffic.camera.spread", True)).sentence
    # A call that waits as long does not wait for its own.
    told = _run(BEYOND, ("link.up.rate", "25 Mbit/s")).why().diagnoses
    assert [("each frame fills" in each.sentence, each.flows) for each in told] == [
        (True, ("camera",)),
        (False, ("call",)),
    ]
    behind = _told(BEYOND + cubic, "camera", ("link.up.rate", "20 Mbit/s"), ("link.up.queue", "300 packets"))
    assert "which backup fills" in behind.sentence


def test_who_fills_the_queue_of_l4s_says_ect1() -> None:
    """A download in the other queue of DualPI2 does not; who is in that one waits behind both."""
    more = CALL + 'traffic.backup = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic", start = "2 s" }'
    prague = _told(L4S + more, "prague")
    assert "The queue of up (DualPI2), which camera fills, adds " in prague.sentence
    assert {"traffic.camera.spread": True} in [each.changes for each in prague.suggestions]
    assert "which backup" in _told(L4S + more, "call").sentence


def test_frames_are_to_be_spread_for_who_is_behind_them() -> None:
    spread = {"traffic.camera.spread": True}
    text = "frames of camera spread over their interval (complete up to 16.7 ms later)"
    prague = _told(L4S, "prague")
    assert (prague.causes[0].name, prague.suggestions[0].text) == ("congestion_marks", text)
    rates = [_row(L4S, "prague", changes)["goodput_bps"] for changes in ({}, spread)]
    assert rates[1] > 2 * rates[0]
    assert all("spread" not in each.text for each in _told(L4S, "camera").suggestions)
    lossy = _told(BEYOND, "camera", ("link.up.rate", "100 Mbit/s"), ("link.up.queue", "8 packets"))
    assert spread in [each.changes for each in lossy.suggestions]


@pytest.mark.parametrize(("queue", "keys"), [
    ({"kind": "fq-codel"}, ["rate"]),
    # Its COBALT takes the packets of a frame for a queue, and drops some of them.
    ({"kind": "cake", "rate": "19 Mbit/s", "tins": "diffserv4"}, ["rate", "spread"]),
])  # fmt: skip
def test_media_are_to_fit_into_their_turn(queue: dict[str, Any], keys: list[str]) -> None:
    """Where flows take turns TCP takes nothing of what a lower rate leaves."""
    text = BEYOND + 'traffic.backup = { kind = "bulk", flows = 2, from = "a", to = "b", tcp.congestion = "cubic" }'
    fast = {"link.up.rate": "20 Mbit/s", "link.up.queue": queue, "traffic.camera.rate": "12 Mbit/s"}
    assert _told(text, "camera", *fast.items()).causes[0].name == "saturated_link"
    changed = fast
    for key in keys:
        first = _told(text, "camera", *changed.items()).suggestions[0]
        assert [*first.changes] == [f"traffic.camera.{key}"]
        changed = {**changed, **first.changes}
    before, after = (_row(text, "camera", changes) for changes in (fast, changed))
    lost = [row["packets_dropped"] / row["packets_sent"] for row in (before, after)]
    assert lost[0] > 0.2
    assert lost[1] < 0.05
    assert after["frames_complete"] > 3 * before["frames_complete"]
    assert after["one_way_delay_p95_s"] < 0.5 * before["one_way_delay_p95_s"]


@pytest.mark.parametrize("rate", ["1 Mbit/s", "500 kbit/s"])
def test_waits_of_frames_that_are_smaller_than_packets(rate: str) -> None:
    """What the link tells, on which is nobody else, is what they wait."""
    slow = {"traffic.camera.rate": "250 kbit/s", "link.up.rate": rate, "duration": "20 s"}
    run = _run(BEYOND.replace(CALL, ""), *slow.items())
    delay = run.why("camera").delay
    assert delay is not None
    waits = run.links["queueing_delay_mean_s"][0]
    assert delay.mean_s == pytest.approx(waits)
    assert delay.p95_s == pytest.approx(run.links["queueing_delay_p95_s"][0], rel=0.016)
    assert "The queue of up (100 packets)" in run.why("camera").sentence


def test_turns_and_a_rate_for_media_behind_tcp() -> None:
    """Turns alone give a camera less than it sends, and a lower rate alone leaves the room to TCP."""
    text = BEYOND + 'traffic.backup = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }'
    fast: dict[str, Any] = {
        "link.up.rate": "20 Mbit/s",
        "link.up.queue": "200 packets",
        "traffic.camera.rate": "10 Mbit/s",
    }
    fast |= {"traffic.camera.frames_per_second": 60, "traffic.camera.key_frame_ratio": 3}
    both = _told(text, "camera", *fast.items()).suggestions[0]
    assert both.text.startswith("FQ-CoDel (a queue for each flow) and a rate of ")
    assert [*both.changes] == ["link.up.queue", "traffic.camera.rate"]
    before, after = (_row(text, "camera", {**fast, **changes}) for changes in ({}, both.changes))
    assert after["one_way_delay_mean_s"] < 0.7 * before["one_way_delay_mean_s"]
    assert after["packets_dropped"] / after["packets_sent"] < 0.3 * before["packets_dropped"] / before["packets_sent"]
    assert after["frames_complete"] > before["frames_complete"]
    assert _row(text, "call", {**fast, **both.changes})["one_way_delay_p95_s"] < 0.02
    # Who sends less than its turn needs no other rate.
    slow = _told(text, "camera", *fast.items(), ("traffic.camera.rate", "2 Mbit/s")).suggestions[0]
    assert [*slow.changes] == ["link.up.queue"]


def test_a_call_that_waits_at_two_links_gets_turns_at_both() -> None:
    """Those that fill the one do not take the other: turns at one alone leave the call the other's wait."""
    text = (
        BEYOND.replace(CAMERA, "")
        + """
    link.far = { ends = ["b", "c"], rate = "20 Mbit/s", delay = "15 ms", queue = "150 packets" }
    traffic.backup = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }
    traffic.cross = { kind = "bulk", from = "b", to = "c", tcp.congestion = "cubic" }
    """
    )
    through = {"traffic.call.to": "c", "link.up.rate": "10 Mbit/s"}
    call = _told(text, "call", *through.items())
    assert call.suggestions[0].text == "FQ-CoDel (a queue for each flow) at far and up"
    before, after = (_row(text, "call", {**through, **changes}) for changes in ({}, call.suggestions[0].changes))
    assert after["one_way_delay_p95_s"] < 0.2 * before["one_way_delay_p95_s"]


def test_what_overshoots_a_long_queue_overshoots_a_longer_one() -> None:
    """It would gain nothing, and the call would wait for twice as long."""
    jitter = ("link.up.jitter", {"kind": "uniform", "most": "20 ms"})
    backup = _told(BACKUP, "backup", ("traffic.backup.start", "0 s"), ("traffic.backup.stop", "3 s"), jitter)
    assert "timeouts" in {cause.name for cause in backup.causes}
    assert all("longer queue" not in each.text for each in backup.suggestions)


def test_a_link_is_not_saturated_for_longer_than_it_is_busy() -> None:
    """Of a flow that does not last for the whole run, what the link does in all of it says little."""
    assert (
        "busy" not in _told(BACKUP, "backup", ("traffic.backup.start", "4 s"), ("traffic.backup.stop", "20 s")).sentence
    )


@pytest.mark.parametrize(
    ("text", "cause", "says", "costs"),
    [
        (
            BEYOND,
            "saturated_link",
            "link up is saturated (100 % busy): ",
            "; camera has 6 % of its frames complete in place of 64 %",
        ),
        (FALLS, "application", "Link up carries less than the 4.0", ""),
    ],
)
def test_media_that_are_too_fast_for_their_link(text: str, cause: str, says: str, costs: str) -> None:
    """A lower rate helps, and CoDel loses the call's packets for nothing."""
    camera, call = (_told(text, flow) for flow in ("camera", "call"))
    assert (camera.causes[0].name, says in camera.sentence) == (cause, True), camera.sentence
    assert "which camera fills, adds" in call.sentence
    slower, fair = (each.changes for each in call.suggestions[:2])
    assert camera.suggestions[0].changes == slower
    assert [*slower] == ["traffic.camera.rate"]
    assert fair == {"link.up.queue": {"kind": "fq-codel"}}
    assert call.suggestions[1].text == f"FQ-CoDel (a queue for each flow{costs})"
    complete = [
        row["frames_complete"] / row["frames_sent"] for row in (_row(text, "camera", each) for each in ({}, fair))
    ]
    assert (complete[1] < 0.85 * complete[0]) == bool(costs)
    assert "a sweep of rates" in camera.suggestions[-1].text
    assert "CoDel" not in camera.sentence
    for flow in ("camera", "call"):
        before, after = (_row(text, flow, changes) for changes in ({}, slower))
        assert after["packets_dropped"] == 0 < before["packets_dropped"] + (flow == "call")
        assert after["one_way_delay_p95_s"] < 0.5 * before["one_way_delay_p95_s"]


def test_for_how_much_of_the_time_a_link_is_too_slow() -> None:
    falls = _told(FALLS, "camera").causes[1]
    assert (falls.name, falls.where, falls.certainty, falls.share) == ("falling_rate", "up", "certain", 0.25)
    drawn = {"kind": "markov", "states": [{"rate": "50 Mbit/s", "mean": "3 s"}, {"rate": "2 Mbit/s", "mean": "1 s"}]}
    falls = _told(FALLS, "camera", ("link.up.rate", drawn)).causes[1]
    assert (falls.certainty, falls.share) == ("likely", 0.25)
    assert falls.text.endswith("for 25 % of the time on average")


def test_a_policer_that_drops_frames() -> None:
    camera = _told(POLICED, "camera")
    assert (camera.causes[0].name, camera.causes[0].where) == ("policer", "up")
    assert "the policer of up (5 Mbit/s, bursts of 30 kB) drops 1" in camera.sentence
    assert "which come in longer bursts" in camera.sentence
    burst, spread, shaper = (each.changes for each in camera.suggestions if each.changes)
    assert ([*burst], [*shaper]) == (["link.up.queue.burst"], ["link.up.queue", "link.up.shaper"])
    assert spread == {"traffic.camera.spread": True}
    for changes in (burst, shaper):
        after = _row(POLICED, "camera", changes)
        assert (after["packets_dropped"], after["frames_complete"]) == (0, after["frames_sent"])
    # Beside TCP a shaper would make it wait for that.
    beside = _told(POLICED + 'traffic.tcp = { kind = "bulk", from = "a", to = "b" }', "camera")
    assert (beside.causes[0].name, beside.suggestions) == ("policer", ())


def test_a_call_beside_frames_that_a_policer_drops() -> None:
    """It comes one by one, and leaves room for a burst that takes frames."""
    camera, call = (_told(POLICED + CALL, flow) for flow in ("camera", "call"))
    assert call.causes[0].name == "policer"
    assert ", as others' bursts take what it lets through; " in call.sentence
    assert ", which come in longer bursts; " in camera.sentence
    first = camera.suggestions[0]
    assert first.text.endswith(" (the largest frames)")
    before, after = (_row(POLICED + CALL, "camera", changes) for changes in ({}, first.changes))
    assert after["packets_dropped"] == 0 < before["packets_dropped"]
    assert after["one_way_delay_p95_s"] < 0.03


def test_the_wait_for_the_end_of_an_outage_is_no_queues() -> None:
    call = _told(DOWN, "call")
    assert "Link up is down for 2 s of 30 s. The outages of up add 68 ms (5" in call.sentence
    assert "at p95, 2 s at most)" in call.sentence
    at_random = _told(DOWN, "call", ("link.up.outages", {"up": "10 s", "down": "1 s"}))
    assert "of 30 s on average. The outages of up add " in at_random.sentence
    upload = 'traffic.backup = { kind = "bulk", from = "a", to = "b" }'
    assert "The queue of up (250 kB), which backup fills, adds" in _told(DOWN + upload, "call").sentence


def test_a_call_waits_for_the_end_of_outages_whatever_is_sent_beside_it() -> None:
    """Frames that wait there, too, are not why; at another link somebody else may be."""
    down = {"schedule": [{"at": "2 s", "for": "300 ms"}], "period": "5 s"}
    idle = ("link.up.rate", "100 Mbit/s"), ("link.up.delay", "3 ms"), ("link.up.outages", down)
    for flow in ("call", "camera"):
        told = _told(DOWN + CAMERA, flow, *idle)
        assert "The outages of up add 1" in told.sentence
        assert "fills" not in told.sentence
    beyond = """
    link.wan = { ends = ["b", "c"], rate = "20 Mbit/s", delay = "10 ms", queue = "100 packets" }
    traffic.photos = { kind = "bulk", from = "a", to = "c", bytes = "10 MB", start = "10 s" }
    """
    call = _told(DOWN + CAMERA + beyond, "call", *idle, ("traffic.call.to", "c"), ("traffic.camera.to", "c"))
    assert re.search(
        r"that of wan \(100 packets\), which photos fills, [\d.]+ ms and the outages of up [\d.]+ ms", call.sentence
    )


@pytest.mark.parametrize(("window", "said"), [
    ("14 packets", "The outages of line add 16.1 ms (3 ms at p95, 2 s at most) to a base RTT of 55 ms."),
    ("100 packets", "of it by outages, to a base RTT of 55 ms. Try a queue of what the path holds (14 packets)"),
])  # fmt: skip
def test_a_window_that_waits_for_the_end_of_an_outage_is_no_queue(window: str, said: str) -> None:
    """One that fits the path never waits in a queue, and no queue makes it wait less."""
    diagnosis = _told(
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


def test_rates_of_a_group_are_all_said() -> None:
    slow = ("traffic.camera.rate", "1 Mbit/s")
    (both,) = _run(BEYOND, slow, ("link.up.rate", "100 Mbit/s")).why().diagnoses
    assert "the application sets the rate, 75.4 kbit/s to 1 Mbit/s. " in both.sentence
    (alike,) = _run(CALL + BEYOND.replace(CALL, "").replace(CAMERA, ""), ("traffic.call.flows", 3)).why().diagnoses
    assert "the application sets the rate, 75.4 kbit/s each. " in alike.sentence


def test_drops_of_a_queue_are_no_random_losses() -> None:
    """BBR's window does not follow from a few losses on the wire; what it retransmits without need is said."""
    up = _told(AGAIN, "up")
    row = _run(AGAIN).flows.row(0, named=True)
    assert "random" not in up.sentence
    assert f"packets are retransmitted, though {row['packets_dropped']:,} were lost" in up.sentence
    assert up.suggestions[0].changes == {"link.sat.reverse.queue": "173 packets"}
    assert _row(AGAIN, "up", up.suggestions[0].changes)["goodput_bps"] > 1.2 * row["goodput_bps"]


def test_losses_on_a_wire_are_its_own() -> None:
    """Of a flow that loses packets at a queue, too, the sentence says which share is lost on the wire."""
    lossy = """
    duration = "10 s"
    link.wire = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "20 ms", queue = "20 packets", loss = "1 %" }
    traffic.flood = { kind = "cbr", from = "a", to = "b", rate = "15 Mbit/s", random = "exponential" }
    traffic.f = { kind = "bulk", from = "a", to = "b" }
    """
    found = _told(lossy, "f")
    assert found.causes[0].name == "random_loss"
    assert found.causes[0].text.startswith("random losses on the wire of wire (0.98 %, and 2.2 % in all")


def test_queues_of_a_flow_are_its_own_where_they_are_known_apart_from_the_wire() -> None:
    """A link's mean wait is of all packets: a call has its share of it, and of the changing delay the rest."""
    run = _run(BACKUP, ("link.up.jitter", {"kind": "uniform", "most": "20 ms"}))
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
    run = _run(BEYOND, *fast, (f"link.up.{key}", value))
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
    run = _run(BEYOND, ("link.up.rate", "15 Mbit/s"), ("link.up.jitter", {"kind": "uniform", "most": "4 ms"}))
    call = run.why("call").diagnoses[0].delay
    assert call is not None
    assert call.p95_s is None
    assert run.links["queueing_delay_p95_s"][0] > (call.variation_p95_s or 0.0)
    assert re.search(
        r"adds [\d.]+ ms to a base delay of [\d.]+ ms; the jitter of up adds [\d.]+ ms more, together", call.text
    )


def test_a_class_behind_those_that_go_first() -> None:
    """For a camera behind an upload; who goes first waits behind nobody, and who takes nearly all is not helped so."""
    strict = ("link.up.queue", {"kind": "strict", "limit": "256 packets", "order": ["EF"]})
    changes = (strict, ("traffic.call.dscp", "EF"), ("traffic.camera.rate", "2.5 Mbit/s"))
    camera, call = (_told(BACKUP + CAMERA, flow, *changes) for flow in ("camera", "call"))
    assert "fills" not in call.sentence
    wanted = {"link.up.queue.order": ["EF", "AF41"], "traffic.camera.dscp": "AF41"}
    assert [each.changes for each in camera.suggestions] == [wanted]
    before, after = (_row(BACKUP + CAMERA, "camera", dict(changes) | each) for each in ({}, wanted))
    assert after["packets_dropped"] == 0 < before["packets_dropped"]
    assert after["one_way_delay_p95_s"] < 0.5 * before["one_way_delay_p95_s"]
    assert _told(BACKUP + CAMERA, "camera", *changes, ("traffic.camera.rate", "18 Mbit/s")).suggestions == ()


def test_a_longer_queue_beside_tcp_is_filled_by_it() -> None:
    """Alone, a camera's frames need it."""
    short = f"""
    duration = "10 s"
    link.up = {{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "6 packets" }}
    {CAMERA}"""
    beside = _told(short + 'traffic.tcp = { kind = "bulk", from = "a", to = "b" }', "camera")
    alone = _told(short, "camera")
    assert alone.causes[0].name == beside.causes[0].name == "small_queue"
    assert "a longer queue" in alone.sentence
    assert "a longer queue" not in beside.sentence


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


def test_a_queue_that_is_never_reached_is_not_suggested() -> None:
    scenario = tl.loads("""
duration = "20 s"
link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "500 packets" }
traffic.f = { kind = "bulk", from = "a", to = "b", tcp.window = "50 packets" }
traffic.g = { kind = "bulk", from = "a", to = "b", tcp.window = "18 packets" }
""")
    run = tl.simulate(scenario)
    longest = run.links["queue_max_packets"][0]
    for each in run.why().suggestions:
        for value in each.changes.values():
            assert not (isinstance(value, str) and int(value.split()[0]) > longest), each


def test_classes_with_weights_are_to_send_what_they_have() -> None:
    """Of 10 Mbit/s in 1 : 2 : 4; who sends less than its part is left alone."""
    scenario = tl.loads("""
        duration = "5 s"
        link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms", queue = { kind = "drr", limit = "300 packets", weights = { EF = 1, AF41 = 2, CS0 = 4 } } }
        traffic.x = { kind = "cbr", from = "a", to = "b", rate = "8 Mbit/s", udp.payload = "772 B", dscp = "EF" }
        traffic.y = { kind = "cbr", from = "a", to = "b", rate = "8 Mbit/s", udp.payload = "1472 B", dscp = "AF41" }
        traffic.z = { kind = "cbr", from = "a", to = "b", rate = "8 Mbit/s", udp.payload = "772 B" }
    """)
    asked = [f"traffic.{name}.rate" for name in "xyz"]
    (first,) = (each.changes for each in tl.simulate(scenario).why().suggestions if list(each.changes) == asked)
    assert [*first.values()] == ["1.2 Mbit/s", "2.4 Mbit/s", "4.8 Mbit/s"]
    after = tl.simulate(scenario.set_all(first)).flows
    assert after["packets_dropped"].sum() == 0
    part = scenario.set("traffic.y.rate", "2.3 Mbit/s")
    changes = next(each.changes for each in tl.simulate(part).why().suggestions if "traffic.x.rate" in each.changes)
    assert changes == {"traffic.x.rate": "1.2 Mbit/s", "traffic.z.rate": "4.9 Mbit/s"}


#: Calls of 89.6 kbit/s, framing included, over 2 Mbit/s, which 22 of them fill.
CALLS: Final = """
profile = "linux"
duration = "15 s"
link.wan = { ends = ["hub", "site"], rate = "2 Mbit/s", delay = "20 ms", framing = { overhead = "24 B" }, queue = "100 packets" }
traffic.voice = { kind = "cbr", flows = 24, from = "hub", to = "site", interval = "20 ms", random = true, udp.payload = "172 B", dscp = "EF" }
"""


def test_calls_that_overload_a_link_together() -> None:
    """Each is little, and loses less than a fifth: all that come are more than it carries."""
    (found,) = _run(CALLS).why().diagnoses
    assert (found.causes[0].name, len(found.flows)) == ("saturated_link", 24)
    assert ", as 1.92 Mbit/s come where it carries 1.79 Mbit/s: " in found.sentence
    fewer, swept = found.suggestions
    assert (fewer.text, fewer.changes) == ("18 flows of voice in place of 24", {"traffic.voice.flows": 18})
    assert swept.vary == {"traffic.voice.flows": (9, 14, 18, 22, 27)}
    assert _run(CALLS, *fewer.changes.items()).flows["packets_dropped"].sum() == 0
    assert _told(CALLS, "voice", ("traffic.voice.flows", 22)).causes[0].name == "application"
    # In one row they are no other calls.
    (group,) = _run(CALLS, ("observe.flows", "group")).why().diagnoses
    assert [each.changes for each in group.suggestions] == [fewer.changes, {}]
    assert ", as 1.92 Mbit/s come where it carries 1.79 Mbit/s: " in group.sentence


def test_calls_stay_where_a_video_can_be_slower() -> None:
    """0.8 Mbit/s of calls leave a rate to video."""
    video = ("traffic.video", {"kind": "video", "flows": 2, "from": "hub", "to": "site", "rate": "1 Mbit/s"})
    for queue in ("100 packets", {"kind": "fq-codel"}):
        changes = [("traffic.voice.flows", 10), ("link.wan.queue", queue), video]
        first = _told(CALLS, "video", *changes).suggestions[0].changes
        assert [*first] == ["traffic.video.rate"], queue


def test_calls_of_a_class_that_goes_first_overload_a_link_whoever_comes_after() -> None:
    """What they leave is another's, and what he sends is not why they wait."""
    strict = ("link.wan.queue", {"kind": "strict", "limit": "100 packets", "order": ["EF"]})
    data = ("traffic.data", {"kind": "bulk", "from": "hub", "to": "site"})
    found = _told(CALLS, "voice", strict, data)
    assert (found.causes[0].name, found.causes[0].where) == ("saturated_link", "wan")
    assert found.suggestions[0].changes == {"traffic.voice.flows": 18}
    # Beside TCP in one queue fewer calls leave it more, and wait as long.
    assert not any("flows" in each.text for each in _told(CALLS, "voice", data).suggestions)


def test_the_p95_of_a_call_over_a_path_that_is_slow_at_times() -> None:
    """Most packets of its link come while that is fast: what 95 % of these wait is not what its own packets do."""
    run = _run("""
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


#: Phones that do not mark their packets, and a terminal session, where a queue tells classes apart.
UNMARKED: Final = """
profile = "linux"
duration = "15 s"
link.wan = { ends = ["hub", "site"], rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "strict", limit = "150 packets", order = ["EF", "AF21"] } }
traffic.bulk = { kind = "bulk", flows = 2, from = "hub", to = "site" }
traffic.terminal = { kind = "cbr", from = "hub", to = "site", interval = "50 ms", tcp.payload = "400 B" }
traffic.voice = { kind = "cbr", flows = 5, from = "hub", to = "site", interval = "20 ms", random = true, udp.payload = "172 B" }
traffic.marked = { kind = "cbr", from = "hub", to = "site", interval = "20 ms", random = true, udp.payload = "172 B", dscp = "EF" }
traffic.erp = { kind = "bulk", from = "hub", to = "site", tcp.window = "10 packets", dscp = "AF21" }
"""
TURNS: Final = {"kind": "drr", "limit": "150 packets", "weights": {"EF": 4, "AF21": 3}}


@pytest.mark.parametrize("queue", [None, TURNS])
def test_calls_without_a_class_get_that_of_other_calls(queue: Any) -> None:
    changes = [("link.wan.queue", queue)] if queue else []
    voice, terminal = (_told(UNMARKED, flow, *changes) for flow in ("voice", "terminal"))
    first = voice.suggestions[0]
    assert (first.text.partition(" (")[0], first.changes) == (
        "class EF for voice, as marked has",
        {"traffic.voice.dscp": "EF"},
    )
    waits = [_run(UNMARKED, *changes, *more).why("voice").delay for more in ((), first.changes.items())]
    assert waits[0] is not None
    assert waits[1] is not None
    assert waits[1].mean_s < 0.05 * waits[0].mean_s
    # What TCP sends would make calls wait.
    own = terminal.suggestions[0]
    assert own.changes["traffic.terminal.dscp"] == "AF41"
    after = _run(UNMARKED, *changes, *own.changes.items()).why("terminal").delay
    assert terminal.delay is not None
    assert after is not None
    assert after.mean_s < 0.5 * terminal.delay.mean_s


def test_calls_that_are_too_much_for_a_class_do_not_join_it() -> None:
    """Half of a link goes first at most, or what turns give."""
    many = ("traffic.voice.flows", 70)
    joined = {"traffic.voice.dscp": "EF"}
    for changes in ([many], [many, ("link.wan.queue", {**TURNS, "weights": {"EF": 1, "AF21": 3}})]):
        assert all(each.changes != joined for each in _told(UNMARKED, "voice", *changes).suggestions)


def test_what_waits_behind_higher_classes_for_longer_than_its_queue_lasts() -> None:
    """100 packets are 0.6 s at the rate of the line; and a short queue takes packets of one of many calls."""
    strict = {"kind": "strict", "limit": "100 packets", "order": ["EF"]}
    calls = {"flows": 20, "random": False, "start": {"within": "20 ms"}}
    changes = [
        ("link.wan.queue", strict),
        ("traffic.data", {"kind": "bulk", "from": "hub", "to": "site"}),
        *((f"traffic.voice.{key}", value) for key, value in calls.items()),
    ]
    data = _told(CALLS, "data", *changes)
    assert data.delay is not None
    assert data.delay.mean_s > 100 * 1524 * 8 / 2e6
    assert "(100 packets, 15 BDP), where higher classes go first, adds " in data.delay.text
    assert "voice loses up to 4" in data.suggestions[0].text
    assert " of a flow in place of 0 %" in data.suggestions[0].text
    after = _run(CALLS, *changes, *data.suggestions[0].changes.items()).flows.filter(transport="udp")
    lost = [row["packets_dropped"] / row["packets_sent"] for row in after.to_dicts()]
    assert sum(lost) < 0.01 * len(lost)
    assert max(lost) > 0.03


def test_a_source_that_is_faster_than_its_link_at_times() -> None:
    """A fifth of what it sends is more than the link carries, though it is little on average, and a file is there, too."""
    bursty = """
profile = "linux"
duration = "30 s"
link.wan = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "100 packets" }
traffic.copies = { kind = "on-off", from = "a", to = "b", rate = "12 Mbit/s", on = "1 s", off = "4 s", udp.payload = "1372 B" }
traffic.file = { kind = "bulk", from = "a", to = "b" }
"""
    run = _run(f"{bursty}{CALL}")
    copies, call = (run.why(flow).diagnoses[0] for flow in ("copies", "call"))
    assert "lost at wan, as 12 Mbit/s are sent at times where it carries 10 Mbit/s" in copies.sentence
    assert "which copies and file fill, adds" in call.sentence
    # What CoDel drops of it is lost for nothing.
    assert all(each.changes.get("link.wan.queue", {}).get("kind") != "codel" for each in call.suggestions)


def test_datagrams_in_fragments_are_lost_more_often() -> None:
    """Of two fragments each that are lost by 1 %, 2 % of the datagrams are."""
    tunnel = """
duration = "20 s"
link.lan = { ends = ["a", "b"], rate = "1 Gbit/s" }
link.tunnel = { ends = ["b", "c"], rate = "10 Mbit/s", delay = "20 ms", mtu = "1400 B", loss = "1 %" }
traffic.tele = { kind = "cbr", from = "a", to = "c", rate = "5 Mbit/s", udp.payload = "1422 B" }
"""
    found = _told(tunnel, "tele")
    said = re.search(
        r"Each datagram is 2 fragments, as tunnel takes packets of 1400 B: ([0-9.]+) % of the ", found.sentence
    )
    assert said
    row = _row(tunnel, "tele", {})
    datagrams, whole = (row["packets_delivered"] + row["packets_dropped"]) / 2, row["goodput_bps"] * 20 / 8 / 1422
    assert float(said[1]) == pytest.approx(100 * (1 - whole / datagrams), abs=0.1)
    assert float(said[1]) > 150 * row["packets_dropped"] / row["packets_sent"]
    assert "(1372 B of payload are not cut)" in found.sentence
    for change in (("traffic.tele.udp.payload", "1372 B"), ("link.tunnel.loss", "0 %")):
        assert "fragments" not in _told(tunnel, "tele", change).sentence


def test_calls_of_a_class_whose_turns_are_too_few() -> None:
    """1.28 Mbit/s of calls in half of a line of 2 Mbit/s."""
    queue = {"kind": "drr", "limit": "100 packets", "weights": {"EF": 1}}
    upload = {"kind": "bulk", "from": "hub", "to": "site"}
    changes = [("traffic.voice.flows", 16), ("link.wan.queue", queue), ("traffic.upload", upload)]
    found = _told(CALLS, "voice", *changes)
    first = found.suggestions[0]
    assert first.text.startswith("a weight of 6 for EF, of which the turns are enough for voice")
    assert first.changes == {"link.wan.queue.weights.EF": 6}
    assert found.causes[0].name == "saturated_link"
    after = _run(CALLS, *changes, *first.changes.items()).flows.filter(transport="udp")
    assert after["packets_dropped"].sum() == 0
    # What no weight is enough for has none, and neither has what has turns enough.
    for flows in (8, 19):
        others = _told(CALLS, "voice", ("traffic.voice.flows", flows), *changes[1:]).suggestions
        assert not any("weight" in each.text for each in others), flows


def test_marked_calls_in_a_queue_that_tells_no_classes_apart() -> None:
    """What the dscp of their packets asks for, beside what needs none."""
    upload = ("traffic.upload", {"kind": "bulk", "flows": 2, "from": "hub", "to": "site"})
    few = ("traffic.voice.flows", 5)
    found = _told(CALLS, "voice", few, upload)
    strict = next(
        each for each in found.suggestions if each.text.startswith("a strict queue, at which class EF goes first")
    )
    assert strict.changes == {"link.wan.queue": {"kind": "strict", "limit": "100 packets", "order": ["EF"]}}
    assert found.suggestions[0].changes == {"link.wan.queue": {"kind": "fq-codel"}}
    after = _run(CALLS, few, upload, *strict.changes.items()).why("voice").delay
    assert after is not None
    assert found.delay is not None
    assert after.mean_s < 0.1 * found.delay.mean_s
    # Half of the link goes first at most; and a class that a connection has does not.
    for changes in ([("traffic.voice.flows", 16), upload], [few, upload, ("traffic.upload.dscp", "EF")]):
        assert not any("strict" in each.text for each in _told(CALLS, "voice", *changes).suggestions)


@pytest.mark.parametrize("seed", [1, 3, 5])
def test_a_rate_that_was_suggested_is_not_lowered_again(seed: int) -> None:
    """Frames of random sizes come to a little more than their rate, and links that wander carry less than on average."""
    phone = f"""
    duration = "60 s"
    seed = {seed}
    link.radio = {{ ends = ["a", "b"], network = "lte" }}
    traffic.game = {{ kind = "video", from = "a", to = "b", rate = "15 Mbit/s", frames_per_second = 60 }}
    {CALL}"""
    scenario = tl.loads(phone)
    first = tl.simulate(scenario).why("game").suggestions[0]
    assert first.text.startswith("a rate of ")
    (rate,) = first.changes.values()
    again = tl.simulate(scenario.set_all(first.changes)).why("game")
    assert not any(each.text.startswith("a rate of ") for each in again.suggestions), (rate, again.sentence)
