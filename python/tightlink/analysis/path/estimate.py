"""A path from what probes saw of it: its rate from packet trains, its queue from an overload, its empty round trip.

All three look only at differences of times of one clock, so that the clocks of the two ends may stand apart. The rate
counts IP packets with their headers, at the size of the probes.

Example:
    >>> ten_mbit = np.arange(20) * 1.2e-3
    >>> found = PacketTrains([ten_mbit + start for start in range(20)], packets=20, packet_bytes=1500).rate_bps()
    >>> f"{found.value:.6g} {found.low:.6g} {found.high:.6g}"
    '1e+07 1e+07 1e+07'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.analysis.estimates import RESAMPLES, Estimate
from tightlink.lazy import Array, NDArray, np

#: Of the packets of a train must arrive, for its spacing to be the bottleneck's.
_ENOUGH: Final = 0.5
_FEWEST: Final = 10
#: The share of a train that counts as its first packets.
_FIRST: Final = 0.25
_BITS: Final = 8
_SEED: Final = 1
#: Packets of a stretch of arrivals.
_STRETCH: Final = 24
#: The delay of a packet that found the queue full, but for the last place of some.
_FULL: Final = 0.99
#: Lost packets of which the places that they found are compared: the middle four fifths.
_SPREAD: Final = (10, 90)


@dataclass(frozen=True)
class PacketTrains:
    """When the packets of trains arrived, which were sent at once."""

    arrivals_s: Sequence[Array]
    """Of each train, in order."""
    packets: int
    """Of each train, as sent."""
    packet_bytes: int
    """With headers."""

    def rates_bps(self) -> Array:
        """The rate at which each train left the bottleneck; without those of which too little arrived.

        What was lost at the bottleneck's queue was never served, so that the others follow each other at its rate all
        the same. The first packets of each do not count: a token bucket may let some of them through at once.
        """
        fewest = max(2, _ENOUGH * self.packets)
        later = [train[int(_FIRST * train.size) :] for train in self.arrivals_s if train.size >= fewest]
        lasted = [(train.size, float(train[-1] - train[0])) for train in later]
        return np.array([_BITS * self.packet_bytes * (count - 1) / time for count, time in lasted if time > 0])

    def rate_bps(self) -> Estimate | None:
        """The bottleneck's rate: the median over trains, with its interval; nothing of fewer than ten."""
        rates = self.rates_bps()
        if rates.size < _FEWEST:
            return None
        return Estimate.of(float(np.median(rates)), np.median(_redrawn(rates), axis=1))


def empty_rtt(samples_s: Mapping[int, Array]) -> tuple[Estimate, float]:
    """The round-trip time of a packet of no length, with its interval, and what each bit of a packet adds, in seconds.

    The smallest round trips grow with the size, headers included, by what all links on the way need to transmit it; a
    line through them leaves propagation alone. Where sizes do not tell, the smallest of all round trips stands.

    >>> found, slope = empty_rtt({100: np.array([0.0208]), 1100: np.array([0.0288])})
    >>> round(found.value, 6), round(1 / slope)
    (0.02, 1000000)
    """
    sizes = np.array(sorted(samples_s), dtype=float)
    lists = [samples_s[int(size)] for size in sizes]
    base, slope = _line(sizes, np.array([times.min() for times in lists]))
    generator = np.random.default_rng(_SEED)
    bases = [
        _line(sizes, np.array([generator.choice(times, times.size).min() for times in lists]))[0]
        for _ in range(RESAMPLES)
    ]
    return Estimate.of(base, bases), slope


def _line(sizes: Array, least_s: Array) -> tuple[float, float]:
    """Where the line through the smallest round trips begins, and what a bit adds."""
    if sizes.size > 1:
        slope, base = np.polyfit(sizes * _BITS, least_s, 1)
        if slope > 0 and base > 0:
            return float(base), float(slope)
    return float(least_s.min()), 0.0


