"""All that takes its time says how far it is in one way."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

import tightlink as tl
from tightlink.capture import CaptureProgress, capture
from tightlink.console import watching
from tightlink.experiment import cost
from tightlink.experiment.cost import Costs
from tightlink.experiment.measured import GridProgress
from tightlink.experiment.progress import ExperimentProgress
from tightlink.measure.measuring import MeasurementProgress
from tightlink.progress import TimeLeft, shown
from tightlink.simulate import SimulationProgress

if TYPE_CHECKING:
    from pathlib import Path

    from tightlink.progress import Progress

LONG = """
duration = "300 s"
link.wire = { ends = ["a", "b"], rate = "500 Mbit/s", delay = "5 ms", queue = "200 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b", flows = 4, tcp.window = "10000 packets" }
"""


def test_what_a_watcher_raises_ends_the_run() -> None:
    def enough(progress: SimulationProgress) -> None:
        raise TimeoutError(progress.share)

    for part in (False, True):
        with pytest.raises(TimeoutError):
            tl.simulate(tl.loads(LONG).set("duration", "9000 s"), watch=enough, part=part)


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (SimulationProgress(1.0, 3.0, 2_000_000, 5, 1.0), "33 %: 1 s of 3 s, 5 sources sending, 2.0 M packet-hops/s"),
        (SimulationProgress(45.0, 60.0, None, None, 1.0), "75 %: 45 s of 60 s"),
        (MeasurementProgress(1.5, 2.0), "75 %: measuring, 1.5 s of 2 s"),
        (
            ExperimentProgress(total=4, done=1, found=1, failed=0, running=2, packet_hops=0, elapsed_s=0.0),
            "25 %: 1 of 4 runs, 2 running",
        ),
        (CaptureProgress(2_500_000, 10**9, 10**8, 4 * 10**8), "25 %: 2.5 M packets, 1000 MB read"),
        # How much comes from a pipe nobody knows.
        (CaptureProgress(2_500_000, 10**9, 10**9, None), "2.5 M packets, 1000 MB read"),
        (GridProgress(2, 3, 4, {"flows": 8}), "round 2, 3 of 4: flows 8"),
    ],
)
def test_a_line_says_it(progress: Progress, line: str) -> None:
    assert shown(progress) == line
    assert shown(progress, 75) == f"{line}, 1 min 15 s left"


def test_a_log_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Where standard error is no terminal: of a minute one line, of five hours a few dozen, of ten seconds none."""

    def lines(seconds: float, runs: int) -> list[str]:
        clock = [0.0]
        monkeypatch.setattr("tightlink.console.time.monotonic", lambda: clock[0])
        with watching() as watch:
            for done in range(1, runs + 1):
                clock[0] += seconds / runs
                watch(ExperimentProgress(runs, done, 0, 0, 2, 0, clock[0]))
        printed = capsys.readouterr()
        assert not printed.out
        return printed.err.splitlines()

    assert lines(10, 100) == []
    assert lines(60, 60)[0] == "tightlink: 50 %: 30 of 60 runs, 2 running, 30 s left"
    assert [line.split()[1] for line in lines(600, 1000)] == [str(share) for share in range(5, 100, 10)]
    assert 50 < len(lines(5 * 3600, 10_000)) < 70


def test_a_simulation_says_how_far_it_is() -> None:
    told: list[SimulationProgress] = []
    # Told twice a second: where this takes less, four times as much takes two seconds at most.
    for duration in ("300 s", "1200 s", "4800 s"):
        scenario = tl.loads(LONG).set("duration", duration)
        whole = tl.simulate(scenario, watch=told.append)
        if told:
            break
    assert told
    shares = [now.share for now in told]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 1
    assert shares[-1] <= 1
    # Who is told changes nothing.
    assert tl.simulate(scenario).manifest["digest"] == whole.manifest["digest"]


def test_a_watch_can_end_a_simulation() -> None:
    def interrupted(_: SimulationProgress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tl.simulate(tl.loads(LONG).set("duration", "9000 s"), watch=interrupted)


def test_a_capture_says_how_much_of_its_file_is_read(tmp_path: Path) -> None:
    tl.simulate(tl.loads(LONG).set("duration", "30 s"), pcap=tmp_path / "long.pcap")
    told: list[CaptureProgress] = []
    capture(tmp_path / "long.pcap", watch=told.append)
    size = (tmp_path / "long.pcap").stat().st_size
    assert all(now.total_bytes == size and 0 < now.file_bytes <= size for now in told)


def test_time_left_counts_down_where_work_goes_on_evenly() -> None:
    left = TimeLeft(0.0)
    said = [left.after(now / 100, now) for now in range(1, 100)]
    assert said == pytest.approx([100 - now for now in range(1, 100)])


def test_time_left_does_not_jump() -> None:
    """Parts of equal work take now one second and now nine: what is said never climbs by more than a fifth."""
    left, now, said = TimeLeft(0.0), 0.0, []
    for part in range(200):
        now += 1.0 if part // 3 % 2 else 9.0
        said.append(left.after((part + 1) / 200, now))
    known = [each for each in said if each is not None]
    assert said[-1] is None, "it is done"
    assert len(known) == 199
    assert all(after <= 1.2 * before + 1 for before, after in pairwise(known))
    assert known[-1] < 10


def test_time_left_follows_what_gets_slower() -> None:
    left, now, said = TimeLeft(0.0), 0.0, None
    for part in range(100):
        now += 1.0 if part < 50 else 10.0
        said = left.after((part + 1) / 200, now)
    # A hundred parts at ten seconds.
    assert said == pytest.approx(1000, rel=0.2)


def test_runs_are_worth_what_they_take() -> None:
    """Twelve runs of which the last take a hundred times as long: shares of work, not of runs."""
    base = tl.loads(LONG)
    rates = ["1 Mbit/s"] * 6 + ["100 Mbit/s"] * 6
    scenarios = [base.set("link.wire.rate", rate) for rate in rates]
    costs = Costs(len(scenarios), lambda run: scenarios[run].resolve())
    for run in range(6):
        costs.done(run, simulated=True)
    hops = [tl.simulate(scenario.set("duration", "1 s")).manifest["packet_hops"] for scenario in scenarios[::6]]
    assert costs.share() == pytest.approx(hops[0] / sum(hops), abs=0.02)


def test_runs_that_were_there_are_no_work() -> None:
    scenario = tl.loads(LONG)
    costs = Costs(4, lambda _: scenario.resolve())
    costs.done(0, simulated=False)
    costs.done(1, simulated=False)
    assert costs.share() == 0
    costs.done(2, simulated=True)
    assert costs.share() == pytest.approx(0.5)
    costs.done(3, simulated=True)
    assert costs.share() == 1


def test_more_runs_than_can_be_looked_at_are_like_those_before_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "_LOOK_S", 0.0)
    looked: list[int] = []
    scenario = tl.loads(LONG)

    def resolved(run: int) -> dict[str, Any]:
        looked.append(run)
        return scenario.resolve()

    costs = Costs(100_000, resolved)
    costs.done(0, simulated=True)
    assert costs.share() == pytest.approx(1e-5)
    assert looked == [0]
