"""Where a network begins to congest: order parameter, susceptibility, critical load.

A network whose queues never drop delivers all that it is sent, or keeps some of it for ever. The *order parameter* η
is the share that stays: η = (1 / packets sent per second) ΔN / Δt, with N the packets in the network (A. Arenas,
A. Díaz-Guilera, R. Guimerà: Communication in Networks with Hierarchical Branching, Phys. Rev. Lett. 86, 2001). It is
0 up to the critical load, and positive beyond.

The *susceptibility* χ is read from windows of one run. N below the critical load goes up and down about a level, and
the variance of its growth over a window, Var ΔN, does not depend on the length of the window; beyond, N wanders as
it grows, and Var ΔN is proportional to the length. So χ = d Var ΔN / d (packets sent in the window), the slope over
several lengths: 0 below, positive beyond. For one link that serves at a constant rate what arrives at random it is
1 beyond, the variance of a Poisson process over its mean.

Example:
    >>> loads = np.arange(90.0, 131.0, 2.0)
    >>> found = onset(loads, np.maximum(0.0, 1 - 104 / loads), np.full(len(loads), 1e-3))
    >>> found.critical.low < 104 < found.critical.high, round(found.slope.value, 2)
    (True, 1.0)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.estimates import RESAMPLES, Estimate
from tightlink.analysis.measurements import MeasurementError
from tightlink.lazy import Array, ArrayLike, NDArray, np, pl

#: Lengths of windows, in samples.
_LENGTHS: Final = (4, 8, 16, 24, 32)
#: Windows of the longest length that a run must hold.
_FEWEST_WINDOWS: Final = 4
#: For the order parameter.
_FEWEST_SAMPLES: Final = 32
_FEWEST_LOADS: Final = 4
#: Loads from this share to this multiple of the critical one tell where it is; further ones, what comes next. On
#: networks of known critical load, intervals from this range hold it as often as they say; from 1.25, in 80 of 100.
_BELOW: Final = 0.6
_ABOVE: Final = 1.125
#: Places at which the critical load is looked for.
_PLACES: Final = 1201
_ROUNDS: Final = 8
#: A growth of more than this many errors is one.
_CLEAR: Final = 4.0
#: Up to here above the critical load, the level of the susceptibility is the one that it rises to there.
_LEVEL: Final = 1.07


@dataclass(frozen=True)
class Growth:
    """What piles up in a run."""

    order: float
    """η: packets that pile up per packet sent."""
    error: float
    """Its standard error: of the mean over windows."""
    lost: float
    """Packets dropped per packet sent."""


def growth(table: pl.DataFrame, since_s: float = 0.0) -> Growth:
    """The order parameter of a run's table ``scatter``, of one label, since the network has filled."""
    inside, sent, dropped = _after(table, since_s, _FEWEST_SAMPLES)
    longest = len(inside) // _FEWEST_WINDOWS
    each = np.diff(inside[::longest]) / (sent.mean() * longest)
    order = (inside[-1] - inside[0]) / sent[1:].sum()
    error = float(each.std(ddof=1)) / np.sqrt(len(each))
    return Growth(float(order), float(error), float(dropped.sum() / sent.sum()))


@dataclass(frozen=True)
class Susceptibility:
    """The susceptibility at one load."""

    value: float
    """χ."""
    error: float
    """Its standard error, from the halves of the runs."""


def susceptibility(tables: Sequence[pl.DataFrame], since_s: float = 0.0) -> Susceptibility:
    """χ at one load, from all windows of one or more runs of it."""
    samples = [_after(table, since_s, 2 * _FEWEST_WINDOWS * _LENGTHS[-1]) for table in tables]
    sent = float(np.mean([part[1].mean() for part in samples]))
    whole = [inside for inside, *_ in samples]
    halves = [half for inside in whole for half in np.array_split(inside, 2)]
    each = [_slope([half], sent) for half in halves]
    return Susceptibility(_slope(whole, sent), float(np.std(each, ddof=1)) / len(each) ** 0.5)


