"""The seven cases of one flow, measured: with simulated runs in the place of measured ones, and one for real."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from in_real_time import measures
from tightlink.experiment.claims import compared
from tightlink.run import Framed, Run
from tightlink.studies.live import measure_all
from tightlink.studies.one_flow import STUDY, live
from tightlink.studies.one_flow.setup import CASES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tightlink.experiment.claims import Claim
    from tightlink.studies.study import Report


@pytest.fixture(scope="module")
def simulated() -> dict[str, Run]:
    return {task.name: tl.simulate(task.scenario, trace=True) for task in live.tasks()}


def _like_measured(run: Run) -> Run:
    """A simulated run that says that it was measured."""
    manifest = {
        "source": "measurement",
        "identity": "x",
        "relay": {"lateness": {"share_late": 0.001}},
        "host": {"kernel": "Linux 6", "cpus": 2, "cpu_busy": 0.5},
    }
    return Run(run.scenario, manifest, Framed({name: run.table(name) for name in run.tables}))


def _found(runs: Mapping[str, Run]) -> tuple[list[Claim], Report]:
    """Claims and report of what was measured."""
    table, observed = STUDY.table(), live.observe(runs)
    published = {
        each.id: compared(each.id, each.statement, each.source, each.expected, None) for each in table.statements
    }
    return table.judged_live(observed), live.report(observed, published)


def test_every_claim_holds_where_both_are_equal(simulated: dict[str, Run]) -> None:
    measured = {name.replace("linux/", "live/"): _like_measured(run) for name, run in simulated.items()}
    claims, report = _found(simulated | measured)
    (section,), table = report.sections, report.tables["measured"]
    assert len({claim.id for claim in claims}) == len(claims) == 6 * 3 + 3 + 7 * 2
    assert [claim.id for claim in claims if not claim.holds] == []
    assert section.finding.startswith("Measured and simulated goodput differ by 0.0")
    assert table["sent_measured"].to_list() == table["sent_simulated"].to_list()
    assert table.row(0, named=True)["sent_document"] == 2385


def test_cases_that_the_machine_was_too_busy_for_stay_open(simulated: dict[str, Run]) -> None:
    claims, report = _found(simulated | {"live/delay-100ms": _like_measured(simulated["linux/delay-100ms"])})
    assert report.tables["measured"]["case"].to_list() == ["delay of 100 ms"]
    assert {claim.id.split(".")[1] for claim in claims if claim.holds is None} == {
        case.name for case in CASES if case.name != "delay-100ms"
    }
    assert all("too busy" in claim.reason for claim in claims if claim.holds is None)
    nothing, report = _found(simulated)
    assert all(claim.holds is None for claim in nothing)
    assert report.sections[0].finding == "The machine was too busy for all of it."


def test_packets_are_those_of_the_document() -> None:
    for case in CASES:
        (flow,) = live.scenario(case).resolve()["flows"]
        tcp = flow["transport"]["tcp"]
        assert tcp["payload_bytes"] + tcp["header_bytes"] == case.packet_bytes
        assert tcp["delayed_ack_s"] is None


def test_the_study_measures_when_it_is_asked_to() -> None:
    assert STUDY.measured() == ()
    measuring = STUDY.with_options({"live": ""})
    assert [each.name for each in measuring.measured()] == [case.name for case in CASES]
    assert {task.name for task in measuring.all_tasks()} > {"linux/base", "tcp/base"}


@measures
def test_a_case_measured(tmp_path: Path) -> None:
    """The link of 1 Mbit/s, for two seconds: its queue grows until the window ends it."""
    from dataclasses import replace

    wanted = next(each for each in live.measurements() if each.name == "bandwidth-1mbit")
    short = wanted.scenario.set_all({"duration": "2 s", "traffic.ftp.stop": None})
    found = measure_all([replace(wanted, scenario=short)], tmp_path, 1, lambda _: None)
    if not found:
        pytest.skip("the machine is too busy")
    flow, same = (run.flows.row(0, named=True) for run in (found["bandwidth-1mbit"], tl.simulate(short)))
    assert flow["packets_dropped"] == 0
    assert flow["packets_sent"] == pytest.approx(same["packets_sent"], rel=0.03)
    # Of the slowest of twenty: the slowest of all tells the worst moment of a busy machine.
    assert flow["one_way_delay_p95_s"] == pytest.approx(same["one_way_delay_p95_s"], rel=0.05)
