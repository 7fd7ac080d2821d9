#!/usr/bin/env python3
"""One thread and two: what each takes, and which the engine chooses, as a table.

    python benchmarks/threads.py                        # the workloads and some examples
    python benchmarks/threads.py w6 four-tier --repeats 9

Each run is a separate process, without Python, and one thread, two, and two runs of one thread at the same time take
turns: flows by the loop over events and in parts, users by epochs. Two runs that have nothing to tell each other gain
what the machine has to give: processors share memory. The estimate is made as for a machine with two idle processors.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from workloads import HERE, WORKLOADS

from programs import FOUR_TIER, Programs, Run, scenario_of
from tightlink import _core

EXAMPLES = (
    "one-flow", "dumbbell", "parking-lot", "chain", "abilene", "queues", "udp-beside-tcp", "on-off", "transfers",
    "fat-tree-k8",
)  # fmt: skip


def row(programs: Programs, name: str, repeats: int) -> str:
    resolved = json.dumps(scenario_of(name).resolve())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.json"
        file.write_text(resolved)
        times: dict[int, list[Run]] = {1: [], 2: []}
        copies: list[Run] = []
        run = partial(programs.run, file, "epochs" if name == FOUR_TIER else "parts")
        with ThreadPoolExecutor(2) as pool:
            for _ in range(repeats):
                for threads, runs in times.items():
                    runs.append(run(threads))
                copies += pool.map(run, (1, 1))
    alone_s, together_s, copy_s = (
        statistics.median(each.wall_s for each in runs) for runs in (*times.values(), copies)
    )  # fmt: skip

    several, share, turn_s, packet_hops, tried = _core.threads(resolved, 2)
    chosen = "1" if several == 1 else "2" if tried is None else "1, tries 2"
    cells: list[Any] = [
        name, f"{times[1][0].packet_hops / 1e6:.2f}", f"{alone_s:.3f}", f"{together_s:.3f}",
        f"{alone_s / together_s:.2f}", f"{2 * alone_s / copy_s:.2f}",
        *((f"{share:.0%}", f"{turn_s * 1e3:.3g}", f"{packet_hops:.2g}") if several > 1 else ("", "", "")), chosen,
    ]  # fmt: skip
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[*WORKLOADS, FOUR_TIER, *EXAMPLES])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    programs = Programs.built(HERE.parent, names=("epochs", "parts"))
    print(f"load average: {', '.join(f'{load:.2f}' for load in os.getloadavg())}\n")
    print("| scenario | M packet-hops | 1 thread, s | 2 threads, s | ratio | of two copies | heaviest part "
          "| ms to meet | packet-hops to meet | chosen |")  # fmt: skip
    print("| --- " + "| ---: " * 8 + "| --- |")
    for name in options.names:
        print(row(programs, name, options.repeats), flush=True)


if __name__ == "__main__":
    main()
