"""The notebooks of the documentation run, and show what they say."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any, Final

import pytest

from tightlink.measure.machine import missing

FOLDER: Final = Path(__file__).parent.parent / "docs" / "notebooks"
NOTEBOOKS: Final = sorted(FOLDER.glob("*.py"))
WHY_NOT: Final = (
    None
    if importlib.util.find_spec("marimo")
    else "marimo is not installed (pip install --requirement docs/requirements.txt)"
)


def _run(file: Path) -> dict[str, Any]:
    """What the cells of a notebook define, after all have run."""
    spec = importlib.util.spec_from_file_location(f"notebook_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    notebook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notebook)
    _, defined = notebook.app.run()
    return dict(defined)


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: str(file.stem))
@pytest.mark.filterwarnings("ignore")
def test_notebooks_run(file: Path) -> None:
    if WHY_NOT is not None:
        pytest.skip(WHY_NOT)
    if file.stem == "measured_beside_simulated" and (why := missing("tun")):
        pytest.skip(f"it takes emulated hosts: {why}")
    defined = _run(file)
    if file.stem == "first_run":
        goodput = [defined[name].flows["goodput_bps"][0] for name in ("run", "larger")]
        assert goodput[1] > 2 * goodput[0], goodput
    if file.stem == "competing_flows":
        first, last = (defined["runs"].row(place, named=True) for place in (0, -1))
        assert first["bbr.goodput_bps"] > first["cubic.goodput_bps"]
        assert last["bbr.goodput_bps"] < last["cubic.goodput_bps"]
    if file.stem == "measured_beside_simulated":
        assert defined["measured"].source == "measurement"


def test_the_page_lists_every_notebook() -> None:
    listed = re.findall(r"\]\((\w+)\.py\)", (FOLDER / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == [file.stem for file in NOTEBOOKS]
