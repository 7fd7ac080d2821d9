"""The sweep between real hosts: the analysis on simulations in place of measurements, and one size live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from in_real_time import measures
from tightlink.measure.measuring import measure
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.run import Framed, Run
from tightlink.studies.link_saturation import STUDY, live
from tightlink.studies.link_saturation.live import hosts, kernel
from tightlink.studies.link_saturation.setup.sweeps import MAIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlink.experiment.claims import Claim
    from tightlink.studies.live import Grid

    AsMeasured = Callable[[Run], Run]

_VERDICTS = (
    "live.critical.frame",
    "live.critical.rate",
    "live.plateau.frame",
    "live.law.better",
    "live.slope.line",
    "live.rate.smallest-packets",
    "live.rates",
)


@pytest.fixture(scope="module")
def simulated() -> dict[str, Run]:
    return {point.task: tl.simulate(point.scenario) for point in hosts.POINTS}


@pytest.fixture
def observed(simulated: dict[str, Run], as_measured: AsMeasured) -> dict[str, Run]:
    measured = {f"live/{point.name}/0": as_measured(simulated[point.task]) for point in hosts.POINTS}
    return simulated | measured


def _claims(observed: Grid) -> dict[str, Claim]:
    """Those on real hosts, not on the machine's kernel."""
    judged = STUDY.table().judged_live({**kernel.observe({}).values, **observed.values})
    return {claim.id: claim for claim in judged if claim.id in _VERDICTS}


def test_the_interface_behind_the_host_is_the_one_in_it(simulated: dict[str, Run]) -> None:
    for point in hosts.POINTS[::3]:
        inside = tl.simulate(MAIN.scenario(point.levels["datagram_bytes"]))
        assert hosts.rate(simulated[point.task]) == pytest.approx(hosts.rate(inside), rel=1e-3)


def test_a_simulation_measured_agrees_with_itself(observed: dict[str, Run]) -> None:
    seen = hosts.observe(observed)
    found = _claims(seen)
    assert tuple(found) == _VERDICTS
    assert all(claim.holds for claim in found.values())
    assert found["live.critical.frame"].expected == found["live.critical.frame"].observed
    assert found["live.rates"].observed == 0
    assert seen.table.height == 2 * len(hosts.POINTS)
    section = live.report({"between": seen, "through": kernel.observe({})}, {}).sections[0]
    assert section.finding.startswith("Saturated below 487 B")
    assert [type(block).__name__ for block in section.blocks] == ["Text", "Row", "Table"]


def test_a_slower_interface_is_found(observed: dict[str, Run]) -> None:
    """Small packets pass at 20 thousand/s, whatever their size: the document's eq. 7, with another interface."""
    for point in hosts.POINTS:
        run = observed[f"live/{point.name}/0"]
        slower = min(1.0, 20_000 / hosts.rate(run))
        columns = ("packets_delivered", "goodput_bps", "throughput_bps", "bytes_delivered")
        types = run.flows.schema
        flows = run.flows.with_columns((pl.col(name) * slower).round().cast(types[name]) for name in columns)
        observed[f"live/{point.name}/0"] = Run(run.scenario, run.manifest, Framed({"flows": flows, "links": run.links,
                                                                                   "nodes": run.nodes}))  # fmt: skip
    found = _claims(hosts.observe(observed))
    assert {name for name, claim in found.items() if not claim.holds} == set(_VERDICTS) - {
        "live.slope.line",
        "live.law.better",
    }
    assert found["live.rates"].observed == pytest.approx(-33.3, abs=0.1)


def test_without_measurements_nothing_is_said(simulated: dict[str, Run]) -> None:
    seen = hosts.observe(simulated)
    found = _claims(seen)
    assert tuple(found) == _VERDICTS
    assert all(claim.holds is None for claim in found.values())
    assert seen.table.is_empty()
    assert "too busy" in hosts.finding(seen)


def test_a_few_sizes_are_too_few(observed: dict[str, Run]) -> None:
    few = {name: run for name, run in observed.items() if name not in {f"live/{size}/0" for size in range(26, 1500)}}
    found = _claims(hosts.observe(few))
    assert found["live.rate.smallest-packets"].holds
    assert found["live.critical.frame"].holds is found["live.slope.line"].holds is None


def test_the_study_measures_where_it_is_asked_to() -> None:
    live = STUDY.with_options({"live": ""})
    assert all(each.alone for each in live.measured())
    assert {point.task for point in hosts.POINTS} <= {task.name for task in live.all_tasks()}


@measures
def test_large_datagrams_live(simulated: dict[str, Run]) -> None:
    point = hosts.POINTS[-1]
    try:
        run = measure(point.scenario, late_s=0.05, tries=2)
    except InvalidMeasurementError as error:
        pytest.skip(str(error))
    # The line never carries more, and a busy machine less.
    assert 0.5 < hosts.rate(run) / hosts.rate(simulated[point.task]) < 1.01
