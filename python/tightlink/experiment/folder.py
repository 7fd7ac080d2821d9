"""The folder of a sweep or a study, as tables: lazy polars frames, SQL, single runs."""

from __future__ import annotations

import importlib
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink import arguments
from tightlink.calls import answered
from tightlink.checksums import (
    DamagedError,
    check,
    in_duckdb,
    parsed_json,
    scan_parquet,
    view_parquet,
    without_checksum,
)
from tightlink.errors import CallError, TightlinkError, closest, did_you_mean
from tightlink.experiment.campaign import failed
from tightlink.experiment.grid import grid
from tightlink.experiment.precision import missed
from tightlink.experiment.store import Store
from tightlink.experiment.stored import engine_of, marker_of, opened, table_of
from tightlink.experiment.summary import cell
from tightlink.experiment.summary import summary as over_replications
from tightlink.lazy import pl
from tightlink.numbers import several
from tightlink.run import Run, holds_run
from tightlink.scenario import Scenario, loads
from tightlink.tables import HOW_TO, TABLES, schema

if TYPE_CHECKING:
    import duckdb
    import xarray


_RUNS: Final = "runs"
RUNS: Final = f"{_RUNS}.parquet"
FAILURES: Final = "failures.json"
MARKER: Final = "sweep.json"
COMPACT: Final = "tables"
#: Columns that every table of runs has.
_NEEDED: Final = ("run", "status", "identity")


