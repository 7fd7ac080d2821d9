"""The diagnosis of a captured flow: nobody accounted for its time, and what bounds its rate is told from its packets.

Where the capture was taken decides what it can tell (`tightlink.diagnosis.vantage`). At the sender round trips are
those of the path; at the receiver they are the receiver's own delay; between both, the sender's side is added to them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tightlink.diagnosis import captured_causes as because
from tightlink.diagnosis import captured_losses, evidence
from tightlink.diagnosis.answers import Cause, Delay, Diagnosis
from tightlink.diagnosis.captured_alike import told_together
from tightlink.diagnosis.captured_behind import at_receiver, somewhere
from tightlink.diagnosis.captured_copies import at_two_places, has_copies, once, with_other_sides, without_copies
from tightlink.diagnosis.captured_quic import QUIC, of_quic
from tightlink.diagnosis.captured_row import credible, of_the_path
from tightlink.diagnosis.messages import of_messages
from tightlink.diagnosis.remarks import handshake, remarks
from tightlink.diagnosis.vantage import NEVER, path_rtt_s, place, tells_place
from tightlink.diagnosis.words import ms, percent, small_percent

#: A share of its time in which a flow has nothing in flight, or no room in a window: worth a word; what bounds it.
_SELDOM, _MOSTLY = 0.1, 0.5
#: A share of its time from which on stalls are what bounds a flow, more than what does in between.
_OFTEN: Final = 0.25
#: Of what a window that grows by a packet per round trip would have reached, less is the application's choice.
_GROWTH: Final = 0.25
#: Slow start has sent so many times what is in flight at its end, at most.
_SLOW_START: Final = 4.0
#: Less is not said beside a mean.
_NOTHING_S: Final = 0.0001


def of_captured(rows: Sequence[Mapping[str, Any]], asked: Collection[int] | None = None) -> list[Diagnosis]:
    """Diagnoses of captured flows by rows of ``flows`` and ``connections``, together where the same is said.

    Of all flows, or of those that are ``asked`` for, by their numbers: what is said of one depends on the others.
    """
    errors = {row["to"]: row["from"] for row in rows if row["transport"] in {"icmp", "icmpv6"}}
    connections = [row for row in rows if row["transport"] == "tcp"]
    data = Counter[Any]()
    for row in connections:
        data[row.get("connection")] += row["data_packets"]
    connections = [{**row, "answers": data[row.get("connection")] - row["data_packets"]} for row in connections]
    two_places, mirrored = (any(map(have, connections)) for have in (at_two_places, has_copies))
    sides = [row for row in with_other_sides(connections) if asked is None or row["flow"] in asked]
    found = [
        Diagnosis(labels, (because.TWO_PLACES,), None, (), f"{because.TWO_PLACES.text}.")
        if two_places and at_two_places(row, others=True)
        else replace(_of({**row, "icmp_from": errors.get(row.get("from"))}, mirrored=mirrored), flows=labels)
        for row, labels in once(sides)
    ]
    quic = of_quic((row for row in rows if row["transport"].startswith(QUIC)), asked)
    others = (
        row
        for row in rows
        if row["transport"] != "tcp"
        and not row["transport"].startswith(QUIC)
        and (asked is None or row["flow"] in asked)
    )
    return [*told_together(found), *told_together(quic), *of_messages(others)]


def _of(captured: Mapping[str, Any], *, mirrored: bool) -> Diagnosis:
    captured = credible(captured)
    copies = has_copies(captured, mirrored=mirrored)
    row = of_the_path(without_copies(captured) if copies else captured)
    found = tuple(_causes(row))
    # What cannot be told is not said behind what is.
    causes = (*found[:1], *(cause for cause in found[1:] if cause.name != "unknown"))
    # A receiver that reads slowly acknowledges late.
    told = causes[0].name in {"not_connected", "slow_receiver", "path_mtu"} or evidence.window_holds_acks(row)
    told = told or evidence.sends_keep_alives_alone(row)
    where = place(captured)
    delay = None if told or where in {"receiver", "unknown"} else delay_of(row)
    if where == "receiver" and causes[0].name == "saturated_link":
        delay = echoed_delay(row)
    words = [causes[0].said, *(cause.text for cause in causes[1:])]
    if where in {"sender", "between"} and _SELDOM <= evidence.idle(row) < _MOSTLY and not _why_idle_is_not_told(row):
        words.append(f"{because.OF_IDLE.format(percent(evidence.idle(row)))}, for the application has nothing to send")
    if delay is not None:
        words.append(delay.text)
    words += remarks(row, captured, copies=copies)
    return Diagnosis((row["label"],), causes, delay, (), "; ".join(words) + ".")


def _causes(row: Mapping[str, Any]) -> Iterator[Cause]:
    found = _at_a_glance(row)
    if found is not None:
        yield found
        return
    unseen = _unseen(row)
    if unseen:
        yield because.untold(unseen)
        return
    if captured_losses.no_full_segment_arrives(row):
        yield because.path_mtu(row)
        return
    if evidence.share(row, "handshake_s") >= _MOSTLY:
        yield Cause("handshake", None, "certain", "", handshake(row))
    stalled = evidence.share(row, "stalled_s")
    if stalled >= _OFTEN:
        yield because.stalls(row)
    if row["place"] == "receiver":
        yield at_receiver(row)
    elif row["place"] == "unknown":
        yield somewhere(row)
    else:
        yield from _at_sender(row)
    if _SELDOM <= stalled < _OFTEN:
        yield because.stalls(row)


def _at_a_glance(row: Mapping[str, Any]) -> Cause | None:
    """What is told of a connection whatever its data are; nothing where these must be looked at."""
    if row["state"] in NEVER:
        return Cause("not_connected", None, "certain", "", f"the connection was {row['state']}")
    if evidence.sends_keep_alives_alone(row):
        return because.likely("application", "the application has nothing to send: keep-alives were captured alone")
    if row["zero_windows"] and evidence.at_window(row) >= _SELDOM:
        return because.slow_receiver(row)
    return None


def _unseen(row: Mapping[str, Any]) -> str:
    """What the capture lacks without which it tells nothing; empty if it lacks nothing."""
    if not row["data_packets"]:
        alone = ", and nothing that comes back: one direction alone, as where answers take another path"
        if row["acks"]:
            alone = ", but ACKs, as those of keep-alives"
        return f"no data of it were captured{alone if row['state'] == 'partial' else ''}"
    if not row["acks"]:
        return "no ACKs of it were captured"
    # Of segments that were cut before their sequence numbers only lengths are known.
    return "" if row["in_flight_max_bytes"] or row["rtt_samples"] else "too little was kept of its packets"


def _at_sender(row: Mapping[str, Any]) -> Iterator[Cause]:
    """What a capture at the sender, or on the path, tells of a connection."""
    while_sending = tuple(_while_sending(row))
    # What waits before the capture is sent, though nothing is in flight behind it.
    waits = row["queued_before"] and evidence.may_wait_before_capture(row)
    if evidence.idle(row) < _MOSTLY or waits:
        # What is sent between stalls is too little to tell what would bound it.
        often = evidence.share(row, "stalled_s") >= _OFTEN
        yield from while_sending or ([] if often else [_unhindered(row)])
        return
    reason = _why_idle_is_not_told(row)
    if not reason:
        yield because.nothing_to_send(evidence.idle(row))
    elif not while_sending:
        yield because.untold(f"{because.OF_IDLE.format(percent(evidence.idle(row)))}, {reason}")
    yield from while_sending


def _while_sending(row: Mapping[str, Any]) -> Iterator[Cause]:
    """What bounds a flow while it has something to send."""
    queue, lost = evidence.has_queue(row) or row["queued_before"], captured_losses.lost_share(row)
    if evidence.fills_window(row):
        yield because.window(row, queue=evidence.has_standing_queue(row))
        if lost > because.MANY_LOST:
            yield because.losses(row, lost, row["rtt_mean_s"])
    elif evidence.at_window(row) >= _MOSTLY and not (lost > because.MANY_LOST and evidence.window_is_constant(row)):
        yield because.window_without_room(row, queue=evidence.has_standing_queue(row))
    elif queue or captured_losses.has_overflowing_queue(row, lost):
        yield because.saturated(lost, marks=row.get("window_reductions") or 0)
    elif captured_losses.marks_hold(row, lost, row["rtt_mean_s"]):
        yield because.marks(row)
    elif lost > because.MANY_LOST or captured_losses.losses_explain(row, lost, row["rtt_mean_s"]):
        yield because.losses(row, lost, row["rtt_mean_s"])


def _why_idle_is_not_told(row: Mapping[str, Any]) -> str:
    """What else may leave nothing in flight than the application; empty where nothing may."""
    if evidence.may_wait_before_capture(row):
        return because.at_a_steady_rate(row)
    if not tells_place(row) and evidence.share(row, "silent_s") < evidence.idle(row) / 2:
        return (
            "as where the application has nothing to send, or where the capture was not taken at the sender: the "
            "handshake, which would tell, was not captured"
        )
    return ""


def _unhindered(row: Mapping[str, Any]) -> Cause:
    """Neither window nor losses nor a queue: slow start, the application, or the control's own caution."""
    segment = evidence.segment_bytes(row)
    in_flight, payload = row["in_flight_max_bytes"], row["payload_bytes"]
    rounds = evidence.rounds(row)
    grows = evidence.fills_first_window(row) and not captured_losses.has_reduced_window(row)
    if grows and in_flight < payload <= _SLOW_START * in_flight:
        return because.slow_start(max(1, round(rounds)))
    (link, why), unseen = because.unseen_link(row), evidence.may_wait_before_capture(row)
    reached = in_flight >= segment * (evidence.INITIAL_WINDOW + _GROWTH * rounds)
    few = not reached and not row.get("window_reductions")
    if few and evidence.reaches_window(row):
        return because.reached_window(row)
    if few and not evidence.may_fill_window(row):
        # No send buffer is smaller than two segments.
        buffer = ", or its send buffer," if in_flight > 2 * segment else ""
        text = f"the application{buffer} offers no more: at most {in_flight} bytes are in flight"
        if unseen:
            text += (
                f"; or {link} carries no more, {why}, or its control heeds delay and holds back, as BBR and Vegas do"
            )
        if in_flight < segment and evidence.acks_are_delayed(row):
            text += ", less than a segment, and wait for delayed ACKs, as small writes do (Nagle)"
        return because.likely("application", text)
    others = "" if evidence.scale_is_known(row) else " the receiver's window, whose scale was not captured,"
    others += f" {link}, {why}," if unseen else ""
    others += _of_losses(row) + _of_few_marks(row)
    return because.untold(f"the application,{others} or a congestion control that holds back")


