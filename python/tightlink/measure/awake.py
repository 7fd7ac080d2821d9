"""Keeping the processors of a virtual machine awake while a link works in real time.

A virtual machine's idle processor is given to others, and is back milliseconds after its timer: on a quiet machine a
link is late, on a busy one it is not. So something runs on each while a link works, with the lowest priority there is
(SCHED_IDLE): it gives way to anything at once. Where the kernel shares time between sessions (autogroup), that counts
within a session only, and its own is made the nicest. Processors of their own need none of it.

Example:
    >>> with kept_awake() as processors:
    ...     set(processors) <= os.sched_getaffinity(0)
    True
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tightlink.measure.child import ENDS_WITH_PARENT

#: Its nice value has the kernel count its time apart; yielding all the time, it never keeps what is not idle waiting.
#: Who is not root may set that of a session ten times a second only.
_RUNS: Final = """
while True:
    try:
        with open("/proc/self/autogroup", "w") as group:
            group.write("19")
    except BlockingIOError:
        time.sleep(0.1)
        continue
    except OSError:
        pass
    break
os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
os.setpriority(os.PRIO_PROCESS, 0, 19)
os.sched_setaffinity(0, {int(sys.argv[2])})
while True:
    os.sched_yield()
"""


@contextlib.contextmanager
def kept_awake() -> Iterator[list[int]]:
    """Keep the processors awake that this process may use, if they are those of a virtual machine; gives which."""
    processors = sorted(os.sched_getaffinity(0)) if is_virtual() else []
    running: list[subprocess.Popen[bytes]] = []
    try:
        for processor in processors:
            command = [sys.executable, "-I", "-S", "-c", ENDS_WITH_PARENT + _RUNS, str(os.getpid()), str(processor)]
            quiet = subprocess.DEVNULL
            running.append(subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True))
        yield processors
    finally:
        for process in running:
            _give_way_no_more(process.pid)
            process.kill()
        for process in running:
            process.wait()


def _give_way_no_more(process: int) -> None:
    """As far as it is allowed: to end takes a processor, too, and on a busy machine its turn is seconds away."""
    with contextlib.suppress(OSError):
        Path(f"/proc/{process}/autogroup").write_text("0", encoding="ascii")
    with contextlib.suppress(OSError):
        os.sched_setscheduler(process, os.SCHED_OTHER, os.sched_param(0))
        os.setpriority(os.PRIO_PROCESS, process, 0)


@functools.cache
def is_virtual() -> bool:
    """Whether this machine is a virtual one, as far as it knows."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    flags = (line.partition(":")[2].split() for line in text.splitlines() if line.startswith("flags"))
    return any("hypervisor" in own for own in flags)
