"""Congestion controls written in Python: equal to those of the engine where they do the same; every mistake told."""

from __future__ import annotations

import importlib
import math
import pickle
import re
import shutil
import sys
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

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

        def on_loss(self, loss: tl.Loss) -> float | None:
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
            r"on_loss of ftp at .* s: ValueError: what it returns is None: expected packets, or that it sets self.cwnd",
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
        (
            "def on_loss(self, loss):\n        self.cwnd = 7\n        return 30",
            r"on_loss of ftp .*: it returns 30 and sets self\.cwnd to 7: expected one of them",
        ),
        ("def on_loss(self, loss): return True", "what it returns is True: expected packets"),
        ("def on_ack(self, ack): self.pacing_rate = True", "pacing_rate is True: expected packets per second"),
        (
            "def __init__(self): {}[3]\n    def on_report(self, report): pass",
            r"^__init__ of ftp: KeyError: 3 \(mistaken\.py, line 3\)$",
        ),
        (
            "def __init__(self): self.cwnd = 'x'\n    def on_report(self, report): pass",
            "__init__ of ftp: .*cwnd is 'x'",
        ),
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

        def on_loss(self, loss: tl.Loss) -> float | None:
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
    with pytest.raises(TypeError, match=r"Loose\.__init__: \*shares: expected a name and a default for each option"):

        class Loose(tl.CongestionControl):
            def __init__(self, *shares: float) -> None:
                self.shares = shares

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


@pytest.mark.parametrize("way", ["helper", "setattr", "dict"])
def test_a_rate_counts_whatever_sets_it(base: tl.Scenario, way: str) -> None:
    def helper(control: tl.CongestionControl) -> None:
        control.pacing_rate = 100.0

    class Hidden(tl.CongestionControl):
        def on_report(self, _report: tl.Report) -> None:
            self.cwnd = 30
            if way == "helper":
                helper(self)
            elif way == "setattr":
                setattr(self, "pacing_rate", 100.0)  # noqa: B010
            else:
                self.__dict__.update(pacing_rate=100.0)

    class Open(tl.CongestionControl):
        def on_report(self, _report: tl.Report) -> None:
            self.cwnd, self.pacing_rate = 30, 100.0

    hidden, shown = (tl.simulate(base.set(KEY, each)).flows for each in (Hidden, Open))
    # Two windows at most, until the round ends in which the rate was set, are all that is not paced.
    assert hidden["packets_sent"].item() == pytest.approx(shown["packets_sent"].item(), abs=2 * 30)
    assert shown["packets_sent"].item() == pytest.approx(100 * 10, abs=40)


def test_what_a_loss_sets_is_taken_over(base: tl.Scenario) -> None:
    """Returned or set, both with a threshold beside the window: whichever way, it is the same run."""
    seen: list[tuple[float, float]] = []

    class Returns(tl.CongestionControl):
        def on_report(self, _report: tl.Report) -> None:
            seen.append((self.cwnd, self.ssthresh))

        def on_loss(self, loss: tl.Loss) -> float | None:
            self.ssthresh = 1000
            return loss.in_use / 4

    class Sets(Returns):
        def on_loss(self, loss: tl.Loss) -> None:
            self.cwnd, self.ssthresh = loss.in_use / 4, 1000

    returned, assigned = (tl.simulate(base.set(KEY, each)) for each in (Returns, Sets))
    assert returned.flows.drop("congestion").equals(assigned.flows.drop("congestion"))
    assert {threshold for _, threshold in seen} == {math.inf, 1000}


def test_what_a_timeout_sets_is_taken_over(base: tl.Scenario) -> None:
    after: list[tuple[float, float]] = []

    class Bold(tl.CongestionControl):
        asked = False

        def on_ack(self, ack: tl.Ack) -> None:
            if self.asked:
                after.append((self.cwnd, self.ssthresh))
                self.asked = False
            self.cwnd += ack.acked / self.cwnd

        def on_timeout(self, _loss: tl.Loss) -> None:
            self.cwnd, self.ssthresh, self.asked = 5, 40, True

    outage = {"flush": True, "schedule": [{"at": "3 s", "for": "300 ms"}]}
    tl.simulate(base.set_all({KEY: Bold, "link.wire.outages": outage}))
    assert after
    assert all(window == (5, 40) for window in after)


