"""What bounds the rate of a flow whose time is accounted for, as simulated and measured flows' is.

The shares ``limited_by_*`` say how the time divides. What they leave open is asked of the path: which of its links is
saturated, and what keeps a congestion window small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tightlink.diagnosis import bounds, datagrams, window
from tightlink.diagnosis.answers import Cause, merged
from tightlink.diagnosis.path import Path
from tightlink.diagnosis.paths import Paths
from tightlink.diagnosis.words import WAITED_OUT, ms, timeouts

_PREFIX: Final = "limited_by_"
#: A share of time below which a cause is not worth a word.
_LEAST: Final = 0.03
#: A share of time that is less than so many times another one is about as long.
_ABOUT: Final = 1.25
#: Both wait for the congestion control: the window, or the time at which it lets the next packet go.
_CONTROLLED: Final = ("congestion_window", "pacing")
_Found = dict[str, float]


def shares(row: Mapping[str, Any]) -> _Found:
    """The shares of a flow's time that are above zero, by the limit's name; none where nobody accounted for it."""
    found = {name.removeprefix(_PREFIX): row[name] or 0.0 for name in row if name.startswith(_PREFIX)}
    return {name: share for name, share in found.items() if share > 0}


def causes(
    row: Mapping[str, Any], path: Path, paths: Paths, kernel: Mapping[str, float] | None = None
) -> tuple[Cause, ...]:
    """What bounds the rate of a flow, the largest share of time first; a sender's kernel may have counted some."""
    known = shares(row)
    if not row["packets_sent"] or row["stop_s"] <= row["start_s"]:
        return (Cause("application", None, "certain", "", "it sent nothing"),)
    if path.tcp is None:
        return datagrams.causes(row, path, paths, known)
    if not known:
        return (_inferred(row, path, paths),)
    held = sum(known.pop(name, 0.0) for name in _CONTROLLED)
    outage = _outage(row, path, paths, held, known.get("network", 0.0))
    if outage is not None:
        # While a link is down nothing comes back: a window is full, or what waits on it looks like a full path.
        down = outage.share or 0.0
        known["network"] = known.get("network", 0.0) - max(0.0, down - held)
        held = max(0.0, held - down)
    buffered = min(held, 0.0 if kernel is None else kernel["buffer_limited"])
    found = [_OF[name](row, path, paths, share) for name, share in known.items() if share >= _LEAST]
    found += [] if outage is None else [outage]
    if buffered >= _LEAST:
        text = "the send buffer of the sender's socket is full"
        found.append(Cause("send_buffer", buffered, "certain", "", text))
    if held - buffered >= _LEAST:
        found.append(window.cause(row, path, paths, held - buffered))
    if not found:
        name, share = max([*known.items(), ("", held)], key=lambda item: item[1])
        found = [_OF[name](row, path, paths, share) if name else window.cause(row, path, paths, share)]
    return tuple(_before_delayed(in_order(merged((cause, 1.0) for cause in found)), row, path))


def _before_delayed(found: list[Cause], row: Mapping[str, Any], path: Path) -> list[Cause]:
    """The same causes; of a transfer what took its time first, and not the receiver's delay of the last ACK.

    That comes when all bytes have arrived: it is in the flow's time, and not in the time that the transfer took.
    """
    first, *others = found
    if first.name != "last_ack" or not others:
        return found
    late_s = bounds.delayed_s(row, path, (first.share or 0.0) * bounds.lasted(row))
    left = (first.share or 0.0) - late_s / bounds.lasted(row)
    return [others[0], first, *others[1:]] if (others[0].share or 0.0) > left else found


def in_order(found: Sequence[Cause]) -> list[Cause]:
    """The largest share first; an outage before about as long a recovery from it, rather than by chance."""
    down = {cause.where: cause.share or 0.0 for cause in found if cause.name == "outage"}

    def rank(cause: Cause) -> tuple[float, bool]:
        share, outage = cause.share or 0.0, down.get(cause.where, 0.0)
        recovers = cause.name == "recovery" and share < _ABOUT * outage
        return -(min(share, outage) if recovers else share), recovers

    return sorted(found, key=rank)


def _outage(row: Mapping[str, Any], path: Path, paths: Paths, held: float, network: float) -> Cause | None:
    """That a link of the path is down, with the timer behind that; nothing where that is little of the time.

    Both are no more than the shares of the time in which the congestion window is full or a timeout awaited, and in
    which the path is full, as it looks where nothing comes back; the timer is part of the former.
    """
    times_s, lasted_s = (row["start_s"], row["stop_s"]), row["stop_s"] - row["start_s"]
    down_s, link = path.down(*times_s)
    share = min(held + network, down_s / lasted_s)
    if share < _LEAST:
        return None
    said, lasts = f"link {link.name} is down", ms(down_s)
    if row["timeouts"]:
        rto, rtt_s = (path.tcp or {})["rto"], row["rtt_mean_s"] or path.base_rtt_s
        least_s = rtt_s + rto["min_s"] if paths.profile == "linux" else max(rto["min_s"], rtt_s)
        awaited = min(link.timer_awaited_s(*times_s, rto, least_s) / lasted_s, max(0.0, held - share))
        if awaited >= _LEAST:
            share += awaited
            about_s = float(f"{awaited * lasted_s:.1g}")
            said += " or behind that the retransmission timer is awaited"
            lasts += f" and about {ms(about_s)}"
    # With those that expired while a link was down and nothing was lost.
    of_outages = {**row, "timeouts": (row["timeouts"] or 0) + row.get(WAITED_OUT, 0)}
    return Cause("outage", share, "certain", link.name, f"{said}, {lasts}{timeouts(of_outages)}")


def _inferred(row: Mapping[str, Any], path: Path, paths: Paths) -> Cause:
    """What bounds a flow of which nobody accounted for its time, as iperf3 does not: told from the totals."""
    if path.busiest.utilization >= bounds.SATURATED:
        found = window.full_path(row, path, paths, 1.0)
    elif bounds.window_fills(row, path):
        found = window.at_receiver_window(row, path, paths, 1.0)
    elif path.spec["traffic"]["kind"] != "bulk":
        found = bounds.application(row, path, paths, 1.0)
    else:
        found = window.cause(row, path, paths, 1.0)
    return Cause(found.name, None, "likely", found.where, found.text)


_OF: Final[dict[str, Callable[[Mapping[str, Any], Path, Paths, float], Cause]]] = {
    "network": window.full_path,
    "receiver_window": window.at_receiver_window,
    "application": bounds.application,
    "sender_rate": bounds.sender_rate,
    "handshake": bounds.handshake,
}
