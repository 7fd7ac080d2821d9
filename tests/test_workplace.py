"""The folder of an experiment: one process at a time, removed meanwhile, on a full disk."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import tightlink as tl
from sweeps import WINDOW, contents
from tightlink import cli
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.workplace import occupied
from tightlink.files import write_text
from tightlink.studies.study import Report, Study


@pytest.fixture
def file(one_flow: str, tmp_path: Path) -> Path:
    path = tmp_path / "base.toml"
    path.write_text(tl.loads(one_flow).set_all({"duration": "5 s", "observe.interval": "5 ms"}).to_toml())
    return path


def _command(file: Path, folder: Path) -> list[str]:
    return ["sweep", str(file), "--vary", f"{WINDOW}=2 packets..7 packets", "-o", str(folder)]


@pytest.mark.parametrize(
    ("command", "marker"),
    [
        (["sweep"], "sweep.json"),
        (["study", "one-flow"], "study.json"),
        (["study", "evaluation", "--tests", "ramp-up"], "study.json"),
    ],
)
def test_another_process_is_named(
    command: list[str], marker: str, file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = _command(file, out) if command == ["sweep"] else [*command, "-o", str(out)]
    with occupied(out, marker, command[0]):
        assert cli.main(arguments) == 2
        assert (
            f"tightlink: {out}: another tightlink (pid {os.getpid()}) works in this folder; wait for its end, or choose "
            "another folder" in capsys.readouterr().err.splitlines()
        )
        assert [path.name for path in out.iterdir()] == [".lock"]
    assert list(out.iterdir()) == []


def test_the_lock_of_a_dead_process_keeps_nobody_out(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code = (
        "import os, signal, sys; from tightlink.experiment.workplace import occupied\n"
        "with occupied(sys.argv[1], 'sweep.json', 'sweep'): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(out)], check=False)
    assert json.loads((out / ".lock").read_text())["host"] == platform.node()
    (out / f".runs.parquet.{platform.node()}-{2**22 + 1}-0.tmp").touch()
    assert cli.main(_command(file, out)) == 0
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []
    assert "another tightlink" not in capsys.readouterr().err


def test_an_error_leaves_no_lock(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert cli.main(_command(file, out)) == 0
    other = tmp_path / "other.toml"
    other.write_text(file.read_text().replace("2 Mbit/s", "3 Mbit/s"))
    assert cli.main(_command(other, out)) == 2
    assert not (out / ".lock").exists()


@pytest.mark.parametrize("then", ["nothing", "another"])
def test_a_folder_that_is_removed_meanwhile(then: str, file: Path, tmp_path: Path) -> None:
    """It does not come back without its marker, whether or not somebody made another one of its name."""
    out = tmp_path / "out"

    def remove(_: ExperimentProgress) -> None:
        shutil.rmtree(out)
        if then == "another":
            out.mkdir()

    vary = {WINDOW: ["2 packets", "3 packets", "4 packets"]}
    with pytest.raises(tl.TightlinkError, match=r"out: the folder was removed while a sweep worked in it; the same"):
        tl.sweep(tl.load(file), vary, output=out, watch=remove)
    assert [*out.parent.rglob("out/*")] == []
    assert tl.sweep(tl.load(file), vary, output=out).runs.collect().height == 3
    study = Study("brief", "in brief", lambda: {"base": tl.load(file)}, lambda _: pytest.fail("it went on"), "")
    shutil.rmtree(out)
    with pytest.raises(tl.TightlinkError, match="the folder was removed while a study worked in it"):
        tl.study(study, out, watch=remove)
    assert [*out.parent.rglob("out/*")] == []


def test_what_comes_back_of_a_folder_has_its_marker(file: Path, tmp_path: Path) -> None:
    """A study draws for long: what it writes then is known for what it is, and the next call continues."""
    out = tmp_path / "out"

    def draw(folder: Path) -> list[Path]:
        shutil.rmtree(out)
        return [write_text(folder / "figure.svg", "<svg/>")]

    def report(_observed: object, _claims: object) -> Report:
        return Report("Brief", "In brief.", draw=drawing[0])

    drawing: list[Callable[[Path], list[Path]]] = [draw]
    study = Study("brief", "in brief", lambda: {"base": tl.load(file)}, claims="", report=report)
    with pytest.raises(tl.TightlinkError, match="the folder was removed while a study worked in it"):
        tl.study(study, out)
    assert (out / "figures" / "figure.svg").exists()
    drawing[0] = lambda _: []
    assert tl.study(study, out).exit_code == 0


@contextlib.contextmanager
def _files_of_at_most(limit: int) -> Iterator[None]:
    """What this process writes beyond fails, as on a full disk; Python ignores the signal that says so, too."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Wherever a sweep meets it: one sentence, nothing half written, and a later call continues."""
    whole = tmp_path / "whole"
    assert cli.main(_command(file, whole)) == 0
    expected = contents(whole)
    sizes = {name: len(content) for name, content in expected.items()}
    run = max(size for name, size in sizes.items() if name.startswith("runs/"))
    assert sizes["tables/series.parquet"] > run
    out = tmp_path / "out"
    for limit, name in (
        (0, "out/.lock"),
        (100, "out/sweep.json"),
        (run // 2, "out/runs/"),
        (run, "out/tables/series.parquet"),
    ):
        capsys.readouterr()
        with _files_of_at_most(limit):
            code = cli.main(_command(file, out))
        said = capsys.readouterr().err
        assert (code, len(said.splitlines())) == (1, 1)
        assert name in said
        assert "file too large" in said
        # What is there is whole, and no part of what was not written.
        assert {each: content for each, content in contents(out).items() if each != "sweep.json"}.items() <= {
            **expected
        }.items()
    assert cli.main(_command(file, out)) == 0
    assert contents(out) == expected


def test_a_full_disk_under_a_single_run(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for limit, name in ((100, "flows.parquet"), (20_000, "series.parquet")):
        with _files_of_at_most(limit):
            code = cli.main(["run", str(file), "-o", str(tmp_path / "run")])
        assert capsys.readouterr().err == f"tightlink: {tmp_path / 'run' / name}: file too large\n"
        assert (code, [path.name for path in tmp_path.iterdir()]) == (1, [file.name])
    assert cli.main(["run", str(file), "-o", str(tmp_path / "run")]) == 0
