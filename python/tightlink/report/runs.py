"""What a report says of a run: why its flows were as fast as they were, its totals, its series."""

from __future__ import annotations

from typing import Any, Final

from markupsafe import Markup

from tightlink import units
from tightlink.console import rounded
from tightlink.diagnosis import percent
from tightlink.diagnosis.completions import with_completions
from tightlink.diagnosis.delay_variation import with_delay_variation
from tightlink.experiment.fairness import fairness
from tightlink.experiment.metrics import of_each_flow
from tightlink.lazy import pl
from tightlink.numbers import several
from tightlink.plots.observed import observed
from tightlink.plots.overview import spread
from tightlink.reduce import rate_together
from tightlink.report import captures, charts, delays, diagnosis, over_time, transfers, users
from tightlink.report import sequence as of_sequence
from tightlink.report.blocks import Chart, Details, Section, Table
from tightlink.report.sequence import Between
from tightlink.report.tables import parts
from tightlink.run import CAPTURE, SIMULATION, TRACE, Run, check_run
from tightlink.scenario import understood

_MOST_ROWS: Final = 200
#: Of a notebook.
_FEW_ROWS: Final = 20

_FLOWS: Final = (
    *("label", "from", "to", "transport", "congestion", "completion_s", "goodput_bps", "packets_sent"),
    *("packets_dropped", "packets_retransmitted", "timeouts", "one_way_delay_mean_s", "jitter_mean_s"),
    *("delay_variation_p99_s", "frames_sent", "frames_complete", "rtt_mean_s"),
)


def sections(run: Run, *, sequence: str | None = None, between_s: Between = (None, None)) -> list[Section]:
    """All that there is to say of a run, in order; with the sequence numbers of a flow between two times (s) first."""
    drawn = [] if sequence is None else [of_sequence.section(run, sequence, between_s)]
    if run.source == CAPTURE:
        return [*drawn, *captures.sections(run)]
    if run.source == TRACE:
        file = captures.file(run, "file", "format", "bytes", "sha256", "interval")
        return [*drawn, over_time.section(run), *delays.sections(run), _totals(run), _links(run), file]

    flows, seen = "flows" in run.tables, observed(run, "series", "delays")
    scenario = Details("The scenario as it was understood, every default included", understood(run.scenario))
    return [
        *drawn,
        # The answer first, above the picture of it.
        *diagnosis.sections(run, *([_limits(run.flows)] if flows else [])),
        *transfers.sections(run),
        *([over_time.section(seen, again="series" not in run.tables)] if flows else []),
        *([*delays.sections(seen), _totals(run)] if flows else []),
        *users.sections(run),
        _links(run),
        *_nodes(run),
        Section("Scenario", "", [scenario]),
    ]


def totals(run: Run) -> Markup:
    """What a notebook shows of a run: two sentences and the first of its flows, or of its links, without a page around.

    >>> run = tl.simulate(tl.network("dsl").set("duration", "1 s"))
    >>> "mean one-way delay (ms)" in totals(run)
    True
    """
    check_run(run)
    section = captures.flows(run) if run.source == CAPTURE else _totals(run) if "flows" in run.tables else _links(run)
    table = next(block for block in section.blocks if isinstance(block, Table))
    shown = Table.first(table.frame, _FEW_ROWS, section.title.casefold())
    caption = Markup("<p>{}</p>").format(shown.caption) if shown.caption else ""
    return Markup("<p>{}</p>{}{}").format(lead(run), Markup().join(parts(shown.frame, table.formats)), caption)


