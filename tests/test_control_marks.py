"""Congestion controls written in Python: what they hear of congestion marks, and what follows from that."""

from __future__ import annotations

from itertools import pairwise

import pytest

import tightlink as tl

pytestmark = pytest.mark.usefixtures("forgotten_controls")


class Proportional(tl.CongestionControl):
    """DCTCP, as RFC 8257 has it."""

    def __init__(self, gain: float = 0.0625) -> None:
        self.gain, self.alpha = gain, 1.0

    def on_report(self, report: tl.Report) -> None:
        self.alpha += self.gain * (report.marked / max(report.delivered, 1) - self.alpha)
        if report.in_use and self.cwnd >= self.ssthresh:
            self.cwnd += 1

    def on_mark(self, loss: tl.Loss) -> float:
        return loss.in_use * (1 - self.alpha / 2)


class Unmoved(tl.CongestionControl):
    """Takes no note of marks."""

    def on_mark(self, _loss: tl.Loss) -> None:
        return None


MARKING = """
profile = "linux"
duration = "300 ms"
[link.wire]
ends = ["a", "b"]
rate = "10 Gbit/s"
delay = "10 us"
queue = {{ kind = "threshold", limit = "60 packets", mark = "30 packets" }}
[traffic.f]
kind = "bulk"
from = "a"
to = "b"
tcp = {{ congestion = "{control}", ecn = true }}
"""


def test_marks_are_told_apart_from_losses() -> None:
    """The engine's DCTCP has the same rate and queue; who hears marks as losses halves the window."""
    runs = {name: tl.simulate(tl.loads(MARKING.format(control=name))) for name in ("proportional", "dctcp", "unmoved")}
    queues = {name: run.links["queue_mean_packets"][0] for name, run in runs.items()}
    goodputs = {name: run.flows["goodput_bps"][0] for name, run in runs.items()}
    assert goodputs["proportional"] == pytest.approx(goodputs["dctcp"], rel=0.01)
    assert queues["proportional"] == pytest.approx(queues["dctcp"], rel=0.1)
    assert runs["proportional"].flows["packets_dropped"][0] == 0
    assert runs["unmoved"].links["queue_max_packets"][0] >= 59
    assert runs["unmoved"].flows["packets_dropped"][0] > 0


def test_a_control_that_reads_marks_has_ecn_as_dctcp_has() -> None:
    plain = MARKING.replace(", ecn = true", "")
    mine, theirs = (tl.simulate(tl.loads(plain.format(control=name))).flows for name in ("proportional", "dctcp"))
    assert mine["packets_marked"][0] > 0
    assert mine["goodput_bps"][0] == pytest.approx(theirs["goodput_bps"][0], rel=0.01)


@pytest.mark.parametrize("ecn", [True, "accecn"])
@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_acks_tell_of_each_mark(profile: str, ecn: object) -> None:
    heard: list[tuple[float, float]] = []
    marks: list[float] = []
    rounds: list[float] = []

    class Hearing(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> None:
            heard.append((ack.acked, ack.marked))
            if ack.in_use:
                self.cwnd += 1 if self.cwnd < self.ssthresh else ack.acked / self.cwnd

        def on_report(self, report: tl.Report) -> None:
            rounds.append(report.marked)

        def on_mark(self, loss: tl.Loss) -> float:
            marks.append(loss.now_s)
            return 0.8 * loss.in_use

    text = MARKING.format(control="hearing").replace("linux", profile).replace("60 packets", "500 packets")
    slow = tl.loads(text).set_all({"link.wire.rate": "100 Mbit/s", "link.wire.delay": "1 ms", "duration": "2 s"})
    flow = tl.simulate(slow.set("traffic.f.tcp.ecn", ecn)).flows
    assert flow["packets_dropped"][0] == 0
    told = sum(marked for _, marked in heard)
    assert told == pytest.approx(flow["packets_marked"][0], abs=60)
    assert told > 500
    assert sum(acked for acked, _ in heard) + told == pytest.approx(flow["packets_delivered"][0], abs=60)
    assert sum(rounds) <= told
    # Once a round trip at most, which is at least 2 ms and the queue's.
    assert all(after - before > 0.002 for before, after in pairwise(marks))


def test_who_answers_no_mark_hears_of_one_a_round_trip() -> None:
    marks: list[float] = []

    class Deaf(tl.CongestionControl):
        def on_mark(self, loss: tl.Loss) -> None:
            marks.append(loss.now_s)

        def on_loss(self, _loss: tl.Loss) -> float:
            return 60

    text = MARKING.format(control="deaf")
    flow = tl.simulate(tl.loads(text).set_all({"link.wire.rate": "100 Mbit/s", "link.wire.delay": "1 ms"})).flows
    assert flow["packets_marked"][0] > 10 * len(marks) > 0
    assert all(after - before > 0.002 for before, after in pairwise(marks))


def test_what_a_mark_sets_is_taken_over() -> None:
    windows: list[float] = []

    class Setting(tl.CongestionControl):
        def on_mark(self, _loss: tl.Loss) -> None:
            self.cwnd = self.ssthresh = 8

        def on_report(self, _report: tl.Report) -> None:
            windows.append(self.cwnd)
            if self.cwnd >= self.ssthresh:
                self.cwnd += 1

    text = MARKING.format(control="setting").replace("linux", "rfc").replace("60 packets", "500 packets")
    tl.simulate(tl.loads(text).set_all({"link.wire.rate": "100 Mbit/s", "link.wire.delay": "1 ms"}))
    assert windows.count(8) > 1
    assert max(windows) < 60


def test_a_class_without_on_mark_is_told_which_losses_are_marks() -> None:
    told: list[bool] = []

    class Halving(tl.CongestionControl):
        def on_loss(self, loss: tl.Loss) -> float:
            told.append(loss.marked)
            return loss.in_use / 2

    run = tl.simulate(tl.loads(MARKING.format(control="halving")))
    assert run.flows["packets_marked"].item() > 0
    assert len(told) > 1
    assert all(told)
    told.clear()
    tl.simulate(tl.loads(MARKING.format(control="halving")).set_all({"traffic.f.tcp.ecn": False}))
    assert told
    assert not any(told)
