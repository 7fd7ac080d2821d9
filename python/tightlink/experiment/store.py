"""Finished runs in a folder, one Parquet file each, under the hash of everything that they depend on.

A file appears whole or not at all. A changed scenario, seed or engine is another hash: old runs are never
taken for new ones.

Example:
    >>> import tempfile
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... profile = "ns2"
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(folder)
    ...     store.run(scenario).flows.equals(store.run(scenario).flows), store.simulated
    (True, 1)
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink.checksums import DamagedError, check
from tightlink.errors import TightlinkError
from tightlink.experiment.stored import of_file, opened
from tightlink.experiment.work import Done, Failed, Work, perform
from tightlink.files import whole
from tightlink.simulate import prepare
from tightlink.tables import TABLES

if TYPE_CHECKING:
    import os

    from tightlink.experiment.workplace import Workplace
    from tightlink.run import Run
    from tightlink.scenario import Scenario
    from tightlink.simulate import Prepared

_KEY_DIGITS: Final = 20
#: The table that is large, and read by few.
_PACKETS: Final = "packets"


class Store:
    """A folder of finished runs; what is there undamaged is not simulated again.

    Args:
        folder: Of the runs.
        place: The folder that it is in, where no other process works meanwhile.
    """

    def __init__(self, folder: str | os.PathLike[str], place: Workplace | None = None) -> None:
        self.folder = Path(folder)
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

    def file(self, identity: str) -> Path:
        """Where the run of an identity is, if it is there."""
        return self.folder / f"{identity[:_KEY_DIGITS]}.parquet"

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

    def find(self, scenario: Scenario, prepared: Prepared, *, trace: bool = False) -> Run | None:
        """The run of a scenario, if it is there undamaged.

        Raises:
            TightlinkError: It is there, and a newer version of Tightlink wrote it.
        """
        read = [name for name in TABLES if trace or name != _PACKETS]
        try:
            run = opened(self.file(prepared.identity), scenario, read=read)
        except DamagedError as error:
            self.damaged.append(error)
            return None
        return None if run is None or (trace and _PACKETS not in run.tables) else run

    def keep(self, scenario: Scenario, work: Work, done: Done) -> Run:
        """Write the file of a run that was simulated."""
        file = self.file(work.prepared.identity)
        if self._place is not None:
            self._place.check()
        if file.is_dir() and not any(file.iterdir()):
            file.rmdir()
        try:
            # A folder that was removed meanwhile must not come back without what else was in it.
            with whole(file, parents=self._place is None) as temporary:
                temporary.write_bytes(done.content)
        except FileNotFoundError:
            if self._place is not None:
                self._place.check()
            raise
        self.simulated += 1
        return of_file(file, scenario, done.manifest, done.tables, checked=done.tables)

    def run(self, scenario: Scenario, *, trace: bool = False) -> Run:
        """The run of a scenario, from the folder or simulated now and kept.

        Args:
            scenario: With its seed.
            trace: Whether the run must have the table ``packets``.
        """
        prepared = prepare(scenario)
        found = self.find(scenario, prepared, trace=trace)
        if found is not None:
            return found
        work = Work(prepared, scenario.to_toml(), trace)
        done = perform(work)
        if isinstance(done, Failed):
            raise TightlinkError(done.error)
        return self.keep(scenario, work, done)
