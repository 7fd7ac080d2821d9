"""Damage to what is stored: found by whoever reads it, and mended by whoever can."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from stores import run_in
from tightlink import cli, experiment
from tightlink.checksums import DamagedError, check, read_json, read_parquet, seal, write_json, write_table
from tightlink.experiment.execute import Task
from tightlink.experiment.store import Store
from tightlink.experiment.stored import opened

QUEUE = "link.bottleneck.queue"


@pytest.fixture(scope="module")
def scenario(one_flow: str) -> tl.Scenario:
    return tl.loads(one_flow).set_all({"duration": "1 s", "observe.interval": "100 ms"})


def _flipped(content: bytes, place: int, bit: int = 0) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


@pytest.mark.parametrize("of", [dict, pl.DataFrame, pl.LazyFrame])
def test_every_bit_of_a_table_counts(of: Callable[[object], Any], tmp_path: Path) -> None:
    rates = np.linspace(0.0, 1e6, 100)
    file = write_table(tmp_path / "rates.parquet", of({"rate_bps": rates}))
    assert read_parquet(file)["rate_bps"].to_list() == rates.tolist()
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(_flipped(whole, place, place % 8))
        with pytest.raises(DamagedError, match=r"rates\.parquet: damaged: "):
            check(file, needed=True)
    assert [file.name for file in tmp_path.iterdir()] == ["rates.parquet"]


def test_every_bit_of_a_run_counts_and_is_made_again(scenario: tl.Scenario, tmp_path: Path) -> None:
    store = Store(tmp_path)
    flows = run_in(store, scenario).flows
    (file,) = store.files()
    whole = file.read_bytes()
    for place in random.Random(1).sample(range(len(whole)), 60):
        file.write_bytes(_flipped(whole, place, place % 8))
        again = Store(tmp_path)
        assert run_in(again, scenario).flows.equals(flows)
        assert ([error.path for error in again.damaged], again.simulated) == ([file], 1)
        assert file.read_bytes() == whole
    file.unlink()
    file.mkdir()
    assert run_in(Store(tmp_path), scenario).flows.equals(flows)
    assert file.read_bytes() == whole


def test_only_what_is_read_is_compared(scenario: tl.Scenario, tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_in(store, scenario, trace=True)
    (file,) = store.files()
    whole = file.read_bytes()
    # The packets are the largest part, in the middle.
    file.write_bytes(_flipped(whole, len(whole) // 2))
    assert isinstance(Store(tmp_path).look(Task("it", scenario)), tl.Run)
    run = opened(file)
    assert run is not None
    assert run.flows.height == 1
    with pytest.raises(DamagedError, match="its table packets does not match its checksum"):
        _ = run.packets
    again = Store(tmp_path)
    assert run_in(again, scenario, trace=True).packets.height > 0
    assert (len(again.damaged), file.read_bytes()) == (1, whole)


def test_a_run_under_the_name_of_another_is_damaged(scenario: tl.Scenario, tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_in(store, scenario)
    run_in(store, scenario.set("seed", 7))
    one, other = store.files()
    one.write_bytes(other.read_bytes())
    again = Store(tmp_path)
    assert {run_in(again, scenario.set("seed", seed)).manifest["seed"] for seed in (1, 7)} == {1, 7}
    assert len(again.damaged) == 1


def test_json(tmp_path: Path) -> None:
    value = {"seed": 7, "share": 0.1, "names": ["ä", None], "2": {"b": 1, "a": True}}
    file = write_json(tmp_path / "some.json", value)
    assert read_json(file) == value
    whole = file.read_bytes()
    for place in range(len(whole)):
        file.write_bytes(_flipped(whole, place, place % 8))
        try:
            # Between values it does not matter.
            assert read_json(file) == value
        except DamagedError as error:
            assert str(error).startswith(f"{file}: damaged: ")
    for text in ("", "[]", "3", "null", '{"seed": 7}', "{", "[" * 100_000):
        file.write_text(text)
        with pytest.raises(DamagedError, match=r"some\.json: damaged: it (is|has)"):
            read_json(file)
    with pytest.raises(ValueError, match="no Parquet file"):
        seal(file)


@pytest.fixture(scope="module")
def pristine(scenario: tl.Scenario, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep with a run that fails."""
    place = tmp_path_factory.mktemp("pristine")
    (place / "base.toml").write_text(scenario.to_toml())
    assert _sweep(place / "sweep") == 1
    return place


@pytest.fixture
def folder(pristine: Path, tmp_path: Path) -> Path:
    """A copy of that sweep, to be damaged."""
    shutil.copytree(pristine, tmp_path, dirs_exist_ok=True)
    return tmp_path / "sweep"


