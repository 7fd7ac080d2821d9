"""The tables of a run: their columns, in order, with what each measures.

Simulated, measured and captured runs all have these tables. `goodput` counts payload, `throughput`
bytes on the wire; every `bytes_*` counts IP packets with their headers, without the link's framing.

Example:
    >>> [column.name for column in TABLES["series"]]
    ['time_s', 'entity', 'metric', 'value']
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal

from tightlink.lazy import pl

Type = Literal["text", "integer", "number"]

#: What a table says of delays: end of the column's name, words, and the share that does not exceed it.
DELAY_STATISTICS: Final = {
    "mean": ("mean", None),
    "p50": ("median", 0.5),
    "p95": ("95th percentile", 0.95),
    "p99": ("99th percentile", 0.99),
    "max": ("largest", 1.0),
}
#: Columns with the name that they had before; the old one goes with the next release.
RENAMED: Final = {"latency_mean_s": "one_way_delay_mean_s", "latency_max_s": "one_way_delay_max_s"}


@dataclass(frozen=True)
class Column:
    """A column: its name with the unit at the end, its type, and what it holds."""

    name: str
    type: Type
    help: str


#: What is shown of the totals of a run, by its header; without what the run's tables lack.
TOTALS: Final[dict[str, dict[str, str]]] = {
    "flows": {
        "completion": "completion_s",
        "goodput": "goodput_bps",
        "sent": "packets_sent",
        "dropped": "packets_dropped",
        "retransmitted": "packets_retransmitted",
        "one-way delay mean": "one_way_delay_mean_s",
        "one-way delay p95": "one_way_delay_p95_s",
        "jitter": "jitter_mean_s",
    },
    "links": {
        "utilization": "utilization",
        "packets": "packets_in",
        "dropped": "packets_dropped",
        "queue mean": "queue_mean_packets",
        "queue max": "queue_max_packets",
        "queueing delay mean": "queueing_delay_mean_s",
        "queueing delay p95": "queueing_delay_p95_s",
    },
    "nodes": {
        "load": "load_true",
        "reported": "load_reported",
        "served": "packets_served",
        "dropped at input ring": "dropped_input_ring",
        "at output ring": "dropped_output_ring",
    },
}


def _statistics(name: str, unit: str, of: str) -> list[tuple[str, Type, str]]:
    """The columns of a distribution."""
    return [(f"{name}_{key}{unit}", "number", f"{word} of {of}") for key, (word, _) in DELAY_STATISTICS.items()]


def _delays(name: str, of: str) -> list[tuple[str, Type, str]]:
    """The columns of a delay."""
    return _statistics(name, "_s", of)


def _old(*names: str) -> list[tuple[str, Type, str]]:
    """The columns that keep a name that is old."""
    return [(name, "number", f"old name of {RENAMED[name]}; goes with the next release") for name in names]


def _columns(*columns: tuple[str, Type, str]) -> tuple[Column, ...]:
    return tuple(Column(*column) for column in columns)


TABLES: Final[dict[str, tuple[Column, ...]]] = {
    "flows": _columns(
        ("flow", "integer", "number of the flow, in the order of the scenario"),
        ("label", "text", "name of the flow, such as ftp or bulk[17]"),
        ("from", "text", "sending node; of a group that of its first flow"),
        ("to", "text", "receiving node; of a group that of its first flow"),
        ("transport", "text", "tcp or udp; in captures other protocols too"),
        ("congestion", "text", "congestion control; empty for udp"),
        ("start_s", "number", "when the application starts"),
        ("stop_s", "number", "when the application stops"),
        ("packets_sent", "integer", "packets offered to the first link, SYN and retransmissions included"),
        ("packets_delivered", "integer", "data packets that reached the destination"),
        ("packets_dropped", "integer", "packets of the flow lost at queues, at rings and on wires"),
        ("packets_retransmitted", "integer", "packets retransmitted"),
        ("packets_marked", "integer", "data packets that arrived with a congestion mark (RFC 3168)"),
        ("timeouts", "integer", "expiries of the retransmission timer"),
        ("bytes_sent", "integer", "bytes offered to the first link, headers included"),
        ("bytes_delivered", "integer", "bytes that reached the destination, headers included"),
        ("goodput_bps", "number", "payload delivered in order / (stop, or its last arrival - start)"),
        ("throughput_bps", "number", "bytes delivered / the same time"),
        *_delays("one_way_delay", "the times from the offer at the source to the arrival, data packets"),
        *_delays(
            "queueing_delay",
            "the parts of these spent in queues; over changing delays the mean alone",
        ),
        ("jitter_mean_s", "number", "mean absolute difference of successive one-way delays"),
        *_delays("rtt", "the transport's samples of the round-trip time"),
        ("limited_by_handshake", "number", "share of the time not connected yet"),
        ("limited_by_application", "number", "share of the time with nothing to send"),
        ("limited_by_receiver_window", "number", "share of the time limited by the receiver's window"),
        (
            "limited_by_network",
            "number",
            "share of the time at a window, the pacing timer or the interface while a hop of the path was saturated",
        ),
        ("limited_by_pacing", "number", "share of the time waiting for the next paced packet"),
        ("limited_by_sender_rate", "number", "share of the time limited by what the sender's interface takes"),
        ("limited_by_congestion_window", "number", "share of the time limited by the congestion window"),
        ("jitter_rfc3550_s", "number", "interarrival jitter of RFC 3550 at the end, datagrams"),
        ("loss_runs", "number", "runs of datagrams lost in a row, as the receiver sees them"),
        ("loss_run_mean_packets", "number", "mean length of these runs"),
        ("loss_run_max_packets", "number", "length of the longest run"),
        ("frames_sent", "number", "frames of a video sent"),
        ("frames_complete", "number", "frames of which every packet arrived"),
        *_old("latency_mean_s", "latency_max_s"),
    ),
    "links": _columns(
        ("link", "text", "name of the link; the other direction is NAME.reverse"),
        ("from", "text", "node that transmits"),
        ("to", "text", "node that receives"),
        ("packets_in", "integer", "packets that arrived at the queue"),
        ("packets_out", "integer", "packets transmitted"),
        ("packets_dropped", "integer", "packets lost at the queue and on the wire"),
        ("packets_lost", "integer", "packets lost on the wire"),
        ("packets_marked", "integer", "packets that the queue marked instead of dropping them"),
        ("bytes_out", "integer", "bytes transmitted, without the link's framing"),
        (
            "utilization",
            "number",
            "share of the time in which it transmitted; of what it could send, where its rate changes or is shaped",
        ),
        ("queue_mean_packets", "number", "mean number of packets waiting, without the one that is transmitted"),
        ("queue_max_packets", "integer", "largest number of packets waiting"),
        *_delays("queueing_delay", "the times that packets waited until their transmission began"),
    ),
    "nodes": _columns(
        ("node", "text", "name of the node"),
        ("packets_in", "integer", "packets offered to its processor; without one, packets that arrived"),
        ("packets_served", "integer", "packets that its processor served; without one, all"),
        ("dropped_input_ring", "integer", "packets lost at a full input ring"),
        ("dropped_output_ring", "integer", "packets lost at a full output ring"),
        ("load_true", "number", "processor time asked for / duration, refused packets included; can exceed 1"),
        ("load_reported", "number", "load as its own meter reports it at the end"),
    ),
    "series": _columns(
        ("time_s", "number", "when the sample was taken"),
        ("entity", "text", "link, node or flow"),
        ("metric", "text", "what was sampled"),
        ("value", "number", "the sample"),
    ),
    "delays": _columns(
        ("entity", "text", "flow or link"),
        ("delay", "text", "one_way_delay, queueing_delay or rtt, as in flows and links"),
        ("at_most_s", "number", "a delay; rows of an entity and a delay go from the shortest to the longest"),
        (
            "packets",
            "integer",
            "packets that took longer than the row before says and at most so long; of rtt, samples",
        ),
    ),
    "users": _columns(
        ("time_s", "number", "end of the interval"),
        ("label", "text", "name of the users"),
        ("sources_transmitting", "integer", "sources that were transmitting at that time"),
        ("sources_connecting", "integer", "sources that were connecting"),
        ("sources_thinking", "integer", "sources that were thinking"),
        ("packets_sent", "integer", "data packets offered to the network in the interval, retransmissions included"),
        ("packets_delivered", "integer", "data packets that reached a receiver in the interval"),
        ("transfers_completed", "integer", "transfers that were completed in the interval"),
        ("connections_failed", "integer", "connections that were given up after the last SYN"),
        ("transfers_abandoned", "integer", "transfers that were given up by their users"),
        ("packets_retransmitted", "integer", "packets retransmitted"),
        ("window_increases", "integer", "increases of congestion windows"),
        ("duplicate_acks", "integer", "duplicate ACKs that sources received"),
        ("timeouts", "integer", "expiries of retransmission timers"),
        ("cwnd_mean_packets", "number", "mean congestion window of the sources that were transmitting at that time"),
        ("rtt_mean_s", "number", "mean of the samples of the round-trip time in the interval"),
        (
            "queueing_delay_mean_s",
            "number",
            "mean of these samples less the propagation and the transmission on their paths",
        ),
    ),
    "user_paths": _columns(
        ("time_s", "number", "end of the interval"),
        ("label", "text", "name of the users"),
        ("path", "text", "classes of the two routers, in either direction, such as direct-fast"),
        ("sources_transmitting", "integer", "sources that were transmitting on such paths at that time"),
        ("packets_delivered", "integer", "data packets that reached a receiver in the interval"),
    ),
    "transfers": _columns(
        ("label", "text", "name of the users"),
        ("period", "text", "period in which the transfers were completed; empty between periods"),
        ("file", "text", "kind of file; crowd for those of a crowd"),
        ("path", "text", "classes of the two routers"),
        ("interface", "text", "the slower interface of the two hosts"),
        ("congestion", "text", "congestion control"),
        ("completed", "integer", "transfers"),
        ("packets", "integer", "packets that they were, without retransmissions"),
        ("seconds", "number", "sum of the times that they took from when they were connected to the last ACK"),
        ("throughput_mean_pps", "number", "mean over the transfers of their packets per second"),
        ("packets_retransmitted", "integer", "packets retransmitted"),
    ),
    "completions": _columns(
        ("label", "text", "name of the transfers"),
        ("transfer", "integer", "number of the transfer within them, of open-loop ones in the order of arrival"),
        ("from", "text", "sending node"),
        ("to", "text", "receiving node"),
        ("bytes", "integer", "application bytes"),
        ("start_s", "number", "when it arrived, or started"),
        (
            "completion_s",
            "number",
            "from there until its last byte had arrived in order; nothing where it had not at the end",
        ),
        (
            "ideal_s",
            "number",
            "the same on an empty path: a round trip to connect, then bytes / narrowest rate, one way",
        ),
        ("slowdown", "number", "completion / ideal"),
        ("packets_retransmitted", "integer", "packets retransmitted"),
        ("timeouts", "integer", "expiries of the retransmission timer"),
    ),
    "completion_times": _columns(
        ("label", "text", "name of the transfers"),
        ("size_class", "text", "their sizes, such as up to 10 kB; all: of any size"),
        ("transfers", "integer", "transfers that arrived"),
        ("unfinished", "integer", "not complete at the end: in no mean, and above all percentiles that are there"),
        *_statistics("completion", "_s", "the times from the arrival, or the start, to the last byte at the receiver"),
        *_statistics("slowdown", "", "these times over those on an empty path"),
    ),
    "long_lived": _columns(
        ("time_s", "number", "end of the interval"),
        ("label", "text", "name of the users"),
        ("flow", "text", "name of the transfer without end"),
        ("packets_delivered", "integer", "data packets that reached its receiver in the interval"),
    ),
    "scatter": _columns(
        ("time_s", "number", "end of the interval"),
        ("label", "text", "name of the traffic"),
        ("packets_sent", "integer", "datagrams sent in the interval"),
        ("packets_delivered", "integer", "datagrams that arrived"),
        ("packets_dropped", "integer", "datagrams lost"),
        ("packets_in_network", "integer", "datagrams on their way at the end of the interval"),
        ("one_way_delay_mean_s", "number", "mean time from source to destination of those that arrived"),
        ("hops_mean", "number", "mean number of links that they took"),
        *_old("latency_mean_s"),
    ),
    "packets": _columns(
        ("event", "text", "+ enqueued, - first in line, r received, d dropped"),
        ("time_s", "number", "when"),
        ("from", "text", "node at which the link begins"),
        ("to", "text", "node at which the link ends"),
        ("type", "text", "kind of packet, such as tcp or ack"),
        ("size_bytes", "integer", "size with headers, without the link's framing"),
        ("flow", "integer", "number of the flow"),
        ("seq", "integer", "sequence number, in packets"),
        ("uid", "integer", "number of the packet, unique in the run"),
        ("reason", "text", "why it was dropped: queue, wire, input ring, output ring, queue management or host"),
    ),
    "deliveries": _columns(
        ("uid", "integer", "number of the packet, as in packets"),
        ("from", "text", "node at which its last link begins"),
        ("to", "text", "node at which that link ends"),
        ("due_s", "number", "when it should have been handed to the host"),
        ("time_s", "number", "when it was"),
        ("late_s", "number", "how much later that was"),
    ),
    "connections": _columns(
        ("flow", "integer", "number of the flow"),
        ("connection", "integer", "number of the connection, of which a flow is one direction"),
        ("label", "text", "name of the flow, ADDRESS:PORT-ADDRESS:PORT"),
        ("state", "text", "complete, reset, open, refused, unanswered, or partial if its beginning was not captured"),
        ("packets_captured", "integer", "all packets of this direction, bare ACKs included"),
        ("bytes_captured", "integer", "their bytes, IP headers included"),
        ("data_packets", "integer", "packets with payload"),
        ("payload_bytes", "integer", "their payload, what was retransmitted included"),
        ("delivered_bytes", "integer", "payload that was acknowledged; where no ACK was captured, payload seen"),
        ("retransmitted_bytes", "integer", "payload of packets_retransmitted, in the table flows"),
        ("retransmissions", "integer", "segments retransmitted, neither fast nor spurious"),
        ("fast_retransmissions", "integer", "segments retransmitted soon after two duplicate ACKs or more"),
        ("spurious_retransmissions", "integer", "segments retransmitted that had been acknowledged"),
        ("out_of_order", "integer", "segments that others overtook"),
        ("lost_segments", "integer", "gaps before a segment: the one before it was not captured"),
        ("window_full", "integer", "segments that fill the receiver's window"),
        ("keep_alives", "integer", "segments that keep the connection alive"),
        (
            "window_reductions",
            "integer",
            (
                "segments that say that the window was reduced for marks (CWR, RFC 3168); with accurate ECN, round "
                "trips in which the receiver counted marks (ACE, RFC 9768)"
            ),
        ),
        ("acks", "integer", "all packets of the other direction, which acknowledge this one"),
        ("duplicate_acks", "integer", "those of them that say nothing new"),
        ("acked_unseen", "integer", "those of them that acknowledge what was not captured"),
        ("zero_windows", "integer", "those of them that close the receiver's window"),
        ("window_updates", "integer", "those of them that tell of another window only"),
        ("window_max_bytes", "integer", "largest window that the receiver told"),
        ("in_flight_max_bytes", "integer", "most that was sent beyond the last ACK"),
        ("initial_rtt_s", "number", "from the SYN to the ACK that completes the handshake"),
        (
            "handshake_behind_s",
            "number",
            "part of initial_rtt_s behind the capture point: from the SYN to its answer, or from that to the ACK",
        ),
        ("rtt_samples", "integer", "ACKs that end a round trip"),
        ("rtt_mean_s", "number", "mean time from a segment to its ACK, from the first time that it was sent"),
        ("rtt_min_s", "number", "shortest of these times"),
        ("rtt_median_s", "number", "median of these times, within 1 %"),
        ("rtt_p95_s", "number", "time that 95 % of them do not exceed, within 1 %"),
        ("rtt_max_s", "number", "longest of these times"),
        (
            "rtt_prompt_p95_s",
            "number",
            "the same of those of which the ACK cannot have waited for another segment",
        ),
        ("rtt_echoed_min_s", "number", "shortest time from a timestamp of the receiver to the data that echo it"),
        ("rtt_echoed_median_s", "number", "median of these times"),
        ("rtt_echoed_p95_s", "number", "time that 95 % of them do not exceed"),
        ("idle_s", "number", "time with nothing in flight before the sender sent more: it had nothing to send"),
        ("idle_beyond_rtt_s", "number", "the same, less the path's round trip for each pause, as a receiver sees it"),
        (
            "window_limited_s",
            "number",
            "time in which the receiver's window had no room for a segment, to the last packet",
        ),
        ("mss_bytes", "integer", "largest segment that the receiver takes, as its SYN says"),
        ("options", "text", "what both ends agreed on: sack, timestamps, ecn, the factor of the receiver's window"),
    ),
    "interfaces": _columns(
        ("link", "text", "name of the interface"),
        ("link_type", "text", "what its frames begin with, such as ethernet"),
        ("start_s", "number", "time of its first packet"),
        ("duration_s", "number", "from its first packet to its last"),
        ("frame_bytes", "integer", "bytes on the wire, link headers included"),
        ("throughput_bps", "number", "bytes without link headers / duration"),
        ("rate_bps", "number", "capacity of the link, as --rate or the file says"),
        ("snap_length_bytes", "integer", "bytes kept of each frame at most"),
        ("packets_cut", "integer", "packets of which only the beginning was kept"),
        ("capture_drops", "integer", "packets that the capture lost, as the file says"),
    ),
    "protocols": _columns(
        ("protocol", "text", "tcp, udp or another protocol by name"),
        ("packets", "integer", "packets"),
        ("bytes", "integer", "bytes, IP headers included; of what is not IP, bytes of frames"),
        ("share", "number", "share of all bytes"),
        ("flows", "integer", "flows, those included that are not listed"),
    ),
    "packet_sizes": _columns(
        ("protocol", "text", "tcp, udp or another protocol by name"),
        ("size_bytes", "integer", "size of a packet, IP headers included"),
        ("packets", "integer", "packets of that size"),
    ),
    "tunnels": _columns(
        ("tunnel", "text", "its kind, and what tells it from others: identifier, key, ends; the tunnel that it is in"),
        ("packets", "integer", "packets within it that are in flows or could be"),
        ("bytes", "integer", "their bytes with the headers of tunnels, the outer IP header included"),
        ("header_bytes", "integer", "bytes of these headers alone, up to the inner IP header"),
    ),
    "findings": _columns(
        ("uid", "integer", "number of the packet in the file, from 1 on"),
        ("time_s", "number", "when it was captured"),
        ("flow", "integer", "number of the flow"),
        ("finding", "text", "what was found of it, such as retransmission"),
    ),
}

_OF_CAPTURES: Final = "only captures have it"
_NO_TRANSFERS: Final = 'its scenario has no traffic of kind "transfers", and no "bulk" with bytes'
_NO_USERS: Final = 'its scenario has no traffic of kind "users"'
#: How to get a table that a run does not have.
HOW_TO: Final = {
    "flows": 'set observe.flows to "each" or "group"; users and scatter have no flows',
    "nodes": "users and scatter pass their routers uncounted",
    **dict.fromkeys(("users", "user_paths", "transfers", "long_lived"), _NO_USERS),
    **dict.fromkeys(("completions", "completion_times"), _NO_TRANSFERS),
    "scatter": 'its scenario has no traffic of kind "scatter"',
    "series": 'set observe.interval, such as observe.interval = "100 ms"',
    "delays": "set observe.delays = true",
    "deliveries": "only an emulated link has it: tightlink emulate",
    "packets": "simulate with trace=True, or --trace; of a capture, packets=True, or --packets",
    **dict.fromkeys(("connections", "interfaces", "protocols", "packet_sizes"), _OF_CAPTURES),
    "tunnels": f"{_OF_CAPTURES}, where packets came through tunnels",
    "findings": f"{_OF_CAPTURES}, with packets=True, or --packets",
}

#: Tables that a capture and a trace may have, if they were read for them.
CAPTURED: Final = {"capture": frozenset({"packets", "findings"}), "trace": frozenset({"packets"})}

#: Columns of tables over time that say what is at the end of an interval, not what happened in it.
_STATES: Final = frozenset({"sources_transmitting", "sources_connecting", "sources_thinking", "packets_in_network"})
#: Columns that identify a row rather than measure something.
_IDENTITY: Final = frozenset({"flow", "label", "from", "to", "transport", "congestion", "link", "node", "time_s"})


def schema(table: str) -> dict[str, Any]:
    """The columns of a table, with the types that they have in polars frames.

    >>> schema("series")
    {'time_s': Float64, 'entity': String, 'metric': String, 'value': Float64}
    """
    types = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64}
    return {column.name: types[column.type] for column in TABLES[table]}


def counted(table: str) -> list[str]:
    """The columns of a table over time that add up over intervals.

    >>> counted("scatter")
    ['packets_sent', 'packets_delivered', 'packets_dropped']
    """
    return [column.name for column in TABLES[table] if column.type == "integer" and column.name not in _STATES]


def measured(table: str) -> list[str]:
    """The columns of a table over time that are means or states, of which a mean over time can be taken.

    >>> measured("scatter")
    ['packets_in_network', 'one_way_delay_mean_s', 'hops_mean']
    """
    names = {"time_s", *counted(table)}
    names |= RENAMED.keys()
    return [column.name for column in TABLES[table] if column.type != "text" and column.name not in names]


def metrics() -> list[tuple[str, str]]:
    """What can be compared between runs: TABLE.COLUMN with a line of help each.

    >>> ("flows.goodput_bps", "payload delivered in order / (stop, or its last arrival - start)") in metrics()
    True
    """
    return [
        (f"{table}.{column.name}", column.help)
        for table in ("flows", "links", "nodes", "users", "scatter")
        for column in TABLES[table]
        if column.name not in _IDENTITY and column.name not in RENAMED
    ]
