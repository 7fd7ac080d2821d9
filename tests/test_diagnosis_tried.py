"""Suggestions are tried: what they cost whom is said, and what helps nobody is not suggested."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

import tightlink as tl
from diagnosed_runs import row_of
from tightlink.diagnosis import trials
from tightlink.diagnosis.trials import Trials
from tightlink.diagnosis.words import ms
from tightlink.run import Framed, Run

#: Two connections beside an on-off source that is faster than its part.
BURSTY: Final = """
profile = "linux"
duration = "30 s"
link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "24 ms", queue = "2 BDP" }
traffic.ftp = { kind = "bulk", flows = 2, from = "a", to = "b" }
traffic.bursty = { kind = "on-off", from = "a", to = "b", rate = "5 Mbit/s", on = "500 ms", off = "500 ms" }
"""
#: Pages over a phone beside a download.
WEB: Final = """
profile = "linux"
duration = "30 s"
link.radio = { ends = ["net", "phone"], network = "lte" }
traffic.web = { kind = "transfers", from = "net", to = "phone", arrivals = "5 transfers/s", size = "200 kB" }
traffic.big = { kind = "bulk", from = "net", to = "phone" }
"""


def test_fair_queues_say_what_they_cost_a_bursty_source() -> None:
    scenario = tl.loads(BURSTY)
    run = tl.simulate(scenario)
    first = run.why("ftp").suggestions[0]
    assert first.changes == {"link.w.queue": {"kind": "fq-codel"}}
    before, after = (row_of(each, "bursty") for each in (run, tl.simulate(scenario.set_all(first.changes))))
    lost = [100 * row["packets_dropped"] / row["packets_sent"] for row in (after, before)]
    waits = [1000 * row["queueing_delay_mean_s"] for row in (after, before)]
    assert lost[0] > 2 * lost[1]
    said = f"bursty loses {lost[0]:.2g} % in place of {lost[1]:.2g} % and waits {waits[0]:.0f} ms in place of {waits[1]:.0f} ms"
    assert first.text == f"FQ-CoDel (a queue for each flow; {said})"
    # With the name of the link, and for notebooks and JSON, too.
    assert said in run.why("ftp").to_dict()["sentence"]


def test_what_pages_get_costs_a_download() -> None:
    scenario = tl.loads(WEB)
    run = tl.simulate(scenario)
    found = [each for diagnosis in run.why().diagnoses for each in diagnosis.suggestions if each.changes]
    told = 0
    for each in found:
        after = tl.simulate(scenario.set_all(each.changes))
        less = 1 - row_of(after, "big")["goodput_bps"] / row_of(run, "big")["goodput_bps"]
        assert (f"big gets {100 * less:.0f} % less" in each.text) == (less > 0.15), each.text
        told += less > 0.15
    assert told


def test_what_helps_nobody_is_not_suggested() -> None:
    scenario = tl.loads("""
duration = "10 s"
link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "100 packets" }
traffic.f = { kind = "bulk", from = "a", to = "b", tcp.window = "20 packets" }
traffic.g = { kind = "bulk", from = "b", to = "a", tcp.window = "20 packets" }
""")
    known = Trials(tl.simulate(scenario))
    nothing, window = (
        known.of(each) for each in ({"link.w.queue": "60 packets"}, {"traffic.f.tcp.window": "40 packets"})
    )
    assert nothing == trials.Effect(helps=False, costs=[])
    assert window is not None
    assert window.helps
    assert window.costs[0].startswith("g gets ")


def test_what_harms_a_flow_is_not_suggested_to_it() -> None:
    """A plain queue against marks, where it costs Prague half of its rate, as well as a video many frames."""
    run = tl.simulate(
        tl.loads("""
    duration = "15 s"
    link.line = { ends = ["net", "home"], rate = "50 Mbit/s", delay = "10 ms", queue = { kind = "dualpi2" } }
    traffic.game = { kind = "video", from = "net", to = "home", rate = "20 Mbit/s", frames_per_second = 60 }
    traffic.prague = { kind = "bulk", from = "net", to = "home", tcp.congestion = "prague", start = "2 s" }
    """)
    )
    plain = Trials(run).of({"link.line.queue": "85 packets"})
    assert plain is not None
    assert plain.harms == frozenset({"prague"})
    assert run.why("prague").causes[0].name == "congestion_marks"
    assert all("plain queue" not in each.text for each in run.why("prague").suggestions)


def test_who_is_to_send_less_may_lose_frames_by_it() -> None:
    """That it gets less is what was asked for; that turns lose its key frames is a cost all the same."""
    run = tl.simulate(
        tl.loads("""
    duration = "10 s"
    link.up = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", queue = "200 packets" }
    traffic.camera = { kind = "video", from = "a", to = "b", rate = "10 Mbit/s", frames_per_second = 30, key_frame_ratio = 10 }
    traffic.backup = { kind = "bulk", from = "a", to = "b", tcp.congestion = "cubic" }
    """)
    )
    turns = {"link.up.queue": {"kind": "fq-codel"}}
    both, rate = (Trials(run).of({**changes, "traffic.camera.rate": "9 Mbit/s"}) for changes in (turns, {}))
    assert both is not None
    assert rate is not None
    assert any(said.startswith("camera has ") and "of its frames complete in place of" in said for said in both.costs)
    assert not any("camera" in said for said in rate.costs)


def test_what_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was measured, a part of a run, a run of another engine, and runs that take their time; nothing is said then."""
    run = tl.simulate(tl.loads(BURSTY).set("duration", "5 s"))
    change = {"link.w.queue": {"kind": "fq-codel"}}
    assert Trials(run).of(change) is not None
    tables = Framed({"flows": run.flows, "links": run.links})
    for more in ({"source": "measurement"}, {"part_until_s": 2.0}, {"engine_behaviour": 1}):
        assert Trials(Run(run.scenario, {**run.manifest, **more}, tables)).of(change) is None
    monkeypatch.setattr(trials, "_MOST_HOPS", run.manifest["packet_hops"] - 1)
    again = Run(run.scenario, run.manifest, tables)
    assert Trials(again).of(change) is None
    assert again.why("ftp").suggestions[0].text == "FQ-CoDel (a queue for each flow)"


