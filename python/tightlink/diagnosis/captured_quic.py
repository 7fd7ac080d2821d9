"""The diagnosis of a captured connection of QUIC, of which only the spin bit tells round trips.

Losses, ACKs, windows and its end are encrypted. What a queue does to its delay shows where round trips by the spin bit
are longer than the shortest (RFC 9312); what bounds its rate only where a queue stands, or where neither end sends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from tightlink.diagnosis import evidence
from tightlink.diagnosis.answers import Cause, Delay, Diagnosis
from tightlink.diagnosis.captured_causes import likely, untold
from tightlink.diagnosis.vantage import STANDS
from tightlink.diagnosis.words import ms, percent

#: What transports of such flows begin with.
QUIC: Final = "quic "
#: What the table calls a version that is of no protocol, but makes servers name theirs (RFC 9000 §15).
_RESERVED: Final = "reserved version"
#: A share of its time in which neither end of a connection sends: worth a word; what bounds it.
_SELDOM, _MOSTLY = 0.1, 0.5
#: Round trips longer by less than this are what hosts take themselves.
_OF_HOSTS_S: Final = 0.0005
#: Of fewer round trips half may be long by chance.
_MANY_SAMPLES: Final = 10
#: A packet of QUIC as all paths carry it, in bytes.
_PACKET: Final = 1200
_ENCRYPTED: Final = "losses, ACKs and windows of QUIC are encrypted"


def of_quic(rows: Iterable[Mapping[str, Any]], asked: Collection[int] | None = None) -> list[Diagnosis]:
    """A diagnosis for each connection of QUIC by rows of ``flows`` and ``quic``, under the flow with more bytes.

    Of all, or of those of which a flow is ``asked`` for, by its number.
    """
    connections: dict[int, list[Mapping[str, Any]]] = {}
    for row in rows:
        connections.setdefault(row["connection"], []).append(row)
    found = []
    for flows in connections.values():
        flows.sort(key=lambda row: -row["bytes_sent"])
        names = [row["label"] for row in flows if asked is None or row["flow"] in asked]
        if names:
            found.append(_of(names[0], flows))
    return found


def _of(name: str, flows: Sequence[Mapping[str, Any]]) -> Diagnosis:
    row = flows[0]
    cause = _cause(row, flows)
    words = [cause.said]
    delay = None
    if cause.name != "not_connected":
        delay = _delay(row, _shortest_s(flows))
        idle = _idle(flows)
        if cause.name != "application" and idle >= _SELDOM:
            words.append(
                f"neither end sends anything {percent(idle)} of the time, for applications have nothing to send"
            )
        words += [*([] if delay is None else [delay.text]), *_remarks(row)]
    return Diagnosis((name,), (cause,), delay, (), "; ".join(words) + ".")


def _cause(row: Mapping[str, Any], flows: Sequence[Mapping[str, Any]]) -> Cause:
    if row["state"] == "unanswered":
        return Cause("not_connected", None, "certain", "", f"the connection of QUIC {row['version']} was unanswered")
    if row["state"] == "refused":
        text = f"the server does not speak QUIC {row['version']}, which the client asked for, as its answer says"
        if row["version"] == _RESERVED:
            text = "the client tried a version of QUIC that is reserved, and nothing followed the server's list of them"
        return Cause("not_connected", None, "certain", "", text)
    if _idle(flows) >= _MOSTLY:
        return likely(
            "application",
            f"applications have nothing to send: neither end of the QUIC {row['version']} connection sends anything "
            f"{percent(_idle(flows))} of the time",
        )
    if _has_queue(row, _shortest_s(flows)):
        return likely(
            "saturated_link",
            "a link of the path is saturated: packets wait in a queue, or its delay varies; what is lost of them is "
            f"not known, as {_ENCRYPTED}",
        )
    return untold(_ENCRYPTED)


def _idle(flows: Sequence[Mapping[str, Any]]) -> float:
    """The share of a connection's time in which neither end sends."""
    lasts = max(row["stop_s"] for row in flows) - min(row["start_s"] for row in flows)
    return float((flows[0].get("idle_s") or 0.0) / lasts) if lasts > 0 else 0.0


def _shortest_s(flows: Sequence[Mapping[str, Any]]) -> float:
    """The path's shortest round trip: the spin bits of both directions, and the handshake, have the whole path."""
    known = (row[name] for row in flows for name in ("rtt_min_s", "initial_rtt_s"))
    return float(min((rtt for rtt in known if rtt is not None), default=0.0))


def _has_queue(row: Mapping[str, Any], shortest: float) -> bool:
    """Whether half of the round trips are long, and hold a first window: others may wait for a packet to leave."""
    if row["rtt_samples"] < _MANY_SAMPLES:
        return False
    median = row["rtt_median_s"]
    filled = (row["throughput_bps"] or 0.0) * median / 8 >= evidence.INITIAL_WINDOW * _PACKET
    return bool(filled and median > max(STANDS * shortest, shortest + _OF_HOSTS_S))


def _delay(row: Mapping[str, Any], shortest: float) -> Delay | None:
    """What queues add to round trips by the spin bit, those of the whole path, wherever the capture is."""
    if row["rtt_samples"] < evidence.FEW_SAMPLES:
        return None
    # Percentiles are known within 1 %: they may be below the shortest.
    mean, p95 = row["rtt_mean_s"] - shortest, max(0.0, row["rtt_p95_s"] - shortest)
    text = (
        f"by the spin bit round trips are {ms(mean)} longer on average ({ms(p95)} at p95) than the shortest of "
        f"{ms(shortest)}, by queues or by ends that wait to send"
    )
    return Delay("", mean, p95, shortest, True, text)  # noqa: FBT003


def _remarks(row: Mapping[str, Any]) -> Iterator[str]:
    """What else is not encrypted."""
    if row["spin_bit"] in {"constant", "random"}:
        how = "it never switches" if row["spin_bit"] == "constant" else "it is chosen at random"
        yield f"its spin bit is disabled ({how}), so that round trips over time are not known"
    elif row["rtt_samples"] < evidence.FEW_SAMPLES:
        yield "too few switches of its spin bit tell of round trips"
    if row["initial_rtt_s"] is not None and row["rtt_samples"] < evidence.FEW_SAMPLES:
        yield f"the handshake took {ms(row['initial_rtt_s'])}, the first round trip and the server's time to answer"
    if row["retries"]:
        yield "the server asked for a proof of the client's address (Retry), which takes a round trip"
    if row["version_negotiated"]:
        yield "both ends negotiated the version, which takes a round trip"
    if row["state"] == "partial":
        yield "the handshake was not captured whole"
