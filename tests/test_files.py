"""Files that appear complete or not at all, whatever happens to who writes them."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tightlink as tl
from tightlink.errors import TightlinkError
from tightlink.files import check_new, remove_leftovers, write_bytes


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    code = (
        "import os, signal; from pathlib import Path; from tightlink.files import write_bytes;"
        "Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL);"
        f"write_bytes({str(tmp_path / 'run.parquet')!r}, b'half')"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    # Of this process, and of another machine's: they may be at work.
    others = {".run.parquet.elsewhere-1-0.tmp", f".run.parquet.{platform.node()}-{os.getpid()}-0.tmp"}
    for name in (*others, "run.tmp"):
        (tmp_path / name).touch()
    remove_leftovers(tmp_path)
    assert not left.exists()
    assert {file.name for file in tmp_path.iterdir()} == others | {"run.tmp"}
    remove_leftovers(tmp_path / "missing")
    assert write_bytes(tmp_path / "run.parquet", b"whole").read_bytes() == b"whole"


def test_a_file_that_cannot_be_written_is_named_with_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(TightlinkError) as caught:
        check_new(Path("out.html"))
    assert str(caught.value) == f"out.html: cannot be written to: permission for {tmp_path} is denied"


def test_the_next_writer_removes_what_a_killed_one_left(one_flow: str, tmp_path: Path) -> None:
    """Of the same file or folder; of another name it may be another writer's."""
    # No process has this number, as it is more than the largest; that of one that has ended may be another one's.
    dead = f"{platform.node()}-{2**22 + 1}-"
    (tmp_path / f".a.txt.{dead}0a1b.tmp").touch()
    (tmp_path / f".b.txt.{dead}0a1b.tmp").touch()
    (tmp_path / f".run.{dead}x_7z.tmp").mkdir()
    (tmp_path / f".run.{dead}x_7z.tmp" / "flows.parquet").touch()
    write_bytes(tmp_path / "a.txt", b"whole")
    assert {file.name for file in tmp_path.iterdir()} == {"a.txt", f".b.txt.{dead}0a1b.tmp", f".run.{dead}x_7z.tmp"}
    tl.simulate(tl.loads(one_flow).set("duration", "1 s")).save(tmp_path / "run")
    assert {file.name for file in tmp_path.iterdir()} == {"a.txt", f".b.txt.{dead}0a1b.tmp", "run"}


def test_a_name_is_as_long_as_the_system_permits(tmp_path: Path) -> None:
    name = "ü" * 125 + ".txt"
    left = subprocess.run(
        [sys.executable, "-c", f"from tightlink.files import *; before_written(Path({name!r})).touch()"],
        cwd=tmp_path, check=False,
    )  # fmt: skip
    assert left.returncode == 0
    assert len(list(tmp_path.iterdir())) == 1
    assert write_bytes(tmp_path / name, b"whole").read_bytes() == b"whole"
    assert [file.name for file in tmp_path.iterdir()] == [name]
    with pytest.raises(OSError, match="name too long") as caught:
        write_bytes(tmp_path / f"{name}xx", b"whole")
    assert caught.value.filename == str(tmp_path / f"{name}xx")


def test_the_folder_of_a_run_has_the_permissions_of_others(one_flow: str, tmp_path: Path) -> None:
    """No thread sets the mask of the process meanwhile, as another one's files would have it, too."""
    mask = os.umask(0o027)
    try:
        folder = tl.simulate(tl.loads(one_flow).set("duration", "1 s")).save(tmp_path / "run")
    finally:
        os.umask(mask)
    assert folder.stat().st_mode & 0o777 == 0o750
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o640}


@pytest.mark.parametrize("command", ["schema -o made", "new network lte -o made"])
def test_a_second_start_leaves_what_it_would_write(
    command: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    first = said(*command.split())
    (file,) = tmp_path.iterdir()
    assert first == (0, f"{file.name}\n", "")
    before = file.stat().st_mtime_ns
    assert said(*command.split()) == first
    assert file.stat().st_mtime_ns == before
    with file.open("a", encoding="utf-8") as mine:
        mine.write("# mine\n")
    code, out, err = said(*command.split())
    assert (code, out) == (2, "")
    assert f"{file.name}: is there already, and nothing is overwritten" in err
