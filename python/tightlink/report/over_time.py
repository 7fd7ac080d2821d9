"""What a report draws of a run over time: its flows and its links in panels that zoom together."""

from __future__ import annotations

from typing import Final

from tightlink import units
from tightlink.console import rounded
from tightlink.lazy import _core, pl
from tightlink.numbers import grouped
from tightlink.plots import palette
from tightlink.plots.observed import begun, not_here
from tightlink.plots.overview import busiest_links, spread
from tightlink.report import charts
from tightlink.report.blocks import Chart, Section, Text
from tightlink.run import CAPTURE, MEASUREMENT, SIMULATION, Run

#: Lines of one panel: as many have colours of their own.
MOST_LINES: Final = len(palette.NAMED)
_MOST_LINKS: Final = 4
#: A rate that is so much above another is seen to be.
_SEEN: Final = 1.01
#: What is drawn of flows and of links and processors, a panel each, in order; of the rates the first that there is.
_RATES: Final = ("throughput_bps", "goodput_bps")
_OF_FLOWS: Final = (
    *("cwnd_packets", "in_flight_packets", "in_flight_bytes", "receiver_window_bytes", "rtt_s"),
    *("sent_bytes", "packets_retransmitted"),
)
_OF_LINKS: Final = ("queue_packets", "packets_dropped", "delay_s", "load")
#: What a link could have sent whose rate changes.
_CAPACITY: Final = "capacity_bps"
#: Instead of round-trip times, of flows without.
_ONE_WAY: Final = "one_way_delay_s"
_ABOVE: Final = {
    "throughput_bps": "A packet counts whole when it arrives, so that a sample can exceed the rate of the link.",
    "goodput_bps": "Goodput counts what is delivered in order: when a hole is filled, all that waited behind it counts "
    "at once, so that a sample can exceed the rate of the link.",
}
_OF_CAPTURES: Final = (
    "Throughput is what was captured, headers included. Each flow has at most 256 intervals; in flight is "
    "the most that was sent beyond the last ACK in an interval, the receiver's window the smallest told in it, "
    "the round-trip time the mean of those that ended in it."
)
_RATE_SAYS: Final = {
    "throughput_bps": "Throughput is what arrives at the receiver in each interval{interval}, headers included.",
    "goodput_bps": "Goodput is the payload that is delivered in order in each interval{interval}.",
}
_AGAIN: Final = "The run kept no samples; these are of the same run once more, observed every {interval}."
_NOT_OBSERVED: Final = (
    "This run was not observed over time. Set `observe.interval`, such as `--set 'observe.interval=100 ms'`, "
    "and run it again for its windows, round-trip times and queues over time."
)


def section(run: Run, *, again: bool = False) -> Section:
    """All flows and the busiest links over time; without samples, how to get them.

    The caption says whether it was simulated again to be observed.
    """
    if "series" not in run.tables:
        return Section("Over time", "", [Text(f"{_NOT_OBSERVED} {not_here(run)}".rstrip())])
    flows, links = _flows(run), _links(run)
    rate = next((metric for metric in _RATES if not _of(run, metric, flows).is_empty()), None)
    wanted = [(metric, flows) for metric in (rate, *_OF_FLOWS, *_own(run)) if metric is not None]
    timed = set(_of(run, "rtt_s", flows)["entity"])
    wanted.append((_ONE_WAY, [name for name in flows if name not in timed]))
    wanted += [(metric, links) for metric in _OF_LINKS]
    panels = [frame for metric, names in wanted if not (frame := _of(run, metric, names)).is_empty()]
    if rate is not None and panels:
        panels[0] = _under_capacity(run, panels[0], rate, links)
    if not panels:
        # A measurement has samples of its echoes at least.
        return Section(
            "Over time", "", [Text("Nothing passed that could be drawn." if _interval(run) else _NOT_OBSERVED)]
        )
    entities = palette.entities(run)
    among = entities if len(entities) <= MOST_LINES else palette.ranked([*flows, *links])
    caption = []
    if run.source == CAPTURE:
        caption.append(_OF_CAPTURES)
    elif rate is not None:
        caption += [_RATE_SAYS[rate].format(interval=_interval(run)), _bottleneck(run, panels[0], rate)]
        caption.append(_beyond_window(panels))
    caption.append(_left_out(run, flows, links))
    if again:
        caption.append(_AGAIN.format(interval=run.manifest["scenario"]["observe"]["interval"]))
    chart = charts.linked(panels, "time_s", "entity", among=among)
    return Section("Over time", "", [Chart(chart, " ".join(part for part in caption if part))])


def _flows(run: Run) -> list[str]:
    """Flows that are drawn, in the order of the scenario."""
    if run.source == CAPTURE:
        sampled = run.flows.filter(pl.col("label").is_in(run.series["entity"].unique().to_list()))
        return sampled.top_k(MOST_LINES - _MOST_LINKS, by="bytes_sent")["label"].unique(maintain_order=True).to_list()
    measured = run.series.filter(pl.col("metric").is_in(_RATES) & ~pl.col("entity").is_in(run.links["link"].to_list()))
    means = measured.group_by("entity", maintain_order=True).agg(goodput_bps=pl.col("value").mean())
    kept = set(spread(means, MOST_LINES - _MOST_LINKS)["entity"])
    order = [*run.flows["label"], *means["entity"]] if "flows" in run.tables else means["entity"].to_list()
    return [name for name in dict.fromkeys(order) if name in kept]


