"""How a router's load answers to traffic: stable, unstable, highly unstable; and what governs that.

In the stable region load grows in proportion to the packet rate; in the unstable one it no longer
follows; in the highly unstable one the load that the router reports falls, as what measures it no
longer gets its turn: M. Paredes-Farrera, M. Fleury, M. Ghanbari, Router Response to Traffic at a
Bottleneck Link, 2006. A region begins between two probes, and is reported so.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from statistics import fmean, pstdev
from typing import Final, Literal, TypeAlias

from tightlink.analysis.estimates import Bracket, Estimate, redrawn
from tightlink.analysis.limits.governing import ALIKE, Explained, Metric, explain
from tightlink.analysis.limits.piecewise import Fitted, Shape, best, probes
from tightlink.analysis.measurements import MeasurementError, checked, in_si, named, of_each, sizes_and_rates
from tightlink.lazy import Array, NDArray, np, pl
from tightlink.numbers import percent, several

Region: TypeAlias = Literal["stable", "unstable", "highly unstable"]

#: Three for the first piece, two for the second, one beyond.
_FEWEST_RATES: Final = 6
_RESAMPLES: Final = 400
#: A load that falls by less than this share of its level still stays at it.
_FALL: Final = 0.05
#: Loss from here on is loss, not a packet that was cut off at the end of a measurement.
_LOSS: Final = 1e-3
#: Share of resampled tables that must agree before anything is said to govern.
_SURE: Final = 0.9
_BITS: Final = 8
_NAMES: Final[dict[Metric, str]] = {
    "packets_per_s": "the packet rate",
    "throughput_bps": "the bit rate",
    "packet_bytes": "the packet length",
}


@dataclass(frozen=True)
class Length:
    """The regions of one packet length."""

    packet_bytes: float
    points: pl.DataFrame
    """packet_bytes, packets_per_s, throughput_bps, load, fitted, region, and loss if it was given."""
    shape: Shape
    """What BIC chose: a line, a rise to a flat level, a bend, or a level that is left downwards."""
    level: Estimate | None
    """The highest load, at which the stable region ends."""
    onset: Bracket | None
    """Packet rates between which the unstable region begins; none where it was not seen."""
    decline: Bracket | None
    """Packet rates between which the highly unstable region begins."""
    loss_onset: Bracket | None
    """Packet rates between which loss begins; none without a column of loss, or without loss."""
    sure: float
    """Share of the resampled loads in which an onset is seen, or is not, as here."""

    @property
    def onset_bps(self) -> Bracket | None:
        """Bit rates between which the unstable region begins."""
        return None if self.onset is None else self.onset.times(_BITS * self.packet_bytes)

    @property
    def loss_onset_bps(self) -> Bracket | None:
        """Bit rates between which loss begins."""
        return None if self.loss_onset is None else self.loss_onset.times(_BITS * self.packet_bytes)


@dataclass(frozen=True)
class Spread:
    """How far apart the onsets of the lengths are, seen in one quantity."""

    variation: float
    """Coefficient of variation of the onsets, each taken as the geometric mean of its two probes."""
    coincide: bool
    """Whether one value fits all: the intervals share one, or miss it by less than a quarter."""


@dataclass(frozen=True)
class Regimes:
    """The regions of a router for all lengths, and what governs its load."""

    lengths: tuple[Length, ...]
    explained: Explained
    """How packet rate, bit rate and packet length explain the load of the stable regions."""
    spreads: dict[Metric, Spread]
    """Of the onsets; empty where fewer than two lengths have one."""

    @property
    def decided(self) -> bool:
        """Whether nearly all resampled tables give the same answer."""
        return self.explained.sure >= _SURE

    @property
    def governs(self) -> Metric | None:
        """What explains load best and alone, and is not contradicted by the onsets; none where nothing does."""
        metric = self.explained.governs if self.decided else None
        if metric is None or not self.spreads:
            return metric
        least = min(spread.variation for spread in self.spreads.values())
        own = self.spreads[metric]
        return metric if own.coincide and own.variation <= least else None

    @property
    def onset(self) -> Bracket | None:
        """Where the unstable region begins for all lengths, in the quantity that governs."""
        metric = self.governs
        each = [length.onset_bps if metric == "throughput_bps" else length.onset for length in self.lengths]
        found = [onset for onset in each if onset is not None]
        if metric is None or metric == "packet_bytes" or not found:
            return None
        low, high = max(onset.low or 0.0 for onset in found), min(onset.high or math.inf for onset in found)
        return Bracket(min(low, high), max(low, high))

    def sentence(self) -> str:
        """What was found, in one sentence."""
        most = max(float(length.points["packets_per_s"][-1]) for length in self.lengths)
        seen = sum(length.onset is not None for length in self.lengths)
        where = f"load stops following at {seen} of {len(self.lengths)} packet lengths"
        if not seen:
            where = f"no saturation seen up to {most:,.0f} packets/s"
        share = percent(self.explained.sure)
        if self.governs is not None:
            unit = "bit/s" if self.governs == "throughput_bps" else "packets/s"
            place = f", {self.onset} {unit}" if self.onset is not None else ""
            return f"{where}{place}; {_NAMES[self.governs]} governs ({share} of resampled tables agree)"
        if not self.decided:
            return f"{where}; what governs cannot be told (only {share} of resampled tables agree)"
        per_packet, per_byte = self.explained.per_packet_s.value, self.explained.per_byte_s.value
        cost = f"{per_packet * 1e6:.4g} µs per packet and {per_byte * 1e9:.4g} ns per byte"
        return f"{where}; neither packet rate nor bit rate governs alone: {cost}"


def each(frame: pl.DataFrame, *, load: str = "load") -> dict[str, Regimes]:
    """Find the regimes of each router of a table, by its name."""
    if "router" in frame.columns:
        checked(named(frame, "router"), load)
    return of_each(frame, "router", partial(find, load=load))


def find(frame: pl.DataFrame, *, load: str = "load", resamples: int = _RESAMPLES, seed: int = 0) -> Regimes:
    """Find the regions of one router, and what governs its load.

    Args:
        frame: A row a probe: packet length, packet rate or bit rate (those offered, if they are given
            apart: ``offered_packets_per_s``, ``offered_bps``), load, and loss if it was measured.
        load: Column of the load, such as "load_reported".
        resamples: How many times the table is resampled for intervals and shares.
        seed: Of the resampling: equal seeds give equal answers.

    Returns:
        The onset of the unstable region for each packet length (``lengths``), and whether packet rate, bit rate or
        neither governs the load (``governs``).

    Raises:
        MeasurementError: The table cannot be analysed.

    Example:
        >>> rates = [500.0 * step for step in range(1, 17)]
        >>> rows = [(size, rate, min(rate / 5000, 0.8)) for size in (64, 512, 1500) for rate in rates]
        >>> table = pl.DataFrame(rows, schema=["packet_bytes", "packets_per_s", "load"], orient="row")
        >>> found = tl.analyze.regimes(table)
        >>> found.governs, [str(length.onset) for length in found.lengths]
        ('packets_per_s', ['between 4,000 and 4,500', 'between 4,000 and 4,500', 'between 4,000 and 4,500'])
    """
    names = in_si(frame).columns
    prefix = "offered_" if {"offered_packets_per_s", "offered_bps"} & set(names) else ""
    table = sizes_and_rates(
        frame, rate=f"{prefix}packets_per_s", throughput="offered_bps" if prefix else "throughput_bps"
    )
    kept = ["packet_bytes", "packets_per_s", "throughput_bps", load, *(["loss"] if "loss" in names else [])]
    table = checked(table, *kept[3:]).select(kept).rename({load: "load"}).sort("packet_bytes", "packets_per_s")
    if table["packet_bytes"].n_unique() == 1:
        only = f"1 packet length, {table['packet_bytes'][0]:g} B"
        raise MeasurementError(f"{only}: expected at least 2, to tell packets from bytes")
    lengths = tuple(_length(part, resamples, seed) for _, part in table.group_by("packet_bytes", maintain_order=True))
    stable = pl.concat([length.points.filter(pl.col("region") == "stable") for length in lengths])
    columns = (stable[name].to_numpy() for name in ("packet_bytes", "packets_per_s", "load"))
    return Regimes(lengths, explain(*columns, resamples=resamples, seed=seed), _spreads(lengths))


def _length(points: pl.DataFrame, resamples: int, seed: int) -> Length:
    """The regions of one length, with residuals drawn anew for their confidence."""
    size = float(points["packet_bytes"][0])
    rates, loads = points["packets_per_s"].to_numpy(), points["load"].to_numpy()
    if rates[0] <= 0:
        raise MeasurementError(f"{size:g} B: a packet rate of 0: expected rates above 0")
    distinct = len(probes(rates))
    if distinct < _FEWEST_RATES:
        found = several(distinct, "packet rate")
        raise MeasurementError(f"too few points: {found} at {size:g} B: expected at least {_FEWEST_RATES}")
    fitted = best(rates, loads[None, :])
    residuals = loads - fitted.model[0]
    again = best(rates, fitted.model[0] + redrawn(residuals, fitted.fits[0].parameters, resamples, seed))
    onset = _between(fitted.gaps[:-1], fitted.gaps[1:], int(fitted.breaks[0]), again.breaks)
    # The load has left its level between a probe and the one before.
    decline = _between(np.roll(rates, 1), rates, int(_left(rates, fitted)[0]), _left(rates, again))
    regions: list[Region] = [_region(rate, fitted, decline) for rate in rates]
    kept = points.with_columns(fitted=pl.Series(fitted.model[0]), region=pl.Series(regions, dtype=pl.String))
    seen = again.breaks >= 0
    return Length(
        packet_bytes=size,
        points=kept,
        shape=fitted.shape[0],
        level=Estimate.of(fitted.level[0], again.level[seen]) if onset is not None and seen.any() else None,
        onset=onset,
        decline=decline,
        loss_onset=_loss_onset(rates, points["loss"].to_numpy()) if "loss" in points.columns else None,
        sure=float((seen == (onset is not None)).mean()),
    )


def _between(begins: Array, ends: Array, own: int, places: NDArray[np.int64]) -> Bracket | None:
    """The probes between which something is, as far apart as resampling moves its place; −1 where it is nowhere."""
    if own < 0:
        return None
    there = places[places >= 0]
    low, high = (int(np.percentile(there, tail, method="nearest")) if len(there) else own for tail in (2.5, 97.5))
    return Bracket(float(begins[min(low, own)]), float(ends[max(high, own)]))


def _left(rates: Array, fitted: Fitted) -> NDArray[np.int64]:
    """The first probe of each data set at which the load has left its level downwards; −1 without one."""
    starts = np.where(fitted.breaks >= 0, fitted.gaps[fitted.breaks], np.inf)
    below = (fitted.model < (1 - _FALL) * fitted.level[:, None]) & (rates[None, :] > starts[:, None])
    # What is not at its level yet has not left it.
    below &= np.arange(len(rates))[None, :] > fitted.model.argmax(axis=1)[:, None]
    return np.where(below.any(axis=1), below.argmax(axis=1), -1)


def _region(rate: float, fitted: Fitted, decline: Bracket | None) -> Region:
    bracket = fitted.bracket(0)
    if bracket is None or rate <= bracket[0]:
        return "stable"
    fell = decline is not None and decline.high is not None and rate >= decline.high
    return "highly unstable" if fell else "unstable"


def _loss_onset(rates: Array, losses: Array) -> Bracket | None:
    """The last rate without loss and the first one after it; no lower end where all lose.

    A rate that was probed several times loses where one of its probes does.

    >>> str(_loss_onset(np.array([1e3, 2e3, 3e3, 3e3]), np.array([0.0, 0.0, 0.2, 0.0])))
    'between 2,000 and 3,000'
    """
    lossy = np.unique(rates[losses > _LOSS])
    clean = np.setdiff1d(rates, lossy)
    last = float(clean[-1]) if len(clean) else None
    beyond = lossy if last is None else lossy[lossy > last]
    return Bracket(last, float(beyond[0])) if len(beyond) else None


def _spreads(lengths: tuple[Length, ...]) -> dict[Metric, Spread]:
    """How the onsets lie in each quantity; nothing with fewer than two."""
    onsets = [(length.packet_bytes, length.onset) for length in lengths if length.onset is not None]
    if len(onsets) < 2:  # noqa: PLR2004
        return {}
    return {
        "packets_per_s": _spread([onset for _, onset in onsets]),
        "throughput_bps": _spread([onset.times(_BITS * size) for size, onset in onsets]),
        "packet_bytes": _spread([Bracket(size, size) for size, _ in onsets]),
    }


def _spread(onsets: list[Bracket]) -> Spread:
    middles = [onset.middle or 0.0 for onset in onsets]
    highest = max(onset.low or 0.0 for onset in onsets)
    lowest = min(onset.high or math.inf for onset in onsets)
    return Spread(pstdev(middles) / fmean(middles), highest <= ALIKE * lowest)