@dataclass(frozen=True)
class Overload:
    """Datagrams that came faster than the path carries: what arrived of them, and what was lost."""

    sent_s: Array
    """When each was sent, by its number."""
    delay_s: Array
    """Its delay, up to the distance of the two clocks; NaN where it was lost."""
    packet_bytes: int

    @property
    def lost(self) -> NDArray[np.bool_]:
        """Which packets of the train were lost."""
        return np.isnan(self.delay_s)

    @property
    def offered_bps(self) -> float:
        """The rate at which they were sent; zero of too few."""
        return self._rate_bps(self.sent_s)

    def carried_bps(self) -> float:
        """The rate at which packets arrived over the whole of it: what the path carries at least; zero of too few."""
        return self._rate_bps((self.sent_s + self.delay_s)[~self.lost])

    def _rate_bps(self, times_s: Array) -> float:
        """The rate of packets that come at these times."""
        lasted = float(np.ptp(times_s)) if times_s.size >= _FEWEST else 0.0
        return _BITS * self.packet_bytes * (times_s.size - 1) / lasted if lasted > 0 else 0.0

    def sustained_bps(self) -> float | None:
        """The rate at which they arrived while the queue was full; nothing where it never was for long.

        It is the median over stretches of arrivals: in some of them the sender may have come too late, and the queue
        have been empty.
        """
        lost = np.flatnonzero(self.lost)
        if lost.size < _FEWEST:
            return None
        there = ~self.lost
        there[: lost[0]] = False
        arrivals = np.sort(self.sent_s[there] + self.delay_s[there])
        count = min(_STRETCH, (arrivals.size - 1) // _FEWEST)
        if count < 1:
            return None
        took = float(np.median(np.diff(arrivals[::count])))
        return _BITS * self.packet_bytes * count / took if took > 0 else None

    def queue_by_delay(self, rate_bps: Estimate) -> Estimate:
        """Packets at the bottleneck when it was fullest, the one in service included: 1 + (p99 − least) / service.

        The 99th percentile is that of packets after the first loss, where there are some.
        """
        delays = self.delay_s[~self.lost]
        late = delays[np.argmax(self.lost) :] if self.lost.any() else delays
        if not late.size:
            # Nothing arrived after the first loss.
            late = delays
        least = float(delays.min())

        def places(full_s: float, bps: float) -> float:
            return 1 + (full_s - least) * bps / (_BITS * self.packet_bytes)

        value = places(float(np.quantile(late, _FULL)), rate_bps.value)
        full = np.quantile(_redrawn(late), _FULL, axis=1)
        drawn = np.random.default_rng(_SEED).uniform(rate_bps.low, rate_bps.high, full.size)
        return Estimate.of(value, [places(at, bps) for at, bps in zip(full, drawn, strict=True)])

    def places_at_losses(self, rate_bps: float) -> NDArray[np.int64]:
        """How many packets stood at the bottleneck when each lost one came: its limit, if it drops at the tail."""
        there = np.flatnonzero(~self.lost)
        service = _BITS * self.packet_bytes / rate_bps
        least = float(self.delay_s[there].min())
        # What is behind the bottleneck takes as long for all: it cancels, with the distance of the clocks.
        left_s = self.sent_s[there] + self.delay_s[there] - least + service
        lost = np.flatnonzero(self.lost)
        before = np.searchsorted(there, lost)
        gone = np.searchsorted(left_s, self.sent_s[lost])
        places: NDArray[np.int64] = before - gone
        return places

    def queue_by_losses(self, rate_bps: float) -> tuple[float, float, float] | None:
        """Median, and the ends of the middle four fifths, of what lost packets found; nothing without enough losses."""
        places = self.places_at_losses(rate_bps)
        if places.size < _FEWEST:
            return None
        low, high = np.percentile(places, _SPREAD)
        return float(np.median(places)), float(low), float(high)


def overload(seq: Any, sent_s: Array, received_seq: Any, received_delay_s: Array, packet_bytes: int) -> Overload:
    """An overload from what was sent and what arrived, each with its number."""
    order = np.argsort(seq, kind="stable")
    delays = np.full(order.size, np.nan)
    place = np.searchsorted(np.asarray(seq)[order], received_seq)
    delays[place] = received_delay_s
    return Overload(np.asarray(sent_s, dtype=float)[order], delays, packet_bytes)


def _redrawn(values: Array) -> Array:
    """Samples with replacement, a row each."""
    generator = np.random.default_rng(_SEED)
    drawn: Array = values[generator.integers(0, values.size, (RESAMPLES, values.size))]
    return drawn
