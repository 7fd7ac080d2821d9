"""Claims about what the document says of each case beyond its counts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tightlink.experiment.claims import Claim, holds_if, untestable, within
from tightlink.studies.one_flow import queue_statements
from tightlink.studies.one_flow.cases import BY_NAME, DOCUMENT, OLD_TIMER, START_S, STOP_S
from tightlink.studies.one_flow.measures import Measured, measure
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_KBIT: Final = 1e3
_MS: Final = 1e-3
_PERCENT: Final = 100
_SENDING_S: Final = STOP_S - START_S
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
        "queue-50": queue_statements.long_queue(tcp["queue-50"], base),
        "queue-5": queue_statements.short_queue(tcp["queue-5"], base, old),
        "delay-100ms": queue_statements.long_link(tcp["delay-100ms"], base),
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

    yield from queue_statements.queue(base)


def _small(small: Measured, base: Measured) -> Iterator[Claim]:
    place = f"{DOCUMENT}, packets of 100 B"
    low, high = (rate / _KBIT for rate in small.smoothed_range_bps)
    shares = small.case.payload_share
    yield holds_if(
        "packet-100.instant-throughput",
        "The smoothed instant throughput oscillates around 1800 kbit/s",
        place,
        f"{low:.0f} to {high:.0f} kbit/s",
        low <= 1800 <= high,
        f"Headers included; its payload alone, as the document words it, swings between {low * shares:.0f} and "
        f"{high * shares:.0f} kbit/s and could not reach 1800. What swings is the pause between two windows.",
    )
    lost = 1 - small.kilobytes / base.kilobytes
    yield holds_if(
        "packet-100.half", "Close to half of the throughput is lost", place, _PERCENT * lost,
        0.4 < lost < 0.5,
        "Of the base case's kilobytes; the window is the cause, not the size (see the window opened).", unit="%",
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
        "Here: the share of the time limited by the receiver's window. The oscillation is an effect and no cause: "
        "the flow "
        "sends its 20 packets and waits for their ACKs.", unit="%",
    )  # fmt: skip
    straight = (small.case.packet_bytes * 8 / small.case.rate_bps + small.case.delay_s) / _MS
    yield within(
        "packet-100.latency", "The latency is lower: B/R + P, with most of it the propagation delay", place, straight,
        small.latency_s / _MS, tolerance=0.001, unit="ms",
        reason=f"B counts the header; {percent(small.case.delay_s / small.latency_s)} of it is propagation.",
    )  # fmt: skip
    yield within(
        "packet-100.jitter", "There is no jitter", place, 0, small.jitter_s / _MS, tolerance=_NO_JITTER_MS, unit="ms"
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
        large.latency_s > 0.3, unit="ms",
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
        0.95 * 1000 < rate < 1000, "Payload, as in the base case.", unit="kbit/s",
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
        "bandwidth-1mbit.share", "50.43 % of the base case's kilobytes", place, 50.43,
        _PERCENT * slow.kilobytes / base.kilobytes, tolerance=0.05, unit="%",
        reason="A slip of the last digits: the document's own figures give 50.46 %.",
    )  # fmt: skip


def _udp(tcp: Mapping[str, Measured], udp: Mapping[str, Measured]) -> Iterator[Claim]:
    place = f"{DOCUMENT}, link of 1 Mbit/s"
    least, most = min(case.loss for case in udp.values()), max(case.loss for case in udp.values())
    mean = max(case.loss for case in tcp.values())
    yield holds_if(
        "udp.no-congestion-control", "UDP, without congestion avoidance, would lose where TCP adapts", place,
        f"{percent(least, 1)} and more", least > mean,
        f"Lost over UDP, {percent(most, 1)} at most; over TCP {percent(mean, 1)} at most. UDP at 2.5 Mbit/s on 2 "
        "Mbit/s and at 2 Mbit/s on 1 Mbit/s: it loses what it offers beyond the link's rate.",
    )  # fmt: skip


def _company_x() -> Claim:
    return untestable(
        "company-x", "In a company's 10 Mbit/s LAN peaks of 9000 kbit/s leave a system throughput of 695 kbit/s",
        f"{DOCUMENT}, company X",
        "Its capture was never published. The same picture with on-off sources is in the section on company: low "
        "system throughput beside high peaks is what idle time looks like, and needs no congestion.",
    )  # fmt: skip
