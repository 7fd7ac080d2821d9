"""Congestion controls written in Python: equal to those of the engine where they do the same; every mistake told."""

from __future__ import annotations

import importlib
import math
import pickle
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from tightlink import cli, control
from tightlink.control_code import code_of
from tightlink.simulate import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE = """\
profile = "rfc"
duration = "10 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "20 ms", queue = "20 packets" }
traffic.ftp = { kind = "bulk", from = "a", to = "b", tcp = { congestion = "reno" } }
"""
KEY = "traffic.ftp.tcp.congestion"


@pytest.fixture(autouse=True)
def _registry() -> Iterator[None]:
    known = dict(control._CONTROLS)
    yield
    control._CONTROLS.clear()
    control._CONTROLS.update(known)


@pytest.fixture
def base() -> tl.Scenario:
    return tl.loads(BASE)


def test_reno_in_python_is_reno(base: tl.Scenario) -> None:
    class PythonReno(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> None:
            if self.cwnd < self.ssthresh:
                self.cwnd += min(ack.acked, 1)
            else:
                self.cwnd += min(ack.acked / self.cwnd, 1)

    for recovery in ("reno", "newreno", "sack"):
        mine, theirs = (
            tl.simulate(base.set_all({KEY: name, "traffic.ftp.tcp.recovery": recovery}))
            for name in ("python-reno", "reno")
        )
        assert mine.flows["congestion"].to_list() == ["python-reno"]
        assert mine.flows.drop("congestion").equals(theirs.flows.drop("congestion"))
        assert mine.links.equals(theirs.links)


def test_a_window_that_is_paced_in_python_is_paced_as_the_engine_does(base: tl.Scenario) -> None:
    class Spread(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> None:
            self.pacing_rate = None
            self.cwnd += min(ack.acked, 1) if self.cwnd < self.ssthresh else min(ack.acked / self.cwnd, 1)

    mine = tl.simulate(base.set(KEY, Spread))
    theirs = tl.simulate(base.set_all({"traffic.ftp.tcp.pacing": True}))
    assert mine.flows.drop("congestion").equals(theirs.flows.drop("congestion"))


def test_a_rate_is_kept(base: tl.Scenario) -> None:
    class Steady(tl.CongestionControl):
        pacing_rate = 500.0

        def on_ack(self, ack: tl.Ack) -> None:
            self.cwnd += 10 * ack.acked

    flow = tl.simulate(base.set(KEY, Steady).set("observe.interval", "1 s"))
    # 500 packets of 1500 B a second are 6 of 10 Mbit/s: nothing waits, but for those that left before an RTT was known.
    assert 500 * (10 - 2 * 0.0412) < flow.flows["packets_sent"].item() < 500 * 10
    assert flow.flows["packets_dropped"].item() == 0
    assert flow.links["queueing_delay_p95_s"][0] < 0.001
    paced = flow.series.filter(pl.col("metric") == "pacing_rate_bps")["value"].drop_nans()
    assert set(paced) == {500 * 1500 * 8.0}


@pytest.mark.parametrize("recovery", ["sack", "rack"])
def test_samples_tell_of_each_delivery_and_the_window_is_theirs_in_recovery(base: tl.Scenario, recovery: str) -> None:
    window, samples = 25.0, []

    class Fixed(tl.CongestionControl):
        def on_sample(self, sample: tl.RateSample) -> None:
            samples.append(sample)
            self.cwnd, self.pacing_rate = window, 2000.0

    scenario = base.set_all({KEY: Fixed, "traffic.ftp.tcp.recovery": recovery, "link.wire.loss": 0.01})
    run = tl.simulate(scenario)
    assert sum(sample.newly_delivered for sample in samples) == samples[-1].total_delivered
    lost = sum(sample.newly_lost for sample in samples)
    assert lost == pytest.approx(run.flows["packets_retransmitted"].item(), abs=2)
    assert any(sample.recovering for sample in samples)
    # What arrives together passes for faster than the link for as long as a packet takes.
    assert max(sample.rate for sample in samples) < 1.1 * 10e6 / (1500 * 8)
    assert all(sample.in_flight <= window for sample in samples)
    # The window of 25 packets over a round trip of 41.2 ms, whatever is lost.
    rate = run.flows["packets_sent"].item() / 10
    assert rate == pytest.approx(window / 0.0412, rel=0.05)
    short = base.set_all({KEY: Fixed, "traffic.ftp.tcp.recovery": "newreno"})
    with pytest.raises(
        tl.ScenarioError, match=r'"newreno": expected "sack" or "rack" with fixed, which samples the rate'
    ):
        tl.simulate(short)


def test_reports_come_once_a_round_trip(base: tl.Scenario) -> None:
    told: list[tl.Report] = []
    losses: list[tl.Loss] = []

    class Listening(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            told.append(report)
            self.ssthresh = min(self.ssthresh, 100.0)

        def on_loss(self, loss: tl.Loss) -> float:
            losses.append(loss)
            assert math.isfinite(self.cwnd)
            return super().on_loss(loss)

    run = tl.simulate(base.set_all({KEY: Listening, "link.wire.queue": "1000 packets"}))
    # It stays at the threshold, so that nothing is lost.
    assert losses == []
    assert run.flows["packets_dropped"].item() == 0
    times = [report.now_s for report in told]
    assert times == sorted(times)
    assert all(
        report.interval_s == pytest.approx(after - before)
        for before, after, report in zip(times, times[1:], told[1:], strict=False)
    )
    # A round trip holds the window, and takes as long as its packets take on the line.
    steady = told[len(told) // 2]
    assert steady.rtt_s == pytest.approx(100 * 1500 * 8 / 10e6, rel=0.02)
    assert steady.interval_s == pytest.approx(steady.rtt_s, rel=0.05)
    assert steady.delivered == pytest.approx(100, abs=4)
    assert 0.04 < steady.rtt_base_s < 0.045 < steady.rtt_min_s <= steady.rtt_s
    assert sum(report.delivered for report in told) <= run.flows["packets_delivered"].item()


def test_options_are_parameters(base: tl.Scenario) -> None:
    made: list[tuple[float, bool]] = []

    class Choosy(tl.CongestionControl):
        def __init__(self, share: float = 0.5, *, often: bool = False) -> None:
            made.append((share, often))

        def on_report(self, report: tl.Report) -> None:
            """Keep the window."""

    tl.simulate(base.set(KEY, {"kind": Choosy, "share": 0.25, "often": True}))
    tl.simulate(base.set(KEY, "choosy"))
    assert made == [(0.25, True), (0.5, False)]
    with pytest.raises(tl.ScenarioError, match=r'congestion\.shar: unknown key.*did you mean "share"'):
        base.set(KEY, {"kind": "choosy", "shar": 1}).resolve()
    with pytest.raises(tl.ScenarioError, match=r"often = 2(.0)?: expected true or false"):
        base.set(KEY, {"kind": "choosy", "often": 2}).resolve()


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def on_report(self, report): return 1 / 0", r"on_report of ftp at 0\.0\d+ s: ZeroDivisionError: .*line 3\)"),
        (
            "def on_loss(self, loss): pass",
            r"on_loss of ftp at .* s: ValueError: what it returns is None: expected packets",
        ),
        ("def on_loss(self, loss): return float('nan')", "what it returns is nan: expected packets"),
        (
            "def on_loss(self, loss): return 1e12",
            "what it returns is .*: expected packets, a number above zero and up to 2147483647",
        ),
        ("def on_ack(self, ack): self.cwnd = 'x'", "cwnd is 'x': expected packets, a number above zero"),
        ("def on_ack(self, ack): self.ssthresh = -1", "ssthresh is -1: expected packets"),
        ("def on_ack(self, ack): self.pacing_rate = 0", "pacing_rate is 0: expected packets per second, .* or None"),
        ("pacing_rate = 'x'\n    def on_ack(self, ack): pass", "pacing_rate is 'x': expected packets per second"),
        ("def on_sample(self, sample): return 8", "on_sample of ftp at .*: it returns 8: expected True, or nothing"),
        ("def on_report(self, report): return 8", "on_report of ftp at .*: it returns 8: expected nothing, as it sets"),
        ("def __init__(self): raise RuntimeError('no')\n    def on_report(self, report): pass", "no"),
        (
            "pass",
            r"expected a control that does something, in on_report, on_loss, on_mark, on_timeout, on_ack, on_sample",
        ),
    ],
)
def test_a_mistake_in_a_control_ends_the_run(base: tl.Scenario, tmp_path: Path, body: str, said: str) -> None:
    file = tmp_path / "mistaken.py"
    file.write_text(f"import tightlink as tl\nclass Mistaken(tl.CongestionControl):\n    {body}\n")
    assert control.load(file) == ["mistaken"]
    scenario = base.set(KEY, "mistaken")
    with pytest.raises(tl.TightlinkError, match=said):
        tl.simulate(scenario)
    sys.modules.pop("mistaken")


def test_what_a_control_is_told_says_what_it_is(base: tl.Scenario) -> None:
    said: list[str] = []

    class Saying(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            said.append(repr(report))

        def on_loss(self, loss: tl.Loss) -> float:
            said.append(repr(loss))
            return super().on_loss(loss)

        def on_sample(self, sample: tl.RateSample) -> None:
            said.append(repr(sample))
            self.cwnd += sample.newly_delivered

    tl.simulate(base.set_all({KEY: "saying", "traffic.ftp.tcp.recovery": "sack"}))
    assert {text.partition("(")[0] for text in said} == {"Report", "Loss", "RateSample"}
    assert all(re.fullmatch(r"\w+\((\w+=[\w.]+(, )?)+\)", text) for text in said), said[0]
    for told in (tl.Report, tl.Ack, tl.Loss, tl.RateSample):
        assert all(getattr(told, name).__doc__ for name in dir(told) if not name.startswith("_")), told


def test_a_break_of_the_user_stays_one(base: tl.Scenario) -> None:
    class Breaking(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            raise KeyboardInterrupt(report.now_s)

    with pytest.raises(KeyboardInterrupt):
        tl.simulate(base.set(KEY, Breaking))
    part = tl.simulate(base.set(KEY, Breaking), part=True)
    assert 0 < part.manifest["part_until_s"] < 10


def test_what_is_no_control_is_told_at_its_definition() -> None:
    with pytest.raises(TypeError, match="the engine has a congestion control of that name"):
        type("Cubic", (tl.CongestionControl,), {})
    with pytest.raises(TypeError, match="expected small letters, digits and hyphens"):
        type("Odd", (tl.CongestionControl,), {"name": "Odd name"})
    with pytest.raises(TypeError, match="share needs a number as default"):

        class Bare(tl.CongestionControl):
            def __init__(self, share: float) -> None:
                self.share = share


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "self.cwmd = 3",
            "sets self.cwmd, which nothing reads: expected one of cwnd, ssthresh, pacing_rate; did you mean cwnd?",
        ),
        ("self.ssthreshold = 4", "did you mean ssthresh?"),
        ("self.pacing_rate_bps = 1e6", "did you mean pacing_rate?"),
    ],
)
def test_what_nothing_reads_is_told_at_the_definition(body: str, said: str) -> None:
    text = "class Mistaken(tl.CongestionControl):\n    def on_report(self, report):\n        "
    with pytest.raises(TypeError, match=re.escape(said)):
        exec(text + body, {"tl": tl})
    # What a method of it reads is its own, whatever it is called.
    exec(f"{text}{body}\n    def on_loss(self, loss):\n        return {body.partition(' ')[0]}", {"tl": tl})


