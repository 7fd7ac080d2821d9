"""Where a link saturates: by bits or by packets, from throughput or packet rate over packet size.

Large packets fill the line: throughput stays near a plateau, and the packet rate falls as the size
grows (free flow). Below a critical size the packet rate stays near its maximum and throughput falls
with the size (saturation): R. Smith, Data Traffic Dynamics and Saturation on a Single Link, 2009. Two
laws are fitted (`tightlink.analysis.limits.packet_cost`) and compared by AICc; intervals come from resampled
residuals. Where the data show one regime only, the answer says so, and nothing is fitted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Literal, TypeAlias

from tightlink.analysis.estimates import RESAMPLES, Bracket, Estimate, Fit, redrawn
from tightlink.analysis.limits.packet_cost import LEAST_SIZES, Costs, fit_cost, fit_ideal, fit_line
from tightlink.analysis.measurements import MeasurementError, of_each, sizes_and_rates
from tightlink.errors import TightlinkError
from tightlink.lazy import Array, np, pl, stats
from tightlink.numbers import several

Name: TypeAlias = Literal["ideal", "cost"]
Regime: TypeAlias = Literal["both", "free flow", "saturated", "undivided"]

#: AICc of the law with five parameters needs more points than that.
_FEWEST_SIZES: Final = 7
#: Parameters, with the variance of the residuals: a constant; a line; both laws.
_CONSTANT, _LINE, _IDEAL, _COST = 2, 3, 3, 5
#: What a law has beside its name and its fit.
_QUANTITIES: Final = (
    "throughput_max_bps", "critical_bytes", "packets_per_s_max", "line_rate_bps", "overhead_bytes", "per_packet_s",
    "per_byte_s",
)  # fmt: skip
#: Slopes of rates that are exact need no error: this is what rounding leaves.
_ROUNDING: Final = 1e-9


@dataclass(frozen=True)
class Law:
    """A law of saturation, fitted. The ideal law has no overhead and no cost per byte."""

    name: Name
    throughput_max_bps: Estimate
    """T_max: the throughput at the critical size, where the plateau ends."""
    critical_bytes: Estimate
    """p_c: the packet size below which the packet rate limits."""
    packets_per_s_max: Estimate
    """f_max = T_max / p_c: the packet rate at the critical size."""
    line_rate_bps: Estimate
    overhead_bytes: Estimate
    """Line time of a packet beyond its own bytes."""
    per_packet_s: Estimate
    per_byte_s: Estimate
    fit: Fit

    def packets_per_s(self, sizes: Array) -> Array:
        """The packet rate that the law gives at each packet size."""
        line = (sizes + self.overhead_bytes.value) * 8 / self.line_rate_bps.value
        return 1 / np.maximum(line, self.per_packet_s.value + self.per_byte_s.value * sizes)

    def throughput_bps(self, sizes: Array) -> Array:
        """The throughput that the law gives at each packet size."""
        return self.packets_per_s(sizes) * sizes * 8


@dataclass(frozen=True)
class Slope:
    """d ln f / d ln p within a regime, beside what theory says: −1 in free flow, 0 in saturation."""

    expected: float
    slope: Estimate
    p_value: float
    """Probability of a slope so far from the expected one, if that were true."""
    points: int


@dataclass(frozen=True)
class Saturation:
    """What was found in a table of packet sizes and packet rates."""

    regime: Regime
    """Both; free flow or saturation alone; or one line throughout that may be either."""
    points: pl.DataFrame
    """packet_bytes, packets_per_s, throughput_bps, regime: the measurements used, by size."""
    laws: tuple[Law, ...]
    """Ideal law and cost per packet and byte, best first; none where only one regime was seen."""
    critical_between_bytes: Bracket | None
    """The measured sizes between which the critical size lies."""
    free_flow: Slope | None
    saturated: Slope | None

    @property
    def better(self) -> Law:
        """The law that fits better.

        Raises:
            TightlinkError: Only one regime was seen, so that there is no law.
        """
        if not self.laws:
            raise TightlinkError(self.sentence())
        return self.laws[0]

    @property
    def weights(self) -> tuple[float, ...]:
        """Akaike weight of each law: how the evidence is shared between them."""
        relative = [math.exp(max(self.laws[0].fit.aicc - law.fit.aicc, -700) / 2) for law in self.laws]
        return tuple(value / sum(relative) for value in relative)

    def sentence(self) -> str:
        """What was found, in one sentence."""
        sizes = self.points["packet_bytes"]
        span = f"between {sizes[0]:,.0f} B and {sizes[-1]:,.0f} B"
        if self.regime == "free flow":
            return f"no saturation seen {span}: throughput stays near its plateau"
        if self.regime == "saturated":
            return f"saturated everywhere {span}: no plateau of throughput seen"
        if self.regime == "undivided":
            return f"no change of regime seen {span}: one cost per packet and byte fits throughout"
        law = self.better
        return (
            f"saturated below {law.critical_bytes.value:,.0f} B, from "
            f"{law.packets_per_s_max.value:,.0f} packets/s and {law.throughput_max_bps.value / 1e6:,.4g} Mbit/s on"
        )


def each(frame: pl.DataFrame, **options: Any) -> dict[str, Saturation]:
    """Find the regimes of each link of a table, by its name, with the options of `find`."""
    return of_each(frame, "link", partial(find, **options))


def find(  # noqa: PLR0913
    frame: pl.DataFrame,
    *,
    size: str = "packet_bytes",
    throughput: str = "throughput_bps",
    largest_bytes: float | None = None,
    overhead_bytes: float | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Saturation:
    """Find the regimes of a link, and what limits it in each.

    Args:
        frame: A row a measurement: packet size, and packet rate or throughput or both.
        size: Column of the packet size, such as "payload_bytes".
        throughput: Column of the bit rate that counts the same bytes as the size does.
        largest_bytes: Larger sizes are left out: those that are cut into fragments, each a packet.
        overhead_bytes: Line time of a packet beyond its own bytes, where it is known, such as 20 for
            Ethernet's preamble and gap beside frames; without it, it is fitted; with 0 the plateau is flat.
        resamples: How many times residuals are resampled for the intervals.
        seed: Of the resampling: equal seeds give equal intervals.

    Returns:
        The regime of each measurement (``points``), the fitted laws, best first (``laws``, ``better``), with the
        critical packet size and its interval, and the measured sizes between which it lies.

    Raises:
        MeasurementError: The table cannot be analysed.

    Example:
        >>> sizes = np.arange(50.0, 1500.0, 50.0)
        >>> rates = np.minimum(25e3, 12e6 / sizes)
        >>> found = tl.analyze.saturation(pl.DataFrame({"packet_bytes": sizes, "packets_per_s": rates}))
        >>> found.regime, found.better.name, round(found.better.critical_bytes.value)
        ('both', 'ideal', 480)
    """
    table = sizes_and_rates(frame, size=size, throughput=throughput)
    if largest_bytes is not None:
        table = table.filter(pl.col("packet_bytes") <= largest_bytes)
    table = table.filter(pl.col("packets_per_s") > 0).sort("packet_bytes", maintain_order=True)
    distinct = table["packet_bytes"].n_unique()
    if distinct < _FEWEST_SIZES:
        what = several(distinct, "packet size")
        raise MeasurementError(f"too few points: {what} with packets delivered: expected at least {_FEWEST_SIZES}")
    points = table.select("packet_bytes", "packets_per_s", "throughput_bps")
    sizes = points["packet_bytes"].to_numpy()
    logs = np.log(points["packets_per_s"].to_numpy())
    cost = partial(fit_cost, overhead_bytes=overhead_bytes)
    laws = (
        _law("ideal", sizes, logs, fit_ideal, _IDEAL, resamples, seed),
        _law("cost", sizes, logs, cost, _COST - (overhead_bytes is not None), resamples, seed),
    )
    fitted = tuple(sorted((law for law in laws if math.isfinite(law.fit.squares)), key=lambda law: law.fit.aicc))
    alone, fit = _one_regime(sizes, logs)
    if min(law.fit.bic for law in fitted) >= fit.bic:
        points = points.with_columns(regime=pl.lit(alone))
        free = _slope(sizes, logs, -1.0) if alone == "free flow" else None
        return Saturation(alone, points, (), None, free, _slope(sizes, logs, 0.0) if alone == "saturated" else None)
    critical = fitted[0].critical_bytes.value
    low = sizes < critical
    regimes = np.where(low, "saturated", "free flow")
    return Saturation(
        "both",
        points.with_columns(regime=pl.Series(regimes, dtype=pl.String)),
        fitted,
        Bracket(float(sizes[low][-1]), float(sizes[~low][0])),
        _slope(sizes[~low], logs[~low], -1.0),
        _slope(sizes[low], logs[low], 0.0),
    )


def _law(  # noqa: PLR0913, PLR0917
    name: Name, sizes: Array, logs: Array, fit: Any, parameters: int, resamples: int, seed: int
) -> Law:
    """A law with intervals, from fits to residuals drawn anew."""
    best: Costs = fit(sizes, logs[None, :])
    model = best.log_rates(sizes)[0]
    residuals = logs - model
    again: Costs = fit(sizes, model + redrawn(residuals, parameters, resamples, seed))

    def estimate(quantity: str) -> Estimate:
        samples = getattr(again, quantity)
        return Estimate.of(getattr(best, quantity)[0], samples[np.isfinite(samples)])

    squares = float((residuals**2).sum())
    fitted = Fit(squares, len(sizes), parameters, breaks=1)
    return Law(name, fit=fitted, **{quantity: estimate(quantity) for quantity in _QUANTITIES})


def _one_regime(sizes: Array, logs: Array) -> tuple[Regime, Fit]:
    """What the data are if they are one regime: the best of a constant throughput, a constant rate, a line.

    A line of cost per packet and byte is free flow where bytes cost more than the packet at every size
    (a plateau that erodes), saturation where they cost less at every size, and else may be either.
    """
    plateau = logs + np.log(sizes)
    per_packet, per_byte = (float(value[0]) for value in fit_line(sizes, logs[None, :]))
    line = logs + np.log(per_packet + per_byte * sizes)
    even = per_packet / per_byte if per_byte else math.inf
    kind: Regime = "free flow" if even <= sizes[0] else "saturated" if even >= sizes[-1] else "undivided"
    left: list[tuple[Regime, Array, int]] = [
        ("free flow", plateau - plateau.mean(), _CONSTANT),
        ("saturated", logs - logs.mean(), _CONSTANT),
        (kind, line, _LINE),
    ]
    found = [(regime, Fit(float((each**2).sum()), len(sizes), count)) for regime, each, count in left]
    return min(found, key=lambda pair: pair[1].bic)


def _slope(sizes: Array, logs: Array, expected: float) -> Slope | None:
    """The slope of ln f over ln p by least squares, with Student's t; none with fewer than three sizes."""
    if len(np.unique(sizes)) < LEAST_SIZES:
        return None
    line = stats.linregress(np.log(sizes), logs)
    # Equal rates leave no error to speak of, and SciPy none at all.
    error = max(float(np.nan_to_num(line.stderr)), _ROUNDING)
    slope, freedom = float(line.slope), len(sizes) - 2
    half = float(stats.t.ppf(0.975, freedom)) * error
    p_value = float(2 * stats.t.sf(abs(slope - expected) / error, freedom))
    return Slope(expected, Estimate(slope, slope - half, slope + half), p_value, len(sizes))
