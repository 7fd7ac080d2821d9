"""Why is it slow? Calls, cameras and streams: who fills the queue in which they wait, and that what is suggested helps
whom it is said of."""

from __future__ import annotations

from typing import Any, Final

import pytest

import tightlink as tl
from media import BACKUP, BEYOND, CALL, CAMERA, diagnosed, row_with, simulated

#: A camera that sends more than its link carries for a quarter of the time.
FALLS: Final = f"""
duration = "20 s"
link.up = {{ ends = ["a", "b"], rate = {{ schedule = [{{ at = "0 s", rate = "10 Mbit/s" }}, {{ at = "10 s", rate = "2 Mbit/s" }}, {{ at = "15 s", rate = "10 Mbit/s" }}] }}, delay = "10 ms", queue = "200 packets" }}
{CAMERA}{CALL}"""


def test_a_call_waits_behind_an_upload_in_a_part_of_it() -> None:
    call, backup = (diagnosed(BACKUP, flow) for flow in ("call", "backup"))
    assert "The queue of up (256 packets), which backup fills, adds " in call.sentence
    assert "fills" not in backup.sentence
    first = call.suggestions[0]
    assert first.changes == backup.suggestions[0].changes == {"link.up.queue": {"kind": "fq-codel"}}
    before, after = (row_with(BACKUP, "call", changes) for changes in ({}, first.changes))
    assert after["one_way_delay_p95_s"] < 0.2 * before["one_way_delay_p95_s"]
    assert (
        row_with(BACKUP, "backup", first.changes)["goodput_bps"] > 0.95 * row_with(BACKUP, "backup", {})["goodput_bps"]
    )


@pytest.mark.parametrize(
    ("queue", "says"), [("8 packets", "is full at times"), ("30 packets", "does not take the largest")]
)
def test_a_queue_is_to_take_the_largest_frames(queue: str, says: str) -> None:
    """One of twice the length takes no key frame; and losses of fewer packets are those of key frames as well."""
    fast = {"link.up.rate": "100 Mbit/s", "link.up.queue": queue}
    camera = diagnosed(BEYOND, "camera", *fast.items())
    assert (camera.causes[0].name, camera.causes[0].where) == ("small_queue", "up")
    assert says in camera.sentence
    longer = camera.suggestions[0]
    assert longer.text.startswith("a longer queue (68 packets, the largest frames")
    rows = [row_with(BEYOND, "camera", {**fast, **changes}) for changes in ({}, longer.changes)]
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
        assert "The queue of up (DualPI2), which each frame fills, adds " in diagnosed(text, "camera").sentence
    assert "each frame" not in diagnosed(L4S, "camera", ("traffic.camera.spread", True)).sentence
    # A call that waits as long does not wait for its own.
    told = simulated(BEYOND, ("link.up.rate", "25 Mbit/s")).why().diagnoses
    assert [("each frame fills" in each.sentence, each.flows) for each in told] == [
        (True, ("camera",)),
        (False, ("call",)),
    ]
    behind = diagnosed(BEYOND + cubic, "camera", ("link.up.rate", "20 Mbit/s"), ("link.up.queue", "300 packets"))
    assert "which backup fills" in behind.sentence


def test_who_fills_the_queue_of_l4s_says_ect1() -> None:
    """A download in the other queue of DualPI2 does not; who is in that one waits behind both."""
    more = CALL + 'traffic.backup = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic", start = "2 s" }'
    prague = diagnosed(L4S + more, "prague")
    assert "The queue of up (DualPI2), which camera fills, adds " in prague.sentence
    assert {"traffic.camera.spread": True} in [each.changes for each in prague.suggestions]
    assert "which backup" in diagnosed(L4S + more, "call").sentence