def test_other_code_is_another_run(base: tl.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "changing.py"
    scenario = base.set(KEY, "changing")
    found = []
    for step in (1, 2, 1):
        file.write_text(
            f"import tightlink as tl\nclass Changing(tl.CongestionControl):\n    def on_report(self, report): self.cwnd += {step}\n"
        )
        control.load(file)
        found.append(prepare(scenario).identity)
    sys.modules.pop("changing")
    assert found[0] == found[2] != found[1]


def _fixed(packets: float) -> type[tl.CongestionControl]:
    class Fixed(tl.CongestionControl):
        def on_ack(self, _: tl.Ack) -> None:
            self.cwnd = packets

    return Fixed


def test_the_class_that_is_given_is_the_one_that_runs(base: tl.Scenario, tmp_path: Path) -> None:
    """Whatever else is called so: classes of a function, of other modules, of a cell that is run again."""
    classes = [_fixed(packets) for packets in (2, 4, 8)]
    scenarios = [base.set(KEY, each) for each in classes]
    runs = [tl.simulate(each) for each in scenarios]
    rates = [run.flows["goodput_bps"][0] for run in runs]
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)
    assert rates[2] == pytest.approx(4 * rates[0], rel=0.05)
    assert scenarios[0] != scenarios[1]
    assert len({run.manifest["identity"] for run in runs}) == 3
    assert tl.simulate(base.set(KEY, _fixed(2))).manifest["identity"] == runs[0].manifest["identity"]
    # By name it is the last one that was defined.
    assert tl.simulate(base.set(KEY, "fixed")).flows["goodput_bps"][0] == rates[0]
    runs[0].save(tmp_path / "run")
    with pytest.raises(tl.TightlinkError, match="the run there is of another scenario"):
        runs[1].save(tmp_path / "run")
    with pytest.raises(tl.ScenarioError, match="expected controls of different names"):
        tl.sweep(base, {KEY: classes})


