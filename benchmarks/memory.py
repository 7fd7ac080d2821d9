#!/usr/bin/env python3
"""How much memory a network with users takes, beside what is predicted before the run.

    python benchmarks/memory.py                       # scales of 1/100, 3/100 and 1/10, small and large buffers
    python benchmarks/memory.py --scales 1 --seconds 6
    python benchmarks/memory.py --markdown > table.md

The network is that of `tightlink new four-tier`: all parameters low; the largest speed and number of sources (those of
experiment 1a of NIST SP 500-282); as many sources that hardly think, at the low speed, so that nearly all transmit and
queues are full. Each run is its own process, whose peak is the system's own count.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass

from figures import table

import tightlink as tl
from tightlink.scenario import memory

SCALES = (0.01, 0.03, 0.1)
MANY = {"sources": "high", "source_distribution": "high"}
LOADS = {
    "low": {},
    "largest": {"network_speed": "high"} | MANY,
    "overload": {"think_time": "10 ms", "object_size": "high"} | MANY,
}
BUFFERS = ("low", "high")
COLUMNS = ("scale", "load", "buffers", "sources", "packets", "predicted MiB", "peak MiB", "predicted / peak")


@dataclass(frozen=True)
class Measured:
    """One run."""

    scale: float
    load: str
    buffers: str
    predicted: memory.Memory
    peak_bytes: int

    def row(self) -> list[str]:
        """For the table."""
        return [
            f"{self.scale:g}",
            self.load,
            self.buffers,
            str(self.predicted.sources),
            str(self.predicted.packets),
            f"{self.predicted.bytes / 2**20:.0f}",
            f"{self.peak_bytes / 2**20:.0f}",
            f"{self.predicted.bytes / self.peak_bytes:.2f}",
        ]


def scenario(scale: float, load: str, buffers: str, seconds: float) -> tl.Scenario:
    """The network at a scale."""
    chosen = tl.FourTier(**LOADS[load], buffers=buffers, duration=f"{seconds:g} s", scale=scale)
    return chosen.scenario().set("observe.interval", "200 ms")


def run_one(scale: float, load: str, buffers: str, seconds: float) -> None:
    """In its own process: prints its peak."""
    run = tl.simulate(scenario(scale, load, buffers, seconds))
    print(json.dumps(run.manifest["timing"]["peak_rss_bytes"]))


def measure(scale: float, load: str, buffers: str, seconds: float) -> Measured:
    """One run in its own process."""
    predicted = memory.needed(scenario(scale, load, buffers, seconds).resolve())
    assert predicted is not None
    arguments = ["--one", str(scale), load, buffers, str(seconds)]
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return Measured(scale, load, buffers, predicted, json.loads(done.stdout))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scales", type=float, nargs="+", default=SCALES)
    parser.add_argument("--loads", nargs="+", choices=LOADS, default=list(LOADS))
    parser.add_argument("--buffers", nargs="+", choices=BUFFERS, default=BUFFERS)
    parser.add_argument("--seconds", type=float, default=10.0, help="simulated seconds (default: 10)")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--one", nargs=4, metavar=("SCALE", "LOAD", "BUFFERS", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        scale, load, buffers, seconds = options.one
        run_one(float(scale), load, buffers, float(seconds))
        return
    rows = []
    for scale in options.scales:
        for load in options.loads:
            for buffers in options.buffers:
                found = measure(scale, load, buffers, options.seconds)
                rows.append(found.row())
                print("  " + "  ".join(rows[-1]), file=sys.stderr)
    print(table(COLUMNS, rows, markdown=options.markdown))


if __name__ == "__main__":
    main()
