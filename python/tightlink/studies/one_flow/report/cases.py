"""The part of the report on the seven cases: a table, then for each a sentence and rows of small figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.trace import smoothed
from tightlink.plots.palette import SERIES
from tightlink.reduce import largest, smallest
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.studies.one_flow.observe.cases import KEEP
from tightlink.studies.one_flow.setup.cases import CASES, STOP_S
from tightlink.studies.words import kbit, ms, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt

    from tightlink.experiment.claims import Claim
    from tightlink.studies.one_flow.observe.cases import Measured

#: The small figures: column, and whether it is drawn raw and smoothed.
METRICS: Final = ("instant_bps", "system_bps", "latency_s", "jitter_s", "queue_packets")
TITLES: Final = {
    "instant_bps": "instant (kbit/s)",
    "system_bps": "system (kbit/s)",
    "latency_s": "latency (ms)",
    "jitter_s": "jitter (ms)",
    "queue_packets": "queue (packets)",
}
_FACTORS: Final = {"instant_bps": 1e-3, "system_bps": 1e-3, "latency_s": 1e3, "jitter_s": 1e3, "queue_packets": 1.0}
#: Of the raw curves, behind the smoothed ones.
PALE: Final = "#9cc4df"
RAW: Final = "each packet"
SMOOTHED: Final = "smoothed"
_MOST_POINTS: Final = 300
#: Claims on what the document counts of each case.
COUNTS: Final = ("packets-sent", "packets-dropped", "kilobytes")
_HEIGHT: Final = 120

Domains = dict[str, tuple[float, float]]


def curves(measured: Measured) -> dict[str, pl.DataFrame]:
    """The curves of a case by metric, in the units of `TITLES`: ``time_s``, the metric, ``reading``."""
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
            parts.append(smooth[metric].with_columns(reading=pl.lit(SMOOTHED)))
        found[metric] = pl.concat(parts).with_columns((pl.col(metric) * _FACTORS[metric]).alias(metric))
    return found


def domains(cases: Mapping[str, Measured]) -> Domains:
    """Axes on which all the cases can be compared."""
    found: Domains = {}
    for metric in METRICS:
        values = pl.concat(curves(measured)[metric][metric] for measured in cases.values())
        least, most = smallest(values), largest(values)
        found[metric] = (min(0.0, 1.05 * least), 1.05 * most)
    return found


def sections(tcp: Mapping[str, Measured], udp: Mapping[str, Measured], claims: Mapping[str, Claim]) -> list[Section]:
    """The table of all cases, then a section for each."""
    axes = {"tcp": domains(tcp), "udp": domains(udp)}
    texts = _findings(tcp, claims)
    parts = [_overview(tcp, udp, claims)]
    for case in CASES:
        own, other = tcp[case.name], udp[case.name]
        blocks = [
            Row(_row(own, axes["tcp"]), f"TCP Reno, {_counted(own)}."),
            Row(_row(other, axes["udp"]), f"UDP at {case.udp_rate}: {_counted(other)}."),
        ]
        parts.append(Section(case.title[0].upper() + case.title[1:], texts[case.name], blocks))
    return parts


def _row(measured: Measured, axes: Domains) -> list[alt.Chart]:
    import altair as alt

    found = curves(measured)
    row = []
    for metric in METRICS:
        several = found[metric]["reading"].n_unique() > 1
        chart = charts.line(
            found[metric],
            "time_s",
            metric,
            by="reading" if several else None,
            title=TITLES[metric],
            x_title="time (s)",
            y_title=TITLES[metric],
            height=_HEIGHT,
            x_domain=(0, STOP_S),
            y_domain=axes[metric],
            step=metric == "queue_packets" and not several,
            most=_MOST_POINTS,
        )
        chart.encoding.y.title = None
        if several:
            scale = alt.Scale(domain=[RAW, SMOOTHED], range=[PALE, SERIES[0]])
            chart.encoding.color = alt.Color("reading", type="nominal", scale=scale, legend=None)
        row.append(chart)
    return row


def _counted(measured: Measured) -> str:
    lost = f" ({percent(measured.loss, 1)})" if measured.dropped else ""
    return (
        f"{measured.sent} packets, {measured.dropped} dropped{lost}, {measured.kilobytes:.1f} KB, "
        f"latency {ms(measured.latency_s)}"
    )


def _overview(tcp: Mapping[str, Measured], udp: Mapping[str, Measured], claims: Mapping[str, Claim]) -> Section:
    rows, others = [], []
    for case in CASES:
        own, other = tcp[case.name], udp[case.name]
        sent, dropped, kilobytes = (claims[f"{case.name}.{count}"].expected for count in COUNTS)
        rows.append(
            {
                "case": case.title,
                "sent: document": sent,
                "sent: here": own.sent,
                "dropped: document": dropped,
                "dropped: here": own.dropped,
                "KB: document": kilobytes,
                "KB: here": own.printed_kilobytes,
                "goodput kbit/s": round(own.flow["goodput_bps"] / 1e3),
                "latency ms": round(own.latency_s * 1e3, 2),
                "queue, mean": round(own.queue_mean, 2),
            }
        )
        others.append(
            {
                "case": case.title,
                "sent": other.sent,
                "dropped": other.dropped,
                "lost %": round(100 * other.loss, 2),
                "KB": other.printed_kilobytes,
                "goodput kbit/s": round(other.flow["goodput_bps"] / 1e3),
                "latency ms": round(other.latency_s * 1e3, 2),
                "queue, mean": round(other.queue_mean, 2),
            }
        )
    same = [
        case for case in CASES if claims[f"{case.name}.packets-sent"].holds and claims[f"{case.name}.kilobytes"].holds
    ]
    finding = (
        f"{_number(len(same))} of the seven cases come out as published, packet for packet and to the sixth decimal "
        "of the kilobytes; over UDP, which offers more than the link carries, "
        f"{percent(min(c.loss for c in udp.values()))} to {percent(max(c.loss for c in udp.values()))} of the packets "
        f"are lost where TCP loses at most {percent(max(c.loss for c in tcp.values()))}."
    )
    reading = (
        "Packets sent count what is offered to the queue, the SYN included; KB are 1024 B of what the queue "
        "accepted, headers included. **Instant throughput** is the bits of a packet, header included, over the time "
        "since the previous arrival, raw and as a moving average in which α = 0.9 weights the past; **system "
        "throughput** is all bits so far over all time so far. Pale lines are raw, dark ones smoothed. The document "
        "words both for the payload alone: multiply by payload / packet. **Jitter** is the difference of successive "
        "latencies. Latency, queue and goodput of the tables: mean or median of the second half, goodput of the "
        "whole run. Axes are the same in all rows of TCP, and in all rows of UDP."
    )
    formats = {"KB: document": ".6f", "KB: here": ".6f", "KB": ".6f"}
    return Section(
        "The seven cases",
        finding,
        [
            Table(pl.DataFrame(rows), "Over TCP Reno, the document's figures beside ours.", formats),
            Table(pl.DataFrame(others), "Over UDP at 2.5 Mbit/s (2 Mbit/s on the link of 1 Mbit/s).", formats),
            Text(reading),
        ],
    )


def _number(count: int) -> str:
    return ("None", "One", "Two", "Three", "Four", "Five", "Six", "All")[count]


def _findings(tcp: Mapping[str, Measured], claims: Mapping[str, Claim]) -> dict[str, str]:
    """One sentence for each case, with its own numbers."""
    base, small, large = tcp["base"], tcp["packet-100"], tcp["packet-4000"]
    slow, short, long = tcp["bandwidth-1mbit"], tcp["queue-5"], tcp["delay-100ms"]
    idle = {name: 1 - measured.run.links["utilization"][0] for name, measured in tcp.items()}
    waiting = int(base.run.links["queue_max_packets"][0])
    sent, dropped, _ = (claims[f"queue-5.{count}"].expected for count in COUNTS)
    trip_s = long.latency_s + long.case.delay_s
    return {
        "base": (
            f"Twenty packets fill the link and {base.queue_mean:.1f} of them wait, which makes the latency of "
            f"{ms(base.latency_s)}; nothing is lost, and after {base.jitter_ends_s:.2f} s the latency never changes "
            "again."
        ),
        "packet-100": (
            "Twenty small packets do not fill the path: each window is sent in "
            f"{ms(20 * 8 * small.case.packet_bytes / small.case.rate_bps)} and the rest of the round trip passes "
            f"waiting, so the link is idle for {percent(idle['packet-100'])} of the time; what halves the throughput "
            f"is the window ({percent(small.flow['limited_by_receiver_window'])} of the time), not the packet size."
        ),
        "packet-4000": (
            f"The same twenty packets last four times as long on the link, hence {ms(large.latency_s)}; the headers "
            f"weigh less, which brings {percent(large.kilobytes / base.kilobytes - 1, 1)} more kilobytes."
        ),
        "bandwidth-1mbit": (
            f"Half the rate gives half the kilobytes ({percent(slow.kilobytes / base.kilobytes, 2)}) and a latency of "
            f"{ms(slow.latency_s)}: more than double, since {slow.queue_mean:.1f} packets wait where "
            f"{base.queue_mean:.1f} did."
        ),
        "queue-50": (
            f"Not one event differs from the base case: with a window of 20 packets at most {waiting} ever wait, and "
            "what lies beyond them in the queue is never used."
        ),
        "queue-5": (
            f"The only case that loses packets, {short.dropped} of {short.sent} ({percent(short.loss, 1)}), as in "
            f"ns-2.35 with the timer of 2003; the document's {sent} and {dropped} come from a version that cannot be "
            "had. Each loss halves the window, and the link is idle for "
            f"{percent(idle['queue-5'], 1)} of the time."
        ),
        "delay-100ms": (
            f"Twenty packets in each round trip of {ms(trip_s, 0)} are "
            f"{kbit(20 * 8 * long.case.payload_bytes / trip_s)}, whatever the link: it is idle for "
            f"{percent(idle['delay-100ms'])} of the time, no packet ever waits once steady, and the latency is the "
            f"path's own {ms(long.latency_s)}."
        ),
    }
