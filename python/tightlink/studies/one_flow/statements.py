"""Claims about what the document says of each case beyond its counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tightlink.experiment.claims import Claim, exact, holds_if, untestable, within
from tightlink.studies.one_flow.cases import BY_NAME, DOCUMENT, OLD_TIMER, STOP_S, START_S
from tightlink.studies.one_flow.measures import Measured, measure
from tightlink.studies.one_flow.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_KBIT: Final = 1e3
_MS: Final = 1e-3
_PERCENT: Final = 100
_SENDING_S: Final = STOP_S - START_S
#: The document's Mbit in its hand calculations.
_BINARY_MBIT: Final = 2**20
#: A jitter of a ten-thousandth of the smallest latency is none.
_NO_JITTER_MS: Final = 0.001
#: Steady: within this share of the final value.
_SETTLED: Final = 0.999
_PART: Final = 0.9


def claims(tcp: Mapping[str, Measured], udp: Mapping[str, Measured], runs: Mapping[str, Run]) -> Iterator[Claim]:
    """Everything that the document says of the seven cases."""
    base = tcp["base"]
    old = measure(BY_NAME["queue-5"], runs[OLD_TIMER])
    parts: dict[str, Iterator[Claim]] = {
        "base": _base(base),
        "packet-100": _small(tcp["packet-100"], base),
        "packet-4000": _large(tcp["packet-4000"], base),
        "bandwidth-1mbit": _slow(tcp["bandwidth-1mbit"], base),
        "queue-50": _long_queue(tcp["queue-50"], base),
        "queue-5": _short_queue(tcp["queue-5"], base, old),
        "delay-100ms": _long_link(tcp["delay-100ms"], base),
    }
    for case, part in parts.items():
        yield from (_titled(BY_NAME[case].title, claim) for claim in part)
    yield from _udp(tcp, udp)
    yield _company_x()


def _titled(title: str, claim: Claim) -> Claim:
    """The claim with the case that it is about."""
    return replace(claim, statement=f"{title}: {claim.statement[0].lower()}{claim.statement[1:]}")


def _base(base: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, base case"
    system = base.throughput["system_bps"][-1]
    yield within(
        "base.payload-throughput",
        "The throughput settles at 1000/1040 of 2000 kbit/s",
        place,
        1923,
        base.payload_rate_bps / _KBIT,
        tolerance=1,
        unit="kbit/s",
        reason="Right as the payload's rate: the 40 bytes that it takes off are the packet's own header. The document "
        "puts them down to the ACKs, which travel in the other direction of a duplex link.",
    )
    yield within(
        "base.time-to-fill",
        "The rate rises for about 0.5 s until it is steady",
        place,
        0.5,
        base.reaches(_SETTLED),
        tolerance=0.1,
        unit="s",
        reason="Here: when the smoothed instant throughput (α = 0.9) first is within 0.1 % of its steady value.",
    )
    yield holds_if(
        "base.system-throughput",
        "The system throughput rises slowly to almost 2 Mbit/s",
        place,
        system / _KBIT,
        _PART * base.case.rate_bps < system < base.case.rate_bps,
        "Headers included, at the last arrival.",
        unit="kbit/s",
    )
    yield within(
        "base.latency", "The latency settles at 72–73 ms", place, 72.5, base.latency_s / _MS, tolerance=0.6, unit="ms"
    )
    yield within(
        "base.jitter", "The jitter is zero after the start", place, 0, base.jitter_s / _MS, tolerance=_NO_JITTER_MS,
        unit="ms", reason=f"The latency changes for the last time at {base.jitter_ends_s:.2f} s.",
    )  # fmt: skip
    arrived = 8 * base.flow["bytes_delivered"] / _SENDING_S / _KBIT
    yield within(
        "base.hand-throughput",
        "2421 KB in 9.9 s are 1956 kbit/s",
        place,
        1956,
        int(base.kilobytes) * 8 / _SENDING_S,
        tolerance=0.5,
        unit="kbit/s",
        reason=f"A slip: its KB are 1024 B when counted and 1000 B here. With 1024 B it is "
        f"{base.accepted_bytes * 8 / _SENDING_S / _KBIT:.1f} kbit/s, more than the link carries, as "
        f"{base.sent - base.flow['packets_delivered']} accepted packets had not arrived; what arrived is "
        f"{arrived:.1f} kbit/s.",
    )


    yield from _queue(base)


def _small(small: Measured, base: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, packets of 100 B"
    low, high = (rate / _KBIT for rate in small.smoothed_range_bps)
    shares = small.case.payload_share
    yield holds_if(
        "packet-100.instant-throughput",
        "The smoothed instant throughput oscillates around 1800 kbit/s",
        place,
        f"{low:.0f} to {high:.0f} kbit/s",
        low <= 1800 <= high,  # noqa: PLR2004
        f"Headers included; its payload alone, as the document words it, swings between {low * shares:.0f} and "
        f"{high * shares:.0f} kbit/s and could not reach 1800. What swings is the pause between two windows.",
    )
    yield holds_if(
        "packet-100.half", "Almost one half of the throughput is lost", place, 1 - small.kilobytes / base.kilobytes,
        0.4 < 1 - small.kilobytes / base.kilobytes < 0.5,  # noqa: PLR2004
        "Share of the base case's kilobytes; the window is the cause, not the size (see the window opened).",
    )  # fmt: skip
    yield within(
        "packet-100.estimate", "The headers leave 100/140 of 2000 kbit/s", place, 1428,
        shares * small.case.rate_bps / _KBIT, tolerance=1, unit="kbit/s",
        reason="The number is right, the reason is not: the 40 bytes are each packet's own header; the ACKs that the "
        "document blames take the other direction of the link.",
    )  # fmt: skip
    goodput = small.flow["goodput_bps"] / _KBIT
    yield holds_if(
        "packet-100.below-estimate", "The throughput is even lower than this estimate", place, goodput,
        goodput < shares * small.case.rate_bps / _KBIT, "Goodput.", unit="kbit/s",
    )  # fmt: skip
    window = small.flow["limited_by_receiver_window"]
    yield holds_if(
        "packet-100.oscillation-costs", "Part of the loss of throughput comes from the larger oscillation", place,
        round(_PERCENT * window, 1), window < _PART,
        "Share of the time limited by the receiver's window. The oscillation is an effect and no cause: the flow sends its 20 packets and waits for their ACKs.",
    )  # fmt: skip
    straight = (small.case.packet_bytes * 8 / small.case.rate_bps + small.case.delay_s) / _MS
    yield within(
        "packet-100.latency", "The latency is lower: B/R + P, with most of it the propagation delay", place, straight,
        small.latency_s / _MS, tolerance=0.001, unit="ms",
        reason=f"B counts the header; {percent(small.case.delay_s / small.latency_s)} of it is propagation.",
    )  # fmt: skip
    yield within(
        "packet-100.jitter", "No jitter at all", place, 0, small.jitter_s / _MS, tolerance=_NO_JITTER_MS, unit="ms"
    )


def _large(large: Measured, base: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, packets of 4000 B"
    yield holds_if(
        "packet-4000.slower-start", "The steady state is reached later than with packets of 1000 B", place,
        f"{large.reaches(_SETTLED):.2f} s against {base.reaches(_SETTLED):.2f} s",
        large.reaches(_SETTLED) > base.reaches(_SETTLED),
    )  # fmt: skip
    yield holds_if(
        "packet-4000.latency", "The latency is over 300 ms", place, large.latency_s / _MS,
        large.latency_s > 0.3, unit="ms",  # noqa: PLR2004
    )  # fmt: skip
    yield within(
        "packet-4000.jitter", "The jitter settles at zero", place, 0, large.jitter_s / _MS, tolerance=_NO_JITTER_MS,
        unit="ms",
    )  # fmt: skip
    more = large.kilobytes - base.kilobytes
    yield within("packet-4000.more", "60.35 KB more than the base case", place, 60.35, more, tolerance=0.005, unit="KB")
    yield within(
        "packet-4000.more-percent", "An increase of 2.4925 %", place, 2.4925, _PERCENT * more / base.kilobytes,
        tolerance=0.0005, unit="%", reason="The document divides the rounded 60.35 KB.",
    )  # fmt: skip


def _slow(slow: Measured, base: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, link of 1 Mbit/s"
    rate = slow.payload_rate_bps / _KBIT
    yield holds_if(
        "bandwidth-1mbit.throughput", "The throughput is a little less than 1000 kbit/s", place, rate,
        0.95 * 1000 < rate < 1000, "Payload, as in the base case.", unit="kbit/s",  # noqa: PLR2004
    )  # fmt: skip
    yield within(
        "bandwidth-1mbit.latency", "The latency rises from 73 ms to close to 155 ms", place, 155, slow.latency_s / _MS,
        tolerance=1.5, unit="ms",
    )  # fmt: skip
    yield holds_if(
        "bandwidth-1mbit.double", "The latency at least doubles", place, slow.latency_s / base.latency_s,
        slow.latency_s >= 2 * base.latency_s, "Ratio of the two latencies.",
    )  # fmt: skip
    yield within(
        "bandwidth-1mbit.jitter", "The jitter is very small once the flow is steady", place, 0, slow.jitter_s / _MS,
        tolerance=_NO_JITTER_MS, unit="ms",
    )  # fmt: skip
    yield within(
        "bandwidth-1mbit.share", "Just 50.43 % of the base case's kilobytes", place, 50.43,
        _PERCENT * slow.kilobytes / base.kilobytes, tolerance=0.05, unit="%",
        reason="A slip of the last digits: the document's own figures give 50.46 %.",
    )  # fmt: skip


def _long_queue(long: Measured, base: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, queue of 50 packets"
    same = long.run.packets.equals(base.run.packets)
    yield holds_if(
        "queue-50.same", "A queue of 50 packets changes nothing: the same curves as with 20", place,
        "the same events" if same else "other events", same, "All events of the two packet traces are compared.",
    )  # fmt: skip
    yield from _hand_calculation(base)


def _queue(base: Measured) -> Iterator[Claim]:
    most = int(base.run.links["queue_max_packets"][0])
    yield holds_if(
        "base.never-full", "The queue of 20 packets never becomes full", f"{DOCUMENT}, queue of the base case", most,
        most < base.case.queue_packets, "Packets waiting at most.", unit="packets",
    )  # fmt: skip
    yield within(
        "base.queue", "The queue holds 14 to 15 packets, closer to 14", f"{DOCUMENT}, queue of the base case", 14.5,
        base.queue_mean, tolerance=0.5, unit="packets",
        reason=f"Mean over time: 14 packets for {percent(base.share_of_time(14))} of it, 15 for {percent(base.share_of_time(15))}.",
    )  # fmt: skip


def _hand_calculation(base: Measured) -> Iterator[Claim]:
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
        base.latency_s / _MS, abs(sum_ms - base.latency_s / _MS) > 0.5,  # noqa: PLR2004
        f"Nothing is random: with 10⁶ bit, 1040 B and the mean queue of {base.queue_mean:.2f} packets the same sum is "
        f"{sum_ms:.2f} ms, what is measured.", unit="ms",
    )  # fmt: skip


def _short_queue(short: Measured, base: Measured, old: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, queue of 5 packets"
    low, high = (rate / _KBIT for rate in short.smoothed_range_bps)
    yield holds_if(
        "queue-5.oscillates", "The throughput is not steady", place, f"{low:.0f} to {high:.0f} kbit/s",
        high - low > 0.05 * high, "Smoothed instant throughput, headers included.",  # noqa: PLR2004
    )  # fmt: skip
    system, older = (measured.payload["system_bps"][-1] / _KBIT for measured in (short, old))
    yield holds_if(
        "queue-5.below-1700", "After 10 s the system throughput is below 1700 kbit/s", place, system,
        system < 1700, f"Payload. As the counts, another version's timer: with its lower bound of 1 s it is "  # noqa: PLR2004
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
        "queue-5.lost", "Almost 400 kbit/s (16.67 %) are lost", place, 16.67, lost, tolerance=0.05, unit="%",
        reason=f"A slip: 16.67 % is 400/2400, and the document's own 2088 of 2421 KB are 13.8 % or 276 kbit/s. Here "
        f"{lost:.1f} % are lost, with the timer's lower bound at 1 s {_PERCENT * (1 - old.kilobytes / base.kilobytes):.1f} %.",
    )  # fmt: skip
    yield holds_if(
        "queue-5.queue", "The queue is very unstable", place,
        ", ".join(f"{row[0]}: {percent(row[1])}" for row in short.held.rows()),
        short.held["share"].max() < 0.5,  # type: ignore[operator]  # noqa: PLR2004
        "Packets waiting and share of the time; no length is held for half of it.",
    )  # fmt: skip


def _long_link(long: Measured, base: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, delay of 100 ms"
    low, high = (rate / _KBIT for rate in long.smoothed_range_bps)
    yield holds_if(
        "delay-100ms.oscillates", "There are oscillations again", place, f"{low:.0f} to {high:.0f} kbit/s",
        high - low > 0.05 * high,  # noqa: PLR2004
        "The window once more: 20 packets, then a pause until their ACKs arrive.",
    )  # fmt: skip
    system = long.payload["system_bps"][-1] / _KBIT
    yield holds_if(
        "delay-100ms.below-750", "After 10 s the system throughput has not reached 750 kbit/s", place, system,
        system < 750, f"Payload at the last arrival; {long.throughput['system_bps'][-1] / _KBIT:.0f} kbit/s with "  # noqa: PLR2004
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
        waits > 0.5 * base.latency_s / _MS, f"Of {base.latency_s / _MS:.1f} ms.", unit="ms",  # noqa: PLR2004
    )  # fmt: skip
    lengths = sorted(long.steady(long.queue)["packets"].unique().to_list())
    yield exact(
        "delay-100ms.queue", "The queue oscillates between zero and one packet", place, "0, 1",
        ", ".join(map(str, lengths)), reason="The one is a packet that passes straight to the free transmitter: for "
        f"{percent(long.share_of_time(0), 1)} of the time none waits.",
    )  # fmt: skip
    yield within(
        "delay-100ms.jitter", "The jitter is more or less zero", place, 0, long.jitter_s / _MS, tolerance=_NO_JITTER_MS,
        unit="ms",
    )  # fmt: skip


def _udp(tcp: Mapping[str, Measured], udp: Mapping[str, Measured]) -> Iterator[Claim]:
    place = f"{DOCUMENT}, link of 1 Mbit/s"
    least, most = min(case.loss for case in udp.values()), max(case.loss for case in udp.values())
    mean = max(case.loss for case in tcp.values())
    yield holds_if(
        "udp.no-congestion-control", "UDP, without congestion avoidance, would lose where TCP adapts", place,
        f"{percent(least, 1)} to {percent(most, 1)} lost over UDP, at most {percent(mean, 1)} over TCP", least > mean,
        "UDP at 2.5 Mbit/s on 2 Mbit/s and at 2 Mbit/s on 1 Mbit/s: it loses what it offers beyond the link's rate.",
    )  # fmt: skip


def _company_x() -> Claim:
    return untestable(
        "company-x", "In a company's 10 Mbit/s LAN peaks of 9000 kbit/s leave a system throughput of 695 kbit/s",
        f"{DOCUMENT}, company X",
        "Its capture was never published. The same picture with on-off sources is in the section on company: low system "
        "throughput beside high peaks is what idle time looks like, and needs no congestion.",
    )  # fmt: skip
