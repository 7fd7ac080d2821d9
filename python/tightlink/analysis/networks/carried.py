"""What a link carries on average over a run: its rate, less what shapers, policers, media, ARQ and outages take of it.

Example:
    >>> from tightlink.scenario.network import Network
    >>> scenario = tl.loads('''
    ... duration = "10 s"
    ... link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", shaper = { rate = "4 Mbit/s", burst = "10 kB" } }
    ... ''')
    >>> int(carried(Network(scenario.explicit()).hops[0], 1500, 10.0))
    4000000
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis.line import lost_share
from tightlink.lazy import Array, np
from tightlink.scenario.arq import Arq
from tightlink.scenario.delays import LeoDelay
from tightlink.scenario.disciplines import Policer
from tightlink.scenario.held_disciplines import Cake
from tightlink.scenario.network import Hop, wire_spec
from tightlink.scenario.outages import Outages, RandomOutages
from tightlink.scenario.processes import Process, Walk
from tightlink.scenario.queues import discipline
from tightlink.scenario.rates import AggregatingRate, RateSchedule, RateTable, RateTrace
from tightlink.scenario.shaper import Shaper
from tightlink.scenario.table import given

#: What a packet counts more than its own bytes where a trace gives the rate.
_TRACE_BYTES: Final = 4
#: Bytes of an ATM cell and those of its load; for how many bytes PTM adds one.
_CELL, _LOAD, _PTM = 53, 48, 64


def carried(hop: Hop, size: int, duration: float) -> Fraction:
    """Bit/s of IP packets of ``size`` bytes that a link carries on average over a run.

    What is drawn at random counts as `drawn` says.
    """
    per_bit = Fraction(_frame(hop, size), size)
    # Each transmission takes line time and its place in a burst; tokens of a bucket are of frames, however often sent.
    first_hand = 1 - units.exact(retransmitted(hop, size, duration))
    cap = min((bound * per_bit for bound in _bounds(hop, size)), default=None)
    rate = hop.wire.rate
    if hop.packet_rate is not None:
        line = hop.carries(size) * per_bit
    elif isinstance(rate, AggregatingRate):
        spec = rate.spec()
        bits = units.exact(spec["burst_packets"]) * 8 * _frame(hop, size)
        line = bits / (units.exact(spec["access_s"]) + bits / units.exact(hop.rate))
    elif isinstance(rate, RateTrace):
        line = _of_trace(rate, duration)
    elif isinstance(rate, RateSchedule | RateTable):
        spec = rate.spec()
        net = spec | {"values": [value * float(first_hand) for value in spec["values"]]}
        return units.exact(_of_course(net, _outages(hop), cap, duration)) * _up(hop) / per_bit
    else:
        line = units.exact(hop.rate)
    line *= first_hand
    line = line if cap is None else min(line, cap)
    if outages := _outages(hop):
        line *= units.exact(_of_course({"at_s": [0.0], "values": [1.0]}, outages, None, duration))
    return line * _up(hop) / per_bit


def retransmitted(hop: Hop, size: int, duration: float) -> float:
    """The share of a link's transmissions that its wire loses and the link retransmits (``arq``), in the long run."""
    return lost_share(wire_spec(hop), size, duration) if isinstance(hop.wire.arq, Arq) else 0.0


def changes(hop: Hop) -> bool:
    """Whether what a link carries changes over time, so that it carries less than its mean for some of it."""
    steady = isinstance(hop.wire.rate, str | AggregatingRate)
    return not steady or bool(_outages(hop)) or isinstance(hop.wire.outages, RandomOutages)


def drawn(hop: Hop) -> str | None:
    """What of a link is drawn at random, and as what `carried` takes it; nothing where nothing is."""
    rate, outages = hop.wire.rate, hop.wire.outages
    taken = []
    if isinstance(rate, Process):
        which = "first value" if isinstance(rate, Walk) else "mean in the long run"
        taken.append(f"its rate, taken as its {which}, {units.format_rate(hop.rate)}")
    if isinstance(outages, RandomOutages):
        taken.append(f"its outages, taken as in the long run, up for {units.format_fraction(float(_up(hop)))}")
    return " and ".join(taken) or None


