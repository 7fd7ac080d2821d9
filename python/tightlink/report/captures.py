"""What a report says of a capture: its flows, its protocols over time, sizes of packets, what deserves a look."""

from __future__ import annotations

import math
from typing import Final

from tightlink import units
from tightlink.analysis.traffic.captured import size_classes, throughput
from tightlink.console import rounded
from tightlink.lazy import pl
from tightlink.numbers import several
from tightlink.report import charts, diagnosis, over_time
from tightlink.report.blocks import Block, Chart, Details, Section, Table
from tightlink.report.encoding import round_above
from tightlink.run import Run

_MOST_FLOWS: Final = 200
#: Protocols with most bytes that have a line of their own.
_MOST_LINES: Final = 6
#: Points of a line with which it says little.
_FEW_POINTS: Final = 8
_FLOWS: Final = (
    *("label", "transport", "start_s", "packets_sent", "bytes_sent", "goodput_bps", "packets_retransmitted"),
    "rtt_mean_s",
)
#: What is told of connections, a table each: one would be wider than the page.
_CONNECTIONS: Final = {
    "TCP, as tshark defines it.": (
        *("state", "retransmissions", "fast_retransmissions", "spurious_retransmissions", "out_of_order"),
        *("duplicate_acks", "zero_windows"),
    ),
    "Windows, and how long nothing was in flight, or the receiver's window had no room.": (
        *("window_max_bytes", "in_flight_max_bytes", "idle_s", "window_limited_s", "options"),
    ),
    "Round trips, of what was retransmitted, too.": ("rtt_min_s", "rtt_median_s", "rtt_p95_s", "rtt_max_s"),
}
#: The same of QUIC.
_QUIC: Final = {
    "QUIC. Its losses, ACKs, windows and ends are encrypted and not known.": (
        *("version", "sender", "state", "initial_rtt_s", "handshake_behind_s", "retries", "zero_rtt_packets"),
        "spin_bit",
    ),
    "Round trips of QUIC by its spin bit, and how long neither end sent anything.": (
        *("rtt_samples", "rtt_min_s", "rtt_median_s", "rtt_p95_s", "rtt_max_s", "rtt_behind_median_s", "idle_s"),
    ),
}


def lead(run: Run) -> str:
    """The capture in two sentences."""
    links, interfaces = run.links, run.table("interfaces")
    packets, size = int(links["packets_out"].sum()), int(links["bytes_out"].sum())
    ends = (interfaces["start_s"] + interfaces["duration_s"]).drop_nulls()
    lasts = max(ends.to_list(), default=0.0)
    rate = rounded(size * 8 / lasts if lasts > 0 else None, units.format_rate)
    # To the second; the section of the file has all digits.
    began = f"{run.manifest['began'][:19].replace('T', ' ')} UTC" if run.manifest["began"] else "never"
    passed = f"{several(packets, 'packet')} in {rounded(lasts, units.format_time)}, {rate} on average"
    found = f"{several(run.manifest['connections'], 'connection')}, {several(run.flows.height, 'flow')}"
    return f"{run.manifest['file']}: {passed}, captured from {began} on: {found}."


def sections(run: Run) -> list[Section]:
    """All that there is to say of a capture, in order."""
    links = run.links.select("link", "packets_out", "bytes_out", "utilization")
    if links["utilization"].is_null().all():
        # No link's rate is known.
        links = links.drop("utilization")
    sizes = Table(size_classes(run.table("packet_sizes")), "IP packets with their headers, in bytes.")
    return [
        *diagnosis.sections(run),
        over_time.section(run),
        flows(run),
        _protocols(run),
        Section("Sizes of packets", "", [sizes]),
        Section("Interfaces", "", [Table(links.join(run.table("interfaces"), on="link", maintain_order="left"))]),
        file(run, "file", "format", "bytes", "sha256", "began", "interval"),
    ]


def file(run: Run, *keys: str) -> Section:
    """What the manifest says of the file that was read."""
    facts = "\n".join(f"{key}: {run.manifest[key]}" for key in keys)
    return Section("File", "", [Details("The file that was read", facts)])


def flows(run: Run) -> Section:
    """The largest flows of a capture, and what is known of those over TCP."""
    largest = run.flows.sort("bytes_sent", descending=True, maintain_order=True).head(_MOST_FLOWS)
    caption = f"The {_MOST_FLOWS} largest of {run.flows.height} flows." if run.flows.height > _MOST_FLOWS else ""
    blocks: list[Block] = [Table(largest.select(_FLOWS), caption)]
    for name, shown in (("connections", _CONNECTIONS), ("quic", _QUIC)):
        if name in run.tables:
            own = largest.select("flow").join(run.table(name), on="flow", maintain_order="left")
            blocks += [Table(own.select("label", *columns), said) for said, columns in shown.items() if own.height]
    return Section("Flows", "", blocks)


def _protocols(run: Run) -> Section:
    protocols = run.table("protocols").sort("bytes", descending=True, maintain_order=True)
    blocks: list[Block] = [Table(protocols, formats={"share": _percent})]
    names = protocols["protocol"].head(_MOST_LINES).to_list()
    rates = throughput(run.series, names).select("time_s", protocol="entity", throughput_bps="instant_bps")
    if rates["time_s"].n_unique() > 1:
        ends = _from_zero(rates["throughput_bps"])
        chart = charts.line(rates, "time_s", "throughput_bps", by="protocol", y_domain=ends)
        blocks.append(
            Chart(chart, f"Throughput of each interval of {run.manifest['interval']}.{_finer(rates['time_s'])}")
        )
    if "tunnels" in run.tables:
        tunnels = run.table("tunnels").sort("bytes", descending=True, maintain_order=True).head(_MOST_FLOWS)
        blocks.append(Table(tunnels, "Tunnels through which packets came, those with most bytes."))
    return Section("Protocols", "", blocks)


def _finer(times: pl.Series) -> str:
    """What to ask for where a line has few points."""
    points = times.unique().sort()
    if points.len() >= _FEW_POINTS:
        return ""
    wanted = units.format_time(10 ** math.floor(math.log10((points[-1] - points[0]) / _FEW_POINTS)))
    return f' For a finer line, read the file with --interval "{wanted}".'


def _from_zero(values: pl.Series) -> tuple[float, float] | None:
    """The ends of an axis of rates, which says nothing of differences unless it begins at zero."""
    most = values.max()
    return (0.0, round_above(most)) if isinstance(most, float) and most > 0 else None


def _percent(share: float | None) -> str:
    return rounded(share, lambda value: units.format_fraction(round(value, 4)))
