"""What is known of a path, how sure that is, and a scenario of it.

Example:
    >>> from tightlink.analysis.estimates import Estimate
    >>> found = PathAnswer("10.0.0.2", Estimate(10e6, 9.99e6, 10.01e6), Estimate(0.02, 0.0199, 0.0201),
    ...                    Estimate(20.2, 20, 21), ())
    >>> print(found.scenario(1428).splitlines()[-2])
    link.path = { ends = ["here", "there"], rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets" }
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink import units
from tightlink.analysis.estimates import Estimate
from tightlink.analysis.path.estimate import Overload, PacketTrains, empty_rtt
from tightlink.lazy import Array, np
from tightlink.numbers import percent

#: Two ways that differ by less agree.
_ALIKE: Final = 0.05
#: The middle half of all trains, over the median, where nothing disturbs them.
_STEADY: Final = 0.1
#: Less than this over the rate fills no queue.
_OVERLOADED: Final = 1.15
_RTT_SPREAD: Final = 0.1
#: A transmission time of less than this share of a round trip does not matter to it.
_NEGLIGIBLE: Final = 0.01
#: Of the packets of an overload must be overtaken, for that to be why some are late.
_OVERTAKEN: Final = 0.002
_TOO_SLOW: Final = "this end cannot send faster than the path carries"
_UNCHECKED: Final = "no overload checks what trains say"
_OTHER_TRAFFIC: Final = "there is other traffic"


@dataclass(frozen=True)
class PathAnswer:
    """A path: each value with its interval, and why not to be sure of it."""

    host: str
    bandwidth_bps: Estimate | None
    """Of the bottleneck, IP headers included."""
    rtt_s: Estimate | None
    """Of the empty path, without transmission times."""
    queue_packets: Estimate | None
    """At the bottleneck, the packet in service included."""
    doubts: tuple[tuple[str, str], ...]
    """Of what, and why; of a value without doubts one can be sure."""

    def doubts_of(self, name: str) -> list[str]:
        """Why not to be sure of a value."""
        return [why for what, why in self.doubts if what == name]

    @property
    def whole(self) -> bool:
        """Whether all three are known."""
        return None not in {self.bandwidth_bps, self.rtt_s, self.queue_packets}

    def scenario(self, packet_bytes: int) -> str:
        """A scenario file with the path as its one link and a transfer over it."""
        if self.bandwidth_bps is None or self.rtt_s is None or self.queue_packets is None:
            raise ValueError("a path of which something is not known makes no scenario")
        bps, rtt, queue = self.bandwidth_bps, self.rtt_s, self.queue_packets
        link = {
            "rate": units.format_rate(_rounded(bps.value)),
            "delay": units.format_time(_rounded(rtt.value / 2)),
            "queue": units.format_packets(max(2, round(queue.value))),
        }
        intervals = (
            f"rate from {units.format_rate(_rounded(bps.low))} to {units.format_rate(_rounded(bps.high))}, "
            f"round trip from {units.format_time(_rounded(rtt.low))} to {units.format_time(_rounded(rtt.high))}, "
            f"queue from {queue.low:.4g} to {queue.high:.4g} packets. Both directions are taken to be alike."
        )
        remarks = [
            f"The path to {self.host}, as tightlink measure path found it with packets of {packet_bytes} B:",
            intervals,
            *(f"{what}: {why}" for what, why in self.doubts),
        ]
        keys = ", ".join(f'{key} = "{value}"' for key, value in link.items())
        lines = [
            *(f"# {remark}" for remark in remarks),
            'duration = "10 s"',
            f'link.path = {{ ends = ["here", "there"], {keys} }}',
            'traffic.bulk = { kind = "bulk", from = "here", to = "there" }',
        ]
        return "\n".join(lines) + "\n"

    def as_json(self) -> dict[str, Any]:
        """The same for programs."""
        known = {name: _bounds(getattr(self, name)) for name in ("bandwidth_bps", "rtt_s", "queue_packets")}
        return {"host": self.host, **known, "doubts": [{"of": what, "why": why} for what, why in self.doubts]}


def judged(
    host: str,
    *,
    round_trips_s: Mapping[int, Array],
    trains: PacketTrains,
    flood: Overload | None,
    overflowed: int,
    no_flood: str = _TOO_SLOW,
) -> PathAnswer:
    """What the probes say of a path, one way held against the other.

    Round-trip times are by the size of the packets, headers included; ``no_flood`` says why there is no flood.
    """
    doubts: list[tuple[str, str]] = []
    bps = trains.rate_bps()
    lasting = None if flood is None else flood.sustained_bps(lossy=trains.lost_first > 0)
    if bps is None or (trains.short and lasting is None):
        why = "too few trains arrived whole enough, and no overload tells instead: a smaller --payload takes less time"
        doubts.append(("bandwidth", why))
        return PathAnswer(host, None, _rtt(round_trips_s, None, doubts), None, tuple(doubts))
    low, high = np.percentile(trains.rates_bps(), [25, 75])
    spread = float((high - low) / bps.value)
    if spread > _STEADY and not trains.short:
        doubts.append(("bandwidth", f"trains differ, half of them by {percent(spread)} or more"))
    if overflowed:
        doubts.append(("bandwidth", f"the other end was too slow for {overflowed} datagrams"))
    if flood is None:
        doubts += [("queue", no_flood), ("bandwidth", _UNCHECKED)]
        queue = None
    else:
        bps, queue = _flooded(bps, lasting, trains, flood, doubts)
    rtt = _rtt(round_trips_s, bps.value, doubts)
    if rtt is not None and any(what == "queue" and _OTHER_TRAFFIC in why for what, why in doubts):
        doubts.append(("rtt", f"at most this: if {_OTHER_TRAFFIC}, round trips wait in its queue"))
    return PathAnswer(host, bps, rtt, queue, tuple(doubts))


def of_round_trips(host: str, *, round_trips_s: Mapping[int, Array], why: str) -> PathAnswer:
    """What is known of a path where only round trips could be measured: ``why`` says why its rate could not."""
    doubts = [("bandwidth", why), ("queue", "no overload filled it, as the rate of the path is not known")]
    rtt = _rtt(round_trips_s, None, doubts)
    return PathAnswer(host, None, rtt, None, tuple(doubts))


def of_others(
    host: str, *, round_trips_s: Mapping[int, Array], carried_bps: float | None, doubts: Sequence[tuple[str, str]]
) -> PathAnswer:
    """What is known of a path without a listener at its other end.

    ``doubts`` say what was not to be had, and why.
    """
    why = [("queue", "only an overload would tell, which needs tightlink measure serve at the other end"), *doubts]
    bps = None
    if carried_bps is not None:
        bps = Estimate(carried_bps, carried_bps, math.inf)
        why.append(("bandwidth", "at least the goodput of TCP, to which headers and what TCP leaves unused come"))
    rtt = _rtt(round_trips_s, carried_bps, why) if round_trips_s else None
    return PathAnswer(host, bps, rtt, None, tuple(why))


def _flooded(
    bps: Estimate, lasting: Estimate | None, trains: PacketTrains, flood: Overload, doubts: list[tuple[str, str]]
) -> tuple[Estimate, Estimate | None]:
    """The rate, held against that of the overload while the queue was full, and the queue."""
    rough = lasting if lasting is not None and trains.short else bps
    if flood.offered_bps < _OVERLOADED * rough.value:
        why = _TOO_SLOW
        if lasting is not None and flood.offered_bps < rough.value and not trains.lost_first:
            why = "this end sent in bursts and not as fast as planned: a machine is busy"
        doubts += [("queue", why), ("bandwidth", _UNCHECKED)]
        return bps, None
    if flood.lost.all():
        doubts.append(("queue", "nothing of the overload arrived"))
        return bps, None
    carried, said = flood.carried_bps(), units.format_rate(_rounded(bps.value))
    if lasting is None and carried > (1 + _ALIKE) * bps.value:
        why = f"at least this, which an overload got through; trains say {said}: their packets come apart on the way"
        doubts += [("bandwidth", why), ("queue", "no overload filled it, as the rate of the path is not known")]
        return Estimate(carried, carried, math.inf), None
    if lasting is not None:
        if abs(lasting.value / bps.value - 1) > _ALIKE:
            why = (
                f"trains say {said}, and a lasting overload what is given here: a token bucket lets bursts pass, or "
                f"{_OTHER_TRAFFIC}"
            )
            doubts.append(("bandwidth", why))
            bps = lasting
        else:
            # What a token bucket lets through at once makes trains a little faster.
            bps = Estimate(lasting.value, min(bps.low, lasting.low), max(bps.high, lasting.high))
    return bps, _queue(bps, flood, doubts, full=lasting is not None, lost=trains.lost_first)


def _queue(bps: Estimate, flood: Overload, doubts: list[tuple[str, str]], *, full: bool, lost: float) -> Estimate:
    """The queue, by what lost packets found, which late machines move least; held against what delays say."""
    by_delay = flood.queue_by_delay(bps)
    found = flood.queue_by_losses(bps.value) if full else None
    if found is None:
        count = int(flood.lost.sum())
        doubts.append(("queue", f"at least this: {count} datagrams were lost, too few for a full queue"))
        return by_delay
    value, low, high = found
    alike = max(1.0, _ALIKE * value)
    if lost:
        why = f"{percent(lost, 1)} are lost where no queue is full, on a wire or as {_OTHER_TRAFFIC}: by delays alone"
        doubts.append(("queue", why))
        return by_delay
    if high - low > alike:
        why = f"lost packets found {low:.3g} to {high:.3g} there: it does not drop at its tail alone, counts bytes, or "
        doubts.append(("queue", f"{why}{_OTHER_TRAFFIC}"))
        return Estimate(by_delay.value, min(low, by_delay.low), max(high, by_delay.high))
    if abs(by_delay.value - value) > alike:
        why = f"{_OTHER_TRAFFIC}, or a machine is busy"
        if flood.overtaken > _OVERTAKEN:
            why = f"packets overtake each other ({percent(flood.overtaken)})"
        doubts.append(("queue", f"by delays it would be {by_delay.value:.3g}: {why}"))
    return Estimate(value, low, high)


def _rtt(samples_s: Mapping[int, Array], bps: float | None, doubts: list[tuple[str, str]]) -> Estimate | None:
    if not samples_s:
        doubts.append(("rtt", "no answer"))
        return None
    found, slope = empty_rtt(samples_s)
    if len(samples_s) == 1:
        doubts.append(("rtt", "the transmission times of a packet are in it, as packets of one size only came back"))
    elif slope == 0 and (bps is None or 8 * min(samples_s) / bps > _NEGLIGIBLE * found.value):
        doubts.append(("rtt", "the transmission times of a small packet may be in it, as larger ones took no longer"))
    if found.high - found.low > _RTT_SPREAD * found.value:
        doubts.append(("rtt", f"round trips differ: {_OTHER_TRAFFIC}, or a machine is busy"))
    return found


def _bounds(value: Estimate | None) -> dict[str, float | None] | None:
    """A value and its interval; an end that is not known is nothing."""
    if value is None:
        return None
    found = {"value": value.value, "low": value.low, "high": value.high}
    return {name: each if math.isfinite(each) else None for name, each in found.items()}


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
