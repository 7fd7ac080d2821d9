"""The causes that are told of captured flows, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink.diagnosis import captured_losses, evidence
from tightlink.diagnosis.answers import Cause, Certainty
from tightlink.diagnosis.over_time import OUTAGE_S
from tightlink.diagnosis.remarks import closed
from tightlink.diagnosis.vantage import path_rtt_s
from tightlink.diagnosis.words import amount, ms, percent, rate, small_percent, times

#: A share of segments retransmitted from which on losses hold a flow back.
MANY_LOST: Final = 0.005
_BITS: Final = 8
OF_IDLE: Final = "nothing is in flight {} of the time"
NOT_TOLD: Final = "what bounds the rate cannot be told"


def not_told(why: str) -> Cause:
    """That a capture does not tell what bounds a flow, and why."""
    return Cause("unknown", None, "cannot be told", "", why)


def untold(why: str) -> Cause:
    """That what bounds the rate cannot be told, and why."""
    return not_told(f"{NOT_TOLD}: {why}")


def likely(name: str, text: str) -> Cause:
    """A cause that a capture tells, though not for certain."""
    return Cause(name, None, "likely", "", text)


#: Round trips and losses between both places are no path's.
TWO_PLACES: Final = untold(
    "each packet was captured at two places of the path, as where captures of both ends are one file: read one of them"
)


def slow_receiver(row: Mapping[str, Any]) -> Cause:
    """The receiver closed its window."""
    text = f"its receiver {closed(row)}: the application there reads too slowly"
    if row.get("closed_s"):
        text = (
            f"its receiver closed its window, and the last {ms(row['closed_s'])} passed without data, but for probes "
            "of the window: the application there reads no more"
        )
    return Cause("slow_receiver", None, "certain", "", text)


def path_mtu(row: Mapping[str, Any]) -> Cause:
    """No segment of full size gets through."""
    text = (
        "no segment of full size is acknowledged, though some were retransmitted several times: the path's MTU is "
        "smaller, and the sender does not learn it, or nothing gets through at all"
    )
    if row.get("icmp_from"):
        text += (
            f"; {row['icmp_from']} sent the sender ICMP messages, which may say so (fragmentation needed): their types "
            "are not in the tables"
        )
    return likely("path_mtu", text)


def stalls(row: Mapping[str, Any]) -> Cause:
    """Time in which nothing got through until the sender's retransmission timer expired."""
    share, longest = evidence.share(row, "stalled_s"), row["longest_stall_s"]
    name = "outage" if longest >= OUTAGE_S else "timeouts"
    text = (
        f"nothing gets through {percent(share)} of the time, {ms(longest)} at a stretch, until something is "
        "retransmitted after a timeout: an outage of the path, or losses that only a timeout repairs"
    )
    return likely(name, text)


def nothing_to_send(share: float) -> Cause:
    """The application leaves nothing in flight for a share of the time."""
    return likely("application", f"the application has nothing to send: {OF_IDLE.format(percent(share))}")


def slow_start(rounds: int) -> Cause:
    """The transfer is over before the window has grown."""
    text = f"slow start is not over: the transfer ends after {rounds} round trip{'s' if rounds > 1 else ''}"
    return likely("slow_start", text)


def unseen_link(row: Mapping[str, Any]) -> tuple[str, str]:
    """The link before which packets may wait until they are captured, and why that cannot be told."""
    link, place = (
        ("the sender's own link", "there")
        if row["place"] == "sender"
        else ("a link before the capture point", "behind it")
    )
    return link, f"of which a capture {place} does not see the queue"


def at_a_steady_rate(row: Mapping[str, Any]) -> str:
    """What else than the application may leave nothing in flight."""
    link, why = unseen_link(row)
    return f"at a steady rate of full segments: either the application offers no more, or {link} carries no more, {why}"


def saturated(lost: float, *, marks: int = 0) -> Cause:
    """A queue stands before a link."""
    text = "a link of the path is saturated: packets wait in a queue"
    if marks and lost <= MANY_LOST:
        text += ", which marks some (ECN)"
    elif lost <= MANY_LOST:
        # Nothing but its overflow tells a queue from a wire whose delay varies, as a radio's does.
        text += ", or its delay varies"
    else:
        text += f", which overflows: {small_percent(lost)} of the segments are retransmitted"
    return likely("saturated_link", text)


