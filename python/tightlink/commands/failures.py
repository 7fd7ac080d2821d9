"""What a command says when an error ends it: one sentence, and the exit code that follows."""

from __future__ import annotations

import errno
import os
import platform
import re
import sys
import traceback
from pathlib import Path
from typing import Final

from cyclopts import CycloptsError

import tightlink
from tightlink.commands.misunderstood import misunderstood
from tightlink.console import FAILED, WRONG
from tightlink.errors import ScenarioError, TightlinkError, not_installed

#: Environment variable that asks for the traceback of what ends a command.
TRACEBACK: Final = "TIGHTLINK_TRACEBACK"
#: Where a bug is reported.
ISSUES: Final = "https://github.com/tightlink/tightlink/issues"

#: Errors of files that another name or another command line would mend.
_INPUT: Final = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)
_NAMES: Final = (errno.ENAMETOOLONG, errno.ELOOP, errno.EROFS)
#: What Rust adds to the system's words.
_SYSTEM: Final = re.compile(r" \(os error \d+\)$")
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def explained(error: BaseException) -> tuple[str, int]:
    """The sentence that tells a user of an error, and the exit code.

    Whatever Tightlink does not expect is a bug of Tightlink, and is called one. With the environment variable
    `TRACEBACK` set, the traceback of any error is printed to standard error first.

    >>> explained(TightlinkError("results: is not empty"))
    ('results: is not empty', 2)
    >>> explained(OSError(errno.ENOSPC, "No space left on device (os error 28)", "packets.pcap"))
    ('packets.pcap: no space left on device', 1)
    """
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error, file=sys.stderr)
    match error:
        case CycloptsError():
            return misunderstood(error), WRONG
        case TightlinkError():
            return str(error.of_command() if isinstance(error, ScenarioError) else error), WRONG
        case ModuleNotFoundError(name=str(name)) if not name.startswith("tightlink"):
            return not_installed(error), WRONG
        case MemoryError():
            return "out of memory: fewer sources, flows or runs at a time need less", FAILED
        case OSError():
            return _file_error(error), WRONG if isinstance(error, _INPUT) or error.errno in _NAMES else FAILED
    return _bug(error), FAILED


def _file_error(error: OSError) -> str:
    reason = _SYSTEM.sub("", error.strerror or str(error) or type(error).__name__).lower()
    place = error.filename2 or error.filename
    if error.errno == errno.ENOENT and not Path(os.fsdecode(place or "")).is_absolute() and not _is_somewhere():
        return "the folder in which this command works was removed; change to another one"
    if place is None and error.errno in _FULL:
        place = "standard output"
    return reason if place is None else f"{os.fsdecode(place)}: {reason}"


def _is_somewhere() -> bool:
    """Whether the working directory is still there."""
    try:
        return bool(Path.cwd())
    except FileNotFoundError:
        return False


def _bug(error: BaseException) -> str:
    what = " ".join(f"{type(error).__name__}: {error}".split())
    system = f"{platform.system()} {platform.machine()}"
    where = f"Tightlink {tightlink.__version__}, Python {platform.python_version()}, {system}"
    return (
        f"a bug of Tightlink ended this command: {what} ({where})\n"
        f"{TRACEBACK}=1 in the environment shows the traceback; please report it at {ISSUES}"
    )
