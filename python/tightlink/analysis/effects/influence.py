"""How much each factor matters over all responses: the index Ψ of NIST 2010.

Ψ = (responses with p < 0.01 + ½ · responses with 0.01 ≤ p < 0.05) / responses. It is 1 for a factor that moves
everything, and 0 for one that can be left out of the next experiment.
"""

from __future__ import annotations

from collections.abc import Sequence

from tightlink.analysis.effects.main import STRONG, WEAK
from tightlink.lazy import pl


def influence(effects: pl.DataFrame, by: Sequence[str] = ()) -> pl.DataFrame:
    """The influence of each factor, in the order in which factors come.

    Args:
        effects: What `tightlink.analysis.effects.main.main_effects` found.
        by: Columns, such as period, with an index for each of their values.

    Returns:
        Columns ``*by``, factor, ``psi`` (0 to 1) and ``responses``, the number that it is a share of. Effects
        without a test count as responses that are not moved.

    Example:
        >>> effects = pl.DataFrame({
        ...     "factor": ["speed"] * 3 + ["patience"] * 3, "response": ["goodput", "loss", "delay"] * 2,
        ...     "p": [0.001, 0.02, 0.4, 0.6, 0.7, 0.8],
        ... })
        >>> tl.analyze.influence(effects).rows()
        [('speed', 0.5, 3), ('patience', 0.0, 3)]
    """
    p = pl.col("p").fill_nan(None).fill_null(1.0)
    strong, weak = (p < STRONG).sum(), ((p >= STRONG) & (p < WEAK)).sum()
    grouped = effects.group_by(*by, "factor", maintain_order=True)
    return grouped.agg(((strong + weak / 2) / pl.len()).alias("psi"), pl.len().cast(pl.Int64).alias("responses"))
