"""The study of congestion control's basics: its theory, a reduced run of it, made again, and its report."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tightlink.analysis.path import sawtooth
from tightlink.analysis.path.response_laws import Cubic, HighSpeed, HTcp, Law, Reno, Scalable, mean_window
from tightlink.studies.congestion_basics import STUDY, setup
from tightlink.studies.running import study

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tightlink.experiment.progress import ExperimentProgress

CONTROLS = ("reno", "reno-delayed-ns2", "reno-delayed-rfc", "highspeed", "scalable", "htcp", "bic", "cubic")
#: Every claim of the study: these never change.
CLAIMS = {
    "phases.connection", "phases.slow-start", "phases.avoidance", "phases.loss", "phases.timeout", "phases.threshold",
    "252.sawtooth", "252.89", "252.queue", "252.flows", "dublin.less", "dublin.clean", "dublin.replacements",
    "fast.20", "fast.50", "vegas.band", "vegas.alone", "codel.interval", "codel.law", "pie.4", "pie.10", "pie.20",
    "bbr.in-flight", "bbr.utilization", "bbr3.in-flight", "bbr3.utilization",
    *(f"response.{name}.{what}" for name in CONTROLS for what in ("slope", "level", "law")),
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def _reduced() -> Iterator[None]:
    """The study with fewer losses, queues and seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(setup, "LOSSES", {1e-2: (1, 200), 1e-3: (2, 400), 1e-4: (2, 100), 1e-5: (1, 10)})
        patch.setattr(setup, "LAW_LOSSES", dict.fromkeys((1e-2, 1e-3, 1e-4, 1e-5), 500))
        fewer = {"rtt_ms": (10.0,), "queue_bdp": (0.1, 0.2, 0.3), "flows": (1, 8)}
        patch.setattr(setup, "PATHS", replace(setup.PATHS, levels=fewer))
        patch.setattr(setup, "CHOSEN_MS", 10)
        patch.setattr(setup, "DURATION_S", 60)
        patch.setattr(setup, "COMPARED_S", 20)
        patch.setattr(setup, "STANDARD", replace(setup.STANDARD, levels={**setup.STANDARD.levels, "loss": (0.0, 1e-6)}))
        patch.setattr(setup, "DELAY_DURATION_S", 24)
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("study") / "congestion-basics"
    assert study(STUDY, place, jobs=2).exit_code == 3
    return place


def test_the_claims_are_these_and_say_why_they_fail(claims: dict[str, dict[str, Any]]) -> None:
    assert set(claims) == CLAIMS
    assert all(claim["reason"] for claim in claims.values() if claim["holds"] is not True)
    # Any share is reached by choice of the queue, which the document does not give.
    assert [name for name, claim in claims.items() if claim["holds"] is None] == ["252.89"]
    said = {name for name, claim in claims.items() if claim["origin"] == "document"}
    assert said == {"252.89", "dublin.less", "dublin.clean", "dublin.replacements"}


def test_phases_queue_and_rest_points_hold_at_small_scale(claims: dict[str, dict[str, Any]]) -> None:
    for name in CLAIMS:
        if name != "252.89" and name.startswith(("phases.", "252.", "fast.", "vegas.", "bbr", "codel.", "pie.")):
            assert claims[name]["holds"] is True, claims[name]
    assert claims["dublin.less"]["holds"] is True


def test_delayed_acks_cost_windows_that_grow_with_acks_only(claims: dict[str, dict[str, Any]]) -> None:
    """Mathis' constant for delayed ACKs is profile ns2's, not profile rfc's, which counts what is acknowledged."""
    assert claims["response.reno-delayed-ns2.level"]["observed"] == pytest.approx(1, abs=0.15)
    assert claims["response.reno-delayed-rfc.level"]["observed"] == pytest.approx(math.sqrt(2), abs=0.2)
    assert claims["response.reno-delayed-rfc.level"]["holds"] is False


