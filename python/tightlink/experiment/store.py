"""Finished runs in a folder, one Parquet file each, under the hash of everything that they depend on.

A file appears whole or not at all. A changed scenario, seed or engine is another hash: old runs are never
taken for new ones.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink.checksums import DamagedError, check
from tightlink.experiment.stored import engines_of, opened, run_of
from tightlink.experiment.work import Done, Simulation
from tightlink.experiment.workplace import Workplace
from tightlink.files import whole
from tightlink.lazy import _core
from tightlink.numbers import several
from tightlink.run import Run
from tightlink.simulate import prepare
from tightlink.tables import TABLES

if TYPE_CHECKING:
    from tightlink.experiment.execute import Task

#: The table that is large, and read by few.
_PACKETS: Final = "packets"
#: For so long it is looked which engines made the runs that are there, of so many at a time.
_LOOK_S: Final = 2.0
_AT_ONCE: Final = 256


@dataclass(frozen=True)
class Outdated:
    """Runs in a store that another engine made, which stay and are not used."""

    runs: int
    """How many these are."""
    behaviours: Sequence[int]
    """Of the engines that made them."""
    whole: bool
    """Whether all runs were looked at."""

    def __bool__(self) -> bool:
        return self.runs > 0

    def __str__(self) -> str:
        made = f"{several(self.runs, 'run')} of engine behaviour {' and '.join(map(str, self.behaviours))}"
        there = made if self.whole else f"at least {made}"
        now = _core.engine_behaviour
        return f"kept there, and not used: {there}; what of them is needed is simulated again, by {now}"


class Store:
    """A folder of finished runs, where no other process works; what is there undamaged is not simulated again."""

    def __init__(self, folder: str | os.PathLike[str], place: Workplace | None = None) -> None:
        self.folder = Path(folder).absolute()
        self._place = place
        self.simulated = 0
        """Runs that were simulated, rather than found."""
        self.damaged: list[DamagedError] = []
        """Files that were found to be damaged, the runs of which are simulated again."""

    def files(self) -> list[Path]:
        """The files of all runs, in the order of their names."""
        return sorted(self.folder.glob("*.parquet"))

    def count(self) -> int:
        """How many runs are there."""
        return len(self.files())

    def outdated(self) -> Outdated:
        """The runs that this engine does not use, as far as two seconds suffice to look at what is there."""
        until, files, made = time.monotonic() + _LOOK_S, self.files(), Counter[int | None]()
        while (looked := made.total()) < len(files) and time.monotonic() < until:
            made.update(engines_of(files[looked : looked + _AT_ONCE]))
        others = {each: count for each, count in made.items() if each is not None and each != _core.engine_behaviour}
        return Outdated(sum(others.values()), sorted(others), whole=made.total() == len(files))

    def file(self, identity: str) -> Path:
        """Where the run of an identity is, if it is there."""
        return self.folder / f"{identity[:20]}.parquet"

    def recognised(self, error: DamagedError) -> bool:
        """Whether a damaged marker of the folder may be made again: an undamaged run is there, so it is of ours."""
        for file in self.files():
            try:
                check(file, needed=True)
            except DamagedError:
                continue
            self.damaged.append(error)
            return True
        return False

    def look(self, task: Task) -> Run | Simulation:
        """The run of a task, if it is there undamaged, or what makes it."""
        prepared = prepare(task.scenario)
        try:
            read = [name for name in TABLES if task.trace or name != _PACKETS]
            run = opened(self.file(prepared.identity), task.scenario, read=read)
        except DamagedError as error:
            self.damaged.append(error)
            run = None
        if run is None or (task.trace and _PACKETS not in run.tables):
            return Simulation((prepared.identity, task.trace), prepared, task.scenario.to_toml(), task.trace)
        return run

    def keep(self, task: Task, work: Simulation, done: Done) -> Run:
        """Write the file of a run that was simulated."""
        file = self.file(work.prepared.identity)
        if self._place is not None:
            self._place.check()
        if file.is_dir() and not any(file.iterdir()):
            file.rmdir()
        try:
            # A folder that was removed meanwhile must not come back without what else was in it.
            with whole(file, parents=self._place is None, leftovers=False) as temporary:
                temporary.write_bytes(done.content)
        except FileNotFoundError:
            if self._place is not None:
                self._place.check()
            raise
        self.simulated += 1
        return run_of(file, task.scenario, done.manifest, done.tables, checked=done.tables)
