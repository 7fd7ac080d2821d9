"""The tables of one execution of a scenario, whatever its source, in memory or in a folder.

A folder holds ``manifest.json``, ``scenario.toml`` where a scenario was run, and a Parquet file for each table. It
appears complete or not at all, and never takes the place of another run.
"""

from __future__ import annotations

import html
import importlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, overload

from tightlink import units
from tightlink.checksums import DamagedError, of_text, read_json, read_parquet, seal, write_json, write_table
from tightlink.errors import TightlinkError
from tightlink.files import check_empty, of_file
from tightlink.lazy import _core, pl
from tightlink.scenario import Scenario, loads
from tightlink.tables import CAPTURED, HOW_TO, TABLES

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from tightlink.diagnosis import Why

_MANIFEST: Final = "manifest.json"
#: What the folder of a sweep or a study has instead.
_TABLE_OF_RUNS: Final = "runs.parquet"
_SCENARIO: Final = "scenario.toml"
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


class Source(Protocol):
    """Where the tables of a run are."""

    @property
    def names(self) -> list[str]:
        """The tables that there are."""

    def read(self, name: str) -> pl.DataFrame:
        """Read one table by its name."""

    def write(self, folder: Path) -> None:
        """Put all of them into a folder, a Parquet file each."""

    @property
    def stored_bytes(self) -> int:
        """Their size on disk; 0 in memory."""


