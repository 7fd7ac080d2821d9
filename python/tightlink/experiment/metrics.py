"""Metrics of a run: numbers over all of its flows, or of all of its users and datagrams, and of each traffic group.

Those of a group have its name in front: ``bulk.goodput_bps`` is what the flows ``bulk[0]``, ``bulk[1]``, … carry.

Example:
    >>> import tightlink as tl
    >>> run = tl.simulate(tl.loads('''
    ... profile = "ns2"
    ... duration = "2 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.old = { kind = "bulk", from = "a", to = "b" }
    ... traffic.new = { kind = "bulk", from = "a", to = "b", flows = 3 }
    ... '''))
    >>> found = metrics(run)
    >>> round(found["jain"], 3), round(found["new.share"], 3), found["new.goodput_bps"] < found["goodput_bps"]
    (0.981, 0.729, True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from tightlink.experiment.fairness import fairness
from tightlink.lazy import pl
from tightlink.reduce import amount_together, jain, largest, rate_together
from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.tables import TABLES, counted, measured

#: Tables over time of traffic that is no single flows.
OVER_TIME: Final[tuple[str, ...]] = ("users", "scatter")
#: Columns of a run's flows that add up.
_SUMS: Final = ("packets_sent", "packets_dropped", "packets_marked", "packets_retransmitted", "timeouts")
#: Rates of a run's flows, of all together from the first start to the last stop.
_RATES: Final = ("goodput_bps", "throughput_bps")
#: Columns of a run's flows of which the largest is taken; of others the mean over the flows.
_LARGEST: Final = re.compile(r"(one_way_delay|rtt)_max_s")
_MEANS: Final = re.compile(r"(one_way_delay|rtt|jitter)_(mean|p50|p95|p99)_s|limited_by_.*")
_OF_FLOWS: Final = tuple(
    column.name for column in TABLES["flows"] if _MEANS.fullmatch(column.name) or _LARGEST.fullmatch(column.name)
)
#: Columns of links, of each of which the largest is taken: exact quantiles, whatever flows send through it.
_OF_LINK: Final = ("utilization", "queue_mean_packets", *(
    column.name for column in TABLES["links"] if column.name.startswith("queueing_delay_")
))  # fmt: skip
#: Those of them that each traffic group has.
_OF_GROUPS: Final = tuple(
    column.name
    for column in TABLES["flows"]
    if re.fullmatch(r"(one_way_delay|queueing_delay|rtt)_(mean|p95)_s|one_way_delay_p99_s|jitter_mean_s", column.name)
)
#: Of videos, of all together and of each traffic group: a share, so that groups and runs of other lengths compare.
_FRAMES, _COMPLETE = "share_of_frames_complete", "share of the frames of which every packet arrived"
#: Of transfers of any size, and of those of a class of sizes, which has its name in front.
_OF_TRANSFERS: Final = (
    "unfinished",
    *(column.name for column in TABLES["completion_times"] if column.name.startswith(("completion_", "slowdown_"))),
)
_OF_SIZES: Final = ("completion_p99_s", "slowdown_p50", "slowdown_p99")
#: What the class of all sizes is called.
_ANY_SIZE: Final = "all"
#: Traffic groups up to which metrics are kept for each; a table of thousands of columns helps nobody.
MOST_GROUPS: Final = 20
#: What a person looks at first, in this order; of several names the first that there is.
_MAIN: Final = (
    *(("slowdown_p99",), ("completion_p99_s",)),
    *(("goodput_bps",), ("sources_transmitting",), ("transfers_completed",), ("packets_in_network",), ("jain",)),
    *(("loss",), ("queueing_delay_p95_s", "queueing_delay_mean_s", "queue_mean_packets")),
    *(("one_way_delay_p95_s", "one_way_delay_mean_s"), ("rtt_p95_s", "rtt_mean_s"), ("utilization",)),
)
_MEMBER: Final = r"\[\d+\]$"


def metrics(run: Run, over_time: Mapping[str, dict[str, float]] | None = None) -> dict[str, float]:
    """What came out of a run, over all of its flows, or of all of its users and datagrams, as numbers.

    ``loss`` is packets dropped / packets sent, of users 1 − packets delivered / packets sent; ``utilization`` and
    ``queue_mean_packets`` are the largest of the links, and so are queueing delays. ``over_time`` is what `summed` says
    of its tables over time, where that is known already.
    """
    if over_time is None:
        over_time = {name: summed(run.table(name).lazy(), name)[()] for name in OVER_TIME if name in run.tables}
    # Where traffic is counted by intervals there are no flows.
    flows = None if over_time else run.flows
    values: dict[str, float] = {}
    if flows is not None:
        values = _of_flows(flows) | {"jain": _known(fairness(flows, run) if of_each_flow(run.scenario) else None)}
    for name, row in over_time.items():
        got = row["packets_sent"] - row["packets_dropped"] if name == "scatter" else row["packets_delivered"]
        loss = 1 - got / row["packets_sent"] if row["packets_sent"] else math.nan
        prefix = "" if len(over_time) == 1 else f"{name}_"
        values |= {prefix + key: value for key, value in (row | {"loss": loss}).items()}
    # Of one link alone it would be of another one in another run, where that is the busiest.
    links = {name: run.links[name] for name in _OF_LINK}
    of_link = {name: largest(each) if each.null_count() < len(each) else math.nan for name, each in links.items()}
    # Users measure the queueing delay on their way, which is more than that of one link.
    values |= of_link | {name: value for name, value in values.items() if name in _OF_LINK}
    values |= {} if flows is None else _by_group(flows, each=of_each_flow(run.scenario))
    return values | (_of_completions(run.completion_times) if "completion_times" in run.tables else {})


def of_each_flow(scenario: Scenario) -> bool:
    """Whether the table of flows has a row for each flow, rather than for a traffic group."""
    if any(traffic.kind == "transfers" for traffic in scenario.traffic.values()):
        return False
    return scenario.observe is None or scenario.observe.flows != "group"


def summed(table: pl.LazyFrame, name: str, by: Sequence[str] = ()) -> dict[tuple[Any, ...], dict[str, float]]:
    """Of a table over time: what is counted added up, what is measured as its mean over time, by run.

    Rows are of intervals, of one label or of several, which are added; columns ``by`` tell runs apart.
    """
    counts, means = counted(name), measured(name)
    rows = table.group_by(*by, "label", maintain_order=True).agg(pl.col(counts).sum(), pl.col(means).drop_nulls())
    runs: dict[tuple[Any, ...], dict[str, list[float]]] = {}
    for row in rows.collect().iter_rows(named=True):
        values = runs.setdefault(tuple(row[key] for key in by), {column: [] for column in (*counts, *means)})
        for column in counts:
            values[column].append(row[column])
        for column in means:
            values[column].append(_mean(row[column]))
    return {run: {column: _together(column, of_labels) for column, of_labels in values.items()}
            for run, values in runs.items()}  # fmt: skip


def _together(column: str, of_labels: Sequence[float]) -> float:
    """What all labels have: the sum, or the mean of what is a mean already."""
    if "_mean" not in column:
        return math.fsum(of_labels)
    return _mean([value for value in of_labels if not math.isnan(value)])


def _mean(values: Sequence[float]) -> float:
    """The mean, of an exact sum: a rounded one depends on the order in which rows are read."""
    return math.fsum(values) / len(values) if values else math.nan


def _of_completions(table: pl.DataFrame) -> dict[str, float]:
    """Metrics of transfers: of a single group by themselves, of several with their names in front."""
    alone = table["label"].n_unique() == 1
    values: dict[str, float] = {}
    for row in table.iter_rows(named=True):
        within = row["size_class"] != _ANY_SIZE
        places = [*([] if alone else [row["label"]]), *([row["size_class"].replace(" ", "-")] if within else [])]
        for name in _OF_SIZES if within else _OF_TRANSFERS:
            values[".".join([*places, name])] = math.nan if row[name] is None else float(row[name])
    return values


def _of_flows(flows: pl.DataFrame) -> dict[str, float]:
    values = {name: _known(rate_together(flows, name)) for name in _RATES}
    values |= {name: _sum(flows[name]) for name in _SUMS}
    values["loss"] = _loss(values["packets_dropped"], values["packets_sent"])
    values |= {name: _together_of(flows, name) for name in _OF_FLOWS if name in flows.columns}
    return values | _of_frames(flows)


def _of_frames(flows: pl.DataFrame) -> dict[str, float]:
    """Which share of their frames is complete, where there are videos."""
    if "frames_sent" not in flows.columns:
        return {}
    sent, complete = (
        math.fsum(value for value in flows[name].to_list() if value is not None)
        for name in ("frames_sent", "frames_complete")
    )
    return {_FRAMES: complete / sent} if sent else {}


def _by_group(flows: pl.DataFrame, *, each: bool) -> dict[str, float]:
    """Metrics of each traffic group, where there are several."""
    # By hand: to make the groups takes polars as long as all else of a small run.
    groups: dict[str, list[int]] = {}
    for place, label in enumerate(flows["label"].to_list()):
        groups.setdefault(re.sub(_MEMBER, "", label, count=1), []).append(place)
    if not 1 < len(groups) <= MOST_GROUPS:
        return {}
    whole = amount_together(flows)
    values: dict[str, float] = {}
    for group, places in groups.items():
        part = flows[places]
        of_group = {
            "goodput_bps": _known(rate_together(part)),
            "share": amount_together(part) / whole if whole else math.nan,
            "jain": jain(part["goodput_bps"].to_list()) if each and part.height > 1 else math.nan,
            "loss": _loss(float(part["packets_dropped"].sum()), float(part["packets_sent"].sum())),
            **{name: _together_of(part, name) for name in _OF_GROUPS if name in part.columns},
            **_of_frames(part),
        }
        values |= {f"{group}.{name}": value for name, value in of_group.items()}
    return values


def _together_of(flows: pl.DataFrame, name: str) -> float:
    """The largest value of several flows, or the mean of their values."""
    value = flows[name].max() if _LARGEST.fullmatch(name) else flows[name].mean()
    return float(value) if isinstance(value, int | float) else math.nan


def _sum(column: pl.Series) -> float:
    """The sum of a column; none where nothing counted it, as marks of measured flows."""
    return math.nan if 0 < len(column) == column.null_count() else float(column.sum())


def _known(value: float | None) -> float:
    return math.nan if value is None else value


def _loss(dropped: float, sent: float) -> float:
    return dropped / sent if sent else math.nan


def is_largest(metric: str) -> bool:
    """Whether a metric of a run is the largest quantile of its links.

    >>> is_largest("queueing_delay_p95_s"), is_largest("new.queueing_delay_p95_s")
    (True, False)
    """
    return metric.startswith("queueing_delay_p")


def is_mean_of_flows(metric: str) -> bool:
    """Whether a metric of a run is the mean over its flows of the percentiles that each has.

    >>> is_mean_of_flows("rtt_p95_s"), is_mean_of_flows("new.rtt_p95_s"), is_mean_of_flows("rtt_mean_s")
    (True, False, False)
    """
    return metric.startswith(("one_way_delay_p", "rtt_p"))


def main_metrics(columns: Collection[str]) -> list[str]:
    """Of the columns of a table of runs, the metrics that a person looks at first; of each delay one.

    >>> main_metrics(["packets_sent", "utilization", "rtt_mean_s", "rtt_p95_s", "goodput_bps"])
    ['goodput_bps', 'rtt_p95_s', 'utilization']
    """
    wanted = [next((name for name in each if name in columns), "") for each in _MAIN]
    return [name for name in wanted if name]


def group_metrics(columns: Collection[str], keys: Collection[str]) -> dict[str, dict[str, str]]:
    """Of the columns of a table of runs, those of traffic groups: by metric and group, the column.

    Keys of the scenario, which are among them, have dots, too.

    >>> group_metrics(["loss", "observe.flows", "new.loss", "old.loss"], ["observe.flows"])
    {'loss': {'new': 'new.loss', 'old': 'old.loss'}}
    """
    found: dict[str, dict[str, str]] = {}
    for column in columns:
        group, dot, metric = column.rpartition(".")
        if dot and column not in keys:
            found.setdefault(metric, {})[group] = column
    return found


def listed() -> list[tuple[str, str]]:
    """What the table of runs says of each run, with a line of help each; of a group with GROUP in front.

    >>> dict(listed())["GROUP.share"]
    'share of what all flows delivered that the traffic group has'
    """
    helps, of_links, of_transfers = (
        {column.name: column.help for column in TABLES[name]} for name in ("flows", "links", "completion_times")
    )
    taken = {name: "largest" if _LARGEST.fullmatch(name) else "mean" for name in (*_OF_FLOWS, *_OF_GROUPS)}
    means = {name: f"{how} over the flows: {helps[name]}" for name, how in taken.items()}
    loss = "packets dropped / packets sent"
    evenness = "Jain's index of the goodputs of {}: 1 if all are equal"
    return [
        *((name, f"of all flows, from the first start to the last stop: {helps[name]}") for name in _RATES),
        *((name, f"sum over the flows: {helps[name]}") for name in _SUMS),
        ("loss", loss),
        ("jain", evenness.format("flows that compete for a link; of several sets, the least even")),
        *((name, means[name]) for name in _OF_FLOWS),
        (_FRAMES, f"of videos: {_COMPLETE}"),
        *((name, f"largest of the links: {of_links[name]}") for name in _OF_LINK),
        *((name, f"of transfers and flows with bytes; of several groups with GROUP. in front: {of_transfers[name]}")
          for name in _OF_TRANSFERS),
        *((f"SIZES.{name}", f"of transfers of a class of sizes, such as up-to-10-kB: {of_transfers[name]}")
          for name in _OF_SIZES),
        ("GROUP.goodput_bps", f"of 2 to {MOST_GROUPS} traffic groups: that of its flows together"),
        ("GROUP.share", "share of what all flows delivered that the traffic group has"),
        ("GROUP.jain", f"of the traffic group: {evenness.format('its flows')}"),
        ("GROUP.loss", f"of the traffic group: {loss}"),
        *((f"GROUP.{name}", f"of the traffic group: {means[name]}") for name in _OF_GROUPS),
        (f"GROUP.{_FRAMES}", f"of the traffic group, of videos: {_COMPLETE}"),
    ]  # fmt: skip
