#!/usr/bin/env python3
"""The engine of another commit beside this one's: processor seconds, which others who use the machine change least.

    python benchmarks/commits.py                       # beside the commit of docs/benchmarks.md
    python benchmarks/commits.py HEAD~20 w3 four-tier --repeats 20

The other commit is checked out and compiled in benchmarks/build/commits. Both get the scenarios as this commit resolves
them, and take turns. The least of all turns counts: nothing makes a program faster than it is. A ratio above one says
that this commit takes longer. Compare with what was published: many steps within the noise go far.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import defaultdict

from workloads import HERE, WORKLOADS

from programs import FOUR_TIER, Programs, scenario_of

BUILD = HERE / "build" / "commits"
PUBLISHED = HERE.parent / "docs" / "benchmarks.md"


def published() -> str:
    """The commit of the first table of the benchmarks."""
    found = re.search(r"^- commit: (\w+);", PUBLISHED.read_text(), re.MULTILINE)
    if found is None:
        raise SystemExit(f"{PUBLISHED}: no line `- commit: …;`")
    return found[1]


def built(commit: str) -> Programs:
    """The programs of a commit. Its source tree goes again, what is compiled stays."""
    tree = BUILD / "tree"
    git = ["git", "-C", str(HERE.parent), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--force", "--detach", str(tree), commit], check=True)
    try:
        return Programs.built(tree, BUILD / "target")
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit", nargs="?", help="default: that of docs/benchmarks.md")
    parser.add_argument("names", nargs="*", default=[*WORKLOADS, FOUR_TIER])
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    commit = options.commit or published()
    sides = {commit: built(commit), "here": Programs.built(HERE.parent)}
    print(f"| scenario | M packet-hops | {commit}, processor s | here, processor s | here / {commit} |")
    print("| --- " + "| ---: " * 4 + "|")
    for name in options.names:
        file = BUILD / "scenario.json"
        file.write_text(json.dumps(scenario_of(name).resolve()))
        times: dict[str, list[float]] = defaultdict(list)
        hops = set()
        for _ in range(options.repeats):
            for side, programs in sides.items():
                run = programs.run(file, "epochs" if name == FOUR_TIER else "run", 1)
                times[side].append(run.processor_s)
                hops.add(run.packet_hops)
        there, here = (min(times[side]) for side in sides)
        # Where results have changed, so has the work.
        work = " or ".join(f"{count / 1e6:.2f}" for count in sorted(hops))
        print(f"| {name} | {work} | {there:.3f} | {here:.3f} | {here / there:.2f} |", flush=True)


if __name__ == "__main__":
    main()
