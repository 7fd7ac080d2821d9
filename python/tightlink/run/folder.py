"""The folder of a run: ``manifest.json``, ``scenario.toml`` where a scenario was run, a Parquet file for each table.

It appears complete or not at all, and never takes the place of another run.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import tightlink
from tightlink import units
from tightlink.checksums import DamagedError, of_text, read_json, read_parquet, write_json
from tightlink.errors import TightlinkError
from tightlink.files import before_written, check_empty, of_file, remove_leftovers
from tightlink.lazy import pl
from tightlink.run.tables import Source
from tightlink.run.versions import completed, stored_scenario
from tightlink.scenario import Scenario
from tightlink.tables import TABLES

_MANIFEST: Final = "manifest.json"
#: What the folder of a sweep or a study has instead.
_TABLE_OF_RUNS: Final = "runs.parquet"
_SCENARIO: Final = "scenario.toml"
#: At the end of the name of a folder that is being written.
_TEMPORARY: Final = ".tmp"
#: Key of a stored manifest for the checksum of the scenario's file.
_OF_SCENARIO: Final = "scenario_checksum"
#: Keys of a manifest that say which run it is; a simulation's are more.
_NEEDED: Final = ("identity",)
_NEEDED_OF_SIMULATIONS: Final = ("seed", "engine_behaviour")
#: Where a run comes from: ``source`` in its manifest.
SIMULATION: Final = "simulation"
MEASUREMENT: Final = "measurement"
CAPTURE: Final = "capture"
TRACE: Final = "trace"


def holds_run(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is that of a run, complete or not."""
    return (Path(folder) / _MANIFEST).exists()


def save(target: Path, scenario: Scenario | None, manifest: Mapping[str, Any], source: Source) -> Path:
    """Write a run into a folder, unless it holds this same run already."""
    if is_there(target, manifest, source.names):
        return target
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # A folder that is there may be a link, a mounted disk, or all that may be written to.
        place = target if target.exists() else target.parent
        with suppress(OSError):
            remove_leftovers(place, target.name)
        temporary = before_written(target, place)
        temporary.mkdir()
    except OSError as error:
        raise of_file(error, target) from None
    try:
        source.write(temporary)
        held = manifest
        if scenario is not None:
            text = scenario.to_toml()
            (temporary / _SCENARIO).write_text(text, encoding="utf-8")
            held = {**manifest, _OF_SCENARIO: of_text(text)}
        write_json(temporary / _MANIFEST, held)
        _publish(temporary, target)
    except OSError as error:
        if is_there(target, manifest, source.names):
            # Another process has saved the same run meanwhile.
            return target
        raise of_file(error, target / Path(error.filename or "").name) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return target


def read(path: Path) -> tuple[Scenario | None, dict[str, Any], Source]:
    """The scenario, the manifest and the tables of the run in a folder."""
    with _advising(path):
        manifest = _manifest(path)
        if manifest is None:
            several = (path / _TABLE_OF_RUNS).exists()
            ending = ", but that of many: tightlink.experiment.open opens it" if several else ""
            raise TightlinkError(f"{path}: no run is there (no {_MANIFEST}){ending}")
        checksum = manifest.pop(_OF_SCENARIO, None)
        scenario = None if checksum is None else _scenario(path / _SCENARIO, checksum, manifest)
        return scenario, manifest, _Saved(path, has_all=_has_all(manifest))


@contextmanager
def _advising(folder: Path) -> Iterator[None]:
    """Within it, what to do with a damaged file is said: a run is never written in the place of another one."""
    try:
        yield
    except DamagedError as error:
        advice = f"remove the folder {folder} and make the run again"
        raise DamagedError(error.path, error.reason, advice) from None


def _scenario(file: Path, checksum: str, manifest: Mapping[str, Any]) -> Scenario:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DamagedError(file, "it is missing") from None
    except (IsADirectoryError, ValueError):
        raise DamagedError(file, "it is no text") from None
    if of_text(text) != checksum:
        raise DamagedError(file, f"its content does not match its checksum in {_MANIFEST}")
    return stored_scenario(text, str(file), manifest)


