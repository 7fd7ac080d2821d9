"""Congestion controls written in Python: where their code is, and that other code is another run."""

from __future__ import annotations

import importlib
import pickle
import shutil
import sys
from pathlib import Path

import pytest

import tightlink as tl
from tightlink import cli, control
from tightlink.control_code import code_of
from tightlink.simulate import prepare

KEY = "traffic.ftp.tcp.congestion"
pytestmark = pytest.mark.usefixtures("forgotten_controls")


def test_a_file_finds_what_lies_beside_it(controlled: tl.Scenario, tmp_path: Path) -> None:
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
    tl.simulate(controlled.set(KEY, "stepping"))
    sys.path.remove(str(tmp_path))
    for name in ("stepping", "steps_of_mine", "lately_of_mine"):
        sys.modules.pop(name)


def test_other_code_is_another_run(controlled: tl.Scenario, tmp_path: Path) -> None:
    file = tmp_path / "changing.py"
    scenario = controlled.set(KEY, "changing")
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


def test_the_class_that_is_given_is_the_one_that_runs(controlled: tl.Scenario, tmp_path: Path) -> None:
    """Whatever else is called so: classes of a function, of other modules, of a cell that is run again."""
    classes = [_fixed(packets) for packets in (2, 4, 8)]
    scenarios = [controlled.set(KEY, each) for each in classes]
    runs = [tl.simulate(each) for each in scenarios]
    rates = [run.flows["goodput_bps"][0] for run in runs]
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.05)
    assert rates[2] == pytest.approx(4 * rates[0], rel=0.05)
    assert scenarios[0] != scenarios[1]
    assert len({run.manifest["identity"] for run in runs}) == 3
    assert tl.simulate(controlled.set(KEY, _fixed(2))).manifest["identity"] == runs[0].manifest["identity"]
    # By name it is the last one that was defined.
    assert tl.simulate(controlled.set(KEY, "fixed")).flows["goodput_bps"][0] == rates[0]
    runs[0].save(tmp_path / "run")
    with pytest.raises(tl.TightlinkError, match="the run there is of another scenario"):
        runs[1].save(tmp_path / "run")
    with pytest.raises(tl.ScenarioError, match="expected controls of different names"):
        tl.sweep(controlled, {KEY: classes})


def test_a_sweep_simulates_again_when_what_a_control_looks_up_changes(controlled: tl.Scenario, tmp_path: Path) -> None:
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
        found = tl.sweep(controlled.set(KEY, "looked"), replications=2, output=tmp_path / "sweep")
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
    controlled: tl.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "stepping.py", str(tmp_path / "run")
    file.write_text(
        "import tightlink as tl\nclass Stepping(tl.CongestionControl):\n"
        "    def __init__(self, step: float = 1.0) -> None:\n        self.step = step\n"
        "    def on_report(self, report: tl.Report) -> None:\n        self.cwnd += self.step\n"
    )
    control.load(file)
    run = tl.simulate(controlled.set_all({KEY: {"kind": "stepping", "step": 0.5}, "duration": "2 s"}))
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
    assert (
        "takes the code of stepping: an import, or --controls FILE.py" in (tmp_path / "run" / "report.html").read_text()
    )
    capsys.readouterr()
    over_time = ["plot", folder, "over-time", "-o", str(tmp_path / "over-time.svg")]
    assert cli.main(over_time) == 2
    assert capsys.readouterr().err.endswith(
        ". To observe it now takes the code of stepping: an import, or --controls FILE.py.\n"
    )
    assert cli.main([*over_time, "--controls", str(file)]) == 0
    sys.modules.pop("stepping")

    # The scenario finds the class, once it is here.
    control._CONTROLS["stepping"] = known
    assert opened.scenario.resolve() == resolved


def test_on_the_command_line(controlled: tl.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "s.toml").write_text(controlled.to_toml())
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
