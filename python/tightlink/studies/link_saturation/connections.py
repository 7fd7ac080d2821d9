"""TCP: the same sweep over one connection, and the fundamental diagram over the number of connections.

Gábor and Csabai: The analogies of highway and computer network traffic, Physica A 307 (reference 21 of the
document) take the number of TCP connections between two hosts for the density of traffic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import units
from tightlink.experiment.claims import Claim, holds_if
from tightlink.experiment.execute import Task
from tightlink.report import Chart, Row, Section, Text, charts
from tightlink.scenario import Bulk, Link, Scenario, Starts, Tcp
from tightlink.studies.link_saturation.document import DOCUMENT
from tightlink.studies.link_saturation.interface import FAST_ETHERNET, NIC, RECEIVER, SENDER, Wire, nodes
from tightlink.studies.link_saturation.measures import least, most
from tightlink.studies.link_saturation.sweeps import MAIN, TCP_BOTH, TCP_OUT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.saturation import Saturation
    from tightlink.run import Run

_MBIT: Final = 1e6
_PERCENT: Final = 100
DENSITIES: Final = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64)
_DURATION_S: Final = 10.0
#: One way: far enough that one connection with a small window does not fill the link.
_DELAY: Final = "10 ms"
#: Windows XP's default, 17,520 B of 1460.
_XP_WINDOW: Final = "12 packets"
_OPEN: Final = "10000 packets"
#: Proportional, and constant: within this share.
_NEAR: Final = 0.05


@dataclass(frozen=True)
class Density:
    """Connections over one bottleneck."""

    name: str
    payload: int
    window: str
    router: bool = False
    """Whether the bottleneck is behind a router, whose queue drops, or the sender's own link, which pushes back."""

    def key(self, flows: int) -> str:
        """The name of a run."""
        return f"density/{self.name}/{flows}"

    def scenario(self, flows: int) -> Scenario:
        """Connections that start a millisecond apart and send all the time."""
        far = ("router", RECEIVER) if self.router else (SENDER, RECEIVER)
        base = FAST_ETHERNET.link(far)
        links: dict[str, Link] = {"far": base.model_copy(update={"delay": _DELAY})}
        if self.router:
            links["near"] = Wire("1 Gbit/s").link((SENDER, "router"))
        bulk = Bulk(
            from_=SENDER,
            to=RECEIVER,
            flows=flows,
            start=Starts(every="1 ms"),
            tcp=Tcp(payload=f"{self.payload} B", window=self.window),
        )
        own = {} if self.router else nodes(NIC)
        return Scenario(duration=units.format_time(_DURATION_S), link=links, node=own, traffic={"tcp": bulk})


LARGE: Final = Density("1448 B, link", 1448, _XP_WINDOW)
SMALL: Final = Density("100 B, interface", 100, _XP_WINDOW)
LOSSY: Final = Density("1448 B, router", 1448, _OPEN, router=True)
KINDS: Final = (LARGE, SMALL, LOSSY)


