"""Lines that break: load over packet rate as one, two or three connected straight pieces.

Five shapes are fitted by least squares and compared by BIC: a line; a rise to a flat level; a rise that
bends to at most half its slope, or falls; a rise to a level that is left again downwards, in a line or at
once. Breaks are searched for between neighbouring probes, and reported as these: never finer than the data.

Example:
    >>> rates = np.arange(100.0, 2000.0, 100.0)
    >>> found = best(rates, np.minimum(rates, 1250.0)[None, :] / 2000)
    >>> found.shape[0], found.bracket(0), round(float(found.level[0]), 3)
    ('flat', (1200.0, 1300.0), 0.625)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from tightlink.analysis.estimates import Fit
from tightlink.lazy import Array, NDArray, np

Shape: TypeAlias = Literal["line", "flat", "bend", "plateau", "collapse"]
#: Distinct rates that the first piece must have.
LEAST_RATES: Final = 3
#: Parameters with the variance of the residuals, and how many of them are breaks.
_PARAMETERS: Final[dict[Shape, tuple[int, int]]] = {
    "line": (3, 0),
    "flat": (4, 1),
    "bend": (5, 1),
    "plateau": (6, 2),
    "collapse": (6, 2),
}
#: Rates closer than this are one probe that was repeated.
_SAME: Final = 1.01
#: Where a break may lie between two probes; with two breaks, fewer places.
_WITHIN: Final = tuple(part / 16 for part in range(16))
_WITHIN_PAIRS: Final = (0.0, 0.5)
#: NDArray[np.int64] between probes that are tried; with more probes, neighbours are taken together.
_MOST_GAPS: Final = 60
#: A load is read to a tenth of a percent at best.
FINEST: Final = 1e-3
_STEEPEST: Final = 0.5
_CHUNK: Final = 64


@dataclass(frozen=True)
class Fitted:
    """The best shape for each of several data sets over the same rates."""

    shape: list[Shape]
    breaks: NDArray[np.int64]
    """Of the first break of each data set: it lies between gap[place] and gap[place + 1]; −1 for none."""
    gaps: Array
    """The probes between which breaks were looked for."""
    model: Array
    """Fitted loads: a row for each data set."""
    slope: Array
    """Of the first piece."""
    level: Array
    """The highest fitted load at a probe: where pieces cross between probes, nothing was measured."""
    fits: list[Fit]

    def bracket(self, data_set: int) -> tuple[float, float] | None:
        """The probes between which the first break lies, if there is one."""
        place = int(self.breaks[data_set])
        return None if place < 0 else (float(self.gaps[place]), float(self.gaps[place + 1]))


@dataclass(frozen=True)
class _Candidates:
    """All designs of a shape: its columns for each place of its breaks, made orthogonal once."""

    knots: Array
    places: NDArray[np.int64]
    columns: Array
    q: Array
    inverse: Array


def probes(rates: Array) -> Array:
    """The distinct rates, of those that are nearly equal the first."""
    kept = [float(rates[0])]
    for rate in rates[1:]:
        if rate > kept[-1] * _SAME:
            kept.append(float(rate))
    return np.array(kept)


def best(rates: Array, loads: Array) -> Fitted:
    """The shape that BIC prefers for each row of loads over ascending packet rates, with its breaks."""
    distinct = probes(rates)
    every = -(-max(len(distinct) - LEAST_RATES, 1) // _MOST_GAPS)
    gaps = np.append(distinct[LEAST_RATES - 1 : -1 : every], distinct[-1])
    found = [(shape, *_fit(shape, _designs(shape, rates, gaps), loads)) for shape in _PARAMETERS]
    chosen: list[Shape] = []
    fits, rows = [], []
    for row in range(len(loads)):
        ranked = []
        for shape, squares, *rest in found:
            parameters, breaks = _PARAMETERS[shape]
            if np.isfinite(squares[row]):
                fit = Fit(float(squares[row]), len(rates), parameters, breaks, FINEST)
                ranked.append((fit.bic, shape, fit, [values[row] for values in rest]))
        _, shape, fit, values = min(ranked, key=lambda one: one[0])
        chosen.append(shape)
        fits.append(fit)
        rows.append(values)
    coefficients, knots, places = (np.array([row[part] for row in rows]) for part in range(3))
    model = np.array([_model(shape, rates, k, c) for shape, k, c in zip(chosen, knots, coefficients, strict=True)])
    return Fitted(chosen, places[:, 0], gaps, model, coefficients[:, 1], model.max(axis=1), fits)


def _columns(shape: Shape, rates: Array, first: Array, second: Array) -> list[Array]:
    """The columns of a design; of many, where the breaks of each stand in a row of their own."""
    one = np.ones(np.broadcast_shapes(first.shape, rates.shape))
    if shape == "line":
        return [one, rates * one]
    rise = np.minimum(rates, first)
    if shape == "flat":
        return [one, rise]
    if shape == "collapse":
        return [one, rise, (rates > second * _SAME).astype(float)]
    return [one, rise, np.maximum(rates - (first if shape == "bend" else second), 0.0)]


def _model(shape: Shape, rates: Array, knots: Array, coefficients: Array) -> Array:
    columns = np.array(_columns(shape, rates, knots[:1], knots[1:]))
    return coefficients[: len(columns)] @ columns


def _designs(shape: Shape, rates: Array, gaps: Array) -> _Candidates:
    breaks = _PARAMETERS[shape][1]
    within = _WITHIN if breaks == 1 else _WITHIN_PAIRS
    lone = [
        (float(low * (high / low) ** part), place)
        for place, (low, high) in enumerate(pairwise(gaps))
        for part in within
    ]
    none = (np.nan, -1)
    pairs = [(none, none)] if breaks == 0 else [(one, none) for one in lone]
    if shape == "plateau":
        pairs = [(one, other) for one in lone for other in lone if other[1] > one[1]]
    elif shape == "collapse":
        ends = list(zip(gaps[:-1].tolist(), range(len(gaps) - 1), strict=True))
        pairs = [(one, other) for one in lone for other in ends if other[1] > one[1]]
    knots = np.array([[one[0], other[0]] for one, other in pairs]).reshape(-1, 2)
    places = np.array([[one[1], other[1]] for one, other in pairs], dtype=np.int64).reshape(-1, 2)
    columns = np.stack(_columns(shape, rates, knots[:, :1], knots[:, 1:]), axis=-1)
    if not len(knots):
        return _Candidates(knots, places, columns, columns, columns)
    q, r = np.linalg.qr(columns)
    # Two breaks between which no probe lies cannot be told apart.
    whole = np.abs(np.diagonal(r, axis1=1, axis2=2)).min(axis=1) > FINEST * rates[0]
    return _Candidates(knots[whole], places[whole], columns[whole], q[whole], np.linalg.inv(r[whole]))


def _fit(shape: Shape, designs: _Candidates, loads: Array) -> tuple[Array, Array, Array, NDArray[np.int64]]:
    """Least squares, coefficients, breaks and their places for each data set; infinite where none is allowed."""
    squares = np.full(len(loads), np.inf)
    coefficients, knots = np.full((len(loads), 3), np.nan), np.full((len(loads), 2), np.nan)
    places = np.full((len(loads), 2), -1, dtype=np.int64)
    if not len(designs.knots):
        return squares, coefficients, knots, places
    for start in range(0, len(loads), _CHUNK):
        part = loads[start : start + _CHUNK]
        along = np.einsum("cnm,bn->cbm", designs.q, part, optimize=True)
        solved = np.einsum("cmk,cbk->cbm", designs.inverse, along, optimize=True)
        left = np.maximum((part**2).sum(axis=1)[None, :] - (along**2).sum(axis=2), 0.0)
        left = np.where(_allowed(shape, solved), left, np.inf)
        at, rows = left.argmin(axis=0), np.arange(part.shape[0])
        into = slice(start, start + len(part))
        squares[into], knots[into], places[into] = left[at, rows], designs.knots[at], designs.places[at]
        coefficients[into, : solved.shape[2]] = solved[at, rows]
    return squares, coefficients, knots, places


def _allowed(shape: Shape, solved: Array) -> NDArray[np.bool_]:
    """Which coefficients are of the shape: what breaks must have risen, and a plateau is left downwards."""
    rising: NDArray[np.bool_] = solved[..., 1] > 0
    if shape == "line":
        return np.ones_like(rising)
    if shape == "bend":
        return rising & (solved[..., 2] <= _STEEPEST * solved[..., 1])
    return rising if shape == "flat" else rising & (solved[..., 2] < 0)
