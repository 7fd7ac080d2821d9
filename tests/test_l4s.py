"""The study of L4S: its formulas, a run of it, and its report."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.studies.l4s import STUDY, setup
from tightlink.studies.l4s.observe import _marks, _ratio, expected_ratio
from tightlink.studies.running import study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tightlink.scenario import Scenario

RTTS = (5, 10, 20, 50, 100)
#: A second after `setup.SETTLED_S`.
UNJUDGED = f"{setup.SETTLED_S + 1} s"
#: The place where a window takes longest to grow.
SLOWEST = {"rate_mbit": 200, "rtt_ms": 100}
#: What is within the error of what was found.
OPEN = {"coexist.5-ms", "delay.p99.12-mbit", "step.l4s.p99"}
#: Ranges that hold over the mean of all rates and round trips, and not at each.
BY_PLACE = ("delay.classic-mean", "delay.classic-p99")
#: Every claim of the study: these never change.
CLAIMS = {
    *(f"coexist.{rtt}-ms" for rtt in RTTS), *(f"formula.reno.{rtt}-ms" for rtt in RTTS),
    *(f"formula.cubic.{rtt}-ms" for rtt in RTTS[:3]),
    *(f"{what}.{rtt}-ms" for what in ("window", "prague.marks") for rtt in RTTS[3:]),
    *(f"delay.{what}.{rate}-mbit" for what in ("mean", "p99") for rate in (4, 12, 40, 120, 200)),
    "delay.classic-mean", "delay.classic-p99", "delay.loss", "delay.utilization",
    *(f"pi2.{flows}-{prague}" for flows in (2, 10, 25) for prague in (0, 1)),
    *(f"step.{mix}.{what}" for mix in ("l4s", "both") for what in ("mean", "p99", "newcomers")),
    "step.target", "step.balance",
    *(f"unresponsive.{side}.{what}" for side in ("classic", "l4s") for what in ("rest", "balance")),
    *(f"overload.{side}.{what}" for side in ("classic", "l4s") for what in ("delay", "lost", "equal")), "overload.ect1",
    "single.worst", "single.4-mbit", "single.4-mbit-near", "single.delay",
    "prague.round-trips", "prague.small-windows",
}  # fmt: skip


def _pair(classic: str, **levels: float) -> Scenario:
    whole = setup._pair(classic, **levels)
    return whole.set("duration", f"{setup.settled_s(**levels) + 1} s") if classic == "reno" else whole


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study; of what no verdict is asserted below, a part: Reno, ten flows of each, both flows in one queue."""
    place = tmp_path_factory.mktemp("study") / "l4s"
    pairs = replace(setup.PAIRS, scenario=_pair)
    many = replace(setup.MANY, scenario=lambda **levels: setup._many(**levels).set("duration", UNJUDGED))
    single = replace(setup.SINGLE, levels={**setup.SINGLE.levels, "rate_mbit": (4, 40), "rtt_ms": (5, 10, 50)})
    with pytest.MonkeyPatch.context() as patch:
        for name, less in {"PAIRS": pairs, "MANY": many, "SINGLE": single}.items():
            patch.setattr(setup, name, less)
        assert study(STUDY, place, jobs=2).exit_code == 3
    return place


def test_the_claims_are_these_and_say_why_they_fail(claims: dict[str, dict[str, Any]]) -> None:
    assert set(claims) == CLAIMS
    assert all(claim["reason"] for claim in claims.values() if claim["holds"] is not True)
    assert {name for name, claim in claims.items() if claim["holds"] is None} == OPEN


