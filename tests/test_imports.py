"""What is imported when: help and errors must not wait for data frames and plots."""

from __future__ import annotations

import subprocess
import sys

import pytest

_HEAVY = {"polars", "numpy", "matplotlib", "scipy", "networkx", "altair", "pandas", "rich.progress"}


def _imported(program: str) -> set[str]:
    lines = f"import sys\n{program}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


@pytest.mark.parametrize(
    "program",
    [
        "import tightlink; tightlink.Scenario",
        "from tightlink.cli import main; main(['--help'])",
        "from tightlink.cli import main; main(['run', '--help'])",
        "from tightlink.cli import main; main(['list', 'profiles'])",
    ],
)
def test_light(program: str) -> None:
    modules = _imported(program)
    assert "tightlink.scenario.model" in modules
    assert not modules & _HEAVY
    assert "tightlink._core" not in modules


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    modules = _imported("import tightlink")
    assert {name for name in modules if name.startswith(("tightlink.", "pydantic"))} == set()
