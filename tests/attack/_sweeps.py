"""Small sweeps in processes of their own, which take tenths of a second each."""

from __future__ import annotations

import multiprocessing
import os
import sys
from functools import cache
from multiprocessing import forkserver
from pathlib import Path
from typing import TYPE_CHECKING

from attack._scenario import SCENARIO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from multiprocessing.context import ForkServerContext, ForkServerProcess

QUEUE = "link.wire.queue"
#: Exit codes of a process that swept: it was done, or another one worked there.
DONE, REFUSED = 0, 2


@cache
def processes() -> ForkServerContext:
    """Where processes come from that have imported what they need."""
    # Not at the top: the processes, which import this module, do not need it.
    from unittest import mock

    context = multiprocessing.get_context("forkserver")
    needed = ["experiment.running", "experiment.plan", "scenario.resolve", "simulate", "studies.running", "_core"]
    context.set_forkserver_preload(["numpy.ma", "polars", *(f"tightlink.{name}" for name in needed), "attack._ready"])
    # Older versions of Python do not tell their server where modules are.
    here = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join(here)):
        forkserver.ensure_running()
    return context


def working(kind: str, folder: Path, queues: Sequence[int], jobs: int) -> ForkServerProcess:
    """A process that fills a folder with a sweep, a study or a run."""
    return processes().Process(target=work, args=(kind, str(folder), list(queues), jobs))


def work(kind: str, folder: str, queues: Sequence[int], jobs: int) -> None:
    """What such a process does."""
    import tightlink as tl

    base = tl.loads(SCENARIO)
    try:
        if kind == "sweep":
            vary = {QUEUE: [f"{queue} packets" for queue in queues]}
            tl.sweep(base, vary, replications=2, output=folder, jobs=jobs)
        elif kind == "run":
            run = tl.simulate(base.set(QUEUE, f"{queues[0]} packets"))
            del run.manifest["timing"]
            run.save(folder)
        else:
            _study(folder, queues, jobs)
    except tl.TightlinkError as error:
        if "another tightlink" in str(error):
            sys.exit(REFUSED)
        raise


def _study(folder: str, queues: Sequence[int], jobs: int) -> None:
    import tightlink as tl
    from tightlink.studies.study import Study

    scenarios = {f"queue/{size}": tl.loads(SCENARIO).set(QUEUE, f"{size} packets") for size in queues}
    claims = "".join(
        f"""
        [[claims]]
        id = "{name}"
        statement = "So many packets are sent"
        source = "p. 1"
        origin = "theory"
        observed = "{name}"
        expected = "{{{name}}}"
        """
        for name in scenarios
    )

    def observe(runs: Mapping[str, tl.Run]) -> dict[str, object]:
        return {name: int(run.flows["packets_sent"].sum()) for name, run in runs.items()}

    tl.study(Study("packets", "counted", lambda: scenarios, observe, claims), folder, jobs=jobs)


def worked(kind: str, folder: Path, queues: Sequence[int]) -> None:
    """Fill a folder in its own process, and wait for it."""
    process = working(kind, folder, queues, 1)
    process.start()
    process.join(60)
    if process.exitcode != DONE:
        raise RuntimeError(f"the {kind} in {folder} ended with {process.exitcode}")