def holds_experiment(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder is that of a sweep or a study, finished or not."""
    return any((Path(folder) / name).exists() for name in (RUNS, MARKER))


#: What is asked of an experiment under other names.
_ELSEWHERE: Final = {
    "sql": 'connect().sql("from runs")',
    "query": 'connect().sql("from runs")',
    "plot": "report(path)",
    "df": "runs.collect()",
    "to_pandas": "runs.collect().to_pandas()",
    "results": "summary",
}


class Experiment:
    """The results of a sweep or a study in their folder: what `tightlink.sweep` returns.

    Nothing is read before it is asked for, and nothing is taken that is damaged.

    Args:
        folder: The folder of a finished sweep or study.
        store: The store of its runs, if it is open already.

    Example:
        >>> import tempfile
        >>> import tightlink as tl
        >>> base = tl.network("dsl").set("duration", "1 s")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     found = tl.sweep(base, {"link.access.queue": ["5 packets", "20 packets"]}, output=f"{folder}/queues")
        ...     found.flows.select("run", "label").collect().rows()
        ...     found.run("1/0").scenario.link["access"].queue
        ...     found.connect(["flows"]).sql("select avg(packets_sent) from flows").fetchall()
        [('0/0', 'download'), ('1/0', 'download')]
        '20 packets'
        [(662.5,)]
    """

    def __init__(self, folder: str | os.PathLike[str], store: Store | None = None) -> None:
        self.folder = arguments.path("folder", folder)
        # Of wherever Python works later.
        self._place = self.folder.absolute()
        marker = self._place / MARKER
        self.description: dict[str, Any] = marker_of(marker) if marker.exists() else {}
        """What the sweep was: its design, factors, notes; empty of a study."""
        self.store = store or Store(self._place / "runs")
        if not (self._place / RUNS).is_file():
            if self.description and not (self._place / RUNS).exists():
                there = f"{several(self.store.count(), 'run')} of it are kept"
                again = "the same command, or tl.sweep with this folder as output, continues it"
                outdated = f"; {outdated}" if (outdated := self.store.outdated()) else ""
                raise TightlinkError(f"{self.folder}: the sweep is not finished; {there}, and {again}{outdated}")
            ending = "; it holds a run, which tl.open_run opens" if holds_run(self.folder) else ""
            raise TightlinkError(
                f"{self.folder}: expected the folder of a finished sweep or study (it has {RUNS}){ending}"
            )
        self._checked: set[tuple[Path, int, int, int]] = set()

    # Hidden from type checkers, which would take any name for one that there is.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say what was probably meant by a name that there is not."""
            meant = None
            if not name.startswith("_"):
                attributes = [each for each in dir(type(self)) if not each.startswith("_")]
                meant = _ELSEWHERE.get(name) or closest(name, [*attributes, *TABLES])
                if meant in TABLES and meant not in attributes:
                    meant = f'table("{meant}")'
            ending = f"; did you mean .{meant}?" if meant else ""
            raise AttributeError(f"an experiment has no attribute {name!r}{ending}", name=name, obj=self)

        def __getitem__(self, name: object) -> Any:
            """Say how a table is asked for by whoever takes an experiment for a table of tables."""
            meant = f'; table("{name}") is one of its tables' if name in {*TABLES, _RUNS} else ""
            raise CallError(f"an experiment is not subscriptable{meant}")

    @property
    def runs(self) -> pl.LazyFrame:
        """A row for each run: what was varied, and what came out."""
        return self._scanned(self._place / RUNS, _NEEDED)

    def _scanned(self, file: Path, columns: Collection[str] = ()) -> pl.LazyFrame:
        """A Parquet file, compared with its checksum when it is asked for first, and when it is another one."""
        try:
            state = file.stat()
        except FileNotFoundError:
            self._check_there()
            raise DamagedError(file, "it is missing") from None
        key = (file, state.st_ino, state.st_size, state.st_mtime_ns)
        frame = scan_parquet(file, columns, checked=key in self._checked)
        self._checked.add(key)
        return frame

    def _check_there(self) -> None:
        """Refuse to read on in a folder that was moved: what is not there is no empty table."""
        if not self._place.is_dir():
            raise TightlinkError(f"{self.folder}: was moved or removed since it was opened; open it where it is now")

    @property
    def flows(self) -> pl.LazyFrame:
        """The flows of all runs; the first column says of which."""
        return self.table("flows")

    @property
    def links(self) -> pl.LazyFrame:
        """The links of all runs."""
        return self.table("links")

    @property
    def nodes(self) -> pl.LazyFrame:
        """The nodes of all runs."""
        return self.table("nodes")

    @property
    def series(self) -> pl.LazyFrame:
        """The series of all runs that have them; needs ``observe.interval``."""
        return self.table("series")

    @property
    def varied(self) -> list[str]:
        """The columns of ``runs`` that a sweep varied; none of a study."""
        columns = self.runs.collect_schema().names()
        return [key for factor in self.description.get("factors", ()) for key in factor if key in columns]

    @property
    def summary(self) -> pl.DataFrame:
        """A row for each combination of a sweep: means over its replications, and half their 95 % confidence intervals.

        Columns are ``cell``, what was varied, ``runs`` (how many are done), then each metric in its unit and half the
        width of its interval, such as ``goodput_bps`` and ``goodput_half_width_bps``: none where there is one run, or
        where replications are copies of one run.

        Raises:
            TightlinkError: This is a study, whose runs are no combinations.
        """
        self._check_sweep("combinations")
        return over_replications(self.runs.collect(), self.varied, self.description.get("copies", ()))

    @property
    def warnings(self) -> list[str]:
        """What must be read before the results are trusted: combinations that missed their precision, failed runs."""
        runs = self.runs.select("run", cell=cell()).collect()
        found = []
        if cells := self.description.get("not_precise"):
            total = runs["cell"].n_unique()
            precision, most = self.description["precision"], self.description.get("max_replications")
            found.append(missed(cells, total, precision, most))
        if failures := self.failures:
            # The table of a grid of measurements has none of them, that of a sweep all.
            total = len({*runs["run"], *failures})
            found.append(failed({name: entry["error"] for name, entry in failures.items()}, total))
        return found

    @answered()
    def report(self, path: str | os.PathLike[str], *, with_lab: bool = False) -> Path:
        """Write a sweep's report, one HTML file that opens offline, and return where it is.

        Args:
            path: The file, which is replaced if it is there.
            with_lab: Whether the report opens the scenario in the lab, with a slider for each key that was varied.

        Raises:
            TightlinkError: This is a study, which writes its report itself.
            OSError: The file cannot be written.
        """
        self._check_sweep("combinations")
        # Not at the top: reports stand on experiments.
        report: Any = importlib.import_module("tightlink.report.sweep")
        target = arguments.path("path", path)
        written: Path = report.write_sweep(self, target, name=target.stem, with_lab=with_lab)
        return written

    def _check_sweep(self, what: str) -> None:
        if not self.description:
            raise TightlinkError(f"{self.folder}: a study has no {what}; expected the folder of a sweep")

    @property
    def own(self) -> list[str]:
        """Tables that the study made of its runs, such as ``responses``; ``runs`` is the first."""
        self._check_there()
        found = sorted(file.stem for file in self._place.glob("*.parquet"))
        return sorted(found, key=lambda name: name != _RUNS)

    def _file(self, name: str) -> Path | None:
        """The file of a table that stands by itself: the study's own, or that of all runs below each other."""
        places = (self._place / f"{name}.parquet", self._place / COMPACT / f"{name}.parquet")
        return next((file for file in places if file.exists()), None)

    @answered()
    def table(self, name: str) -> pl.LazyFrame:
        """A table of all runs, below each other, with a first column ``run``; or one that the study made of them.

        Raises:
            TightlinkError: No table has this name, or no run has this table; the message says how to get it.
        """
        if name == _RUNS:
            return self.runs
        self._check_tables(name)
        own = self.own
        if file := self._file(name):
            return self._scanned(file) if name in own else _completed(self._scanned(file, ["run"]), name)
        done, files = self.runs.filter(pl.col("status") == "done"), self._files()
        holding = [file for file in files if name in check(file, [name], needed=True)]
        if holding:
            return named(done, table_of(holding, name))
        if files:
            raise TightlinkError(f"{self.folder}: no run has a table {name}: {HOW_TO.get(name, 'its source has none')}")
        return pl.LazyFrame(schema={"run": pl.String} | schema(name))

    @property
    def tables(self) -> list[str]:
        """The names of the tables that some run has."""
        # Of the runs of this table: a store may have others, of other levels or of another engine.
        held = {name for file in self._files() for name in check(file, (), needed=True)}
        return [name for name in TABLES if name in held]

    @property
    def engine_behaviour(self) -> int | None:
        """The behaviour of the engine that made the runs; nothing of measurements, or where no run is done."""
        return next((made for file in self._files() if (made := engine_of(file)) is not None), None)

    def _files(self) -> list[Path]:
        """The files of the runs that are done, as far as they are there."""
        identities = self.runs.filter(pl.col("status") == "done").select("identity").unique().collect()["identity"]
        return [file for identity in identities.sort() if (file := self.store.file(identity)).exists()]

    def _check_tables(self, *names: str) -> None:
        known = [*self.own, *TABLES]
        for name in names:
            if name not in known:
                meant = did_you_mean(str(name), known)
                raise TightlinkError(f'no table is called "{name}"; there are {", ".join(known)}{meant}')

    def to_xarray(self) -> xarray.Dataset:
        """The runs of a sweep as a grid: a dimension for each factor and for replications, a variable for each metric.

        Raises:
            TightlinkError: xarray is not installed, or this is a study, whose runs are no grid.
        """
        self._check_sweep("factors that span a grid")
        return grid(self.runs.filter(pl.col("status") == "done").collect(), self.description["factors"])

    @answered()
    def connect(self, tables: Collection[str] | None = None) -> duckdb.DuckDBPyConnection:
        """A DuckDB connection with a view for each table: those of `own`, and of all runs, such as ``flows``.

        Args:
            tables: Which of the runs' tables; without it all of them, for which every run's file is looked at.

        Raises:
            TightlinkError: No table has one of the names.
        """
        import duckdb

        wanted = TABLES if tables is None else arguments.several("tables", tables)
        self._check_tables(*wanted)
        connection = duckdb.connect()
        for name in dict.fromkeys([*self.own, *wanted]):
            if file := self._file(name):
                self.table(name)
                view_parquet(connection, file)
            else:
                connection.sql(self._select(name)).create_view(name)
        return connection

    def _select(self, name: str) -> str:
        """The table in the files of the runs, which are lists of rows."""
        types = {"text": "varchar", "integer": "bigint", "number": "double"}
        there = [file for file in self._files() if name in check(file, [name], needed=True)]
        if not there:
            columns = (f'null::{types[column.type]} as "{column.name}"' for column in TABLES[name])
            return f"select null::varchar as run, {', '.join(columns)} where false"
        files = ", ".join("'" + in_duckdb(path).replace("'", "''") + "'" for path in there)
        return (
            f'select run, unnest("{name}", recursive := true) '  # noqa: S608
            f"from read_parquet([{files}], union_by_name = true) join runs using (identity)"
        )

    @property
    def failures(self) -> dict[str, dict[str, Any]]:
        """The runs that failed, by name: their ``error`` and their ``scenario`` as TOML."""
        file = self._place / FAILURES
        if not file.exists():
            self._check_there()
            return {}
        listed = parsed_json(file)
        if not isinstance(listed, list):
            raise DamagedError(file, "it is not a list of failures")
        try:
            return {entry["run"]: without_checksum(entry) for entry in listed}
        except (ValueError, TypeError, KeyError) as error:
            raise DamagedError(file, str(error)) from None

    @answered()
    def run(self, name: str) -> Run:
        """A run by its name.

        Raises:
            TightlinkError: There is none, or it failed.
        """
        identity = self._identity(name)
        failure = self._failure(name, identity)
        if failure is not None:
            raise TightlinkError(f"{self.folder}: run {name} failed: {failure['error']}")
        run = opened(self.store.file(identity))
        if run is None:
            raise TightlinkError(f"{self.store.file(identity)}: the file of run {name} is missing")
        return run

    @answered()
    def scenario(self, name: str) -> Scenario:
        """The scenario of a run by its name, whether it failed or not."""
        failure = self._failure(name, self._identity(name))
        return self.run(name).scenario if failure is None else loads(failure["scenario"], file=f"run {name}")

    def _failure(self, name: str, identity: str) -> dict[str, Any] | None:
        """Why a run failed, if it did."""
        found = self.failures.get(name)
        if found is None and not identity:
            raise DamagedError(self.folder / FAILURES, f"it does not say why run {name} failed")
        return found

    def _identity(self, name: str) -> str:
        name = arguments.text("run", name, 'the name of a run, such as "0/0"')
        found = self.runs.filter(pl.col("run") == name).select("identity").collect()
        if found.height == 0:
            names = self.runs.select("run").collect()["run"].to_list()
            meant = closest(name, names)
            hint = f'; did you mean "{meant}"?' if meant else f", among {len(names)} from {names[0]} to {names[-1]}"
            raise TightlinkError(f'{self.folder}: no run is called "{name}"{hint}')
        identity: str = found.item()
        return identity

    def __repr__(self) -> str:
        status = self.runs.select("status").collect()["status"]
        failed = (status != "done").sum()
        runs = several(status.len(), "run")
        of = f" over {', '.join(self.varied)}" if self.varied else ""
        copies = ", in which nothing is random: replications are copies" if self.description.get("copies") else ""
        return f"<Experiment in {self.folder}: {runs}{of}{f', {failed} failed' if failed else ''}{copies}>"


def _completed(rows: pl.LazyFrame, table: str) -> pl.LazyFrame:
    """The table of all runs with the columns that an older version wrote it without, which have no values."""
    there = set(rows.collect_schema().names())
    missing = [pl.lit(None, kind).alias(name) for name, kind in schema(table).items() if name not in there]
    return rows.with_columns(missing).select("run", *schema(table), pl.exclude("run", *schema(table)))


def named(runs: pl.LazyFrame, rows: pl.LazyFrame) -> pl.LazyFrame:
    """Rows with identities, with the names that ``runs`` gives them instead, in its order."""
    names = runs.select("run", "identity").with_row_index("_place")
    joined = names.join(rows.with_row_index("_row"), on="identity", how="inner").sort("_place", "_row")
    return joined.select("run", pl.exclude("run", "identity", "_place", "_row"))
