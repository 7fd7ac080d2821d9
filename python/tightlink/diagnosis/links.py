"""Links and processors of paths: what the scenario says of them, with what a run's tables do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tightlink import units
from tightlink.diagnosis import changing_rate, line
from tightlink.diagnosis.kinds import POLICER

_BITS: Final = 8
#: The rate that a link exceeds but for this share of the time is what it nearly always has.
_RARELY: Final = 0.05
#: In a link that is less busy than that nobody waits for long behind others, but for the end of its outages.
_BUSY: Final = 0.5
#: Where a link's table says how much later some packets come.
_LATER: Final = (("reorder", "delay_s"), ("arq", "after_s"))


@dataclass(frozen=True)
class Link:
    """A link of a path: what the scenario says of it, and its totals."""

    name: str
    key: str
    """Dotted path of its table."""
    spec: Mapping[str, Any]
    """The link as the engine reads it."""
    totals: Mapping[str, Any]
    """Its row of the table ``links``; empty if there is none."""
    duration_s: float
    """Of the run."""
    written_limit: str = ""
    """The limit of its queue as the scenario writes it."""

    @property
    def utilization(self) -> float:
        """Share of the time in which its transmitter was busy; of what its shaper or policer lets through, if more."""
        sent = _BITS * (self.totals.get("bytes_out") or 0)
        return max(self.totals.get("utilization") or 0.0, min(1.0, sent / (self.shaped_bps * self.duration_s)))

    @property
    def shaped_bps(self) -> float:
        """Rate of its shaper or policer, where that is below the line's; infinite where none is."""
        rate = self.spec.get("shaper", self.spec["queue"]).get("rate_bps") or math.inf
        return float(rate) if rate < (self.spec["rate_bps"] or 0.0) else math.inf

    @property
    def shapes(self) -> bool:
        """Whether packets wait at it for a rate below the line's."""
        return self.shaped_bps < math.inf and not self.polices

    def weight(self, code: int) -> float:
        """How many turns the class of a code point has at a queue that gives classes turns."""
        return float(dict(self.spec["queue"]["weights"]).get(code, 1.0))

    @property
    def polices(self) -> bool:
        """Whether it drops what exceeds a rate below the line's, rather than let it wait."""
        return self.discipline == POLICER and self.shaped_bps < math.inf

    @property
    def delay_changes(self) -> bool:
        """Whether packets take longer on its wire than its delay at times."""
        return not self.spec.keys().isdisjoint(("delay", "jitter", "arq", "reorder"))

    @property
    def later_s(self) -> float:
        """By how much a packet may come later than the one before it, where its wire delays them unlike each other."""
        jitter = self.spec.get("jitter", {}).get("distribution", {})
        spread_s = jitter.get("most_s", max((*jitter.get("values_s", ()), 2 * jitter.get("mean_s", 0.0))))
        return float(max(spread_s, *(self.spec.get(key, {}).get(name, 0.0) for key, name in _LATER)))

    @property
    def delayed_by(self) -> str:
        """What makes packets take longer on its wire than its delay at times, in words."""
        words = {"delay": "changing delay", "jitter": "jitter", "arq": "ARQ", "reorder": "reordering"}
        there = [word for key, word in words.items() if key in self.spec]
        return there[0] if len(there) == 1 else "changing delay"

    @property
    def reorders(self) -> bool:
        """Whether its packets may overtake each other."""
        return "reorder" in self.spec or "overtaking" in self.spec

    def down_s(self, start_s: float, stop_s: float) -> float:
        """For how long of a time it is down; where it fails at random, on average."""
        outages = self.spec.get("outages")
        if outages is None:
            return 0.0
        times = outages["times"]
        if self.fails_at_random:
            return float((stop_s - start_s) * times["down_s"] / (times["up_s"] + times["down_s"]))
        return sum(ends_s - begins_s for begins_s, ends_s in self._outages(start_s, stop_s))

    @property
    def fails_at_random(self) -> bool:
        """Whether nobody knows in advance when it is down."""
        return "at_s" not in self.spec.get("outages", {}).get("times", {"at_s": ()})

    def _outages(self, start_s: float, stop_s: float) -> list[tuple[float, float]]:
        """From when until when its scheduled outages last within a time."""
        times = self.spec["outages"]["times"]
        period = times["period_s"] or math.inf
        rounds = range(math.ceil(stop_s / period)) if period < math.inf else range(1)
        begins = [(at + number * period if number else at, lasts) for number in rounds
                  for at, lasts in zip(times["at_s"], times["for_s"], strict=True)]  # fmt: skip
        clipped = [(max(start_s, at), min(stop_s, at + lasts)) for at, lasts in begins]
        return [each for each in clipped if each[0] < each[1]]

    def timer_awaited_s(self, start_s: float, stop_s: float, rto: Mapping[str, float], least_s: float) -> float:
        """How long behind its outages a retransmission timer is awaited, which doubles from ``least_s`` on meanwhile.

        Nothing where packets wait for the end of an outage rather than be lost: their ACKs follow at once.
        """
        if self.fails_at_random or not self.spec.get("outages", {}).get("flush"):
            return 0.0
        outages = self._outages(start_s, stop_s)
        return sum(min(_expirations(span, rto, least_s)[-1], stop_s) - span[1] for span in outages)

    def needless_timeouts(self, start_s: float, stop_s: float, rto: Mapping[str, float], least_s: float) -> int:
        """How often such a timer expires during its outages, where packets wait for their end and none is lost."""
        if self.fails_at_random or self.spec.get("outages", {"flush": True})["flush"]:
            return 0
        return sum(len(_expirations(span, rto, least_s)) - 1 for span in self._outages(start_s, stop_s))

    def outages_add_s(self, start_s: float, stop_s: float) -> float:
        """Mean wait for the end of its outages, of packets that come evenly over a time, where it is hardly busy.

        Who comes within one waits for half of it in the mean; for all of a mean one where lengths are exponential.
        """
        if "outages" not in self.spec or stop_s <= start_s or self.utilization >= _BUSY:
            return 0.0
        if self.fails_at_random:
            return float(self.down_s(start_s, stop_s) * self.spec["outages"]["times"]["down_s"] / (stop_s - start_s))
        return sum((ends_s - begins_s) ** 2 / 2 for begins_s, ends_s in self._outages(start_s, stop_s)) / (
            stop_s - start_s
        )

    @property
    def sends_bursts(self) -> bool:
        """Whether it waits for its medium and then sends what has come meanwhile at once, as Wi-Fi does."""
        return "burst_packets" in self.spec.get("rate", ())

    def service_s(self, size: int) -> float:
        """How long a packet of so many bytes is on the line."""
        if self.spec["rate_pps"] is not None:
            return float(1 / self.spec["rate_pps"])
        return float(_BITS * line.frame_bytes(self.spec, size) / self.spec["rate_bps"])

    def shortest_s(self, size: int) -> float:
        """The same at best: a packet that comes at an opportunity of a trace leaves at once."""
        return 0.0 if "trace_ms" in self.spec.get("rate", ()) else self.service_s(size)

    def fastest_s(self, size: int) -> float:
        """The same at the highest rate that there can be."""
        course = self.spec.get("rate", {})
        return (
            self.service_s(size) * self.spec["rate_bps"] / changing_rate.bound(course)
            if "kind" in course
            else (self.shortest_s(size))
        )

    def medium_s(self, size: int) -> float:
        """What a packet of so many bytes waits where nobody is before it: for its medium, and the rest of a burst."""
        if not self.sends_bursts:
            return 0.0
        return float(self.spec["rate"]["access_s"] + (self.spec["rate"]["burst_packets"] - 1) * self.service_s(size))

    def rarely_waits_s(self, size: int) -> float:
        """The same that hardly any exceeds: waits for a medium are exponential."""
        if not self.sends_bursts:
            return 0.0
        return self.medium_s(size) + float((-math.log(_RARELY) - 1) * self.spec["rate"]["access_s"])

    def interval_s(self, size: int) -> float:
        """How long after each other packets of so many bytes leave, where they wait: at the shaper's rate, if any."""
        return max(self._line_s(size), _BITS * size / self.shaped_bps)

    def _line_s(self, size: int) -> float:
        """How long the line takes for each of many packets: its part of a wait for the medium, and what ARQ repeats."""
        rate = self.spec.get("rate", {})
        waits_s = rate["access_s"] / rate["burst_packets"] if self.sends_bursts else 0.0
        return float((self.service_s(size) + waits_s) * line.transmissions(self.spec, size, self.duration_s))

    def written_interval_s(self, size: int) -> float:
        """The same by its rate as it is written, or by the mean of one that changes."""
        return max(self.service_s(size), _BITS * size / self.shaped_bps)

    def unit_interval_s(self, size: int) -> float:
        """The same as a queue of "1 BDP" counts it: of packets alone, at the rate of the line or of its shaper."""
        if self.spec["rate_pps"] is not None:
            return float(1 / self.spec["rate_pps"])
        shaper = self.spec.get("shaper", {}).get("rate_bps", math.inf)
        return float(_BITS * size / min(self.spec["rate_bps"], shaper))

    @property
    def highest_over_mean(self) -> float:
        """How many times its mean the highest rate of a schedule or a trace is; otherwise one."""
        usual = self.spec["rate_bps"]
        return max(1.0, changing_rate.peak(self.spec.get("rate", {})) / usual) if usual else 1.0

    def share_below(self, bps: float, size: int, times_s: tuple[float, float]) -> float:
        """The share of a time in which it carries less than so many bits per second of packets of so many bytes."""
        return changing_rate.share_below(self.spec.get("rate", {}), bps / self._carried(size), times_s)

    @property
    def rate_is_drawn(self) -> bool:
        """Whether its rate changes at random, so that shares of the time are averages."""
        return "rate" in self.spec and not self.spec["rate"].keys() & {"at_s", "trace_ms"}

    def always_carries_bps(self, size: int, times_s: tuple[float, float]) -> float:
        """Bits per second of IP packets of so many bytes that it carries for nearly all of a time."""
        return self._not_exceeded_bps(_RARELY, size, times_s)

    def rarely_exceeds_bps(self, size: int, times_s: tuple[float, float]) -> float:
        """Bits per second of IP packets of so many bytes that it carries more than for hardly any of a time."""
        return self._not_exceeded_bps(1 - _RARELY, size, times_s)

    def _not_exceeded_bps(self, share: float, size: int, times_s: tuple[float, float]) -> float:
        found = changing_rate.quantile(self.spec.get("rate", {}), share, times_s)
        return self.carries_bps(size) if found is None else min(self.shaped_bps, found * self._carried(size))

    def _carried(self, size: int) -> float:
        """Which part of its rate is packets of so many bytes, rather than framing, waits, and what ARQ repeats."""
        return _BITS * size / (self._line_s(size) * self.spec["rate_bps"]) if self.spec["rate_bps"] else 1.0

    @property
    def adds_s(self) -> float:
        """The most that a schedule, or draws, of its delay add to the shortest."""
        delay = self.spec.get("delay")
        return max((*delay.get("values", ()), delay.get("most", 0.0))) - self.spec["delay_s"] if delay else 0.0

    @property
    def adds_at_most_s(self) -> float:
        """The most that its wire adds to its delay; infinite where nothing bounds that."""
        delay, more = self.spec.get("delay"), self.spec.keys() & {"jitter", "arq", "reorder"}
        bounded = delay is None or not delay.keys().isdisjoint(("values", "most"))
        return self.adds_s if bounded and not more else math.inf

    def carries_bps(self, size: int) -> float:
        """Bits per second of IP packets of so many bytes that it carries."""
        return _BITS * size / self.interval_s(size)

    @property
    def queueing_s(self) -> float:
        """Mean time of a packet in its queue; where nobody measured it, by Little's law."""
        measured = self.totals.get("queueing_delay_mean_s")
        if measured is not None:
            return float(measured)
        waiting, through = self.totals.get("queue_mean_packets"), self.totals.get("packets_out")
        return float(waiting * self.duration_s / through) if waiting and through else 0.0

    @property
    def queueing_p95_s(self) -> float | None:
        """Time in its queue that 95 % of the packets do not exceed, where it was measured."""
        measured = self.totals.get("queueing_delay_p95_s")
        return None if measured is None else float(measured)

    def limit_packets(self, size: int) -> float | None:
        """What its queue takes in packets of so many bytes; nothing where that is unlimited."""
        return _packets(self.spec["queue"]["limit"], size)

    def marks_packets(self, size: int) -> float:
        """How many packets of so many bytes wait where it begins to mark; infinite where that is no number."""
        found = _packets(self.spec["queue"].get("mark"), size)
        return math.inf if found is None else found

    def written(self, key: str = "limit") -> str | None:
        """What its queue takes, or marks from, for reading, whatever the size of packets; nothing where unlimited."""
        limit = self.spec["queue"][key]
        if isinstance(limit, str):
            return None
        return units.format_packets(limit["packets"]) if "packets" in limit else units.format_size(limit["bytes"])

    @property
    def discipline(self) -> str:
        """Kind of its queue, such as drop-tail."""
        return str(self.spec["queue"]["kind"])

    @property
    def mean_bytes(self) -> float:
        """Mean size of the packets that it carried; infinite where that is not known."""
        through = self.totals.get("packets_out")
        return float(self.totals["bytes_out"] / through) if through else math.inf

    @property
    def lost_on_wire(self) -> int:
        """Packets lost after their transmission."""
        return self.totals.get("packets_lost") or 0

    @property
    def only_fails(self) -> bool:
        """Whether its wire loses nothing but what is on it when it goes down."""
        return "outages" in self.spec and not self.spec["loss"]

    @property
    def marked(self) -> float:
        """Share of the packets that came that its queue marked."""
        return (self.totals.get("packets_marked") or 0) / max(1, self.totals.get("packets_in") or 0)

    @property
    def lost_at_queue(self) -> int:
        """Packets lost at the queue, its discipline's drops included."""
        return (self.totals.get("packets_dropped") or 0) - self.lost_on_wire


