"""Why a flow is slow where queues mark or drop early: who answers what, and what other queues do to whom."""

from __future__ import annotations

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
    """What marks all alike gives Prague nearly all (RFC 9331, section 5); DualPI2 gives both as much (RFC 9332)."""
    run = two(queue, CUBIC if ecn else {"congestion": "cubic"}, {"congestion": "prague"})
    few, most = rates(run)
    assert most > 5 * few
    (found,) = run.why().diagnoses
    assert f"as prague reduces by the share of marks, and a by each of {each}" in found.answer
    first = found.suggestions[0]
    assert first.changes == {"link.w.queue": {"kind": "dualpi2"}}
    helped = tl.simulate(run.scenario.set_all(first.changes))
    assert min(rates(helped)) > 0.8 * sum(rates(helped)) / 2
    assert helped.flows["queueing_delay_mean_s"][1] < 0.001


def test_marks_that_keep_windows_small_are_said_of_each_control() -> None:
    (found,) = two(SHALLOW, CUBIC, {"congestion": "prague"}).why().diagnoses
    assert found.causes[0].name == "congestion_marks"
    assert "cubic and prague keep their windows small; b gets 96 % of what flows have there, as prague" in found.answer