def test_again_and_alone_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    """From an interrupted study, with one job: what is there is kept, the rest is made, and all is equal."""
    place = tmp_path / "other"
    (place / "runs").mkdir(parents=True)
    (place / "study.json").write_bytes((folder / "study.json").read_bytes())
    # Those with little in them, which take least time to make.
    runs = sorted((folder / "runs").iterdir(), key=lambda file: file.stat().st_size)
    made, kept = runs[:10], runs[10:]
    for file in kept:
        (place / "runs" / file.name).write_bytes(file.read_bytes())
    told: list[ExperimentProgress] = []
    assert study(STUDY, place, watch=told.append).exit_code == 3
    assert told[-1].done - told[-1].found == len(made)
    files = {file.relative_to(folder) for file in folder.rglob("*") if file.is_file()}
    assert files == {file.relative_to(place) for file in place.rglob("*") if file.is_file()}
    for name in sorted(files):
        assert (folder / name).read_bytes() == (place / name).read_bytes(), name


def test_figures_and_report_are_there(folder: Path) -> None:
    names = {file.name for file in (folder / "figures").iterdir()}
    assert {"phases.svg", "utilization-252.svg", "response-functions.png"} <= names
    page = (folder / "report.html").read_text(encoding="utf-8")
    for title in ("The phases of a flow", "252 Mbit/s, and 89 % of it", "1 Gbit/s from Chicago to Dublin"):
        assert title in page


@pytest.mark.parametrize(
    ("law", "formula", "tolerance"),
    [
        (Reno, lambda loss: math.sqrt(1.5 / loss), 0.01),
        (lambda: Reno(packets_per_ack=2), lambda loss: math.sqrt(0.75 / loss), 0.01),
        (HighSpeed, lambda loss: 0.12 / loss**0.835, 0.03),
        (Scalable, lambda loss: 0.0749 / loss, 0.01),
        (Cubic, lambda loss: (0.4 * 3.7 / 1.2) ** 0.25 * (0.1 / loss) ** 0.75, 0.05),
    ],
)
def test_laws_with_losses_at_equal_distances_give_the_formulas(
    law: Callable[[], Law], formula: Callable[[float], float], tolerance: float
) -> None:
    for loss in (1e-4, 1e-5, 1e-6):
        assert mean_window(law(), loss, rtt_s=0.1, losses=200) == pytest.approx(formula(loss), rel=tolerance)


def test_htcp_at_equal_distances_is_its_epoch() -> None:
    """Where the window ends as it began: 2 A(T) / RTT is the top, A the integral of α without its factor 2 (1 − β)."""
    loss, rtt_s, beta = 1e-5, 0.1, 0.8

    def packets(end_s: float) -> tuple[float, float]:
        steps = 20_000
        step, grown, sent = end_s / steps, 0.0, 0.0
        area = sum(alpha((place + 0.5) * step) for place in range(steps)) * step
        top = 2 * area / rtt_s
        for place in range(steps):
            sent += (beta * top + grown) * step / rtt_s
            grown += 2 * (1 - beta) * alpha((place + 0.5) * step) * step / rtt_s
        return sent, sent * rtt_s / end_s

    def alpha(since_s: float) -> float:
        past_s = max(0.0, since_s - 1)
        return 1 + 10 * past_s + past_s * past_s / 4

    low, high = 0.1, 100.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if packets(middle)[0] < 1 / loss else (low, middle)
    assert mean_window(HTcp(), loss, rtt_s=rtt_s, losses=200) == pytest.approx(packets(low)[1], rel=0.02)


@pytest.mark.parametrize("queue", [0.0, 0.05, 0.3, 0.8, 1.0, 1.7])
def test_the_sawtooth_is_that_of_a_window_round_by_round(queue: float) -> None:
    bdp, rtt_s = 5000.0, 0.1
    sent = passed_s = 0.0
    window = bdp * (1 + queue) / 2
    while window < bdp * (1 + queue):
        sent += window
        passed_s += rtt_s * max(1.0, window / bdp)
        window += 1
    assert sawtooth.utilization(queue) == pytest.approx(sent / (passed_s / rtt_s * bdp), abs=1e-3)
    assert sawtooth.epoch_s(queue, bdp, rtt_s) == pytest.approx(passed_s, rel=1e-3)
    if 0 < queue < 1:
        assert sawtooth.queue_for(sawtooth.utilization(queue)) == pytest.approx(queue, abs=1e-6)
