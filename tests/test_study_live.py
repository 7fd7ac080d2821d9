"""Studies that measure: what is measured when, how it ends, and analyses of simulations in place of measurements."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from tightlink.cli import main
from tightlink.errors import TightlinkError
from tightlink.measure import forwarding, measuring
from tightlink.measure import machine as machine_of
from tightlink.measure.relay import InvalidMeasurementError
from tightlink.run import Framed, Run
from tightlink.studies.live import Measurement, Repetition, kernel, machine, measure_all, repeats
from tightlink.studies.router_response.live.kernel_router import PROBES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tightlink.scenario import Scenario

    AsMeasured = Callable[[Run], Run]
    Answer = Callable[[Scenario, int], Run]

SCENARIO = tl.loads("""
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
""")


class Fake:
    """What `measure` is taken for; keeps what it was asked for."""

    def __init__(self, answer: Answer) -> None:
        self.asked: list[dict[str, Any]] = []
        self._answer = answer
        self._lock = threading.Lock()

    def __call__(self, scenario: Scenario, **options: Any) -> Run:
        with self._lock:
            self.asked.append(options | {"scenario": scenario})
            number = len(self.asked)
        return self._answer(scenario, number)


def fake(monkeypatch: pytest.MonkeyPatch, answer: Answer) -> Fake:
    made = Fake(answer)
    monkeypatch.setattr(measuring, "measure", made)
    return made


def goodput(run: Run) -> float:
    return float(run.flows["goodput_bps"][0])


@pytest.fixture
def varied(as_measured: AsMeasured) -> Callable[[list[float]], Answer]:
    """Makes runs whose goodputs are given, one after the other."""

    def made(values: list[float]) -> Answer:
        def answer(scenario: Scenario, number: int) -> Run:
            run = as_measured(tl.simulate(scenario))
            flows = run.flows.with_columns(goodput_bps=pl.lit(values[number - 1]))
            return Run(scenario, run.manifest, Framed({"flows": flows, "links": run.links}))

        return answer

    return made


def test_a_measurement_is_made_once_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_measured: AsMeasured
) -> None:
    made = fake(monkeypatch, lambda scenario, _: as_measured(tl.simulate(scenario, trace=True)))
    wanted = [
        Measurement("base/0", SCENARIO, sender="iperf3", echo_s=0.5, burn=True),
        Measurement("other", SCENARIO, trace=True),
    ]
    said: list[str] = []
    found = measure_all(wanted, tmp_path, 2, said.append)
    assert list(found) == ["base/0", "other"]
    asked = next(options for options in made.asked if options["sender"] == "iperf3")
    assert (asked["echo_s"], asked["burn"]) == (0.5, True)
    # A trace is kept where somebody needs it.
    assert ["packets" in found[name].tables for name in found] == [False, True]
    assert [line.split(": ")[0] for line in said] == ["1 of 2", "2 of 2"]
    again = measure_all(wanted, tmp_path, 2, said.append)
    assert len(made.asked) == 2
    assert again["base/0"].manifest["identity"] == found["base/0"].manifest["identity"]
    assert said[2:] == [f"2 measurements are in {tmp_path} already"]


def test_what_varies_is_measured_until_its_median_has_converged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, varied: Callable[[list[float]], Answer]
) -> None:
    # Half the intervals of their medians: 89 % of the first three, 49 % of the first four.
    made = fake(monkeypatch, varied([100.0, 101.0, 150.0, 100.5, 100.5, 100.5]))
    wanted = Measurement("cell", SCENARIO, repetition=Repetition(goodput, share=0.6, fewest=3, most=6))
    found = measure_all([wanted], tmp_path, 1, lambda _: None)
    assert list(found) == ["cell/0", "cell/1", "cell/2", "cell/3"]
    assert len(made.asked) == 4
    runs = {f"live/{name}": run for name, run in found.items()}
    values = [goodput(run) for run in repeats(runs, "live/cell")]
    # A round is in random order.
    assert (sorted(values[:3]), values[3]) == ([100.0, 101.0, 150.0], 100.5)
    assert repeats(runs, "live/ce") == []


def test_there_is_a_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, varied: Callable[[list[float]], Answer]
) -> None:
    made = fake(monkeypatch, varied([100.0, 200.0, 300.0, 400.0, 500.0]))
    wanted = Measurement("cell", SCENARIO, repetition=Repetition(goodput, fewest=2, most=4))
    assert len(measure_all([wanted], tmp_path, 1, lambda _: None)) == len(made.asked) == 4


def test_what_fails_once_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_measured: AsMeasured
) -> None:
    def fails(scenario: Scenario, number: int) -> Run:
        if number != 2:
            raise TightlinkError(f"iperf3 {number}")
        return as_measured(tl.simulate(scenario))

    made = fake(monkeypatch, fails)
    assert list(measure_all([Measurement("base", SCENARIO)], tmp_path, 1, lambda _: None)) == ["base"]
    with pytest.raises(TightlinkError, match="iperf3 5"):
        measure_all([Measurement("other", SCENARIO)], tmp_path, 1, lambda _: None)
    assert len(made.asked) == 5


def test_a_busy_machine_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_measured: AsMeasured) -> None:
    def busy(scenario: Scenario, number: int) -> Run:
        if number > 1:
            raise InvalidMeasurementError("lateness")
        return as_measured(tl.simulate(scenario))

    made = fake(monkeypatch, busy)
    said: list[str] = []
    wanted = Measurement("cell", SCENARIO, repetition=Repetition(goodput, fewest=3, most=5))
    found = measure_all([wanted], tmp_path, 1, said.append)
    assert len(found) == 1
    # Each of its four other names is tried three times.
    assert len(made.asked) == 1 + 4 * 3
    assert sum("too busy" in line for line in said) == 4


def test_a_machine_that_stays_busy_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(_: Scenario, number: int) -> Run:
        time.sleep(0.02)
        raise InvalidMeasurementError(f"lateness {number}")

    made = fake(monkeypatch, busy)
    said: list[str] = []
    assert (
        measure_all([Measurement(f"cell/{number}", SCENARIO) for number in range(50)], tmp_path, 1, said.append) == {}
    )
    assert len(made.asked) < 3 * 13
    assert said[-1] == "10 given up in a row: no more is measured; the same command, or call, tries again"


def test_hosts_must_keep_the_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_measured: AsMeasured) -> None:
    def late(scenario: Scenario, number: int) -> Run:
        run = as_measured(tl.simulate(scenario))
        # The third is in time.
        run.manifest["sender"] = {"name": "probe", "late_p99_s": 0.02 if number < 3 else 0.0009}
        return run

    made = fake(monkeypatch, late)
    (found,) = measure_all([Measurement("cell", SCENARIO, pace_s=0.001)], tmp_path, 1, lambda _: None).values()
    assert len(made.asked) == 3
    assert found.manifest["sender"]["late_p99_s"] == 0.0009


def test_another_scenario_is_another_measurement(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_measured: AsMeasured
) -> None:
    fake(monkeypatch, lambda scenario, _: as_measured(tl.simulate(scenario)))
    measure_all([Measurement("cell", SCENARIO)], tmp_path, 1, lambda _: None)
    other = Measurement("cell", SCENARIO.set("link.wire.rate", "3 Mbit/s"))
    with pytest.raises(TightlinkError, match="of another scenario; choose another folder"):
        measure_all([other], tmp_path, 1, lambda _: None)


def test_an_error_ends_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Scenario, number: int) -> Run:
        raise TightlinkError(f"no namespaces {number}")

    made = fake(monkeypatch, broken)
    with pytest.raises(TightlinkError, match="no namespaces"):
        measure_all([Measurement(f"cell/{number}", SCENARIO) for number in range(50)], tmp_path, 2, lambda _: None)
    assert len(made.asked) < 10


def test_what_the_machine_lacks_is_said_before_anything_is_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(machine_of, "missing", lambda _: "this machine allows no network namespaces")
    assert main(["study", "router-response", "--live", "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err.strip()
    assert said == (
        "tightlink: --live: this machine allows no network namespaces; without it the study is simulated only"
    )
    assert not (tmp_path / "out").exists()


#: Measures without end until Ctrl-C, which `watch` hears of.
_ENDLESS = """
import sys, time
from pathlib import Path
import tightlink as tl
from tightlink.measure import forwarding, measuring
from tightlink.studies.live import Measurement, measure_all

