"""All ten steps of one response."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.effects.designed import numbers
from tightlink.analysis.effects.interactions import interactions
from tightlink.analysis.effects.main import main_effects
from tightlink.analysis.effects.noise import Response, cells_of
from tightlink.analysis.effects.noise import noise as noise_of
from tightlink.analysis.effects.ten_steps.half_normal import HalfNormal, half_normal
from tightlink.analysis.effects.ten_steps.levels import blocks, ordered, scatter
from tightlink.analysis.effects.ten_steps.ranking import ranked, residual_sd
from tightlink.analysis.effects.ten_steps.surface import Surface, surface
from tightlink.analysis.effects.two_level import TwoLevel, two_level
from tightlink.analysis.measurements import MeasurementError
from tightlink.lazy import np, pl

_FEWEST: Final = 4


@dataclass(frozen=True)
class Steps:
    """What each step shows, in their order; steps 6 and 7 are both of ``effects``."""

    response: str
    design: TwoLevel
    mean: float
    """Of all runs."""
    ordered: pl.DataFrame
    """1. Runs from the least response on: ``place``, ``value``, and "−" or "+" for each factor."""
    scatter: pl.DataFrame
    """2. A row for each run and factor: ``factor``, ``level`` (−1 or 1), ``value``."""
    means: pl.DataFrame
    """3. The main effects, as `tightlink.analysis.effects.main.main_effects` has them."""
    interactions: pl.DataFrame
    """4. The interactions of each pair of factors."""
    blocks: pl.DataFrame
    """5. For each factor, its effect where others have the same levels: ``factor``, ``block``, ``mean_low``,
    ``mean_high``, ``effect``."""
    effects: pl.DataFrame
    """6 and 7. Effects that can be told apart, the largest first: ``term``, ``order``, ``mean_low``, ``mean_high``,
    ``effect``, ``p``, ``aliases``."""
    half_normal: HalfNormal
    """8. Which of them are more than noise."""
    residual_sd: pl.DataFrame
    """9. What is not explained by the mean and the first terms: ``term``, ``terms`` (with the mean),
    ``residual_sd``."""
    surface: Surface | None
    """10. The response over the two factors that matter most; nothing where there is one factor."""


def steps(runs: pl.DataFrame, response: str, factors: Sequence[str]) -> Steps:
    """Take Filliben's ten graphical steps for one response of a two-level experiment.

    Args:
        runs: A row for each run; those without the response are left out.
        response: Column of numbers that came out.
        factors: Columns with two levels each.

    Returns:
        What each step shows, most of them a table: ``ordered``, ``scatter``, ``means``, ``interactions``, ``blocks``,
        ``effects``, ``half_normal``, ``residual_sd``, ``surface``. `tightlink.plots.ten_steps` draws them.

    Raises:
        MeasurementError: A column is missing or no numbers, a factor has other than two levels, the response does
            not vary, or there are too few runs.

    Example:
        >>> runs = pl.DataFrame({"rate": [1, 2, 1, 2], "queue": [5, 5, 9, 9], "goodput_bps": [1.0, 2.0, 1.1, 2.2]})
        >>> tl.analyze.filliben(runs, "goodput_bps", ["rate", "queue"]).response
        'goodput_bps'
    """
    if response in factors:
        raise MeasurementError(f"{response}: expected a response that is not a factor")
    every = numbers(runs, [response])[:, 0]
    kept, values = runs.filter(pl.Series(np.isfinite(every))), every[np.isfinite(every)]
    if kept.height < _FEWEST:
        raise MeasurementError(f"{response}: expected at least {_FEWEST} runs with it, and there are {kept.height}")
    if not np.ptp(values):
        raise MeasurementError(f"{response}: expected a response that varies, and it is {values[0]:g} in every run")
    design = two_level(kept, factors)
    terms = design.terms()
    noise = noise_of(design, values, cells_of(kept))
    effects = ranked(terms, Response(values, design, noise))
    if effects.is_empty():
        raise MeasurementError(f"{response}: the runs that have it tell no effect of a factor from those of others")
    return Steps(
        response=response,
        design=design,
        mean=math.fsum(values) / len(values),
        ordered=ordered(design, values),
        scatter=scatter(design, values),
        means=main_effects(kept, factors, [response]),
        interactions=interactions(kept, factors, [response]),
        blocks=blocks(design, values),
        effects=effects,
        half_normal=half_normal(effects, noise, len(values)),
        residual_sd=residual_sd(terms, effects["term"].to_list(), values),
        surface=surface(design, effects, values),
    )
