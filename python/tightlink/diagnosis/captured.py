"""The diagnosis of a captured flow: nobody accounted for its time, and what bounds its rate is told from its packets.

Where the capture was taken decides what it can tell. At the sender round trips are those of the path; at the receiver
they are the receiver's own delay, which is known by the handshake taking much longer than any of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tightlink.diagnosis import evidence
from tightlink.diagnosis.answers import Cause, Certainty, Delay, Diagnosis
from tightlink.diagnosis.words import ms, percent, rate, small_percent

#: A share of segments retransmitted from which on losses hold a flow back.
_MANY_LOST: Final = 0.005
#: Less is not said beside a mean.
_NOTHING_S: Final = 0.0001
#: A share of its time in which a flow has nothing in flight, or no room in a window: worth a word; what bounds it.
_SELDOM, _MOSTLY = 0.1, 0.5
#: Of a pause that is seen at the receiver a round trip is the path's: what is left counts the more.
_MOSTLY_BEHIND: Final = 0.3
#: Of what a window that grows by a packet per round trip would have reached, less is the application's choice.
_GROWTH: Final = 0.25
#: Slow start has sent so many times what is in flight at its end, at most.
_SLOW_START: Final = 4.0
#: Of the gaps in a capture, so many that others overtook are most.
_OVERTAKEN: Final = 0.5
#: Losses that come one by one hardly allow more than so many times Reno's window.
_ABOVE: Final = 1.5
_BITS: Final = 8
#: What flows without connections carry, where that is no datagrams.
_MESSAGES: Final = {"icmp": "ICMP messages, such as pings", "icmpv6": "ICMP messages, such as pings"}


def of_captured(rows: Sequence[Mapping[str, Any]]) -> list[Diagnosis]:
    """Diagnoses of captured flows by rows of ``flows`` and ``connections``; those of other protocols are one each."""
    found = [_of(row) for row in rows if row["transport"] == "tcp"]
    others: dict[str, list[str]] = {}
    for row in rows:
        if row["transport"] != "tcp":
            others.setdefault(_MESSAGES.get(row["transport"], "datagrams"), []).append(row["label"])
    for what, labels in others.items():
        text = f"the application sets the rate of {what}; what of them is lost behind the capture cannot be told"
        cause = Cause("application", None, "likely", "", text)
        found.append(Diagnosis(tuple(labels), (cause,), None, (), f"{text}."))
    return found


def _of(row: Mapping[str, Any]) -> Diagnosis:
    at_receiver = evidence.is_at_receiver(row)
    causes = tuple(_causes(row, at_receiver=at_receiver))
    # A receiver that reads slowly acknowledges late.
    told = causes[0].name in {"not_connected", "slow_receiver"}
    delay = None if told or at_receiver else _delay(row)
    if at_receiver and causes[0].name == "saturated_link":
        delay = _echoed_delay(row)
    words = [_certainly(causes[0]), *(cause.text for cause in causes[1:])]
    if not at_receiver and _SELDOM <= evidence.idle(row) < _MOSTLY:
        words.append(f"{_OF_IDLE.format(percent(evidence.idle(row)))}, for the application has nothing to send")
    if delay is not None:
        words.append(delay.text)
    words += _remarks(row)
    return Diagnosis((row["label"],), causes, delay, (), "; ".join(words) + ".")


def _certainly(cause: Cause) -> str:
    return f"likely {cause.text}" if cause.certainty == "likely" else cause.text


def _causes(row: Mapping[str, Any], *, at_receiver: bool) -> Iterator[Cause]:
    if row["state"] in evidence.NEVER:
        yield Cause("not_connected", None, "certain", "", f"was {row['state']}")
        return
    if row["zero_windows"] and evidence.at_window(row) >= _SELDOM:
        text = f"its receiver {_closed(row)}: the application there reads too slowly"
        yield Cause("slow_receiver", None, "certain", "", text)
        return
    unseen = _unseen(row)
    if unseen:
        yield Cause("unknown", None, "cannot be told", "", f"what bounds the rate cannot be told: {unseen}")
    elif at_receiver:
        yield _at_receiver(row)
    else:
        yield from _at_sender(row)


def _unseen(row: Mapping[str, Any]) -> str:
    """What the capture lacks without which it tells nothing; empty if it lacks nothing."""
    if not row["data_packets"]:
        return "no data of it were captured"
    if not row["acks"]:
        return "no ACKs of it were captured"
    # Of segments that were cut before their sequence numbers only lengths are known.
    return "" if row["in_flight_max_bytes"] or row["rtt_samples"] else "too little was kept of its packets"


def _at_sender(row: Mapping[str, Any]) -> Iterator[Cause]:
    """What a capture at the sender, or on the path, tells of a connection."""
    queue, lost = evidence.has_queue(row), evidence.lost_share(row)
    idle = evidence.idle(row) >= _MOSTLY
    if idle:
        yield _nothing_to_send(evidence.idle(row))
    if evidence.fills_window(row):
        yield _window(row, queue=evidence.has_standing_queue(row))
        if lost > _MANY_LOST:
            yield _losses(lost)
    elif evidence.at_window(row) >= _MOSTLY and not queue:
        yield _varying_window(row)
    elif queue:
        yield _saturated(lost)
    elif lost > _MANY_LOST or evidence.losses_explain(row, lost, row["rtt_mean_s"]):
        yield _losses(lost)
    elif not idle:
        yield _unhindered(row)


_OF_IDLE: Final = "nothing is in flight {} of the time"


def _nothing_to_send(share: float) -> Cause:
    text = f"the application has nothing to send: {_OF_IDLE.format(percent(share))}"
    return Cause("application", None, "likely", "", text)


def _saturated(lost: float) -> Cause:
    text = "a link of the path is saturated: packets wait in a queue"
    if not lost:
        # Nothing but its overflow tells a queue from a wire whose delay varies, as a radio's does.
        text += ", or its delay varies"
    if lost > _MANY_LOST:
        text += f", which overflows: {small_percent(lost)} of the segments are retransmitted"
    return Cause("saturated_link", None, "likely", "", text)


def _closed(row: Mapping[str, Any]) -> str:
    times = "once" if row["zero_windows"] == 1 else f"{row['zero_windows']} times"
    return f"closed its window {times}"


def _at_receiver(row: Mapping[str, Any]) -> Cause:
    """What a capture at the receiver still tells: the window, and gaps."""
    whole, window, goodput = row["initial_rtt_s"], row["window_max_bytes"], row["goodput_bps"] or 0.0
    if goodput * whole / _BITS >= evidence.FILLED_MEAN * window:
        return Cause("receiver_window", None, "likely", "", f"{_of_window(row)} at the handshake's {ms(whole)}")
    lost = evidence.lost_share(row)
    segment = evidence.segment_bytes(row)
    pauses = evidence.share(row, "idle_beyond_rtt_s")
    if pauses >= _MOSTLY_BEHIND:
        return _nothing_to_send(pauses)
    if evidence.has_echoed_queue(row):
        return _saturated(lost)
    if lost > _MANY_LOST and goodput < _ABOVE * evidence.reno_window(lost) * _BITS * segment / whole:
        return _losses(lost)
    if evidence.losses_explain(row, lost, row.get("rtt_echoed_median_s")):
        return _losses(lost)
    few = "and losses are too few" if lost else "and nothing is lost"
    text = f"a capture at the receiver cannot tell what bounds the rate: its window has room, {few}"
    return Cause("unknown", None, "cannot be told", "", text)


def _window(row: Mapping[str, Any], *, queue: bool) -> Cause:
    """The receiver's window is full: it is what limits, unless what it lets through fills the path."""
    if queue:
        text = (
            f"a link of the path is saturated: what the receiver's window of {row['window_max_bytes']} bytes lets "
            "through waits in its queue"
        )
        return Cause("saturated_link", None, "likely", "", text)
    known = evidence.scale_is_known(row)
    certainty: Certainty = "certain" if row["window_full"] and known else "likely"
    scaled = "" if known else "; the handshake was not captured, and the window may be a multiple of that"
    if known and "window scale" not in row["options"]:
        scaled = "; windows are not scaled"
    at = f" at round trips of {ms(row['rtt_median_s'])}" if row["rtt_median_s"] else ""
    return Cause("receiver_window", None, certainty, "", f"{_of_window(row)}{at}{scaled}")


