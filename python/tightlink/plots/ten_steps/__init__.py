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

from tightlink.plots.ten_steps.effects import contour, effects, half_normal, residual_sd, youden
from tightlink.plots.ten_steps.levels import blocks, interaction_matrix, means, ordered, scatter
from tightlink.plots.ten_steps.page import page

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
