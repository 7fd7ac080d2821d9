"""The tables of a run that ``tightlink run`` and ``tightlink measure`` print."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from tightlink.console import is_everything_asked_for, print_rows, print_text, say
from tightlink.diagnosis import Why
from tightlink.diagnosis.completions import of_groups, with_completions
from tightlink.diagnosis.delay_variation import COLUMNS as VARIATION
from tightlink.diagnosis.delay_variation import with_delay_variation
from tightlink.files import check_new, check_page
from tightlink.lazy import pl, plots
from tightlink.numbers import NONE, percent
from tightlink.run import Run
from tightlink.tables import TOTALS, counted, measured

#: The tables that stand in JSON: what is printed of a run is of these.
PRINTED: Final = ("flows", "links", "nodes", "users", "scatter", "transfers", "completion_times")
#: What is shown of flows beside the totals where some are of datagrams, and behind which column.
_DATAGRAMS: Final = {
    "dropped": {"loss": "loss"},
    "one-way delay p95": {"delay variation p99": "delay_variation_p99_s"},
    "jitter": {"frames sent": "frames_sent", "frames complete": "frames_complete"},
}
#: Columns of flows and links for who asks for them.
_MORE_OF_FLOWS: Final = {
    "loss": "loss",
    "timeouts": "timeouts",
    "marked": "packets_marked",
    "one-way delay p50": "one_way_delay_p50_s",
    "one-way delay p99": "one_way_delay_p99_s",
    "one-way delay max": "one_way_delay_max_s",
    "delay variation p95": "delay_variation_p95_s",
    "RTT mean": "rtt_mean_s",
    "RTT p95": "rtt_p95_s",
    "RTT p99": "rtt_p99_s",
    "loss run mean": "loss_run_mean_packets",
    "loss run max": "loss_run_max_packets",
}
_MORE_OF_LINKS: Final = {
    "lost on the wire": "packets_lost",
    "marked": "packets_marked",
    "queueing delay p50": "queueing_delay_p50_s",
    "queueing delay p99": "queueing_delay_p99_s",
    "queueing delay max": "queueing_delay_max_s",
}
_USERS: Final = {
    "sources": "sources",
    "transmitting": "sources_transmitting",
    "completed": "transfers_completed",
    "failed": "connections_failed",
    "sent": "packets_sent",
    "retransmitted": "packets_retransmitted",
    "RTT mean": "rtt_mean_s",
}
_SCATTER: Final = {
    "sent": "packets_sent",
    "delivered": "packets_delivered",
    "dropped": "packets_dropped",
    "under way": "packets_in_network_at_end",
    "one-way delay mean": "one_way_delay_mean_s",
    "hops": "hops_mean",
}
_COMPLETION_TIMES: Final = {
    "transfers": "transfers",
    "unfinished": "unfinished",
    "completion p50": "completion_p50_s",
    "p95": "completion_p95_s",
    "p99": "completion_p99_s",
    "slowdown mean": "slowdown_mean",
    "slowdown p50": "slowdown_p50",
    "slowdown p95": "slowdown_p95",
    "slowdown p99": "slowdown_p99",
}
#: Headers that go first where a terminal is too narrow.
_DROP: Final = (
    *("jitter", "sent", "one-way delay mean", "frames sent", "queueing delay mean", "queue max", "packets"),
    *("dropped", "retransmitted", "loss", "slowdown mean", "p95", "slowdown p95", "completion p50"),
)
_LIMITED: Final = "limited by"
#: Of more links, the busiest are printed.
_MOST_LINKS: Final = 20
_BUSIEST: Final = 10


def described(run: Run, tables: Iterable[str], why: Why | None = None) -> dict[str, Any]:
    """The manifest of a run, why its flows are as fast as they are, and those of some tables that it has.

    Flows have their delay variation, as on a terminal; without datagrams it is none, so that columns are the same
    whatever the traffic of a scenario is.
    """
    there = [name for name in tables if name in run.tables]
    found = {name: (_with_variation(run) if name == "flows" else run.table(name)).to_dicts() for name in there}
    return {"manifest": run.manifest, "why": (why or run.why()).to_dict()} | found


def _with_variation(run: Run) -> pl.DataFrame:
    flows = with_delay_variation(run)
    # Captures know no empty path, and never have it.
    known = VARIATION if "scenario" in run.manifest else ()
    lacking = [name for name in known if name not in flows.columns]
    return flows.with_columns(pl.lit(None, pl.Float64).alias(name) for name in lacking)


def print_summary(run: Run) -> None:
    """Print the traffic and the links of a run on standard output."""
    if "flows" in run.tables and run.flows.height:
        _print_flows(run)
        print_text()
    if "users" in run.tables:
        print_rows(
            "users", "label", _USERS, [row | {"sources": _sources(row)} for row in _totals(run, "users")], drop=_DROP
        )
        print_text()
    if "scatter" in run.tables:
        print_rows("scatter", "label", _SCATTER, list(_totals(run, "scatter")), drop=_DROP)
        print_text()
    # A transfer that is alone is a flow above, and its classes have none.
    times = of_groups(run).filter(pl.col("transfers") > 0)
    if not times.is_empty():
        several = times["label"].n_unique() > 1
        sizes = [
            row | {"sizes": f"{row['label']}: {row['size_class']}" if several else row["size_class"]}
            for row in times.iter_rows(named=True)
        ]
        print_rows("transfers by size", "sizes", _COMPLETION_TIMES, sizes, drop=_DROP)
        print_text()
    links = run.links
    if links.height > _MOST_LINKS and not is_everything_asked_for():
        links = links.sort("utilization", descending=True, nulls_last=True, maintain_order=True).head(_BUSIEST)
    print_rows("link", "link", TOTALS["links"], links.to_dicts(), drop=_DROP, more=_MORE_OF_LINKS)
    if links.height < run.links.height:
        print_text(f"The {_BUSIEST} busiest of {run.links.height} links (--wide shows all).")
    nodes = run.nodes.to_dicts() if "nodes" in run.tables else []
    processors = [row for row in nodes if row["load_true"] is not None]
    if processors:
        print_text()
        print_rows("processor", "node", TOTALS["nodes"], processors, drop=_DROP)


def _print_flows(run: Run) -> None:
    flows = with_completions(run, with_delay_variation(run))
    rows = [row | {"loss": _loss(row), _LIMITED: limit(row)} for row in flows.iter_rows(named=True)]
    columns: dict[str, str] = {}
    for header, column in TOTALS["flows"].items():
        beside = _DATAGRAMS.get(header, {}) if any(row["transport"] == "udp" for row in rows) else {}
        known = {name: key for name, key in beside.items() if any(row.get(key) is not None for row in rows)}
        columns |= {header: column} | known
    print_rows(
        "flow", "label", columns | {_LIMITED: _LIMITED}, rows, drop=_DROP,
        more={header: column for header, column in _MORE_OF_FLOWS.items() if header not in columns},
    )  # fmt: skip


def _loss(row: dict[str, Any]) -> float | None:
    sent, dropped = row["packets_sent"], row["packets_dropped"]
    return dropped / sent if sent and dropped is not None else None


def limit(row: dict[str, Any]) -> str:
    """What limited a flow for most of its time, with the share: "receiver window 93 %"."""
    shares = {name: row[name] or 0.0 for name in row if name.startswith("limited_by_")}
    name = max(shares, key=lambda key: shares[key], default=None)
    if name is None or shares[name] <= 0:
        return NONE
    return f"{name.removeprefix('limited_by_').replace('_', ' ')} {percent(shares[name])}"


def _sources(row: dict[str, Any]) -> int:
    return sum(row[f"sources_{state}_at_end"] for state in ("transmitting", "connecting", "thinking"))


def _totals(run: Run, table: str) -> Iterable[dict[str, Any]]:
    """Of each label: the sums of what is counted, the means of what is measured at a time, and its last values."""
    over_time = pl.col(measured(table))
    rows = run.table(table).group_by("label", maintain_order=True)
    found = rows.agg(pl.col(counted(table)).sum(), over_time.mean(), over_time.last().name.suffix("_at_end"))
    return found.iter_rows(named=True)


def check_shown(report: Path | None, plot: Path | None) -> None:
    """Refuse files for a report and a figure that cannot be written, before the run that they are of."""
    check_new(report)
    if report is not None:
        check_page(report)
    check_new(plot)
    if plot is not None:
        plots.style.check_format(plot)


def write_shown(run: Run, report: Path | None, plot: Path | None) -> None:
    """Write a run's report and its figure, where they were asked for."""
    if report is not None:
        say(f"wrote {run.report(report)}")
    if plot is not None:
        say(f"wrote {plots.write(plots.overview(run), plot)}")
