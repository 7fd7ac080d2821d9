"""Old names of commands: understood, with a warning that has today's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import tightlink as tl
from programs import commands
from tightlink import tables as columns
from tightlink.commands.renamed import COMMANDS, OPTIONS, as_now
from tightlink.experiment.precision import Precision

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("old", COMMANDS)
def test_an_old_name_is_understood_and_gone_from_the_help(old: str, said: Callable[..., tuple[int, str, str]]) -> None:
    now = COMMANDS[old]
    assert now in commands()
    assert old not in commands()
    code, shown, warning = said(*old.split(), "--help")
    assert (code, shown) == said(*now.split(), "--help")[:2]
    assert warning == f"tightlink: warning: {old} is called {now} now; the next release has the new name alone\n"


@pytest.mark.parametrize(("command", "old", "now"), [(at, *pair) for at, of in OPTIONS.items() for pair in of.items()])
def test_an_old_option_is_one_of_today(
    command: str, old: str, now: str, said: Callable[..., tuple[int, str, str]]
) -> None:
    text = said(*command.split(), "--help")[1]
    assert now in text
    assert old not in text
    assert as_now([*command.split(), f"{old}=x", old, "x"]) == [*command.split(), f"{now}=x", now, "x"]
    assert as_now(["run", old]) == ["run", old]


def test_an_evaluation_was_a_command(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, shown, warning = said("evaluate", "renno", "fast:alpha=2 packets", "--test=ramp-up", "-j", "2")
    assert (code, shown) == (2, "")
    assert warning.startswith("tightlink: warning: evaluate is called study evaluation now; ")
    assert 'did you mean "reno"?' in warning
    now = ["study", "evaluation", "-o", "out", "--queues", "codel, cake", "--tests", "bursts,aggressive"]
    assert (
        as_now(["evaluate", "--queues", "codel", "cake", "--test", "bursts", "-o", "out", "--test", "aggressive"])
        == now
    )
    assert "evaluate" not in commands()


def test_a_study_was_begun_by_an_option(
    said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, written, warning = said("study", "--new", "mine")
    assert (code, written) == (0, "mine.py\n")
    assert "study --new is called new study now" in warning


def test_an_old_option_is_told_once_however_often_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    now = ["measure", "tcp", "--max-repeats", "3", "--max-repeats=4"]
    assert as_now(["measure", "tcp", "--most", "3", "--most=4"]) == now
    assert capsys.readouterr().err.count("--most is called --max-repeats now") == 1


def test_old_columns_are_understood_where_metrics_are_named(
    one_flow: str, tmp_path: Path, said: Callable[..., tuple[int, str, str]]
) -> None:
    scenario = tl.loads(one_flow).set("duration", "1 s")
    folder = str(tl.simulate(scenario).save(tmp_path / "run"))
    told = "latency_mean_s is called one_way_delay_mean_s now; the next release has the new name alone"
    code, _, warning = said("compare", folder, folder, "--limit", "latency_mean_s=+10 %")
    assert (code, warning.count(told)) == (0, 1)
    with pytest.warns(tl.TightlinkWarning, match=told):
        assert Precision.parse("ftp.latency_mean_s=5 %", 10).metric == "ftp.one_way_delay_mean_s"
    with pytest.warns(tl.TightlinkWarning, match=told):
        assert columns.as_now("latency_mean_s", ["one_way_delay_mean_s"]) == "one_way_delay_mean_s"
    # A table of others may have a column of that name.
    assert columns.as_now("latency_mean_s", ["latency_mean_s", "one_way_delay_mean_s"]) == "latency_mean_s"
    assert columns.as_now("latency_mean_s", ["delay_s"]) == "latency_mean_s"
