"""What is simulated elsewhere, on a thread or on another machine, and what comes back.

The same function runs everywhere, and what it gives back is the file of the run, so that a store holds
the same bytes whatever engine filled it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tightlink.errors import TightlinkError
from tightlink.experiment.stored import packed
from tightlink.simulate import Watched

if TYPE_CHECKING:
    from tightlink.simulate import Prepared


@dataclass(frozen=True)
class Work:
    """A run to simulate."""

    prepared: Prepared
    scenario: str
    """As it was given, as TOML."""
    trace: bool = False


@dataclass(frozen=True)
class Done:
    """A run that was simulated."""

    content: bytes
    """Of its file."""
    manifest: dict[str, Any]
    tables: list[str]
    wall_s: float


@dataclass(frozen=True)
class Failed:
    """A run that could not be simulated, and why."""

    error: str


def perform(work: Work) -> Done | Failed:
    """Simulate a run. Whatever goes wrong is of this run alone."""
    from tightlink import _core

    prepared = work.prepared
    if prepared.engine_behaviour != _core.engine_behaviour:
        return Failed(
            f"this worker's engine has behaviour {_core.engine_behaviour} instead of {prepared.engine_behaviour}: "
            "install the same version of Tightlink there"
        )
    begin = time.perf_counter()
    try:
        outcome = prepared.simulate(Watched(trace=work.trace))
        manifest = prepared.manifest(outcome)
        content = packed(outcome, manifest, work.scenario)
    except TightlinkError as error:
        return Failed(str(error))
    except MemoryError:
        return Failed("not enough memory for this run")
    except _core.EngineError as error:
        return Failed(f"a mistake in the engine: {error}")
    manifest.pop("timing")
    return Done(content, manifest, outcome.tables, time.perf_counter() - begin)
