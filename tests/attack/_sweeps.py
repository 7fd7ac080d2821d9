"""Small sweeps in processes of their own, which take tenths of a second each."""

from __future__ import annotations

import multiprocessing
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.context import ForkServerContext, ForkServerProcess

SCENARIO = """\
profile = "ns2"
duration = "1 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
traffic.ftp = { kind = "bulk", from = "a", to = "b" }
traffic.noise = { kind = "on-off", from = "a", to = "b", rate = "1 Mbit/s", on = "50 ms", off = "100 ms" }
observe.interval = "100 ms"
"""
QUEUE = "link.wire.queue"
#: Exit codes of a process that swept: it was done, or another one worked there.
DONE, REFUSED = 0, 2


@cache
def processes() -> ForkServerContext:
    """Where processes come from that have imported what they need."""
    context = multiprocessing.get_context("forkserver")
    needed = ["experiment.running", "experiment.plan", "experiment.factors", "simulate"]
    context.set_forkserver_preload(["polars", *(f"tightlink.{name}" for name in needed)])
    return context


def sweeping(folder: Path, queues: Sequence[int], jobs: int = 1) -> ForkServerProcess:
    """A process that sweeps into a folder; it has still to be started."""
    return processes().Process(target=sweep, args=(str(folder), list(queues), jobs))


def sweep(folder: str, queues: Sequence[int], jobs: int) -> None:
    """What such a process does."""
    import tightlink as tl

    vary = {QUEUE: [f"{queue} packets" for queue in queues]}
    try:
        tl.sweep(tl.loads(SCENARIO), vary, replications=2, output=folder, jobs=jobs)
    except tl.TightlinkError as error:
        if "another tightlink" in str(error):
            sys.exit(REFUSED)
        raise


def swept(folder: Path, queues: Sequence[int]) -> None:
    """Sweep in a process of its own, and wait for it."""
    process = sweeping(folder, queues)
    process.start()
    process.join(60)
    if process.exitcode != DONE:
        raise RuntimeError(f"the sweep in {folder} ended with {process.exitcode}")