def _own(run: Run) -> list[str]:
    """Metrics of congestion controls written in Python (`CongestionControl.sampled`)."""
    if run.source != SIMULATION:
        return []
    known = {name for name, _ in _core.metrics()}
    return [name for name in run.series["metric"].unique(maintain_order=True) if name not in known]


def _links(run: Run) -> list[str]:
    """Links that are nearly as busy as the busiest, and processors; where no rate is known, by what they carried."""
    if run.source == CAPTURE:
        return []
    ranked, busy = busiest_links(run)
    near = ranked.filter(pl.col(busy) >= palette.NEARLY * pl.col(busy).max())["link"].head(_MOST_LINKS).to_list()
    loads = run.series.filter((pl.col("metric") == "load") & (pl.col("value") > 0))
    return [*near, *loads["entity"].unique(maintain_order=True).head(_MOST_LINKS)]


def _of(run: Run, metric: str, names: list[str]) -> pl.DataFrame:
    """The samples of a metric; none where all are zero, as losses of a run without any, or where they make no line."""
    found = begun(run, run.series.filter((pl.col("metric") == metric) & pl.col("entity").is_in(names)))
    found = found.select("time_s", "entity", pl.col("value").alias(metric)).drop_nulls()
    # One sample of each is no line, as where one round trip was taken: an axis with nothing on it, if others have more.
    alone = found["entity"].is_unique().all() and run.series["time_s"].min() != run.series["time_s"].max()
    return found if (found[metric] != 0).any() and not alone else found.clear()


def _under_capacity(run: Run, rates: pl.DataFrame, rate: str, links: list[str]) -> pl.DataFrame:
    """Rates, and what the links could have sent whose own rates change."""
    could = run.series.filter((pl.col("metric") == _CAPACITY) & pl.col("entity").is_in(links))
    names = pl.format("capacity of {}", pl.col("entity").cast(pl.String))
    return pl.concat([rates, could.select("time_s", entity=names, value="value").rename({"value": rate})],
                     how="vertical_relaxed")  # fmt: skip


def _left_out(run: Run, flows: list[str], links: list[str]) -> str:
    if run.source == CAPTURE:
        there = run.flows.height
        return f"The {len(flows)} largest of {grouped(there)} flows are drawn." if len(flows) < there else ""
    sampled = run.series.filter(pl.col("metric").is_in(_RATES))["entity"].unique()
    there = sampled.filter(~sampled.is_in(run.links["link"].to_list())).len()
    used = run.links.filter(pl.col("bytes_out") > 0)["link"]
    drawn = len(set(links) & set(used))
    said = []
    if len(flows) < there:
        said.append(f"{len(flows)} of {grouped(there)} flows are drawn, from the lowest rate to the highest.")
    if drawn < used.len():
        said.append(f"{'Only the busiest' if drawn == 1 else f'The {drawn} busiest'} of {grouped(used.len())} links "
                    f"{'is' if drawn == 1 else 'are'} drawn.")  # fmt: skip
    return " ".join(said)


def _beyond_window(panels: list[pl.DataFrame]) -> str:
    """Why more is in flight than a congestion window, where that is seen."""
    most = {column: panel[column].max() for panel in panels for column in panel.columns[2:]}
    sent, window = most.get("in_flight_packets"), most.get("cwnd_packets")
    if not (isinstance(sent, float) and isinstance(window, float) and sent > _SEEN * window):
        return ""
    return "In flight counts all beyond the last cumulative ACK: behind a hole it can exceed the congestion window."


def _interval(run: Run) -> str:
    given = run.manifest.get("interval") or run.manifest.get("scenario", {}).get("observe", {}).get("interval")
    return f" of {given}" if given else ""


def _bottleneck(run: Run, rates: pl.DataFrame, rate: str) -> str:
    """The rate of the busiest link, and why a sample can be above it where one is."""
    if run.source not in {SIMULATION, MEASUREMENT}:
        return ""
    links = run.links.filter(run.links["utilization"].is_not_null()).sort("utilization", descending=True)
    name = next(iter(links["link"]), None)
    link = next((link for link in run.scenario.resolve()["links"] if link["name"] == name), None)
    if link is None:
        return ""
    if (run.series.filter(entity=name)["metric"] == _CAPACITY).any():
        return f"The capacity of the busiest link, {name}, is what it could have sent in each interval{_interval(run)}."
    if "rate" in link or "shaper" in link:
        return f"The rate of the busiest link, {name}, changes."
    found = link["rate_bps"]
    text = f"The busiest link, {name}, has a rate of {rounded(found, units.format_rate)}."
    above = (rates[rate] > _SEEN * found).any()
    return f"{text} {_ABOVE[rate]}" if above else text
