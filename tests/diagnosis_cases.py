"""Scenarios whose cause is known by how they are built (`data/diagnoses.toml`)."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

CASES: Final = tomllib.loads((Path(__file__).parent / "data" / "diagnoses.toml").read_text(encoding="utf-8"))["case"]
#: What a flow loses of its rate, at most, where a suggestion is about delay; and what is left of the delay.
KEPT, LEFT = 0.85, 0.6
BLOAT: Final = next(case for case in CASES if case["name"].startswith("the issue's"))


def of_source(source: str) -> list[Any]:
    """The cases of a source, as parameters of a test."""
    return [pytest.param(case, id=case["name"].replace(" ", "-")) for case in CASES if case["source"] == source]


def named(name: str) -> str:
    """The scenario of the case whose name begins so."""
    return str(next(case["scenario"] for case in CASES if case["name"].startswith(name)))
