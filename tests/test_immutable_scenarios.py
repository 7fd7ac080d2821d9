"""Scenarios in Python are not changed in place; changes and copies of them."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tightlink as tl

if TYPE_CHECKING:
    from collections.abc import Callable


#: The package without its types, of which the tests are that values of other types are taken or refused in a sentence.
untyped: Any = tl


def test_a_scenario_is_not_changed_in_place(scenario: tl.Scenario) -> None:
    with pytest.raises(tl.TightlinkError, match=r"^Scenario.duration cannot be changed: scenario.set\(key, value\) "):
        scenario.duration = "2 s"  # type: ignore[misc]
    assert scenario.duration == "1 s"
    before = scenario.to_toml()
    changes: list[Callable[[], object]] = [
        lambda: scenario.traffic.update(scenario.traffic),
        lambda: scenario.link.pop("wire", None),
        lambda: scenario.link.__setitem__("x", untyped.Link(ends=("a", "b"), rate="1 Mbit/s")),
        scenario.traffic.clear,
    ]
    for change in changes:
        with pytest.raises(tl.TightlinkError, match=r"^Scenario\.(link|traffic) cannot be changed: scenario\.set"):
            change()
    assert scenario.to_toml() == before
    steps = [{"at": "0 s", "rate": "1 Mbit/s"}, {"at": "1 s", "rate": "2 Mbit/s"}]
    rate: Any = untyped.RateSchedule(schedule=steps)
    with pytest.raises(tl.TightlinkError, match=r"^RateSchedule.schedule cannot be changed"):
        rate.schedule.append(steps[0])


def test_copies_of_a_scenario_are_as_immutable(scenario: tl.Scenario) -> None:
    for copied in (pickle.loads(pickle.dumps(scenario)), copy.deepcopy(scenario)):  # of this test
        assert copied == scenario
        with pytest.raises(tl.TightlinkError, match="cannot be changed"):
            copied.traffic.clear()


def test_copies_of_a_scenario_keep_the_class_of_a_control(scenario: tl.Scenario) -> None:
    def given(share: float) -> tl.Scenario:
        class Keeping(tl.CongestionControl):
            def on_loss(self, loss: tl.Loss) -> float:
                return loss.in_use * share

        return scenario.set_all({"traffic.ftp.tcp.congestion": Keeping, "link.bottleneck.loss": 0.05})

    first, other = given(0.5), given(0.9)  # As a cell of a notebook does that is run again.
    meant = tl.simulate(first).manifest["digest"]
    assert tl.simulate(other).manifest["digest"] != meant
    for copied in (copy.copy(first), copy.deepcopy(first), pickle.loads(pickle.dumps(first))):  # of this test
        assert copied == first
        assert tl.simulate(copied).manifest["digest"] == meant


def test_traffic_is_added_and_taken_away(scenario: tl.Scenario) -> None:
    more = scenario.set("traffic.call", tl.Cbr(from_="sender", to="receiver", rate="64 kbit/s"))
    assert [*more.traffic] == ["ftp", "call"]
    assert more.set("traffic.call", None) == scenario
    with pytest.raises(tl.ScenarioError, match='there is no traffic "fpt"'):
        scenario.set("traffic.fpt.flows", 2)


def test_runs_go_to_other_processes(scenario: tl.Scenario, tmp_path: Path) -> None:
    run = tl.simulate(scenario)
    saved = tl.open_run(run.save(tmp_path / "run"))
    for each in (run, saved):
        again = pickle.loads(pickle.dumps(each))
        assert again.flows.equals(run.flows)
        assert again.scenario == scenario
        assert again.manifest == each.manifest
