"""What sweeps over packet sizes show: rates, throughput and loss, where saturation begins, and how well eq. 7 fits.

Example:
    >>> from tightlink.simulate import simulate
    >>> from tightlink.studies.link_saturation.setup.interface import udp
    >>> found = measure(simulate(udp(1450)))
    >>> found["payload_bytes"], found["frame_bytes"], round(found["packets_per_s"], -2)
    (1450.0, 1496.0, 8200.0)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import numpy as np
import polars as pl

from tightlink.analysis.limits.saturation import Law, Saturation, find
from tightlink.analysis.networks.flow_limits import flow_limits
from tightlink.reduce import largest
from tightlink.run import Run
from tightlink.studies.link_saturation.setup import interface, sweeps
from tightlink.studies.words import MBIT

#: How far eq. 7 may be off to be accurate: ours, as the document gives no figure.
_ACCURATE: Final = 0.05


def values(found: Found, tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: READING.LAW.…, sweeps, parts of the main one and of figure 2, and eq7.…."""
    no_bytes, density = tables[sweeps.NO_BYTES.name], size_density_table(found)
    constant = found.compared["no-bytes"].better.critical_bytes.value
    mean, spread = found.documents_method
    free, saturated = (density.filter(pl.col("regime") == regime) for regime in ("free flow", "saturated"))
    each: dict[str, object] = {
        "line": named(found.line),
        **{reading.name: named(found.by_reading[reading.name]) for reading in (PAYLOAD, FRAME)},
        **{name: tables[sweep.name] for name, sweep in sweeps.NAMED.items()},
        "saturated": found.saturated,
        "free": found.free,
        # What each step of 25 B takes, from small packets to large ones.
        "saturated.step_bps": found.saturated["frame_throughput_bps"].diff().drop_nulls(),
        "no-bytes.saturated": no_bytes.filter(pl.col("frame_bytes") < constant),
        "eq7.critical_bytes": mean,
        "eq7.spread_bytes": spread,
        "size-density": density,
        "size-density.free": free,
        "size-density.slowing": saturated.drop_nans("steepness"),
        # The last step of free flow leads out of it.
        "size-density.steepness_free": float(free["steepness"].head(-1).to_numpy().mean()),
    }
    for reading in (PAYLOAD, FRAME):
        own = found.saturated.filter(pl.col(reading.size) < interface.CRITICAL_BYTES)
        law = own[reading.size] / interface.CRITICAL_BYTES * interface.PLATEAU_MBIT * MBIT
        errors = (law / own[reading.throughput] - 1).abs()
        each |= {
            f"eq7.{reading.name}.accurate": sum(error <= _ACCURATE for error in errors.to_list()) / errors.len(),
            f"eq7.{reading.name}.error_most": largest(errors),
            f"eq7.{reading.name}.off_most_bps": largest((law - own[reading.throughput]).abs()),
        }
    return each


# Where saturation begins, in both readings of the document's sizes, and what 451 B may have been.
#
# The document measures goodput over payload, recalculates throughput "using packet sizes that include both
# payload and packet overhead", and does not say which of the two its critical size and its plateau count.

#: Resamples where intervals are not shown.
_FEW: Final = 19
#: Sweeps of which it is found where each saturates, too, by the names that claims have for them.
_COMPARED: Final = {
    "slow": sweeps.SLOW, "main": sweeps.MAIN, "gigabit": sweeps.GIGABIT, "no-bytes": sweeps.NO_BYTES,
    "twice-as-fast": sweeps.TWICE_AS_FAST, "tcp": sweeps.TCP_OUT, "tcp-both": sweeps.TCP_BOTH,
}  # fmt: skip


@dataclass(frozen=True)
class Reading:
    """Which bytes count: the size of a packet, and the bit rate that counts the same."""

    name: str
    size: str
    throughput: str


PAYLOAD: Final = Reading("payload", "payload_bytes", "goodput_bps")
PACKET: Final = Reading("IP packet", "packet_bytes", "throughput_bps")
FRAME: Final = Reading("frame", "frame_bytes", "frame_throughput_bps")
READINGS: Final = (PAYLOAD, PACKET, FRAME)


@dataclass(frozen=True)
class Found:
    """What was found in the main sweep, and in others."""

    table: pl.DataFrame
    """The main sweep."""
    by_reading: Mapping[str, Saturation]
    line: Saturation
    """Counted as the line does, with preamble and gap."""
    compared: Mapping[str, Saturation]
    """Of some sweeps, as `_COMPARED` names them, in frames; of intervals no more than a glimpse, as none is shown."""
    bare_line: Saturation
    """Of the line alone, in IP packets."""

    def law(self, reading: Reading, name: str) -> Law:
        """A law as it was fitted in a reading."""
        return next(law for law in self.by_reading[reading.name].laws if law.name == name)

    @property
    def critical_bytes(self) -> float:
        """The frame at which interface and line are equally fast, by what a packet and a byte cost."""
        return self.law(FRAME, "cost").critical_bytes.value

    @property
    def saturated(self) -> pl.DataFrame:
        """The rows below the critical size."""
        return self.table.filter(pl.col("frame_bytes") < self.critical_bytes)

    @property
    def free(self) -> pl.DataFrame:
        """The rows from the critical size on."""
        return self.table.filter(pl.col("frame_bytes") >= self.critical_bytes)

    @property
    def documents_method(self) -> tuple[float, float]:
        """Eq. 7 solved for p_c at every saturated size with the document's T_max: the mean, in bytes, and its spread.

        p_c = T_max · p / T = T_max / f: payloads and frames give the same, as only the packet rate is left.
        """
        each = [interface.PLATEAU_MBIT * MBIT / 8 / rate for rate in self.saturated["packets_per_s"].to_list()]
        return fmean(each), (max(each) - min(each)) / 2


