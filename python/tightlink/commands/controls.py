"""The option ``--controls``: files with congestion controls written in Python."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

from cyclopts import Parameter

from tightlink import control

Controls: TypeAlias = Annotated[
    list[Path] | None,
    Parameter(negative="", help="Python file with congestion controls of your own, which it runs; may be repeated."),
]


def define(files: list[Path] | None) -> None:
    """Run the files, so that scenarios can name the controls that they define.

    Raises:
        TightlinkError: A file is missing, fails, or defines none.
    """
    for file in files or []:
        control.load(file)
