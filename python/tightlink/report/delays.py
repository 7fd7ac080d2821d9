"""What a report says of delay: a table, the plane of delay and throughput, distributions."""

from __future__ import annotations

from typing import Final

from tightlink.lazy import pl
from tightlink.numbers import grouped, several
from tightlink.plots import palette
from tightlink.plots.labels import words
from tightlink.report import charts
from tightlink.report.blocks import Block, Chart, Row, Section, Table
from tightlink.report.over_time import MOST_LINES
from tightlink.run import Run

_DELAYS: Final = ("queueing_delay", "one_way_delay", "rtt")
_HOW: Final = ("mean", "p50", "p95", "p99", "max")
_HEADS: Final = {"p50": "median_s", "max": "largest_s"}
_EVERY_PACKET: Final = "Share of packets that arrived (of samples, for round-trip times) that took at most so long."
_QUANTILES: Final = (
    "Share of packets (of samples, for round-trip times) that took at most so long: median, 95 %, 99 %, all."
)
_PLANE: Final = (
    "Along, the delay in queues that 95 % of a flow's packets do not exceed; up, its throughput: up and to the left is "
    "better."
)


def sections(run: Run) -> list[Section]:
    """Delay of flows and links, as far as the run knows it."""
    blocks = [*_plane(run), *_distributions(run), *_table(run)]
    return [Section("Delay", "", blocks)] if blocks else []


def _plane(run: Run) -> list[Block]:
    flows = run.flows
    if not _known(flows, "queueing_delay"):
        return []
    named, said = _named(flows)
    unknown = int(flows["queueing_delay_p95_s"].is_null().sum())
    if unknown:
        said += f" Of {several(unknown, 'flow')} of {grouped(flows.height)} the queueing delay is not known."
    shown = named.select(
        "label", "congestion", "throughput_bps", "goodput_bps", "queueing_delay_mean_s", "queueing_delay_p95_s"
    )
    among = palette.entities(run) if flows.height <= MOST_LINES else None
    return [Chart(charts.delay_throughput(shown, among=among), _PLANE + said)]


def _named(flows: pl.DataFrame) -> tuple[pl.DataFrame, str]:
    """Flows by their names; of many flows by the names of their groups, and what the caption says of that."""
    if flows.height <= MOST_LINES:
        return flows, ""
    group = pl.col("label").str.replace(r"\[\d+\]$", "")
    return flows.with_columns(label=group), " Flows of a group have one colour, and a large point is their mean."


def _distributions(run: Run) -> list[Block]:
    flows = run.flows
    if flows.height > MOST_LINES:
        return []
    among = palette.entities(run)
    if "delays" in run.tables:
        whole = run.delays.filter(pl.col("entity").is_in(flows["label"].implode()))
        parts = [(delay, whole.filter(delay=delay).rename({"at_most_s": f"{delay}_s"})) for delay in _DELAYS]
        drawn = [
            charts.distribution(part, f"{delay}_s", by="entity", among=among, weight="packets", title=words(delay))
            for delay, part in parts if part.height
        ]  # fmt: skip
        return [Row(drawn, _EVERY_PACKET)] if drawn else []
    upper = [
        charts.quantiles(flows, delay, among=among, title=words(delay)) for delay in _DELAYS if _known(flows, delay)
    ]
    kept = [chart for chart in upper if chart is not None]
    return [Row(kept, _QUANTILES)] if kept else []


def _known(frame: pl.DataFrame, delay: str) -> bool:
    column = f"{delay}_p95_s"
    return column in frame.columns and not frame[column].is_null().all()


def _table(run: Run) -> list[Block]:
    """A row for each flow, or link, and delay."""
    blocks: list[Block] = []
    for frame, name, delays in ((run.flows, "label", _DELAYS), (run.links, "link", _DELAYS[:1])):
        parts = []
        for place, delay in enumerate(each for each in delays if _known(frame, each)):
            there = [how for how in _HOW if f"{delay}_{how}_s" in frame.columns]
            columns = {_HEADS.get(how, f"{how}_s"): pl.col(f"{delay}_{how}_s") for how in there}
            rows = frame.with_row_index("row").filter(pl.col(f"{delay}_{there[0]}_s").is_not_null())
            parts.append(rows.select("row", name, place=pl.lit(place), delay=pl.lit(words(delay)), **columns))
        if parts:
            listed = pl.concat(parts, how="diagonal").sort("row", "place").drop("row", "place")
            blocks.append(Table.first(listed, 200, "rows"))
    return blocks