def test_a_sweep_simulates_again_when_what_a_control_looks_up_changes(base: tl.Scenario, tmp_path: Path) -> None:
    rates = []
    for packets in (2, 4):
        (tmp_path / "chosen_window.py").write_text(f"PACKETS = {packets}\n")
        (tmp_path / "control.py").write_text(
            "import sys\nsys.path.insert(0, __file__.rpartition('/')[0])\nimport tightlink as tl\n"
            "from chosen_window import PACKETS\n"
            "class Looked(tl.CongestionControl):\n    def on_ack(self, ack):\n        self.cwnd = PACKETS\n"
        )
        sys.modules.pop("chosen_window", None)
        importlib.invalidate_caches()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        assert control.load(tmp_path / "control.py") == ["looked"]
        found = tl.sweep(base.set(KEY, "looked"), replications=2, output=tmp_path / "sweep")
        rates.append(found.runs.collect()["goodput_bps"][0])
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)
    (tmp_path / "other.py").write_text((tmp_path / "control.py").read_text())
    with pytest.raises(tl.TightlinkError, match=r"other\.py: defines looked, as control does: expected another name"):
        control.load(tmp_path / "other.py")
    sys.path.remove(str(tmp_path))


def test_the_code_of_a_control_is_the_same_however_often_it_is_read() -> None:
    def made(share: float) -> type[tl.CongestionControl]:
        class Mine(tl.CongestionControl):
            def __init__(self, step: float = 1.0) -> None:
                self.step = step

            def on_loss(self, loss: tl.Loss, share: float = share) -> float:
                return share * loss.in_use

        return Mine

    first, second = made(0.5), made(0.25)
    assert code_of(first) == code_of(first) != code_of(second)


