#!/usr/bin/env python3
"""Simulate one of the heavier experiments of study congestion-control, and store what it finds with the study.

    python benchmarks/evidence.py 2b -o results/evidence               # at the size of the study
    python benchmarks/evidence.py 2b -o results/evidence --duration "1 min"

Runs that are in the folder are not made again: the same command continues after an interruption. The table says which
command and commit made it, and with which engine; a test makes one run of each again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import polars as pl

from tightlink import _core
from tightlink.studies.congestion_control import options
from tightlink.studies.congestion_control.observe.evidence import as_stored
from tightlink.studies.congestion_control.setup.experiment import HEAVIER, file_of
from tightlink.studies.running import study
from tightlink.studies.study import typed


def main() -> None:
    """Simulate and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=HEAVIER)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("-j", "--jobs", type=int, default=1)
    parser.add_argument("--duration")
    parser.add_argument("--routers")
    chosen = parser.parse_args()
    # Of what is loaded now: the folder may change while it runs.
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], check=True, capture_output=True, text=True
    ).stdout.strip()
    given = {"evidence": "run", "experiments": chosen.experiment}
    given |= {name: value for name in ("duration", "routers") if (value := getattr(chosen, name))}
    size = options.chosen(given).size_of(chosen.experiment)
    study(
        "congestion-control",
        chosen.output,
        jobs=chosen.jobs,
        options=given,
        progress=lambda line: print(line, file=sys.stderr),
    )
    found = pl.read_parquet(chosen.output / "responses.parquet").filter(pl.col("experiment") == chosen.experiment)
    made = {
        "commit": commit,
        "command": f"tightlink study congestion-control{typed(given)}",
        "engine_behaviour": str(_core.engine_behaviour),
        "routers": str(size.routers),
        "scale": str(size.scale),
        "duration": size.duration,
    }
    file = file_of(chosen.experiment)
    file.parent.mkdir(exist_ok=True)
    as_stored(found).write_parquet(file, compression="zstd", compression_level=19, metadata=made)
    print(f"{file}: {found.height} rows, {file.stat().st_size / 1024:.0f} KiB", file=sys.stderr)


if __name__ == "__main__":
    main()
