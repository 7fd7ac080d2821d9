"""What a path must be like for the predictions to fit observations: bounded optimisation on the simulator.

The unknown of a path (bandwidth, round trip, queue, cross traffic) are moved, on logarithmic axes, until the
relative residuals are least. A step of the search is large enough to see over single lost packets. The
intervals are those of a linear model around the optimum; where one is as wide as the range that was
searched, the observations say nothing about this parameter.

Example:
    >>> from tightlink.analysis.path.bulk_path import BulkPath
    >>> from tightlink.analysis.path.cells import simulate_cells
    >>> true = BulkPath(bandwidth_bps=2e6, rtt_s=0.08, duration_s=5.0)
    >>> observed = simulate_cells(true, [(4, 1), (8, 1), (8, 2), (8, 4)]).select(
    ...     "window_packets", "flows", "goodput_bps")
    >>> found = calibrate(observed, true.changed(bandwidth_bps=3e6), {"bandwidth_bps": (1e6, 8e6)})
    >>> found.parameters["bandwidth_bps"].bound, round(found.path.bandwidth_bps / 1e6, 1)
    (True, 2.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tightlink.analysis.estimates import CONFIDENCE, Estimate
from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.analysis.path.residuals import predictions
from tightlink.errors import TightlinkError
from tightlink.lazy import NDArray, np, pl, stats

#: What can be fitted, and how far from the path's own value it is searched, as factors.
RANGES: Final = {"bandwidth_bps": (0.25, 4.0), "rtt_s": (0.25, 4.0), "queue_packets": (0.125, 8.0)}
#: Cross traffic is searched between shares: there is none to begin with.
CROSS: Final = (0.005, 0.9)
#: Of a parameter, to see which way the residuals go: packets lost by chance hide smaller ones.
_STEP: Final = 0.1
#: Steps of the last, direct search.
_STEPS: Final = (0.08, 0.04, 0.02, 0.01)
#: Starting points between the bounds, as shares of the logarithmic way, beside the path's own value.
_STARTS: Final = (0.25, 0.75)
#: An interval of this share of the range searched is no knowledge.
_UNKNOWN: Final = 0.5
#: Parameters whose estimates are correlated beyond this cannot be told apart.
_TIED: Final = 0.95
_TOLERANCE: Final = 1e-3
#: What counts as no change at all, squared.
_NOTHING: Final = 1e-9
#: A value as near to an end of its range is at the end, in logarithms.
_EDGE: Final = 0.1


@dataclass(frozen=True)
class Parameter:
    """A fitted parameter with its interval, and whether the observations bind it."""

    estimate: Estimate
    bound: bool
    why: str
    """Why not, in words; empty if they do."""


@dataclass(frozen=True)
class Calibration:
    """The path that fits best."""

    path: BulkPath
    parameters: dict[str, Parameter]
    residual: float
    """Root mean square of (s − o) / o that is left."""
    before: float
    """The same before the search."""
    simulated: int
    """Runs that the search took."""


def calibrate(
    observed: pl.DataFrame, path: BulkPath, ranges: Mapping[str, tuple[float, float]], *, jobs: int = 1
) -> Calibration:
    """Fit parameters of a path to observations, as `tightlink.analysis.path.observations` reads them.

    The path has what is known, and is where the search begins; ranges have the least and the greatest value by the
    names of the path's fields.
    """
    from scipy.optimize import least_squares

    names = list(ranges)
    if observed.height <= len(names):
        raise TightlinkError(
            f"{observed.height} observations cannot bind {len(names)} parameters: expected at least {len(names) + 1}"
        )
    model = _Model(observed, path, names, jobs)
    low, high = (np.log([ranges[name][end] for name in names]) for end in (0, 1))
    begin = np.clip(np.log([max(getattr(path, name), ranges[name][0]) for name in names]), low, high)
    before = _rms(model(begin))
    starts = [begin, *(low + share * (high - low) for share in _STARTS)]
    # A trial of each start first: the search itself goes from the best of them.
    start = min(starts, key=lambda place: _rms(model(place)))
    inside = np.clip(start, low + _TOLERANCE, high - _TOLERANCE)
    found = least_squares(
        model, inside, bounds=(low, high), jac=model.slopes, loss="soft_l1", xtol=_TOLERANCE, ftol=_TOLERANCE,
        max_nfev=25,
    )  # fmt: skip
    best = _polished(model, min([found.x, *starts], key=lambda place: _rms(model(place))), low, high)
    fitted = model.path(best)
    return Calibration(fitted, _parameters(model, best, ranges), _rms(model(best)), before, model.simulated)


def _polished(model: _Model, best: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[Any]:
    """The best of the neighbours, and of theirs, in steps that get finer: slopes mislead where packets are lost."""
    least = _rms(model(best))
    for step in _STEPS:
        better = True
        while better:
            better = False
            for place in range(len(best)):
                for way in (-step, step):
                    tried = best.copy()
                    tried[place] = np.clip(tried[place] + way, low[place], high[place])
                    left = _rms(model(tried))
                    if left < least:
                        best, least, better = tried, left, True
    return best


@dataclass
class _Model:
    """Relative residuals of a path whose parameters' logarithms are given; equal questions are answered once."""

    observed: pl.DataFrame
    begin: BulkPath
    names: list[str]
    jobs: int
    simulated: int = 0
    known: dict[BulkPath, NDArray[Any]] = field(default_factory=dict)

    def path(self, logs: NDArray[Any]) -> BulkPath:
        """The path with these parameters."""
        values: dict[str, Any] = {
            name: float(f"{math.exp(log):.6g}") for name, log in zip(self.names, logs, strict=True)
        }
        if "queue_packets" in values:
            values["queue_packets"] = max(2, round(values["queue_packets"]))
        return self.begin.changed(**values)

    def __call__(self, logs: NDArray[Any]) -> NDArray[Any]:
        path = self.path(logs)
        if path not in self.known:
            self.simulated += len({*self.observed["window_packets", "flows"].iter_rows()})
            predicted = np.array(predictions(self.observed, path, jobs=self.jobs))
            self.known[path] = predicted / self.observed["goodput_bps"].to_numpy() - 1
        return self.known[path]

    def slopes(self, logs: NDArray[Any]) -> NDArray[Any]:
        """How the residuals change with the logarithm of each parameter: differences over wide steps."""
        columns = []
        for place in range(len(logs)):
            step = np.zeros(len(logs))
            step[place] = _STEP
            columns.append((self(logs + step) - self(logs - step)) / (2 * _STEP))
        return np.column_stack(columns)


