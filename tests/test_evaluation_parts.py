"""Parts of an evaluation alone: verdicts, evenness, names with options, numbers with one unit, marks."""

from __future__ import annotations

import polars as pl
import pytest

import tightlink as tl
from tightlink.studies.evaluation.observe import Mean
from tightlink.studies.evaluation.report.words import told_alike
from tightlink.studies.evaluation.setup import alone, competing, samples
from tightlink.studies.evaluation.setup.pack import Requirement
from tightlink.studies.evaluation.setup.subjects import subject

pytestmark = pytest.mark.usefixtures("small_pack")


@pytest.mark.parametrize(
    ("found_value", "half_width", "verdict"),
    [(0.5, None, "met"), (0.499, None, "missed"), (0.6, 0.05, "met"), (0.52, 0.05, "open"), (0.48, 0.05, "open"),
     (0.4, 0.05, "missed"), (None, None, "missed")],
)  # fmt: skip
def test_a_verdict_is_open_where_the_interval_is_on_both_sides(
    found_value: float | None, half_width: float | None, verdict: str
) -> None:
    assert Requirement("half of it", "here", at_least=0.5).judged(found_value, half_width) == verdict
    mirrored = None if found_value is None else 1 - found_value
    assert Requirement("half of it", "here", at_most=0.5).judged(mirrored, half_width) == verdict


def test_evenness_is_jains_index_of_smoothed_goodput() -> None:
    scenario = competing.SLOW.scenario({"flows": competing.SLOW.bulk("reno", flows=2)}, duration_s=5)
    rows = samples.evenness(tl.simulate(scenario), ["flows[0]", "flows[1]"], 2, 1)
    assert [time for time, _ in rows] == pytest.approx([2 + place / 10 for place in range(1, 30)])
    assert all(0.5 <= index <= 1 for _, index in rows)


def test_options_in_a_name_are_those_of_a_table() -> None:
    assert subject("cubic:beta=0.8, fast_convergence=false").value == {
        "kind": "cubic", "beta": 0.8, "fast_convergence": False,
    }  # fmt: skip


class Counting(tl.CongestionControl):
    """DCTCP, of which all flows need marks."""

    def __init__(self) -> None:
        self.alpha = 1.0

    def on_report(self, report: tl.Report) -> None:
        self.alpha += (report.marked / max(report.delivered, 1) - self.alpha) / 16
        if report.in_use and self.cwnd >= self.ssthresh:
            self.cwnd += 1

    def on_mark(self, loss: tl.Loss) -> float:
        return loss.in_use * (1 - self.alpha / 2)


def test_a_control_of_ones_own_that_reads_marks_is_evaluated_as_dctcp_is() -> None:
    for own in (Counting, "dctcp"):
        for test, setting in ((competing.TESTS["queues"], "codel"), (alone.TESTS["ramp-up"], "unlimited threshold")):
            value = test.made.settings()[setting]
            for scenario in test.made.scenarios(subject(own).value, value, 1):
                run = tl.simulate(scenario.set("duration", "5 s"))
                marked = run.flows.filter(pl.col("transport") == "tcp")["packets_marked"].sum()
                assert (marked > 0) == (setting == "codel")


def test_times_of_one_measure_have_one_unit() -> None:
    means = [Mean(1.3), Mean(0.9), Mean(None), Mean(0.43, 0.14), Mean(None, failed=True)]
    assert told_alike("ramp_up_s", means, "> 60 s") == ["1.3 s", "0.9 s", "> 60 s", "0.43 ± 0.14 s", "failed"]
    # Where one unit would have too many digits each has its own.
    assert told_alike("refill_s", [Mean(18.6), Mean(0.004)]) == ["18.6 s", "4 ms"]
    assert told_alike("refill_s", [Mean(0.0), Mean(0.004)]) == ["0 ms", "4 ms"]
    assert told_alike("utilization", [Mean(0.98), Mean(0.009)]) == ["98 %", "0.9 %"]
    assert told_alike("refill_s", [Mean(None)]) == ["never"]
