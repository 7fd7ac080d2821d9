#!/usr/bin/env python3
"""What many runs gain by threads and by Dask workers, and what that costs, on this machine.

    python benchmarks/workers.py                      # short runs and long ones, three rounds
    python benchmarks/workers.py short --rounds 5
    python benchmarks/workers.py --markdown > table.md

A job is one `tl.sweep` in its own process, timed from its start to its end: simulated in that process, on two of
its threads, by one Dask worker and by two. (The command `tightlink sweep` makes a report as well, which takes the same
few seconds whatever the number of runs and of processors.) Workers have one thread each, and the scheduler and they
are started anew for each round, with the settings that docs/guides/experiments.md recommends (`--as-dask-is`: with
Dask's own); what their start takes is not counted. The ways take turns, and a gain is the median of the gains within
the rounds, because the speed of a shared machine drifts.

Processor time is that of the sweep's process, the scheduler and the workers from the sweep's start to its end, user
and system. What is beyond that of the same job in its own process is overhead: of starting, of runs, and of waiting, as
scheduler and workers look around all the time. A busy machine has longer to wait, so that a low overhead, like a gain,
needs a quiet one with a processor for each worker.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from distributed import Client
from figures import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE = Path(__file__).resolve().parent
#: Scenario, changes, what is varied: at least 20 s each on one processor, 25 to 30 s where these were chosen.
JOBS: dict[str, tuple[str, dict[str, str], dict[str, str]]] = {
    "short": ("w1.toml", {}, {"link.bottleneck.delay": "10 ms..22 ms:7.5 us"}),
    "long": ("w2-100.toml", {"duration": "40 s"}, {"topology.net.bottleneck.delay": "20 ms..28.4 ms:100 us"}),
}
SWEEP = """
import json, sys
import tightlink as tl
file, changes, vary, options = json.loads(sys.argv[1])
scenario = tl.load(file)
for key, value in changes.items():
    scenario = scenario.set(key, value)
tl.sweep(scenario, vary, **options)
"""
#: By name: threads, workers.
WAYS = {"in process": (1, 0), "two threads": (2, 0), "one worker": (0, 1), "two workers": (0, 2)}
COLUMNS = (
    "job", "way", "runs", "wall s", "sweep s", "scheduler s", "workers s", "overhead %", "gain", "min-max",
)  # fmt: skip
STARTED_WITHIN_S = 60
#: As in docs/guides/experiments.md.
SETTINGS = {
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
}
PRELOADED = ("--preload", "tightlink.experiment.work")


@dataclass(frozen=True)
class Measured:
    """One job, done in one way; processor times in seconds."""

    runs: int
    wall_s: float
    sweep_s: float
    scheduler_s: float
    workers_s: float

    @property
    def processor_s(self) -> float:
        """Of all processes."""
        return self.sweep_s + self.scheduler_s + self.workers_s


def spent(process: subprocess.Popen[bytes]) -> float:
    """Processor time of a process until now, in seconds."""
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


@contextlib.contextmanager
def dask(name: str, *options: str, settings: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A scheduler or a worker."""
    environment = os.environ | settings
    command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options, "--no-dashboard"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def measure(job: str, threads: int, workers: int, settings: dict[str, str]) -> Measured:
    """One job, done in one way."""
    if not workers:
        return sweep(job, {"jobs": threads}, [])
    address = f"tcp://127.0.0.1:{free_port()}"
    preloaded = PRELOADED if settings else ()
    with contextlib.ExitStack() as stack:
        port = address.rpartition(":")[2]
        parts = [stack.enter_context(dask("scheduler", "--host", "127.0.0.1", "--port", port, settings=settings))]
        for _ in range(workers):
            worker = dask("worker", address, "--nthreads", "1", "--no-nanny", *preloaded, settings=settings)
            parts.append(stack.enter_context(worker))
        with Client(address, timeout=STARTED_WITHIN_S) as client:
            client.wait_for_workers(workers, timeout=STARTED_WITHIN_S)
        return sweep(job, {"cluster": address}, parts)


def sweep(job: str, options: dict[str, object], parts: list[subprocess.Popen[bytes]]) -> Measured:
    """The sweep, and what it takes of each process: its own, scheduler, workers."""
    file, changes, vary = JOBS[job]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        before = [spent(process) for process in parts]
        begin = time.perf_counter()
        settings = json.dumps([str(HERE / file), changes, vary, options | {"output": str(out)}])
        process = subprocess.Popen([sys.executable, "-c", SWEEP, settings])
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        wall_s = time.perf_counter() - begin
        took = [spent(process) - first for process, first in zip(parts, before, strict=True)]
        if process.returncode:
            raise SystemExit(f"job {job}: ended with {process.returncode}")
        runs = len(list((out / "runs").glob("*.parquet")))
    return Measured(runs, wall_s, used.ru_utime + used.ru_stime, sum(took[:1]), sum(took[1:]))


def row(job: str, way: str, rounds: Sequence[dict[str, Measured]]) -> list[str]:
    """For the table: medians over the rounds."""
    all_measured = [measured[way] for measured in rounds]
    overheads = [100 * (one[way].processor_s / one["in process"].processor_s - 1) for one in rounds]
    gains = [one["in process"].wall_s / one[way].wall_s for one in rounds]

    def median(name: str) -> str:
        return f"{statistics.median(getattr(one, name) for one in all_measured):.2f}"

    return [
        job, way, str(all_measured[0].runs), median("wall_s"), median("sweep_s"), median("scheduler_s"),
        median("workers_s"), f"{statistics.median(overheads):+.1f}", f"{statistics.median(gains):.2f}",
        f"{min(gains):.2f}-{max(gains):.2f}",
    ]  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=", ".join(JOBS))
    parser.add_argument("--rounds", type=int, default=3, help="how often (default 3)")
    parser.add_argument("--as-dask-is", action="store_true", help="with Dask's own settings")
    parser.add_argument("--markdown", action="store_true", help="tables for docs")
    options = parser.parse_args()
    if unknown := [name for name in options.jobs if name not in JOBS]:
        parser.error(f"no job {unknown[0]!r}; there are {', '.join(JOBS)}")
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    settings = {} if options.as_dask_is else SETTINGS
    rows: list[list[str]] = []
    gained: list[str] = []
    for job in options.jobs or JOBS:
        rounds: list[dict[str, Measured]] = []
        for number in range(1, options.rounds + 1):
            rounds.append({})
            for way, (threads, workers) in WAYS.items():
                rounds[-1][way] = measured = measure(job, threads, workers, settings)
                told = f"{measured.wall_s:.1f} s, {measured.processor_s:.1f} s of processor time"
                print(f"  {job} round {number} {way}: {told}", file=sys.stderr)
        rows += [row(job, way, rounds) for way in WAYS]
        one_to_two = [one["one worker"].wall_s / one["two workers"].wall_s for one in rounds]
        gained.append(f"{job}: two workers are {statistics.median(one_to_two):.2f} times as fast as one")
    print(f"{os.cpu_count()} processors, load average {os.getloadavg()[0]:.1f} at the end\n")
    print(table(COLUMNS, rows, markdown=options.markdown))
    print("", *gained, sep="\n")


if __name__ == "__main__":
    main()
