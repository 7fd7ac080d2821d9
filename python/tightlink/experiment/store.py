"""Finished runs in a folder, one Parquet file each, under the hash of everything that they depend on.

A file appears whole or not at all. A changed scenario, seed or engine is another hash: old runs are never
taken for new ones.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink.checksums import DamagedError, check
from tightlink.experiment.stored import engine_of, opened, run_of
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

    def of_other_engines(self) -> Counter[int]:
        """How many runs are there that this engine does not use, by the behaviour of the one that made them."""
        made = (engine_of(file) for file in self.files())
        return Counter(each for each in made if each is not None and each != _core.engine_behaviour)

    def outdated(self) -> str:
        """What to say of these before runs are made: that they stay, and are not used; nothing where there are none."""
        if not (others := self.of_other_engines()):
            return ""
        behaviours = " and ".join(str(each) for each in sorted(others))
        made = f"{several(others.total(), 'run')} of engine behaviour {behaviours}"
        return (
            f"kept there, and not used: {made}; what of them is needed is simulated again, by {_core.engine_behaviour}"
        )

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
