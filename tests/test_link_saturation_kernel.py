"""The sweep through the machine's kernel: the analysis on a router whose costs are known, and one point live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from in_real_time import needs_router, tried_again
from tightlink.measure import forwarding
from tightlink.measure.kernel_router import ETHERNET_BYTES
from tightlink.studies.link_saturation import STUDY, live
from tightlink.studies.link_saturation.live import hosts, kernel
from tightlink.studies.link_saturation.live.kernel import LINE, OPEN, PAYLOADS, POINTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

    Made = Callable[..., dict[str, Run]]

_VERDICTS = (
    "live.kernel.loss",
    "live.kernel.packets",
    "live.kernel.sizes",
    "live.kernel.critical",
    "live.kernel.plateau",
    "live.kernel.slope",
)
#: What the document says and a kernel cannot show.
_OPEN = ("live.kernel.rate",)
_LINE_BPS = 2e9


@pytest.fixture
def measured(as_forwarded: Callable[..., Run]) -> Made:
    """Makes a sweep: what a packet and a byte on the line cost the router, and the most that the sender sends."""

    def made(per_packet_s: float, per_byte_s: float, most: float = 4e6) -> dict[str, Run]:
        runs = {}
        for point in POINTS:
            size = point.levels["datagram_bytes"] + 28 + ETHERNET_BYTES
            router, line = 1 / (per_packet_s + per_byte_s * size), _LINE_BPS / 8 / size
            passed = min(router, most, *([line] if point.levels["line"] == LINE else []))
            load = min(1.0, most / router)
            # Pushed back by the router, not by the line.
            sent = min(router, most)
            run = as_forwarded(point.scenario, sent=round(sent), passed=round(passed), load=load)
            runs[f"live/{point.name}/0"] = run
        return runs

    return made


def _found(runs: dict[str, Run]) -> dict[str, Claim]:
    values = {**hosts.observe({}).values, **kernel.observe(runs).values}
    judged = STUDY.table().judged_live(values)
    return {claim.id: claim for claim in judged if claim.id in {*_VERDICTS, *_OPEN}}


def test_a_router_of_known_costs_is_found(measured: Made) -> None:
    runs = measured(0.9e-6, 0.05e-9)
    found = _found(runs)
    assert tuple(found) == (*_VERDICTS, *_OPEN)
    assert all(found[name].holds for name in _VERDICTS)
    assert all(found[name].holds is None for name in _OPEN)
    critical = found["live.kernel.critical"]
    assert critical.expected == pytest.approx(0.9e-6 / (8 / _LINE_BPS - 0.05e-9), rel=1e-3)
    assert critical.observed == pytest.approx(critical.expected, rel=0.01)
    observed = kernel.observe(runs)
    table = observed.table
    assert table.height == len(POINTS)
    section = live.report({"between": hosts.observe({}), "through": observed}, {}).sections[1]
    assert "900 ns for each packet and 0.05 ns for each byte" in section.finding
    assert [type(block).__name__ for block in section.blocks] == ["Text", "Row", "Table"]
    assert set(table.filter(table["line"] == OPEN)["limited_by"]) == {"router"}
    assert "line" in set(table.filter(table["line"] == LINE)["limited_by"])


def test_bytes_that_cost_much_are_found(measured: Made) -> None:
    found = _found(measured(0.9e-6, 2e-9))
    assert found["live.kernel.sizes"].holds is False
    assert found["live.kernel.sizes"].observed == pytest.approx((0.9 + 2e-3 * 1492) / (0.9 + 2e-3 * 67), rel=0.01)


def test_a_path_that_pushes_nobody_back_is_found(measured: Made, as_forwarded: Callable[..., Run]) -> None:
    runs = measured(0.9e-6, 0.0)
    point = next(point for point in POINTS if point.levels == {"line": OPEN, "datagram_bytes": 25})
    runs[f"live/{point.name}/0"] = as_forwarded(point.scenario, sent=2_000_000, passed=1_100_000, load=1.0)
    claim = _found(runs)["live.kernel.loss"]
    assert claim.holds is False
    assert claim.observed == 45


def test_what_a_slow_sender_gets_through_is_no_capacity(measured: Made) -> None:
    runs = measured(0.9e-6, 0.0, most=5e5)
    found = _found(runs)
    for name in ("live.kernel.packets", "live.kernel.sizes", "live.kernel.critical"):
        assert found[name].holds is None
        assert "the sender was the slowest: the router was busy for 45" in found[name].reason
    # The line is full whoever fills it.
    assert found["live.kernel.plateau"].holds
    assert "not its capacity" in kernel.finding(kernel.observe(runs))


def test_without_measurements_nothing_is_said() -> None:
    observed = kernel.observe({})
    assert all(claim.holds is None for claim in _found({}).values())
    assert observed.table.is_empty()
    assert kernel.finding(observed)


def test_the_study_measures_it_where_the_machine_can(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(answer: str | None) -> list[Any]:
        monkeypatch.setattr(kernel, "missing", lambda _: answer)
        live = STUDY.with_options({"live": ""})
        return [each for each in live.measured() if each.over == "kernel"]

    assert answered("no") == []
    assert [each.name for each in answered(None)] == [point.name for point in POINTS]
    assert all(each.alone for each in answered(None))


@tried_again
@needs_router
def test_a_point_live(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forwarding, "_check", lambda *_, **__: None)
    point = POINTS[-1]
    assert point.levels == {"line": LINE, "datagram_bytes": PAYLOADS[-1]}
    run = forwarding.forward(point.scenario.set("duration", "200 ms"))
    # Not more than the line takes, and what is in a token bucket.
    assert 0 < run.links["utilization"][0] < 1.02
    assert forwarding.slowest(run) in {"line", "router", "sender"}
