"""The 22 responses of NIST 2010, from the tables of a run with users, by period or by interval.

The document numbers responses in two ways: y1 to y22 where it studies their correlations, Y1 to Y18 where it
summarizes effects. `RESPONSES` has both; of the second, which it does not name, those that can be told. Its formula
of the loss rate, y4 / (y3 + y4), would be a half where nothing is lost: it is 1 − y4 / y3 here.

Example:
    >>> [(each.name, each.number) for each in RESPONSES[:3]]
    [('sources_transmitting', 'y1'), ('share_transmitting', 'y2'), ('packets_entering', 'y3')]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tightlink import units
from tightlink.lazy import pl
from tightlink.run import Run

#: Of an interval's length: ends of periods that are this near to those of intervals are the same.
_NEAR: Final = 1e-3


@dataclass(frozen=True)
class Response:
    """One response: its name here, its two numbers in the document, and what it is."""

    name: str
    #: Where correlations are studied.
    number: str
    #: Where effects are summarized; empty where the document does not let it be told.
    summary: str
    meaning: str


RESPONSES: Final = (
    Response("sources_transmitting", "y1", "Y2", "mean number of sources transmitting"),
    Response("share_transmitting", "y2", "", "share of all sources transmitting"),
    Response("packets_entering", "y3", "", "data packets that enter the network in an interval"),
    Response("packets_leaving", "y4", "", "data packets that leave the network in an interval"),
    Response("loss", "y5", "", "1 − leaving / entering, packets under way at both ends of a period included"),
    Response("transfers_completed", "y6", "", "transfers completed in an interval"),
    Response("completion_rate", "y7", "", "completed / (completed + transmitting)"),
    Response("connections_failed", "y8", "", "connections that fail in an interval"),
    Response("failure_rate", "y9", "", "failed / (failed + transmitting)"),
    Response("retransmission_rate", "y10", "", "share of the entering packets that are retransmitted"),
    Response("cwnd_mean_packets", "y11", "", "mean congestion window of transmitting sources"),
    Response("window_increases", "y12", "", "increases of congestion windows in an interval"),
    Response("duplicate_acks", "y13", "", "duplicate ACKs in an interval"),
    Response("timeouts", "y14", "", "timeouts in an interval"),
    Response("rtt_mean_s", "y15", "Y9", "mean round-trip time, of the packets that leave"),
    Response("queueing_delay_mean_s", "y16", "Y10", "mean queueing delay, of the packets that leave"),
    Response("direct-direct_pps", "y17", "", "packets per second of a transmitting source on such a path (DD)"),
    Response("direct-fast_pps", "y18", "", "the same (DF)"),
    Response("direct-normal_pps", "y19", "", "the same (DN)"),
    Response("fast-fast_pps", "y20", "", "the same (FF)"),
    Response("fast-normal_pps", "y21", "", "the same (FN)"),
    Response("normal-normal_pps", "y22", "", "the same (NN)"),
)
#: What transfers without end are called in the summary, in their order.
_LONG_LIVED: Final = ("Y13", "Y14", "Y15")


def responses(run: Run) -> pl.DataFrame:
    """All responses of a run with users, one row for each of them, for each label and period.

    Columns: ``label``, ``period``, ``response``, ``number``, ``summary``, ``value``. Paths of classes that are not
    called direct, fast and normal have no number. Transfers without end follow as NAME_pps.

    A period's value is the mean over its intervals; of a ratio, the ratio of the sums; of a window, the mean over
    transmitting sources; of a delay, over packets that leave. Intervals that are not wholly in a period are in none.
    """
    tables = (run.users, run.user_paths, run.long_lived)
    written: Mapping[str, Sequence[str]] = run.manifest["scenario"]["observe"]["periods"]
    periods = {name: (units.time(start), units.time(stop)) for name, (start, stop) in written.items()}
    return by_period(*tables, periods)


def by_period(
    users: pl.DataFrame, paths: pl.DataFrame, long_lived: pl.DataFrame, periods: Mapping[str, tuple[float, float]]
) -> pl.DataFrame:
    """The same from the three tables, of which the last may be empty; periods begin and end in seconds."""
    lengths = _lengths(users)
    near, begin, end = _NEAR * pl.col("length_s"), pl.col("begin_s"), pl.col("time_s")
    inside = [
        lengths.filter((begin >= start - near) & (end <= stop + near)).with_columns(period=pl.lit(name))
        for name, (start, stop) in periods.items()
    ]
    # All periods at once: with small tables, time goes with the number of queries.
    wide = _values(_joined((users, paths, long_lived), pl.concat(inside)), by=["period", "label"])
    flows = [f"{name}_pps" for name in long_lived["flow"].unique(maintain_order=True)]
    numbers = {each.name: each.number for each in RESPONSES}
    summaries = {each.name: each.summary for each in RESPONSES} | dict(zip(flows, _LONG_LIVED, strict=False))
    labels = users["label"].unique(maintain_order=True)
    order: dict[str, Iterable[str]] = {"label": labels, "period": list(periods), "response": wide.columns}
    return (
        wide.unpivot(index=["label", "period"], variable_name="response")
        .with_columns(
            number=pl.col("response").replace_strict(numbers, default=""),
            summary=pl.col("response").replace_strict(summaries, default=""),
        )
        .sort([pl.col(column).cast(pl.Enum(names)) for column, names in order.items()])
        .select("label", "period", "response", "number", "summary", "value")
    )


def over_time(run: Run) -> pl.DataFrame:
    """The responses of each interval: ``time_s``, ``label``, then a column for each."""
    tables = _joined((run.users, run.user_paths, run.long_lived), _lengths(run.users))
    return _values(tables, by=["time_s", "label"])


def _lengths(users: pl.DataFrame) -> pl.DataFrame:
    """When each interval begins, and how long it is: the last may be shorter."""
    begin = pl.col("time_s").shift(1).over("label").fill_null(0.0)
    return users.select("label", "time_s", begin_s=begin, length_s=pl.col("time_s") - begin)


def _joined(tables: Iterable[pl.DataFrame], intervals: pl.DataFrame) -> list[pl.DataFrame]:
    """The rows of the given intervals, with their lengths."""
    return [table.join(intervals, on=["label", "time_s"], maintain_order="left") for table in tables]


def _values(tables: Sequence[pl.DataFrame], by: list[str]) -> pl.DataFrame:
    """A row for each group of intervals, a column for each response."""
    users, paths, long_lived = tables

    transmitting = pl.col("sources_transmitting")
    sources = transmitting + pl.col("sources_connecting") + pl.col("sources_thinking")
    sent, delivered = pl.col("packets_sent"), pl.col("packets_delivered")
    completed, failed = pl.col("transfers_completed"), pl.col("connections_failed")
    found = users.group_by(by, maintain_order=True).agg(
        sources_transmitting=transmitting.mean(),
        share_transmitting=_ratio(transmitting, sources),
        packets_entering=sent.mean(),
        packets_leaving=delivered.mean(),
        loss=1 - _ratio(delivered, sent),
        transfers_completed=completed.mean(),
        completion_rate=_ratio(completed, completed + transmitting),
        connections_failed=failed.mean(),
        failure_rate=_ratio(failed, failed + transmitting),
        retransmission_rate=_ratio(pl.col("packets_retransmitted"), sent),
        cwnd_mean_packets=_weighted("cwnd_mean_packets", transmitting),
        window_increases=pl.col("window_increases").mean(),
        duplicate_acks=pl.col("duplicate_acks").mean(),
        timeouts=pl.col("timeouts").mean(),
        rtt_mean_s=_weighted("rtt_mean_s", delivered),
        queueing_delay_mean_s=_weighted("queueing_delay_mean_s", delivered),
    )
    rates = (
        (paths, "path", _ratio(delivered, transmitting * pl.col("length_s"))),
        (long_lived, "flow", _ratio(delivered, pl.col("length_s"))),
    )
    for table, name, rate in rates:
        if table.height:
            wide = table.group_by([*by, name], maintain_order=True).agg(rate=rate)
            wide = wide.pivot(name, index=by, values="rate", maintain_order=True)
            wide = wide.rename({column: f"{column}_pps" for column in wide.columns if column not in by})
            found = found.join(wide, on=by, how="left", maintain_order="left")
    return found


def _ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    """The ratio of the sums; nothing where there is nothing to divide by."""
    return pl.when(whole.sum() > 0).then(part.sum() / whole.sum())


def _weighted(name: str, weight: pl.Expr) -> pl.Expr:
    """The mean of a column where it has a value, each with its weight."""
    value = pl.col(name)
    there = value.is_not_null()
    return _ratio((value * weight).filter(there), weight.filter(there))