def measure(scenario, *, watch, **options):
    sys.stdout.write("measuring\\n")
    sys.stdout.flush()
    while True:
        time.sleep(0.05)
        watch(None)

measuring.measure = measure
scenario = tl.load("examples/one-flow.toml")
try:
    measure_all([Measurement(f"cell/{number}", scenario) for number in range(100)], Path(sys.argv[1]), 2, print)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_ctrl_c_ends_it_soon(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", _ENDLESS, str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert [process.stdout.readline().strip() for _ in range(2)] == ["measuring", "measuring"]
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=20)
        finally:
            process.kill()
    # Of a hundred, only the two that were at work had begun.
    assert output.split() == ["interrupted"]
    assert not list(tmp_path.iterdir())


def test_the_kernel_is_measured_where_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_forwarded: Callable[..., Run]
) -> None:
    scenario = PROBES[0].scenario
    made = Fake(lambda scenario, _: as_forwarded(scenario, sent=1000, passed=1000, load=0.1))
    monkeypatch.setattr(forwarding, "forward", made)
    (run,) = measure_all([Measurement("cell", scenario, over="kernel")], tmp_path, 1, lambda _: None).values()
    assert len(made.asked) == 1
    text = kernel([run]).replace("\u00a0", " ")
    assert text.startswith("1 measurements on Linux 6 with 2 processors. The router's thread waited")
    assert "for at most 0.10 % of the time; a measurement with more than 2 % is not counted" in text


def test_reports_say_on_what_was_measured(as_measured: AsMeasured) -> None:
    run = as_measured(tl.simulate(SCENARIO))
    late = as_measured(tl.simulate(SCENARIO))
    late.manifest["relay"] = {"lateness": {"share_late": 0.0042}}
    text = machine([run, late]).replace("\u00a0", " ")
    assert text.startswith("2 measurements on Linux 6 with 2 processors")
    assert "at most 0.42 % of the packets late" in text
    assert text.endswith("busy for 30 % of the time.")
