"""What got better and what worse from one run to another: times of transfers, goodput, delay, loss, fairness and queue.

Example:
    >>> base = tl.loads('''
    ... profile = "ns2"
    ... duration = "2 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> found = summary(tl.simulate(base), tl.simulate(base.set("link.wire.delay", "20 ms")))
    >>> found.select("metric", "of", "verdict").rows()[0]
    ('goodput_bps', 'all flows', 'worse')
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from tightlink.experiment.fairness import fairness
from tightlink.experiment.metrics import of_each_flow
from tightlink.lazy import pl
from tightlink.reduce import largest, rate_together
from tightlink.run import CAPTURE, Run

#: Metric, whose it is, and both values.
_Row: TypeAlias = "tuple[str, str, float | None, float | None]"
#: The same of what both have.
_Changed: TypeAlias = "tuple[str, str, float, float]"

#: A relative change up to here is none: another seed may make as much.
_SAME: Final = 0.01
#: Half of a 95 % interval, in standard errors.
_HALF: Final = 1.96
#: Flows of a capture with a smaller share of its bytes do not compete.
_NEGLIGIBLE: Final = 0.01
#: What is better if there is more of it; all else is better if there is less.
_MORE_IS_BETTER: Final = frozenset({"goodput_bps", "jain"})
#: The delay that is compared: the first of these that both runs have, with whose it is.
_DELAYS: Final = {"one_way_delay_p95_s": "worst flow", "one_way_delay_mean_s": "all flows"}
#: Whose loss is compared beside that of all flows.
_DATAGRAMS: Final = "datagrams"
_UDP: Final = "udp"
#: The times of transfers that are compared, of all and by size, and the share of transfers that took at most so long.
#: Slowdowns are not: where the scenarios differ in rates or delays, these are beside other times of an empty path.
_TIMES: Final = {"completion_p50_s": 0.5, "completion_p95_s": 0.95, "completion_p99_s": 0.99}
#: That which a single transfer has, too.
_MEDIAN: Final = 0.5
#: The queue that is compared, likewise.
_QUEUES: Final = ("queueing_delay_p95_s", "queue_mean_packets")


def summary(first: Run, second: Run, *, judged: bool = True) -> pl.DataFrame:
    """A row for each of goodput, delay, loss, fairness and queue that both runs know, and what transfers took.

    Of the transfers of a group those two of all quantiles of completion times, of all and by size, that rose and fell
    most: the times of all are those of the large ones, which hide what small ones suffer. Of the delays of flows, too,
    where some rose and some fell; and of loss that of datagrams beside that of all.

    Returns:
        ``metric``; ``of``: whose it is; ``first`` and ``second``; ``change``: (second − first) / first, none where only
        the first is zero; ``verdict``: better, worse or same; more, less or same where neither is the better one, as of
        unlike sources, such as a measurement and its simulation, and where it is not ``judged``.
    """
    rows = []
    words = ("better", "worse") if judged and first.source == second.source else ("more", "less")
    found = [*_of_transfers(first, second), *_of_flows(first, second), *_of_queue(first, second)]
    for metric, of, before, after in found:
        if before is not None and after is not None:
            change = 0.0 if before == after else (after - before) / abs(before) if before else None
            chance = _chance(*(_whose(run.flows, of) for run in (first, second))) if metric == "loss" else 0.0
            rows.append((metric, of, before, after, change, _verdict(metric, before, after, words, chance)))
    return pl.DataFrame(rows, schema=nothing().schema, orient="row")


def nothing() -> pl.DataFrame:
    """A summary without any row: sweeps have none."""
    numbers = dict.fromkeys(("first", "second", "change"), pl.Float64)
    return pl.DataFrame(schema={"metric": pl.String, "of": pl.String, **numbers, "verdict": pl.String})


def _verdict(metric: str, before: float, after: float, words: tuple[str, str], chance: float) -> str:
    if abs(after - before) <= max(_SAME * max(abs(before), abs(after)), chance):
        return "same"
    first = after > before if words[0] == "more" else (after > before) == (metric in _MORE_IS_BETTER)
    return words[0] if first else words[1]


def _of_transfers(first: Run, second: Run) -> Iterator[_Row]:
    """What changed most of how long the transfers of each group took that both have, and how many did not end."""
    if any("completion_times" not in run.tables for run in (first, second)):
        return
    both = first.completion_times.join(second.completion_times, on=["label", "size_class"], maintain_order="left")
    for (label,), rows in both.group_by("label", maintain_order=True):
        whole = rows.filter(size_class="all").row(0, named=True)
        if whole["unfinished"] != whole["unfinished_right"]:
            yield "unfinished", str(label), whole["unfinished"], whole["unfinished_right"]
        changes = [each for row in rows.iter_rows(named=True) for each in _quantiles(row)]
        # Of what hardly changed, one is enough.
        yield from _extremes(changes) or sorted(changes, key=_size)[:1]


def _quantiles(row: Mapping[str, Any]) -> Iterator[_Changed]:
    """The quantiles of a group of transfers that both sides reached, without those beyond which there is none."""
    of = row["label"] if row["size_class"] == "all" else f"{row['label']}: {row['size_class']}"
    transfers = min(row["transfers"], row["transfers_right"])
    for metric, share in _TIMES.items():
        before, after = row[metric], row[f"{metric}_right"]
        if before and after and (share == _MEDIAN or transfers * (1 - share) >= 1):
            yield metric, of, before, after


def _size(change: _Changed) -> float:
    """How far a time rose, below zero if it fell: twice as long is as far as half."""
    return math.log(change[3] / change[2])


def _extremes(changes: Iterable[_Changed]) -> list[_Changed]:
    """What rose most and what fell most, the larger change first; nothing that hardly changed."""
    ordered = sorted(changes, key=_size)
    rose, fell = ([each for each in ordered if sign * _size(each) > _SAME] for sign in (1, -1))
    return sorted([*rose[-1:], *fell[:1]], key=lambda each: -abs(_size(each)))


def _of_flows(first: Run, second: Run) -> Iterator[_Row]:
    if any("flows" not in run.tables or run.flows.is_empty() for run in (first, second)):
        return
    sides = (first.flows, second.flows)
    yield "goodput_bps", "all flows", rate_together(sides[0]), rate_together(sides[1])
    delay = next((name for name in _DELAYS if all(_known(frame, name) for frame in sides)), None)
    if delay is not None:
        unlike: list[_Row] = [*_unlike(*sides, delay)]
        yield from unlike or [(delay, _DELAYS[delay], _delay(sides[0], delay), _delay(sides[1], delay))]
    kinds = (frame["transport"].unique() if "transport" in frame.columns else () for frame in sides)
    for of in ("all flows", *([_DATAGRAMS] if all(_UDP in each and len(each) > 1 for each in kinds) else [])):
        before, after = (_loss(_whose(frame, of)) for frame in sides)
        yield "loss", of, before, after
    yield "jain", "flows that compete", _fairness(first), _fairness(second)


def _unlike(before: pl.DataFrame, after: pl.DataFrame, delay: str) -> list[_Changed]:
    """The delays of the flows of which it rose and fell most, where it did both."""
    both = before.select("label", delay).join(after.select("label", delay), on="label", maintain_order="left")
    rows = both.filter((pl.col(delay) > 0) & (pl.col(f"{delay}_right") > 0)).rows()
    extremes = _extremes([(delay, *row) for row in rows])
    return extremes if len(extremes) > 1 else []


def _whose(frame: pl.DataFrame, of: str) -> pl.DataFrame:
    return frame.filter(transport=_UDP) if of == _DATAGRAMS else frame


def _known(frame: pl.DataFrame, column: str) -> bool:
    return column in frame.columns and frame[column].null_count() < frame.height


def _sum(frame: pl.DataFrame, column: str) -> float | None:
    return math.fsum(frame[column].drop_nulls().to_list()) if _known(frame, column) else None


def _delay(frame: pl.DataFrame, column: str) -> float | None:
    """The largest quantile of a flow; of means, the mean over all packets."""
    known = frame.drop_nulls(column)
    if "mean" not in column:
        return largest(known[column])
    packets = _sum(known, "packets_delivered")
    return math.fsum((known[column] * known["packets_delivered"]).to_list()) / packets if packets else None


def _loss(frame: pl.DataFrame) -> float | None:
    sent, dropped = (_sum(frame, name) for name in ("packets_sent", "packets_dropped"))
    return dropped / sent if sent and dropped is not None else None


def _chance(*sides: pl.DataFrame) -> float:
    """Half the 95 % interval of a difference of losses, if each packet was lost by itself."""
    errors = (math.sqrt((_loss(frame) or 0.0) / (_sum(frame, "packets_sent") or 1.0)) for frame in sides)
    return _HALF * math.hypot(*errors)


def _fairness(run: Run) -> float | None:
    """Jain's index of flows that compete; of a capture those that carry some share of it: others control or answer."""
    if run.source == CAPTURE:
        return fairness(run.flows.filter(pl.col("bytes_sent") >= _NEGLIGIBLE * pl.col("bytes_sent").sum()))
    if "links" not in run.tables or "scenario" not in run.manifest:
        return fairness(run.flows)
    return fairness(run.flows, run) if of_each_flow(run.scenario) else None


def _of_queue(first: Run, second: Run) -> Iterator[_Row]:
    """The queue of the link that is busiest in the first, among those that both have."""
    if any("links" not in run.tables for run in (first, second)):
        return
    before, after = first.links, second.links
    metric = next((name for name in _QUEUES if _known(before, name) and _known(after, name)), None)
    if metric is None:
        return
    shared = before.drop_nulls(metric).join(after.drop_nulls(metric).select("link"), on="link", how="semi")
    if shared.height:
        order = ["utilization", metric]
        link = shared.sort(order, descending=True, nulls_last=True, maintain_order=True)["link"][0]
        values = [float(frame.filter(link=link)[metric][0]) for frame in (before, after)]
        yield metric, link, values[0], values[1]
