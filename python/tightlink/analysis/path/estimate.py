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
#: One packet says no rate.
_LEAST: Final = 2
#: The share of arrivals that must follow each other as they were sent, for the others not to count.
_FOLLOWING: Final = 0.25
#: What packets that a wire loses may add to the time between arrivals without other signs of them.
_ALIKE: Final = 0.05
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
    """Of each train, by the numbers of its packets; NaN for those that were lost."""
    packets: int
    """Of each train, as sent."""
    packet_bytes: int
    """With headers."""

    @property
    def whole(self) -> list[Array]:
        """Those of which enough arrived for their later packets to tell the rate."""
        fewest = max(2, _ENOUGH * self.packets)
        return [train for train in self.arrivals_s if np.isfinite(train).sum() >= fewest]

    @property
    def short(self) -> bool:
        """Whether too few are whole: the queue holds few packets, or the path lets few pass."""
        return len(self.whole) < _FEWEST

    @property
    def lost_first(self) -> float:
        """The share of the first packets of whole trains that were lost, which no full queue dropped."""
        first = [train[: int(_FIRST * train.size)] for train in self.whole]
        return float(np.isnan(np.concatenate(first)).mean()) if first else 0.0

    def rates_bps(self) -> Array:
        """The rate at which each train left the bottleneck; without those of which too little arrived.

        The first packets of each do not count: a token bucket may let some of them through at once. Where too few are
        whole, all packets of all trains count.
        """
        if self.short:
            later = [train for train in self.arrivals_s if np.isfinite(train).sum() >= _LEAST]
        else:
            later = [train[int(_FIRST * train.size) :] for train in self.whole]
        services = [
            _service_s(*_gaps(np.flatnonzero(np.isfinite(train)), train[np.isfinite(train)])) for train in later
        ]
        return np.array([_BITS * self.packet_bytes / service for service in services if service > 0])

    def rate_bps(self) -> Estimate | None:
        """The bottleneck's rate: the median over trains, with its interval; nothing of fewer than ten."""
        rates = self.rates_bps()
        if rates.size < _FEWEST:
            return None
        return Estimate.of(float(np.median(rates)), np.median(_redrawn(rates), axis=1))


def _gaps(numbers: NDArray[np.int64], arrivals_s: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Times between arrivals, and whether the second packet is the one that was sent after the first."""
    order = np.argsort(arrivals_s, kind="stable")
    return np.diff(arrivals_s[order]), np.diff(numbers[order]) == 1


def _service_s(gaps_s: Array, following: NDArray[np.bool_]) -> float:
    """What the bottleneck took for a packet, by times between arrivals while it was busy.

    Packets that were sent one after the other count, as between others it may have served some that were lost behind
    it, or that were overtaken. Where these are few, it lets some packets pass, and all count.
    """
    known = gaps_s[following] if following.sum() >= _FOLLOWING * gaps_s.size else gaps_s
    return float(known.mean()) if known.size else 0.0


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
    drawn = [tuple(generator.choice(times, times.size).min() for times in lists) for _ in range(RESAMPLES)]
    # Few samples are ever the smallest: most lines are drawn many times.
    of = {least: _line(sizes, np.array(least))[0] for least in set(drawn)}
    bases = [of[least] for least in drawn]
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

    @property
    def overtaken(self) -> float:
        """The share of the packets that arrived after one that was sent later (RFC 4737 §4.1)."""
        arrivals = (self.sent_s + self.delay_s)[~self.lost]
        return float((arrivals > np.minimum.accumulate(arrivals[::-1])[::-1]).mean()) if arrivals.size else 0.0

    def sustained_bps(self, *, lossy: bool = False) -> Estimate | None:
        """The rate at which they arrived while the queue was full; nothing where it never was for long.

        It is the median over stretches of arrivals: in some of them the sender may have come too late, and the queue
        have been empty. Where a wire loses packets, too (``lossy``), those that were lost behind the bottleneck took
        their time; of a policer, which keeps no queue, all that arrives counts.
        """
        lost = np.flatnonzero(self.lost)
        if lost.size < _FEWEST:
            return None
        there = np.flatnonzero(~self.lost)
        there = there[there >= lost[0]]
        gaps, following = _gaps(there, (self.sent_s + self.delay_s)[there])
        count = min(_STRETCH, gaps.size // _FEWEST)
        if count < 1:
            return None
        stretches = [slice(begin, begin + count) for begin in range(0, gaps.size - count + 1, count)]
        services = np.array([float(gaps[each].mean()) for each in stretches])
        nearer = np.array([_service_s(gaps[each], following[each]) for each in stretches])
        if lossy or np.median(services) <= (1 + _ALIKE) * np.median(nearer):
            services = nearer
        took = float(np.median(services))
        if took <= 0:
            return None
        drawn = np.median(_redrawn(services), axis=1)
        bits = _BITS * self.packet_bytes
        return Estimate.of(bits / took, bits / drawn[drawn > 0])

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
        return before - gone

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
    return values[generator.integers(0, values.size, (RESAMPLES, values.size))]
