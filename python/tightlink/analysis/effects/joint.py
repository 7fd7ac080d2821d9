"""All effects of a two-level design at once: one linear model for each response, its error from replications.

A test of one factor by itself counts what the others do as noise, and so overlooks a small effect beside a large one.
Here the model has every effect that the design tells apart: single factors, and the groups of products of two that
share a column. What it leaves is what replications differ by; without replications there may be nothing left, and
Lenth's test (Technometrics 31, 1989) says which effects stand out among all of them, as it does beside the other one.

A response that is above zero and spreads over more than three times its smallest value is taken by its logarithm: its
effects are factors then, and its error the same at either end (Box and Cox, 1964).

Example:
    >>> runs = pl.DataFrame({"a": [-1, 1, -1, 1] * 2, "b": [-1, -1, 1, 1] * 2, "seed": [1] * 4 + [2] * 4,
    ...                      "loss": [0.10, 0.20, 0.11, 0.41, 0.12, 0.22, 0.12, 0.41]})
    >>> found = joint_effects(runs, ["a", "b"], ["loss"], block="seed")
    >>> found.select("term", pl.col("relative_effect", "p").round(3), "freedom", "scale").rows()
    [('a', 1.614, 0.0, 3, 'log'), ('b', 0.432, 0.002, 3, 'log'), ('a × b', 0.365, 0.004, 3, 'log')]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.effects.designed import numbers
from tightlink.analysis.effects.main import sign
from tightlink.analysis.effects.noise import lenth, two_sided
from tightlink.analysis.effects.two_level import Term, two_level
from tightlink.lazy import Array, np, pl, stats

#: Largest over smallest value from which on a response is taken by its logarithm: below, it would change little.
_SPREAD: Final = 3.0
#: Terms of the model: single factors and products of two.
_ORDER: Final = 2
#: Residuals that are this small beside the values are rounding.
_ROUNDING: Final = 1e-12
#: An effect that is so many standard errors beyond what counts as seen is; the noncentral distribution is not computed.
_CERTAIN: Final = 10.0
_SCHEMA: Final = ("term", "aliases", "order", "response", "scale", "effect", "relative_effect", "error", "freedom", "t",
                  "p", "p_lenth", "sign")  # fmt: skip


def joint_effects(
    runs: pl.DataFrame, factors: Sequence[str], responses: Sequence[str], *, block: str = ""
) -> pl.DataFrame:
    """Every effect on every response, from one model each.

    Each factor has two levels. Where runs lack a response, as those without the flows that it is of do, the others are
    a part of the design: then single factors only are in the model. The mean of ``block``, a column of what
    replications differ in, such as the seed, is in it, too.

    Returns:
        A row for each term and response: term, aliases (what has the same column), order (1 of a single factor),
        response, scale ("log" or "linear"), effect (high less low, in that scale), relative_effect (as a share of the
        low level, or of the size of the mean if linear), error (standard error of effect), freedom (degrees of it), t,
        p (NaN if nothing is left), p_lenth, sign ("+", "−").
    """
    values = numbers(runs, responses)
    models: dict[bytes, _Model | None] = {}
    rows: list[dict[str, object]] = []
    for name, column in zip(responses, values.T, strict=True):
        # Most responses are there in the same runs, of which there is one model.
        there = np.isfinite(column)
        if (key := there.tobytes()) not in models:
            models[key] = _Model.of(runs, factors, there, block)
        if (model := models[key]) is not None:
            rows += _of_response(model, name, column[there])
    return pl.DataFrame(rows, schema_overrides={"error": pl.Float64, "t": pl.Float64}).select(_SCHEMA)


@dataclass(frozen=True)
class _Model:
    """The linear model of all responses that the same runs have."""

    terms: Sequence[Term]
    design: Array
    """A column for each block, then one for each term."""
    inverse: Array
    """Of the design's square."""
    freedom: int

    @classmethod
    def of(cls, runs: pl.DataFrame, factors: Sequence[str], there: Array, block: str) -> _Model | None:
        """The model of the runs that are there; none where they are too few."""
        kept = runs.filter(pl.Series(there))
        varied = [name for name in factors if kept[name].n_unique() == runs[name].n_unique()]
        if not varied or kept.height <= len(varied):
            return None
        terms = [term for term in two_level(kept, varied).terms() if term.order <= (_ORDER if there.all() else 1)]
        blocks = kept[block].to_list() if block else []
        groups = [[each == one for each in blocks] for one in dict.fromkeys(blocks)] or [[True] * kept.height]
        design = np.column_stack([*(np.asarray(group, float) for group in groups), *(term.signs / 2 for term in terms)])
        freedom = kept.height - int(np.linalg.matrix_rank(design))
        return cls(terms, design, np.linalg.pinv(design.T @ design), freedom)

    def fit(self, values: Array) -> tuple[Array, Array]:
        """Effects (high less low) and their standard errors, by least squares."""
        found = self.inverse @ self.design.T @ values
        left = values - self.design @ found
        squares = float(left @ left) if self.freedom else math.nan
        if squares < (_ROUNDING * float(np.abs(values).max(initial=0.0))) ** 2 * len(values):
            squares = 0.0
        errors = np.sqrt(np.diag(self.inverse) * (squares / self.freedom if self.freedom else math.nan))
        own = self.design.shape[1] - len(self.terms)
        return found[own:], errors[own:]


def _of_response(model: _Model, response: str, values: Array) -> list[dict[str, object]]:
    log = values.min() > 0 and values.max() > _SPREAD * values.min()
    effects, errors = model.fit(np.log(values) if log else values)
    pseudo, of_pseudo = lenth(np.abs(effects))
    mean = float(values.mean())
    return [
        {
            "term": term.name,
            "aliases": ", ".join(term.aliases),
            "order": term.order,
            "response": response,
            "scale": "log" if log else "linear",
            "effect": float(effect),
            "relative_effect": math.expm1(effect) if log else float(effect) / abs(mean) if mean else math.nan,
            "error": float(error),
            "freedom": model.freedom,
            "t": float(effect / error) if error else math.nan,
            "p": _p_value(float(effect), float(error), model.freedom),
            "p_lenth": _p_value(float(effect), pseudo, of_pseudo),
            "sign": sign(float(effect)),
        }
        for term, effect, error in zip(model.terms, effects, errors, strict=True)
    ]


def _p_value(effect: float, error: float, freedom: float) -> float:
    """Two-sided, of Student's t; NaN where there is no error to compare with."""
    return two_sided(effect / error, freedom) if error else math.nan


def power(error: float, freedom: float, effect: float, level: float) -> float:
    """The probability with which an effect of some size is seen at a level, by Student's t.

    >>> round(power(0.03, 63, 0.1, 0.01), 3), round(power(0.1, 63, 0.1, 0.01), 3)
    (0.748, 0.055)
    """
    if not error or math.isnan(error) or freedom < 1:
        return math.nan
    limit = stats.t.isf(level / 2, freedom)
    if effect / error > limit + _CERTAIN:
        return 1.0
    # Of the wrong sign, which is not computed where it is next to nothing.
    other = stats.nct.cdf(-limit, freedom, effect / error)
    return float(stats.nct.sf(limit, freedom, effect / error) + (0.0 if math.isnan(other) else other))
