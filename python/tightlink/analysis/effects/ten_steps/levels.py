"""Steps 1, 2 and 5: a response by the levels of factors."""

from __future__ import annotations

from typing import Final

from tightlink.analysis.effects.two_level import TwoLevel
from tightlink.lazy import Array, np, pl

#: More blocks of a factor cannot be read side by side.
_MOST: Final = 16


def ordered(design: TwoLevel, values: Array) -> pl.DataFrame:
    """Runs from the least value to the greatest, with the level of each factor as "−" or "+".

    >>> from tightlink.analysis.effects.two_level import two_level
    >>> design = two_level(pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}), ["a", "b"])
    >>> ordered(design, np.array([5.0, 2.0, 7.0, 3.0])).rows()
    [(1, 2.0, '+', '−'), (2, 3.0, '+', '+'), (3, 5.0, '−', '−'), (4, 7.0, '−', '+')]
    """
    order = np.argsort(values, kind="stable")
    settings = zip(design.factors, np.where(design.signs[order] < 0, "−", "+").T.tolist(), strict=True)
    return pl.DataFrame({"place": np.arange(1, len(values) + 1), "value": values[order]} | dict(settings))


def scatter(design: TwoLevel, values: Array) -> pl.DataFrame:
    """A row for each factor and run: ``factor``, ``level`` (−1 or 1), ``value``."""
    runs = pl.DataFrame({"value": values}).hstack(pl.DataFrame(design.signs, schema=list(design.factors)))
    return runs.unpivot(index="value", variable_name="factor", value_name="level").select("factor", "level", "value")


def blocks(design: TwoLevel, values: Array) -> pl.DataFrame:
    """The effect of each factor within each combination of levels of others.

    Others are taken by the size of their own effects, as many as leave both levels of the factor in every block
    (a fraction does not have all combinations) and no more blocks than can be looked at.

    Returns:
        Columns ``factor``, ``block`` ("b −, c +"), ``mean_low``, ``mean_high``, ``effect``; the factors in their
        order.

    >>> from tightlink.analysis.effects.two_level import two_level
    >>> design = two_level(pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}), ["a", "b"])
    >>> blocks(design, np.array([1.0, 2.0, 1.0, 6.0])).rows()[:2]
    [('a', 'b −', 1.0, 2.0, 1.0), ('a', 'b +', 1.0, 6.0, 5.0)]
    """
    sizes = design.sizes(values)
    by_size = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    rows = []
    for place, factor in enumerate(design.factors):
        chosen = sorted(_others(design, place, [other for other in by_size if other != place]))
        signs, at_high = design.signs[:, chosen], design.signs[:, place] > 0
        for key in np.unique(signs, axis=0):
            inside = (signs == key).all(axis=1)
            low, high = (float(values[inside & side].mean()) for side in (~at_high, at_high))
            name = ", ".join(
                f"{design.factors[other]} {'−' if sign < 0 else '+'}" for other, sign in zip(chosen, key, strict=True)
            )
            rows.append((factor, name, low, high, high - low))
    measured = dict.fromkeys(("mean_low", "mean_high", "effect"), pl.Float64)
    return pl.DataFrame(rows, schema={"factor": pl.String, "block": pl.String, **measured}, orient="row")


def _others(design: TwoLevel, place: int, candidates: list[int]) -> list[int]:
    chosen: list[int] = []
    for other in candidates:
        wider = [*chosen, other]
        combined = len(np.unique(design.signs[:, wider], axis=0))
        both = len(np.unique(design.signs[:, [*wider, place]], axis=0))
        if combined <= _MOST and both == 2 * combined:
            chosen = wider
    return chosen
