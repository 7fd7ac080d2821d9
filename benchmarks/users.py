#!/usr/bin/env python3
"""What an Internet-like network costs: time for each packet-hop and memory for each source, by size.

    python benchmarks/users.py                        # three sizes, one thread and two
    python benchmarks/users.py --sources 27800 --threads 1
    python benchmarks/users.py --markdown > table.md
    python benchmarks/users.py --figure docs/images/measured/users-cost.svg
    python benchmarks/users.py --sources 27800 --threads 1 --speeds 500 1000 2000 4000 8000

The network is `tightlink new four-tier` with the largest speed and number of sources (those of experiment 1a of NIST SP
500-282), or a part of it: sources and speeds down together. Each run is its own process, so that its memory
can be told from the others'. It simulates some seconds, of which the cost of a longer run follows: packet-hops a
simulated second, at the speed that was measured.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from figures import table

import tightlink as tl

if TYPE_CHECKING:
    from collections.abc import Sequence

ALL_SOURCES = 278_000
SIZES = (2_780, 27_800, 278_000)
LARGE = {"sources": "high", "source_distribution": "high"}
#: Base speed of the whole network, in packets/ms.
SPEED = 8000
COLUMNS = (
    "sources",
    "packets/ms",
    "threads",
    "simulated s",
    "Gbit/s",
    "M packet-hops",
    "M hops/s",
    "ns/hop",
    "run s",
    "peak MiB",
    "KiB/source",
    "25 min would take",
)
BITS = 12_000
#: What a run of any size should take, in packet-hops.
WORK = 1e8
#: A simulated second of the whole network, about.
HOPS_PER_SECOND = 5e7
MINUTES_25 = 1500.0


@dataclass(frozen=True)
class Measured:
    """One run."""

    sources: int
    speed: int
    threads: int
    simulated_s: float
    packets: int
    packet_hops: int
    wall_s: float
    peak_bytes: int

    @property
    def ns_per_hop(self) -> float:
        """Nanoseconds for each packet-hop."""
        return self.wall_s * 1e9 / self.packet_hops

    @property
    def long_s(self) -> float:
        """Seconds that 25 simulated minutes would take."""
        return self.wall_s / self.simulated_s * MINUTES_25

    @property
    def carried_bps(self) -> float:
        """Data packets that reach their receivers, in bit/s."""
        return self.packets * BITS / self.simulated_s

    def row(self) -> list[str]:
        """For the table."""
        return [
            str(self.sources),
            str(self.speed),
            str(self.threads),
            f"{self.simulated_s:g}",
            f"{self.carried_bps / 1e9:.2f}",
            f"{self.packet_hops / 1e6:.1f}",
            f"{self.packet_hops / self.wall_s / 1e6:.2f}",
            f"{self.ns_per_hop:.0f}",
            f"{self.wall_s:.1f}",
            f"{self.peak_bytes / 2**20:.0f}",
            f"{self.peak_bytes / 1024 / self.sources:.2f}",
            f"{self.long_s / 60:.1f} min",
        ]


def scenario(sources: int, speed: int, simulated_s: float) -> tl.Scenario:
    """The network with so many sources, of a base speed at its full size."""
    chosen = tl.FourTier(
        **LARGE, network_speed=f"{speed} packets/ms", duration=f"{simulated_s:g} s", scale=sources / ALL_SOURCES
    )
    return chosen.scenario().set("observe.interval", "200 ms")


def run_one(sources: int, speed: int, threads: int, simulated_s: float) -> None:
    """In its own process: prints what was measured."""
    run = tl.simulate(scenario(sources, speed, simulated_s), threads=threads)
    timing = run.manifest["timing"]
    packets = int(run.users["packets_delivered"].sum())
    print(json.dumps([packets, run.manifest["packet_hops"], timing["wall_s"], timing["peak_rss_bytes"]]))


def measure(sources: int, speed: int, threads: int, simulated_s: float) -> Measured:
    """One run in its own process."""
    arguments = ["--one", str(sources), str(speed), str(threads), str(simulated_s)]
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return Measured(sources, speed, threads, simulated_s, *json.loads(done.stdout))


def seconds(sources: int) -> float:
    """How long to simulate: beyond the first thoughts and transfers, and long enough to measure."""
    return max(10.0, round(WORK / HOPS_PER_SECOND * ALL_SOURCES / sources))


def law(runs: Sequence[Measured]) -> tuple[float, float]:
    """Factor and exponent of the seconds of 25 simulated minutes over the sources, by least squares of logarithms."""
    points = [(math.log(run.sources), math.log(run.long_s)) for run in runs]
    mean_x, mean_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return math.exp(mean_y - slope * mean_x), slope


def draw(runs: Sequence[Measured], file: str) -> None:
    """Seconds and bytes over sources, with the law."""
    import matplotlib.pyplot as plt

    one = [run for run in runs if run.threads == 1]
    factor, exponent = law(one)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for threads in sorted({run.threads for run in runs}):
        chosen = [run for run in runs if run.threads == threads]
        label = f"{threads} thread{'s' if threads > 1 else ''}"
        left.loglog([run.sources for run in chosen], [run.long_s / 60 for run in chosen], "o", label=label)
    sizes = [one[0].sources, one[-1].sources]
    label = f"{factor:.2g} s × sources^{exponent:.2f}"
    left.loglog(sizes, [factor * size**exponent / 60 for size in sizes], "-", color="0.6", label=label)
    left.set(xlabel="sources", ylabel="minutes for 25 simulated minutes")
    left.legend(frameon=False)
    right.loglog([run.sources for run in one], [run.peak_bytes / 2**20 for run in one], "o")
    right.set(xlabel="sources", ylabel="peak memory, MiB")
    figure.savefig(file)


def draw_over_speed(runs: Sequence[Measured], file: str) -> None:
    """Minutes, and nanoseconds for each packet-hop, over the bit rate that is carried, with the same sources."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for threads in sorted({run.threads for run in runs}):
        chosen = [run for run in runs if run.threads == threads]
        carried = [run.carried_bps / 1e9 for run in chosen]
        label = f"{threads} thread{'s' if threads > 1 else ''}"
        left.plot(carried, [run.long_s / 60 for run in chosen], "o-", label=label)
        right.plot(carried, [run.ns_per_hop for run in chosen], "o-", label=label)
    left.set(xlabel="carried, Gbit/s", ylabel="minutes for 25 simulated minutes", xlim=(0, None), ylim=(0, None))
    right.set(xlabel="carried, Gbit/s", ylabel="ns for each packet-hop", xlim=(0, None), ylim=(0, None))
    left.legend(frameon=False)
    figure.savefig(file)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", type=int, nargs="+", default=SIZES)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seconds", type=float, help="simulated seconds (default: by size)")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--speeds", type=int, nargs="+", default=[SPEED], help="base speeds at full size, packets/ms")
    parser.add_argument("--figure", metavar="FILE", help="draw cost over sources, or over bit rates with --speeds")
    parser.add_argument("--one", nargs=4, metavar=("SOURCES", "SPEED", "THREADS", "SECONDS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        sources, speed, threads = map(int, options.one[:3])
        run_one(sources, speed, threads, float(options.one[3]))
        return
    if len(options.speeds) > 1 and len(options.sources) > 1:
        parser.error("several speeds with one number of sources, such as --sources 27800")
    runs = []
    for sources, speed, threads in product(options.sources, options.speeds, options.threads):
        run = measure(sources, speed, threads, options.seconds or seconds(sources))
        runs.append(run)
        print(
            f"  {sources} sources, {speed} packets/ms, {threads} threads: {run.ns_per_hop:.0f} ns/hop", file=sys.stderr
        )
    print(table(COLUMNS, [run.row() for run in runs], markdown=options.markdown))
    if len(options.speeds) > 1:
        if options.figure:
            draw_over_speed(runs, options.figure)
        return
    one = [run for run in runs if run.threads == 1]
    if len({run.sources for run in one}) > 1:
        factor, exponent = law(one)
        print(f"\n25 simulated minutes take {factor:.3g} s × sources^{exponent:.3f} on one thread")
    if options.figure:
        draw(runs, options.figure)


if __name__ == "__main__":
    main()
