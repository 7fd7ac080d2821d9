"""What a report says of a run: why its flows were as fast as they were, its totals, its series."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.console import rounded
from tightlink.plots.labels import grouped, several
from tightlink.report import charts, users, why
from tightlink.report.blocks import Block, Chart, Details, Row, Section, Table, Text
from tightlink.run import CAPTURE, SIMULATION, TRACE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from markupsafe import Markup

    from tightlink.run import Run

#: More flows than this are spoken of in groups.
_FEW: Final = 8
_MOST_BARS: Final = 24
_MOST_ROWS: Final = 200
_MOST_OVER_TIME: Final = 4
_NEARLY: Final = 0.5

_FLOWS: Final = (
    *("label", "from", "to", "transport", "congestion", "goodput_bps", "packets_sent"),
    *("packets_dropped", "packets_retransmitted", "timeouts", "latency_mean_s", "latency_max_s", "jitter_mean_s"),
    "rtt_mean_s",
)
_FLOW_SERIES: Final = ("goodput_bps", "throughput_bps", "cwnd_packets", "in_flight_packets")
_LINK_SERIES: Final = ("queue_packets", "utilization", "packets_dropped")


def sections(run: Run) -> list[Section]:
    """All that there is to say of a run, in order."""
    if run.source == CAPTURE:
        from tightlink.report import captures

        return captures.sections(run)
    if run.source == TRACE:
        facts = "\n".join(f"{key}: {run.manifest[key]}" for key in ("file", "format", "bytes", "sha256", "interval"))
        file = Section("File", "", [Details("The file that was read", facts)])
        return [_totals(run), _links(run), *_over_time(run), file]
    from tightlink.scenario import understood

    flows = [_why(run), _totals(run)] if "flows" in run.tables else []
    scenario = Details("The scenario as it was understood, every default included", understood(run.scenario))
    return [
        *flows,
        *users.sections(run),
        _links(run),
        *_nodes(run),
        *_over_time(run),
        Section("Scenario", "", [scenario]),
    ]


def lead(run: Run) -> str:
    """The run in two sentences."""
    if run.source == CAPTURE:
        from tightlink.report import captures

        return captures.lead(run)
    links = run.links
    if run.source == TRACE:
        lost, sent = int(run.flows["packets_dropped"].sum()), int(run.flows["packets_sent"].sum())
        found = (
            f"{several(run.flows.height, 'flow')} and {several(links.height, 'link')} until {run.manifest['end_s']:g} s"
        )
        return f"A trace of ns-2: {found}. {grouped(lost)} of {grouped(sent)} packets were lost."
    busiest = links.sort("utilization", descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    where = f"The busiest link is {busiest['link']}, in use {why.percent(busiest['utilization'] or 0.0)} of the time."
    simulated = run.source == SIMULATION
    ran = f"{run.scenario.duration} " + (f"simulated with seed {run.manifest['seed']}" if simulated else "measured")
    if "flows" not in run.tables:
        many = users.lead(run)
        return f"{ran}. {where}" if many is None else f"{ran}. {many} {where}"
    flows = run.flows
    goodput = rounded(float(flows["goodput_bps"].sum()), units.format_rate)
    lost, sent = int(flows["packets_dropped"].sum()), int(flows["packets_sent"].sum())
    many = f"{several(flows.height, 'flow')}, {ran}"
    return f"{many}. Goodput {goodput} in all; {grouped(lost)} of {grouped(sent)} packets were lost. {where}"


def _why(run: Run) -> Section:
    flows = run.flows
    shown = _spread(flows, _MOST_BARS)
    caption = "Each flow's time from its start to its stop, by what held it back."
    if shown.height < flows.height:
        caption += f" {shown.height} of {flows.height} flows, from the lowest goodput to the highest."
    bars = Chart(charts.bars_stacked(shown.drop("flow").rename({"label": "flow"}), "flow"), caption)
    text = _each(run) if flows.height <= _FEW else _groups(run)
    return Section("What held each flow back", "", [Text(text), bars])


def _each(run: Run) -> Markup:
    """A sentence for each flow."""
    rows = run.flows.iter_rows(named=True)
    return _list([(row["label"], why.say(row, _window(run, row["label"]))) for row in rows])


def _groups(run: Run) -> Markup:
    """A sentence for all flows of one kind of traffic that the same thing limited."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in run.flows.iter_rows(named=True):
        groups.setdefault((_group(row["label"]), why.main_limit(row)), []).append(row)
    spoken = []
    for (name, _), rows in sorted(groups.items(), key=lambda item: -len(item[1])):
        whole = f"{len(rows)} flows of {name}" if len(rows) > 1 else rows[0]["label"]
        said = why.say(_together(rows), _window(run, rows[0]["label"]))
        spoken.append((whole, why.of_many(said) if len(rows) > 1 else said))
    return _list(spoken)


