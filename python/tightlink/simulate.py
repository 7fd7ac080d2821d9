"""Running a scenario in the engine.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... profile = "ns2"
    ... duration = "2 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> tl.simulate(scenario).flows["label"].to_list()
    ['ftp']
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tightlink.errors import ScenarioError, TightlinkError
from tightlink.run import Run, Simulated

if TYPE_CHECKING:
    import os

    from tightlink.scenario import Scenario


def simulate(
    scenario: Scenario,
    *,
    seed: int | None = None,
    trace: bool = False,
    tr: str | os.PathLike[str] | None = None,
    threads: int = 1,
) -> Run:
    """Simulate a scenario, packet by packet.

    Args:
        scenario: What to simulate.
        seed: Seed to use instead of the scenario's.
        trace: Whether to record what happens to every packet (`Run.packets`).
        tr: File to write the packets to in ns-2's 12-column format; it must not exist yet.
        threads: Threads to use; the tables do not depend on it.

    Raises:
        ScenarioError: The scenario cannot be simulated.
        TightlinkError: An option is wrong, or the file ``tr`` exists.
    """
    from tightlink import _core

    if seed is not None:
        scenario = scenario.set("seed", seed)
    if threads < 1:
        raise TightlinkError(f"threads = {threads}: expected a whole number of at least 1")
    resolved = scenario.resolve()
    target = None if tr is None else str(new_file(tr))
    try:
        outcome = _core.simulate(json.dumps(resolved, allow_nan=False), trace=trace, tr=target, threads=threads)
    except _core.ScenarioError as error:
        raise ScenarioError(str(error), file=scenario.file, statement=True) from None
    manifest = {"source": "simulation"} | identified(scenario, resolved) | json.loads(outcome.manifest())
    return Run(scenario, manifest, Simulated(outcome))


def identified(scenario: Scenario, resolved: dict[str, Any]) -> dict[str, Any]:
    """The part of a manifest that is known before the run.

    ``identity`` is a hash of everything that the tables depend on: the scenario as the engine gets
    it, its seed and the engine's behaviour.
    """
    from tightlink import _core

    inputs = {"engine_behaviour": _core.engine_behaviour, "scenario": resolved}
    text = json.dumps(inputs, sort_keys=True, allow_nan=False)
    return {
        "identity": hashlib.sha256(text.encode()).hexdigest(),
        "scenario": scenario.explicit().written(),
        "seed": scenario.seed,
        "engine_behaviour": _core.engine_behaviour,
    }


def new_file(path: str | os.PathLike[str]) -> Path:
    """A path to write to.

    Raises:
        TightlinkError: Something is there already, or the folder does not exist.
    """
    file = Path(path)
    if file.exists():
        raise TightlinkError(f"{file}: exists already; nothing is overwritten")
    if not file.parent.is_dir():
        raise TightlinkError(f"{file}: there is no folder {file.parent}")
    return file
