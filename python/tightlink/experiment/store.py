"""Finished runs in a folder, one zip file each, under the hash of everything that they depend on.

A file holds what `tightlink.Run.save` puts into a folder: ``manifest.json`` (without ``timing``, so that
equal runs are equal files), ``scenario.toml`` and the tables. It appears whole or not at all.

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

import io
import json
import tempfile
import threading
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink.files import write_bytes
from tightlink.run import Run
from tightlink.simulate import identified, simulate
from tightlink.tables import TABLES

if TYPE_CHECKING:
    import os

    import polars as pl

    from tightlink.scenario import Scenario

_MANIFEST: Final = "manifest.json"
_SCENARIO: Final = "scenario.toml"
_KEY_DIGITS: Final = 20
#: The oldest time that a zip file can hold: equal runs make equal files.
_NO_TIME: Final = (1980, 1, 1, 0, 0, 0)


class Store:
    """A folder of finished runs; what is there is not simulated again. Safe to use from many threads."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.simulated = 0
        """Runs that were simulated, rather than found."""
        self._lock = threading.Lock()

    def count(self) -> int:
        """How many runs are there."""
        return sum(1 for _ in self.folder.glob("*.zip"))

    def run(self, scenario: Scenario, *, trace: bool = False) -> Run:
        """The run of a scenario, from the folder or simulated now and kept.

        Args:
            scenario: With its seed.
            trace: Whether the run must have the table ``packets``.
        """
        resolved = scenario.resolve()
        manifest = identified(scenario, resolved)
        file = self.folder / f"{manifest['identity'][:_KEY_DIGITS]}.zip"
        run = _read(file, scenario)
        if run is None or (trace and "packets" not in run.tables):
            content = _packed(simulate(scenario, trace=trace))
            write_bytes(file, content)
            with self._lock:
                self.simulated += 1
            run = _read(file, scenario)
        if run is None:
            raise AssertionError(f"{file} was written and cannot be read")
        return run


def _packed(run: Run) -> bytes:
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as name:
        folder = run.save(Path(name) / "run")
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        manifest.pop("timing", None)
        (folder / _MANIFEST).write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        with zipfile.ZipFile(buffer, "w") as archive:
            for file in sorted(folder.iterdir()):
                archive.writestr(zipfile.ZipInfo(file.name, _NO_TIME), file.read_bytes())
    return buffer.getvalue()


def _read(file: Path, scenario: Scenario) -> Run | None:
    """The run in a file; nothing where there is none, or what is there is damaged."""
    try:
        with zipfile.ZipFile(file) as archive:
            if archive.testzip() is not None:
                return None
            manifest = json.loads(archive.read(_MANIFEST))
            tables = frozenset(Path(name).stem for name in archive.namelist() if name.endswith(".parquet"))
    except (FileNotFoundError, zipfile.BadZipFile, KeyError, ValueError):
        return None
    return Run(scenario, manifest, _Zipped(file, tables))


class _Zipped:
    """Tables in a zip file."""

    def __init__(self, file: Path, tables: frozenset[str]) -> None:
        self._file = file
        self._tables = tables

    @property
    def names(self) -> list[str]:
        return [name for name in TABLES if name in self._tables]

    def _content(self, name: str) -> bytes:
        with zipfile.ZipFile(self._file) as archive:
            return archive.read(f"{name}.parquet")

    def read(self, name: str) -> pl.DataFrame:
        import polars as pl

        return pl.read_parquet(io.BytesIO(self._content(name)))

    def write(self, folder: Path) -> None:
        for name in self.names:
            (folder / f"{name}.parquet").write_bytes(self._content(name))
