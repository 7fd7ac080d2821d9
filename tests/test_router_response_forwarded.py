"""The grid through the machine's kernel: the analysis on routers whose costs are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tightlink.studies.live import Point
from tightlink.studies.router_response import STUDY, live
from tightlink.studies.router_response.live import kernel_router
from tightlink.studies.router_response.live.kernel_router import PROBES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

    Made = Callable[[Callable[[Point], float]], dict[str, Run]]

_VERDICTS = (
    "live.kernel.governs",
    "live.kernel.lengths",
    "live.kernel.proportional",
    "live.kernel.full",
    "live.kernel.loss",
)
_OPEN = ("live.kernel.onset", "live.kernel.decline")


@pytest.fixture
def measured(as_forwarded: Callable[..., Run]) -> Made:
    """Makes a grid of what a packet of a probe costs the router, in seconds."""

    def made(cost_s: Callable[[Point], float]) -> dict[str, Run]:
        runs = {}
        for probe in PROBES:
            most = 1 / cost_s(probe)
            passed = min(probe.levels["nominal_packets_per_s"], most)
            load = passed / most
            runs[f"live/{probe.name}/0"] = as_forwarded(
                probe.scenario, sent=probe.levels["nominal_packets_per_s"], passed=round(passed), load=load
            )
        return runs

    return made


def _found(runs: dict[str, Run]) -> dict[str, Claim]:
    claims = STUDY.table().judged_live(live.observe(runs))
    return {claim.id: claim for claim in claims if claim.id.startswith("live.kernel.")}


def _reported(runs: dict[str, Run]) -> tuple[str, int]:
    """What the report says of the kernel, and how many probes its table has."""
    report = live.report(live.observe(runs), {})
    return report.sections[1].finding, report.tables["forwarded"].height


def test_a_router_whose_packets_cost_the_same_is_the_documents(measured: Made) -> None:
    runs = measured(lambda _: 1.2e-6)
    found = _found(runs)
    assert tuple(found) == (*_VERDICTS, *_OPEN)
    assert all(found[name].holds for name in _VERDICTS)
    assert all(found[name].holds is None for name in _OPEN)
    finding, probes = _reported(runs)
    assert probes == len(PROBES)
    assert "the packet rate governs" in finding
    assert "between 700,000 and 1,000,000" in finding


def test_packets_that_are_cheaper_together_are_not_proportional(measured: Made) -> None:
    """Waking up is shared by those that come meanwhile."""
    found = _found(measured(lambda probe: 1e-6 + 4e-6 / (1 + probe.levels["nominal_packets_per_s"] / 50_000)))
    claim = found["live.kernel.proportional"]
    assert claim.holds is False
    assert claim.observed == pytest.approx(4.92 / 1.27, rel=0.15)
    assert found["live.kernel.lengths"].holds


def test_a_load_that_follows_bytes_is_found(measured: Made) -> None:
    found = _found(measured(lambda probe: 1e-9 * probe.levels["packet_bytes"]))
    assert found["live.kernel.governs"].holds is False
    assert found["live.kernel.lengths"].holds is False
    assert found["live.kernel.lengths"].observed == pytest.approx(1500 / 65, rel=0.01)


def test_a_sender_that_was_slow_at_one_length_compares_nothing(
    measured: Made, as_forwarded: Callable[..., Run]
) -> None:
    runs = measured(lambda _: 1.2e-6)
    slow = next(
        probe
        for probe in PROBES
        if (probe.levels["packet_bytes"], probe.levels["nominal_packets_per_s"]) == (1500, 400_000)
    )
    runs[f"live/{slow.name}/0"] = as_forwarded(slow.scenario, sent=100_000, passed=100_000, load=0.12)
    assert _found(runs)["live.kernel.lengths"].holds


def test_without_measurements_nothing_is_said(measured: Made) -> None:
    claims, (finding, probes) = _found({}), _reported({})
    assert tuple(claims) == (*_VERDICTS, *_OPEN)
    assert all(claim.holds is None for claim in claims.values())
    assert probes == 0
    assert {claims[name].reason for name in _VERDICTS} == {finding}
    few = dict(list(measured(lambda _: 1.2e-6).items())[:20])
    assert all(claim.holds is None for claim in _found(few).values())


def test_a_router_that_is_never_full_has_no_onset(measured: Made) -> None:
    found = _found(measured(lambda _: 1e-7))
    assert all(found[name].holds for name in ("live.kernel.lengths", "live.kernel.proportional"))
    for name in ("live.kernel.full", "live.kernel.loss"):
        assert found[name].reason.startswith("No onset was seen for all lengths, up to 1,400,000")


def test_the_study_measures_it_where_the_machine_can(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(answer: str | None) -> list[Any]:
        monkeypatch.setattr(kernel_router, "missing", lambda _: answer)
        measuring = STUDY.with_options({"live": ""})
        return [each for each in measuring.measured() if each.over == "kernel"]

    assert answered("no") == []
    wanted = {each.name: each for each in answered(None)}
    assert list(wanted) == [probe.name for probe in PROBES]
    # One by one a late datagram is followed by others at once, which the ring must hold.
    assert wanted["kernel/65/100000"].pace_s == pytest.approx(256 / 100_000)
    assert wanted["kernel/65/1000000"].pace_s is None
