"""The heavier runs: experiments at sizes that take hours, whose responses are stored with the study.

`tightlink study congestion-control --evidence run` simulates them, and finishes what was interrupted; `benchmarks/
evidence.py` stores what they found, and ``--evidence stored`` takes that instead of runs.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Final

from tightlink.studies.congestion_control.setup.experiment import Experiment, Size, experiment

_SIXTH: Final = Fraction(1, 6)
#: By name, in the order of how much they decide: simulated time, and the resolution of a smaller design than the
#: document's 32 conditions; 16 are two hours of a core.
_HEAVIER: Final[dict[str, tuple[str, int | None]]] = {
    "2b": ("10 min", 4),
    "2a": ("10 min", 4),
    "choices": ("10 min", None),
    "sensitivity": ("10 min", None),
    "1b": ("10 min", None),
    "mixture": ("10 min", None),
}
HEAVIER: Final = tuple(_HEAVIER)
FOLDER: Final = Path(inspect.getfile(experiment)).parent / "data" / "evidence"


def heavier(name: str) -> tuple[Experiment, Size]:
    """An experiment of `HEAVIER`, and the size at which it is stored."""
    duration, resolution = _HEAVIER[name]
    found = experiment(name)
    return found if resolution is None else replace(found, resolution=resolution), Size(Fraction(1), duration, _SIXTH)


def file_of(name: str) -> Path:
    """Where the responses of an experiment are stored."""
    return FOLDER / f"{name}.parquet"
