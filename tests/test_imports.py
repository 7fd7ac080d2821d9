"""What is imported when: help and errors must not wait for data frames and plots."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = str(Path(__file__).parent.parent / "examples/one-flow.toml")
_HEAVY = {"polars", "numpy", "matplotlib", "scipy", "networkx", "altair", "pandas", "rich.progress"}


def _imported(program: str) -> set[str]:
    lines = f"import sys\n{program}\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def test_light() -> None:
    words = (["--help"], ["run", "--help"], ["list", "profiles"])
    modules = _imported(f"import tightlink.cli\nfor words in {words}: tightlink.cli.main(words)\ntightlink.Scenario")
    assert "tightlink.scenario.model" in modules
    assert not modules & _HEAVY
    assert "tightlink._core" not in modules


def test_figures_and_reports_load_nothing_before_they_are_drawn() -> None:
    modules = _imported("import tightlink.plots, tightlink.report, tightlink.experiment.claims")
    assert not modules & {*_HEAVY, "jinja2", "vl_convert"}


def test_a_chart_does_not_wait_for_grammars_of_addresses(tmp_path: Path) -> None:
    """Jupyter brings a module that jsonschema imports and that takes seconds; a command does without."""
    (tmp_path / "rfc3987_syntax.py").write_text("raise SystemExit('it was loaded')\n")
    command = ["sweep", EXAMPLE, "--vary", "link.bottleneck.queue=5 packets,10 packets", "-o", str(tmp_path / "out")]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    subprocess.run([sys.executable, "-m", "tightlink", *command], env=environment, check=True, capture_output=True)
    assert "vega" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
