"""Trials of an attack one after the other, with their outcomes and violations told."""

from __future__ import annotations

from attack import attack


def told(name: str, seed: int, tries: int) -> int:
    """Run trials of an attack, print what came out, and return the number of violations."""
    outcomes, violations = attack(name, seed=seed, tries=tries)
    print(f"{name}: " + ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))
    for violation in violations:
        print(f"  {violation}")
    return len(violations)
