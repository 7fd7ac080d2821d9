"""What a capture at the receiver still tells of what bounds a flow, and one of which the place is not known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tightlink.diagnosis import captured_causes as because
from tightlink.diagnosis import captured_losses, evidence
from tightlink.diagnosis.answers import Cause
from tightlink.diagnosis.vantage import path_rtt_s
from tightlink.diagnosis.words import ms, percent

#: A share of its time in which a flow sends nothing, whatever its round trip is: that is what bounds it.
_MOSTLY: Final = 0.5
#: Of a pause that is seen at the receiver a round trip is the path's: what is left counts the more.
_MOSTLY_BEHIND: Final = 0.3


def at_receiver(row: Mapping[str, Any]) -> Cause:
    """What a capture at the receiver still tells: the window, and gaps."""
    if evidence.fills_window_behind(row):
        at = f" at the path's {ms(path_rtt_s(row))}"
        return because.likely("receiver_window", f"{because.of_window(row)}{at}{because.unknown_scale(row)}")
    if captured_losses.has_open_gap(row):
        return because.untold(
            "segments that it sent before its end never came, as where the path's MTU is smaller than they are"
        )
    pauses = evidence.share(row, "idle_beyond_rtt_s")
    waits = evidence.may_wait_before_capture(row)
    queue = waits and evidence.has_echoed_queue(row)
    # Without timestamps pauses may as well be round trips through a queue that overflows.
    unclear = row.get("rtt_echoed_median_s") is None and captured_losses.lost_share(row) > because.MANY_LOST
    if pauses < _MOSTLY_BEHIND or queue or unclear or evidence.windows_arrive_in_bursts(row):
        return _while_sending(row)
    if waits:
        return because.untold(f"{because.OF_IDLE.format(percent(pauses))}, {because.at_a_steady_rate(row)}")
    return because.nothing_to_send(pauses)


def _while_sending(row: Mapping[str, Any]) -> Cause:
    """What bounds a flow while it has something to send, and room in the window."""
    lost, rtt = captured_losses.lost_share(row), row.get("rtt_echoed_median_s")
    if evidence.has_echoed_queue(row) or captured_losses.has_overflowing_echoed_queue(row, lost, rtt):
        return because.saturated(lost, marks=row.get("window_reductions") or 0)
    if captured_losses.marks_hold(row, lost, rtt or path_rtt_s(row)):
        return because.marks(row)
    if lost > because.MANY_LOST or captured_losses.losses_explain(row, lost, rtt):
        return because.losses(row, lost, rtt or path_rtt_s(row))
    if not row["lost_segments"] and (rounds := captured_losses.slow_start_rounds(row)):
        return because.slow_start(rounds)
    return because.not_told(f"a capture at the receiver cannot tell what bounds the rate: {_what_is_seen(row, lost)}")


def _what_is_seen(row: Mapping[str, Any], lost: float) -> str:
    few = "losses are few" if lost else "nothing is lost"
    if row["packets_retransmitted"] and captured_losses.may_be_overtaken(row):
        few = "what was lost is not told apart from what others overtook"
    if not evidence.scale_is_known(row):
        return f"{few}, and the receiver's window is not known, as {because.missing_scale(row)}"
    seen = (
        f"{few}, and its largest window, {row['window_max_bytes']} bytes, has room; whether later windows were smaller "
        "is not in the tables, as it has no samples"
    )
    if "window_median_bytes" in row:
        room = "is full at times" if evidence.reaches_window(row) else "has room"
        seen = f"{few}, and its window, {row['window_median_bytes']} bytes (median), {room}"
    if evidence.acks_are_held_back(row):
        seen += f"; ACKs come {ms(row['rtt_median_s'])} after their data, as where the application there reads slowly"
    return seen


def somewhere(row: Mapping[str, Any]) -> Cause:
    """What is told where round trips may be the receiver's own delay."""
    silent = evidence.share(row, "silent_s")
    if row["initial_rtt_s"]:
        # No window makes a sender pause for longer than the whole path's round trip, wherever that is seen.
        silent = max(silent, evidence.share(row, "idle_beyond_rtt_s"))
    if silent >= _MOSTLY:
        return because.nothing_to_send(silent)
    return because.not_told(f"{because.NOT_TOLD}, as it is not known where this was captured")
