"""Steps 6, 7 and 9: the effects that can be told apart, the largest first, and what they leave unexplained."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tightlink.analysis.effects.main import contrast
from tightlink.analysis.effects.noise import Response
from tightlink.analysis.effects.two_level import Term, extended
from tightlink.lazy import Array, np, pl

#: Effects closer to each other than this share of the largest are equal: a single factor comes first.
_EQUAL: Final = 1e-9
#: Terms added; all of a design of 256 combinations.
_MOST: Final = 255


def ranked(terms: Sequence[Term], response: Response) -> pl.DataFrame:
    """Effects that the runs tell apart from the largest to the smallest, without regard to their signs.

    Returns:
        Columns ``term``, ``order`` (how many factors it is the product of), ``mean_low``, ``mean_high``, ``effect``,
        ``p``, and ``aliases``: single factors and products of two that it cannot be told apart from.

    >>> from tightlink.analysis.effects.noise import Response, noise
    >>> from tightlink.analysis.effects.two_level import two_level
    >>> design = two_level(pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}), ["a", "b"])
    >>> values = np.array([1.0, 2.0, 1.0, 6.0])
    >>> response = Response(values, design, noise(design, values))
    >>> ranked(design.terms(), response).select("term", "effect").rows()
    [('a', 3.0), ('b', 2.0), ('a × b', 2.0)]
    """
    every = [
        contrast(response, term.factors) | {"term": term.name, "order": term.order, "aliases": ", ".join(term.aliases)}
        for term in terms
    ]
    rows = [row for row in every if not math.isnan(row["effect"])]
    largest = max((abs(row["effect"]) for row in rows), default=0.0) or 1.0
    rows.sort(key=lambda row: -round(abs(row["effect"]) / largest / _EQUAL))
    numbers = dict.fromkeys(("mean_low", "mean_high", "effect", "p"), pl.Float64)
    return pl.DataFrame(rows, schema={"term": pl.String, "order": pl.Int64, **numbers, "aliases": pl.String})


def residual_sd(terms: Sequence[Term], order: Sequence[str], values: Array) -> pl.DataFrame:
    """The residual standard deviation of least-squares models of the mean and ever more terms.

    Returns:
        Columns ``term`` (the last one in the model, first "mean"), ``terms`` (in the model) and ``residual_sd``, over
        the degrees of freedom that are left; 0 where there are none. Terms that earlier ones make up are left out,
        and those beyond the largest 255.

    >>> from tightlink.analysis.effects.two_level import two_level
    >>> design = two_level(pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}), ["a", "b"])
    >>> found = residual_sd(design.terms(), ["a", "b", "a × b"], np.array([1.0, 5.0, 1.0, 5.0]))
    >>> [(term, terms, round(left, 6)) for term, terms, left in found.rows()]
    [('mean', 1, 2.309401), ('a', 2, 0.0), ('b', 3, 0.0), ('a × b', 4, 0.0)]
    """
    count = len(values)
    columns = {term.name: term.signs for term in terms}
    basis = np.full((1, count), 1 / math.sqrt(count))
    left = values - values.mean()
    rows = [("mean", 1, _deviation(left, count - 1))]
    for name in order[:_MOST]:
        wider = extended(basis, columns[name])
        if wider is None:
            continue
        basis = wider
        left = left - basis[-1] * (basis[-1] @ left)
        rows.append((name, len(basis), _deviation(left, count - len(basis))))
    return pl.DataFrame(rows, schema={"term": pl.String, "terms": pl.Int64, "residual_sd": pl.Float64}, orient="row")


def _deviation(left: Array, freedom: int) -> float:
    return math.sqrt(float(left @ left) / freedom) if freedom else 0.0
