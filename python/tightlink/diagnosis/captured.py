"""The diagnosis of a captured flow: nobody accounted for its time, and what bounds its rate is told from its packets.

Where the capture was taken decides what it can tell (`tightlink.diagnosis.vantage`). At the sender round trips are
those of the path; at the receiver they are the receiver's own delay; between both, the sender's side is added to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tightlink.diagnosis import evidence
from tightlink.diagnosis.answers import Cause, Certainty, Diagnosis
from tightlink.diagnosis.captured_delay import delay_of, echoed_delay
from tightlink.diagnosis.messages import of_messages
from tightlink.diagnosis.remarks import closed, handshake, remarks
from tightlink.diagnosis.vantage import NEVER, path_rtt_s, place
from tightlink.diagnosis.words import ms, percent, rate, small_percent

#: A share of segments retransmitted from which on losses hold a flow back.
_MANY_LOST: Final = 0.005
#: A share of its time in which a flow has nothing in flight, or no room in a window: worth a word; what bounds it.
_SELDOM, _MOSTLY = 0.1, 0.5
#: A share of its time from which on stalls are what bounds a flow, more than what does in between.
_OFTEN: Final = 0.25
#: Of a pause that is seen at the receiver a round trip is the path's: what is left counts the more.
_MOSTLY_BEHIND: Final = 0.3
#: Of what a window that grows by a packet per round trip would have reached, less is the application's choice.
_GROWTH: Final = 0.25
#: Slow start has sent so many times what is in flight at its end, at most.
_SLOW_START: Final = 4.0
#: A stall of so many seconds is called an outage.
_OUTAGE_S: Final = 1.0
_BITS: Final = 8


def of_captured(rows: Sequence[Mapping[str, Any]]) -> list[Diagnosis]:
    """Diagnoses of captured flows by rows of ``flows`` and ``connections``; those of other protocols are one each."""
    asked = {row["to"]: row["from"] for row in rows if row["transport"] in {"icmp", "icmpv6"}}
    found = [_of({**row, "icmp_from": asked.get(row.get("from"))}) for row in rows if row["transport"] == "tcp"]
    return [*found, *of_messages(row for row in rows if row["transport"] != "tcp")]


def _of(captured: Mapping[str, Any]) -> Diagnosis:
    copies = evidence.has_copies(captured)
    row = _of_the_path(evidence.without_copies(captured) if copies else captured)
    causes = tuple(_causes(row))
    # A receiver that reads slowly acknowledges late.
    told = causes[0].name in {"not_connected", "slow_receiver", "path_mtu"}
    at_receiver = place(captured) == "receiver"
    delay = None if told or at_receiver else delay_of(row)
    if at_receiver and causes[0].name == "saturated_link":
        delay = echoed_delay(row)
    words = [_certainly(causes[0]), *(cause.text for cause in causes[1:])]
    if not at_receiver and _SELDOM <= evidence.idle(row) < _MOSTLY:
        words.append(f"{_OF_IDLE.format(percent(evidence.idle(row)))}, for the application has nothing to send")
    if delay is not None:
        words.append(delay.text)
    words += remarks(row, captured, copies=copies)
    return Diagnosis((row["label"],), causes, delay, (), "; ".join(words) + ".")


def _of_the_path(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what came after the flow's end, and, if it was captured between both ends, as its sender saw it."""
    lasts, after = evidence.lasts_s(row), row.get("after_s", 0.0)
    own = dict(row)
    if after and (row["state"] == "reset" or row["idle_s"] > lasts):
        whole = row["initial_rtt_s"] or 0.0
        own["idle_s"] = max(0.0, row["idle_s"] - after)
        own["idle_beyond_rtt_s"] = max(0.0, row["idle_beyond_rtt_s"] - max(0.0, after - whole))
    # A receiver takes a stall of the path for a pause of the sender.
    own["idle_beyond_rtt_s"] = max(0.0, own["idle_beyond_rtt_s"] - row.get("stalled_s", 0.0))
    own["place"] = place(row)
    if own["place"] != "between":
        return own
    before = path_rtt_s(row) - row["rtt_min_s"]
    waited = max(before, row["rtt_echoed_median_s"]) if evidence.has_echoed_queue(row) else before
    own["rtt_min_s"] = row["rtt_min_s"] + before
    for name in ("rtt_median_s", "rtt_mean_s", "rtt_p95_s", "rtt_prompt_p95_s"):
        if row.get(name) is not None:
            own[name] = row[name] + waited
    own["idle_s"] = own["idle_beyond_rtt_s"]
    on_its_way = (row["goodput_bps"] or 0.0) * own["rtt_mean_s"] / _BITS
    own["in_flight_max_bytes"] = max(row["in_flight_max_bytes"], int(on_its_way))
    return own


def _certainly(cause: Cause) -> str:
    return f"likely {cause.text}" if cause.certainty == "likely" else cause.text


