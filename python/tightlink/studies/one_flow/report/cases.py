"""The charts and tables of the seven cases, and of what the window does in them.

With W packets of S bytes on a link of rate R the round trip cannot be shorter than W·S/R, for the ACKs return no faster
than the link carries: RTT = max(W·S/R, the path's own). Queue, latency and goodput follow, and no property of TCP's
congestion control enters.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink.analysis.traffic.trace import smoothed
from tightlink.experiment.claims import Claim
from tightlink.lazy import alt
from tightlink.numbers import grouped, several
from tightlink.plots.palette import SERIES
from tightlink.reduce import largest, smallest
from tightlink.report import charts
from tightlink.run import Run
from tightlink.studies.one_flow.observe.cases import GOOD, KEEP, Measured
from tightlink.studies.one_flow.setup import CASES, STOP_S, WINDOW, Case
from tightlink.studies.words import KBIT, MS, kbit, ms, percent

#: The small figures, how they are headed, and what turns their units into those of the head.
METRICS: Final = {
    "instant_bps": ("instant (kbit/s)", 1e-3), "system_bps": ("system (kbit/s)", 1e-3),
    "latency_s": ("latency (ms)", 1e3), "jitter_s": ("jitter (ms)", 1e3), "queue_packets": ("queue (packets)", 1.0),
}  # fmt: skip
#: Of the raw curves, behind the smoothed ones.
PALE: Final = "#9cc4df"
RAW: Final = "each packet"
_SMOOTHED: Final = "smoothed"
#: Claims on what the document counts of each case.
COUNTS: Final = ("packets-sent", "packets-dropped", "kilobytes")
#: The link is full: busy for this share of the time.
_FULL: Final = 0.99


def curves(measured: Measured) -> dict[str, pl.DataFrame]:
    """The curves of a case by metric, in the units of its head: ``time_s``, the metric, ``reading``."""
    own = measured.throughput
    queue = measured.queue.select("time_s", queue_packets=pl.col("packets").cast(pl.Float64))
    raw = {
        "instant_bps": own.select("time_s", "instant_bps"),
        "system_bps": own.select("time_s", "system_bps"),
        "latency_s": measured.trips.select(time_s="arrived_s", latency_s="latency_s"),
        "jitter_s": measured.jitter,
        "queue_packets": queue,
    }
    smooth = {
        "instant_bps": own.select("time_s", instant_bps="smoothed_bps"),
        "queue_packets": queue.select("time_s", smoothed(pl.col("queue_packets"), KEEP)),
    }
    found = {}
    for metric, frame in raw.items():
        parts = [frame.with_columns(reading=pl.lit(RAW))]
        if metric in smooth:
            parts.append(smooth[metric].with_columns(reading=pl.lit(_SMOOTHED)))
        found[metric] = pl.concat(parts).with_columns((pl.col(metric) * METRICS[metric][1]).alias(metric))
    return found


def small_charts(cases: Mapping[str, Measured]) -> dict[str, list[alt.Chart]]:
    """A chart for each metric of each case, on axes on which all the cases can be compared."""
    drawn = {name: curves(measured) for name, measured in cases.items()}
    axes: dict[str, tuple[float, float]] = {}
    for metric in METRICS:
        values = pl.concat(found[metric][metric] for found in drawn.values())
        axes[metric] = (min(0.0, 1.05 * smallest(values)), 1.05 * largest(values))
    return {name: _charts(found, axes) for name, found in drawn.items()}


def _charts(found: Mapping[str, pl.DataFrame], axes: Mapping[str, tuple[float, float]]) -> list[alt.Chart]:
    row = []
    for metric, (title, _) in METRICS.items():
        several = found[metric]["reading"].n_unique() > 1
        chart = charts.line(
            found[metric], "time_s", metric,
            by="reading" if several else None, title=title, x_title="time (s)", y_title=title, height=120,
            x_domain=(0, STOP_S), y_domain=axes[metric], step=metric == "queue_packets" and not several, most=300,
        )  # fmt: skip
        chart.encoding.y.title = None
        if several:
            scale = alt.Scale(domain=[RAW, _SMOOTHED], range=[PALE, SERIES[0]])
            chart.encoding.color = alt.Color("reading", type="nominal", scale=scale, legend=None)
        row.append(chart)
    return row


def grid(rows: Mapping[str, list[alt.Chart]]) -> list[list[alt.Chart]]:
    """All cases below each other, for papers: a row for each, which the first chart names, a column for each metric."""
    drawn = [[chart.copy().properties(width=180) for chart in row] for row in rows.values()]
    for chart in (chart for row in drawn for chart in row):
        # How many points are drawn, the report says of each.
        chart.usermeta = {key: value for key, value in chart.usermeta.items() if key != "note"}
    for title, (first, *_) in zip(rows, drawn, strict=True):
        first.encoding.y.title = title
    # The report's tooltips tell the lines apart; paper has none.
    for chart in drawn[0]:
        if isinstance(chart.encoding.color, alt.Color):
            chart.title = alt.Title(chart.title, subtitle=f"pale: {RAW}; dark: {_SMOOTHED}")
    return drawn


def counted(measured: Measured) -> str:
    """What was counted of a case, in words."""
    lost = f" ({percent(measured.loss, 1)})" if measured.dropped else ""
    return (
        f"{several(measured.sent, 'packet')}, {grouped(measured.dropped)} dropped{lost}, "
        f"{grouped(f'{measured.kilobytes:.1f}')} KB, "
        f"latency {ms(measured.latency_s)}"
    )


def tables(
    tcp: Mapping[str, Measured], udp: Mapping[str, Measured], runs: Mapping[str, Run], claims: Mapping[str, Claim]
) -> dict[str, Any]:
    """The counts over both transports, the window opened, and what each case is good for."""
    over_tcp, over_udp, quality = [], [], []
    for case in CASES:
        own, other = tcp[case.name], udp[case.name]
        printed = (claims[f"{case.name}.{count}"].expected for count in COUNTS)
        counts = zip(printed, (own.sent, own.dropped, own.printed_kilobytes), strict=True)
        over_tcp.append((case.title, *(value for both in counts for value in both), *_steady(own)))
        lost = round(100 * other.loss, 2)
        over_udp.append((case.title, other.sent, other.dropped, lost, other.printed_kilobytes, *_steady(other)))
        for transport, measured in (("TCP", own), ("UDP", other)):
            found = measured.quality
            ms_of_it = (round(found.latency_s / MS, 1), round(found.variation_s / MS, 2))
            suits = (found.real_time(), found.interactive(), found.bulk(repairs=transport == "TCP"))
            quality.append((case.title, transport, *ms_of_it, round(100 * found.loss, 2), *suits))
    kinds = ("case", "over", "latency ms", "variation ms", "lost %", "real-time", "interactive", "bulk")
    limits = pl.col("^limited_by_.*$")
    bars = pl.concat(tcp[case.name].run.flows.select(pl.lit(case.title).alias("case"), limits) for case in CASES)
    return {
        "over-tcp": over_tcp,
        "over-udp": over_udp,
        "quality": pl.DataFrame(quality, kinds, orient="row"),
        "limits": charts.bars_stacked(bars, "case", title="What limits, with a window of 20 packets"),
        "opened": _opened(tcp, runs),
    }


def good(quality: pl.DataFrame) -> dict[str, int]:
    """How many cases suit each kind of traffic over TCP."""
    over_tcp = quality.filter(pl.col("over") == "TCP")
    return {kind: int((over_tcp[kind] == GOOD).sum()) for kind in ("real-time", "interactive", "bulk")}


def _steady(measured: Measured) -> tuple[float, ...]:
    """Goodput in kbit/s, latency in ms and mean queue."""
    goodput, latency = round(measured.flow["goodput_bps"] / 1e3), round(measured.latency_s * 1e3, 2)
    return goodput, latency, round(measured.queue_mean, 2)


def really_limits(tcp: Mapping[str, Measured], runs: Mapping[str, Run]) -> str:
    """What really limits each case, as a list."""
    return "\n".join(f"- **{case.title}**: {_sentence(case, tcp[case.name], runs)}" for case in CASES)


def _kbit(bits: float) -> str:
    return grouped(kbit(bits))


def _sentence(case: Case, own: Measured, runs: Mapping[str, Run]) -> str:
    """What really limits a case, from its run with the window opened."""
    long = runs[f"opened-100s/{case.name}"]
    flow, link = long.flows.row(0, named=True), long.links.row(0, named=True)
    rate, before = _kbit(flow["goodput_bps"]), _kbit(_goodput(runs[f"window-20-100s/{case.name}"]))
    lost = f"{grouped(flow['packets_dropped'])} of {several(flow['packets_sent'], 'packet')}"
    if own.dropped:
        return (
            f"the queue. It overflows before the window reaches {WINDOW} packets, so opening the window changes "
            f"nothing; the link stands idle for {percent(1 - link['utilization'], 1)} of the time, after each halving."
        )
    if link["utilization"] > _FULL:
        return (
            f"the link, with either window. Opened, the flow keeps the link {percent(link['utilization'], 1)} busy, "
            f"carries {rate} (before: {before}), and pays with {lost} lost at the queue, which holds "
            f"{link['queue_mean_packets']:.1f} packets on average instead of {own.queue_mean:.1f}."
        )
    brief = runs[f"opened/{case.name}"].flows.row(0, named=True)
    careful = runs[f"opened-ssthresh-20/{case.name}"].flows.row(0, named=True)
    text = (
        f"the window. Opened, it carries {rate} instead of {before}; the headers leave "
        f"{_kbit(case.payload_share * case.rate_bps)}, and what now limits it is the congestion window, halved "
        f"at each of the losses ({lost}) because the queue of {case.queue_packets} packets is shorter than the path"
    )
    if brief["goodput_bps"] < own.flow["goodput_bps"]:
        text += (
            f". In the first 10 s alone it is worse off, {_kbit(brief['goodput_bps'])}: ns-2 opens the "
            f"slow-start threshold with the window, slow start overshoots, {brief['packets_dropped']} packets are "
            f"lost and {brief['timeouts']} timeouts follow; with the threshold left at {WINDOW} packets it is "
            f"{_kbit(careful['goodput_bps'])}"
        )
    return f"{text}."


def _opened(measured: Mapping[str, Measured], runs: Mapping[str, Run]) -> pl.DataFrame:
    rows = []
    for case in CASES:
        row: dict[str, Any] = {"case": case.title}
        for words, run, full in (
            ("W = 20", measured[case.name].run, True),
            ("W = 1000", runs[f"opened/{case.name}"], False),
            ("W = 1000, ssthresh 20", runs[f"opened-ssthresh-20/{case.name}"], False),
            ("W = 1000, 100 s", runs[f"opened-100s/{case.name}"], True),
        ):
            row[f"{words}: kbit/s"] = round(_goodput(run) / KBIT)
            if full:
                row[f"{words}: link busy %"] = round(100 * run.links["utilization"][0], 1)
                row[f"{words}: latency ms"] = round(run.flows["one_way_delay_mean_s"][0] / MS, 1)
                row[f"{words}: lost"] = run.flows["packets_dropped"][0]
        rows.append(row)
    return pl.DataFrame(rows)


def _goodput(run: Run) -> float:
    return float(run.flows["goodput_bps"][0])
