r"""Programs that end with us, whatever ends us: SIGKILL leaves no time to end them.

Example:
    >>> run(["sh", "-c", "echo hello; echo beware >&2; exit 3"], timeout_s=10)
    Finished(code=3, output='hello\n', errors='beware\n')
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Final

from tightlink.measure.programs import Finished

#: Asks the kernel for SIGKILL when its parent ends, whose number it is given, and makes sure that it has not ended yet.
ENDS_WITH_PARENT: Final = """
import ctypes, os, sys, time
ctypes.CDLL(None).prctl(1, 9)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
"""
_BECOMES: Final = "os.execvp(sys.argv[2], sys.argv[2:])"


def run(argv: Sequence[str], *, timeout_s: float) -> Finished:
    """Run a program to its end.

    Raises:
        TimeoutError: It was ended.
    """
    command = [sys.executable, "-I", "-S", "-c", ENDS_WITH_PARENT + _BECOMES, str(os.getpid()), *argv]
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False,
            timeout=timeout_s,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"{argv[0]}: no end after {timeout_s:g} s") from None
    return Finished(done.returncode, done.stdout, done.stderr)