class Run:
    """One execution of a scenario: its tables as polars frames, its manifest, its scenario.

    Made by `tightlink.simulate`, `tightlink.capture` and `tightlink.open_run`. What was captured or traced somewhere
    has no scenario. Columns of tables end in their unit, such as ``goodput_bps`` and ``rtt_mean_s``.

    Example:
        >>> import tightlink as tl
        >>> run = tl.simulate(tl.network("dsl").set("duration", "2 s"))
        >>> run
        <Run (simulation, 2 s, seed 1): flows, links, nodes, series>
        >>> run.table("flows").equals(run.flows)
        True
        >>> run.plot("queue_packets", "access").get_ylabel()
        'queue (packets)'
    """

    def __init__(self, scenario: Scenario | None, manifest: Mapping[str, Any], source: Source) -> None:
        self._scenario = scenario
        self.manifest = dict(manifest)
        """Source, scenario as understood, seed, version, engine_behaviour, digest, counts, warnings, timing."""
        self._source = source
        self._frames: dict[str, pl.DataFrame] = {}

    @property
    def scenario(self) -> Scenario:
        """The scenario as it was given.

        Raises:
            TightlinkError: Nobody gave one: the run was captured.
        """
        if self._scenario is None:
            raise TightlinkError(f"this run is a {self.source}, not of a scenario")
        return self._scenario

    @property
    def source(self) -> str:
        """Where it comes from: simulation, measurement, capture, or a trace of ns-2."""
        return str(self.manifest.get("source", SIMULATION))

    @property
    def stored_bytes(self) -> int:
        """Size of its tables on disk; 0 if it was not saved."""
        return self._source.stored_bytes

    @property
    def tables(self) -> list[str]:
        """The names of the tables that this run has."""
        return self._source.names

    def table(self, name: str) -> pl.DataFrame:
        """A table by its name.

        Raises:
            TightlinkError: The run does not have it; the message says how to get it.
        """
        if name not in self._frames:
            if name not in self.tables:
                if name not in TABLES:
                    raise TightlinkError(f'no table is called "{name}"; there are {", ".join(self.tables)}')
                raise TightlinkError(f"this run has no table {name}: {self._how_to_get(name)}")
            self._frames[name] = self._source.read(name)
        return self._frames[name]

    def __reduce__(self) -> tuple[Any, ...]:
        # For other processes: the engine's memory stays where it is, and folders are found from anywhere.
        source = self._source
        if isinstance(source, Simulated):
            source = Framed({name: self.table(name) for name in self.tables})
        return Run, (self._scenario, self.manifest, source)

    def unread(self) -> Run:
        """The same run with none of its tables in memory: what is read of it goes with it."""
        return Run(self._scenario, self.manifest, self._source)

    def _how_to_get(self, table: str) -> str:
        """What to do for a table that is not there."""
        if self.source in {CAPTURE, TRACE} and table not in CAPTURED[self.source]:
            return f"a {self.source} does not tell it"
        return HOW_TO.get(table, "its source does not give it")

    @property
    def flows(self) -> pl.DataFrame:
        """Totals of each flow."""
        return self.table("flows")

    @property
    def links(self) -> pl.DataFrame:
        """Totals of each direction of each link."""
        return self.table("links")

    @property
    def nodes(self) -> pl.DataFrame:
        """Totals of each node."""
        return self.table("nodes")

    @property
    def series(self) -> pl.DataFrame:
        """Samples at an interval, in long form; needs ``observe.interval``."""
        return self.table("series")

    @property
    def users(self) -> pl.DataFrame:
        """What all users did, by intervals; for runs with users."""
        return self.table("users")

    @property
    def user_paths(self) -> pl.DataFrame:
        """The same for each pair of classes of routers, in short."""
        return self.table("user_paths")

    @property
    def transfers(self) -> pl.DataFrame:
        """Users' transfers, by period, file, path, interface and congestion control."""
        return self.table("transfers")

    @property
    def completions(self) -> pl.DataFrame:
        """Open-loop transfers, each with its completion time and slowdown; for runs with traffic of kind transfers."""
        return self.table("completions")

    @property
    def completion_times(self) -> pl.DataFrame:
        """Their mean and quantiles by traffic group and size."""
        return self.table("completion_times")

    @property
    def long_lived(self) -> pl.DataFrame:
        """Transfers without end, by intervals."""
        return self.table("long_lived")

    @property
    def scatter(self) -> pl.DataFrame:
        """Scattered datagrams, by intervals."""
        return self.table("scatter")

    @property
    def packets(self) -> pl.DataFrame:
        """What happened to every packet; needs ``trace=True``."""
        return self.table("packets")

    @property
    def warnings(self) -> list[str]:
        """What must be read before the result is trusted."""
        return list(self.manifest.get("warnings", []))

    def why(self, flow: str | None = None) -> Why:
        """Why the flows are as fast as they are, what that does to delay, and what would help.

        Args:
            flow: Name of a flow, or of a group such as "upload" for upload[0], upload[1], …; without it all flows.

        Raises:
            TightlinkError: There is no such flow.

        Example:
            >>> import tightlink as tl
            >>> run = tl.simulate(tl.network("dsl").set("duration", "2 s"))
            >>> run.why("download").diagnoses[0].causes[0].name
            'saturated_link'
        """
        from tightlink.diagnosis import why

        return why(self, flow)

    @overload
    def plot(self) -> Figure: ...
    @overload
    def plot(self, metric: str, entity: str | None = None, *, ax: Axes | None = None) -> Axes: ...
    def plot(self, metric: str | None = None, entity: str | None = None, *, ax: Axes | None = None) -> Figure | Axes:
        """Draw the run: all of it in one figure, or one of its series.

        Args:
            metric: A series, such as "queue_packets" (``tightlink list metrics``); without it the figure that one
                wants first: rates, congestion windows and queues over time, or what limited each flow.
            entity: Which link, node or flow has the series; without it all that have it.
            ax: Where the series is drawn; without it in a new figure.

        Returns:
            The figure, or with ``metric`` its axes.

        Raises:
            TightlinkError: The run has no such series.
        """
        plots = _above("plots")
        if metric is None:
            if entity is not None or ax is not None:
                raise TightlinkError("plot: entity and ax are of one series; expected its metric, too")
            return plots.overview(self)  # type: ignore[no-any-return]
        return plots.series(self, metric, entity, ax=ax)  # type: ignore[no-any-return]

    def report(self, path: str | os.PathLike[str], *, sequence: str | None = None) -> Path:
        """Write the run's report, one HTML file that opens offline, and return where it is.

        Args:
            path: The file, which is replaced if it is there.
            sequence: Name of a flow whose sequence numbers are drawn over time; the run needs its packets.

        Raises:
            TightlinkError: There is no such flow, or it has no packets.
            OSError: The file cannot be written.
        """
        target = Path(path)
        return _above("report").write_run(self, target, name=target.stem, sequence=sequence)  # type: ignore[no-any-return]

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write the run into a folder, which appears complete or not at all.

        Args:
            folder: A new or empty folder, or one that holds this same run already.

        Raises:
            TightlinkError: The folder holds something else; nothing is written.
            OSError: It cannot be written.
        """
        target = Path(folder)
        if is_there(target, self.manifest, self.tables):
            return target
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent))
        except OSError as error:
            raise of_file(error, target) from None
        try:
            self._source.write(temporary)
            manifest = self.manifest
            if self._scenario is not None:
                text = self._scenario.to_toml()
                (temporary / _SCENARIO).write_text(text, encoding="utf-8")
                manifest = manifest | {_OF_SCENARIO: of_text(text)}
            write_json(temporary / _MANIFEST, manifest)
            _publish(temporary, target)
        except OSError as error:
            if is_there(target, self.manifest, self.tables):
                # Another process has saved the same run meanwhile.
                return target
            raise of_file(error, target / Path(error.filename or "").name) from None
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return target

    def __repr__(self) -> str:
        return f"<Run ({self._facts()}): {', '.join(self.tables)}>"

    def _repr_html_(self) -> str:
        """For notebooks: what ran, and its flows."""
        warned = "".join(f"<p><b>Warning:</b> {html.escape(text)}</p>" for text in self.warnings)
        shown = "flows" if "flows" in self.tables else "links"
        return f"<p><b>Run</b>: {html.escape(self._facts())}</p>{warned}{self.table(shown)._repr_html_()}"

    def _facts(self) -> str:
        lasted = [] if self._scenario is None else [self._scenario.duration]
        seed = [f"seed {self.manifest['seed']}"] if "seed" in self.manifest else []
        return ", ".join([self.source, *lasted, *seed])


def holds_run(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is that of a run, complete or not."""
    return (Path(folder) / _MANIFEST).exists()