def test_frames_are_to_be_spread_for_who_is_behind_them() -> None:
    spread = {"traffic.camera.spread": True}
    text = "frames of camera spread over their interval (complete up to 16.7 ms later)"
    prague = diagnosed(L4S, "prague")
    assert (prague.causes[0].name, prague.suggestions[0].text) == ("congestion_marks", text)
    rates = [row_with(L4S, "prague", changes)["goodput_bps"] for changes in ({}, spread)]
    assert rates[1] > 2 * rates[0]
    assert all("spread" not in each.text for each in diagnosed(L4S, "camera").suggestions)
    lossy = diagnosed(BEYOND, "camera", ("link.up.rate", "100 Mbit/s"), ("link.up.queue", "8 packets"))
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
    assert diagnosed(text, "camera", *fast.items()).causes[0].name == "saturated_link"
    changed = fast
    for key in keys:
        first = diagnosed(text, "camera", *changed.items()).suggestions[0]
        assert [*first.changes] == [f"traffic.camera.{key}"]
        changed = {**changed, **first.changes}
    before, after = (row_with(text, "camera", changes) for changes in (fast, changed))
    lost = [row["packets_dropped"] / row["packets_sent"] for row in (before, after)]
    assert lost[0] > 0.2
    assert lost[1] < 0.05
    assert after["frames_complete"] > 3 * before["frames_complete"]
    assert after["one_way_delay_p95_s"] < 0.5 * before["one_way_delay_p95_s"]


@pytest.mark.parametrize("rate", ["1 Mbit/s", "500 kbit/s"])
def test_waits_of_frames_that_are_smaller_than_packets(rate: str) -> None:
    """What the link tells, on which is nobody else, is what they wait."""
    slow = {"traffic.camera.rate": "250 kbit/s", "link.up.rate": rate, "duration": "20 s"}
    run = simulated(BEYOND.replace(CALL, ""), *slow.items())
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
    both = diagnosed(text, "camera", *fast.items()).suggestions[0]
    assert both.text.startswith("FQ-CoDel (a queue for each flow) and a rate of ")
    assert [*both.changes] == ["link.up.queue", "traffic.camera.rate"]
    before, after = (row_with(text, "camera", {**fast, **changes}) for changes in ({}, both.changes))
    assert after["one_way_delay_mean_s"] < 0.7 * before["one_way_delay_mean_s"]
    assert after["packets_dropped"] / after["packets_sent"] < 0.3 * before["packets_dropped"] / before["packets_sent"]
    assert after["frames_complete"] > before["frames_complete"]
    assert row_with(text, "call", {**fast, **both.changes})["one_way_delay_p95_s"] < 0.02
    # Who sends less than its turn needs no other rate.
    slow = diagnosed(text, "camera", *fast.items(), ("traffic.camera.rate", "2 Mbit/s")).suggestions[0]
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
    call = diagnosed(text, "call", *through.items())
    assert call.suggestions[0].text == "FQ-CoDel (a queue for each flow) at far and up"
    before, after = (row_with(text, "call", {**through, **changes}) for changes in ({}, call.suggestions[0].changes))
    assert after["one_way_delay_p95_s"] < 0.2 * before["one_way_delay_p95_s"]


def test_what_overshoots_a_long_queue_overshoots_a_longer_one() -> None:
    """It would gain nothing, and the call would wait for twice as long."""
    jitter = ("link.up.jitter", {"kind": "uniform", "most": "20 ms"})
    backup = diagnosed(BACKUP, "backup", ("traffic.backup.start", "0 s"), ("traffic.backup.stop", "3 s"), jitter)
    assert "timeouts" in {cause.name for cause in backup.causes}
    assert all("longer queue" not in each.text for each in backup.suggestions)


