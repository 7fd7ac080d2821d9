"""What a terminal of some width shows: commands run in one, and tables compared with what a pipe gets."""

from __future__ import annotations

import os
import re
import struct
import sys
from typing import TYPE_CHECKING, Final

from tightlink.text_table import Layout, TextTable, layout, size

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WIDTH: Final = 80
_GAP: Final = 2
#: What moves the cursor, or sets colours.
_COMMAND: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def typed(words: Sequence[str], folder: Path, width: int = WIDTH) -> tuple[int, list[str]]:
    """The exit code of ``tightlink`` in a terminal, and the lines that it leaves there."""
    import fcntl
    import pty
    import termios

    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | {"TERM": "xterm"}
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        os.execve(sys.executable, [sys.executable, "-m", "tightlink", *words], environment)
    written = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not part:
            break
        written += part
    _, status = os.waitpid(child, 0)
    os.close(terminal)
    text = written.decode().replace("\r\n", "\n")
    lines = [_COMMAND.sub("", line.rpartition("\r")[2]) for line in text.split("\n")]
    return os.waitstatus_to_exitcode(status), [line for line in lines if not re.match(r"[⠀-⣿]", line)]


def check_fits(table: TextTable, width: int = WIDTH) -> None:
    """Check that a table in a terminal is no wider than that, and that what it shows are the values of the table."""
    shown = layout(table, width)
    assert max(map(size, [*shown.head, *shown.lines]), default=0) <= width, table.header
    usual = [name for name in table.names if name not in {*shown.hidden, *table.more}]
    assert [table.names[place] for place in shown.places] == usual
    lines = iter(shown.lines)
    for row in table.rows:
        wanted = [_without_space(row[place]) for place in shown.places]
        found = _cells(shown, next(lines))
        while found != wanted:
            line = next(lines, None)
            assert line is not None, f"{found} is shown for {wanted}"
            found = [cell + piece for cell, piece in zip(found, _cells(shown, line), strict=True)]
    assert next(lines, None) is None


def _cells(shown: Layout, line: str) -> list[str]:
    """What stands in each column of a line, without space."""
    cells, at = [], 0
    for width in shown.widths:
        cells.append(_without_space(line[at : at + width]))
        assert not line[at + width : at + width + _GAP].strip(), line
        at += width + _GAP
    return cells


def _without_space(text: str) -> str:
    return "".join(text.split())
