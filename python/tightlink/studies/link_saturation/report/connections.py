"""The parts of the report on TCP: the same sweep, and the fundamental diagram over connections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.report import Chart, Row, Section, Text, charts
from tightlink.studies.link_saturation.setup.sweeps import MAIN, TCP_BOTH, TCP_OUT
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.studies.link_saturation.observe import Observed

_MBIT: Final = 1e6


def sections(observed: Observed) -> list[Section]:
    """TCP over the sweep, and the fundamental diagrams."""
    return [_sweep_section(observed), _density_section(observed.density, observed.values)]


def _sweep_section(observed: Observed) -> Section:
    names = ((MAIN, "UDP"), (TCP_OUT, "TCP, sending costs"), (TCP_BOTH, "TCP, receiving costs as much"))
    tables = pl.concat(
        observed.tables[sweep.name].select("payload_bytes", "packets_per_s", "goodput_bps", transport=pl.lit(words))
        for sweep, words in names
    )
    out, both = (observed.main.compared[sweep.name].better for sweep in (TCP_OUT, TCP_BOTH))
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


def _density_section(frame: pl.DataFrame, values: Mapping[str, Any]) -> Section:
    finding = (
        "With the number of TCP connections as density the free branch is that of vehicles, flow in proportion to "
        "density. A full link or interface stays full; through a router that loses work with load flow falls, to "
        f"{percent(values['density.interrupted.left'])} of its maximum with TCP and to "
        f"{percent(values['density.streams.left'])} with streams that do not listen."
    )
    text = (
        "Both hosts are 10 ms apart, and a connection's window is Windows XP's 12 packets, so that one alone does not "
        "fill the link. Flow is density × speed in both diagrams (eq. 11). On a road more vehicles drive more slowly "
        "than they gain by being more. On a link the speed of each connection falls just as its share does, and flow "
        "stays. With open windows and a router that drops, a single connection is enough for nine tenths of the link, "
        "and 64 fill it.\n\n"
        "The congested branch needs a place where work is lost. The last two curves pass a router of which each "
        "arrival takes half of a packet's time as an interrupt, also of packets that its ring then refuses: receive "
        "livelock. Datagrams at a constant rate, 250 packets/s each, fill it with 20 streams and stop it with 40: the "
        "whole diagram of vehicles. TCP backs off, and loses the part that its own drops cost."
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
        "Left, by packets and by what limits: the link, the interface, a router's queue (open windows), or a router "
        "that arrivals interrupt. Right: a lane of road, free at 100 km/h up to 2200 vehicles/h, jammed at 140 "
        "vehicles/km (Daganzo 1994)."
    )
    moving = frame.filter(pl.col("packets_per_s") > 0)
    speed = charts.points(
        moving, "connections", "each_packets_per_s", by="bottleneck", title="Speed: packets/s of each connection",
        x_title="connections", y_title="packets/s each", height=240, x_scale="log", y_scale="log",
        x_domain=(1, 64), y_domain=(10, 10_000),
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
