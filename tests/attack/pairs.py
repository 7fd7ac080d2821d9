"""Two sweeps, studies or runs into one folder at once: all is right whoever comes first, and no run is lost."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING

from attack import Violation, contents, differing
from attack._sweeps import DONE, REFUSED, worked, working

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

_LATEST_S = 0.3
_LEVELS = range(2, 8)
_KINDS = ["sweep"] * 4 + ["study", "run"]
_known: dict[tuple[str, tuple[int, ...]], dict[str, bytes]] = {}


def attempt(chance: Random, place: Path) -> str:
    """Let two processes work, with the same or different levels."""
    kind = chance.choice(_KINDS)
    plans = [sorted(chance.sample(_LEVELS, 3)) for _ in range(2)]
    # The folder of a run is never another one's.
    if kind == "run" or chance.random() < 0.5:
        plans[1] = plans[0]
    folder = place / "both"
    pair = [working(kind, folder, queues, chance.choice([1, 2])) for queues in plans]
    pair[0].start()
    time.sleep(chance.random() ** 3 * _LATEST_S)
    pair[1].start()
    for process in pair:
        process.join(60)
    codes = [process.exitcode for process in pair]
    if not set(codes) <= {DONE, REFUSED} or DONE not in codes:
        raise Violation(f"exit codes {codes}")
    done = [queues for queues, code in zip(plans, codes, strict=True) if code == DONE]
    found = contents(folder)
    expected = [_expected(kind, queues, place) for queues in done]
    own = {name: content for name, content in found.items() if not name.startswith("runs/")}
    runs = {name: content for name, content in found.items() if name.startswith("runs/")}
    if runs != {name: content for each in expected for name, content in each.items() if name.startswith("runs/")}:
        raise Violation(f"{len(runs)} runs of {plans}, or others")
    # The last to finish is the one whose tables are there.
    tables = [{name: content for name, content in each.items() if not name.startswith("runs/")} for each in expected]
    if own not in tables:
        raise Violation(f"tables of neither: {differing(own, tables[0])}")
    return f"{kind}, one refused" if REFUSED in codes else f"{kind}, both done"


def _expected(kind: str, queues: Sequence[int], place: Path) -> dict[str, bytes]:
    key = (kind, tuple(queues))
    if key not in _known:
        folder = place / "alone"
        worked(kind, folder, queues)
        _known[key] = contents(folder)
        shutil.rmtree(folder)
    return _known[key]
