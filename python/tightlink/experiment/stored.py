"""A run as one Parquet file of one row, so that many runs are one table for polars and DuckDB.

Columns: ``format``, ``identity``, ``manifest`` (JSON, without ``timing``, so that equal runs are equal
files), ``scenario`` (TOML); then each table of the run as a list of its rows.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tightlink.checksums import DamagedError, as_named, check, parsed_json, sealed, without_checksum, write_table
from tightlink.errors import TightlinkError
from tightlink.lazy import _core, pl
from tightlink.run import Run, completed, stored_scenario
from tightlink.scenario import Scenario
from tightlink.tables import TABLES, schema

#: Raised with every change that older versions cannot read.
FORMAT: Final = 2
_HEAD: Final = ("format", "identity", "manifest", "scenario")


def packed(outcome: _core.Outcome, manifest: Mapping[str, Any], scenario: str) -> bytes:
    """The content of the file of a run, with its scenario as TOML, and its manifest without ``timing``."""
    text = json.dumps({key: value for key, value in manifest.items() if key != "timing"}, ensure_ascii=False)
    return sealed(outcome.row(dict(zip(_HEAD, (str(FORMAT), manifest["identity"], text, scenario), strict=True))))


def opened(file: Path, scenario: Scenario | None = None, *, read: Collection[str] = ()) -> Run | None:
    """The run in a file that was written from `packed`; nothing where there is none.

    Its scenario is read from the file where it is not known. Tables to be ``read``, as far as they are there, are
    compared with their checksums at once; others are when they are read.

    Raises:
        DamagedError: Something else is there.
        TightlinkError: A newer version wrote the file.
    """
    if not file.exists():
        return None
    tables = check(file, read, needed=True)
    row = pl.read_parquet(as_named(file), columns=list(_HEAD), glob=False).row(0, named=True)
    check_format(int(row["format"]), str(file))
    if not row["identity"].startswith(file.stem):
        raise DamagedError(file, "it holds the run of another name")
    manifest = json.loads(row["manifest"])
    scenario = scenario or stored_scenario(row["scenario"], str(file), manifest)
    return run_of(file, scenario, manifest, tables, checked=read)


def run_of(
    file: Path, scenario: Scenario, manifest: Mapping[str, Any], tables: Collection[str], *, checked: Collection[str]
) -> Run:
    """The run in a file of which these are the manifest, the tables, and those that are known to be undamaged."""
    return Run(scenario, manifest, _Stored(file, [name for name in TABLES if name in tables], checked))


def engine_of(file: Path) -> int | None:
    """The behaviour of the engine that made the run in a file; nothing where that cannot be read."""
    (made,) = engines_of([file])
    return made


def engines_of(files: Sequence[Path]) -> list[int | None]:
    """The same of many files, read together."""
    behaviour = pl.col("manifest").str.json_path_match("$.engine_behaviour").cast(pl.Int64, strict=False)
    places, types = list(map(as_named, files)), {"manifest": pl.String}
    found: list[int | None] = []
    with contextlib.suppress(OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        rows = pl.scan_parquet(places, schema=types, extra_columns="ignore", glob=False)
        found = rows.select(behaviour).collect()["manifest"].to_list()
    if len(found) == len(files):
        return found
    # One of them is damaged.
    return [None] if len(files) == 1 else [engine_of(file) for file in files]


def check_format(found: int, place: str) -> None:
    """Refuse what only a newer version understands.

    >>> check_format(FORMAT + 1, "results/runs/0.parquet")
    Traceback (most recent call last):
    tightlink.errors.TightlinkError: results/runs/0.parquet: written by a newer version of Tightlink \
(format 3, this one reads 2): update Tightlink, or choose another folder
    """
    if found > FORMAT:
        raise TightlinkError(
            f"{place}: written by a newer version of Tightlink (format {found}, this one reads {FORMAT}): "
            "update Tightlink, or choose another folder"
        )


def marker_of(file: Path, *, needed: bool = True) -> dict[str, Any]:
    """The content of the JSON by which the folder of a sweep, of measurements or of a study is known.

    Where ``needed``, one without a checksum, as older versions wrote it, is damaged.

    Raises:
        DamagedError: It is damaged.
        TightlinkError: A newer version wrote it.
    """
    found = parsed_json(file)
    if isinstance(found, dict) and isinstance(found.get("format"), int):
        check_format(found["format"], str(file.parent))
    try:
        held = without_checksum(found, needed=needed)
    except ValueError as error:
        raise DamagedError(file, str(error)) from None
    if "study" not in held and ("format" not in held or not held.keys() & {"identity", "source"}):
        raise DamagedError(file, "it does not say what the folder holds")
    return held


def table_of(files: Sequence[Path], name: str) -> pl.LazyFrame:
    """A table of many runs below each other, with a first column ``identity``; empty where no run has it."""
    return _unnested(_scanned(files, [name]), name)


def tables_of(files: Sequence[Path], names: Sequence[str]) -> dict[str, pl.DataFrame]:
    """Several of them, as each file takes its time to open."""
    rows = _scanned(files, names).collect()
    return {name: _unnested(rows.lazy(), name).collect() for name in names}


def _scanned(files: Sequence[Path], names: Sequence[str]) -> pl.LazyFrame:
    types: Any = {"identity": pl.String} | {name: pl.List(pl.Struct(schema(name))) for name in names}
    places = list(map(as_named, files))
    # Tables of other versions have other columns, which are fields here.
    other = pl.ScanCastOptions(missing_struct_fields="insert", extra_struct_fields="ignore")
    return pl.scan_parquet(
        places, missing_columns="insert", extra_columns="ignore", schema=types, cast_options=other, glob=False
    )


def _unnested(rows: pl.LazyFrame, name: str) -> pl.LazyFrame:
    nested = rows.select("identity", name).filter(pl.col(name).list.len() > 0).explode(name)
    return nested.select("identity", pl.col(name).struct.unnest())


class _Stored:
    """Tables in such a file."""

    def __init__(self, file: Path, names: list[str], checked: Collection[str]) -> None:
        self._file = file
        self.names = names
        self._checked = set(checked)

    def read(self, name: str) -> pl.DataFrame:
        if not self._file.exists():
            raise TightlinkError(f"{self._file}: is not there any more, since the run was opened")
        if name not in self._checked:
            check(self._file, [name], needed=True)
            self._checked.add(name)
        rows: pl.Series = pl.read_parquet(as_named(self._file), columns=[name], glob=False)[name][0]
        return completed(rows.struct.unnest(), name, self._file)

    @property
    def stored_bytes(self) -> int:
        return self._file.stat().st_size

    def write(self, folder: Path) -> None:
        for name in self.names:
            frame = self.read(name)
            columns = {
                series.name: series.to_list() if series.dtype == pl.String else series.to_numpy() for series in frame
            }
            write_table(folder / f"{name}.parquet", columns)