def test_a_timeout_is_answered_as_a_loss_however_that_says_it(base: tl.Scenario) -> None:
    class Sets(tl.CongestionControl):
        def on_loss(self, loss: tl.Loss) -> None:
            self.cwnd = loss.in_use / 2

    outage = {"flush": True, "schedule": [{"at": "3 s", "for": "300 ms"}]}
    dark = base.set("link.wire.outages", outage)

    class Returns(tl.CongestionControl):
        def on_report(self, _report: tl.Report) -> None:
            """Leave the window."""

    mine, theirs = (tl.simulate(dark.set(KEY, each)) for each in (Sets, Returns))
    assert mine.flows["timeouts"].item() > 0
    assert mine.flows.drop("congestion").equals(theirs.flows.drop("congestion"))


def test_a_control_knows_its_connection_when_it_begins(base: tl.Scenario) -> None:
    known: list[tuple[object, ...]] = []

    class Knowing(tl.CongestionControl):
        def __init__(self) -> None:
            known.append((self.flow, self.seed, self.payload_bytes, self.cwnd, self.ssthresh))
            self.cwnd, self.ssthresh = 3, 20

        def on_ack(self, ack: tl.Ack) -> None:
            known.append((self.cwnd, self.ssthresh, ack.in_flight))

    tcp = {"congestion": Knowing, "payload": "1000 B", "initial_window": "4 packets", "initial_ssthresh": "30 packets"}
    tl.simulate(base.set_all({"traffic.ftp.tcp": tcp, "traffic.ftp.flows": 2, "seed": 7, "duration": "1 s"}))
    assert known[:2] == [("ftp[0]", 7, 1000, 4, 30), ("ftp[1]", 7, 1000, 4, 30)]
    # What it leaves there is what the connection begins with.
    assert known[2] == (3, 20, 3)


def test_all_that_may_be_called_is_in_the_help() -> None:
    for method in control._METHODS:
        assert getattr(tl.CongestionControl, method).__doc__


def test_a_file_finds_what_lies_beside_it(base: tl.Scenario, tmp_path: Path) -> None:
    (tmp_path / "steps_of_mine.py").write_text("STEP = 2\n")
    (tmp_path / "lately_of_mine.py").write_text("STEP = 3\n")
    (tmp_path / "stepping.py").write_text(
        "import tightlink as tl\nimport steps_of_mine\nclass Stepping(tl.CongestionControl):\n"
        "    def on_report(self, report):\n        import lately_of_mine\n"
        "        self.cwnd += steps_of_mine.STEP + lately_of_mine.STEP\n"
    )
    before = list(sys.path)
    assert control.load(tmp_path / "stepping.py") == ["stepping"]
    assert sys.path == [*before, str(tmp_path)]
    tl.simulate(base.set(KEY, "stepping"))
    sys.path.remove(str(tmp_path))
    for name in ("stepping", "steps_of_mine", "lately_of_mine"):
        sys.modules.pop(name)


