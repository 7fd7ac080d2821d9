"""Figures of the ten graphical steps: one function each, and `page` with all of them.

Each takes what `tightlink.analysis.effects.ten_steps.steps` found, and draws into ``ax``, or into a new figure.
``names`` says what factors are called: by themselves by the ends of their names, on the page by letters with a key.

Example:
    >>> from tightlink.analysis.effects.ten_steps import steps
    >>> runs = pl.DataFrame({"a": [1, 2] * 4, "b": [1, 1, 2, 2] * 2, "c": [1] * 4 + [2] * 4,
    ...                      "loss": [1.0, 4.0, 2.0, 5.0, 1.0, 6.0, 2.0, 7.0]})
    >>> half_normal(steps(runs, "loss", ["a", "b", "c"])).get_ylabel()
    'effect on loss (%)'
"""

from __future__ import annotations

from textwrap import fill
from typing import Final

from tightlink.analysis.effects.ten_steps import Steps
from tightlink.lazy import Figure
from tightlink.plots import labels
from tightlink.plots.style import figure, house_style
from tightlink.plots.ten_steps import names as named
from tightlink.plots.ten_steps.effects import contour, effects, half_normal, residual_sd, youden
from tightlink.plots.ten_steps.levels import LYING, blocks, interaction_matrix, means, ordered, scatter

__all__ = [
    "blocks",
    "contour",
    "effects",
    "half_normal",
    "interaction_matrix",
    "means",
    "ordered",
    "page",
    "residual_sd",
    "scatter",
    "youden",
]

_COLUMNS: Final = 2
#: Of the page, in inches, and of its text in letters.
_SIZE: Final = (11.0, 17.0)
_WIDE: Final = 150
#: Above the axes, in points: of titles, of those above numbers that lie, and above numbers that stand upright.
_PAD, _LYING, _UPRIGHT = 6, 30, 46
_STEPS: Final = (
    ("ordered data", ordered),
    ("scatter", scatter),
    ("mean", means),
    ("interaction effects", interaction_matrix),
    ("block", blocks),
    ("Youden", youden),
    ("|effects|", effects),
    ("half-normal", half_normal),
    ("residual standard deviation", residual_sd),
    ("contour", contour),
)


def page(found: Steps) -> Figure:
    """All ten steps of a response, with a key to the letters that factors have."""
    above = _LYING if len(found.design.factors) <= LYING else _UPRIGHT
    letters = named.letters(found.design.factors)
    with house_style():
        drawn, grid = figure(_SIZE, len(_STEPS) // _COLUMNS, _COLUMNS)
        for place, ((title, draw), ax) in enumerate(zip(_STEPS, grid, strict=True), 1):
            draw(found, names=letters, ax=ax)
            ax.set_title(f"{place}  {title}", pad=above if draw is means else _PAD)
        heading = f"{labels.plain(found.response)}: {found.design.sentence()}"
        drawn.suptitle(heading, x=0.01, ha="left", fontweight="bold", fontsize=11)
        drawn.supxlabel(_key(found, letters), x=0.01, ha="left", fontsize=8.5)
    return drawn


def _key(found: Steps, letters: dict[str, str]) -> str:
    """Which factor each letter is, and its two levels."""
    parts = [
        f"{letters[factor]} = {factor}: {low} → {high}" if letters[factor] != factor else f"{factor}: {low} → {high}"
        for factor, (low, high) in zip(found.design.factors, found.design.levels, strict=True)
    ]
    return fill("   ".join(part.replace(" ", "\u00a0") for part in parts), _WIDE).replace("\u00a0", " ")