def test_a_stored_run_is_reported_without_the_code_of_its_control(
    base: tl.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "stepping.py", str(tmp_path / "run")
    file.write_text(
        "import tightlink as tl\nclass Stepping(tl.CongestionControl):\n"
        "    def __init__(self, step: float = 1.0) -> None:\n        self.step = step\n"
        "    def on_report(self, report: tl.Report) -> None:\n        self.cwnd += self.step\n"
    )
    control.load(file)
    run = tl.simulate(base.set_all({KEY: {"kind": "stepping", "step": 0.5}, "duration": "2 s"}))
    run.save(folder)
    said, resolved = run.why().sentence, run.scenario.resolve()
    known = control._CONTROLS.pop("stepping")

    opened = tl.open_run(folder)
    assert opened.why().sentence == said
    assert pickle.loads(pickle.dumps(opened)).scenario.resolve() == opened.scenario.resolve()
    with pytest.raises(
        tl.ScenarioError, match=r'= "stepping": expected a control that is defined here.*--controls FILE'
    ):
        tl.simulate(opened.scenario)
    assert cli.main(["report", folder]) == cli.main(["plot", folder]) == 0
    assert "takes the code of stepping: --controls FILE.py" in (tmp_path / "run" / "report.html").read_text()
    capsys.readouterr()
    over_time = ["plot", folder, "over-time", "-o", str(tmp_path / "over-time.svg")]
    assert cli.main(over_time) == 2
    assert capsys.readouterr().err.endswith(". To observe it now takes the code of stepping: --controls FILE.py.\n")
    assert cli.main([*over_time, "--controls", str(file)]) == 0
    sys.modules.pop("stepping")

    # The scenario finds the class, once it is here.
    control._CONTROLS["stepping"] = known
    assert opened.scenario.resolve() == resolved


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.toml").write_text(BASE)
    (tmp_path / "mine.py").write_text(
        "import tightlink as tl\nclass Mine(tl.CongestionControl):\n    def on_report(self, report): pass\n"
    )
    (tmp_path / "empty.py").write_text("")
    (tmp_path / "broken.py").write_text("1 / 0\n")
    file, mine = str(tmp_path / "s.toml"), str(tmp_path / "mine.py")
    assert cli.main(["run", file, "--set", f"{KEY}=mine"]) == 2
    assert 'congestion = "mine": expected one of' in capsys.readouterr().err
    assert cli.main(["run", file, "--set", f"{KEY}=mine", "--controls", mine]) == 0
    out = str(tmp_path / "out")
    assert cli.main(["sweep", file, "--vary", f"{KEY}=reno,mine", "--controls", mine, "-o", out, "-j", "2"]) == 0
    for name, said in (
        ("no.py", "expected a Python file"),
        ("empty.py", "defines no subclass"),
        ("broken.py", "ZeroDivisionError"),
    ):
        capsys.readouterr()
        assert cli.main(["run", file, "--controls", str(tmp_path / name)]) in {1, 2}
        assert said in capsys.readouterr().err
    sys.modules.pop("mine")


class Proportional(tl.CongestionControl):
    """DCTCP, as RFC 8257 has it."""

    def __init__(self, gain: float = 0.0625) -> None:
        self.gain, self.alpha = gain, 1.0

    def on_report(self, report: tl.Report) -> None:
        self.alpha += self.gain * (report.marked / max(report.delivered, 1) - self.alpha)
        if report.in_use and self.cwnd >= self.ssthresh:
            self.cwnd += 1

    def on_mark(self, loss: tl.Loss) -> float:
        return loss.in_use * (1 - self.alpha / 2)


class Unmoved(tl.CongestionControl):
    """Takes no note of marks."""

    def on_mark(self, _loss: tl.Loss) -> None:
        return None


MARKING = """
profile = "linux"
duration = "300 ms"
[link.wire]
ends = ["a", "b"]
rate = "10 Gbit/s"
delay = "10 us"
queue = {{ kind = "threshold", limit = "60 packets", mark = "30 packets" }}
[traffic.f]
kind = "bulk"
from = "a"
to = "b"
tcp = {{ congestion = "{control}", ecn = true }}
"""


def test_marks_are_told_apart_from_losses() -> None:
    """The engine's DCTCP has the same rate and queue; who hears marks as losses halves the window."""
    runs = {name: tl.simulate(tl.loads(MARKING.format(control=name))) for name in ("proportional", "dctcp", "unmoved")}
    queues = {name: run.links["queue_mean_packets"][0] for name, run in runs.items()}
    goodputs = {name: run.flows["goodput_bps"][0] for name, run in runs.items()}
    assert goodputs["proportional"] == pytest.approx(goodputs["dctcp"], rel=0.01)
    assert queues["proportional"] == pytest.approx(queues["dctcp"], rel=0.1)
    assert runs["proportional"].flows["packets_dropped"][0] == 0
    assert runs["unmoved"].links["queue_max_packets"][0] >= 59
    assert runs["unmoved"].flows["packets_dropped"][0] > 0
