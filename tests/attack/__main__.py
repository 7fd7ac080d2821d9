"""Run attacks: ``python tests/attack [NAME…] [--seed N] [--tries N] [--first N]``; exit code 1 on any violation."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from attack import attack, names


def main() -> int:
    known = names()
    parser = argparse.ArgumentParser(prog="python tests/attack", description="Attacks, all of them or some.")
    parser.add_argument("name", nargs="*", choices=[*known, []], help="attacks: " + ", ".join(known))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tries", type=int, default=100, help="of each")
    parser.add_argument("--first", type=int, default=0, help="number of the first try, to repeat one alone")
    given = parser.parse_args()
    violated = False
    for name in given.name or known:
        begin = time.monotonic()
        outcomes, violations = attack(name, seed=given.seed, tries=given.tries, first=given.first)
        told = ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items()))
        print(f"{name}: {given.tries} tries in {time.monotonic() - begin:.0f} s: {told}", flush=True)
        for violation in violations:
            print(f"  {violation}", flush=True)
        violated = violated or bool(violations)
    return 1 if violated else 0


if __name__ == "__main__":
    sys.exit(main())