def _packets(limit: object, size: int) -> float | None:
    """A limit in packets of so many bytes; nothing where there is none."""
    if not isinstance(limit, Mapping):
        return None
    return float(limit["packets"]) if "packets" in limit else float(limit["bytes"]) / size


@dataclass(frozen=True)
class Processor:
    """A node of a path whose processor limits its packets per second."""

    name: str
    key: str
    """Dotted path of its table."""
    spec: Mapping[str, Any]
    totals: Mapping[str, Any]
    """Its row of the table ``nodes``; empty if there is none."""
    sends: bool
    """Whether it is the sender's own, which pushes back instead of dropping."""

    def service_s(self, size: int) -> float:
        """Processor time of a packet of so many bytes."""
        return float(self.spec["per_packet_s"] + self.spec["per_byte_s"] * size)

    def packets_per_s(self, size: int) -> float:
        """Packets of so many bytes that it takes each second."""
        work = self.service_s(size) + self.spec["interrupt_s"]
        return 1 / work if work > 0 else float("inf")

    @property
    def load(self) -> float:
        """Processor time asked for over the duration."""
        return self.totals.get("load_true") or 0.0

    @property
    def dropped(self) -> int:
        """Packets lost at its input ring."""
        return self.totals.get("dropped_input_ring") or 0


def _expirations(outage: tuple[float, float], rto: Mapping[str, float], least_s: float) -> list[float]:
    """When a timer expires that doubles from ``least_s`` on, from the beginning of an outage until after its end."""
    begins_s, ends_s = outage
    found, timeout_s = [begins_s + least_s], least_s
    while found[-1] < ends_s:
        timeout_s = min(2 * timeout_s, rto["max_s"])
        found.append(found[-1] + timeout_s)
    return found
