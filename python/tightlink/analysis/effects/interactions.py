"""Interactions of two factors: how far the effect of one depends on the level of the other.

The interaction of A and B is half the difference between A's effect at the high and at the low level of B:
the mean where both are low or both high, less the mean where they differ; where levels do not meet equally often, by
least squares (`tightlink.analysis.effects.main`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from tightlink.analysis.effects.designed import numbers
from tightlink.analysis.effects.factors import found_of, levels, parts
from tightlink.analysis.effects.main import MEASURED, SAID, contrast
from tightlink.analysis.effects.noise import of_responses
from tightlink.analysis.effects.two_level import two_level
from tightlink.lazy import pl


def interactions(
    runs: pl.DataFrame, factors: Sequence[str], responses: Sequence[str], by: Sequence[str] = ()
) -> pl.DataFrame:
    """The interaction of each pair of factors on each response, and what it cannot be told apart from.

    Args:
        runs: A row for each run; each factor has two levels.
        factors: Columns of what was varied.
        responses: Columns of numbers that came out.
        by: Columns for each value of which interactions are found apart.

    Returns:
        Columns ``*by``, factor, other, response, then as `tightlink.analysis.effects.main.main_effects` (low where the
        levels of the two differ, high where they are the same), and ``aliases``: single factors and products of two
        with the same column, those with the opposite one with "−", separated by commas.

    Raises:
        MeasurementError: A column is missing or no numbers, or a factor has other than two levels.

    Example:
        >>> runs = pl.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "y": [1.0, 2.0, 1.0, 6.0]})
        >>> tl.analyze.interactions(runs, ["a", "b"], ["y"]).select("factor", "other", "effect", "aliases").rows()
        [('a', 'b', 2.0, '')]
    """
    found = []
    known = [levels(runs, factor) for factor in factors]
    for names, part in parts(runs, by):
        design = two_level(part, factors, known)
        values = dict(zip(responses, numbers(part, responses).T, strict=True))
        measured = of_responses(part, factors, known, values)
        for pair in combinations(range(len(factors)), 2):
            aliases = ", ".join(design.aliases(pair))
            one, other = (factors[place] for place in pair)
            found += [
                names | {"factor": one, "other": other, "response": response} | contrast(measured[response], pair)
                | {"aliases": aliases}
                for response in values
            ]  # fmt: skip
    return found_of(found, by, ("factor", "other", "response", *MEASURED, *SAID, "aliases"), MEASURED)
