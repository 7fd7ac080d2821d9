"""Folders of every kind with results, made once, and the commands that read them."""

from __future__ import annotations

import contextlib
import io
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from attack import contents
from attack._scenario import SCENARIO
from attack._sweeps import QUEUE

if TYPE_CHECKING:
    from collections.abc import Callable

_CSV = "window_packets,flows,goodput_bps,loss\n" + "".join(
    f"{window},{flows},{100_000 * window * flows}.5,0.0{flows}\n" for window in (4, 8) for flows in (1, 2)
)
#: With enough samples for an analysis of series.
_SCENARIO = SCENARIO.replace('interval = "100 ms"', 'interval = "10 ms"')


class Said(NamedTuple):
    """What a command did."""

    code: int | None
    """Exit code; none of one that ended in a traceback."""
    out: str
    err: str
    left: dict[str, bytes]
    """What is in the folder afterwards."""


class Kind(NamedTuple):
    """A folder with results."""

    make: Callable[[Path], None]
    commands: list[list[str]]
    """With ``{}`` for the folder, and ``{}.copy`` for one that is like it."""
    mends: list[list[str]]
    """Commands that make damaged runs again, and what depends on them."""
    ours: bool = True
    """Whether what is there has checksums."""


def _run(folder: Path) -> None:
    import tightlink as tl

    tl.simulate(tl.loads(_SCENARIO)).save(folder)


def _sweep(folder: Path) -> None:
    _called(["sweep", str(_scenario(folder)), *_VARY, "-o", str(folder)])


def _failed(folder: Path) -> None:
    _called(["sweep", str(_scenario(folder)), "--vary", "traffic.ftp.to=b,nowhere", "-o", str(folder)])


def _study(folder: Path) -> None:
    _studied(folder)


def _table(folder: Path) -> None:
    folder.mkdir()
    (folder / "table.csv").write_text(_CSV)
    (folder / "design.csv").write_text(f"{QUEUE},traffic.ftp.tcp.window\n3 packets,4 packets\n9 packets,20 packets\n")


def _scenario(folder: Path) -> Path:
    file = folder.parent / "base.toml"
    file.write_text(_SCENARIO)
    return file


_VARY = ["--vary", f"{QUEUE}=3 packets,9 packets", "--vary", "traffic.ftp.tcp.window=4 packets,20 packets"]
_PACKETS = "select run, count(*), sum(size_bytes) from packets group by run order by run"
KINDS = {
    "run": Kind(_run, [["report", "{}"], ["compare", "{}", "{}.copy"], ["run", "{}/../base.toml", "-o", "{}"],
                       ["analyze", "oscillation", "{}"], ["analyze", "cross-correlation", "{}", "wire queue_packets", "ftp cwnd_packets"]], []),
    "sweep": Kind(
        _sweep,
        [["report", "{}"], ["query", "{}", "select * from runs"], ["query", "{}", "select * from flows join links using (run)"],
         ["query", "{}", "select count(*), sum(value) from series"], ["query", "{}", _PACKETS],
         ["compare", "{}", "{}.copy"], ["analyze", "effects", "{}", "--responses", "goodput_bps"],
         ["run", "--replay", "{}", "1/0"]],
        [["sweep", "{}/../base.toml", *_VARY, "-o", "{}"]],
    ),
    "failed": Kind(_failed, [["report", "{}"], ["run", "--replay", "{}", "1/0"]],
                   [["sweep", "{}/../base.toml", "--vary", "traffic.ftp.to=b,nowhere", "-o", "{}"]]),
    "study": Kind(_study, [["report", "{}"], ["query", "{}", "select * from runs"], ["query", "{}", "select * from sizes"], ["query", "{}", _PACKETS],
                           ["compare", "{}", "{}.copy", "--by", "run"]], [["study", "{}"]]),
    "csv": Kind(
        _table,
        [["analyze", "effects", "{}/table.csv", "--factors", "window_packets,flows"],
         ["analyze", "correlation", "{}/table.csv"],
         ["plan", "path", "--observed", "{}/table.csv", "--bandwidth", "10 Mbit/s", "--rtt", "10 ms", "--queue", "20 packets"],
         ["sweep", "{}/../base.toml", "--design", "{}/design.csv", "--dry-run"]],
        [],
        ours=False,
    ),
}  # fmt: skip


@cache
def pristine(kind: str, place: Path) -> Path:
    """A folder of a kind as it should be."""
    folder = place / kind / "folder"
    folder.parent.mkdir(parents=True)
    _scenario(folder)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        KINDS[kind].make(folder)
    # What was made of it: a command makes it again.
    (folder / "report.html").unlink(missing_ok=True)
    shutil.copytree(folder, place / kind / "folder.copy")
    shutil.copytree(folder, place / kind / "pristine")
    return folder


def restore(folder: Path) -> None:
    """Make the folder what it was."""
    shutil.rmtree(folder)
    shutil.copytree(folder.parent / "pristine", folder)


def say(arguments: list[str], folder: Path) -> Said:
    """What a command says of a folder, and leaves there."""
    if arguments[0] == "study":
        call: Callable[[], int] = lambda: _studied(folder)  # noqa: E731
    else:
        given = [argument.replace("{}", str(folder)) for argument in arguments]
        call = lambda: _called(given)  # noqa: E731
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code: int | None = call()
        except BaseException as error:  # noqa: BLE001  # it is what is looked for
            code = None
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
    return Said(code, out.getvalue(), err.getvalue(), contents(folder) if folder.is_dir() else {})


def _called(arguments: list[str]) -> int:
    from tightlink import cli

    return cli.main(arguments)


_CLAIMS: Final = """
[[claims]]
id = "sizes"
statement = "All packets together have this size"
source = "p. 1"
origin = "theory"
observed = "size"
expected = "{size}"

[[claims]]
id = "goodput"
statement = "The flow carries 1.5 Mbit/s"
source = "p. 2"
origin = "theory"
observed = "goodput_bps"
expected = 1.5e6
relative = 0.5
tolerance_from = "any"
unit = "bit/s"
"""


def _studied(folder: Path) -> int:
    """A study of few and short runs, as the command runs one."""
    import polars as pl

    import tightlink as tl
    from tightlink.experiment.execute import Task
    from tightlink.studies.study import Report, Study

    base = tl.loads(SCENARIO)
    tasks = [Task(f"queue/{size}", base.set(QUEUE, f"{size} packets"), trace=size == 3) for size in (3, 9)]

    def observe(runs: object) -> dict[str, object]:
        assert isinstance(runs, dict)
        (size,) = [run.packets["size_bytes"].sum() for run in runs.values() if "packets" in run.tables]
        return {"size": size, "goodput_bps": runs["queue/9"].flows["goodput_bps"][0]}

    def report(observed: dict[str, object], _: object) -> Report:
        return Report("Sizes", "Of packets.", tables={"sizes": pl.DataFrame({"size_bytes": [observed["size"]]})})

    try:
        sizes = Study("sizes", "of packets", lambda: tasks, observe, _CLAIMS, report)
        return tl.study(sizes, folder, progress=_told).exit_code
    except tl.TightlinkError as error:
        _told(str(error))
        return 2
    except OSError as error:
        _told(f"{error.filename}: {error.strerror}")
        return 1


def _told(line: str) -> None:
    print(f"tightlink: {line}", file=sys.stderr)
