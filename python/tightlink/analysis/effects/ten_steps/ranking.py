"""Steps 6 and 7: the effects that can be told apart, the largest first.

Example:
    >>> from tightlink.analysis.effects.two_level import two_level
    >>> design = two_level(pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}), ["a", "b"])
    >>> ranked(design.terms(), np.array([1.0, 2.0, 1.0, 6.0])).select("term", "effect").rows()
    [('a', 3.0), ('b', 2.0), ('a × b', 2.0)]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tightlink.analysis.effects.main import contrast
from tightlink.analysis.effects.two_level import Term
from tightlink.lazy import Array, pl

#: Effects closer to each other than this share of the largest are equal: a single factor comes first.
_EQUAL: Final = 1e-9


def ranked(terms: Sequence[Term], values: Array) -> pl.DataFrame:
    """Effects from the largest to the smallest, without regard to their signs.

    Returns:
        Columns ``term``, ``order`` (how many factors it is the product of), ``mean_low``, ``mean_high``, ``effect``,
        and ``aliases``: single factors and products of two that it cannot be told apart from.
    """
    rows = []
    for term in terms:
        found = contrast(values, term.signs > 0)
        rows.append((term.name, term.order, found["mean_low"], found["mean_high"], found["effect"],
                     ", ".join(term.aliases)))  # fmt: skip
    largest = max((abs(row[4]) for row in rows), default=0.0) or 1.0
    rows.sort(key=lambda row: -round(abs(row[4]) / largest / _EQUAL))
    schema = {"term": pl.String, "order": pl.Int64, "mean_low": pl.Float64, "mean_high": pl.Float64,
              "effect": pl.Float64, "aliases": pl.String}  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")
