"""The option ``--controls``: files with congestion controls, in Python or of Linux's kernel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from tightlink import control
from tightlink.shell import quoted

Controls: TypeAlias = Annotated[
    list[Path] | None,
    Parameter(
        negative="",
        help="Python file with congestion controls of your own, which it runs, or one of Linux in C; may be repeated.",
    ),
]


def typed(command: str, replay: Path | None = None, controls: list[Path] | None = None) -> str:
    """A command with the options by which it finds its scenario, as one types it.

    >>> typed("tightlink run", Path("results/mine"), [Path("mine.py")])
    'tightlink run --replay results/mine --controls mine.py'
    """
    given = [] if replay is None else [("--replay", replay)]
    given += [("--controls", path) for path in controls or []]
    return " ".join([command, *(f"{option} {quoted(str(path))}" for option, path in given)])


def alone(folder: Path, run: str, controls: list[Path] | None) -> str:
    """How to see a run that failed by itself."""
    return f"to see one alone: {typed('tightlink run', folder)} {typed(quoted(run), controls=controls)}"


def define(files: list[Path] | None) -> None:
    """Run the files, so that scenarios can name the controls that they define."""
    for file in files or []:
        control.load(file)
