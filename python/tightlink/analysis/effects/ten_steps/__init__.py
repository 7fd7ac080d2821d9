"""The ten graphical steps from a two-level experiment to what matters in it, as numbers.

They are Filliben's, as in section 5.5.9 of the NIST/SEMATECH e-Handbook of Statistical Methods: (1) ordered data,
(2) scatter, (3) mean, (4) interaction matrix, (5) block, (6) Youden, (7) |effects|, (8) half-normal,
(9) cumulative residual standard deviation, (10) contour. `tightlink.plots.ten_steps` draws them.

Example:
    >>> runs = pl.DataFrame({
    ...     "oven": [1450, 1600] * 4, "carbon": [0.5, 0.5, 0.7, 0.7] * 2, "quench": [70] * 4 + [120] * 4,
    ...     "whole": [67, 79, 61, 75, 59, 90, 52, 87],
    ... })
    >>> found = steps(runs, "whole", ["oven", "carbon", "quench"])
    >>> found.effects.select("term", "effect").rows()[:3]
    [('oven', 23.0), ('oven × quench', 10.0), ('carbon', -5.0)]
    >>> found.residual_sd.select("term", pl.col("residual_sd").round(2)).rows()[:4]
    [('mean', 13.72), ('oven', 6.58), ('oven × quench', 3.45), ('carbon', 1.54)]
    >>> found.surface.across, found.surface.up, found.surface.highest
    ('oven', 'quench', (1, 1))
"""

from __future__ import annotations

from tightlink.analysis.effects.ten_steps.half_normal import HalfNormal
from tightlink.analysis.effects.ten_steps.steps import Steps, steps
from tightlink.analysis.effects.ten_steps.surface import Surface

__all__ = ["HalfNormal", "Steps", "Surface", "steps"]
