"""The first step of the command: Ctrl-C while it loads, or while it ends, is no traceback.

Loading takes most of a second. An exception from a signal meanwhile comes up anywhere in the modules that are being
loaded, some of which catch it or print it. So none is raised: nothing was written yet, and the process can end at
once.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
import threading
from _thread import interrupt_main
from types import FrameType
from typing import TYPE_CHECKING, Final

from tightlink.plain_text import print_anywhere

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

_FAILED: Final = 1
_INTERRUPTED: Final = 130
_SAID: Final = b"tightlink: interrupted; nothing was written\n"


def main() -> int:
    """Load the command, run it, and return its exit code."""
    _open_what_is_closed()
    _buffer_output()
    print_anywhere()
    # Where a shell has it ignored, as of a job in the background, it stays so.
    interruptible = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if interruptible:
        signal.signal(signal.SIGINT, _end_at_once)
    if sys.argv[1:] == ["--version"]:
        # Scripts ask for it, and nothing else needs to be loaded to say it.
        import tightlink

        try:
            print(tightlink.__version__, flush=True)
            if sys.stdout.isatty():
                # For people, who report a bug: scripts get the number alone.
                print(_made_of(), flush=True)
        except OSError as error:
            # What is left to write must not be tried again at the end.
            sys.stdout = None
            if not isinstance(error, BrokenPipeError):
                print(f"tightlink: standard output: {str(error.strerror).lower()}", file=sys.stderr)
            return _FAILED
        return 0
    # Where Jupyter is installed, altair's checks of a chart would load it, and for seconds compile grammars of what
    # no chart here has: international addresses. As if it were not installed, they do without.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
    # Who has no home to write to would be told by matplotlib where its cache is, at every figure.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from tightlink.cli import main as run

    try:
        if interruptible:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.unraisablehook = _interrupt_again
        return run()
    except KeyboardInterrupt:
        _end_at_once()
        raise
    finally:
        # All is said and written: what is left is to end.
        if interruptible:
            signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))


def _made_of() -> str:
    """What else a report of a bug needs: the engine, Python, the machine."""
    import platform

    from tightlink import _core

    system = f"{platform.system()} {platform.machine()}"
    return f"engine behaviour {_core.engine_behaviour}, Python {platform.python_version()}, {system}"


def _open_what_is_closed() -> None:
    """Discard what nobody reads (``>&-``): else the next file that is opened would take the place of the output."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            # It stays open until the process ends.
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), mode, encoding="utf-8"))


def _buffer_output() -> None:
    """Buffer standard output under PYTHONUNBUFFERED, too: else what a full disk does not take is lost unsaid."""
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.FileIO):
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stdout.encoding, sys.stdout.errors, line_buffering=True
        )


def _interrupt_again(lost: UnraisableHookArgs) -> None:
    """Where nothing can be raised, as where pydantic asks Python about a model, Ctrl-C comes again a moment later."""
    if lost.exc_type is KeyboardInterrupt:
        threading.Timer(0.01, interrupt_main).start()
    else:
        sys.__unraisablehook__(lost)


def _end_at_once(_number: int = signal.SIGINT, _frame: FrameType | None = None) -> None:
    with contextlib.suppress(OSError):
        os.write(2, _SAID)
    os._exit(_INTERRUPTED)