@dataclass(frozen=True)
class Onset:
    """Where the order parameter leaves zero, and how steeply."""

    critical: Estimate
    """λc."""
    slope: Estimate
    """dη / d ln λ at λc: the share of the traffic that meets what is full there."""


def onset(loads: ArrayLike, orders: ArrayLike, errors: ArrayLike, *, resamples: int = RESAMPLES) -> Onset:
    """The critical load from the order parameter at loads in ascending order.

    What piles up in a second, η λ, is zero up to λc and a parabola in λ − λc beyond, over the loads from 0.6 to 1.125
    times the λc that is found. The interval is that of orders drawn anew with their errors, which are made wider
    where the parabola fits worse than they allow. It is as wide as it should be where loads lie a few percent apart
    near λc; with fewer it is too narrow.
    """
    x, y, width = (np.asarray(values, dtype=float) for values in (loads, orders, errors))
    _check(x, y, width)
    # An order parameter near its zero has next to no error: what the others have at least is its own.
    width = np.maximum(width, np.median(width))
    critical = float(x[np.flatnonzero(y > _CLEAR * width)[0]])
    before = np.nan
    for _ in range(_ROUNDS):
        near = (x >= _BELOW * critical) & (x <= _ABOVE * critical)
        if len(np.unique(x[near])) < _FEWEST_LOADS:
            near = np.ones(len(x), dtype=bool)
        chosen = _Parabola(x[near], width[near])
        critical = float(chosen.fit(y[near][None, :])[0][0])
        if critical == before:
            break
        before = critical
    return _estimated(chosen, y[near], width[near], resamples)


def rise(
    loads: ArrayLike, values: ArrayLike, errors: ArrayLike, critical: float, *, resamples: int = RESAMPLES
) -> Estimate:
    """The critical load from the susceptibility: where it comes to half of the level that it has just above.

    The level is read from the critical load by the order parameter, ``critical``, to 1.07 times it. Windows of W
    seconds round the step towards smaller loads, by about 1 / √(W × capacity of the full link). For the interval values
    are drawn anew with their standard errors.
    """
    x, y, width = (np.asarray(part, dtype=float) for part in (loads, values, errors))
    at = (x >= critical * (1 - 1e-9)) & (x <= critical * _LEVEL)
    if not at.any():
        raise MeasurementError(f"no load between {critical:g} and {critical * _LEVEL:g}: expected one at least")
    found = _crossing(x, y, at)
    if found is None:
        raise MeasurementError("the susceptibility is high at all loads: expected some below the critical one")
    noise = np.random.default_rng(1).normal(size=(resamples, len(x))) * width
    drawn = [place for row in y + noise if (place := _crossing(x, row, at)) is not None]
    return Estimate.of(found, drawn)


def _crossing(x: Array, y: Array, at: NDArray[np.bool_]) -> float | None:
    """The last load up to the level at which half of it is reached."""
    half = float(np.median(y[at])) / 2
    below = np.flatnonzero((y < half) & (x < x[at][-1]))
    if not len(below):
        return None
    last = int(below[-1])
    return float(x[last] + (half - y[last]) / (y[last + 1] - y[last]) * (x[last + 1] - x[last]))


def _slope(runs: Sequence[Array], sent: float) -> float:
    """D Var ΔN / d (packets sent), over windows of some lengths."""
    lengths = np.array(_LENGTHS)
    spread = [np.mean([_variance(inside, length) for inside in runs]) for length in _LENGTHS]
    # The error of a variance grows with it, and with fewer windows: both as the length.
    weights = lengths**-1.5
    columns = np.column_stack([lengths * sent, np.ones(len(lengths))]) * weights[:, None]
    slope, _ = np.linalg.lstsq(columns, np.array(spread) * weights)[0]
    return float(slope)


