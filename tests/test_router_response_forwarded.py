"""The grid through the machine's kernel: the analysis on routers whose costs are known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tightlink.studies.router_response import STUDY, forwarded, forwarded_claims
from tightlink.studies.router_response.forwarded import PROBES, Probe

if TYPE_CHECKING:
    from collections.abc import Callable

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

    Made = Callable[[Callable[[Probe], float]], dict[str, Run]]

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

    def made(cost_s: Callable[[Probe], float]) -> dict[str, Run]:
        runs = {}
        for probe in PROBES:
            most = 1 / cost_s(probe)
            passed = min(probe.rate_per_s, most)
            load = passed / most
            runs[f"live/{probe.name}/0"] = as_forwarded(
                probe.scenario, sent=probe.rate_per_s, passed=round(passed), load=load
            )
        return runs

    return made


def _found(runs: dict[str, Run]) -> dict[str, Claim]:
    return {claim.id: claim for claim in forwarded_claims.findings(runs)[0]}


def test_a_router_whose_packets_cost_the_same_is_the_documents(measured: Made) -> None:
    runs = measured(lambda _: 1.2e-6)
    found = _found(runs)
    assert tuple(found) == (*_VERDICTS, *_OPEN)
    assert all(found[name].holds for name in _VERDICTS)
    assert all(found[name].holds is None for name in _OPEN)
    _, section, table = forwarded_claims.findings(runs)
    assert table.height == len(PROBES)
    assert "the packet rate governs" in section.finding
    assert "between 700,000 and 1,000,000" in section.finding


def test_packets_that_are_cheaper_together_are_not_proportional(measured: Made) -> None:
    """Waking up is shared by those that come meanwhile."""
    found = _found(measured(lambda probe: 1e-6 + 4e-6 / (1 + probe.rate_per_s / 50_000)))
    claim = found["live.kernel.proportional"]
    assert claim.holds is False
    assert claim.observed == pytest.approx(4.92 / 1.27, rel=0.15)
    assert found["live.kernel.lengths"].holds


def test_a_load_that_follows_bytes_is_found(measured: Made) -> None:
    found = _found(measured(lambda probe: 1e-9 * probe.length))
    assert found["live.kernel.governs"].holds is False
    assert found["live.kernel.lengths"].holds is False
    assert found["live.kernel.lengths"].observed == pytest.approx(1500 / 65, rel=0.01)


def test_a_sender_that_was_slow_at_one_length_compares_nothing(
    measured: Made, as_forwarded: Callable[..., Run]
) -> None:
    runs = measured(lambda _: 1.2e-6)
    slow = next(probe for probe in PROBES if (probe.length, probe.rate_per_s) == (1500, 400_000))
    runs[f"live/{slow.name}/0"] = as_forwarded(slow.scenario, sent=100_000, passed=100_000, load=0.12)
    assert _found(runs)["live.kernel.lengths"].holds


def test_without_measurements_nothing_is_said(measured: Made) -> None:
    claims, section, table = forwarded_claims.findings({})
    assert all(claim.holds is None for claim in claims)
    assert table.is_empty()
    assert section.finding
    few = dict(list(measured(lambda _: 1.2e-6).items())[:20])
    assert all(claim.holds is None for claim in forwarded_claims.findings(few)[0])


def test_the_study_measures_it_where_the_machine_can(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(answer: str | None) -> list[Any]:
        monkeypatch.setattr(forwarded, "missing", lambda _: answer)
        live = STUDY.with_options({"live": ""})
        return [each for each in live.measured() if each.over == "kernel"]

    assert answered("no") == []
    wanted = {each.name: each for each in answered(None)}
    assert list(wanted) == [probe.name for probe in PROBES]
    # One by one a late datagram is followed by others at once, which the ring must hold.
    assert wanted["kernel/65/100000"].pace_s == pytest.approx(256 / 100_000)
    assert wanted["kernel/65/1000000"].pace_s is None
