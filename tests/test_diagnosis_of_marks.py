"""Why a flow is slow where queues mark or drop early: who answers what, and what other queues do to whom."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tightlink as tl

SHALLOW = {"kind": "threshold", "limit": "1 BDP", "mark": "2 packets"}
CUBIC = {"congestion": "cubic", "ecn": True}


def two(queue: object, *controls: dict[str, Any]) -> tl.Run:
    """Flows with a control each, a and b, over one link."""
    scenario = tl.loads("""
        profile = "linux"
        duration = "20 s"
        link.w = { ends = ["s", "r"], rate = "20 Mbit/s", delay = "20 ms" }
        traffic.a = { kind = "bulk", from = "s", to = "r" }
        traffic.b = { kind = "bulk", from = "s", to = "r" }
    """)
    changes = {f"traffic.{name}.tcp": tcp for name, tcp in zip("ab", controls, strict=True)}
    return tl.simulate(scenario.set_all({"link.w.queue": queue, **changes}))


def rates(run: tl.Run) -> list[float]:
    found: list[float] = run.flows["goodput_bps"].to_list()
    return found


@pytest.mark.parametrize("ecn", [False, True])
def test_ecn_is_no_help_from_who_ignores_marks(*, ecn: bool) -> None:
    found = two(SHALLOW, {"congestion": "bbr3", "ecn": ecn}, CUBIC).why()
    assert "as a does not answer the marks that others do" in found.sentence.replace("\n", " ")
    assert [list(each.changes) for each in found.suggestions] == [["link.w.queue"]]


@pytest.mark.parametrize(
    ("queue", "ecn", "each"),
    [
        (SHALLOW, True, "them"),
        ({"kind": "codel", "ecn": True}, True, "them"),
        ({"kind": "codel", "ecn": True}, False, "the drops"),
        ({"kind": "red", "limit": "200 packets", "ecn": True}, True, "them"),
    ],
)
def test_who_takes_each_mark_for_a_loss_beside_prague(queue: dict[str, Any], each: str, *, ecn: bool) -> None:
    """What marks all alike gives Prague nearly all (RFC 9331 §4.3.1); DualPI2 gives both as much (RFC 9332)."""
    run = two(queue, CUBIC if ecn else {"congestion": "cubic"}, {"congestion": "prague"})
    few, most = rates(run)
    assert most > 5 * few
    (found,) = run.why().diagnoses
    assert f"as prague reduces by the share of marks, and a by each of {each}" in found.answer
    # What helps both may stand before it: marks from more packets on.
    place, fair = next(
        (place, each)
        for place, each in enumerate(found.suggestions)
        if each.changes == {"link.w.queue": {"kind": "dualpi2"}}
    )
    assert [list(each.changes) for each in found.suggestions[:place]] in ([], [["link.w.queue.mark"]])
    helped = tl.simulate(run.scenario.set_all(fair.changes))
    assert min(rates(helped)) > 0.8 * sum(rates(helped)) / 2
    assert helped.flows["queueing_delay_mean_s"][1] < 0.001


def test_marks_that_keep_windows_small_are_said_of_each_control() -> None:
    (found,) = two(SHALLOW, CUBIC, {"congestion": "prague"}).why().diagnoses
    assert found.causes[0].name == "congestion_marks"
    assert "cubic and prague keep their windows small; b gets 96 % of what flows have there, as prague" in found.answer


def test_what_l4s_waits_elsewhere_is_a_cost() -> None:
    """A fair queue of CoDel waits for its target, where DualPI2 has L4S wait for less than a millisecond."""
    run = tl.simulate(
        tl.loads("""
        profile = "linux"
        duration = "20 s"
        link.near = { ends = ["s1", "m"], rate = "1 Gbit/s", delay = "5 ms" }
        link.far = { ends = ["s2", "m"], rate = "1 Gbit/s", delay = "40 ms" }
        link.w = { ends = ["m", "r"], rate = "20 Mbit/s", delay = "5 ms", queue = { kind = "dualpi2" } }
        traffic.near = { kind = "bulk", from = "s1", to = "r", tcp.congestion = "prague" }
        traffic.far = { kind = "bulk", from = "s2", to = "r", tcp.congestion = "prague" }
    """)
    )
    (fair,) = run.why().diagnoses[0].suggestions
    helped = tl.simulate(run.scenario.set_all(fair.changes))
    assert min(helped.flows["queueing_delay_mean_s"].to_list()) > 10 * max(run.flows["queueing_delay_mean_s"].to_list())
    assert "less and waits 10.7 ms in place of 0.5" in fair.text
    assert "far waits 7.6 ms in place of 0.56 ms" in fair.text


def test_ecn_is_no_help_where_all_get_less_by_it() -> None:
    """A threshold of two packets leaves CUBIC next to nothing: all that it leaves to others is the link."""
    run = two(SHALLOW, CUBIC, {"congestion": "cubic"})
    assert sum(rates(tl.simulate(run.scenario.set_all({"traffic.b.tcp.ecn": True})))) < 0.1 * sum(rates(run))
    found = run.why()
    assert "as b does not answer the marks that others do" in found.sentence.replace("\n", " ")
    assert {key for each in found.suggestions for key in each.changes} == {"link.w.queue"}


@pytest.mark.parametrize("kind", ["codel", "fq-codel", "cake"])
@pytest.mark.parametrize("tcp", [{"congestion": "reno"}, CUBIC])
def test_codel_waits_for_as_long_as_round_trips_are(kind: str, tcp: dict[str, Any]) -> None:
    """An interval of a long round trip keeps the window (RFC 8289 §4.2); a plain queue adds what it takes."""
    run = tl.simulate(
        tl.loads(f"""
        profile = "linux"
        duration = "30 s"
        link.w = {{ ends = ["s", "r"], rate = "50 Mbit/s", delay = "250 ms", queue = {{ kind = "{kind}", ecn = true }} }}
        traffic.a = {{ kind = "bulk", from = "s", to = "r" }}
    """).set("traffic.a.tcp", tcp)
    )
    interval, plain = (each for each in run.why().suggestions if each.changes)
    assert interval.changes == {"link.w.queue.interval": "550 ms", "link.w.queue.target": "27.5 ms"}
    helped = tl.simulate(run.scenario.set_all(interval.changes))
    assert rates(helped)[0] > 1.1 * rates(run)[0]
    assert helped.flows["queueing_delay_mean_s"][0] < 0.05
    assert re.search(r"; a waits 23\.8 ms in place of", plain.text)
    assert not any(each.changes.keys() & interval.changes.keys() for each in helped.why().suggestions)


@pytest.mark.parametrize("kind", ["codel", "pie", "fq-codel"])
def test_marks_and_drops_of_a_busy_link_are_told_alike(kind: str) -> None:
    """One flow of CUBIC has the same rate with either, and the same delay."""
    scenario = tl.loads(f"""
        profile = "linux"
        duration = "20 s"
        link.w = {{ ends = ["s", "r"], rate = "20 Mbit/s", delay = "20 ms", queue = {{ kind = "{kind}", ecn = true }} }}
        traffic.a = {{ kind = "bulk", from = "s", to = "r", tcp.congestion = "cubic" }}
    """)
    dropped, marked = (tl.simulate(scenario.set("traffic.a.tcp.ecn", ecn)) for ecn in (None, True))
    assert dropped.links["packets_marked"][0] == 0 == marked.links["packets_dropped"][0]
    assert marked.links["utilization"][0] == pytest.approx(dropped.links["utilization"][0], rel=0.01)
    for run in (dropped, marked):
        assert [cause.name for cause in run.why().causes] == ["saturated_link"]


def test_waits_that_differ_are_all_said() -> None:
    """Of two flows in a fair queue one waits by two fifths longer, which the words of the other hid."""
    run = tl.simulate(
        tl.loads("""
        duration = "20 s"
        link.w = { ends = ["s", "r"], rate = "10 Mbit/s", delay = "20 ms", queue = { kind = "fq-codel" } }
        traffic.small = { kind = "cbr", from = "s", to = "r", rate = "9 Mbit/s", udp.payload = "200 B" }
        traffic.large = { kind = "cbr", from = "s", to = "r", rate = "9 Mbit/s", udp.payload = "1000 B" }
    """)
    )
    waits_s = run.flows["queueing_delay_mean_s"].to_list()
    assert 1.25 < max(waits_s) / min(waits_s) < 2
    (found,) = run.why().diagnoses
    said = re.search(r"Queues, most that of w \(FQ-CoDel\), add ([\d.]+) to ([\d.]+) s", found.answer)
    assert said is not None
    assert [float(each) for each in said.groups()] == pytest.approx(sorted(waits_s), rel=0.01)


@pytest.mark.parametrize("ecn", [None, True])
def test_a_sweep_over_kinds_says_which_marks(*, ecn: bool | None) -> None:
    """With ECN CoDel and PIE drop by default where FQ-CoDel marks."""
    scenario = tl.loads("""
        duration = "10 s"
        link.w = { ends = ["s", "r"], rate = "20 Mbit/s", delay = "10 ms", queue = "256 packets" }
        traffic.a = { kind = "bulk", flows = 2, from = "s", to = "r" }
        traffic.call = { kind = "cbr", from = "s", to = "r", rate = "1 Mbit/s" }
    """)
    sweep = tl.simulate(scenario.set("traffic.a.tcp.ecn", ecn)).why("a[0]").suggestions[-1]
    assert sweep.vary == {"link.w.queue.kind": ("drop-tail", "codel", "pie", "fq-codel")}
    assert sweep.text == "a sweep over kinds of queues" + (" (those that mark: fq-codel)" if ecn else "")
