"""The attacks of `make attack`, a few tries of each."""

from __future__ import annotations

import pytest

from attack import attack, names

TRIES = {
    "pairs": 12,
    "kills": 6,
    "flips": 15,
    "monotone": 60,
    "conservation": 30,
    "scenarios": 60,
    "listener": 300,
    "visitor": 600,
}


@pytest.mark.parametrize("name", names())
def test_nothing_goes_wrong(name: str) -> None:
    outcomes, violations = attack(name, seed=1, tries=TRIES.get(name, 10))
    assert violations == []
    # Chance does not spare what is attacked.
    assert len(outcomes) > 1