def test_growth_by_reports_is_standard_after_losses(base: tl.Scenario) -> None:
    """A packet a round trip by reports, and by ACKs: the same rate, as a report after a loss is no round trip early."""

    class Reports(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            if report.in_use and self.cwnd >= self.ssthresh:
                self.cwnd += 1

    rates = {}
    for name, each in (("reports", Reports), ("reno", "reno")):
        settings = {KEY: each, "traffic.ftp.tcp.recovery": "sack", "link.wire.loss": 0.01, "duration": "60 s"}
        runs = [tl.simulate(base.set_all(settings | {"seed": seed})) for seed in (1, 2, 3)]
        rates[name] = sum(run.flows["goodput_bps"].item() for run in runs)
    assert rates["reports"] == pytest.approx(rates["reno"], rel=0.06)


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


def test_a_control_that_reads_marks_has_ecn_as_dctcp_has() -> None:
    plain = MARKING.replace(", ecn = true", "")
    mine, theirs = (tl.simulate(tl.loads(plain.format(control=name))).flows for name in ("proportional", "dctcp"))
    assert mine["packets_marked"][0] > 0
    assert mine["goodput_bps"][0] == pytest.approx(theirs["goodput_bps"][0], rel=0.01)


@pytest.mark.parametrize("ecn", [True, "accecn"])
@pytest.mark.parametrize("profile", ["rfc", "linux"])
def test_acks_tell_of_each_mark(profile: str, ecn: object) -> None:
    heard: list[tuple[float, float]] = []
    marks: list[float] = []
    rounds: list[float] = []

    class Hearing(tl.CongestionControl):
        def on_ack(self, ack: tl.Ack) -> None:
            heard.append((ack.acked, ack.marked))
            if ack.in_use:
                self.cwnd += 1 if self.cwnd < self.ssthresh else ack.acked / self.cwnd

        def on_report(self, report: tl.Report) -> None:
            rounds.append(report.marked)

        def on_mark(self, loss: tl.Loss) -> float:
            marks.append(loss.now_s)
            return 0.8 * loss.in_use

    text = MARKING.format(control="hearing").replace("linux", profile).replace("60 packets", "500 packets")
    slow = tl.loads(text).set_all({"link.wire.rate": "100 Mbit/s", "link.wire.delay": "1 ms", "duration": "2 s"})
    flow = tl.simulate(slow.set("traffic.f.tcp.ecn", ecn)).flows
    assert flow["packets_dropped"][0] == 0
    told = sum(marked for _, marked in heard)
    assert told == pytest.approx(flow["packets_marked"][0], abs=60)
    assert told > 500
    assert sum(acked for acked, _ in heard) + told == pytest.approx(flow["packets_delivered"][0], abs=60)
    assert sum(rounds) <= told
    # Once a round trip at most, which is at least 2 ms and the queue's.
    assert all(after - before > 0.002 for before, after in pairwise(marks))


def test_who_answers_no_mark_hears_of_one_a_round_trip() -> None:
    marks: list[float] = []

    class Deaf(tl.CongestionControl):
        def on_mark(self, loss: tl.Loss) -> None:
            marks.append(loss.now_s)

        def on_loss(self, _loss: tl.Loss) -> float:
            return 60

    text = MARKING.format(control="deaf")
    flow = tl.simulate(tl.loads(text).set_all({"link.wire.rate": "100 Mbit/s", "link.wire.delay": "1 ms"})).flows
    assert flow["packets_marked"][0] > 10 * len(marks) > 0
    assert all(after - before > 0.002 for before, after in pairwise(marks))


def test_what_a_mark_sets_is_taken_over() -> None:
    windows: list[float] = []

    class Setting(tl.CongestionControl):
        def on_mark(self, _loss: tl.Loss) -> None:
            self.cwnd = self.ssthresh = 8

        def on_report(self, _report: tl.Report) -> None:
            windows.append(self.cwnd)
            if self.cwnd >= self.ssthresh:
                self.cwnd += 1

    text = MARKING.format(control="setting").replace("linux", "rfc").replace("60 packets", "500 packets")
    tl.simulate(tl.loads(text).set_all({"link.wire.rate": "100 Mbit/s", "link.wire.delay": "1 ms"}))
    assert windows.count(8) > 1
    assert max(windows) < 60


def test_what_a_control_believes_is_sampled(base: tl.Scenario, tmp_path: Path) -> None:
    class Told(tl.CongestionControl):
        sampled: ClassVar = ["doubled", "late_s"]
        late_s: float | None = None

        @property
        def doubled(self) -> float:
            return 2 * self.cwnd

        def on_report(self, report: tl.Report) -> None:
            self.late_s = report.rtt_s - report.rtt_base_s if report.now_s > 5 else None

    scenario = base.set_all({KEY: Told, "traffic.ftp.flows": 2, "observe": {"interval": "1 s"}})
    run = tl.simulate(scenario)
    wide = run.series.filter(entity="ftp[1]").pivot("metric", index="time_s", values="value")
    # The window that the control was shown last, of which the engine's may have grown since.
    assert (wide["doubled"] <= 2 * wide["cwnd_packets"]).all()
    assert wide.filter(pl.col("late_s").is_not_null())["time_s"].min() == 6.0
    assert run.series.filter(metric="doubled")["entity"].unique().sort().to_list() == ["ftp[0]", "ftp[1]"]
    assert tl.simulate(scenario.set("observe", None)).flows.equals(run.flows)
    run.save(tmp_path / "run")
    assert tl.open_run(tmp_path / "run").series.equals(run.series)
    assert '"doubled"' in run.report(tmp_path / "run.html").read_text(encoding="utf-8")

    class Wrong(Told):
        sampled: ClassVar = ["name"]

    with pytest.raises(
        tl.TightlinkError, match=r"the sample of name of ftp\[0\]: ValueError: it is 'wrong': expected a number"
    ):
        tl.simulate(scenario.set(KEY, Wrong))
    for names, said in (
        ("cwnd", "a tuple of names"),
        (("rtt_s",), "a metric of that name"),
        (("a b",), "an attribute"),
    ):
        with pytest.raises(TypeError, match=said):
            type("Misnamed", (Told,), {"sampled": names})


@pytest.mark.parametrize(
    ("congestion", "metrics"),
    [
        ("bbr", ["bandwidth_bps", "rtt_base_s"]),
        ("bbr3", ["bandwidth_bps", "rtt_base_s"]),
        ("cubic", ["plateau_packets"]),
        ("reno", []),
    ],
)
def test_what_controls_of_the_engine_believe_is_sampled_with_their_phases(
    base: tl.Scenario, congestion: str, metrics: list[str]
) -> None:
    changes = {KEY: congestion, "observe": {"interval": "1 s", "transport": True}, "profile": "linux"}
    series = tl.simulate(base.set_all(changes)).series
    believed = {"bandwidth_bps", "rtt_base_s", "plateau_packets", "marked_share"}
    assert sorted(believed & {*series["metric"]}) == metrics
    last = {row["metric"]: row["value"] for row in series.filter(time_s=9.0).to_dicts()}
    if "bandwidth_bps" in metrics:
        # The link's rate; the handshake's round trip, of two packets of 52 B, is that of an empty path.
        assert last["bandwidth_bps"] == pytest.approx(10e6, rel=0.02)
        assert last["rtt_base_s"] == pytest.approx(0.04 + 2 * 52 * 8 / 10e6)


def test_a_control_hears_that_a_reduction_is_undone(base: tl.Scenario) -> None:
    heard: list[tuple[float, float]] = []

    class Undone(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            self.cwnd += report.in_use

        def on_loss(self, loss: tl.Loss) -> float:
            self.before = self.cwnd
            return loss.in_use / 2

        def on_undo(self) -> None:
            heard.append((self.cwnd, self.before))

    # Packets that others overtake by far more than RACK allows at first, and none that is lost.
    late = {"probability": "0.2 %", "delay": "30 ms"}
    wire = {"link.wire.queue": "10000 packets", "link.wire.reorder": late}
    run = tl.simulate(base.set_all({KEY: Undone, "profile": "linux", "duration": "5 s", **wire}))
    assert run.links["packets_dropped"].sum() == 0
    assert heard
    assert all(cwnd >= before for cwnd, before in heard)
    with pytest.raises(TypeError, match="did you mean on_undo"):
        type("Misnamed", (tl.CongestionControl,), {"on_undone": lambda _: None})