class _Parabola:
    """All places of the onset for some loads, made orthogonal once.

    η = (λc / λ) (slope × u + curvature × u²) with u = λ / λc − 1, over its errors.
    """

    def __init__(self, loads: Array, errors: Array) -> None:
        self.places = np.linspace(loads[0], np.unique(loads)[-2], _PLACES)
        beyond = np.maximum(0.0, loads[None, :] / self.places[:, None] - 1)
        scale = self.places[:, None] / loads[None, :] / errors[None, :]
        line, bend = beyond * scale, beyond**2 * scale
        # With two loads beyond it a place knows a line only.
        bend[(beyond > 0).sum(axis=1) < 3] = 0.0  # noqa: PLR2004
        self._length = np.linalg.norm(line, axis=1)
        self._line = line / self._length[:, None]
        self._common = (self._line * bend).sum(axis=1)
        rest = bend - self._common[:, None] * self._line
        self._rest_length = np.linalg.norm(rest, axis=1)
        there = self._rest_length > 0
        self._rest = np.divide(rest, self._rest_length[:, None], out=np.zeros_like(rest), where=there[:, None])
        self._errors = errors

    def fit(self, orders: Array) -> tuple[Array, Array, Array, Array]:
        """For each row of orders: λc, slope, curvature, and the sum of squares in errors."""
        scaled = orders / self._errors
        along, across = scaled @ self._line.T, scaled @ self._rest.T
        left = (scaled**2).sum(axis=1)[:, None] - along**2 - across**2
        curvature = np.divide(across, self._rest_length, out=np.zeros_like(across), where=self._rest_length > 0)
        slope = (along - self._common * curvature) / self._length
        best = np.where(slope > 0, left, np.inf).argmin(axis=1)
        rows = np.arange(len(orders))
        return self.places[best], slope[rows, best], curvature[rows, best], left[rows, best]

    def model(self, orders: Array) -> Array:
        """What was fitted to one row of orders, at its loads."""
        scaled = orders / self._errors
        place = int(np.argmin(np.abs(self.places - self.fit(orders[None, :])[0][0])))
        line, rest = self._line[place], self._rest[place]
        return np.asarray((line * (scaled @ line) + rest * (scaled @ rest)) * self._errors)


def _estimated(chosen: _Parabola, orders: Array, errors: Array, resamples: int) -> Onset:
    (place,), (slope,), _, (squares,) = chosen.fit(orders[None, :])
    misfit = max(1.0, float(squares) / max(len(orders) - 3, 1)) ** 0.5
    drawn = np.random.default_rng(1).normal(0.0, misfit, (resamples, len(orders))) * errors
    places, slopes, *_ = chosen.fit(chosen.model(orders) + drawn)
    return Onset(Estimate.of(float(place), places), Estimate.of(float(slope), slopes))


def _check(loads: Array, orders: Array, errors: Array) -> None:
    different = len(np.unique(loads))
    if different < _FEWEST_LOADS:
        raise MeasurementError(f"{different} different loads: expected at least {_FEWEST_LOADS}")
    if (np.diff(loads) < 0).any():
        raise MeasurementError("loads: expected them in ascending order")
    clear = orders > _CLEAR * np.maximum(errors, np.median(errors))
    if not clear.any():
        raise MeasurementError(f"nothing piles up at any load up to {loads[-1]:g}: expected higher loads")
    if clear[0]:
        raise MeasurementError(f"packets pile up at the smallest load, {loads[0]:g}: expected smaller ones")


def _variance(inside: Array, length: int) -> float:
    """Of the growth over all windows of so many samples, overlapping ones too."""
    grown = inside[length:] - inside[:-length]
    independent = len(inside) / length
    return float(grown.var() * independent / (independent - 1))


def _after(table: pl.DataFrame, since_s: float, fewest: int) -> tuple[Array, Array, Array]:
    """Packets in the network, sent and dropped, at each sample from a time on."""
    chosen = table.filter(table["time_s"] >= since_s)
    if chosen.height < fewest:
        raise MeasurementError(f"{chosen.height} samples after {since_s:g} s: expected at least {fewest}")
    names = ("packets_in_network", "packets_sent", "packets_dropped")
    inside, sent, dropped = (chosen[name].to_numpy().astype(float) for name in names)
    return inside, sent, dropped
