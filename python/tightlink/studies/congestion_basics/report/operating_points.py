"""The part of the report on BBR, CoDel and PIE."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.reduce import mean_of
from tightlink.report import Section, Table
from tightlink.studies.congestion_basics.setup.operating_points import OVERLOAD, RATE, RTT_MS
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from tightlink.studies.congestion_basics.observe.operating_points import OperatingPoints


def section(found: OperatingPoints) -> Section:
    """What BBR keeps in flight, and what PIE holds."""
    used, waiting = (
        (100 * pl.col("utilization")).alias("utilization %"),
        (1e3 * pl.col("waiting_s")).alias("waiting (ms)"),
    )
    bbr = found.bbr.select(
        "control",
        pl.col("buffer_bdp").alias("buffer (BDP)"),
        pl.col("in_flight_bdp").alias("in flight (BDP)"),
        used,
        waiting,
    )
    pie = found.pie.select("flows", waiting, used)
    finding = (
        f"BBR keeps {mean_of(bbr['in flight (BDP)']):.2f} bandwidth-delay products in flight, whatever the buffer. "
        f"Overloaded by {percent(OVERLOAD - 1)}, CoDel drops {1e3 * found.codel_interval_s:.0f} ms apart at first and "
        f"with the power {found.codel_power:.2f} of the number of drops. PIE holds {min(pie['waiting (ms)']):.0f} to "
        f"{max(pie['waiting (ms)']):.0f} ms."
    )
    formats = {"in flight (BDP)": ".2f", "utilization %": ".1f", "waiting (ms)": ".1f"}
    about = f"{RATE}, {RTT_MS} ms, recovery by RACK"
    return Section(
        "Where BBR, CoDel and PIE operate",
        finding,
        [
            Table(bbr, f"A single flow of BBR: {about}", dict(formats)),
            Table(pie, f"Flows of standard TCP through PIE: {about}", dict(formats)),
        ],
    )
