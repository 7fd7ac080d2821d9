"""A few tries of the attacks on the engine and on the scenario model."""

from __future__ import annotations

import importlib

import pytest

from attack import attack


@pytest.mark.parametrize(("name", "tries"), [("monotone", 60), ("conservation", 30), ("scenarios", 60)])
def test_nothing_goes_wrong(name: str, tries: int, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes, violations = attack(name, seed=1, tries=tries)
    assert violations == []
    # Chance does not spare what is attacked.
    assert len(outcomes) > 1
    assert importlib.import_module(f"attack.{name}").main(1, 3) == 0
    assert capsys.readouterr().out.startswith(f"{name}: ")
