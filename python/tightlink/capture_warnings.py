"""What must be read before the tables of a capture, or of a trace of ns-2, are trusted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tightlink import units
from tightlink.lazy import pl

#: Link types of which the headers are read, by the names that the tables give them.
_READ: Final = frozenset(
    {"ethernet", "linux sll", "linux sll2", "ppp", "cisco hdlc", "loop", "null", "raw ip", "raw ipv4", "raw ipv6"}
)
#: Processors that capture side by side write packets out of order, by far less than this; a clock was set.
_CLOCK_SET_S: Final = 1.0
#: So many of such packets, and such a share: what others overtake in the file says nothing of the network.
_DISORDERED_LEAST, _DISORDERED = 10, 0.01
#: Interfaces with clocks of different ticks differ by less than this.
_TICK_S: Final = 1e-6
#: So much of each packet has all options of a SYN, in bytes.
_SNAP_LENGTH: Final = 96
#: Headers of two tunnels within each other have room in so much, where nothing tells how long they are, in bytes.
_TUNNEL_HEADERS: Final = 96
#: Frames that carry others, encrypted or of an unknown kind; and from which share on that is said.
_OPAQUE, _MUCH = ("mpls", "macsec"), 0.1
#: From which share of packets on that some are copies of others is said.
_COPIES: Final = 0.01
#: What rounding may make of a link that was always busy.
_NEARLY: Final = 1e-3


def _damage(facts: Mapping[str, Any], counted: str) -> Iterator[str]:
    damage = facts["damage"]
    if damage is not None:
        where = f"byte {damage['offset']}" + (" of what was unpacked" if facts["compressed"] else "")
        yield f"damaged at {where}: {damage['what']}; the tables hold the {facts['packets']} {counted} before it"


def of_trace(facts: Mapping[str, Any], frames: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """What must be read before the tables of a trace are trusted."""
    yield from _damage(facts, "events")
    if facts["backwards"]:
        yield f"{facts['backwards']} lines are of times before that of the line before them: queues are not exact"
    if facts["binary"]:
        lines = "a line is no text and was" if facts["binary"] == 1 else f"{facts['binary']} lines are no text and were"
        yield f"{lines} skipped: the file is damaged, or what stands there is no trace of ns-2"
    yield from _too_busy(frames["links"])


def _too_busy(links: pl.DataFrame) -> Iterator[str]:
    for name, share in links.filter(links["utilization"] > 1 + _NEARLY).select("link", "utilization").iter_rows():
        said = units.format_fraction(round(share, 4))
        yield f"{name} carried {said} of its rate: it was captured in both directions, or its rate is another"


def of_capture(facts: Mapping[str, Any], interval_ns: int, frames: Mapping[str, pl.DataFrame]) -> Iterator[str]:
    """What must be read before the tables of a capture are trusted; ``interval_ns`` is what was asked for."""
    yield from _damage(facts, "packets")
    if facts["packets"] == 0:
        yield "the capture holds no packets"
    interfaces = frames["interfaces"]
    lost = int(interfaces["capture_drops"].sum())
    if lost:
        yield f"the capture itself lost {lost} packets: gaps in it are not losses of the network"
    for kind in _not_read(interfaces, frames["links"]):
        yield f"headers of {kind} frames are not read: their packets are counted, and are in no flow"
    yield from _unreadable(frames["protocols"])
    yield from _in_no_flow(frames["protocols"])
    yield from _too_little(facts, interfaces, frames["connections"])
    yield from _twice(facts, frames["connections"])
    if facts["backwards_most_s"] >= _CLOCK_SET_S:
        back = units.format_time(float(f"{facts['backwards_most_s']:.3g}"))
        yield f"the clock of the capture went back by {back}: times, durations and rates around that are not right"
    elif _is_disordered(facts, interfaces):
        yield (
            f"{facts['backwards']} of {facts['packets']} packets have an earlier time than the one before them: what "
            "is told of gaps and overtaken packets is of the file; reordercap, of Wireshark, puts them in order"
        )
    if (clock := facts["offsets"]) is not None:
        name = interfaces["link"][clock["interface"]]
        others = "" if clock["count"] == 1 else f", and those of {clock['count'] - 1} others"
        yield (
            f"the clock of {name} is said to be {clock['offset_s']} s off (if_tsoffset), which no clock is{others}: "
            "times are those of the file without that"
        )
    unlisted = facts["connections"] - facts["listed"]
    if unlisted > 0:
        yield (
            f"{unlisted} of {facts['connections']} connections, the smallest, are not listed in flows; "
            "protocols counts them"
        )
    if facts["concluded"]:
        yield (
            f"{facts['concluded']} connections that were quiet longest were concluded to make room; "
            "what came of them later counts as a new one"
        )
    yield from _too_busy(frames["links"])
    if facts["interval_ns"] != interval_ns:
        spacing = units.format_time(facts["interval_ns"] / 10**9)
        yield f"the capture is so long that its series has intervals of {spacing}"


def _twice(facts: Mapping[str, Any], connections: pl.DataFrame) -> Iterator[str]:
    """Packets that the capture has more than once."""
    if facts["copies"] > _COPIES * facts["packets"]:
        yield (
            f"{facts['copies']} of {facts['packets']} packets are copies of others, as captures of several VLANs or "
            "interfaces and mirror ports have: interfaces, protocols and sizes count them, flows of TCP do not"
        )
    other = connections.filter(pl.col("same_packets_as").is_not_null()).unique("connection")
    if not other.is_empty():
        packets = int((other["packets_captured"] + other["acks"]).sum())
        of = "a connection has" if other.height == 1 else f"{other.height} connections have"
        yield (
            f"{of} the same packets as another one, on both sides of an address translation (NAT) or of a tunnel "
            f"(same_packets_as): {packets} packets count twice, in flows and in all totals"
        )


def _too_little(facts: Mapping[str, Any], interfaces: pl.DataFrame, connections: pl.DataFrame) -> Iterator[str]:
    """Packets of which less was kept than their headers need."""
    # Headers of tunnels come before those that are wanted.
    enough = _SNAP_LENGTH + facts["tunnel_header_bytes"]
    if facts["unopened"]:
        of = "a packet of a tunnel" if facts["unopened"] == 1 else f"{facts['unopened']} packets of tunnels"
        kept = f"capture {_SNAP_LENGTH + (facts['tunnel_header_bytes'] or _TUNNEL_HEADERS)} bytes of each or more"
        yield f"too little was kept of {of} to look into them: {kept}"
    if facts["unseen"]:
        kept = f"capture {enough} bytes of each or more"
        yield f"too little was kept of {facts['unseen']} TCP segments to look at them: {kept}"
    yield from _without_options(interfaces, connections, enough)


def _is_disordered(facts: Mapping[str, Any], interfaces: pl.DataFrame) -> bool:
    """Whether many packets come before earlier ones, by more than rounding makes of times of several clocks."""
    rounded = interfaces.height > 1 and facts["backwards_most_s"] < _TICK_S
    return not rounded and facts["backwards"] > max(_DISORDERED_LEAST, _DISORDERED * facts["packets"])


def _in_no_flow(protocols: pl.DataFrame) -> Iterator[str]:
    """Frames that may carry flows, and of which the headers are not known."""
    opaque = pl.col("protocol").is_in(_OPAQUE) | pl.col("protocol").str.starts_with("type 0x")
    for name, share in protocols.filter(opaque & (pl.col("share") >= _MUCH)).select("protocol", "share").iter_rows():
        said = units.format_fraction(round(share, 4))
        yield f"frames of {name}, {said} of all bytes, are not looked into: they are counted, and are in no flow"


def _unreadable(protocols: pl.DataFrame) -> Iterator[str]:
    count = int(protocols.filter(protocols["protocol"] == "unreadable")["packets"].sum())
    if count:
        of = "a packet are" if count == 1 else f"{count} packets are"
        kept = f"capture {_SNAP_LENGTH} bytes of each or more"
        yield f"link or IP headers of {of} cut off or make no sense: counted as unreadable, and in no flow; {kept}"


def _without_options(interfaces: pl.DataFrame, connections: pl.DataFrame, enough: int) -> Iterator[str]:
    """Connections of which the SYN was captured, and its options were cut off."""
    cut = interfaces.filter((pl.col("packets_cut") > 0) & (pl.col("snap_length_bytes") < enough))
    opened = connections.filter(pl.col("mss_bytes").is_null() & pl.col("state").is_in(["complete", "open", "reset"]))
    count = 0 if cut.is_empty() else opened["connection"].n_unique()
    if count:
        of = "a connection" if count == 1 else f"{count} connections"
        yield f"options of SYNs of {of} were cut off, and windows are not known: capture {enough} bytes of each"


def _not_read(interfaces: pl.DataFrame, links: pl.DataFrame) -> list[str]:
    seen = interfaces.filter(links["packets_out"] > 0)["link_type"]
    return [kind for kind in seen.unique(maintain_order=True).to_list() if kind not in _READ]