def _varying_window(row: Mapping[str, Any]) -> Cause:
    """The window has no room, though it is no constant."""
    share = percent(evidence.at_window(row))
    text = (
        f"the receiver's window, at most {row['window_max_bytes']} bytes, has no room {share} of the time: the "
        "application there reads too slowly, or the window grows too slowly"
    )
    return Cause("receiver_window", None, "likely", "", text)


def _of_window(row: Mapping[str, Any]) -> str:
    rtt = row["initial_rtt_s"] if evidence.is_at_receiver(row) else row["rtt_median_s"]
    most = f", at most {rate(row['window_max_bytes'] * _BITS / rtt)}" if rtt else ""
    return f"the receiver's window of {row['window_max_bytes']} bytes is full{most}"


def _losses(lost: float) -> Cause:
    text = (
        f"losses keep the window small ({small_percent(lost)} of the segments are retransmitted): random loss, a short "
        "queue or a policer, which a capture does not tell apart"
    )
    return Cause("losses", None, "likely", "", text)


def _unhindered(row: Mapping[str, Any]) -> Cause:
    """Neither window nor losses nor a queue: slow start, the application, or the control's own caution."""
    segment = evidence.segment_bytes(row)
    in_flight, payload = row["in_flight_max_bytes"], row["payload_bytes"]
    rtt = row["rtt_mean_s"]
    rounds = evidence.lasts_s(row) / rtt if rtt else 0.0
    if in_flight and payload <= _SLOW_START * in_flight:
        text = f"slow start is not over: the transfer ends after {max(1.0, rounds):.0f} round trips"
        return Cause("slow_start", None, "likely", "", text)
    if in_flight < segment * (evidence.INITIAL_WINDOW + _GROWTH * rounds):
        # No send buffer is smaller than two segments.
        buffer = ", or its send buffer," if in_flight > 2 * segment else ""
        text = f"the application{buffer} offers no more: at most {in_flight} bytes are in flight"
        if in_flight < segment and evidence.acks_are_delayed(row):
            text += ", less than a segment, and wait for delayed ACKs, as small writes do (Nagle)"
        return Cause("application", None, "likely", "", text)
    text = "what bounds the rate cannot be told: the application, or a congestion control that holds back"
    return Cause("unknown", None, "cannot be told", "", text)


