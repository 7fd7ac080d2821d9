"""The part of the report on the phases of a flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.report import Chart, Section, Table, charts
from tightlink.studies.congestion_basics.setup.phases import DURATION_S, FLOOD_S, RTT_S, THRESHOLD

if TYPE_CHECKING:
    from tightlink.studies.congestion_basics.observe.phases import Phases


def section(found: Phases) -> Section:
    """The window over time, and the table of phases."""
    table = pl.DataFrame(found.listed, schema=["phase", "begin_s", "end_s"], orient="row")
    chart = charts.line(found.window, "time_s", "cwnd_packets", height=300, x_domain=(0, DURATION_S))
    _, begin, end = found.listed[1]
    finding = (
        f"Slow start takes {end - begin:.1f} s to {THRESHOLD} packets; congestion avoidance then adds "
        f"as many in {THRESHOLD * RTT_S:.0f} s. What a loss costs is repaid packet by packet."
    )
    about = (
        f"One Reno flow over 50 Mbit/s and {RTT_S * 1e3:.0f} ms, a queue of 0.25 BDP, an ACK for every packet, a "
        f"threshold of {THRESHOLD} packets. It loses at its own queue; from {FLOOD_S} s on others flood "
        "the path for a second."
    )
    return Section("The phases of a flow", finding, [Chart(chart, about), Table(table)])