def tasks() -> list[Task]:
    """Every number of connections, three times."""
    return [Task(kind.key(flows), kind.scenario(flows)) for kind in KINDS for flows in DENSITIES]


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Flow over density: packets/s, goodput, and how many packets were dropped."""
    rows = []
    for kind in KINDS:
        for flows in DENSITIES:
            own = runs[kind.key(flows)].flows
            packets = float(own["packets_delivered"].sum()) / _DURATION_S
            rows.append(
                {
                    "bottleneck": kind.name,
                    "connections": flows,
                    "packets_per_s": packets,
                    "each_packets_per_s": packets / flows,
                    "goodput_bps": float(own["goodput_bps"].sum()),
                    "dropped": int(own["packets_dropped"].sum()),
                }
            )
    return pl.DataFrame(rows)


def claims(runs: Mapping[str, Run], found: Mapping[str, Saturation]) -> Iterator[Claim]:
    """What the document says of TCP, and cites of its fundamental diagram.

    Args:
        runs: Of the study.
        found: What was found in the sweeps over TCP, by their names, in frames.
    """
    udp = MAIN.table(runs).select("datagram_bytes", udp="goodput_bps")
    both = TCP_OUT.table(runs).join(udp, on="datagram_bytes")
    share = both["goodput_bps"] / both["udp"]
    yield holds_if(
        "tcp.lower", "TCP delivers lower throughput than UDP", f"{DOCUMENT}, section 3",
        f"{_PERCENT * (1 - most(share)):.1f} to {_PERCENT * (1 - least(share)):.1f} % "
        "less",
        bool((share < 1).all()),
        "Goodput at equal payloads. Not congestion control makes the difference here, but headers: 24 B more in each "
        "packet. Nothing is lost, as the interface pushes back.",
    )  # fmt: skip
    acks, out = (found[sweep.name].better.critical_bytes.value for sweep in (TCP_BOTH, TCP_OUT))
    yield holds_if(
        "tcp.acks", "TCP's acknowledgements cost throughput of their own", f"{DOCUMENT}, section 3",
        f"{out:.0f} B, {acks:.0f} B", acks > out,
        "Critical frames: if only sending costs, and if arrivals cost as much. The document names the handshake, ACKs "
        "and congestion control without telling them apart. Every second packet "
        "brings an ACK, which costs the sender's processor as much as a packet of its own where it takes arrivals, "
        "too.",
    )  # fmt: skip
    yield from _density(table(runs))


def _density(frame: pl.DataFrame) -> Iterator[Claim]:
    place = f"{DOCUMENT}, section 1, after Gábor and Csabai"
    ends: list[int] = []
    rises, left = True, []
    for kind in (LARGE, SMALL):
        own = frame.filter(pl.col("bottleneck") == kind.name)
        flow, each = own["packets_per_s"], own["each_packets_per_s"]
        free = own.filter(each >= (1 - _NEAR) * each.to_list()[0])
        ends.append(int(free["connections"].to_list()[-1]))
        rises = rises and free.height > 2
        left.append(float(flow.to_list()[-1]) / most(flow))
    yield holds_if(
        "density.free-flow", "TCP connections as density: free flow up to a critical one",
        place,
        f"up to {ends[0]} and {ends[1]} connections", rises,
        f"With packets of 1448 and of 100 B. In proportion: each connection within {_PERCENT * _NEAR:.0f} % of what "
        "it has alone. With windows that one connection does not "
        "fill the link with; with open windows the free branch is less than one connection long.",
    )  # fmt: skip
    yield holds_if(
        "density.congested", "Beyond the critical density flow falls, as that of vehicles",
        place,
        f"{_PERCENT * min(left):.1f} % is left at {DENSITIES[-1]}", min(left) < 1 - _NEAR,
        "A queue conserves work: however many connections wait, the link sends at its full rate, and TCP's losses at a "
        "router cost a few per cent where connections are few. Vehicles slow each other down; packets do not, which is "
        "the document's own point. A path that loses work with load, such as a router in receive livelock, could fall.",
    )  # fmt: skip


def sections(runs: Mapping[str, Run], found: Mapping[str, Saturation]) -> list[Section]:
    """TCP over the sweep, and the fundamental diagrams."""
    return [_sweep_section(runs, found), _density_section(runs)]


def _sweep_section(runs: Mapping[str, Run], found: Mapping[str, Saturation]) -> Section:
    names = ((MAIN, "UDP"), (TCP_OUT, "TCP, sending costs"), (TCP_BOTH, "TCP, receiving costs as much"))
    tables = pl.concat(
        sweep.table(runs).select("payload_bytes", "packets_per_s", "goodput_bps", transport=pl.lit(words))
        for sweep, words in names
    )
    laws = {sweep.name: found[sweep.name].better for sweep in (TCP_OUT, TCP_BOTH)}
    out, both = laws[TCP_OUT.name], laws[TCP_BOTH.name]
    finding = (
        f"TCP saturates at the same frame as UDP, {out.critical_bytes.value:.0f} B, as long as only sending costs; "
        f"where ACKs that arrive cost the processor, too, at {both.critical_bytes.value:.0f} B and "
        f"{both.packets_per_s_max.value:,.0f} packets/s."
    )
    text = (
        "One connection, with timestamps and delayed ACKs, 52 B of headers in each packet, the same interface in "
        "both hosts. Counted in frames the law is UDP's. If packets that arrive cost as much as those that leave, "
        "each pair of packets and its ACK are three packets' work: a packet's cost appears to be half as large "
        f"again, which is what the fit finds, {both.per_packet_s.value * 1e6:.1f} instead of "
        f"{out.per_packet_s.value * 1e6:.1f} µs."
    )
    row = [
        charts.points(
            tables, "payload_bytes", column, by="transport", x_title="payload (B)", title=title, height=280,
            x_domain=(0, 1500), y_domain=domain,
        )
        for column, title, domain in (
            ("goodput_bps", "Goodput", (0, 105 * _MBIT)), ("packets_per_s", "Packet rate", (0, 35_000)),
        )
    ]  # fmt: skip
    return Section("TCP over the same sizes", finding, [Text(text), Row(row)])


def _density_section(runs: Mapping[str, Run]) -> Section:
    frame = table(runs)
    finding = (
        "With the number of TCP connections as density the free branch is that of vehicles, flow in proportion to "
        "density; the congested branch is missing: a full link stays full."
    )
    text = (
        "Both hosts are 10 ms apart, and a connection's window is Windows XP's 12 packets, so that one alone does "
        "not fill the link. Flow is density × speed in both diagrams (eq. 11). On a road more vehicles drive more "
        "slowly than they gain by being more. On a link the speed of each connection falls just as its share does, "
        "and flow stays. With open windows and a router that drops, a single connection is enough for nine tenths "
        "of the link, and 64 fill it."
    )
    left = charts.points(
        frame, "connections", "packets_per_s", by="bottleneck", title="Packets: flow over TCP connections",
        x_title="connections", y_title="flow (packets/s)", height=300, x_domain=(0, 66), y_domain=(0, 32_000),
    )  # fmt: skip
    right = charts.line(
        _vehicles(), "vehicles", "flow", by="regime", title="Vehicles: flow over density",
        x_title="density (vehicles/km)", y_title="flow (vehicles/h)", height=300, x_domain=(0, 140), y_domain=(0, 2500),
    )  # fmt: skip
    caption = (
        "Left, by packets and by what limits: the link, the interface, or a router's queue, there with open windows. "
        "Right: a lane of road, free at 100 km/h up to 2200 vehicles/h, jammed at 140 vehicles/km (Daganzo 1994)."
    )
    speed = charts.points(
        frame, "connections", "each_packets_per_s", by="bottleneck", title="Speed: packets/s of each connection",
        x_title="connections", y_title="packets/s each", height=240, x_scale="log", y_scale="log",
        x_domain=(1, 64), y_domain=(100, 10_000),
    )  # fmt: skip
    return Section("The fundamental diagram", finding, [Text(text), Row([left, right], caption), Chart(speed)])


def _vehicles() -> pl.DataFrame:
    critical = 2200 / 100
    rows: list[dict[str, Any]] = [
        {"vehicles": 0.0, "flow": 0.0, "regime": "free flow"},
        {"vehicles": critical, "flow": 2200.0, "regime": "free flow"},
        {"vehicles": critical, "flow": 2200.0, "regime": "congested"},
        {"vehicles": 140.0, "flow": 0.0, "regime": "congested"},
    ]
    return pl.DataFrame(rows)