def _sweep(folder: Path) -> int:
    vary = ["--vary", f"{QUEUE}=5 packets,20 packets", "--vary", "traffic.ftp.to=receiver,nowhere"]
    return cli.main(["sweep", str(folder.parent / "base.toml"), *vary, "-o", str(folder)])


@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "folder", "[]"])
@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("runs.parquet", ["query", "{}", "select * from runs"]),
        ("runs.parquet", ["compare", "{}", "{}"]),
        ("tables/flows.parquet", ["query", "{}", "select * from flows"]),
        ("tables/flows.parquet", ["query", "{}", "select sum(value) from series, flows"]),
        ("sweep.json", ["report", "{}"]),
        ("failures.json", ["run", "--replay", "{}", "1/0"]),
        ("runs/*.parquet", ["query", "{}", "select * from packets"]),
    ],
)
def test_commands_name_the_damaged_file(
    name: str, command: list[str], damage: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "report.html").unlink()
    file = next(iter(folder.glob(name)))
    whole = file.read_bytes()
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        half = len(whole) // 2
        content = {"flip": _flipped(whole, half), "cut": whole[:half], "empty": b""}.get(damage, damage.encode())
        file.write_bytes(content)
    capsys.readouterr()
    assert cli.main([argument.format(folder) for argument in command]) == 2
    said = capsys.readouterr()
    # A folder that lacks the table of runs is not that of a finished sweep.
    assert len(said.err.splitlines()) == 1
    assert file.name in said.err
    assert said.out == ""
    if name.startswith("runs/") or name == "sweep.json":
        if file.is_dir() and name == "sweep.json":
            return
        assert _sweep(folder) == 1
        assert f"{file}: damaged: " in capsys.readouterr().err
        # What is not of a run is written again in any case.
        assert name == "sweep.json" or file.read_bytes() == whole


@pytest.mark.parametrize("name", ["manifest.json", "scenario.toml", "flows.parquet", "links.parquet"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "folder", "{}"])
def test_the_folder_of_one_run(
    name: str, damage: str, scenario: tl.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tl.simulate(scenario).save(tmp_path / "run")
    (tmp_path / "base.toml").write_text(scenario.to_toml())
    file = folder / name
    whole = file.read_bytes()
    if damage == "folder":
        file.unlink()
        file.mkdir()
    else:
        half = len(whole) // 2
        file.write_bytes({"flip": _flipped(whole, half), "cut": whole[:half], "empty": b""}.get(damage, b"{}"))
    run = ["run", str(tmp_path / "base.toml"), "-o", str(folder)]
    for command in (["report", str(folder)], ["compare", str(folder), str(folder)], run):
        assert cli.main(command) == 2
        said = capsys.readouterr()
        assert said.err.startswith(f"tightlink: {file}: damaged: ")
        assert f"remove the folder {folder} and make the run again" in said.err
        assert len(said.err.splitlines()) == 1


def test_an_older_folder_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    marker = folder / "sweep.json"
    old = {key: value for key, value in json.loads(marker.read_text()).items() if key != "checksum"} | {"format": 1}
    marker.write_text(json.dumps(old))
    with pytest.raises(DamagedError, match="it has no checksum, as what older versions of Tightlink wrote"):
        experiment.open(folder)
    # The runs in it are of use still.
    assert _sweep(folder) == 1
    assert experiment.open(folder).description["format"] == 2
    assert capsys.readouterr().err.count("were there already") == 1


@pytest.mark.parametrize("name", ["a*[1]", "~", "rate=1 {a,b}"])
def test_names_that_are_patterns_are_names(
    name: str,
    scenario: tl.Scenario,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Polars and DuckDB take ``*`` and ``[`` for patterns, of which others would be read, and ``~`` for a home."""
    monkeypatch.chdir(tmp_path)
    other = scenario.set("link.bottleneck.rate", "1 Mbit/s")
    for folder, each in ((name, scenario), ("ab1", other)):
        (tmp_path / folder).mkdir()
        tl.sweep(each, {QUEUE: ["10 packets", "20 packets"]}, output=Path(folder) / "sweep")
        (tmp_path / folder / "[1].csv").write_text("time_s,rate_bps\n0,1e6\n")
        tl.simulate(each).save(Path(folder) / "run")
    course = scenario.set("link.bottleneck.rate", {"table": f"{name}/[1].csv"})
    assert tl.simulate(course).links.height == 2
    assert tl.open_run(Path(name) / "run").flows.height == 1
    found = experiment.open(Path(name) / "sweep")
    assert found.flows.collect().height == 2
    assert found.run("1/0").links.height == 2
    for folder, number in (("run", 1), ("sweep", 2)):
        assert cli.main(["query", f"{name}/{folder}", "select count(*) as n from flows", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == [{"n": number}]
