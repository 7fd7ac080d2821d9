"""Where the tables of a run are: as frames, in the engine's memory."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from tightlink.checksums import seal, write_table
from tightlink.lazy import _core, pl
from tightlink.tables import TABLES, schema


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
        return framed(name, self._outcome.table(name))

    def write(self, folder: Path) -> None:
        """Put all of them into a folder, a Parquet file each."""
        self._outcome.write(str(folder))
        for name in self.names:
            seal(folder / f"{name}.parquet")


def framed(name: str, columns: Mapping[str, Any]) -> pl.DataFrame:
    """A table as the engine or a capture gives it, with all its columns; those of which it knows nothing are null.

    Args:
        name: Of the table.
        columns: Arrays, in which NaN stands for what is not known, or codes of words and the words.
    """
    # Column by column: a query for as many of them takes polars as long as a small run.
    known = {key: _series(key, values) for key, values in columns.items()}
    rows = len(next(iter(known.values()), ()))
    return pl.DataFrame([
        _of_type(known[column], type_) if column in known else pl.Series(column, [None] * rows, dtype=type_)
        for column, type_ in schema(name).items()
    ])  # fmt: skip


def _of_type(series: pl.Series, type_: Any) -> pl.Series:
    return series if series.dtype == type_ else series.cast(type_)


def _series(name: str, values: Any) -> pl.Series:
    if isinstance(values, tuple):
        codes, words = values
        return pl.Series(name, words, dtype=pl.String)[pl.Series(codes)]
    return pl.Series(name, values, nan_to_null=True, dtype=pl.String if isinstance(values, list) else None)