def _of_losses(row: Mapping[str, Any]) -> str:
    """Losses in bursts, or a few, among what else may bound a rate; empty where there were none."""
    lost = captured_losses.lost_share(row)
    if count := captured_losses.single_losses(row, lost):
        again = "1 segment is" if count == 1 else f"{count} segments are"
        return f" a window that is small after losses ({again} retransmitted),"
    if not captured_losses.losses_are_few(row, lost):
        return ""
    return f" bursts of losses ({small_percent(lost)} of the segments are retransmitted), as of a queue that overflows,"


def _of_few_marks(row: Mapping[str, Any]) -> str:
    """Marks that are too few to be a rate, among what else may bound one; empty where there were none."""
    small = " a window that is small after marks of a queue"
    return f"{small} (ECN: {because.of_marks(row)})," if row.get("window_reductions") else ""


def delay_of(row: Mapping[str, Any]) -> Delay | None:
    """What queues add to the round trips of a flow that was captured at its sender, or between both ends."""
    shortest = row["rtt_min_s"]
    if not shortest or not row["rtt_mean_s"] or row["rtt_samples"] < evidence.FEW_SAMPLES:
        return None
    if evidence.acks_wait_for_answers(row):
        return None
    # A queue that never empties shows by the handshake alone.
    least = "" if row["initial_rtt_s"] else ", unless that has a queue, too: the handshake was not captured"
    # Percentiles are known within 1 %: they may be below the shortest.
    p95 = max(0.0, row["rtt_p95_s"] - shortest)
    if evidence.acks_are_delayed(row):
        median = max(0.0, row["rtt_median_s"] - shortest)
        text = (
            f"queues on the path add {ms(median)} (median) to a shortest RTT of {ms(shortest)}, and the receiver "
            f"delays some ACKs{least}"
        )
        return Delay("", median, None, shortest, True, text)  # noqa: FBT003
    mean = row["rtt_mean_s"] - shortest
    if mean > max(p95, _NOTHING_S):
        # A few long ones lift the mean above what 95 % do not exceed.
        most = f"under {ms(p95)}" if p95 >= _NOTHING_S else "nothing"
        text = (
            f"queues on the path add {most} to 95 % of the round trips, of which the shortest is {ms(shortest)}{least}"
        )
    else:
        upper = f" ({ms(p95)} at p95)" if p95 > mean else ""
        text = f"queues on the path add {ms(mean)}{upper} to a shortest RTT of {ms(shortest)}{least}"
    return Delay("", mean, p95, shortest, True, text)  # noqa: FBT003


def echoed_delay(row: Mapping[str, Any]) -> Delay:
    """The delay that a capture at the receiver tells, where it found a queue."""
    shortest = path_rtt_s(row)
    median, p95 = row["rtt_echoed_median_s"] - shortest, row["rtt_echoed_p95_s"] - shortest
    whole = "the handshake's" if math.isclose(shortest, row["initial_rtt_s"] or 0.0) else "a shortest"
    text = f"queues on the path add {ms(median)} (median; {ms(p95)} at p95) to {whole} RTT of {ms(shortest)}"
    return Delay("", median, p95, shortest, True, text)  # noqa: FBT003
