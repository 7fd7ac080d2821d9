"""Claims about what the document says of the queues of 20, 50 and 5 packets and of the long link."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.experiment.claims import Claim, exact, holds_if, within
from tightlink.reduce import largest
from tightlink.studies.one_flow.cases import DOCUMENT, START_S, STOP_S
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.studies.one_flow.measures import Measured

_KBIT: Final = 1e3
_MS: Final = 1e-3
_PERCENT: Final = 100
_SENDING_S: Final = STOP_S - START_S
#: The document's Mbit in its hand calculations.
_BINARY_MBIT: Final = 2**20
#: A jitter below this is none.
_NO_JITTER_MS: Final = 0.001


def long_queue(long: Measured, base: Measured) -> Iterator[Claim]:
    """The queue of 50 packets."""
    place = f"{DOCUMENT}, queue of 50 packets"
    same = long.run.packets.equals(base.run.packets)
    yield holds_if(
        "queue-50.same", "A queue of 50 packets changes nothing: the same curves as with 20", place,
        "the same events" if same else "other events", same, "All events of the two packet traces are compared.",
    )  # fmt: skip
    yield from hand_calculation(base)


def queue(base: Measured) -> Iterator[Claim]:
    """The queue of the base case."""
    most = int(base.run.links["queue_max_packets"][0])
    yield holds_if(
        "base.never-full", "The queue of 20 packets is never full", f"{DOCUMENT}, queue of the base case", most,
        most < base.case.queue_packets, "Packets waiting at most.", unit="packets",
    )  # fmt: skip
    yield within(
        "base.queue", "The queue holds 14 to 15 packets, closer to 14", f"{DOCUMENT}, queue of the base case", 14.5,
        base.queue_mean, tolerance=0.5, unit="packets",
        reason=f"Mean over time: 14 packets for {percent(base.share_of_time(14))} of it, 15 for "
        f"{percent(base.share_of_time(15))}.",
    )  # fmt: skip


def hand_calculation(base: Measured) -> Iterator[Claim]:
    """The document's own calculation of the latency."""
    place = f"{DOCUMENT}, queue of 50 packets, calculated latency"
    case = base.case
    rate = case.rate_bps / 1e6 * _BINARY_MBIT / 8
    binary = "Its Mbit is 2²⁰ bit and its packet 1000 B; the simulators count 10⁶ bit and 1040 B."
    queue, own = 14.5 * case.payload_bytes / rate / _MS, case.payload_bytes / rate / _MS
    total = queue + own + case.delay_s / _MS
    names = (("queue", "14.5 packets wait 55.31 ms", 55.31, queue), ("own", "A packet takes 3.81 ms itself", 3.81, own))
    for name, statement, expected, observed in (*names, ("total", "The latency is 69.12 ms", 69.12, total)):
        yield within(
            f"calculated.{name}", statement, place, expected, observed, tolerance=0.01, unit="ms", reason=binary
        )
    packet_s = 8 * case.packet_bytes / case.rate_bps
    sum_ms = (base.queue_mean * packet_s + packet_s + case.delay_s) / _MS
    yield holds_if(
        "calculated.difference", "The simulator may add some random time for forwarding, hence 72–73 ms", place,
        base.latency_s / _MS, abs(sum_ms - base.latency_s / _MS) > 0.5,
        f"Nothing is random: with 10⁶ bit, 1040 B and the mean queue of {base.queue_mean:.2f} packets the same sum is "
        f"{sum_ms:.2f} ms, what is measured.", unit="ms",
    )  # fmt: skip