def _parameters(model: _Model, best: NDArray[Any], ranges: Mapping[str, tuple[float, float]]) -> dict[str, Parameter]:
    slopes, left = model.slopes(best), model(best)
    freedom = max(len(left) - len(best), 1)
    variance = max(float((left**2).sum()) / freedom, _TOLERANCE**2)
    # A direction that changes nothing gets a huge variance, not none as a pseudo-inverse would have it.
    covariance = variance * np.linalg.inv(slopes.T @ slopes + _NOTHING * np.eye(len(best)))
    wide = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
    found = {}
    for place, (name, (low, high)) in enumerate(ranges.items()):
        value = float(getattr(model.path(best), name))
        flat = float(np.abs(slopes[:, place]).max()) < _TOLERANCE
        half = math.log(high / low) if flat else wide * math.sqrt(max(covariance[place, place], 0.0))
        ends = (max(low, value * math.exp(-half)), min(high, value * math.exp(half)))
        share = math.log(ends[1] / ends[0]) / math.log(high / low)
        others = (
            other for at, other in enumerate(ranges) if at != place and _correlation(covariance, place, at) > _TIED
        )
        why = ""
        if flat:
            why = "no observation depends on it"
        elif min(math.log(value / low), math.log(high / value)) < _EDGE:
            why = "it lies at an end of the range that was searched"
        elif share >= _UNKNOWN:
            why = "its interval is most of the range that was searched"
        elif tied := next(others, None):
            why = f"it cannot be told apart from {tied}"
        found[name] = Parameter(Estimate(value, *ends), not why, why)
    return found


def _correlation(covariance: NDArray[Any], one: int, other: int) -> float:
    scale = math.sqrt(covariance[one, one] * covariance[other, other])
    return abs(float(covariance[one, other])) / scale if scale > 0 else 0.0


def _rms(residuals: NDArray[Any]) -> float:
    return math.sqrt(float((residuals**2).mean()))
