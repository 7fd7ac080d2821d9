"""Effects of factors: means of a response at two levels, and how far they are apart.

In a design in which the levels of other factors are the same at each level of one (full, two-level and
fractional designs), the means differ by that factor alone, as far as the design tells effects apart. In others, as
where factors are varied one at a time or runs are lost, they differ by the other factors, too: there the effects are
those of all factors together that are nearest to the response, by least squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tightlink.analysis.effects.designed import numbers
from tightlink.analysis.effects.factors import found_of, in_words, levels, listed, parts
from tightlink.analysis.effects.noise import Response, against, of_responses
from tightlink.lazy import np, pl
from tightlink.numbers import several
from tightlink.reduce import largest, smallest

#: Below these an effect is marked so.
STRONG: Final = 0.01
WEAK: Final = 0.05
_MARKS: Final = ((STRONG, "**"), (WEAK, "*"))
#: A mean this small beside the largest value is zero but for rounding.
_ROUNDING: Final = 1e-12
#: Responses up to which each is named.
_MOST_NAMED: Final = 6
#: What is measured of an effect: columns of numbers.
MEASURED: Final = ("mean_low", "mean_high", "mean", "effect", "relative_effect", "error", "freedom", "p")
#: And of words.
SAID: Final = ("test", "mark", "sign")


def main_effects(
    runs: pl.DataFrame, factors: Sequence[str], responses: Sequence[str], by: Sequence[str] = ()
) -> pl.DataFrame:
    """The main effect of each factor on each response: mean(high) − mean(low), and how sure that is.

    Where levels of factors do not meet equally often, both means are by least squares, with the other factors as they
    are on average.

    ``p`` is that of Student's t against `tightlink.analysis.effects.noise`: what replications differ by, pooled over
    combinations; without replications Lenth's error, from the small ones of all effects. NIST 2010 gives marks, and
    does not say by which test. Runs without a response are left out.

    Args:
        runs: A row for each run; each factor has two levels.
        factors: Columns of what was varied.
        responses: Columns of numbers that came out.
        by: Columns, such as period or algorithm, for each value of which effects are found apart.

    Returns:
        Columns ``*by``, factor, response, ``low`` and ``high`` (the levels in words), ``mean_low``,
        ``mean_high``, ``mean`` (of all runs), ``effect``, ``relative_effect`` (effect / |mean|), ``error``
        (standard error of the effect), ``freedom`` (degrees of it), ``p`` (NaN where there is no test), ``test``
        ("replications", "factors left out", "Lenth" or nothing), ``mark`` ("**" for p < 0.01, "*" for p < 0.05) and
        ``sign`` ("+", "−"; "" where there is no effect).

    Raises:
        MeasurementError: A column is missing or no numbers, a factor has other than two levels, or a column of
            ``by`` is called as one of those above.

    Example:
        >>> queues = ["5 packets", "20 packets", "5 packets", "20 packets"]
        >>> runs = pl.DataFrame({"queue": queues, "flows": [1, 1, 2, 2], "loss": [0.2, 0.0, 0.4, 0.1]})
        >>> tl.analyze.main_effects(runs, ["queue"], ["loss"]).select("low", "high", "effect", "mark", "sign").rows()
        [('5 packets', '20 packets', -0.25000000000000006, '', '−')]
    """
    factors, responses = listed(factors), listed(responses)
    found = []
    pairs = {factor: levels(runs, factor) for factor in factors}
    for names, part in parts(runs, by):
        values = dict(zip(responses, numbers(part, responses).T, strict=True))
        known = of_responses(part, factors, list(pairs.values()), values) if factors else {}
        for place, factor in enumerate(factors):
            low, high = (in_words(level) for level in pairs[factor])
            found += [
                names
                | {"factor": factor, "response": response, "low": low, "high": high}
                | contrast(known[response], [place])
                for response in values
            ]
    return found_of(found, by, ("factor", "response", "low", "high", *MEASURED, *SAID), MEASURED)


def contrast(found: Response, factors: Sequence[int]) -> dict[str, Any]:
    """What `main_effects` says of one factor, or of a product of several, and one response."""
    values, known = found.values, found.noise
    if not values.size:
        nothing = dict.fromkeys(MEASURED, math.nan)
        return nothing | {"test": "", "mark": "", "sign": ""}
    weights, mean = found.design.weights(factors), float(values.mean())
    effect = float(weights @ values) if np.ptp(values) else 0.0 * float(weights[0])
    # With the other factors as they are on average.
    high = float(found.design.column(factors).mean())
    error = known.error(weights)
    balanced = not abs(mean) > _ROUNDING * float(np.abs(values).max())
    p = known.p_value(effect, error)
    return {
        "mean_low": mean - effect * (1 + high) / 2,
        "mean_high": mean + effect * (1 - high) / 2,
        "mean": mean,
        "effect": effect,
        "relative_effect": math.nan if balanced else effect / abs(mean),
        "error": error,
        "freedom": known.freedom,
        "p": p,
        "test": "" if math.isnan(p) else known.test,
        "mark": mark(p),
        "sign": sign(effect),
    }


def mark(p: float) -> str:
    """How an effect is marked.

    >>> mark(0.003), mark(0.03), mark(0.3), mark(math.nan)
    ('**', '*', '', '')
    """
    return next((text for limit, text in _MARKS if p < limit), "")


def sign(effect: float) -> str:
    """Which way an effect goes.

    >>> sign(0.2), sign(-0.2), sign(0.0), sign(math.nan)
    ('+', '−', '', '')
    """
    return "+" if effect > 0 else "−" if effect < 0 else ""


def marked_by_chance(p_values: Iterable[float]) -> str:
    """How many marks mean nothing, where there are so many tests that some do; nothing where there are few.

    >>> print(marked_by_chance([0.01, 0.5] * 20 + [math.nan]))
    40 tests: were there no effect at all, about 2 of them would be marked
    """
    tests = sum(map(math.isfinite, p_values))
    if tests * WEAK < 1:
        return ""
    return f"{tests} tests: were there no effect at all, about {tests * WEAK:.0f} of them would be marked"


def held_against(effects: pl.DataFrame) -> str:
    """What effects were held against to tell them from chance, in words.

    >>> runs = pl.DataFrame({"a": [1, 2, 1, 2], "y": [1.0, 3.0, 1.2, 3.1], "z": [1.0, 2.0, None, None]})
    >>> print(held_against(main_effects(runs, ["a"], ["y"])))
    * p < 0.05, ** p < 0.01: Student's t against what replications differ by, 2 degrees of freedom
    >>> print(held_against(main_effects(runs, ["a"], ["z"])))
    no test: there are no replications, and fewer than three effects
    >>> print(held_against(main_effects(runs.with_columns(y=1.0), ["a"], ["y"])))
    no test: no response varies
    """
    each = effects.select("response", "test", "freedom").filter(pl.col("test") != "").unique(maintain_order=True)
    if each.is_empty():
        if (effects["effect"] == 0).all():
            return "no test: no response varies"
        return "no test: there are no replications, and fewer than three effects"
    named = each["test"].n_unique() > 1
    said = []
    for (test,), rows in each.group_by("test", maintain_order=True):
        text = against(str(test), smallest(rows["freedom"]), largest(rows["freedom"]))
        names = rows["response"].unique(maintain_order=True).to_list()
        responses = ", ".join(names) if len(names) <= _MOST_NAMED else several(len(names), "response")
        said.append(f"{text} ({responses})" if named else text)
    return f"* p < {WEAK}, ** p < {STRONG}: Student's t against {'; against '.join(said)}"
