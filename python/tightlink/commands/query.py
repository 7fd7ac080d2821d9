"""The command ``tightlink query``: the runs of a sweep or a study, queried."""

import re
from pathlib import Path

from tightlink.commands.options import JsonOf
from tightlink.commands.sweep import shown
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_table
from tightlink.errors import TightlinkError
from tightlink.experiment import open as open_folder
from tightlink.tables import TABLES


@with_table_options
def query(
    folder: Path,
    statement: str,
    *,
    json_: JsonOf = False,
) -> None:
    """Query the runs of a sweep or a study in SQL: tables runs, flows, links, nodes, series, and a study's own.

    Parameters
    ----------
    folder
        Folder of the sweep or the study.
    statement
        What DuckDB is asked, such as "select * from runs order by goodput_bps".
    json_
        Print the rows as JSON.
    """
    opened = open_folder(folder)
    # Views of what is not asked for would take a look at every run.
    words = set(re.findall(r"\w+", statement.lower()))
    asked = None if words.isdisjoint({*opened.own, *TABLES}) else [name for name in TABLES if name in words]
    connection = opened.connect(asked)
    import duckdb

    try:
        found = connection.execute(statement)
        header = [column[0] for column in found.description or []]
        rows = found.fetchall() if header else []
    except duckdb.Error as error:
        raise TightlinkError(f"{folder}: {str(error).strip()}") from None
    if json_:
        print_json([dict(zip(header, row, strict=True)) for row in rows], default=str)
    elif header:
        print_table(header, [[shown(value) for value in row] for row in rows])
