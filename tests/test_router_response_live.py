"""A router whose time is really spent: the analysis on simulations in place of measurements, and one probe live."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from in_real_time import measures
from tightlink.measure import measuring
from tightlink.measure.measuring import measure
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.run import Framed, Run
from tightlink.studies.router_response import STUDY, live
from tightlink.studies.router_response.live import process_router

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlink.experiment.claims import Claim

    AsMeasured = Callable[[Run], Run]

_VERDICTS = (
    "live.governs",
    "live.onset.65",
    "live.onset.130",
    "live.onset.1500",
    "live.onset.conclusion",
    "live.load.full",
    "live.load",
    "live.loss",
)


@pytest.fixture(scope="module")
def simulated() -> dict[str, Run]:
    return {probe.task: tl.simulate(probe.scenario) for probe in process_router.PROBES}


@pytest.fixture
def observed(simulated: dict[str, Run], as_measured: AsMeasured) -> Callable[[pl.Expr], dict[str, Run]]:
    """Makes simulations, and measurements whose router reports an expression of the load that was asked for."""

    def made(reported: pl.Expr) -> dict[str, Run]:
        runs = dict(simulated)
        for probe in process_router.PROBES:
            run = simulated[probe.task]
            frames = {"flows": run.flows, "links": run.links, "nodes": run.nodes.with_columns(load_reported=reported)}
            runs[f"live/{probe.name}/0"] = Run(run.scenario, as_measured(run).manifest, Framed(frames))
        return runs

    return made


def _found(runs: dict[str, Run]) -> dict[str, Claim]:
    claims = STUDY.table().judged_live(live.observe(runs))
    return {claim.id: claim for claim in claims if not claim.id.startswith("live.kernel.")}


def _reported(runs: dict[str, Run]) -> tuple[str, int]:
    """What the report says of the router, and how many rows its table has."""
    report = live.report(live.observe(runs), {})
    return report.sections[0].finding, report.tables["measured"].height


def test_a_simulation_measured_agrees_with_itself(observed: Callable[[pl.Expr], dict[str, Run]]) -> None:
    runs = observed(pl.col("load_true").clip(0, 1))
    found, (finding, rows) = _found(runs), _reported(runs)
    assert tuple(found) == _VERDICTS
    assert all(claim.holds for claim in found.values())
    assert found["live.load"].observed == found["live.loss"].observed == 0
    # Between the probes of 4,000 and 4,500 packets/s, where what is spent comes to all the time that there is.
    assert found["live.onset.65"].observed == pytest.approx((4000 * 4500) ** 0.5, abs=0.1)
    assert rows == 2 * len(process_router.PROBES)
    assert "the packet rate governs" in finding


def test_a_load_that_follows_bits_is_found(observed: Callable[[pl.Expr], dict[str, Run]]) -> None:
    """The processor of another router: busy with bytes, and never full."""
    per_bit = 0.9 / (10_000 * 1500)
    runs = observed(pl.col("load_true"))
    for probe in process_router.PROBES:
        run = runs[f"live/{probe.name}/0"]
        nodes = run.nodes.with_columns(
            load_reported=pl.lit(per_bit * probe.levels["nominal_packets_per_s"] * probe.levels["packet_bytes"])
        )
        frames = {"flows": run.flows, "links": run.links, "nodes": nodes}
        runs[f"live/{probe.name}/0"] = Run(run.scenario, run.manifest, Framed(frames))
    found = _found(runs)
    assert found["live.governs"].observed == "throughput_bps"
    assert found["live.governs"].holds is found["live.load"].holds is False
    assert found["live.load.full"].holds is None


def test_without_measurements_nothing_is_said(simulated: dict[str, Run]) -> None:
    claims, (finding, rows) = _found(simulated), _reported(simulated)
    assert all(claim.holds is None for claim in claims.values())
    assert tuple(claims) == _VERDICTS
    assert rows == 0
    assert "too busy" in finding


def test_the_study_measures_where_it_is_asked_to() -> None:
    measuring = STUDY.with_options({"live": ""})
    measured = [each for each in measuring.measured() if each.over == "relay"]
    assert len(measured) == len(process_router.PROBES)
    # A processor each: nothing beside it.
    assert all(each.burn and each.alone for each in measured)
    assert {probe.task for probe in process_router.PROBES} <= {task.name for task in measuring.all_tasks()}


def test_a_router_that_waits_for_a_processor_is_no_router() -> None:
    assert measuring._load((1.0, 0.1), (2.5, 0.11), 2.0) == pytest.approx(0.75)
    with pytest.raises(InvalidMeasurementError, match=r"waited for a processor for 5\.0% of the time"):
        measuring._load((1.0, 0.1), (2.5, 0.2), 2.0)


@measures
def test_a_router_spends_its_time() -> None:
    scenario = process_router.scenario(130, 800)
    try:
        # Late packets are not what is looked at.
        run = measure(scenario, burn=True, late_s=1.0)
    except InvalidMeasurementError as error:
        pytest.skip(str(error))
    row = run.nodes.row(0, named=True)
    # A busy machine lets the router have less time, and then its ring overflows; but no packet is lost track of.
    assert row["packets_in"] == pytest.approx(800 * process_router.DURATION_S, rel=0.1)
    found = process_router.row(130, run)
    assert 0 < found["load"] <= 1.05
    if not row["dropped_input_ring"]:
        # What is spent, and what handing packets on costs besides, more where caches are shared.
        assert 0.9 < found["load"] / (800 * process_router.PER_PACKET_S) < 3