def _together(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One row for several flows: mean shares, sums of packets."""
    first = rows[0]
    shares = [name for name in first if name.startswith("limited_by_")]
    counts = ["packets_sent", "packets_dropped", "timeouts"]
    return (
        {"transport": first["transport"]}
        | {name: sum(row[name] or 0.0 for row in rows) / len(rows) for name in shares}
        | {name: sum(row[name] or 0 for row in rows) for name in counts}
    )


def _list(spoken: Sequence[tuple[str, str]]) -> Markup:
    from markupsafe import Markup

    items = Markup().join(Markup("<li><strong>{}</strong> {}.</li>\n").format(name, said) for name, said in spoken)
    return Markup("<ul>\n{}</ul>").format(items)


def _totals(run: Run) -> Section:
    flows = run.flows
    left_out = {"transport"} if (flows["congestion"].fill_null("") != "").all() else set()
    shown = flows.select(name for name in _FLOWS if name not in left_out and _said(flows[name]))
    return Section("Flows", "", [_table(shown, "flows")])


def _said(column: pl.Series) -> bool:
    """Whether there is anything in a column."""
    return any(value not in {None, ""} for value in column.unique().to_list())


def _links(run: Run) -> Section:
    links = run.links.sort("utilization", descending=True, nulls_last=True, maintain_order=True)
    shown = links if links["packets_lost"].sum() else links.drop("packets_lost")
    return Section("Links", "", [_table(shown.select(name for name in shown.columns if _said(shown[name])), "links")])


def _nodes(run: Run) -> list[Section]:
    """Nodes with a processor; the others forward at no cost."""
    if "nodes" not in run.tables:
        return []
    nodes = run.nodes
    busy = nodes.filter(nodes["load_true"].is_not_null() & (nodes["load_true"] > 0))
    return [Section("Processors", "", [_table(busy, "nodes")])] if busy.height else []


def _table(frame: pl.DataFrame, what: str) -> Table:
    caption = f"The first {_MOST_ROWS} of {frame.height} {what}." if frame.height > _MOST_ROWS else ""
    return Table(frame.head(_MOST_ROWS), caption)


def _over_time(run: Run) -> list[Section]:
    if "series" not in run.tables:
        return []
    series = run.series
    measured = (
        series.filter(series["metric"] == "goodput_bps")
        .select("entity", "value")
        .group_by("entity", maintain_order=True)
    )
    flows = _spread(measured.mean().rename({"value": "goodput_bps"}), _MOST_OVER_TIME)
    blocks: list[Block] = [row for flow in flows["entity"] for row in _row(run, flow, _FLOW_SERIES)]
    blocks += [row for link in _busy(run.links) for row in _row(run, link, _LINK_SERIES)]
    return [Section("Over time", "", blocks)] if blocks else []


def _busy(links: pl.DataFrame) -> list[str]:
    """The links that are nearly as busy as the busiest; where no rate is known, by what they carried."""
    busy = "bytes_out" if links["utilization"].is_null().all() else "utilization"
    ranked = links.filter(links[busy] > 0).sort(busy, descending=True, maintain_order=True)
    near = ranked.filter(ranked[busy] >= _NEARLY * float(ranked[busy].head(1).sum()))
    return near["link"].head(_MOST_OVER_TIME).to_list()


def _row(run: Run, entity: str, metrics: Sequence[str]) -> list[Row]:
    """The series of a flow or a link beside each other."""
    import polars as pl

    found = run.series.filter((pl.col("entity") == entity) & pl.col("metric").is_in(list(metrics)))
    if found.is_empty():
        return []
    wide = found.pivot("metric", index="time_s", values="value", maintain_order=True)
    present = [metric for metric in metrics if metric in wide.columns and wide[metric].null_count() < wide.height]
    return [Row(charts.small_multiples(wide, "time_s", present), entity)]


def _spread(flows: pl.DataFrame, most: int) -> pl.DataFrame:
    """All flows, or some from the slowest to the fastest."""
    if flows.height <= most:
        return flows
    ranked = flows.sort("goodput_bps", maintain_order=True)
    return ranked[[round(place * (ranked.height - 1) / (most - 1)) for place in range(most)]]


def _group(label: str) -> str:
    return label.partition("[")[0]


def _window(run: Run, label: str) -> str | None:
    """The receiver's window of a flow, as the scenario writes it."""
    traffic = run.manifest.get("scenario", {}).get("traffic", {}).get(_group(label), {})
    window = traffic.get("tcp", {}).get("window")
    return window if isinstance(window, str) else None
