"""The parts of the report on controls that measure delay, and on BBR, CoDel and PIE."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

import polars as pl

from tightlink.reduce import mean_of
from tightlink.report import Format, Section, Table
from tightlink.studies.congestion_basics.setup.operating_points import (
    ALPHAS,
    DELAY_FLOWS,
    DELAY_RATE,
    OVERLOAD,
    RATE,
    RTT_MS,
)
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from tightlink.studies.congestion_basics.observe.operating_points import OperatingPoints


def measuring_delay(waiting: pl.DataFrame) -> Section:
    """Packets of each flow that wait, by control and flows."""
    wide = waiting.pivot("flows", index="control", values="per_flow_packets")
    titled = wide.rename({str(flows): f"{flows} flow{'s' * (flows > 1)}" for flows in DELAY_FLOWS})
    formats: dict[str, Format] = {column: ".2f" for column in titled.columns if column != "control"}
    alpha = ALPHAS[-1]
    found = waiting.filter(pl.col("control") == f"fast-{alpha}")["per_flow_packets"].to_list()
    finding = (
        f"Each FAST flow keeps {fmean(found):.1f} packets in the queue where alpha is {alpha}, however many flows "
        "there are; each Vegas flow between two and four, a single one a little above."
    )
    where = f"{DELAY_RATE}, {RTT_MS} ms"
    caption = f"Packets of each flow at the bottleneck ({where}), the one in transmission included"
    return Section("Controls that measure delay", finding, [Table(titled, caption, formats)])


def knowing_rates(found: OperatingPoints) -> Section:
    """What BBR keeps in flight, and what CoDel and PIE hold."""
    used = (100 * pl.col("utilization")).alias("utilization %")
    waiting = (1e3 * pl.col("waiting_s")).alias("waiting (ms)")
    names = {"buffer_bdp": "buffer (BDP)", "in_flight_bdp": "in flight (BDP)"}
    bbr = found.bbr.select("control", *names, used, waiting).rename(names)
    pie = found.pie.select("flows", waiting, used)
    finding = (
        f"BBR keeps {mean_of(found.bbr['in_flight_bdp']):.2f} bandwidth-delay products in flight, whatever the buffer. "
        f"Overloaded by {percent(OVERLOAD - 1)}, CoDel drops {1e3 * found.codel_interval_s:.0f} ms "
        f"apart at first and with the power {found.codel_power:.2f} of the number of drops. PIE holds "
        f"{min(pie['waiting (ms)']):.0f} to {max(pie['waiting (ms)']):.0f} ms."
    )
    formats: dict[str, Format] = {"in flight (BDP)": ".2f", "utilization %": ".1f", "waiting (ms)": ".1f"}
    about = f"{RATE}, {RTT_MS} ms, recovery by RACK"
    return Section(
        "Where BBR, CoDel and PIE operate",
        finding,
        [
            Table(bbr, f"A single flow of BBR: {about}", formats),
            Table(pie, f"Flows of standard TCP through PIE: {about}", formats),
        ],
    )
