"""Step 5: whether a factor's effect is the same whatever the levels of the others.

Example:
    >>> from tightlink.analysis.effects.two_level import two_level
    >>> design = two_level(pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2]}), ["a", "b"])
    >>> blocks(design, np.array([1.0, 2.0, 1.0, 6.0])).rows()[:2]
    [('a', 'b −', 1.0, 2.0, 1.0), ('a', 'b +', 1.0, 6.0, 5.0)]
"""

from __future__ import annotations

from itertools import groupby
from typing import Final

from tightlink.analysis.effects.main import contrast
from tightlink.analysis.effects.two_level import TwoLevel
from tightlink.lazy import Array, np, pl

#: More blocks of a factor cannot be read side by side.
_MOST: Final = 16


def blocks(design: TwoLevel, values: Array) -> pl.DataFrame:
    """The effect of each factor within each combination of levels of others.

    Others are taken by the size of their own effects, as many as leave both levels of the factor in every block
    (a fraction does not have all combinations) and no more blocks than can be looked at.

    Returns:
        Columns ``factor``, ``block`` ("b −, c +"), ``mean_low``, ``mean_high``, ``effect``; the factors in their
        order.
    """
    sizes = [abs(contrast(values, design.signs[:, place] > 0)["effect"]) for place in range(len(design.factors))]
    by_size = sorted(range(len(sizes)), key=lambda place: -sizes[place])
    rows = []
    for place, factor in enumerate(design.factors):
        others = _others(design, place, [other for other in by_size if other != place])
        chosen = sorted(others)
        keys = [tuple(row) for row in design.signs[:, chosen].tolist()]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        for key, members in groupby(order, key=keys.__getitem__):
            runs = list(members)
            found = contrast(values[runs], design.signs[runs, place] > 0)
            name = ", ".join(
                f"{design.factors[other]} {'−' if sign < 0 else '+'}" for other, sign in zip(chosen, key, strict=True)
            )
            rows.append((factor, name, found["mean_low"], found["mean_high"], found["effect"]))
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
