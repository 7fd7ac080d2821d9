#!/usr/bin/env python3
"""One thread and two: what each scheduler takes, and which the engine chooses, as a table.

    python benchmarks/threads.py                        # the workloads and some examples
    python benchmarks/threads.py w6 four-tier --repeats 9

Each run is a separate process, without Python, and the schedulers take turns. Processor seconds are of the loop over
events and of epochs on one thread: they are what work there is, and others who use the machine change them least. Wall
seconds are of epochs on two threads. The estimate is made as for a machine with two idle processors.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from workloads import HERE, WORKLOADS

import tightlink as tl
from tightlink import _core

EXAMPLES = (
    "one-flow", "dumbbell", "parking-lot", "chain", "abilene", "queues", "udp-beside-tcp", "on-off", "transfers",
    "fat-tree-k8",
)  # fmt: skip
#: Users have epochs only.
FOUR_TIER = "four-tier"
PROGRAMS = HERE.parent / "target" / "release" / "examples"


def scenario_of(name: str) -> tl.Scenario:
    if name == FOUR_TIER:
        return tl.FourTier(scale=0.1, duration="4 s").scenario()
    folder = HERE if name in WORKLOADS else HERE.parent / "examples"
    return tl.load(folder / f"{name}.toml")


def run(file: Path, threads: int | None) -> tuple[int, float, float]:
    """Packet-hops, wall seconds of epochs, and processor seconds, those to read the scenario among them."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [PROGRAMS / "run", file] if threads is None else [PROGRAMS / "epochs", file, str(threads)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    processor_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return int(said[0]), float(said[-1]), processor_s


def row(name: str, repeats: int) -> str:
    resolved = json.dumps(scenario_of(name).resolve())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(resolved)
        times: dict[int | None, list[tuple[int, float, float]]] = {}
        for _ in range(repeats):
            for threads in (1, 2) if name == FOUR_TIER else (None, 1, 2):
                times.setdefault(threads, []).append(run(file, threads))

    def median(threads: int | None, column: int) -> str:
        return f"{statistics.median(found[column] for found in times[threads]):.2f}" if threads in times else ""

    several, share, turn_s, packet_hops, tried = _core.threads(resolved, 2)
    chosen = "1" if several == 1 else "2" if tried is None else "1, tries 2"
    cells: list[Any] = [
        name, f"{times[1][0][0] / 1e6:.2f}", median(None, 2), median(1, 2), median(2, 1),
        *((f"{share:.0%}", f"{turn_s * 1e3:.3g}", f"{packet_hops:.2g}") if several > 1 else ("", "", "")), chosen,
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[*WORKLOADS, FOUR_TIER, *EXAMPLES])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    build = ["cargo", "build", "--release", "--quiet", "-p", "tightlink-sim", "--example", "run", "--example", "epochs"]
    subprocess.run(build, check=True, cwd=HERE.parent)
    print(f"load average: {', '.join(f'{load:.2f}' for load in os.getloadavg())}\n")
    print("| scenario | M packet-hops | events, processor s | epochs, processor s | epochs on 2 threads, s "
          "| heaviest part | ms to meet | packet-hops to meet | chosen |")  # fmt: skip
    print("| --- " + "| ---: " * 7 + "| --- |")
    for name in options.names:
        print(row(name, options.repeats), flush=True)


if __name__ == "__main__":
    main()
