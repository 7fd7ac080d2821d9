"""Ellipses around groups of points: where their normal distributions lie.

Example:
    >>> points = pl.DataFrame({"queue": ["pie"] * 3, "delay": [1.0, 2.0, 3.0], "rate": [1.0, 2.0, 3.0]})
    >>> around(points, "queue", "delay", "rate").select("delay", "rate").max().row(0)
    (3.0, 3.0)
"""

from __future__ import annotations

from typing import Final

from tightlink.lazy import np, pl

_STEPS: Final = 49
#: Of fewer points there is no ellipse.
FEWEST: Final = 3


def around(frame: pl.DataFrame, by: str, x: str, y: str, deviations: float = 1.0) -> pl.DataFrame:
    """Of each group of three rows or more the ellipse around its mean, some standard deviations away, step by step."""
    turn = np.linspace(0.0, 2 * np.pi, _STEPS)
    circle = deviations * np.stack([np.cos(turn), np.sin(turn)])
    rows = []
    for (name,), group in frame.group_by(by, maintain_order=True):
        if group.height < FEWEST:
            continue
        points = group.select(x, y).to_numpy()
        values, vectors = np.linalg.eigh(np.cov(points.T))
        ellipse = points.mean(axis=0)[:, None] + vectors @ (np.sqrt(np.maximum(values, 0.0))[:, None] * circle)
        rows.append(pl.DataFrame({by: [name] * _STEPS, "step": range(_STEPS), x: ellipse[0], y: ellipse[1]}))
    return pl.concat(rows) if rows else pl.DataFrame({by: [], "step": [], x: [], y: []})
