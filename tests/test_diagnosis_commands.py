"""Suggested commands can be typed as they are, name what was changed already, and do what is expected of them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import tightlink as tl
from diagnosis_cases import BLOAT, KEPT, LEFT, named, of_source
from tightlink import cli
from tightlink.measure.measuring import check
from tightlink.run import Framed, Run


@pytest.mark.parametrize("case", [case for case in of_source("simulated") if "tries" in case.values[0]])
def test_suggested_commands_do_what_they_should(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every command works as it is; the first one raises the rate, or lowers the delay and keeps the rate."""
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(case["scenario"], encoding="utf-8")
    run = tl.simulate(tl.load("case.toml"))
    (diagnosis,) = run.why(case["flow"]).diagnoses
    assert diagnosis.delay is not None
    flows = []
    for suggestion in diagnosis.suggestions:
        if suggestion.vary:
            assert suggestion is diagnosis.suggestions[-1]
            assert cli.main([*shlex.split(suggestion.command)[1:], "--dry-run"]) == 0
            continue
        assert cli.main([*shlex.split(suggestion.command)[1:], "--json"]) == 0
        found = {flow["label"]: flow for flow in json.loads(capsys.readouterr().out)["flows"]}
        flows.append(found[case["flow"]]["throughput_bps"])
        changed = tl.simulate(tl.load("case.toml", set=suggestion.changes)).why(case["flow"]).diagnoses[0]
        if suggestion is diagnosis.suggestions[0]:
            first = changed
    before = run.flows.filter(pl.col("label") == case["flow"])["throughput_bps"][0]
    assert first.delay is not None
    faster = flows[0] > before / KEPT
    assert faster or first.delay.mean_s < LEFT * diagnosis.delay.mean_s, (before, flows, first)
    assert flows[0] > KEPT * before


def test_a_scenario_of_python_gets_python() -> None:
    run = tl.simulate(tl.loads(BLOAT["scenario"]).set("duration", "3 s"))
    command = run.why().suggestions[0].command
    better = eval(command, {"tl": tl, "run": run})  # what is suggested
    assert better.delay.mean_s < LEFT * run.why().delay.mean_s  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("one Reno flow that overfills", "link.wire.queue"),
        ("a game behind an upload", "link.uplink.queue.kind"),
        ("random loss on the wire", "traffic.ftp.tcp.congestion"),
    ],
)
def test_what_is_a_choice_is_swept(
    name: str, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(named(name), encoding="utf-8")
    suggestion = tl.simulate(tl.load("case.toml")).why().suggestions[-1]
    ((varied, levels),) = suggestion.vary.items()
    assert (varied, suggestion.changes) == (key, {})
    assert cli.main(shlex.split(suggestion.command)[1:]) == 0
    assert str(levels[0]) in capsys.readouterr().out
    assert (tmp_path / "results" / "case-sweep" / "report.html").exists()
    # What only Python has, Python sweeps.
    run = tl.simulate(tl.loads(named(name)))
    found = eval(run.why().suggestions[-1].command, {"tl": tl, "run": run})  # what is suggested
    assert found.runs.collect().height == len(levels)


@pytest.mark.parametrize("case", [case for case in of_source("measured") if "tries" in case.values[0]])
def test_what_was_measured_is_measured_again(case: dict[str, Any]) -> None:
    """As it was; sweeps are simulated, and say so."""
    run = tl.simulate(tl.loads(case["scenario"], file="a case.toml").set("duration", "5 s"))
    manifest = {"source": "measurement", "sender": {"name": "iperf3"}, "link": {"names": ["wire"], "device": "packet"}}
    measured = Run(run.scenario, manifest, Framed({"flows": run.flows, "links": run.links}))
    commands = {each.text: each for each in measured.why().suggestions}
    again = [each for each in commands.values() if each.command.startswith("tightlink measure ")]
    assert list(again[0].changes) == case["tries"]
    assert again == [each for each in commands.values() if each.changes]
    for each in again:
        assert " --sender iperf3 --device packet --set " in each.command
        check(run.scenario.set_all(each.changes))
    for text, each in commands.items():
        assert (each in again) == (not text.endswith(" in a simulation"))
        words = shlex.split(each.command)
        assert words[2] == "a case.toml"
        cli.app.parse_args(words[1:], exit_on_error=False)
    # Of several links, that which was emulated; without a file, in Python.
    several = 'link.other = { ends = ["b", "c"], rate = "1 Gbit/s" }'
    for text, file, begin in (
        (case["scenario"] + several, "it.toml", "tightlink measure it.toml --sender iperf3 --device packet --link wire "),
        (case["scenario"], None, "measure(run.scenario.set_all({'link.wire.queue'"),
    ):  # fmt: skip
        measured = Run(tl.loads(text, file=file), manifest, Framed({"flows": run.flows, "links": run.links}))
        assert measured.why().suggestions[0].command.startswith(begin)


def test_what_was_changed_already_is_in_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "a case.toml"
    file.write_text(BLOAT["scenario"], encoding="utf-8")
    changes = {"duration": "2 s", "traffic.upload.tcp.window": "5000 packets", "link[*].loss": 0.0}
    run = tl.simulate(tl.load(file, set=changes))
    command = run.why().suggestions[0].command
    assert '--set duration="2 s" --set traffic.upload.tcp.window="5000 packets" --set "link[*].loss=0.0"' in command
    assert cli.main([*shlex.split(command)[1:], "--show-config"]) == 0
    assert "5000 packets" in capsys.readouterr().out


def test_a_suggestion_replaces_what_was_typed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is changed again is named once, whole; other changes stay."""
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(BLOAT["scenario"], encoding="utf-8")
    typed = ["run", "case.toml", "--set", "duration=3 s", "--set", "link.uplink.queue.limit=900 packets", "--seed", "7"]
    assert cli.main([*typed, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["why"]["diagnoses"][0]["suggestions"][0]
    assert first["changes"].keys() == {"link.uplink.queue"}
    kept = 'tightlink run case.toml --set duration="3 s" --set seed=7 --set link.uplink.queue='
    assert first["command"].startswith(kept)


def test_a_run_that_is_there_already_is_told_of_as_at_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.toml").write_text(BLOAT["scenario"], encoding="utf-8")
    said = []
    for _ in range(2):
        assert cli.main(["run", "case.toml", "--set", "duration=3 s", "-o", "out"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert "a sweep" in said[0].replace("\n ", "")
