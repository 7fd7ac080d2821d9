"""The command ``tightlink query``: the tables of a run, or those of all runs of a sweep or a study, queried."""

import itertools
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink.checksums import view_parquet
from tightlink.commands.options import JsonOf
from tightlink.commands.sweep import shown
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_table
from tightlink.diagnosis.words import listed
from tightlink.errors import TightlinkError, show
from tightlink.experiment import open as open_folder
from tightlink.experiment.folder import RUNS, holds_experiment
from tightlink.files import check_decoded, folder_of
from tightlink.json_values import plain
from tightlink.run import Run, holds_run, open_run
from tightlink.tables import TABLES

if TYPE_CHECKING:
    import duckdb
    from duckdb import DuckDBPyConnection

#: What DuckDB says of columns whose names are words of SQL, and where the comma behind one is what it does not expect.
_WORD_OF_SQL: Final = re.compile(r'near "(from|to)"', re.IGNORECASE)
_LISTED: Final = re.compile(r"\bfrom\s*,", re.IGNORECASE)


@with_table_options
def query(folder: Path, statement: str, *, json_: JsonOf = False) -> None:
    """Query a run, a sweep or a study in SQL: tables flows, links, nodes, series; runs, and what a study has made.

    Args:
        folder: Folder of the run, the sweep or the study.
        statement: What DuckDB is asked, such as "select * from runs order by goodput_bps".
        json_: Print the rows as JSON.
    """
    import duckdb

    check_decoded(folder)
    words = set(re.findall(r"\w+", statement.lower()))
    run = open_run(folder) if holds_run(folder) else None
    connection = _of_runs(folder, words) if run is None else _of_run(folder, run, words)
    try:
        found = connection.execute(statement)
        if found is None:
            raise TightlinkError(f'{folder}: {show(statement)}: expected a statement, such as "from flows"')
        header = _told_apart([column[0] for column in found.description or []])
        rows = plain(found.fetchall()) if header else []
    except duckdb.Error as error:
        if run is not None and isinstance(error, duckdb.CatalogException):
            _check_there(run, words)
        raise TightlinkError(f"{folder}: {_said(connection, error, statement)}") from None
    if json_:
        print_json([dict(zip(header, row, strict=True)) for row in rows], columns=header, default=str)
    elif header:
        print_table(header, [list(map(_as_it_is, row)) for row in rows], as_is=True)


def _told_apart(names: Sequence[str]) -> list[str]:
    """Names of columns, with numbers behind those that are there already, as DuckDB's own tables have them.

    >>> _told_apart(["from", "to", "from", "from_1"])
    ['from', 'to', 'from_1', 'from_1_1']
    """
    found: list[str] = []
    for name in names:
        further = (f"{name}_{number}" for number in itertools.count(1))
        found.append(next(each for each in itertools.chain([name], further) if each not in found))
    return found


def _as_it_is(value: object) -> str:
    """A value with all of its digits: what is asked for in SQL is calculated with."""
    return repr(value).removesuffix(".0") if isinstance(value, float) else shown(value)


def _of_runs(folder: Path, words: Collection[str]) -> "DuckDBPyConnection":
    """The tables of all runs. Views of those that are not asked for would take a look at every run."""
    if not holds_experiment(folder):
        what = "" if folder.is_dir() else "it is a file; " if folder.exists() else "there is no such folder; "
        raise TightlinkError(
            f"{folder}: {what}expected the folder of a run (it has manifest.json), or of a finished sweep or "
            f"study (it has {RUNS}){folder_of(folder)}"
        )
    opened = open_folder(folder)
    asked = [name for name in TABLES if name in words]
    return opened.connect(asked if asked or not set(opened.own).isdisjoint(words) else None)


def _of_run(folder: Path, run: Run, words: Collection[str]) -> "DuckDBPyConnection":
    """The tables of one run; of those that are asked for, after a look at their checksums."""
    import duckdb

    connection = duckdb.connect()
    for name in run.tables:
        if name in words:
            # DuckDB reads it again, in parts: it need not be in memory meanwhile.
            run.unread().table(name)
        view_parquet(connection, folder / f"{name}.parquet")
    return connection


def _said(connection: "DuckDBPyConnection", error: "duckdb.Error", statement: str) -> str:
    """What DuckDB says; of a table that does not exist, with those that do, where it proposes none of them."""
    said = str(error).strip()
    first = said.partition("\n")[0]
    missing = re.search(r'Referenced table "([\w.]+)" not found', first)
    if missing and (dotted := re.search(rf"\b{re.escape(missing[1])}\.[.\w]+", statement)):
        return f'{first.rstrip("!")}; a column with dots in its name stands in double quotes: "{dotted[0]}"'
    if "Parser Error" in first and (_WORD_OF_SQL.search(first) or ('near ","' in first and _LISTED.search(statement))):
        return f'{first}; from and to are words of SQL: columns of these names stand in double quotes: "from"'
    if "Table with name" not in first or "does not exist" not in first:
        return said
    views = connection.execute("select view_name from duckdb_views() where not internal").fetchall()
    tables = sorted(name for (name,) in views)
    return said if any(f'"{name}"' in said for name in tables) else f"{first} There are {listed(tables)}."


def _check_there(run: Run, words: Collection[str]) -> None:
    """Of a table that a run can have and this one has not, how to get it is said."""
    for name in TABLES:
        if name in words and name not in run.tables:
            run.table(name)
