"""The exchange of stability at the critical packet size: a transcritical bifurcation.

With y = T_max − T, what throughput lacks, and r = T_max (1 − p / p_c), what the packet rate takes away,
the two regimes are the fixed points of dy/dt = r y − y²: y = 0 (free flow) and y = r (saturation). The
derivative r − 2 y there is r and −r: for p > p_c free flow is stable, for p < p_c saturation is, and at
p = p_c both are one, left and reached as 1 / t. In reduced quantities, u = y / T_max and
ε = 1 − p / p_c, it is the normal form du/dτ = ε u − u². (R. Smith, Data Traffic Dynamics and
Saturation on a Single Link, 2009, eq. 8-10.)

What this says of a link: which throughput it comes back to. What it does not say is how fast: τ is no
time that can be measured. A simulated link comes back within the time that its queue takes to empty or
to fill, as `returns_to_branch` measures it; that it does is evidence for the branch being stable, not
for this equation of motion.

Example:
    >>> fixed_points(0.5), stability(0.0, 0.5), stability(0.5, 0.5)
    ((0.0, 0.5), 0.5, -0.5)
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tightlink.analysis.measurements import MeasurementError, checked
from tightlink.lazy import np, pl

#: Samples that a series needs, and samples away from the branch that a rate is fitted to.
_FEWEST_SAMPLES: Final = 6
_FEWEST_AWAY: Final = 3
#: The share of a series, at its end, that must lie on the branch.
_END: Final = 1 / 3


def reduced(size_bytes: float, critical_bytes: float) -> float:
    """ε = 1 − p / p_c: positive where the packet rate limits."""
    return 1 - size_bytes / critical_bytes


def growth(u: float, epsilon: float) -> float:
    """The normal form du/dτ = ε u − u²."""
    return epsilon * u - u * u


def fixed_points(epsilon: float) -> tuple[float, float]:
    """Where the normal form stands still: free flow u = 0, saturation u = ε."""
    return 0.0, epsilon


def stability(u: float, epsilon: float) -> float:
    """The derivative ε − 2 u of the normal form: negative where disturbances die out."""
    return epsilon - 2 * u


def branches(throughput_max_bps: float, critical_bytes: float, sizes: Iterable[float]) -> pl.DataFrame:
    """The bifurcation diagram: both branches at each packet size, with their stability.

    The saturated branch continues above the plateau for large packets, and the plateau below the
    critical size, where they are unstable: no link is found there.

    Returns:
        ``packet_bytes``, ``reduced`` (ε), ``branch``, ``throughput_bps``, ``derivative`` (ε − 2 u) and
        ``stable``, which is missing at the critical size itself.
    """
    rows = []
    for branch, name in enumerate(("free flow", "saturated")):
        for size in sizes:
            epsilon = reduced(size, critical_bytes)
            u = fixed_points(epsilon)[branch]
            derivative = stability(u, epsilon)
            stable = None if derivative == 0 else derivative < 0
            rows.append((float(size), epsilon, name, throughput_max_bps * (1 - u), derivative, stable))
    columns = ["packet_bytes", "reduced", "branch", "throughput_bps", "derivative", "stable"]
    return pl.DataFrame(rows, schema=columns, schema_overrides={"stable": pl.Boolean}, orient="row")


def stable_throughput_bps(throughput_max_bps: float, critical_bytes: float, size_bytes: float) -> float:
    """The throughput of the stable branch: the ideal law T_max · min(1, p / p_c)."""
    return throughput_max_bps * min(1.0, size_bytes / critical_bytes)


@dataclass(frozen=True)
class Return:
    """Whether a disturbed link came back to a branch, and how fast."""

    returned: bool
    """Whether the mean of the last third is on the branch, and the series stays there once it is."""
    start: float
    """Relative distance of the first sample from the branch; negative below it."""
    end: float
    """Relative distance of the mean of the last third."""
    settled_s: float | None
    """When all later samples are within the tolerance, counted from the first sample."""
    rate_per_s: float | None
    """Rate of the exponential return; none where it took too few samples, or did not happen."""


def returns_to_branch(series: pl.DataFrame, branch_bps: float, *, within: float = 0.02) -> Return:
    """Whether throughput that starts off a branch comes back to it, within a share above the noise of the samples.

    The series has ``time_s`` and ``throughput_bps`` of a link that starts disturbed, such as empty or with a full
    queue: each sample the mean since the one before.

    Raises:
        MeasurementError: The series is too short, not in order of time, or never off the branch.
    """
    table = checked(series, "time_s", "throughput_bps")
    if table.height < _FEWEST_SAMPLES:
        raise MeasurementError(f"too few points: {table.height} samples: expected at least {_FEWEST_SAMPLES}")
    times, away = table["time_s"].to_numpy(), table["throughput_bps"].to_numpy() / branch_bps - 1
    if (np.diff(times) <= 0).any():
        raise MeasurementError("time_s: expected times that increase")
    if abs(away[0]) <= within:
        raise MeasurementError(
            f"the first sample is on the branch ({away[0]:+.2%}): expected a series that starts more than "
            f"{within:.0%} away, so that there is something to return from"
        )
    off = np.flatnonzero(np.abs(away) > within)
    last = int(off[-1])
    tail = away[-max(1, round(len(away) * _END)) :]
    end = float(tail.mean())
    returned = abs(end) <= within and last < len(away) - len(tail)
    settled = float(times[last + 1] - times[0]) if returned else None
    leading = int(np.argmax(np.abs(away) <= within)) if returned else 0
    logarithms = np.log(np.abs(away[:leading]))
    rate = -float(np.polyfit(times[:leading], logarithms, 1)[0]) if leading >= _FEWEST_AWAY else None
    return Return(returned, float(away[0]), end, settled, rate)