def test_queues_are_as_the_rfc_has_them(claims: dict[str, dict[str, Any]]) -> None:
    """Delay, loss and overload are the queue's doing; rates are the controls', too."""
    assert all(claims[name]["holds"] is False for name in BY_PLACE)
    for name in CLAIMS - {*OPEN, *BY_PLACE}:
        if name.startswith(("delay.", "pi2.", "step.", "unresponsive.", "overload.")):
            assert claims[name]["holds"] is True, claims[name]
    # Missed by less than the error of a quantile (docs/limitations.md).
    assert 2.0 < claims["delay.p99.12-mbit"]["observed"] < 2.0 * 1.008
    assert 2.0 / 1.008 < claims["step.l4s.p99"]["observed"] < 2.0
    assert all(claims[f"coexist.{rtt}-ms"]["holds"] for rtt in RTTS if rtt != 5)
    assert "0.491 at 12 Mbit/s" in claims["coexist.5-ms"]["reason"]


def test_formulas_are_judged_on_ten_flows_of_each() -> None:
    statements = {each.id: each for each in STUDY.table().statements}
    judged = [name for name in CLAIMS if name.startswith(("formula.", "window."))]
    assert len(judged) == 10
    assert all(statements[name].observed.startswith("many.") for name in judged)


def test_prague_is_as_its_draft_has_it(claims: dict[str, dict[str, Any]]) -> None:
    """RTT independence and windows below two packets are the control's doing; marks come in bursts, more at 100 ms."""
    for name in ("prague.round-trips", "prague.small-windows", "prague.marks.50-ms"):
        assert claims[name]["holds"] is True, claims[name]
    assert claims["prague.marks.100-ms"]["holds"] is False


@pytest.mark.parametrize("scenario", [partial(setup._pair, "cubic"), partial(setup._single, "codel")])
def test_rates_are_those_of_flows_that_no_longer_drift(scenario: Callable[..., Scenario]) -> None:
    """Where a window takes longest to grow, both halves of what is observed have the same ratio."""
    run = tl.simulate(scenario(**SLOWEST))
    begin = setup.settled_s(**SLOWEST)
    middle = begin + setup.OBSERVED_S / 2
    first, second = (_ratio(run, "prague", "classic", "goodput_bps", *part) for part in ((begin, middle), (middle,)))
    assert second == pytest.approx(first, rel=0.25)


def test_marks_are_held_against_what_is_dropped_after_the_beginning() -> None:
    """A run as long as the beginning is the same until then."""
    scenario = setup._many("reno", 100)
    whole = tl.simulate(scenario)
    totals = []
    for run in (whole, tl.simulate(scenario.set("duration", f"{setup.SETTLED_S} s"))):
        flow = {name: run.flows.row(by_predicate=pl.col("label") == name, named=True) for name in ("prague", "classic")}
        totals.append([*(flow["prague"][f"packets_{what}"] for what in ("marked", "delivered")),
                       *(flow["classic"][f"packets_{what}"] for what in ("dropped", "sent"))])  # fmt: skip
    marked, delivered, dropped, sent = (late - early for late, early in zip(*totals, strict=True))
    asked_for = setup.COUPLING * sqrt(dropped / sent)
    assert _marks(whole)["coupled"] == pytest.approx(marked / delivered / asked_for, rel=0.01)


def test_the_formula_is_that_of_the_appendix() -> None:
    """RFC 9332 Appendix C.2 rounds 1.22 / 0.85 to 1.4, and k to 2 from 1.97 for Reno at 25 ms."""
    for rtt_ms in RTTS:
        rfc = (rtt_ms + 15) / (1.4 * max(rtt_ms, 25))
        assert expected_ratio("cubic", rtt_ms) == pytest.approx(rfc, rel=0.03)
    assert expected_ratio("reno", 25) == pytest.approx(1.97 / 2, rel=0.01)


def test_figures_and_report_are_there(folder: Path) -> None:
    assert {"plane.svg", "one-queue.png"} <= {file.name for file in (folder / "figures").iterdir()}
    page = (folder / "report.html").read_text(encoding="utf-8")
    for title in ("Who gets how much", "How long they wait", "Flows join and leave", "Traffic that does not respond"):
        assert title in page