def _delay(row: Mapping[str, Any]) -> Delay | None:
    shortest = row["rtt_min_s"]
    if not shortest or not row["rtt_mean_s"]:
        return None
    # Percentiles are known within 1 %: they may be below the shortest.
    p95 = max(0.0, row["rtt_p95_s"] - shortest)
    if evidence.acks_are_delayed(row):
        median = max(0.0, row["rtt_median_s"] - shortest)
        text = (
            f"queues on the path add {ms(median)} (median) to a shortest RTT of {ms(shortest)}, and the receiver "
            "delays some ACKs"
        )
        return Delay("", median, None, shortest, True, text)  # noqa: FBT003
    mean = row["rtt_mean_s"] - shortest
    # A few long ones may lift the mean above what 95 % do not exceed.
    upper = f" ({ms(p95)} at p95)" if p95 > mean else f" (under {ms(p95)} for 95 %)" if p95 >= _NOTHING_S else ""
    text = f"queues on the path add {ms(mean)}{upper} to a shortest RTT of {ms(shortest)}"
    return Delay("", mean, p95, shortest, True, text)  # noqa: FBT003


def _echoed_delay(row: Mapping[str, Any]) -> Delay:
    """The delay that a capture at the receiver tells, where it found a queue."""
    shortest = row["initial_rtt_s"]
    median, p95 = row["rtt_echoed_median_s"] - shortest, row["rtt_echoed_p95_s"] - shortest
    text = f"queues on the path add {ms(median)} (median; {ms(p95)} at p95) to the handshake's RTT of {ms(shortest)}"
    return Delay("", median, p95, shortest, True, text)  # noqa: FBT003


def _remarks(row: Mapping[str, Any]) -> Iterator[str]:
    if row["zero_windows"] and evidence.at_window(row) < _SELDOM:
        yield f"its receiver {_closed(row)}, {percent(evidence.at_window(row))} of the time"
    missing = row["lost_segments"] + row["acked_unseen"]
    if missing:
        gaps = "1 gap" if missing == 1 else f"{missing} gaps"
        behind = ", or by the capture itself" if row["acked_unseen"] else ""
        late = row.get("packets_retransmitted") or 0
        yield (
            f"{gaps} in what was captured, most of packets that others overtook"
            if (row.get("out_of_order") or 0) > _OVERTAKEN * missing and late < (1 - _OVERTAKEN) * missing
            else f"{gaps} in what was captured: lost before the capture point{behind}"
        )
    if evidence.is_at_receiver(row) and row["rtt_samples"]:
        whole = ms(row["initial_rtt_s"])
        yield f"captured at the receiver, so that its RTTs are the receiver's own delay; the path's is {whole}"
    vain = row["spurious_retransmissions"]
    if vain > max((row["packets_retransmitted"] or 0) - vain, 0):
        again = "1 segment" if vain == 1 else f"{vain} segments"
        yield f"{again} retransmitted in vain: the timer of the sender is too short"