def open_run(folder: str | os.PathLike[str]) -> Run:
    """Open a run that was saved; its tables are read when they are asked for.

    Args:
        folder: Where `Run.save` or ``tightlink run -o`` wrote it.

    Raises:
        TightlinkError: The folder holds no run, or a damaged one.

    Example:
        >>> import tempfile
        >>> import tightlink as tl
        >>> run = tl.simulate(tl.network("dsl").set("duration", "1 s"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = tl.open_run(run.save(f"{folder}/run"))
        ...     again.tables, again.flows.equals(run.flows)
        (['flows', 'links', 'nodes', 'series'], True)
    """
    path = Path(folder)
    with _advising(path):
        manifest = _manifest(path)
        if manifest is None:
            several = (path / _TABLE_OF_RUNS).exists()
            ending = ", but that of many: tightlink.experiment.open opens it" if several else ""
            raise TightlinkError(f"{path}: no run is there (no {_MANIFEST}){ending}")
        checksum = manifest.pop(_OF_SCENARIO, None)
        return Run(None if checksum is None else _scenario(path / _SCENARIO, checksum), manifest, _Saved(path))


@contextmanager
def _advising(folder: Path) -> Iterator[None]:
    """Within it, what to do with a damaged file is said: a run is never written in the place of another one."""
    try:
        yield
    except DamagedError as error:
        advice = f"remove the folder {folder} and make the run again"
        raise DamagedError(error.path, error.reason, advice) from None


def _scenario(file: Path, checksum: str) -> Scenario:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DamagedError(file, "it is missing") from None
    except (IsADirectoryError, ValueError):
        raise DamagedError(file, "it is no text") from None
    if of_text(text) != checksum:
        raise DamagedError(file, f"its content does not match its checksum in {_MANIFEST}")
    return loads(text, file=str(file))


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
    check_empty(folder, "run", _MANIFEST)
    with _advising(folder):
        held = _manifest(folder)
    if held is None:
        return False
    if held["identity"] != manifest["identity"]:
        raise TightlinkError(f"{folder}: {_difference(held, manifest)}; choose another folder")
    return all((folder / f"{name}.parquet").exists() for name in tables)


