"""Whether laboratories are exact: the digest of each example and study scenario, natively and in Chromium.

    python benchmarks/lab_digests.py [STUDY ...] [--every N] [--output FILE.csv]

Writes a row for each scenario into a table (results/lab-digests.csv), and prints for each source how many there are,
how many a browser takes, and of how many both digests are equal.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import tightlink as tl
from tightlink import studies

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser import browser  # noqa: E402
from browser_digests import Engines, tasks  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("studies", nargs="*", default=[name for name, _ in studies.names()])
    parser.add_argument("--every", type=int, default=1, help="of each study, only every n-th scenario")
    parser.add_argument("--output", type=Path, default=ROOT / "results" / "lab-digests.csv")
    given = parser.parse_args()
    print("| scenarios of | all | opened | equal |\n| --- | ---: | ---: | ---: |")
    rows = []
    with tempfile.TemporaryDirectory() as folder, browser(Path(folder, "profile")) as page:
        engines = Engines(page, Path(folder))
        for source in ("examples", *given.studies):
            found = [row(engines, source, *each) for each in scenarios(source, given.every)]
            opened = [each for each in found if each["browser"]]
            print(f"| {source} | {len(found)} | {len(opened)} | {sum(each['equal'] for each in opened)} |", flush=True)
            rows += found
            given.output.parent.mkdir(parents=True, exist_ok=True)
            pl.DataFrame(rows).write_csv(given.output)
    if any(each["browser"] and not each["equal"] for each in rows):
        raise SystemExit(1)


def scenarios(source: str, every: int) -> Iterator[tuple[str, tl.Scenario]]:
    if source == "examples":
        yield from ((file.stem, tl.load(file)) for file in sorted((ROOT / "examples").glob("*.toml")))
    else:
        yield from ((task.name, task.scenario) for task in tasks(source)[::every])


def row(engines: Engines, source: str, name: str, scenario: tl.Scenario) -> dict[str, str | bool]:
    try:
        there = engines.digest(scenario)
    except tl.ScenarioError:
        return {"source": source, "scenario": name, "native": "", "browser": "", "equal": False}
    native = tl.simulate(scenario).manifest["digest"]
    return {"source": source, "scenario": name, "native": native, "browser": there, "equal": native == there}


if __name__ == "__main__":
    main()
