"""A simulation that is made elsewhere, on a thread or on another machine, and what comes back.

The same function runs everywhere, and what it gives back is the file of the run, so that a store holds
the same bytes whatever engine filled it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tightlink.errors import TightlinkError
from tightlink.experiment.campaign import Work
from tightlink.experiment.stored import packed
from tightlink.lazy import _core
from tightlink.simulate import Prepared, Watched


@dataclass(frozen=True)
class Done:
    """A run that was simulated."""

    content: bytes
    """Of its file."""
    manifest: dict[str, Any]
    tables: list[str]


@dataclass(frozen=True)
class Simulation(Work):
    """A run to simulate."""

    prepared: Prepared
    scenario: str
    """As it was given, as TOML."""
    trace: bool

    def perform(self, _: Callable[[], None]) -> Done:
        """Simulate it; the engine asks by itself whether it was interrupted."""
        prepared = self.prepared
        if prepared.engine_behaviour != _core.engine_behaviour:
            raise TightlinkError(
                f"this worker's engine has behaviour {_core.engine_behaviour} instead of {prepared.engine_behaviour}: "
                "install the same version of Tightlink there"
            )
        outcome = prepared.simulate(Watched(trace=self.trace))
        manifest = prepared.manifest(outcome)
        content = packed(outcome, manifest, self.scenario)
        manifest.pop("timing")
        return Done(content, manifest, outcome.tables)