def _difference(held: Mapping[str, Any], manifest: Mapping[str, Any]) -> str:
    if "part_until_s" in held:
        return f"what is there is a part of a run only, until {units.format_time(held['part_until_s'])}"
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


def _needed(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    simulated = manifest.get("source", SIMULATION) == SIMULATION
    return (*_NEEDED, *_NEEDED_OF_SIMULATIONS) if simulated else _NEEDED


def _publish(temporary: Path, target: Path) -> None:
    """Put the folder in its place at once; where the run is there already, add what it lacks."""
    if target.exists() and any(target.iterdir()):
        for file in sorted(temporary.iterdir(), key=lambda file: file.name == _MANIFEST):
            file.replace(target / file.name)
        return
    temporary.chmod(0o777 & ~_umask())
    if target.exists():
        target.rmdir()
    temporary.rename(target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _above(name: str) -> Any:
    """A module of what stands on runs, by its name: a run knows nothing of it until it is asked for."""
    return importlib.import_module(f"tightlink.{name}")


class _Saved:
    """Tables in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()

    @property
    def names(self) -> list[str]:
        return [name for name in TABLES if (self._folder / f"{name}.parquet").exists()]

    def read(self, name: str) -> pl.DataFrame:
        with _advising(self._folder):
            return read_parquet(self._folder / f"{name}.parquet", needed=True)

    def write(self, folder: Path) -> None:
        for name in self.names:
            shutil.copyfile(self._folder / f"{name}.parquet", folder / f"{name}.parquet")

    @property
    def stored_bytes(self) -> int:
        return sum((self._folder / f"{name}.parquet").stat().st_size for name in self.names)


class _InMemory:
    stored_bytes: int = 0
    """Nothing is on disk."""


class Framed(_InMemory):
    """Tables as frames, of runs that were measured or captured.

    Args:
        frames: By the tables' names; columns in the order of `TABLES`. Those of which the source knows nothing may be
            left out; there may be no others.
    """

    def __init__(self, frames: Mapping[str, pl.DataFrame]) -> None:
        self._frames = {name: frames[name] for name in TABLES if name in frames}

    @property
    def names(self) -> list[str]:
        """The tables that there are, in the usual order."""
        return list(self._frames)

    def read(self, name: str) -> pl.DataFrame:
        """Read one table by its name."""
        return self._frames[name]

    def write(self, folder: Path) -> None:
        """Put all of them into a folder, a Parquet file each."""
        for name, frame in self._frames.items():
            write_table(folder / f"{name}.parquet", frame)


class Simulated(_InMemory):
    """Tables in the engine's memory."""

    def __init__(self, outcome: _core.Outcome) -> None:
        self._outcome = outcome

    @property
    def names(self) -> list[str]:
        """The tables that there are, in the usual order."""
        there = self._outcome.tables
        return [name for name in TABLES if name in there]

    def read(self, name: str) -> pl.DataFrame:
        """One of them, copied into a frame."""
        columns = self._outcome.table(name).items()
        data = {key: _words(*values) if isinstance(values, tuple) else values for key, values in columns}
        # A table without rows does not know what its columns would hold.
        texts = {column.name: pl.String for column in TABLES[name] if column.type == "text"}
        return pl.DataFrame(data, schema_overrides=texts, nan_to_null=True)

    def write(self, folder: Path) -> None:
        """Put all of them into a folder, a Parquet file each."""
        self._outcome.write(str(folder))
        for name in self.names:
            seal(folder / f"{name}.parquet")


def _words(codes: NDArray[np.uint32], words: list[str]) -> pl.Series:
    """A column of few words that repeat."""
    return pl.Series(words, dtype=pl.String).gather(pl.Series(codes))
