"""The diagnosis of a captured flow: nobody accounted for its time, and what bounds its rate is told from its packets.

Where the capture was taken decides what it can tell. At the sender round trips are those of the path; at the receiver
they are the receiver's own delay, which is known by the handshake taking much longer than any of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis.answers import Cause, Delay, Diagnosis
from tightlink.diagnosis.words import ms, rate, small_percent

if TYPE_CHECKING:
    from tightlink.diagnosis.answers import Certainty

#: A share of segments retransmitted from which on losses hold a flow back.
_MANY_LOST: Final = 0.005
#: Half of the round trips that are so many times the shortest say that a queue stands.
_STANDS: Final = 1.5
#: How much of the window must be in flight for it to be what limits a flow: at most, and on average.
_FILLED, _FILLED_MEAN = 0.9, 0.7
#: A round trip of data so much shorter than the handshake is the receiver's own delay.
_RECEIVERS: Final = 0.25
#: Linux' and RFC 6928's initial window, in segments.
_INITIAL_WINDOW: Final = 10
#: Of what a window that grows by a packet per round trip would have reached, less is the application's choice.
_GROWTH: Final = 0.25
#: Slow start has sent so many times what is in flight at its end, at most.
_SLOW_START: Final = 4.0
#: Losses that come one by one allow segment / RTT × √(1.5 / p) (Mathis et al. 1997, eq. 3), and hardly more than that.
_MATHIS: Final = 1.5
_ABOVE: Final = 1.5
_DEFAULT_SEGMENT: Final = 1460
_BITS: Final = 8


def of_captured(rows: Sequence[Mapping[str, Any]]) -> list[Diagnosis]:
    """Diagnoses of captured flows, in their order; datagrams that are alike are one.

    Args:
        rows: Their rows of ``flows``, joined with those of ``connections``.
    """
    found = [_of(row) for row in rows if row["transport"] == "tcp"]
    datagrams = [row["label"] for row in rows if row["transport"] != "tcp"]
    if datagrams:
        text = "the application sets the rate of datagrams; what of them is lost behind the capture cannot be told"
        cause = Cause("application", None, "likely", "", text)
        found.append(Diagnosis(tuple(datagrams), (cause,), None, (), f"{text}."))
    return found


def _of(row: Mapping[str, Any]) -> Diagnosis:
    at_receiver = _is_receivers(row)
    causes = tuple(_causes(row, at_receiver=at_receiver))
    delay = None if at_receiver or row["state"] in _NEVER else _delay(row)
    words = [_certainly(causes[0]), *(cause.text for cause in causes[1:])]
    if delay is not None:
        words.append(delay.text)
    words += _remarks(row)
    return Diagnosis((row["label"],), causes, delay, (), "; ".join(words) + ".")


_NEVER: Final = frozenset({"refused", "unanswered"})


def _certainly(cause: Cause) -> str:
    return f"likely {cause.text}" if cause.certainty == "likely" else cause.text


def _is_receivers(row: Mapping[str, Any]) -> bool:
    """Whether the capture was taken at the receiver."""
    whole, shortest = row["initial_rtt_s"], row["rtt_min_s"]
    if row["state"] in _NEVER or not whole or not row["acks"]:
        return False
    # ACKs at the instant of what they acknowledge are no round trips.
    return shortest is None or bool(shortest < _RECEIVERS * whole)


def _causes(row: Mapping[str, Any], *, at_receiver: bool) -> Iterator[Cause]:
    if row["state"] in _NEVER:
        yield Cause("not_connected", None, "certain", "", f"was {row['state']}")
        return
    if row["zero_windows"]:
        times = "once" if row["zero_windows"] == 1 else f"{row['zero_windows']} times"
        text = f"its receiver closed its window {times}: the application there reads too slowly"
        yield Cause("slow_receiver", None, "certain", "", text)
        return
    if at_receiver:
        yield _at_receiver(row)
        return
    shortest, median = row["rtt_min_s"], row["rtt_median_s"]
    queue = bool(shortest and median > _STANDS * shortest) and not _is_idle(row)
    lost = _lost(row)
    if _fills_window(row):
        yield _window(row, queue=queue)
        if lost > _MANY_LOST:
            yield _losses(lost)
    elif queue:
        text = "a link of the path is saturated: packets wait in a queue"
        if lost > _MANY_LOST:
            text += f", which overflows: {small_percent(lost)} of the segments are retransmitted"
        yield Cause("saturated_link", None, "likely", "", text)
    elif lost > _MANY_LOST:
        yield _losses(lost)
    else:
        yield _unhindered(row)


def _at_receiver(row: Mapping[str, Any]) -> Cause:
    """What a capture at the receiver still tells: the window, and gaps."""
    whole, window, goodput = row["initial_rtt_s"], row["window_max_bytes"], row["goodput_bps"] or 0.0
    if goodput * whole / _BITS >= _FILLED_MEAN * window:
        return Cause("receiver_window", None, "likely", "", f"{_of_window(row)} at the handshake's {ms(whole)}")
    lost = _lost(row)
    segment = row["mss_bytes"] or _DEFAULT_SEGMENT
    if lost > _MANY_LOST and goodput < _ABOVE * _BITS * segment / whole * math.sqrt(_MATHIS / lost):
        return _losses(lost)
    few = "losses come in bursts, fewer than would explain it" if lost > _MANY_LOST else "losses do not"
    text = f"a capture at the receiver cannot tell what bounds the rate: its window does not, and {few}"
    return Cause("unknown", None, "cannot be told", "", text)


def _window(row: Mapping[str, Any], *, queue: bool) -> Cause:
    """The receiver's window is full: it is what limits, unless what it lets through fills the path."""
    if queue:
        text = (
            f"a link of the path is saturated: what the receiver's window of {row['window_max_bytes']} bytes lets "
            "through waits in its queue"
        )
        return Cause("saturated_link", None, "likely", "", text)
    known = row["state"] != "partial" or "window scale" in row["options"]
    certainty: Certainty = "certain" if row["window_full"] and known else "likely"
    scaled = "" if known else "; the handshake was not captured, and the window may be a multiple of that"
    if known and "window scale" not in row["options"]:
        scaled = "; windows are not scaled"
    at = f" at round trips of {ms(row['rtt_median_s'])}" if row["rtt_median_s"] else ""
    return Cause("receiver_window", None, certainty, "", f"{_of_window(row)}{at}{scaled}")


