"""The engine's programs, which run a resolved scenario without Python around it."""

from __future__ import annotations

import os
import resource
import subprocess
from dataclasses import dataclass
from pathlib import Path

from workloads import HERE, WORKLOADS

import tightlink as tl

#: Users have epochs only.
FOUR_TIER = "four-tier"


def scenario_of(name: str) -> tl.Scenario:
    """A workload, an example, or a tenth of the four-tier network."""
    if name == FOUR_TIER:
        return tl.FourTier(scale=0.1, duration="4 s").scenario()
    folder = HERE if name in WORKLOADS else HERE.parent / "examples"
    return tl.load(folder / f"{name}.toml")


@dataclass(frozen=True)
class Run:
    """What a program says of a run, and what it took."""

    packet_hops: int
    #: Of the run alone, by its own clock.
    wall_s: float
    #: Those to read the scenario among them.
    processor_s: float


@dataclass(frozen=True)
class Programs:
    """Where the engine's programs are."""

    folder: Path

    @classmethod
    def built(cls, source: Path, target: Path | None = None, names: tuple[str, ...] = ("run", "epochs")) -> Programs:
        """Those of the engine whose source tree this is."""
        target = target or source / "target"
        examples = [word for name in names for word in ("--example", name)]
        build = ["cargo", "build", "--release", "--quiet", "-p", "tightlink-sim", *examples]
        subprocess.run(build, check=True, cwd=source, env=os.environ | {"CARGO_TARGET_DIR": str(target)})
        return cls(target / "release" / "examples")

    def run(self, file: Path, program: str, threads: int) -> Run:
        """Program ``run``, which has one thread, or another on so many."""
        command = [self.folder / program, file, *([] if program == "run" else [str(threads)])]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        processor_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        return Run(int(said[0]), float(said[-1]), processor_s)
