"""Which quantity governs a router's load: packets/s, bit/s, or the length of packets.

Where the load grows in proportion, load = background + f · (per packet + per byte · p) for packets of p
bytes at f packets/s. The packet rate governs alone where the cost of a packet hardly depends on its
length, the bit rate where the cost of a byte hardly does; between them neither does.

Relative importance is R² shared out over the three quantities, averaged over all orders in which they
enter a linear model: R. H. Lindeman, P. F. Merenda, R. Z. Gold: Introduction to Bivariate and
Multivariate Analysis, 1980; it is their Shapley value.

Example:
    >>> lengths, rates = np.repeat([64.0, 1500.0], 5), np.tile(np.arange(1.0, 6.0) * 500, 2)
    >>> found = explain(lengths, rates, 0.05 + 187e-6 * rates)
    >>> max(found.r2, key=lambda name: found.r2[name].value), round(found.per_packet_s.value * 1e6)
    ('packets_per_s', 187)
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import factorial
from typing import Final, Literal, TypeAlias

from tightlink.analysis.estimates import Estimate, redrawn
from tightlink.lazy import Array, np

Metric: TypeAlias = Literal["packets_per_s", "throughput_bps", "packet_bytes"]
METRICS: Final[tuple[Metric, ...]] = ("packets_per_s", "throughput_bps", "packet_bytes")
#: A cost that varies by less than this factor over all lengths is taken for constant, and onsets within
#: it for one: differences that no designer of a stream would act on.
ALIKE: Final = 1.25
_BITS: Final = 8
#: Background, two costs, and the variance of the residuals.
_PARAMETERS: Final = 4


@dataclass(frozen=True)
class Explained:
    """How the three quantities explain the load, and what a packet costs."""

    r2: dict[Metric, Estimate]
    """Share of the load's variance that each explains by itself, linearly."""
    importance: dict[Metric, Estimate]
    """R² of all three together, shared out."""
    background: Estimate
    """Load without traffic."""
    per_packet_s: Estimate
    per_byte_s: Estimate
    governs: Metric | None
    """What explains best and alone; none where neither does."""
    sure: float
    """Share of the resampled tables that give the same answer."""


def explain(lengths: Array, rates: Array, loads: Array, *, resamples: int = 400, seed: int = 0) -> Explained:
    """Explain loads (0 to 1) where they grow in proportion, by packet lengths (bytes) and packet rates (packets/s)."""
    design = np.stack([rates, rates * lengths * _BITS, lengths])
    # Scaled to one, sums of squares lose nothing; the first row of loads is the table as it is.
    scale = design.max(axis=1)
    rows = loads[None, :]
    background, per_packet, per_bit = _costs(_covariances(design, scale, rows), design, scale, rows)
    model = background + per_packet * design[0] + per_bit * design[1]
    rows = np.vstack([rows, model + redrawn(loads - model, _PARAMETERS, resamples, seed)])
    covariances = _covariances(design, scale, rows)
    background, per_packet, per_bit = _costs(covariances, design, scale, rows)
    r2 = {names: _r2(covariances, names) for size in range(4) for names in combinations(range(3), size)}
    alone = {metric: r2[(place,)] for place, metric in enumerate(METRICS)}
    shares = {metric: _shapley(r2, place) for place, metric in enumerate(METRICS)}
    per_byte = per_bit * _BITS
    answers = _answers(np.array(list(alone.values())), per_packet, per_byte, lengths)
    return Explained(
        {metric: _estimate(samples) for metric, samples in alone.items()},
        {metric: _estimate(samples) for metric, samples in shares.items()},
        _estimate(background),
        _estimate(per_packet),
        _estimate(per_byte),
        answers[0],
        sum(answer == answers[0] for answer in answers[1:]) / resamples,
    )


def _covariances(design: Array, scale: Array, loads: Array) -> Array:
    """For each row of loads the sums of squares and products of the three quantities and the load."""
    given = np.broadcast_to((design / scale[:, None])[None], (len(loads), *design.shape))
    values = np.concatenate([given, loads[:, None, :]], axis=1)
    centred = values - values.mean(axis=2, keepdims=True)
    covariances: Array = np.einsum("bin,bjn->bij", centred, centred, optimize=True)
    return covariances


def _r2(covariances: Array, names: tuple[int, ...]) -> Array:
    """Share of the load's variance that a linear model of some quantities explains."""
    own = list(names)
    total = covariances[:, 3, 3]
    if not own:
        return np.zeros(len(total))
    among, with_load = covariances[:, own][:, :, own], covariances[:, own, 3]
    explained = np.einsum("bi,bij,bj->b", with_load, np.linalg.pinv(among, hermitian=True), with_load, optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Array = np.where(total > 0, explained / total, 0.0)
    return np.clip(share, 0.0, 1.0)


def _shapley(r2: dict[tuple[int, ...], Array], place: int) -> Array:
    """The mean gain in R² when a quantity enters, over all orders."""
    total: Array = np.zeros_like(r2[()])
    for names, before in r2.items():
        if place not in names:
            weight = factorial(len(names)) * factorial(2 - len(names)) / factorial(3)
            total = total + weight * (r2[tuple(sorted((*names, place)))] - before)
    return total


def _costs(covariances: Array, design: Array, scale: Array, loads: Array) -> tuple[Array, Array, Array]:
    """Background, load per packet/s and load per bit/s; where one of these would be negative, the other alone fits."""
    packets, bits, both = covariances[:, 0, 0], covariances[:, 1, 1], covariances[:, 0, 1]
    by_packets, by_bits = covariances[:, 0, 3], covariances[:, 1, 3]
    spread = packets * bits - both**2
    first = (bits * by_packets - both * by_bits) / spread
    second = (packets * by_bits - both * by_packets) / spread
    per_packet = np.where(first < 0, 0.0, np.where(second < 0, by_packets / packets, first))
    per_bit = np.where(second < 0, 0.0, np.where(first < 0, by_bits / bits, second))
    per_packet, per_bit = np.maximum(per_packet, 0) / scale[0], np.maximum(per_bit, 0) / scale[1]
    background = loads.mean(axis=1) - per_packet * design[0].mean() - per_bit * design[1].mean()
    return background, per_packet, per_bit


def _answers(r2: Array, per_packet: Array, per_byte: Array, lengths: Array) -> list[Metric | None]:
    """What governs in each sample: what explains best, if its cost is alike for all lengths."""
    short, long = float(lengths.min()), float(lengths.max())
    of_packet = (per_packet + per_byte * long) <= ALIKE * (per_packet + per_byte * short)
    of_byte = (per_packet / short + per_byte) <= ALIKE * (per_packet / long + per_byte)
    alike = np.stack([of_packet, of_byte, np.ones_like(of_packet)])
    best, explained = r2.argmax(axis=0), r2.max(axis=0) > 0
    return [METRICS[place] if alike[place, sample] and explained[sample] else None for sample, place in enumerate(best)]


def _estimate(samples: Array) -> Estimate:
    return Estimate.of(float(samples[0]), samples[np.isfinite(samples)])
