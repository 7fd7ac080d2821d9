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

from tightlink.errors import TightlinkError
from tightlink.experiment.stored import of_file, opened
from tightlink.experiment.work import Done, Failed, Work, perform
from tightlink.files import write_bytes
from tightlink.simulate import prepare

if TYPE_CHECKING:
    import os

    from tightlink.run import Run
    from tightlink.scenario import Scenario
    from tightlink.simulate import Prepared

_KEY_DIGITS: Final = 20


class Store:
    """A folder of finished runs; what is there is not simulated again."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.simulated = 0
        """Runs that were simulated, rather than found."""

    def files(self) -> list[Path]:
        """The files of all runs, in the order of their names."""
        return sorted(self.folder.glob("*.parquet"))

    def count(self) -> int:
        """How many runs are there."""
        return len(self.files())

    def file(self, identity: str) -> Path:
        """Where the run of an identity is, if it is there."""
        return self.folder / f"{identity[:_KEY_DIGITS]}.parquet"

    def find(self, scenario: Scenario, prepared: Prepared, *, trace: bool = False) -> Run | None:
        """The run of a scenario, if it is there whole.

        Raises:
            TightlinkError: It is there, and a newer version of Tightlink wrote it.
        """
        run = opened(self.file(prepared.identity), scenario)
        return None if run is None or (trace and "packets" not in run.tables) else run

    def keep(self, scenario: Scenario, work: Work, done: Done) -> Run:
        """Write the file of a run that was simulated."""
        file = self.file(work.prepared.identity)
        write_bytes(file, done.content)
        self.simulated += 1
        return of_file(file, scenario, done.manifest, done.tables)

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
