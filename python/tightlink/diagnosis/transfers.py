"""The diagnosis of open-loop transfers: how much longer they take than on an empty path, and why."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.diagnosis.answers import Cause, Diagnosis, Suggestion
from tightlink.diagnosis.commands import Changed
from tightlink.diagnosis.suggestions import shorter_timeout
from tightlink.diagnosis.traffic import cause_of, longest_wait
from tightlink.diagnosis.words import ms, percent, sentence, small_percent, times
from tightlink.lazy import pl
from tightlink.numbers import grouped, several

if TYPE_CHECKING:
    from tightlink.diagnosis.commands import Typed
    from tightlink.run import Run

#: How much longer than on an empty path is not worth a word.
_AS_LONG: Final = 1.05
#: Shares of the transfers' time below this are not worth a word.
_LITTLE: Final = 0.1
#: A wait of so much of the median transfer's time is.
_WAITS: Final = 0.1
#: Of so much of it a cause is told.
_MOST: Final = 0.5
_WHILE: Final = " while there are transfers"
_SPENT: Final = {
    "limited_by_handshake": "connecting",
    "limited_by_application": "with all sent, until the last ACK",
    "limited_by_receiver_window": "at the receiver's window",
    "limited_by_network": "at a saturated path",
    "limited_by_pacing": "at the pacing timer",
    "limited_by_sender_rate": "at the sender's interface",
    "limited_by_congestion_window": "at the congestion window",
}


def of_transfers(run: Run, rows: Sequence[Mapping[str, Any]], command: Typed | None = None) -> list[Diagnosis]:
    """What bounds the transfers of a run, by the rows of the table ``flows`` that are groups of them."""
    whole = {row["label"]: row for row in run.completion_times.iter_rows(named=True) if row["size_class"] == "all"}
    changed = Changed(run, command, small=False)
    found = []
    for row in rows:
        links, while_ = _while_active(run, row)
        cause = _cause(run, row, links, while_)
        help_ = _shorter_timeout(run, row, changed) if cause.name == "timeouts" else ()
        usual_s = whole[row["label"]]["completion_p50_s"]
        least_s = math.inf if usual_s is None else _WAITS * usual_s
        text = f"{completed(whole[row['label']])}{_spent(row)}. {sentence(cause.text)}. {longest_wait(links, least_s)}"
        text += "".join(f" Try {each.text}." for each in help_)
        found.append(Diagnosis((row["label"],), (cause,), None, help_, text))
    return found


def _while_active(run: Run, row: Mapping[str, Any]) -> tuple[pl.DataFrame, str]:
    """The links, the busiest first, with their utilization while there are transfers, and when that is, in words.

    Where other flows send before or after that, nobody knows whose it was: it is that of the whole run.
    """
    start_s, stop_s = row["start_s"], row["stop_s"]
    share = (stop_s - start_s) / units.time(run.scenario.duration)
    alone = run.flows.filter((pl.col("start_s") < start_s) | (pl.col("stop_s") > stop_s)).is_empty()
    scaled = (pl.col("utilization") / share).clip(upper_bound=1.0) if alone and share > 0 else pl.col("utilization")
    links = run.table("links").with_columns(scaled).sort("utilization", descending=True, nulls_last=True)
    return links, _WHILE if alone else " over the whole run"


def _cause(run: Run, row: Mapping[str, Any], links: pl.DataFrame, while_: str) -> Cause:
    """What most of the transfers' time was spent on."""
    shares = {name: row[name] or 0.0 for name in _SPENT}
    most = max(shares, key=shares.__getitem__)
    loses = links.sort("packets_dropped", descending=True).row(0, named=True)
    lost = f"as {small_percent((row['packets_dropped'] or 0) / row['packets_sent'])} of the packets are lost"
    where = f"{lost}, most at {loses['link']}" if loses["packets_dropped"] else ""
    if shares[most] >= _MOST and where:
        if most == "limited_by_congestion_window" and row["timeouts"]:
            awaited = several(row["timeouts"], "retransmission timeout")
            text = f"they wait for {awaited} of {ms(_least_timeout_s(run, row))} or more, {where}"
            return Cause("timeouts", shares[most], "likely", loses["link"], text)
        if most == "limited_by_handshake":
            text = f"connections wait for their handshakes to be retransmitted, {where}"
            return Cause("handshake", shares[most], "likely", loses["link"], text)
    if shares[most] >= _MOST and most == "limited_by_network":
        busiest = links.row(0, named=True)
        text = f"links are saturated while data wait for them: the busiest, {busiest['link']}, is"
        busy = f"{text} {percent(busiest['utilization'])} busy{while_}"
        return Cause("saturated_link", shares[most], "likely", busiest["link"], busy)
    return cause_of(links, while_)