def _of_window(row: Mapping[str, Any]) -> str:
    rtt = row["initial_rtt_s"] if _is_receivers(row) else row["rtt_median_s"]
    most = f", at most {rate(row['window_max_bytes'] * _BITS / rtt)}" if rtt else ""
    return f"the receiver's window of {row['window_max_bytes']} bytes is full{most}"


def _losses(lost: float) -> Cause:
    text = (
        f"losses keep the window small ({small_percent(lost)} of the segments are retransmitted): random loss or a "
        "short queue, which a capture does not tell apart"
    )
    return Cause("losses", None, "likely", "", text)


def _unhindered(row: Mapping[str, Any]) -> Cause:
    """Neither window nor losses nor a queue: slow start, the application, or the control's own caution."""
    segment = row["mss_bytes"] or _DEFAULT_SEGMENT
    in_flight, payload = row["in_flight_max_bytes"], row["payload_bytes"]
    rtt = row["rtt_mean_s"]
    rounds = (row["stop_s"] - row["start_s"]) / rtt if rtt else 0.0
    if in_flight and payload <= _SLOW_START * in_flight:
        text = f"slow start is not over: the transfer ends after {max(1.0, rounds):.0f} round trips"
        return Cause("slow_start", None, "likely", "", text)
    if in_flight < segment * (_INITIAL_WINDOW + _GROWTH * rounds):
        text = f"the application offers no more: at most {in_flight} bytes are in flight, without a loss"
        return Cause("application", None, "likely", "", text)
    text = "what bounds the rate cannot be told: the application, or a congestion control that holds back"
    return Cause("unknown", None, "cannot be told", "", text)


def _is_idle(row: Mapping[str, Any]) -> bool:
    """Whether a flow mostly waits for its application: its longer round trips are of delayed ACKs, not of a queue."""
    in_flight, rtt = row["in_flight_max_bytes"], row["rtt_mean_s"]
    segment = row["mss_bytes"] or _DEFAULT_SEGMENT
    return bool(rtt and in_flight < segment * _INITIAL_WINDOW)


def _fills_window(row: Mapping[str, Any]) -> bool:
    window, rtt = row["window_max_bytes"], row["rtt_mean_s"]
    if not window or not (row["window_full"] or row["in_flight_max_bytes"] >= _FILLED * window):
        return False
    return not rtt or bool((row["goodput_bps"] or 0.0) * rtt / _BITS >= _FILLED_MEAN * window)


def _lost(row: Mapping[str, Any]) -> float:
    """Share of the segments that were retransmitted for good reason; behind the loss, gaps that were filled."""
    vain = row["spurious_retransmissions"] or 0
    again = max((row["packets_retransmitted"] or 0) - vain, row["retransmissions"] + row["fast_retransmissions"])
    return again / row["data_packets"] if row["data_packets"] else 0.0


def _delay(row: Mapping[str, Any]) -> Delay | None:
    shortest = row["rtt_min_s"]
    if not shortest or not row["rtt_mean_s"]:
        return None
    # The percentile is known within 1 %: it may be below the shortest.
    mean, p95 = row["rtt_mean_s"] - shortest, max(0.0, row["rtt_p95_s"] - shortest)
    text = f"queues on the path add {ms(mean)} ({ms(p95)} at p95) to a shortest RTT of {ms(shortest)}"
    return Delay("", mean, p95, shortest, True, text)  # noqa: FBT003


def _remarks(row: Mapping[str, Any]) -> Iterator[str]:
    missing = row["lost_segments"] + row["acked_unseen"]
    if missing:
        gaps = "1 gap" if missing == 1 else f"{missing} gaps"
        yield f"{gaps} in what was captured: lost before the capture point, or by the capture itself"
    vain = row["spurious_retransmissions"]
    if vain > max((row["packets_retransmitted"] or 0) - vain, 0):
        again = "1 segment" if vain == 1 else f"{vain} segments"
        yield f"{again} retransmitted in vain: the timer of the sender is too short"
