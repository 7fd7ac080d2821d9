"""Scaling near a critical point: whether curves of several sizes are one curve, and with which exponents.

Near a continuous transition a quantity y of a system of size L is y = L^−a F((x / xc − 1) L^b), with one function F:
drawn as y L^a over (x / xc − 1) L^b, all sizes lie on one curve. The *width exponent* b says how the transition gets
sharper with size (1 / ν of a phase transition), the *height exponent* a what becomes of y at the critical point
(β / ν), and a / b is the exponent β with which y leaves zero in an infinite system. The exponents are those for which
the curves lie nearest to each other (S. M. Bhattacharjee, F. Seno: A measure of data collapse for scaling, J. Phys. A
34, 2001), each curve being interpolated where the others have points.

Example:
    >>> x = np.linspace(0.8, 1.2, 21)
    >>> curves = [pl.DataFrame({"size": n, "x": x, "y": n**-0.5 * np.exp((x - 1) * n**0.5), "error": 1e-4})
    ...           for n in (100.0, 400.0, 1600.0)]
    >>> found = collapse(pl.concat(curves), 1.0, resamples=20)
    >>> abs(found.height.value - 0.5) < 0.02, abs(found.width.value - 0.5) < 0.02
    (True, True)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Final

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.measurements import MeasurementError
from tightlink.lazy import Array, np, pl

_RESAMPLES: Final = 99
_FEWEST_POINTS: Final = 4
#: Exponents that are tried first.
_HEIGHTS: Final = tuple(part / 4 for part in range(-4, 9))
_WIDTHS: Final = tuple(part / 4 for part in range(-2, 7))
#: Of all points, the share that must lie where another curve is.
_OVERLAP: Final = 0.25
_FINEST: Final = 1e-4


@dataclass(frozen=True)
class Collapse:
    """The exponents with which curves of several sizes lie on each other."""

    height: Estimate
    """a."""
    width: Estimate
    """b."""
    misfit: float
    """Distance of the curves from each other, root of the mean square, as a share of their height."""
    misfit_unscaled: float
    """The same with both exponents 0."""


def collapse(points: pl.DataFrame, critical: float, *, resamples: int = _RESAMPLES) -> Collapse:
    """Find the exponents with which curves of several sizes become one.

    Points have ``size``, ``x``, ``y`` and ``error``, the standard error of y; several sizes, each over several x. For
    the intervals, values of y are drawn anew with their errors.
    """
    curves = []
    for (size,), part in points.sort("size", "x").group_by("size", maintain_order=True):
        if part.height < _FEWEST_POINTS:
            raise MeasurementError(f"size {size:g}: {part.height} points: expected at least {_FEWEST_POINTS}")
        values = [part[name].to_numpy().astype(float) for name in ("x", "y", "error")]
        curves.append((float(size), values[0] / critical - 1, values[1], values[2]))
    if len(curves) < 2:  # noqa: PLR2004
        raise MeasurementError(f"{len(curves)} size: expected two at least, so that there is something to scale")
    # Sizes relative to their middle, so that scaled curves stay in one order of magnitude.
    middle = float(np.exp(np.mean([np.log(size) for size, *_ in curves])))
    sizes = [size / middle for size, *_ in curves]
    across, heights = [curve[1] for curve in curves], [curve[2] for curve in curves]
    start = min(((a, b) for a in _HEIGHTS for b in _WIDTHS), key=lambda pair: _misfit(sizes, across, heights, *pair))
    best = _least(sizes, across, heights, start)
    noise = np.random.default_rng(1)
    drawn = []
    for _ in range(resamples):
        again = [curve[2] + noise.normal(size=len(curve[2])) * curve[3] for curve in curves]
        drawn.append(_least(sizes, across, again, best))
    height, width = (Estimate.of(best[part], [pair[part] for pair in drawn]) for part in range(2))
    return Collapse(height, width, _misfit(sizes, across, heights, *best), _misfit(sizes, across, heights, 0.0, 0.0))


def scaled(points: pl.DataFrame, critical: float, height: float, width: float) -> pl.DataFrame:
    """The points with ``scaled_x`` = (x / xc − 1) size^width and ``scaled_y`` = y size^height beside them."""
    return points.with_columns(
        scaled_x=(pl.col("x") / critical - 1) * pl.col("size").cast(pl.Float64).pow(width),
        scaled_y=pl.col("y") * pl.col("size").cast(pl.Float64).pow(height),
    )


def _least(
    sizes: list[float], across: list[Array], heights: list[Array], start: tuple[float, float]
) -> tuple[float, float]:
    from scipy import optimize

    near = [(start[0] + 0.1, start[1]), (start[0], start[1] + 0.1)]
    found = optimize.minimize(
        lambda pair: _misfit(sizes, across, heights, *pair),
        start,
        method="Nelder-Mead",
        options={"xatol": _FINEST, "fatol": _FINEST**2, "initial_simplex": [start, *near]},
    )
    return float(found.x[0]), float(found.x[1])


def _misfit(sizes: list[float], across: list[Array], heights: list[Array], height: float, width: float) -> float:
    """How far each curve is from the points of the others, where both are, relative to how high they are."""
    xs = [u * size**width for size, u in zip(sizes, across, strict=True)]
    ys = [y * size**height for size, y in zip(sizes, heights, strict=True)]
    off = 0.0
    met = total = 0
    for one, other in permutations(range(len(xs)), 2):
        inside = (xs[other] >= xs[one][0]) & (xs[other] <= xs[one][-1])
        curve, points = np.interp(xs[other][inside], xs[one], ys[one]), ys[other][inside]
        met, total = met + len(points), total + len(inside)
        level = float((points**2 + curve**2).sum()) / 2
        # Of each two curves by itself: else what stretches high curves would count for more.
        off += len(points) * float(((points - curve) ** 2).sum()) / level if level else 0.0
    return float(np.sqrt(off / met)) if met >= _OVERLAP * total else np.inf
