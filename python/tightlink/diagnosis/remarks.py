"""What is said of a captured flow behind its causes: gaps, where it was captured, how it began and ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tightlink.diagnosis import captured_losses, evidence
from tightlink.diagnosis.captured_copies import remarks_on_copies
from tightlink.diagnosis.vantage import NEVER, OWN_DELAY_S, may_be_between, path_rtt_s
from tightlink.diagnosis.words import ms, percent

#: A share of its time in which a receiver's window had no room: from here on it is a cause, and no remark.
_SELDOM: Final = 0.1
#: So many packets out of the order of time for each gap explain the gaps.
_DISORDERED: Final = 0.5
#: From here on a slow handshake is a cause, and no remark.
_MOSTLY: Final = 0.5


def remarks(row: Mapping[str, Any], captured: Mapping[str, Any], *, copies: bool) -> Iterator[str]:
    """Remarks on a flow: ``row`` as its sender saw it, and as it was ``captured``."""
    if row["zero_windows"] and evidence.at_window(row) < _SELDOM:
        yield f"its receiver {closed(row)}, {percent(evidence.at_window(row))} of the time"
    if copies:
        yield (
            "each packet was captured twice, as mirror ports and captures of two interfaces do: tables count both, the "
            "second one as retransmitted"
        )
    yield from remarks_on_copies(captured)
    if row["place"] in {"sender", "between"} and evidence.acks_wait_for_answers(row):
        yield (
            f"its segments are alone, and their ACKs may wait for the answer: RTTs of {ms(row['rtt_median_s'])} "
            f"(median; {ms(row['rtt_min_s'])} at least) tell of no queue"
        )
    if row.get("handshake_s") and evidence.share(row, "handshake_s") < _MOSTLY:
        yield handshake(row)
    yield from _of_gaps(row)
    yield from _of_place(row, captured)
    yield from _of_vain(row)
    if row["state"] == "reset":
        yield f"the connection was reset{_by(row)}"


def closed(row: Mapping[str, Any]) -> str:
    """How often the receiver closed its window."""
    times = "once" if row["zero_windows"] == 1 else f"{row['zero_windows']} times"
    return f"closed its window {times}"


def handshake(row: Mapping[str, Any]) -> str:
    """How long a handshake took of which SYNs were retransmitted."""
    count = int(row["syns_retransmitted"])
    syns = "a SYN was" if count == 1 else f"{count} SYNs were"
    took, share = ms(row["handshake_s"]), percent(evidence.share(row, "handshake_s"))
    return f"the handshake took about {took}, {share} of the time, for {syns} retransmitted"


def _of_gaps(row: Mapping[str, Any]) -> Iterator[str]:
    missing = row["lost_segments"] + row["acked_unseen"]
    # The first keep-alive of a connection that began before is known by its answer alone, which acknowledges more.
    if not missing or not row["data_packets"] or evidence.sends_keep_alives_alone(row):
        return
    gaps = f"{'1 gap' if missing == 1 else f'{missing} gaps'} in what was captured"
    disorder = _of_disorder(row)
    if not row["initial_rtt_s"] and captured_losses.may_be_overtaken(row):
        yield f"{gaps}, of packets that were lost before it or that others overtook: only the handshake would tell"
    elif captured_losses.gaps_are_overtaken(row):
        who = "sender's host reorders packets, or the capture" if row["place"] == "sender" else "path reorders packets"
        yield f"{gaps}, most of packets that others overtook: {disorder or f'the {who}'}"
    else:
        behind = ", or by the capture itself" if row["acked_unseen"] else ""
        behind += f", or out of place: {disorder}" if disorder else ""
        yield f"{gaps}: lost before the capture point{behind}"


def _of_disorder(row: Mapping[str, Any]) -> str:
    """That packets of the file are out of order, if they are enough for gaps; else empty."""
    count, missing = row.get("times_backwards", 0), row["lost_segments"] + row["acked_unseen"]
    if not count or count < _DISORDERED * missing:
        return ""
    packets = "1 packet of the file is" if count == 1 else f"{count} packets of the file are"
    return f"{packets} not in the order of time"


def _of_place(row: Mapping[str, Any], captured: Mapping[str, Any]) -> Iterator[str]:
    if not row["rtt_samples"] or row["state"] in NEVER:
        return
    whole = path_rtt_s(captured)
    # Without the handshake a queue that always stands, or ACKs that are always delayed, are part of the shortest.
    most, told = ("", "") if row["initial_rtt_s"] else ("at most ", ", as timestamps tell")
    if row["place"] == "receiver":
        own = f"captured at the receiver{told}, so that its RTTs are the receiver's own delay"
        if (row["rtt_min_s"] or 0.0) >= OWN_DELAY_S:
            behind = ms(row["rtt_min_s"])
            own = f"captured near the receiver{told}: its RTTs are those behind the capture point, {behind} at least"
        yield f"{own}; the path's shortest is at most {ms(whole)}"
    elif row["place"] == "unknown":
        why = "the handshake took no longer than hosts do" if row["initial_rtt_s"] else "the handshake was not captured"
        yield (
            f"{why}, and RTTs of {ms(row.get('rtt_p50_s') or row['rtt_median_s'])} may be the "
            "receiver's own delay as well as a path's"
        )
    elif row["place"] == "sender" and may_be_between(captured):
        yield (
            f"the handshake took {ms(captured['initial_rtt_s'])}: either it was slow, or part of the path lies before "
            "the capture point, and its shortest RTT is that long"
        )
    elif row["place"] == "between":
        before = ms(whole - captured["rtt_min_s"])
        yield (
            f"captured between both ends{told}: of the path's shortest RTT of {most}{ms(whole)}, {before} are on the "
            "sender's side of the capture point, and not in the RTTs of the tables"
        )


def _of_vain(row: Mapping[str, Any]) -> Iterator[str]:
    vain = captured_losses.retransmitted_in_vain(row)
    if vain <= max((row["packets_retransmitted"] or 0) - vain, 0):
        return
    again = "1 segment" if vain == 1 else f"{vain} segments"
    if row["place"] == "receiver":
        yield f"{again} retransmitted in vain, or duplicated by the path"
    else:
        yield f"{again} retransmitted in vain: the sender's timer is too short, or packets overtake others"


def _by(row: Mapping[str, Any]) -> str:
    """Who reset a connection, if that is sure: the other end, if all that this end sent beside data was a SYN."""
    own = (row.get("packets_sent") or 0) - row["data_packets"] - int(row.get("syns_retransmitted", 0))
    return f" by {row['to']}" if own == 1 and row.get("to") else ""
