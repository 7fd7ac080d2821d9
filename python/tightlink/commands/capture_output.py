"""What ``tightlink capture`` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.console import print_table, print_text, quantity, rounded
from tightlink.numbers import NONE
from tightlink.run import TRACE, Run

if TYPE_CHECKING:
    import polars as pl


#: A capture may hold a hundred thousand flows: those with most bytes are printed.
_MOST_FLOWS: Final = 20

_FLOW: Final = (
    *("transport", "state", "start", "duration", "packets", "goodput", "retransmitted", "RTT median", "RTT max"),
)
_PROTOCOL: Final = ("packets", "bytes", "share", "flows")
_INTERFACE: Final = ("type", "packets", "bytes", "duration", "throughput", "lost by capture")
_TRACED: Final = (
    *("transport", "start", "sent", "dropped", "retransmitted", "throughput", "one-way delay mean", "jitter"),
)
_LINK: Final = ("packets", "bytes", "dropped", "queue mean", "queue max")
_UTILIZATION: Final = "utilization"
#: Headers that go first where a terminal is too narrow.
_DROP: Final = ("transport", "start", "jitter", "packets", "RTT max", "state", "type", "bytes")


def show(run: Run) -> None:
    """What was read, on standard output: of a capture flows, protocols and interfaces, of a trace flows and links."""
    if run.source == TRACE:
        _show_trace(run)
    else:
        _show_capture(run)


def _show_trace(run: Run) -> None:
    flows = run.flows.sort("bytes_sent", descending=True, maintain_order=True).head(_MOST_FLOWS)
    print_table(["flow", *_TRACED], [_traced(row) for row in flows.iter_rows(named=True)], words=(1,), drop=_DROP)
    _others(run, flows)
    print_text()
    known = _known(run)
    print_table(["link", *_LINK, *known], [_link(row, known) for row in run.links.iter_rows(named=True)], drop=_DROP)


def _known(run: Run) -> list[str]:
    """Utilization is shown where the rate of a link is known."""
    return [] if run.links[_UTILIZATION].is_null().all() else [_UTILIZATION]


def _others(run: Run, flows: pl.DataFrame) -> None:
    if flows.height < run.flows.height:
        print_text(f"and {run.flows.height - flows.height} smaller flows (-o DIR keeps all)")


def _show_capture(run: Run) -> None:
    flows = largest(run, _MOST_FLOWS)
    print_table(["flow", *_FLOW], [_flow(row) for row in flows.iter_rows(named=True)], words=(1, 2), drop=_DROP)
    _others(run, flows)
    print_text()
    print_table(["protocol", *_PROTOCOL], [_protocol(row) for row in run.table("protocols").iter_rows(named=True)])
    print_text()
    both = run.links.join(run.table("interfaces"), on="link", maintain_order="left")
    known = _known(run)
    rows = [_interface(row, known) for row in both.iter_rows(named=True)]
    print_table(["interface", *_INTERFACE, *known], rows, words=(1,), drop=_DROP)


def largest(run: Run, most: int) -> pl.DataFrame:
    """The flows with most bytes, the largest first, with what is known of their connections."""
    flows = run.flows.sort("bytes_sent", descending=True, maintain_order=True).head(most)
    connections = run.table("connections").drop("label")
    # Of what both have, a capture fills that of its connections.
    double = set(flows.columns) & set(connections.columns) - {"flow"}
    return flows.drop(double).join(connections, on="flow", how="left", maintain_order="left")


def _flow(row: dict[str, Any]) -> list[str]:
    lasts = None if row["stop_s"] is None else row["stop_s"] - row["start_s"]
    return [
        row["label"],
        row["transport"],
        row["state"] or NONE,
        rounded(row["start_s"], units.format_time),
        rounded(lasts, units.format_time),
        str(row["packets_sent"]),
        rounded(row["goodput_bps"], units.format_rate),
        NONE if row["packets_retransmitted"] is None else str(row["packets_retransmitted"]),
        rounded(row["rtt_median_s"], units.format_time),
        rounded(row["rtt_max_s"], units.format_time),
    ]


def _protocol(row: dict[str, Any]) -> list[str]:
    share = rounded(row["share"], lambda value: units.format_fraction(round(value, 4)))
    return [row["protocol"], str(row["packets"]), str(row["bytes"]), share, str(row["flows"])]


def _interface(row: dict[str, Any], known: list[str]) -> list[str]:
    return [
        row["link"],
        row["link_type"],
        str(row["packets_out"]),
        str(row["bytes_out"]),
        rounded(row["duration_s"], units.format_time),
        rounded(row["throughput_bps"], units.format_rate),
        NONE if row["capture_drops"] is None else str(row["capture_drops"]),
        *(quantity(name, row[name]) for name in known),
    ]


def _traced(row: dict[str, Any]) -> list[str]:
    return [
        row["label"],
        row["transport"],
        rounded(row["start_s"], units.format_time),
        str(row["packets_sent"]),
        str(row["packets_dropped"]),
        NONE if row["packets_retransmitted"] is None else str(row["packets_retransmitted"]),
        rounded(row["throughput_bps"], units.format_rate),
        rounded(row["one_way_delay_mean_s"], units.format_time),
        rounded(row["jitter_mean_s"], units.format_time),
    ]


def _link(row: dict[str, Any], known: list[str]) -> list[str]:
    return [
        row["link"],
        str(row["packets_in"]),
        str(row["bytes_out"]),
        str(row["packets_dropped"]),
        rounded(row["queue_mean_packets"], lambda value: f"{value:.4g}"),
        str(row["queue_max_packets"]),
        *(quantity(name, row[name]) for name in known),
    ]