def losses(row: Mapping[str, Any], lost: float, rtt_s: float | None) -> Cause:
    """Losses keep the window small, unless it is many times what they allow."""
    found = f"{small_percent(lost)} of the segments are retransmitted"
    more = captured_losses.times_allowed(row, lost, rtt_s)
    if more <= captured_losses.ALLOWED_AT_MOST:
        # Without the handshake a queue that never empties is part of the shortest round trip.
        long = "" if row["initial_rtt_s"] else ", or a queue that never empties"
        text = (
            f"losses keep the window small ({found}): random loss, a short queue or a policer, or drops that keep the "
            f"queue of a full link short (CoDel){long}, which a capture does not tell apart"
        )
        return likely("losses", text)
    segments = amount(evidence.mean_window(row, rtt_s))
    return untold(
        f"{found}, but the {segments} segments in flight on average are {times(more)} times what Reno or "
        "CUBIC keep where so many are lost one by one: either a queue that overflows or a policer drops them in "
        "bursts, or the sender's control heeds losses little, as BBR does"
    )


def marks(row: Mapping[str, Any]) -> Cause:
    """Marks keep the window small, as losses do."""
    # A queue that marks early stays short also where its link is always busy, as under DCTCP and Prague.
    text = f"marks of a queue (ECN) keep the window small, though its link may be full: {of_marks(row)}"
    return likely("congestion_marks", text)


def of_marks(row: Mapping[str, Any]) -> str:
    """How often marks were noted: by the receiver, or by the sender."""
    count = row["window_reductions"]
    if "accurate ecn" in row["options"]:
        # Its sender does not say what it does for them (RFC 9768).
        return f"its receiver counted some in {count} round trip{'s' if count > 1 else ''}"
    return f"the sender reduced it {f'{count} times' if count > 1 else 'once'} for them"


def window(row: Mapping[str, Any], *, queue: bool) -> Cause:
    """The receiver's window is full: it is what limits, unless what it lets through fills the path."""
    if queue:
        text = (
            f"a link of the path is saturated: what the receiver's window of {row['window_max_bytes']} bytes lets "
            "through waits in its queue"
        )
        return likely("saturated_link", text)
    known = evidence.scale_is_known(row)
    certainty: Certainty = "certain" if row["window_full"] and known else "likely"
    scaled = unknown_scale(row)
    if known and "window scale" not in row["options"]:
        scaled = "; windows are not scaled"
    at = f" at round trips of {ms(row['rtt_median_s'])}" if row["rtt_median_s"] else ""
    return Cause("receiver_window", None, certainty, "", f"{of_window(row)}{at}{scaled}")


def unknown_scale(row: Mapping[str, Any]) -> str:
    """That a window may be larger than it seems, as words behind others; empty where its scale is known."""
    known = evidence.scale_is_known(row)
    return "" if known else f"; {missing_scale(row)}, and the window may be a multiple of that"


def missing_scale(row: Mapping[str, Any]) -> str:
    """What of the handshake is not there, without which the scale of windows is not known."""
    return f"{'the handshake was' if row['state'] == 'partial' else 'options of the SYN were'} not captured"


def window_without_room(row: Mapping[str, Any], *, queue: bool) -> Cause:
    """The window has no room, though what is in flight on average does not fill it at its largest."""
    if evidence.window_is_constant(row):
        if queue:
            return window(row, queue=True)
        text = f"the receiver's window of {row['window_max_bytes']} bytes has no room {_at_window(row)}"
    else:
        text = (
            f"the receiver's window, at most {row['window_max_bytes']} bytes, has no room {_at_window(row)}: the "
            "application there reads too slowly, or the window grows too slowly"
        )
    return likely("receiver_window", text)


def _at_window(row: Mapping[str, Any]) -> str:
    return f"{percent(evidence.at_window(row))} of the time"


def reached_window(row: Mapping[str, Any]) -> Cause:
    """The window is full at times, and little on average."""
    text = f"the receiver's window of {row['window_max_bytes']} bytes is full at times, and no more is in flight"
    return likely("receiver_window", text)


def of_window(row: Mapping[str, Any]) -> str:
    """That the receiver's window is full, and the rate that it allows."""
    behind = row["place"] == "receiver"
    window, rtt = (
        (evidence.typical_window(row), path_rtt_s(row)) if behind else (row["window_max_bytes"], row["rtt_median_s"])
    )
    most = f", at most {rate(window * _BITS / rtt)}" if rtt else ""
    if behind and "window_median_bytes" in row:
        return f"the receiver's window of {window} bytes (median; {row['window_max_bytes']} at most) is full{most}"
    # The largest one may be that of the SYN, and later ones smaller.
    up_to = "" if row["window_full"] or row["in_flight_max_bytes"] >= row["window_max_bytes"] else "up to "
    return f"the receiver's window of {up_to}{window} bytes is full{most}"
