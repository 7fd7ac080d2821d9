"""The command that evaluates: what it prints, mistakes in one sentence, and controls that fail."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from evaluations import SEEDS, value
from tightlink.cli import main
from tightlink.studies.evaluation.report.words import told
from tightlink.studies.evaluation.setup.pack import packs

pytestmark = pytest.mark.usefixtures("small_pack")


def test_the_command_prints_the_verdicts_of_a_pack(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "study",
        "evaluation",
        "--congestion",
        "vegas",
        "--pack",
        "wireless",
        "-o",
        str(tmp_path / "out"),
        "-j",
        "2",
    ]
    assert main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["requirement", "place", "setting", "asked", "vegas"]
    titles = [each.title for each in packs()["wireless"].requirements]
    assert [line for line in lines if any(line.startswith(title) for title in titles)] == lines[1 : 1 + len(titles)]
    assert main([*arguments, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [row["requirement"] for row in listed["verdicts"]] == titles
    assert {row["verdict"] for row in listed["verdicts"]} <= {"met", "missed", "open"}
    assert set(listed["tests"]) == set(packs()["wireless"].tests)


def test_the_command_prints_controls_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    controls = "reno, fast:alpha=20 packets"
    arguments = ["study", "evaluation", "--congestion", controls, "--tests", "ramp-up", "-o", str(tmp_path / "out")]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.out.splitlines()[0].split() == ["measure", "reno", "fast:alpha=20", "packets"]
    assert "report:" in printed.out
    assert "4 runs, about" in printed.err
    assert main([*arguments, "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert set(listed) == {"report", "claims", "controls", "tests", "summary", "verdicts"}
    # Of no pack all tests were made.
    assert listed["verdicts"] == []
    # The table that is alone has its name, as beside that of verdicts.
    assert main([*arguments, "--csv"]) == 0
    assert capsys.readouterr().out.splitlines()[:2] == ["# summary", ",".join(listed["summary"][0])]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--queues", ""], "at least one queue"),
        (["--queues", "codl"], 'did you mean "codel"?'),
        (["--queues", "codel,codel"], "each queue once"),
        (["--queues", "codel:targt=1 ms"], "targt"),
        (["--queues", "strict"], "order: this key is needed"),
        (["--queues", "codel", "--tests", "burst"], "did you mean bursts?"),
        (["--congestion", ""], "at least one congestion control"),
        (["--congestion", "renno"], 'did you mean "reno"?'),
        (["--congestion", "reno, reno"], "each congestion control once"),
        (
            ["--congestion", "fast:alfa=3"],
            '--congestion: fast:alfa: unknown key; expected one of alpha, gamma, mi_threshold; did you mean "alpha"?',
        ),
        (["--congestion", "fast:alpha"], "expected NAME or NAME:option=value"),
        (["--congestion", "fast:alpha=2 s"], '--congestion: fast:alpha = "2 s": expected'),
        (["--congestion", "reno", "--tests", "ramp"], "did you mean ramp-up?"),
        (["--congestion", "reno", "--pack", "wirless"], "did you mean wireless?"),
        (["--congestion", "reno", "--pack", "wireless", "--tests", "ramp-up"], "either a pack or tests, not both"),
        (["--queues", "codel", "--pack", "wireless"], "the tests of queues are one pack, that of RFC 7928"),
        (["--congestion", "reno", "-j", "0"], "--jobs = 0: expected a whole number of at least 1"),
    ],
)
def test_bad_input_is_one_sentence(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["study", "evaluation", *arguments, "-o", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr().err
    assert said in printed
    assert printed.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_another_folder_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["study", "evaluation", "-o", str(tmp_path)]) == 2
    assert "holds no study" in capsys.readouterr().err


class Fragile(tl.CongestionControl):
    """Does not stand one seed of two."""

    def __init__(self, *, never: bool = False) -> None:
        if never or self.seed == SEEDS[-1]:
            raise ValueError("no")

    def on_report(self, report: tl.Report) -> None:
        if report.in_use and self.cwnd >= self.ssthresh:
            self.cwnd += 1


def test_runs_that_fail_leave_what_the_others_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tests = ["ramp-up", "call"]
    with pytest.warns(tl.TightlinkWarning, match=r"(?s)^\d+ of \d+ runs failed.*fragile/call/.*ValueError: no"):
        found = tl.evaluate([Fragile, "fragile:never=true", "reno"], tests=tests, output=tmp_path / "all")
    replications = found.summary.filter(pl.col("test") == "call").group_by("control").agg(pl.max("replications"))
    assert dict(replications.iter_rows()) == {"fragile": 1, "reno": len(SEEDS)}
    assert {label for label, *_ in found.failed} == {"fragile", "fragile:never=true"}
    assert value(found, "fragile", "ramp-up", "ramp_up_s", "unlimited threshold") > 0
    for _, headline, means in found.headlines():
        cells = {label: told(headline.measure, mean, headline.never) for label, mean in means.items()}
        assert (cells["fragile:never=true"], cells["reno"] == "failed") == ("failed", False)
    text = (tmp_path / "all" / "report.html").read_text()
    assert "runs failed." in text
    stored = tl.experiment.open(tmp_path / "all")
    assert all("ValueError: no" in entry["error"] for entry in stored.failures.values())
    assert stored.scenario(next(iter(stored.failures))).traffic
    assert stored.runs.filter(status="failed").collect().height == len(stored.failures)

    (tmp_path / "fragile.py").write_text(
        "import tightlink as tl\nclass Broken(tl.CongestionControl):\n    def on_report(self, report): self.nothing\n"
    )
    file, out = str(tmp_path / "fragile.py"), str(tmp_path / "out")
    asked = ["--controls", file, "--congestion", "broken,reno", "--tests", "call", "-o", out]
    capsys.readouterr()
    assert main(["study", "evaluation", *asked]) == 1
    said = capsys.readouterr()
    assert "failed" in said.out
    hint = re.search(r"to see one alone: tightlink (.*)", said.err)
    assert hint is not None
    assert main(shlex.split(hint[1])) == 2
    assert re.search(r"on_report of flow at .*AttributeError: .*fragile\.py, line 3", capsys.readouterr().err)
    # Without any run there is nothing to say.
    with pytest.raises(tl.TightlinkError, match="2 of 2 runs failed"):
        tl.evaluate(["broken"], tests=["call"], output=tmp_path / "none")
