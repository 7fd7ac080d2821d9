"""Congestion controls written in Python: every mistake told, at the definition or in the run."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import tightlink as tl
from tightlink import control

KEY = "traffic.ftp.tcp.congestion"
pytestmark = pytest.mark.usefixtures("forgotten_controls")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("def on_report(self, report): return 1 / 0", r"on_report of ftp at 0\.0\d+ s: ZeroDivisionError: .*line 3\)"),
        (
            "def on_report(self, report): report.rtt",
            r"no attribute 'rtt'; did you mean rtt_s\? \(mistaken\.py, line 3\)$",
        ),
        ("def on_loss(self, loss): self.cwdn", r"no attribute 'cwdn'; did you mean cwnd\? \(mistaken\.py, line 3\)$"),
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
            r"expected a control that does something, in on_report, on_loss, on_mark, on_timeout, on_ack, on_recovery_ack, on_sample",
        ),
    ],
)
def test_a_mistake_in_a_control_ends_the_run(controlled: tl.Scenario, tmp_path: Path, body: str, said: str) -> None:
    file = tmp_path / "mistaken.py"
    file.write_text(f"import tightlink as tl\nclass Mistaken(tl.CongestionControl):\n    {body}\n")
    assert control.load(file) == ["mistaken"]
    scenario = controlled.set(KEY, "mistaken")
    with pytest.raises(tl.TightlinkError, match=said):
        tl.simulate(scenario)
    sys.modules.pop("mistaken")


def test_what_a_control_is_told_says_what_it_is(controlled: tl.Scenario) -> None:
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

    tl.simulate(controlled.set_all({KEY: "saying", "traffic.ftp.tcp.recovery": "sack"}))
    assert {text.partition("(")[0] for text in said} == {"Report", "Loss", "RateSample"}
    assert all(re.fullmatch(r"\w+\((\w+=[\w.]+(, )?)+\)", text) for text in said), said[0]
    for told in (tl.Report, tl.Ack, tl.Loss, tl.RateSample):
        assert all(getattr(told, name).__doc__ for name in dir(told) if not name.startswith("_")), told


def test_a_break_of_the_user_stays_one(controlled: tl.Scenario) -> None:
    class Breaking(tl.CongestionControl):
        def on_report(self, report: tl.Report) -> None:
            raise KeyboardInterrupt(report.now_s)

    with pytest.raises(KeyboardInterrupt):
        tl.simulate(controlled.set(KEY, Breaking))
    part = tl.simulate(controlled.set(KEY, Breaking), part=True)
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
def test_a_rate_counts_whatever_sets_it(controlled: tl.Scenario, way: str) -> None:
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

    hidden, shown = (tl.simulate(controlled.set(KEY, each)).flows for each in (Hidden, Open))
    # Two windows at most, until the round ends in which the rate was set, are all that is not paced.
    assert hidden["packets_sent"].item() == pytest.approx(shown["packets_sent"].item(), abs=2 * 30)
    assert shown["packets_sent"].item() == pytest.approx(100 * 10, abs=40)


def test_all_that_may_be_called_is_in_the_help() -> None:
    for method in control._METHODS:
        assert getattr(tl.CongestionControl, method).__doc__
