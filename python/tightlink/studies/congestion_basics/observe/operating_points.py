"""Where controls come to rest that measure delay or know the path's rate, and what managed queues hold."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink import units
from tightlink.reduce import mean_of
from tightlink.studies.congestion_basics.setup.network import LINK, PACKET_BYTES
from tightlink.studies.congestion_basics.setup.operating_points import (
    BBRS,
    BUFFERS_BDP,
    CODEL,
    DELAY_FLOWS,
    MEASURING_DELAY,
    PIE_FLOWS,
    RATE,
    RTT_MS,
    equilibrium,
    pie,
    single,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

_SETTLED_S: Final = 10
_DELAY_SETTLED_S: Final = 20


@dataclass(frozen=True)
class OperatingPoints:
    """What was found of FAST and Vegas, of BBR, of CoDel and of PIE."""

    delay: pl.DataFrame
    """For FAST and Vegas and numbers of flows: packets of each flow that wait or are in transmission."""
    bbr: pl.DataFrame
    """For each control and buffer: bandwidth-delay products in flight, utilization, and time in the queue."""
    pie: pl.DataFrame
    """For some numbers of flows: time in the queue and utilization."""
    codel_interval_s: float
    codel_power: float
    """Of the times from drop to drop: the interval and the power of their number that fit them best."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> OperatingPoints:
        """All of it from the runs."""
        delay = [
            (control, flows, (_mean(runs[equilibrium(control, flows)], "queue_packets", _DELAY_SETTLED_S) + 1) / flows)
            for control in MEASURING_DELAY
            for flows in DELAY_FLOWS
        ]
        bbr = [
            (control, buffer, _in_flight_bdp(run), _mean(run, "utilization"), _waiting_s(run))
            for control in BBRS
            for buffer in BUFFERS_BDP
            for run in (runs[single(control, buffer)],)
        ]
        several = [
            (flows, _waiting_s(run), _mean(run, "utilization")) for flows in PIE_FLOWS for run in (runs[pie(flows)],)
        ]
        return cls(
            pl.DataFrame(delay, ["control", "flows", "per_flow_packets"], orient="row"),
            pl.DataFrame(bbr, ["control", "buffer_bdp", "in_flight_bdp", "utilization", "waiting_s"], orient="row"),
            pl.DataFrame(several, ["flows", "waiting_s", "utilization"], orient="row"),
            *_law(runs[CODEL]),
        )

    def values(self) -> dict[str, object]:
        """What claims compare, by name."""
        several = pl.col("flows") > 1
        listed: dict[str, object] = {
            "delay.flows": ", ".join(map(str, DELAY_FLOWS)),
            "delay.flows_most": max(DELAY_FLOWS),
            "bbr.buffers_bdp": ", ".join(map(str, BUFFERS_BDP)),
        }
        for control in MEASURING_DELAY:
            own = self.delay.filter(pl.col("control") == control)
            if control == "vegas":
                listed["vegas.alone_packets"] = own.filter(~several)["per_flow_packets"][0]
                own = own.filter(several)
            packets = own["per_flow_packets"].to_list()
            listed |= {
                f"{control}.packets": fmean(packets),
                f"{control}.least_packets": min(packets),
                f"{control}.most_packets": max(packets),
            }
        for control in BBRS:
            own = self.bbr.filter(pl.col("control") == control)
            held = own["in_flight_bdp"].to_list()
            listed |= {
                f"{control}.in_flight_bdp": fmean(held),
                f"{control}.in_flight_least_bdp": min(held),
                f"{control}.in_flight_most_bdp": max(held),
                f"{control}.utilization_least": min(own["utilization"].to_list()),
            }
        listed |= {"codel.interval_s": self.codel_interval_s, "codel.power": self.codel_power}
        return listed | {f"pie.{flows}.waiting_s": waiting for flows, waiting, _ in self.pie.rows()}


def _in_flight_bdp(run: Run) -> float:
    """What BBR keeps in flight, in bandwidth-delay products of the empty path: rate times round trip."""
    flow = run.flows.row(0, named=True)
    return float(flow["throughput_bps"] * flow["rtt_mean_s"] / (units.rate(RATE) * RTT_MS / 1e3))


def _waiting_s(run: Run) -> float:
    """Mean time that a packet waits at the link, after the beginning."""
    return _mean(run, "queue_packets") * 8 * PACKET_BYTES / units.rate(RATE)


def _mean(run: Run, metric: str, settled_s: float = _SETTLED_S) -> float:
    """Of the link, after the beginning."""
    chosen = (pl.col("entity") == LINK) & (pl.col("metric") == metric) & (pl.col("time_s") > settled_s)
    return mean_of(run.series.filter(chosen)["value"])


def _law(run: Run) -> tuple[float, float]:
    """Of the times from drop to drop of CoDel: the interval and the power of their number that fit them best."""
    gaps = np.diff(run.packets.filter(pl.col("reason") == "queue management")["time_s"].to_list())
    power, level = np.polyfit(np.log(np.arange(1, len(gaps) + 1)), np.log(gaps), 1)
    return float(np.exp(level)), float(power)
