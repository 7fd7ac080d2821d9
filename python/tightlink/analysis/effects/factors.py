"""Factors of a table of runs: their levels in words, as numbers in SI, and which of two is the low one."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from tightlink import units
from tightlink.analysis.effects.designed import present
from tightlink.analysis.measurements import MeasurementError
from tightlink.errors import ScenarioError, show
from tightlink.lazy import NDArray, np, pl

#: What the columns of quantities end in, as in all tables.
_SUFFIXES: Final = {
    units.RATE: "bps",
    units.PACKET_RATE: "pps",
    units.TIME: "s",
    units.SIZE: "bytes",
    units.PACKETS: "packets",
    units.FRACTION: "",
    units.BDP: "bdp",
}
_LEVELS: Final = 2


def alone(runs: pl.DataFrame, key: str, others: Sequence[str]) -> pl.DataFrame:
    """The runs in which the other factors are as in the first one: what a one-at-a-time design compares."""
    first = runs.row(0, named=True)
    return runs.filter(*(pl.col(name).eq_missing(first[name]) for name in others if name != key))


def in_si(levels: Sequence[object]) -> tuple[str, list[float]] | None:
    """Levels as numbers, with the unit that their column's name ends in; nothing where some are words.

    >>> in_si(["5 packets", "20 packets"])
    ('packets', [5.0, 20.0])
    """
    numbers = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
    if len(numbers) == len(levels):
        return "", [float(number) for number in numbers]
    if not all(isinstance(level, str) for level in levels):
        return None
    try:
        parsed = [units.parse(level, *_SUFFIXES) for level in levels]
    except ScenarioError:
        return None
    kinds = {kind for kind, _ in parsed}
    if len(kinds) != 1:
        return None
    return _SUFFIXES[kinds.pop()], [float(quantity.exact) for _, quantity in parsed]


def levels(runs: pl.DataFrame, factor: str) -> tuple[Any, Any]:
    """The low and the high level of a factor: in the order of their numbers in SI, else as they come."""
    present(runs, [factor])
    values = list(dict.fromkeys(runs[factor].to_list()))
    if None in values or any(isinstance(value, float) and math.isnan(value) for value in values):
        raise MeasurementError(f"{factor}: expected a level in every run, and one has none")
    if len(values) != _LEVELS:
        there = f"is one: {show(values[0])}" if len(values) == 1 else f"are {len(values) or 'none'}"
        raise MeasurementError(f"{factor}: expected two levels, and there {there}")
    if all(isinstance(value, bool) for value in values):
        return False, True
    known = in_si(values)
    one, two = values
    return (two, one) if known is not None and known[1][0] > known[1][1] else (one, two)


def signs(runs: pl.DataFrame, factor: str, pair: tuple[Any, Any]) -> NDArray[np.int64]:
    """−1 for each run at the first of two levels, 1 for the others."""
    return np.where((runs[factor] == pair[0]).to_numpy(), -1, 1)


def parts(runs: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """The runs of each combination of values of some columns, in the order in which they come."""
    by = listed(by)
    present(runs, by)
    if not by:
        yield {}, runs
        return
    for values, part in runs.group_by(by, maintain_order=True):
        yield {name: in_words(value) for name, value in zip(by, values, strict=True)}, part


def found_of(
    rows: Sequence[Mapping[str, Any]], by: Sequence[str], columns: Sequence[str], numbers: Collection[str]
) -> pl.DataFrame:
    """What was found of each of the `parts`, as a table: the columns are words but for some numbers.

    Raises:
        MeasurementError: What they are parts by is called as one of the columns.
    """
    by = listed(by)
    twice = next((name for name in by if name in columns), None)
    if twice is not None:
        raise MeasurementError(f"by {twice}: expected a column of another name, as what is found is called so")
    return pl.DataFrame(rows, {name: pl.Float64 if name in numbers else pl.String for name in (*by, *columns)})


def listed(columns: str | Sequence[str]) -> list[str]:
    """The names of columns, of which a single text is one."""
    return [columns] if isinstance(columns, str) else list(columns)


def in_words(level: object) -> str:
    """A level as it is written in tables.

    >>> in_words("5 packets"), in_words(20.0), in_words(True)
    ('5 packets', '20', 'true')
    """
    return level if isinstance(level, str) else f"{level:.12g}" if isinstance(level, float) else show(level)


def called(level: object) -> str:
    """What sentences, tables and axes call a level: a table that has a kind by that, with its options behind it.

    >>> called('{ kind = "fq-codel" }'), called('{ kind = "codel", target = "5 ms" }'), called("5 packets")
    ('fq-codel', 'codel (target 5 ms)', '5 packets')
    """
    text = in_words(level)
    if not text.startswith("{"):
        return text
    try:
        table = tomllib.loads(f"level = {text}")["level"]
    except tomllib.TOMLDecodeError:
        return text
    kind = table.pop("kind", None)
    if not isinstance(kind, str) or any(isinstance(value, dict | list) for value in table.values()):
        return text
    options = ", ".join(f"{key} {in_words(value)}" for key, value in table.items())
    return f"{kind} ({options})" if options else kind