def read(tables: Mapping[str, pl.DataFrame]) -> Found:
    """Analyse the main sweep in every reading, and the others in frames."""
    table = tables[sweeps.MAIN.name]
    by_reading = {reading.name: find(table, size=reading.size, throughput=reading.throughput) for reading in READINGS}
    line = table.select(packet_bytes=pl.col("frame_bytes") + interface.GAP_BYTES, packets_per_s=pl.col("packets_per_s"))
    compared = {
        name: find(tables[sweep.name], size=FRAME.size, throughput=FRAME.throughput, resamples=_FEW)
        for name, sweep in _COMPARED.items()
    }
    bare = find(tables[sweeps.BARE_LINE.name], resamples=_FEW)
    return Found(table, by_reading, find(line, resamples=_FEW), compared, bare)


def named(saturation: Saturation | None) -> dict[str, object]:
    """The laws as they were fitted, by their names, and the slope of free flow; without what was not found."""
    if saturation is None:
        return {}
    laws: dict[str, object] = {law.name: law for law in saturation.laws}
    return laws if saturation.free_flow is None else laws | {"slope": saturation.free_flow.slope}


# What is measured of a run: sizes and rates as this document counts them, from the tables alone.
#
# A frame is an IP packet with Ethernet's 18 B, without preamble and gap, as the document has it; the
# padding of the shortest frames is not counted.


def measure(run: Run) -> dict[str, float]:
    """Sizes, rates, loss, jitter and the load of the sender's interface, over all flows of a run.

    Sizes are means over packets; ``payload_bytes`` × ``packets_per_s`` is the goodput, and so on.
    """
    flows = run.flows
    counts = ("packets_delivered", "packets_sent", "packets_dropped", "goodput_bps", "throughput_bps")
    packets, sent, dropped, goodput, throughput = (float(flows[name].sum()) for name in counts)
    rate = packets / float(flows["stop_s"][0] - flows["start_s"][0])
    payload, packet = (value / (8 * rate) if rate else math.nan for value in (goodput, throughput))
    jitters = flows["jitter_rfc3550_s"].drop_nulls().to_list()
    return {
        "payload_bytes": payload,
        "packet_bytes": packet,
        "frame_bytes": packet + interface.ETHERNET_BYTES,
        "packets_per_s": rate,
        "goodput_bps": goodput,
        "throughput_bps": throughput,
        "frame_throughput_bps": throughput + 8 * interface.ETHERNET_BYTES * rate,
        "loss": dropped / sent if sent else math.nan,
        "jitter_rfc3550_s": sum(jitters) / len(jitters) if jitters else math.nan,
        # What was asked of the sender's processor over what it has.
        "load": _known(dict(run.nodes.select("node", "load_true").iter_rows()).get(interface.SENDER)),
        "utilization": float(run.links["utilization"].to_list()[0]),
        "limited_by_sender_rate": _known(flows["limited_by_sender_rate"][0]),
        "limited_by_network": _known(flows["limited_by_network"][0]),
    }


def measures_table(sweep: sweeps.Sweep, runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each payload: what `measure` gives, and the payload as it was set, ``datagram_bytes``."""
    return pl.DataFrame([{"datagram_bytes": size} | measure(runs[sweep.key(size)]) for size in sweep.payloads])


def of_run(run: Run) -> dict[str, float | str]:
    """What ``runs.parquet`` says of a run; of datagrams at random, which are no flows, nothing but the line's share."""
    if "flows" not in run.tables:
        return {"link": "", "utilization": float(run.links["utilization"].to_list()[0])}
    return {"link": sweeps.link_of(run.scenario)} | measure(run)


def _known(value: float | None) -> float:
    """A number; NaN where hosts that were measured do not know it."""
    return math.nan if value is None else float(value)


# Max-flow min-cut over bandwidths, beside what the interface lets through.


def max_flow_table(simulated: pl.DataFrame) -> pl.DataFrame:
    """The maximum flow by the links, by links and interface, and what was simulated: bit/s of IP packets."""
    limits = [flow_limits(sweeps.MAIN.scenario(size)) for size in simulated["datagram_bytes"]]
    return simulated.select(
        payload_bytes="datagram_bytes",
        links=pl.Series([float(each.bits.value or 0) for each in limits]),
        both=pl.Series([float(each.both.value or 0) for each in limits]),
        throughput_bps="throughput_bps",
    )


# Figure 2 as a flow–density curve: packet flow over packets a byte, as vehicles an hour over vehicles a kilometre.
#
# Eq. 1 and eq. 11 are one: T = p f and q = k v. With the inverse of the size as density, k = 1 / p, packet flow f is
# T k, and throughput is the speed. Sizes are those of frames.


def size_density_table(found: Found) -> pl.DataFrame:
    """A row for each size, from large to small: density, flow, speed, and how steeply flow grows with density."""
    density = 1e3 / found.table["frame_bytes"].to_numpy()[::-1]
    flow = found.table["packets_per_s"].to_numpy()[::-1]
    steepness = np.append(np.diff(np.log(flow)) / np.diff(np.log(density)), np.nan)
    critical = 1e3 / found.critical_bytes
    return pl.DataFrame({
        "packets_per_kb": density, "packets_per_s": flow,
        "speed_mbit": found.table["frame_throughput_bps"].to_numpy()[::-1] / 1e6, "steepness": steepness,
        "regime": np.where(density <= critical, "free flow", "saturated"),
    })  # fmt: skip
