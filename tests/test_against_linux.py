"""The simulation of profile linux beside what was measured between stacks of Linux, as `docs/validation.md` has it.

The measurements are stored; each cell is simulated anew.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def compared(script: Any, folder: str, measuring: str, patch: pytest.MonkeyPatch) -> Any:
    """What a script compares, of which nothing is measured now."""

    def never(*_: object, **__: object) -> None:
        raise AssertionError(f"not stored in {folder}")

    patch.setattr(script, measuring, never)
    return script.compared(script.Measured(Path(script.__file__).parent / "measured" / folder))


def test_transfers_take_as_long_as_in_linux(benchmark: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Times within 5 %, but for two through FQ-CoDel of which the measurements differ by one loss."""
    script = benchmark("transfer_times")
    cells = compared(script, "transfer-times", "quietest", monkeypatch)
    near = [each for _, there, here in cells for each in script.near(there, here)]
    assert len(near) == 90
    assert sum(near) >= 88


def test_flows_over_links_in_a_row_get_what_they_get_in_linux(
    benchmark: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Goodputs and delays within 10 %, of each group of flows."""
    script, near = benchmark("links_in_a_row"), benchmark("changing_links").NEAR
    cells = list(compared(script, "links-in-a-row", "measure", monkeypatch))
    assert len(cells) == 18
    for cell, *both in cells:
        for group in both[0][0]:
            before, after = (script.mean([run[group] for run in runs]) for runs in both)
            assert after == pytest.approx(before, rel=near), (*cell, group)
