"""Tables of runs with factors and responses: what every analysis of many responses takes.

A row is a run. Its columns are factors, what was set; responses, the numbers that came out; and perhaps what tells
runs apart (``run``, ``replication``, ``seed``, ``status``, ``identity``).

Example:
    >>> frame = pl.DataFrame({"queue": ["5 packets", "20 packets"] * 2, "seed": [1, 1, 2, 2],
    ...                       "loss": [0.2, 0.0, 0.3, 0.1], "rtt_s": [0.02, 0.05, 0.03, 0.06]})
    >>> table = designed(frame)
    >>> table.factors, table.responses
    (('queue',), ('loss', 'rtt_s'))
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tightlink import arguments
from tightlink.analysis import measurements
from tightlink.analysis.computable import unusable
from tightlink.analysis.measurements import LINE, MeasurementError
from tightlink.errors import did_you_mean, one_of, show
from tightlink.experiment import open as open_folder
from tightlink.experiment.folder import MARKER
from tightlink.experiment.summary import without_censored, without_copies
from tightlink.lazy import Array, NDArray, np, pl
from tightlink.tables import as_now

#: Columns that say which run it is: neither factors nor responses.
NAMES: Final = ("run", "replication", "seed", "status", "identity", LINE)
_DONE: Final = "done"
_LEVELS: Final = 2
#: Means of the same numbers may differ by so much, relatively.
_ROUNDING: Final = 1e-12
_BOOLEANS: Final = {"true": True, "false": False}


@dataclass(frozen=True)
class Designed:
    """Runs, and which of their columns are factors and which responses."""

    runs: pl.DataFrame
    factors: tuple[str, ...]
    responses: tuple[str, ...]


def read(
    path: str | os.PathLike[str], *, factors: Sequence[str] | None = None, responses: Sequence[str] | None = None
) -> Designed:
    r"""Read a table of runs: a CSV file, a Parquet file, or the folder of a study or sweep.

    In CSV files a column of numbers is one of numbers, one of ``true`` and ``false`` one of booleans, and an empty
    cell a missing value; columns that `measurements` knows are converted to SI.

    Args:
        path: The file or the folder.
        factors: Which columns are factors; without them, what the sweep varied, otherwise columns of two values
            of which none is missing. Of replications of a sweep that are copies of one run, one is read.
        responses: Which columns are responses; without them, all other columns of numbers.

    Returns:
        The ``runs``, and which of their columns are ``factors`` and which ``responses``.

    Raises:
        MeasurementError: The file cannot be read, or a column that was asked for is not there.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder) / "runs.csv"
        ...     _ = file.write_text("queue,loss\n5 packets,0.2\n20 packets,0.1\n20 packets,0.15\n")
        ...     table = tl.analyze.read_runs(file)
        >>> table.factors, table.responses
        (('queue',), ('loss',))
    """
    arguments.path("path", path)
    frame = measurements.read(path)
    if (Path(path) / MARKER).is_file():
        experiment = open_folder(path)
        factors = experiment.varied if factors is None else factors
        if "replication" in frame.columns:
            frame = without_copies(frame, experiment.description.get("copies", []))
        # Without those of the runs with the slowest, percentiles of transfer times tell of the others alone.
        frame = without_censored(frame, pl.lit(0))
    with measurements.of_file(path):
        return designed(frame, factors=factors, responses=responses)


def designed(
    frame: pl.DataFrame, *, factors: Sequence[str] | None = None, responses: Sequence[str] | None = None
) -> Designed:
    """Tell factors from responses. Runs that failed are left out.

    Without factors, they are columns of two values that are no responses; without responses, columns of numbers that
    are no factors.

    Raises:
        MeasurementError: A column is not there, or one is asked for as both, or responses are no numbers.
    """
    # Words are numbers or booleans where all of a column are.
    words = (name for name, dtype in frame.schema.items() if dtype == pl.String and name not in NAMES)
    table = frame.with_columns(_column(frame[name]) for name in words).drop(LINE, strict=False)
    if "status" in table.columns and table["status"].dtype == pl.String:
        table = table.filter(pl.col("status") == _DONE)
    candidates = [name for name in table.columns if name not in NAMES]
    if responses is not None and not isinstance(responses, str):
        responses = [as_now(name, table.columns) for name in responses]
    for named in (factors, responses):
        present(table, named or ())
    twice = next((name for name in factors or () if name in (responses or ())), None)
    if twice is not None:
        raise MeasurementError(f"{twice}: is asked for as a factor and as a response; expected one of the two")
    guessed = factors is None
    if factors is None:
        factors = [name for name in candidates if name not in (responses or ()) and _two_valued(table[name])]
    if responses is None:
        responses = [name for name in candidates if name not in factors and table[name].dtype.is_numeric()]
        if guessed and factors and not responses:
            # Of two rows every column has two values.
            taken = f"{', '.join(factors)}: taken for factors, as they have two values"
            raise MeasurementError(f"expected responses, columns of numbers; {taken}")
    numbers(table, responses)
    return Designed(table, tuple(factors), tuple(responses))


def present(frame: pl.DataFrame, columns: Iterable[str]) -> None:
    """Refuse columns that a table lacks, and what is no table of polars."""
    given: Any = frame
    if not isinstance(given, pl.DataFrame):
        kind = f"{type(given).__module__.partition('.')[0]}.{type(given).__name__}"
        ways = "pl.from_pandas(table), table.collect(), or runs.collect() of a sweep"
        raise MeasurementError(f"expected a DataFrame of polars, such as {ways}, not {kind}")
    if isinstance(columns, str):
        raise MeasurementError(f"expected a list of columns, such as [{show(columns)}], not {show(columns)}")
    for name in columns:
        if name not in frame.columns:
            shown = [column for column in frame.columns if column != LINE]
            raise MeasurementError(f"no column {name}: expected {one_of(shown)}{did_you_mean(name, shown)}")


def numbers(frame: pl.DataFrame, columns: Sequence[str], *, fewest: int = 1) -> Array:
    """Columns side by side, a row a run; NaN where a run has no value."""
    present(frame, columns)
    if len(columns) < fewest:
        raise MeasurementError(f"too few responses: {', '.join(columns) or 'none'}; expected at least {fewest}")
    for name in columns:
        if not frame[name].dtype.is_numeric() and frame[name].dtype != pl.Null:
            raise MeasurementError(f"{name}: expected a column of numbers")
    wide = frame.select(pl.col(name).cast(pl.Float64).fill_null(float("nan")) for name in columns).to_numpy()
    for name, column in zip(columns, wide.T, strict=True):
        if wrong := unusable(column):
            raise MeasurementError(f"{name}: {wrong}")
    return np.where(np.isfinite(wide), wide, np.nan)


def deviations(values: Array) -> Array:
    """The standard deviation of each column over the rows that have a value; 0 where only rounding differs."""
    found = np.zeros(values.shape[1])
    for place, column in enumerate(values.T):
        there = column[np.isfinite(column)]
        if there.size > 1:
            deviation = float(np.std(there, ddof=1))
            found[place] = deviation if deviation > _ROUNDING * np.abs(there).max() else 0.0
    return found


def varying(values: Array, responses: Sequence[str]) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Which columns differ between some of the rows that have a value, and what these are called; at least two.

    Raises:
        MeasurementError: Fewer do.
    """
    varies = deviations(values) > 0
    named = tuple(itertools.compress(responses, varies))
    if len(named) < 2:  # noqa: PLR2004
        raise MeasurementError(f"fewer than two responses vary over these runs: {', '.join(named) or 'none'}")
    return varies, named


def _two_valued(column: pl.Series) -> bool:
    return column.null_count() == 0 and column.n_unique() == _LEVELS


def _column(words: pl.Series) -> pl.Series:
    filled = words.replace("", None)
    there = filled.drop_nulls()
    if there.is_empty():
        return filled.cast(pl.Float64)
    if there.str.to_lowercase().is_in(list(_BOOLEANS)).all():
        return filled.str.to_lowercase().replace_strict(_BOOLEANS, return_dtype=pl.Boolean)
    for kind in (pl.Int64, pl.Float64):
        as_numbers = filled.cast(kind, strict=False)
        if as_numbers.null_count() == filled.null_count():
            return as_numbers
    return filled
