"""Algorithms under conditions: the mean of each response for each algorithm, condition by condition.

NIST 2010 numbers its algorithms; where a table has these and no others, figures number them as it does.

Example:
    >>> runs = pl.DataFrame({"buffer": ["short"] * 3, "tcp": ["reno", "reno", "fast"], "loss": [0.1, 0.3, 0.5]})
    >>> table = compared(runs, "buffer", "tcp")["short"]
    >>> table.algorithms, table.values.tolist()
    (('reno', 'fast'), [[0.2], [0.5]])
    >>> labels(["reno", "fast"]), labels(["reno", "cubic"])
    ({'reno': '7', 'fast': '3'}, {'reno': 'reno', 'cubic': 'cubic'})
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.effects.designed import NAMES, numbers, present
from tightlink.analysis.effects.factors import listed
from tightlink.analysis.measurements import MeasurementError
from tightlink.lazy import Array, pl

#: The document's algorithms by its numbers; FAST-AT, which joins its experiments later, is the eighth.
NUMBERS: Final = {
    "bic": 1,
    "compound": 2,
    "fast": 3,
    "highspeed": 4,
    "htcp": 5,
    "scalable": 6,
    "reno": 7,
    "fast-at": 8,
}
#: Columns of tables with a row for each number.
RESPONSE: Final = "response"
VALUE: Final = "value"


@dataclass(frozen=True)
class Compared:
    """The algorithms under one condition: a row for each, a column for each response; NaN where it has none."""

    algorithms: tuple[str, ...]
    responses: tuple[str, ...]
    values: Array

    def by_response(self) -> Iterator[tuple[str, list[tuple[str, float]]]]:
        """Each response with the algorithms that have a value of it, and these."""
        for response, column in zip(self.responses, self.values.T.tolist(), strict=True):
            pairs = zip(self.algorithms, column, strict=True)
            yield response, [(who, value) for who, value in pairs if not math.isnan(value)]


def compared(
    runs: pl.DataFrame, condition: str | Sequence[str], algorithm: str, responses: Sequence[str] | None = None
) -> dict[str, Compared]:
    """The mean of each response over the runs of each algorithm, by condition.

    Runs are a row each, or a row for each number in columns ``response`` and ``value``. Without ``responses``, all
    columns of numbers are taken that are neither the algorithm nor of the condition.
    """
    keys = listed(condition)
    present(runs, [*keys, algorithm])
    wide = _wide(runs, [*keys, algorithm]) if is_long(runs) else runs
    if responses is None:
        responses = [
            name for name, dtype in wide.schema.items() if dtype.is_numeric() and name not in (*keys, algorithm, *NAMES)
        ]
    numbers(wide, responses)
    if wide.is_empty():
        raise MeasurementError("expected runs, and the table has none")
    means = wide.group_by([*keys, algorithm], maintain_order=True).agg(pl.col(name).mean() for name in responses)
    found = {}
    for values, part in means.group_by(keys, maintain_order=True):
        names = tuple(map(str, part[algorithm].cast(pl.String)))
        found[_name(keys, values)] = Compared(names, tuple(responses), numbers(part, responses))
    return found


def conditions(runs: pl.DataFrame, condition: str | Sequence[str]) -> list[str]:
    """What the condition of each run is called: its level, or its levels where it is one of several columns.

    >>> conditions(pl.DataFrame({"queue": ["5 packets", "1 BDP"], "flows": [2.0, 16.0]}), ["queue", "flows"])
    ['5 packets, flows 2', '1 BDP, flows 16']
    """
    keys = listed(condition)
    present(runs, keys)
    return [_name(keys, row) for row in runs.select(keys).rows()]


def labels(algorithms: Iterable[str]) -> dict[str, str]:
    """What figures call each algorithm: its number in NIST 2010 where all are of its eight, otherwise its name."""
    names = list(algorithms)
    numbered = all(name in NUMBERS for name in names)
    return {name: str(NUMBERS[name]) if numbered else name for name in names}


def is_long(runs: pl.DataFrame) -> bool:
    """Whether a table has a row for each number, with the columns ``response`` and ``value``."""
    return {RESPONSE, VALUE} <= set(runs.columns)


def _wide(runs: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """A column for each response; where a number is there several times, their mean."""
    numbers(runs, [VALUE])
    return runs.pivot(RESPONSE, index=keys, values=VALUE, aggregate_function="mean", maintain_order=True)


def _name(keys: Sequence[str], values: Sequence[object]) -> str:
    """A condition in words: its levels; numbers alone say nothing, and have their factor before them."""
    levels = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    if len(keys) == 1:
        return str(levels[0])
    return ", ".join(
        level if isinstance(level, str) else f"{key.rpartition('.')[2]} {level}"
        for key, level in zip(keys, levels, strict=True)
    )