def is_there(folder: Path, manifest: Mapping[str, Any], tables: list[str]) -> bool:
    """Whether a folder already holds this run, with at least these tables.

    Args:
        folder: May not exist.
        manifest: With the key ``identity`` of the run; a simulation's with ``scenario``, ``seed`` and
            ``engine_behaviour``, too.
        tables: Names of the tables that it must have.

    Raises:
        TightlinkError: The folder holds something else, which must not be overwritten.
    """
    check_empty(folder, "run", _MANIFEST, ours=_is_leftover)
    with _advising(folder):
        held = _manifest(folder)
    if held is None:
        return False
    if held["identity"] != manifest["identity"]:
        raise TightlinkError(f"{folder}: {_difference(held, manifest)}; choose another folder")
    return all((folder / f"{name}.parquet").exists() for name in tables)


def _difference(held: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    if "part_until_s" in held:
        until_s = float(f"{held['part_until_s']:.4g}")
        return f"what is there is a part of a run only, until {units.format_time(until_s)}"
    sources = [made.get("source", SIMULATION) for made in (held, manifest)]
    if sources != [SIMULATION, SIMULATION]:
        return f"there is another {sources[0]}"
    if held["engine_behaviour"] != manifest["engine_behaviour"]:
        versions = f"{held['engine_behaviour']} instead of {manifest['engine_behaviour']}"
        return f"the run there was made by another engine (behaviour {versions})"
    same = {**held.get("scenario", {}), "seed": None} == {**manifest["scenario"], "seed": None}
    if same and held["seed"] != manifest["seed"]:
        return f"the run there has seed {held['seed']} instead of {manifest['seed']}"
    return "the run there is of another scenario"


def _manifest(folder: Path) -> dict[str, Any] | None:
    file = folder / _MANIFEST
    if not file.exists():
        return None
    manifest = read_json(file)
    if any(key not in manifest for key in _needed(manifest)):
        raise TightlinkError(f"{file}: not the manifest of a run")
    return manifest


def _has_all(manifest: Mapping[str, Any]) -> bool:
    """Whether the tables have all columns of today: what is not simulated may leave out what it does not know."""
    simulated = manifest.get("source", SIMULATION) == SIMULATION
    return simulated or str(manifest.get("version", tightlink.__version__)) != tightlink.__version__


def _needed(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    simulated = manifest.get("source", SIMULATION) == SIMULATION
    return (*_NEEDED, *_NEEDED_OF_SIMULATIONS) if simulated else _NEEDED


def _is_leftover(name: str) -> bool:
    """Whether a process that was killed left it."""
    return name.startswith(".") and name.endswith(_TEMPORARY)


def _publish(temporary: Path, target: Path) -> None:
    """Put the folder in its place at once; where one is there already, what it lacks, and the manifest last."""
    if target.exists():
        for file in sorted(temporary.iterdir(), key=lambda file: file.name == _MANIFEST):
            file.replace(target / file.name)
        return
    temporary.rename(target)


class _Saved:
    """Tables in a folder."""

    def __init__(self, folder: Path, *, has_all: bool) -> None:
        self._folder = folder.absolute()
        self._has_all = has_all
        # As it was opened: of a folder that is gone since, its tables are missing.
        self.names = [name for name in TABLES if (self._folder / f"{name}.parquet").exists()]

    def read(self, name: str) -> pl.DataFrame:
        file = self._folder / f"{name}.parquet"
        try:
            with _advising(self._folder):
                frame = read_parquet(file, needed=True)
                return completed(frame, name, file) if self._has_all else frame
        except FileNotFoundError:
            raise TightlinkError(f"{file}: is not there any more, since the run was opened") from None

    def write(self, folder: Path) -> None:
        for name in self.names:
            shutil.copyfile(self._folder / f"{name}.parquet", folder / f"{name}.parquet")

    @property
    def stored_bytes(self) -> int:
        return sum((self._folder / f"{name}.parquet").stat().st_size for name in self.names)
