"""The command ``tightlink capture``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tightlink.capture import capture as read
from tightlink.commands.options import JsonOf, Output
from tightlink.commands.run_output import check_shown, described, write_shown
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_rows, print_text, print_why, say, warned, watching
from tightlink.errors import ScenarioError
from tightlink.lazy import pl
from tightlink.numbers import NONE
from tightlink.run import TRACE, Run

#: Tables that are printed as JSON: those of which the rows are few.
_PRINTED: Final = ("flows", "connections", "quic", "links", "interfaces", "protocols", "tunnels")
#: A capture may hold a hundred thousand flows: those with most bytes are printed.
_MOST_FLOWS: Final = 20

_FLOW: Final = {
    "transport": "transport",
    "state": "state",
    "start": "start_s",
    "duration": "lasts_s",
    "packets": "packets_sent",
    "goodput": "goodput_bps",
    "retransmitted": "packets_retransmitted",
    "RTT median": "rtt_median_s",
    "RTT max": "rtt_max_s",
}
_PROTOCOL: Final = {"packets": "packets", "bytes": "bytes", "share": "share", "flows": "flows"}
_TUNNEL: Final = {"packets": "packets", "bytes": "bytes", "headers": "header_bytes"}
_INTERFACE: Final = {
    "type": "link_type",
    "packets": "packets_out",
    "bytes": "bytes_out",
    "duration": "duration_s",
    "throughput": "throughput_bps",
    "lost by capture": "capture_drops",
    "utilization": "utilization",
}
_TRACED: Final = {
    "transport": "transport",
    "start": "start_s",
    "sent": "packets_sent",
    "dropped": "packets_dropped",
    "retransmitted": "packets_retransmitted",
    "throughput": "throughput_bps",
    "one-way delay mean": "one_way_delay_mean_s",
    "jitter": "jitter_mean_s",
}
_LINK: Final = {
    "packets": "packets_in",
    "bytes": "bytes_out",
    "dropped": "packets_dropped",
    "queue mean": "queue_mean_packets",
    "queue max": "queue_max_packets",
    "utilization": "utilization",
}
#: What tables of TCP and of QUIC have under one name.
_OF_BOTH: Final = ("connection", "state", "initial_rtt_s", "rtt_mean_s", "rtt_median_s", "rtt_p95_s", "rtt_max_s")
#: Headers that go first where a terminal is too narrow.
_DROP: Final = ("transport", "start", "jitter", "packets", "RTT max", "state", "type", "bytes")


@with_table_options
def capture(
    file: Annotated[Path, Parameter(allow_leading_hyphen=True)],
    *,
    output: Output = None,
    interval: str = "1 s",
    rate: str | None = None,
    connections: int | None = None,
    packets: Annotated[bool, Parameter(negative="")] = False,
    only: str | None = None,
    report: Path | None = None,
    json_: JsonOf = False,
) -> int:
    """Read a capture (pcap or pcapng) and print its flows, protocols and interfaces; or a trace of ns-2.

    Args:
        file: The capture or the trace, compressed (gzip, bzip2, xz, zstd) or not; - is standard input.
        output: Folder to write the tables to; without it nothing is written.
        interval: Interval at which rates and losses are sampled, such as "100 ms".
        rate: Capacity of each link that was captured, such as "1 Gbit/s", for their utilization (default: what a pcapng
            file says).
        connections: Connections to list at most, the largest; half as many are followed at a time, and each takes about
            2 KB of memory (default: 262144).
        packets: Keep a row for every packet, and what was found of it; needs --output.
        only: Packets to read: of an address such as 10.0.0.1, a port such as :443, or a flow by its name and what comes
            back.
        report: File to write the report to, one HTML file.
        json_: Print manifest, flows, connections, quic, links, interfaces, protocols and tunnels as JSON; of a trace
            flows and links.
    """
    if packets and output is None:
        raise ScenarioError("--output beside it: they are written, not printed", key="--packets", value=True)
    check_shown(report, None)
    with watching(f"reading {file}") as watch:
        run = read(file, interval=interval, rate=rate, connections=connections, packets=packets, only=only, watch=watch)
    if output is not None:
        run.save(output)
        say(f"wrote {output}")
    write_shown(run, report, None)
    if json_:
        print_json(described(run, _PRINTED))
    else:
        print_why(run.why())
        _show(run)
    return warned(run.warnings)


def _show(run: Run) -> None:
    """What was read, on standard output: of a capture flows, protocols and interfaces, of a trace flows and links."""
    if run.source == TRACE:
        _show_trace(run)
    else:
        _show_capture(run)


def _show_trace(run: Run) -> None:
    flows = run.flows.sort("bytes_sent", descending=True, maintain_order=True).head(_MOST_FLOWS)
    print_rows("flow", "label", _TRACED, flows.to_dicts(), drop=_DROP)
    _others(run, flows)
    print_text()
    print_rows("link", "link", _LINK, _known(run.links), drop=_DROP)


def _known(links: pl.DataFrame) -> list[dict[str, Any]]:
    """Links, with their utilization where the rate of one is known."""
    return links.drop("utilization" if links["utilization"].is_null().all() else []).to_dicts()


def _others(run: Run, flows: pl.DataFrame) -> None:
    if flows.height < run.flows.height:
        print_text(f"and {run.flows.height - flows.height} smaller flows (-o DIR keeps all)")


def _show_capture(run: Run) -> None:
    flows = _largest(run, _MOST_FLOWS)
    shown = flows.with_columns(
        pl.col("state").replace("", NONE).fill_null(NONE),
        lasts_s=pl.col("stop_s") - pl.col("start_s"),
        # As the diagnosis above has it: of a sender's samples, without waits for what was missing.
        rtt_median_s=pl.coalesce("rtt_p50_s", "rtt_median_s"),
    )
    print_rows("flow", "label", _FLOW, shown.to_dicts(), drop=_DROP)
    _others(run, flows)
    print_text()
    print_rows("protocol", "protocol", _PROTOCOL, run.table("protocols").to_dicts())
    print_text()
    if "tunnels" in run.tables:
        tunnels = run.table("tunnels").sort("bytes", descending=True, maintain_order=True)
        print_rows("tunnel", "tunnel", _TUNNEL, tunnels.head(_MOST_FLOWS).to_dicts(), drop=_DROP)
        if tunnels.height > _MOST_FLOWS:
            print_text(f"and {tunnels.height - _MOST_FLOWS} smaller tunnels (-o DIR keeps all)")
        print_text()
    both = run.links.join(run.table("interfaces"), on="link", maintain_order="left")
    most = both
    if both.height > _MOST_FLOWS:
        largest_first = both.sort("bytes_out", descending=True, maintain_order=True)
        most = largest_first.filter(pl.col("packets_out") > 0).head(_MOST_FLOWS)
    print_rows("interface", "link", _INTERFACE, _known(most), drop=_DROP)
    if most.height < both.height:
        print_text(f"and {both.height - most.height} interfaces with less or no traffic (-o DIR keeps all)")


def _largest(run: Run, most: int) -> pl.DataFrame:
    """The flows with most bytes, the largest first, with what is known of their connections."""
    flows = run.flows.sort("bytes_sent", descending=True, maintain_order=True).head(most)
    connections = run.table("connections").drop("label")
    # Of what both have, a capture fills that of its connections.
    double = set(flows.columns) & set(connections.columns) - {"flow"}
    found = flows.drop(double).join(connections, on="flow", how="left", maintain_order="left")
    if "quic" not in run.tables:
        return found
    of_quic = run.table("quic").drop("label").select("flow", pl.exclude("flow").name.suffix("_of_quic"))
    return found.join(of_quic, on="flow", how="left", maintain_order="left").with_columns(
        pl.coalesce(pl.col(name), pl.col(f"{name}_of_quic")).alias(name) for name in _OF_BOTH
    )