def _least_timeout_s(run: Run, row: Mapping[str, Any]) -> float:
    return units.time(run.scenario.explicit().traffic[row["label"]].tcp.rto.min)  # type: ignore[union-attr]


def _shorter_timeout(run: Run, row: Mapping[str, Any], changed: Changed) -> tuple[Suggestion, ...]:
    """A shorter timeout, where that is many round trips."""
    tried = shorter_timeout(row["label"], _least_timeout_s(run, row), row["rtt_p95_s"] or 0.0)
    command = changed.command(tried[1]) if tried else ""
    return (Suggestion(tried[0], command, tried[1]),) if tried and command else ()


def completed(row: Mapping[str, Any]) -> str:
    """How many transfers were complete, and how much longer they took than on an empty path."""
    done, every = row["transfers"] - row["unfinished"], row["transfers"]
    said = f"{grouped(done)} of {several(every, 'transfer')} {'was' if every == 1 else 'were'} complete at the end"
    if row["slowdown_p50"] is None:
        return said
    who = "it" if done == 1 else "they"
    if row["slowdown_p99"] < _AS_LONG:
        return f"{said}; {who} took as long as on an empty path"
    if done == 1:
        return f"{said}; it took {times(row['slowdown_p50'])} times as long as on an empty path"
    p99 = times(row["slowdown_p99"])
    if row["slowdown_p50"] < _AS_LONG:
        return f"{said}; they took as long as on an empty path in the median, {p99} times as long at 99 %"
    median = times(row["slowdown_p50"])
    return f"{said}; they took {median} times as long as on an empty path in the median, {p99} times at 99 %"


def took(flows: Sequence[tuple[float | None, float | None]]) -> str:
    """How long flows with given bytes took, and how much longer than on an empty path; nothing of flows without end.

    Args:
        flows: Completion time in seconds and slowdown of each, none where it was not complete at the end.

    >>> took([(0.2915, 1.81)]), took([(0.2, 1.0), (0.4, 2.0), (None, None)]), took([(None, None)])
    ('took 292 ms, 1.8 times as long as on an empty path; ', 'took 300 ms in the median, 1.5 times as long as on an \
empty path, and 1 of 3 was not complete at the end; ', 'was not complete at the end; ')
    """
    done = [(time_s, slowdown) for time_s, slowdown in flows if time_s is not None and slowdown is not None]
    left = len(flows) - len(done)
    said = []
    if done:
        time_s, slowdown = (statistics.median(values) for values in zip(*done, strict=True))
        usual = " in the median" if len(done) > 1 else ""
        than = "as long" if slowdown < _AS_LONG else f"{times(slowdown)} times as long"
        said.append(f"took {ms(time_s)}{usual}, {than} as on an empty path")
    if left:
        verb = "was" if left == 1 else "were"
        said.append(f"{f'{left} of {len(flows)} ' if len(flows) > 1 else ''}{verb} not complete at the end")
    return f"{', and '.join(said)}; " if said else ""


def _spent(row: Mapping[str, Any]) -> str:
    """What the time of all of them together was spent on."""
    shares = {words: row[name] or 0.0 for name, words in _SPENT.items()}
    told = [f"{percent(share)} {words}" for words, share in sorted(shares.items(), key=lambda item: -item[1])
            if share >= _LITTLE]  # fmt: skip
    return f"; of their time they spent {', '.join(told)}" if told else ""