def test_a_stored_run_is_told_of_as_the_one_that_was_made(tmp_path: Any) -> None:
    run = tl.simulate(tl.loads(BURSTY).set("duration", "5 s"))
    run.save(tmp_path / "out")
    assert tl.open_run(tmp_path / "out").why().sentence == run.why().sentence


def test_what_costs_nobody_comes_first() -> None:
    """A shaper makes a call wait, and a longer burst gives the transfer as much."""
    scenario = tl.loads("""
profile = "linux"
duration = "20 s"
link.l = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "15 ms", queue = { kind = "policer", rate = "20 Mbit/s", burst = "60 kB", limit = "1000 packets" } }
traffic.f = { kind = "bulk", from = "a", to = "b" }
traffic.call = { kind = "cbr", from = "a", to = "b", interval = "10 ms", udp.payload = "160 B" }
""")
    run = tl.simulate(scenario)
    burst, shaper = run.why("f").suggestions
    assert burst.changes == {"link.l.queue.burst": "151 kB"}
    assert re.search(r"; call waits 2[\d.]+ ms in place of 0.02 ms\)", shaper.text)
    rates = [row_of(tl.simulate(scenario.set_all(each.changes)), "f")["goodput_bps"] for each in (burst, shaper)]
    assert min(rates) > 1.05 * row_of(run, "f")["goodput_bps"]


def test_transfers_that_are_left_unfinished_are_a_cost() -> None:
    """Those that complete are the fast ones."""
    run = tl.simulate(
        tl.loads("""
        duration = "20 s"
        link.w = { ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms" }
        traffic.web = { kind = "transfers", from = "a", to = "b", arrivals = "5 transfers/s", size = "300 kB" }
        """)
    )
    found = Trials(run).of({"link.w.rate": "8 Mbit/s"})
    assert found is not None
    assert not found.helps
    assert re.fullmatch(r"web takes \d+ % longer", found.costs[0])


#: Both directions of a line, with an upload that slows the download down until that fills nothing.
LINE: Final = """
profile = "linux"
duration = "20 s"
link.line = { ends = ["net", "home"], rate = "50 Mbit/s", delay = "8 ms", queue = "150 ms", reverse = { rate = "10 Mbit/s", queue = "500 ms" } }
traffic.down = { kind = "bulk", from = "net", to = "home", flows = 4 }
traffic.up = { kind = "bulk", from = "home", to = "net", flows = 4 }
traffic.listen = { kind = "cbr", from = "net", to = "home", interval = "20 ms", udp.payload = "160 B" }
"""


def test_turns_at_both_ends_come_before_those_that_move_the_wait() -> None:
    """Without its uploads' queue the download fills its own, and who listens waits there instead."""
    run = tl.simulate(tl.loads(LINE))
    for group in ("up", "down"):
        first, second = run.why(group).diagnoses[0].suggestions[:2]
        assert (len(first.changes), len(second.changes)) == (2, 1)
        assert "in place of" not in first.text
        assert "listen waits" in second.text