def _causes(row: Mapping[str, Any]) -> Iterator[Cause]:
    if row["state"] in NEVER:
        yield Cause("not_connected", None, "certain", "", f"was {row['state']}")
        return
    if row["zero_windows"] and evidence.at_window(row) >= _SELDOM:
        text = f"its receiver {closed(row)}: the application there reads too slowly"
        yield Cause("slow_receiver", None, "certain", "", text)
        return
    unseen = _unseen(row)
    if unseen:
        yield Cause("unknown", None, "cannot be told", "", f"what bounds the rate cannot be told: {unseen}")
        return
    if evidence.no_full_segment_arrives(row):
        yield _path_mtu(row)
        return
    if evidence.share(row, "handshake_s") >= _MOSTLY:
        yield Cause("handshake", None, "certain", "", handshake(row))
    stalled = evidence.share(row, "stalled_s")
    if stalled >= _OFTEN:
        yield _stalls(row)
    if row["place"] == "receiver":
        yield _at_receiver(row)
    else:
        yield from _at_sender(row)
    if _SELDOM <= stalled < _OFTEN:
        yield _stalls(row)


def _path_mtu(row: Mapping[str, Any]) -> Cause:
    text = (
        "no segment of full size is acknowledged, though some were retransmitted several times: the path's MTU is "
        "smaller, and the sender does not learn it, or nothing gets through at all"
    )
    if row.get("icmp_from"):
        text += (
            f"; {row['icmp_from']} sent the sender ICMP messages, which may say so (fragmentation needed): their types "
            "are not in the tables"
        )
    return Cause("path_mtu", None, "likely", "", text)


def _stalls(row: Mapping[str, Any]) -> Cause:
    """Time in which nothing got through until the sender's retransmission timer expired."""
    share, longest = evidence.share(row, "stalled_s"), row["longest_stall_s"]
    name = "outage" if longest >= _OUTAGE_S else "timeouts"
    text = (
        f"nothing gets through {percent(share)} of the time, {ms(longest)} at a stretch, until something is "
        "retransmitted after a timeout: an outage of the path, or losses that only a timeout repairs"
    )
    return Cause(name, None, "likely", "", text)


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
    if lost <= _MANY_LOST:
        # Nothing but its overflow tells a queue from a wire whose delay varies, as a radio's does.
        text += ", or its delay varies"
    else:
        text += f", which overflows: {small_percent(lost)} of the segments are retransmitted"
    return Cause("saturated_link", None, "likely", "", text)


def _at_receiver(row: Mapping[str, Any]) -> Cause:
    """What a capture at the receiver still tells: the window, and gaps."""
    whole, window, goodput = path_rtt_s(row), row["window_max_bytes"], row["goodput_bps"] or 0.0
    if goodput * whole / _BITS >= evidence.FILLED_MEAN * window:
        return Cause("receiver_window", None, "likely", "", f"{_of_window(row)} at the path's {ms(whole)}")
    if evidence.has_open_gap(row):
        text = (
            "what bounds the rate cannot be told: segments that it sent before its end never came, as where the path's "
            "MTU is smaller than they are"
        )
        return Cause("unknown", None, "cannot be told", "", text)
    lost = evidence.lost_share(row)
    pauses = evidence.share(row, "idle_beyond_rtt_s")
    if pauses >= _MOSTLY_BEHIND:
        return _nothing_to_send(pauses)
    if evidence.has_echoed_queue(row):
        return _saturated(lost)
    if lost > _MANY_LOST or evidence.losses_explain(row, lost, row.get("rtt_echoed_median_s")):
        return _losses(lost)
    few = "losses are few" if lost else "nothing is lost"
    text = (
        f"a capture at the receiver cannot tell what bounds the rate: {few}, and its largest window, {window} bytes, "
        "has room; whether later windows were smaller is not in the tables"
    )
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
    missing = "the handshake was" if row["state"] == "partial" else "options of the SYN were"
    scaled = "" if known else f"; {missing} not captured, and the window may be a multiple of that"
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
    rtt = path_rtt_s(row) if row["place"] == "receiver" else row["rtt_median_s"]
    most = f", at most {rate(row['window_max_bytes'] * _BITS / rtt)}" if rtt else ""
    # The largest one may be that of the SYN, and later ones smaller.
    up_to = "" if row["window_full"] or row["in_flight_max_bytes"] >= row["window_max_bytes"] else "up to "
    return f"the receiver's window of {up_to}{row['window_max_bytes']} bytes is full{most}"


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
    window = "" if evidence.scale_is_known(row) else ", the receiver's window, whose scale was not captured,"
    text = (
        f"what bounds the rate cannot be told: the application{window or ','} or a congestion control that holds back"
    )
    return Cause("unknown", None, "cannot be told", "", text)