def lead(run: Run) -> str:
    """The run in two sentences."""
    if run.source == CAPTURE:
        return captures.lead(run)
    links = run.links
    if run.source == TRACE:
        lost, sent = int(run.flows["packets_dropped"].sum()), int(run.flows["packets_sent"].sum())
        found = (
            f"{several(run.flows.height, 'flow')} and {several(links.height, 'link')} until {run.manifest['end_s']:g} s"
        )
        return ". ".join(filter(None, [f"A trace of ns-2: {found}", users.losses(lost, sent, "packet")])) + "."
    busiest = links.sort("utilization", descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    share = percent(busiest["utilization"] or 0.0)
    where = f"The busiest link is {busiest['link']}, in use {share} of {_of_what(run, busiest['link'])}."
    simulated = run.source == SIMULATION
    ran = f"{run.scenario.duration} " + (f"simulated with seed {run.manifest['seed']}" if simulated else "measured")
    others = users.lead(run)
    if others is not None:
        where = f"{others} {where}"
    if "flows" not in run.tables:
        return f"{ran}. {where}"
    flows = run.flows
    goodput = rounded(rate_together(flows) or 0.0, units.format_rate)
    lost, sent = int(flows["packets_dropped"].sum()), int(flows["packets_sent"].sum())
    many = f"{transfers.lead(run) or several(flows.height, 'flow')}, {ran}"
    total = "; ".join(filter(None, [f"Goodput {goodput} in all", users.losses(lost, sent, "packet")]))
    return f"{many}. {total}. {where}"


def _of_what(run: Run, link: str) -> str:
    """What the utilization of a link is a share of."""
    links = run.scenario.resolve()["links"]
    spec: dict[str, Any] = next((spec for spec in links if spec["name"] == link), {})
    if "shaper" in spec:
        return "what its shaper lets through"
    timed = "access_s" in spec.get("rate", {})
    return "its capacity" if not timed and ("rate" in spec or "outages" in spec) else "the time"


def _limits(flows: pl.DataFrame) -> Chart:
    shown = spread(flows, 24)
    caption = "Each flow's time from its start to its stop, by what held it back."
    if shown.height < flows.height:
        caption += f" {shown.height} of {flows.height} flows, from the lowest goodput to the highest."
    return Chart(charts.bars_stacked(shown, "label"), caption)


def _totals(run: Run) -> Section:
    flows = with_completions(run, with_delay_variation(run))
    left_out = {"transport"} if (flows["congestion"].fill_null("") != "").all() else set()
    there = [name for name in _FLOWS if name in flows.columns and name not in left_out]
    shown = flows.select(name for name in there if _said(flows[name]))
    return Section("Flows", _fairness(run), [Table.first(shown, _MOST_ROWS, "flows")])


def _fairness(run: Run) -> str:
    """How even the goodputs of several flows are that compete; nothing where flows have no rows of their own."""
    if run.source == TRACE or not of_each_flow(run.scenario):
        return ""
    if (index := fairness(run.flows, run)) is None:
        return ""
    return f"Jain's index of the goodputs of flows that compete: {index:.3g} (1 if all are equal)."


def _said(column: pl.Series) -> bool:
    """Whether there is anything in a column."""
    return any(value not in {None, ""} for value in column.unique().to_list())


def _links(run: Run) -> Section:
    links = run.links.sort("utilization", descending=True, nulls_last=True, maintain_order=True)
    shown = links if links["packets_lost"].sum() else links.drop("packets_lost")
    if "flows" in run.tables:
        # The section on delay has them, beside those of flows.
        shown = shown.drop([f"queueing_delay_{how}_s" for how in ("p50", "p95", "p99", "max")], strict=False)
    shown = shown.select(name for name in shown.columns if _said(shown[name]))
    return Section("Links", "", [Table.first(shown, _MOST_ROWS, "links")])


def _nodes(run: Run) -> list[Section]:
    """Nodes with a processor; the others forward at no cost."""
    if "nodes" not in run.tables:
        return []
    nodes = run.nodes
    busy = nodes.filter(nodes["load_true"].is_not_null() & (nodes["load_true"] > 0))
    return [Section("Processors", "", [Table.first(busy, _MOST_ROWS, "nodes")])] if busy.height else []