def test_pages_whose_acks_wait_behind_an_upload_get_turns() -> None:
    """They are short, and each of their round trips waits: turns bring more than a larger initial window."""
    pages = {"kind": "transfers", "from": ["net"], "to": ["home"], "arrivals": "2 transfers/s", "size": "50 kB"}
    scenario = tl.loads(LINE).set_all({"traffic.pages": pages, "traffic.down": None, "traffic.up.flows": 1})
    first = tl.simulate(scenario).why("pages").suggestions[0]
    assert "link.line.reverse.queue" in first.changes
    both = [tl.simulate(each) for each in (scenario, scenario.set_all(first.changes))]
    before, after = (run.completion_times.filter(size_class="all")["slowdown_p50"][0] for run in both)
    assert after < before / 2


def test_waits_that_are_long_at_times_are_a_cost() -> None:
    """Key frames of a call wait for their turns, of which its mean wait hardly tells."""
    scenario = tl.loads("""
profile = "linux"
duration = "20 s"
link.cable = { ends = ["net", "home"], network = "cable" }
traffic.call = { kind = "video", from = "home", to = "net", rate = "2 Mbit/s" }
traffic.backup = { kind = "bulk", from = "home", to = "net", flows = 4 }
""")
    run = tl.simulate(scenario)
    first = run.why("backup").suggestions[0]
    before, after = (row_of(each, "call") for each in (run, tl.simulate(scenario.set_all(first.changes))))
    assert after["queueing_delay_mean_s"] < before["queueing_delay_mean_s"] + 0.005
    assert after["one_way_delay_p95_s"] > before["one_way_delay_p95_s"] + 0.01
    # Over the changing delay of a cable, the mean of the waits is known.
    names = ("one_way_delay_p95_s", "one_way_delay_mean_s", "queueing_delay_mean_s")
    p95, mean, waited = ([row[name] for row in (after, before)] for name in names)
    waits = [ms(p95 - mean + waited) for p95, mean, waited in zip(p95, mean, waited, strict=True)]
    assert f"call waits {waits[0]} at p95 in place of {waits[1]}" in first.text


def test_what_tcp_loses_at_a_short_queue_is_said() -> None:
    """Ten windows of BBR do not shrink to a BDP of 34 packets (Hock et al. 2017)."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "20 s"
        link.w = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "16 BDP" }
        traffic.f = { kind = "bulk", from = "a", to = "b", flows = 10, start = { first = "0 s", every = "10 ms" }, tcp.congestion = "bbr" }
    """)
    run = tl.simulate(scenario)
    first = run.why().suggestions[0]
    assert first.changes["link.w.queue"].endswith("packets")
    lost = [100 * sum(each.flows["packets_dropped"].to_list()) / sum(each.flows["packets_sent"].to_list())
            for each in (tl.simulate(scenario.set_all(first.changes)), run)]  # fmt: skip
    assert lost[0] > lost[1] + 5
    assert f"{lost[0]:.2g} % of the packets are lost in place of {lost[1]:.2g} %)" in first.text


def test_longer_round_trips_for_fewer_retransmissions_are_no_help() -> None:
    """Down over a satellite, its ACKs back over a full line: what a longer queue retransmits less is no faster."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "60 s"
        link.sat = { ends = ["hub", "site"], rate = "20 Mbit/s", delay = "260 ms", queue = "200 packets" }
        link.dsl = { ends = ["hub", "site"], rate = "10 Mbit/s", delay = "30 ms", queue = "100 packets", reverse = { rate = "1 Mbit/s", queue = "50 packets" } }
        traffic.down = { kind = "bulk", from = "hub", to = "site", path = ["sat"], reverse_path = ["dsl.reverse"] }
        traffic.up = { kind = "bulk", from = "site", to = "hub", path = ["dsl.reverse"], reverse_path = ["dsl"] }
    """)
    run, changes = tl.simulate(scenario), {"link.sat.queue": "325 packets"}
    before, after = (row_of(each, "down") for each in (run, tl.simulate(scenario.set_all(changes))))
    assert after["packets_retransmitted"] < 0.7 * before["packets_retransmitted"]
    assert after["goodput_bps"] < 1.02 * before["goodput_bps"]
    assert after["rtt_mean_s"] > 1.05 * before["rtt_mean_s"]
    tried = Trials(run).of(changes)
    assert tried is not None
    assert not tried.helps


def test_a_few_losses_less_are_chance() -> None:
    """A longer queue of a download, beside which an upload retransmits 174 packets in place of 185."""
    assert not trials._is_no_chance(185, 174)
    assert trials._is_no_chance(185, 140)
    assert not trials._is_no_chance(3, 0)
    assert trials._is_no_chance(5, 0)
