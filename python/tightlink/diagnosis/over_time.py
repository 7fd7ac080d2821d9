"""What a captured flow did over time, from its samples in ``series``: lost SYNs, stalls, silences, and its end.

Samples say how much was sent in an interval, how far payload and its ACKs have come, and what was retransmitted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

from tightlink.diagnosis import captured_losses
from tightlink.diagnosis.vantage import place
from tightlink.lazy import pl

#: A stall is at least so long, in seconds, as Linux' least retransmission timeout; and so many round trips.
_STALL_S, _STALL_RTTS = 0.2, 4.0
#: A silence that a timeout ends is followed by an interval of which at least so much is retransmitted.
_AGAIN: Final = 0.25
#: In longer intervals, in seconds, what is lost after a silence is retransmitted in the same one.
_CLOSE_S: Final = 0.5
#: More packets in an interval are no single segment that a timeout retransmits.
_TIMED_OUT: Final = 2
#: A stall of so many seconds is called an outage; what was lost in it is retransmitted within so many behind it.
OUTAGE_S, _REPAIR_S = 1.0, 1.0
#: Of fewer segments those that are missing after a silence are chance.
_LOST_LEAST: Final = 4
#: A silence of so many seconds is no round trip of a path, but a satellite's.
SILENCE_S: Final = 0.5
#: A steady rate has at least half of its mean in nine of ten intervals of so many packets; fewer intervals are chance.
_STEADY, _STEADY_SHARE, _STEADY_PACKETS, _STEADY_LEAST = 0.5, 0.1, 4, 5
#: Where each packet is there twice, about half of those of nearly each interval are retransmitted.
_DOUBLED, _DOUBLED_SHARE, _DOUBLED_LEAST = 0.4, 0.9, 5
_HEADERS: Final = 40
_METRICS: Final = ("throughput_bps", "sent_bytes", "acknowledged_bytes", "packets_retransmitted")
_WINDOW: Final = "receiver_window_bytes"


def told(series: pl.DataFrame, rows: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """By label what the samples of TCP flows tell; of those whose label is of one connection only.

    Returns:
        ``after_s``: time from the last packet of the flow to the end of its connection; ``syns_retransmitted`` and
        ``handshake_s``, if there are any; ``stalled_s`` and ``longest_stall_s``: time in which nothing got through
        until something was retransmitted; ``repaired``: what was retransmitted in outages and right behind them;
        ``silent_s``: time in long silences with nothing in flight; ``data_end_s``: when new data were sent last;
        ``steady``: whether it never sends much less than its mean; ``doubled``: whether each packet is there twice;
        ``window_median_bytes``: median of the smallest windows that the receiver told in each interval, where known.
    """
    count = Counter(row["label"] for row in rows)
    wanted = {row["label"]: row for row in rows if row["transport"] == "tcp" and count[row["label"]] == 1}
    samples = series.filter(pl.col("metric").is_in([*_METRICS, _WINDOW])).with_columns(pl.col("entity").cast(pl.String))
    samples = samples.filter(pl.col("entity").is_in(list(wanted)))
    found = {}
    for (label,), own in samples.group_by("entity"):
        wide = own.pivot(on="metric", index="time_s", values="value").sort("time_s")
        if wide.height > 1 and set(_METRICS) <= set(wide.columns):
            row, columns = wanted[str(label)], (wide[name].to_list() for name in ("time_s", *_METRICS))
            found[str(label)] = _told(row, _Samples(*columns))
            if _WINDOW in wide.columns:
                found[str(label)]["window_median_bytes"] = int(wide[_WINDOW].drop_nulls().median())  # type: ignore[arg-type]
    return found


@dataclass
class _Samples:
    """What was sent and acknowledged in the intervals of a flow that end at ``times``."""

    times: Sequence[float]
    rates: Sequence[float]
    sent: Sequence[float]
    acked: Sequence[float]
    again: Sequence[float]

    def __post_init__(self) -> None:
        self.width = min(after - before for before, after in pairwise(self.times))
        #: The first interval with data.
        self.first = next((at for at, reached in enumerate(self.sent) if reached), len(self.sent))

    def packets(self, size: float) -> list[float]:
        """How many packets of a size were sent in each interval."""
        return [rate * self.width / 8 / size if size else 0.0 for rate in self.rates]

    def without_copies(self, counts: Sequence[float]) -> _Samples:
        """The same where of ``counts`` packets half are copies, which count as retransmitted."""
        again = [max(0.0, round(copies - count / 2)) for copies, count in zip(self.again, counts, strict=True)]
        return replace(self, rates=[rate / 2 for rate in self.rates], again=again)


def _told(row: Mapping[str, Any], samples: _Samples) -> dict[str, Any]:
    times, sent, width = samples.times, samples.sent, samples.width
    size = row["bytes_sent"] / row["packets_sent"] if row.get("packets_sent") else 0.0
    counts = samples.packets(size)
    doubled = _are_doubled(counts, samples.again)
    if doubled:
        samples = samples.without_copies(counts)
    new = [at for at in range(samples.first, len(sent)) if sent[at] > (sent[at - 1] if at else 0)]
    return {
        "after_s": times[-1] - row["stop_s"] if times[-1] - width > row["stop_s"] else 0.0,
        "data_end_s": times[new[-1]] if new else 0.0,
        "doubled": doubled,
        "steady": _is_steady(row, times, counts, width),
        **_handshake(row, samples),
        **_waits(row, samples),
    }


def _handshake(row: Mapping[str, Any], samples: _Samples) -> dict[str, float]:
    """Before its data a flow sends SYNs, each in another interval, the last one perhaps in that of the first data."""
    syns, round_trip = [at for at in range(samples.first) if samples.rates[at]], row.get("initial_rtt_s") or 0.0
    # Samples of what was retransmitted have payload alone.
    empty = int((row["packets_retransmitted"] or 0) - sum(samples.again))
    if syns and empty >= len(syns) and samples.first < len(samples.times):
        silent, slack = samples.times[samples.first] - samples.times[syns[-1]], 2 * samples.width
        # The longest wait for an ACK is that of the first SYN then.
        waits = round_trip + slack < silent <= (row.get("rtt_max_s") or 0.0) + slack
        syns += [samples.first] if waits else []
    retransmitted = min(len(syns) - 1, int(row["packets_retransmitted"] or 0))
    if retransmitted <= 0:
        return {}
    took = max(0.0, samples.times[syns[-1]] - samples.width - row["start_s"]) + round_trip
    return {"syns_retransmitted": retransmitted, "handshake_s": took}


def _waits(row: Mapping[str, Any], samples: _Samples) -> dict[str, float]:
    """Stalls and silences: intervals in a row in which nothing gets through, or nothing is sent."""
    times, sent, again, width = samples.times, samples.sent, samples.again, samples.width
    segment = (row.get("mss_bytes") or 1460) + _HEADERS
    round_trip = max(row.get(name) or 0.0 for name in ("initial_rtt_s", "rtt_p50_s", "rtt_echoed_median_s"))
    least, soon = max(_STALL_S, _STALL_RTTS * round_trip), max(_STALL_S, 2 * round_trip)
    packets = samples.packets(segment)
    # A sender that is seen itself is silent as it has nothing to send; a probe of it is no timeout.
    of_silence = place(row) != "sender" and not row["keep_alives"] and width <= _CLOSE_S
    stalls, silences, repaired = [], 0.0, 0.0
    begin, kind, timed_out = 0, "", False
    each = captured_losses.segments_retransmitted_as_one(row)
    for at in range(max(samples.first, 1), len(times) + 1):
        now = _kind(at, packets, sent, samples.acked) if at < len(times) else ""
        if now != kind:
            # What follows the last packet that was sent is no wait of the sender.
            end = times[at - 1] if at < len(times) else min(times[-1], row["stop_s"])
            lasted = end - times[begin] + width
            ended = at < len(times) and again[at] * each >= max(1.0, _AGAIN * packets[at])
            if kind == "silent" and of_silence and at < len(times):
                ended = ended or _are_missing(at, math.ceil(soon / width) + 1, packets, sent, segment)
            told_apart = (ended or timed_out) if kind == "stuck" else (ended and of_silence)
            if kind and lasted >= least and told_apart:
                stalls.append(lasted)
                if lasted >= OUTAGE_S:
                    repaired += sum(again[begin : at + math.ceil(_REPAIR_S / width)])
            elif kind == "silent" and lasted >= SILENCE_S:
                silences += lasted
            begin, kind, timed_out = at, now, False
        timed_out = timed_out or (at < len(times) and bool(again[at]))
    found = {"silent_s": silences, "repaired": repaired}
    return {**found, "stalled_s": sum(stalls), "longest_stall_s": max(stalls)} if stalls else found


def _are_missing(at: int, most: int, packets: Sequence[float], sent: Sequence[float], segment: float) -> bool:
    """Whether most of what had been sent until soon after a silence did not come: it was lost in the silence."""
    for end in range(at + 1, min(at + most, len(sent)) + 1):
        sent_since = (sent[end - 1] - sent[at - 1]) / (segment - _HEADERS)
        if sent_since >= _LOST_LEAST and sum(packets[at:end]) <= sent_since / 2:
            return True
    return False


def _are_doubled(counts: Sequence[float], again: Sequence[float]) -> bool:
    """Whether about half of the packets of nearly each interval were retransmitted."""
    shares = [copies / count for copies, count in zip(again, counts, strict=True) if count > 1]
    return len(shares) >= _DOUBLED_LEAST and sum(share >= _DOUBLED for share in shares) >= _DOUBLED_SHARE * len(shares)


def _is_steady(row: Mapping[str, Any], times: Sequence[float], counts: Sequence[float], width: float) -> bool:
    """Whether a flow never sends much less than its mean, in intervals in which it sends some packets."""
    own = [
        count
        for time, count in zip(times, counts, strict=True)
        if time - width >= row["start_s"] and time <= min(row["stop_s"], times[-1])
    ]
    if not sum(own):
        return False
    group = math.ceil(_STEADY_PACKETS * len(own) / sum(own))
    sums = sorted(sum(own[at : at + group]) for at in range(0, len(own) - group + 1, group))
    if len(sums) < _STEADY_LEAST:
        return False
    return sums[int(_STEADY_SHARE * (len(sums) - 1))] >= _STEADY * sum(sums) / len(sums)


def _kind(at: int, packets: Sequence[float], sent: Sequence[float], acked: Sequence[float]) -> str:
    """Whether an interval has no progress: nothing is acknowledged of what is in flight, or nothing is sent."""
    if acked[at] == acked[at - 1] and sent[at] > acked[at]:
        # Headers of IPv6 are longer than those that are reckoned with.
        return "stuck" if round(packets[at]) <= _TIMED_OUT else ""
    return "" if packets[at] else "silent"
