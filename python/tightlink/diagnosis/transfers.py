"""The diagnosis of open-loop transfers: how much longer they take than on an empty path, and why."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tightlink.diagnosis.answers import Diagnosis
from tightlink.diagnosis.traffic import cause_of, longest_wait
from tightlink.diagnosis.words import ms, percent, sentence, times
from tightlink.numbers import grouped

if TYPE_CHECKING:
    from tightlink.run import Run

#: How much longer than on an empty path is not worth a word.
_AS_LONG: Final = 1.05
#: Shares of the transfers' time below this are not worth a word.
_LITTLE: Final = 0.1
_SPENT: Final = {
    "limited_by_handshake": "connecting",
    "limited_by_application": "with nothing to send",
    "limited_by_receiver_window": "at the receiver's window",
    "limited_by_network": "at a saturated path",
    "limited_by_pacing": "at the pacing timer",
    "limited_by_sender_rate": "at the sender's interface",
    "limited_by_congestion_window": "at the congestion window",
}


def of_transfers(run: Run, rows: Sequence[Mapping[str, Any]]) -> list[Diagnosis]:
    """What bounds the transfers of a run, by the rows of the table ``flows`` that are groups of them."""
    links = run.table("links").sort("utilization", descending=True, nulls_last=True, maintain_order=True)
    whole = {row["label"]: row for row in run.completion_times.iter_rows(named=True) if row["size_class"] == "all"}
    found = []
    for row in rows:
        cause = cause_of(links)
        network = f"{sentence(cause.text)}. {longest_wait(links)}"
        text = f"{completed(whole[row['label']])}{_spent(row)}. {network}"
        found.append(Diagnosis((row["label"],), (cause,), None, (), text))
    return found


def completed(row: Mapping[str, Any]) -> str:
    """How many transfers were complete, and how much longer they took than on an empty path."""
    done, every = row["transfers"] - row["unfinished"], row["transfers"]
    said = f"{grouped(done)} of {grouped(every)} transfers were complete at the end"
    if row["slowdown_p50"] is None:
        return said
    median, p99 = (times(row[f"slowdown_{name}"]) for name in ("p50", "p99"))
    return f"{said}; they took {median} times as long as on an empty path in the median, {p99} times at 99 %"


def took(flows: Sequence[tuple[float | None, float | None]]) -> str:
    """How long flows with given bytes took, and how much longer than on an empty path; nothing of flows without end.

    Args:
        flows: Completion time in seconds and slowdown of each, none where it was not complete at the end.

    >>> took([(0.2915, 1.81)]), took([(0.2, 1.0), (0.4, 2.0), (None, None)]), took([(None, None)])
    ('took 292 ms, 1.8 times as long as on an empty path; ', 'took 200 ms in the median, as long as on an empty path, \
and 1 of 3 was not complete at the end; ', 'was not complete at the end; ')
    """
    done = [(time_s, slowdown) for time_s, slowdown in flows if time_s is not None and slowdown is not None]
    left = len(flows) - len(done)
    said = []
    if done:
        time_s, slowdown = (statistics.median_low(values) for values in zip(*done, strict=True))
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