def test_a_link_is_not_saturated_for_longer_than_it_is_busy() -> None:
    """Of a flow that does not last for the whole run, what the link does in all of it says little."""
    assert (
        "busy"
        not in diagnosed(BACKUP, "backup", ("traffic.backup.start", "4 s"), ("traffic.backup.stop", "20 s")).sentence
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
    camera, call = (diagnosed(text, flow) for flow in ("camera", "call"))
    assert (camera.causes[0].name, says in camera.sentence) == (cause, True), camera.sentence
    assert "which camera fills, adds" in call.sentence
    slower, fair = (each.changes for each in call.suggestions[:2])
    assert camera.suggestions[0].changes == slower
    assert [*slower] == ["traffic.camera.rate"]
    assert fair == {"link.up.queue": {"kind": "fq-codel"}}
    assert call.suggestions[1].text == f"FQ-CoDel (a queue for each flow{costs})"
    complete = [
        row["frames_complete"] / row["frames_sent"] for row in (row_with(text, "camera", each) for each in ({}, fair))
    ]
    assert (complete[1] < 0.85 * complete[0]) == bool(costs)
    assert "a sweep of rates" in camera.suggestions[-1].text
    assert "CoDel" not in camera.sentence
    for flow in ("camera", "call"):
        before, after = (row_with(text, flow, changes) for changes in ({}, slower))
        assert after["packets_dropped"] == 0 < before["packets_dropped"] + (flow == "call")
        assert after["one_way_delay_p95_s"] < 0.5 * before["one_way_delay_p95_s"]


def test_for_how_much_of_the_time_a_link_is_too_slow() -> None:
    falls = diagnosed(FALLS, "camera").causes[1]
    assert (falls.name, falls.where, falls.certainty, falls.share) == ("falling_rate", "up", "certain", 0.25)
    drawn = {"kind": "markov", "states": [{"rate": "50 Mbit/s", "mean": "3 s"}, {"rate": "2 Mbit/s", "mean": "1 s"}]}
    falls = diagnosed(FALLS, "camera", ("link.up.rate", drawn)).causes[1]
    assert (falls.certainty, falls.share) == ("likely", 0.25)
    assert falls.text.endswith("for 25 % of the time on average")


def test_rates_of_a_group_are_all_said() -> None:
    slow = ("traffic.camera.rate", "1 Mbit/s")
    (both,) = simulated(BEYOND, slow, ("link.up.rate", "100 Mbit/s")).why().diagnoses
    assert "the application sets the rate, 75.4 kbit/s to 1 Mbit/s. " in both.sentence
    (alike,) = simulated(CALL + BEYOND.replace(CALL, "").replace(CAMERA, ""), ("traffic.call.flows", 3)).why().diagnoses
    assert "the application sets the rate, 75.4 kbit/s each. " in alike.sentence


def test_a_longer_queue_beside_tcp_is_filled_by_it() -> None:
    """Alone, a camera's frames need it."""
    short = f"""
    duration = "10 s"
    link.up = {{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "6 packets" }}
    {CAMERA}"""
    beside = diagnosed(short + 'traffic.tcp = { kind = "bulk", from = "a", to = "b" }', "camera")
    alone = diagnosed(short, "camera")
    assert alone.causes[0].name == beside.causes[0].name == "small_queue"
    assert "a longer queue" in alone.sentence
    assert "a longer queue" not in beside.sentence


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


def test_a_source_that_is_faster_than_its_link_at_times() -> None:
    """A fifth of what it sends is more than the link carries, though it is little on average, and a file is there, too."""
    bursty = """
profile = "linux"
duration = "30 s"
link.wan = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "100 packets" }
traffic.copies = { kind = "on-off", from = "a", to = "b", rate = "12 Mbit/s", on = "1 s", off = "4 s", udp.payload = "1372 B" }
traffic.file = { kind = "bulk", from = "a", to = "b" }
"""
    run = simulated(f"{bursty}{CALL}")
    copies, call = (run.why(flow).diagnoses[0] for flow in ("copies", "call"))
    assert "lost at wan, as 12 Mbit/s are sent at times where it carries 10 Mbit/s" in copies.sentence
    assert "which copies and file fill, adds" in call.sentence
    # What CoDel drops of it is lost for nothing.
    assert all(each.changes.get("link.wan.queue", {}).get("kind") != "codel" for each in call.suggestions)


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