def _bounds(hop: Hop, size: int) -> list[Fraction]:
    """Bit/s of IP packets that its shaper and its queue let through."""
    found = []
    if isinstance(hop.wire.shaper, Shaper):
        found.append(units.exact(units.rate(hop.wire.shaper.rate)) * size / _frame(hop, size))
    queue = discipline(given(hop.wire.queue))
    if isinstance(queue, Policer):
        found.append(units.exact(units.rate(queue.rate)))
    if isinstance(queue, Cake) and queue.rate is not None:
        counted = max(size + units.size(queue.overhead), units.size(queue.smallest))
        if queue.cells == "atm":
            counted = math.ceil(counted / _LOAD) * _CELL
        elif queue.cells == "ptm":
            counted += math.ceil(counted / _PTM)
        found.append(units.exact(units.rate(queue.rate)) * size / counted)
    return found


def _frame(hop: Hop, size: int) -> int:
    """Bytes of a packet on the line."""
    if isinstance(hop.wire.rate, RateTrace):
        return size + _TRACE_BYTES
    framing = given(hop.wire.framing)
    return max(size + units.size(given(framing.overhead)), units.size(given(framing.smallest)))


def _up(hop: Hop) -> Fraction:
    """The share of the time that outages at random leave in the long run."""
    if not isinstance(hop.wire.outages, RandomOutages):
        return Fraction(1)
    up, down = (units.exact(units.time(value)) for value in (hop.wire.outages.up, hop.wire.outages.down))
    return up / (up + down)


def _outages(hop: Hop) -> dict[str, Any] | None:
    """The times of outages that are known beforehand."""
    if isinstance(hop.wire.outages, Outages):
        return hop.wire.outages.times()
    spec = hop.wire.delay.outages() if isinstance(hop.wire.delay, LeoDelay) else None
    return None if spec is None else spec["times"]


def _of_trace(trace: RateTrace, duration: float) -> Fraction:
    """The mean rate of what leaves in a run by a trace, in bit/s."""
    instants = trace.instants()
    wraps, rest_ms = divmod(units.exact(duration) * 1000, instants[-1])
    begun = bisect.bisect_right(instants, rest_ms)
    # The mean of the trace is that of all its instants over its length.
    bits = units.exact(trace.nominal()) * instants[-1] / 1000 / len(instants)
    return (wraps * len(instants) + begun) * bits / units.exact(duration)


def _of_course(
    rate: Mapping[str, Any], outages: Mapping[str, Any] | None, cap: Fraction | None, duration: float
) -> float:
    """The mean of a rate by steps or ramps over a run, outages taken away and what is above a cap cut off."""
    marks = [np.array([0.0, duration]), _marks(rate, duration)]
    if outages is not None:
        begins = _marks(outages, duration)
        marks += [begins, begins + np.resize(outages["for_s"], len(begins))]
    times = np.unique(np.clip(np.concatenate(marks), 0, duration))
    spans, middles = np.diff(times), (times[1:] + times[:-1]) / 2
    at, values, phase = np.array(rate["at_s"]), np.array(rate["values"]), _phase(middles, rate)
    if rate.get("linear"):
        # Both ends of each piece as seen from its middle, as at its end the course may begin anew.
        first, last = (np.interp(phase + side * spans / 2, at, values) for side in (-1, 1))
    else:
        first = last = values[np.searchsorted(at, phase, side="right") - 1]
    low, high = np.minimum(first, last), np.maximum(first, last)
    top = values.max() if cap is None else float(cap)
    # The share of each piece that is below the cap, of which the mean is in its middle.
    below = np.divide(top - low, high - low, where=high > low, out=np.where(low < top, 1.0, 0.0)).clip(0, 1)
    means = below * (low + np.minimum(high, top)) / 2 + (1 - below) * top
    if outages is not None:
        begins, phase = np.array(outages["at_s"]), _phase(middles, outages)
        before = np.searchsorted(begins, phase, side="right") - 1
        means[(before >= 0) & (phase < (begins + outages["for_s"])[before])] = 0
    return float((spans * means).sum() / duration)


def _marks(course: Mapping[str, Any], duration: float) -> Array:
    """The times of a course, again in each of its periods."""
    period = course.get("period_s")
    at: Array = np.array(course["at_s"])
    if period is None:
        return at
    again: Array = np.add.outer(period * np.arange(math.ceil(duration / period)), at)
    return again.ravel()


def _phase(times: Array, course: Mapping[str, Any]) -> Array:
    """Times since the course last began."""
    period = course.get("period_s")
    return times if period is None else np.mod(times, period)