def short_queue(short: Measured, base: Measured, old: Measured) -> Iterator[Claim]:
    """The queue of 5 packets; ``old`` is under the timer of the document's day."""
    place = f"{DOCUMENT}, queue of 5 packets"
    low, high = (rate / _KBIT for rate in short.smoothed_range_bps)
    yield holds_if(
        "queue-5.oscillates", "The instant throughput never becomes steady", place, f"{low:.0f} to {high:.0f} kbit/s",
        high - low > 0.05 * high, "Smoothed instant throughput, headers included.",
    )  # fmt: skip
    system, older = (measured.payload["system_bps"][-1] / _KBIT for measured in (short, old))
    yield holds_if(
        "queue-5.below-1700", "After 10 s the system throughput is below 1700 kbit/s", place, system,
        system < 1700, f"Payload. As the counts, another version's timer: with its lower bound of 1 s it is "
        f"{older:.0f} kbit/s.", unit="kbit/s",
    )  # fmt: skip
    yield holds_if(
        "queue-5.latency", "The latency is lower, and no longer steady", place,
        f"{short.latency_s / _MS:.1f} ms, varying by {short.latency_spread_s / _MS:.1f} ms",
        short.latency_s < base.latency_s and short.latency_spread_s > 1 * _MS,
    )  # fmt: skip
    yield holds_if(
        "queue-5.jitter",
        "There is jitter",
        place,
        short.jitter_s / _MS,
        short.jitter_s / _MS > _NO_JITTER_MS,
        unit="ms",
    )
    lost = _PERCENT * (1 - short.kilobytes / base.kilobytes)
    yield within(
        "queue-5.lost", "Some 400 kbit/s (16.67 %) are lost", place, 16.67, lost, tolerance=0.05, unit="%",
        reason=f"A slip: 16.67 % is 400/2400, and the document's own 2088 of 2421 KB are 13.8 % or 276 kbit/s. Here "
        f"{lost:.1f} % are lost, with the timer's lower bound at 1 s "
        f"{_PERCENT * (1 - old.kilobytes / base.kilobytes):.1f} %.",
    )  # fmt: skip
    longest = largest(short.held["share"])
    yield holds_if(
        "queue-5.queue", "The queue is very unstable", place,
        _PERCENT * longest, longest < 0.5,
        "Here: the greatest share of the time at one length; packets waiting and shares: "
        f"{', '.join(f'{length}: {percent(share)}' for length, share in short.held.rows())}.", unit="%",
    )  # fmt: skip


def long_link(long: Measured, base: Measured) -> Iterator[Claim]:
    """The delay of 100 ms."""
    place = f"{DOCUMENT}, delay of 100 ms"
    low, high = (rate / _KBIT for rate in long.smoothed_range_bps)
    yield holds_if(
        "delay-100ms.oscillates", "The instant throughput oscillates", place, f"{low:.0f} to {high:.0f} kbit/s",
        high - low > 0.05 * high,
        "The window once more: 20 packets, then a pause until their ACKs arrive.",
    )  # fmt: skip
    system = long.payload["system_bps"][-1] / _KBIT
    yield holds_if(
        "delay-100ms.below-750", "After 10 s the system throughput has not reached 750 kbit/s", place, system,
        system < 750, f"Payload at the last arrival; {long.throughput['system_bps'][-1] / _KBIT:.0f} kbit/s with "
        f"headers, {8 * long.flow['bytes_delivered'] / _SENDING_S / _KBIT:.0f} over all of 9.9 s.", unit="kbit/s",
    )  # fmt: skip
    lost = _PERCENT * (1 - long.kilobytes / base.kilobytes)
    yield within("delay-100ms.lost-60", "60 % of the system throughput is lost", place, 60, lost, tolerance=2, unit="%")
    yield within(
        "delay-100ms.lost", "A de-rating of 61.83 %", place, 61.83, lost, tolerance=0.005, unit="%",
        reason="Of the base case's kilobytes.",
    )  # fmt: skip
    yield within(
        "delay-100ms.latency",
        "The latency is 104 ms, not 160",
        place,
        104,
        long.latency_s / _MS,
        tolerance=0.5,
        unit="ms",
    )
    waits = base.queue_mean * 8 * base.case.packet_bytes / base.case.rate_bps / _MS
    yield holds_if(
        "delay-100ms.saved", "Most of the base case's 72 ms was spent in the queue", place, waits,
        waits > 0.5 * base.latency_s / _MS, f"Of {base.latency_s / _MS:.1f} ms.", unit="ms",
    )  # fmt: skip
    lengths = sorted(long.steady(long.queue)["packets"].unique().to_list())
    yield exact(
        "delay-100ms.queue", "The queue holds none and one packet by turns", place, "0, 1",
        ", ".join(map(str, lengths)), reason="The one is a packet that passes straight to the free transmitter: for "
        f"{percent(long.share_of_time(0), 1)} of the time none waits.",
    )  # fmt: skip
    yield within(
        "delay-100ms.jitter", "The jitter is about zero", place, 0, long.jitter_s / _MS, tolerance=_NO_JITTER_MS,
        unit="ms",
    )  # fmt: skip
