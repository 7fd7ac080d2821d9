"""Steps 1 and 2: the data themselves, in their order and by the level of each factor.

Example:
    >>> from tightlink.analysis.effects.two_level import two_level
    >>> design = two_level(pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}), ["a", "b"])
    >>> ordered(design, np.array([5.0, 2.0, 7.0, 3.0])).rows()
    [(1, 2.0, '+', '−'), (2, 3.0, '+', '+'), (3, 5.0, '−', '−'), (4, 7.0, '−', '+')]
"""

from __future__ import annotations

from tightlink.analysis.effects.two_level import TwoLevel
from tightlink.lazy import Array, np, pl


def ordered(design: TwoLevel, values: Array) -> pl.DataFrame:
    """Runs from the least value to the greatest, with the level of each factor as "−" or "+"."""
    order = np.argsort(values, kind="stable")
    places = {"place": np.arange(1, len(values) + 1), "value": values[order]}
    settings = {
        factor: ["−" if sign < 0 else "+" for sign in design.signs[order, place].tolist()]
        for place, factor in enumerate(design.factors)
    }
    return pl.DataFrame(places | settings)


def scatter(design: TwoLevel, values: Array) -> pl.DataFrame:
    """A row for each factor and run: ``factor``, ``level`` (−1 or 1), ``value``."""
    return pl.concat(
        pl.DataFrame({"level": design.signs[:, place], "value": values}).select(
            pl.lit(factor).alias("factor"), "level", "value"
        )
        for place, factor in enumerate(design.factors)
    )
