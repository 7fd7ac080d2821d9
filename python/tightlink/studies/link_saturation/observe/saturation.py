"""Where saturation begins, in both readings of the document's sizes, and what 451 B may have been.

The document measures goodput over payload, recalculates throughput "using packet sizes that include both
payload and packet overhead", and does not say which of the two its critical size and its plateau count.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.saturation import find
from tightlink.reduce import largest, smallest
from tightlink.studies.link_saturation.setup.document import BANDWIDTH_BPS, PLATEAU_MBIT
from tightlink.studies.link_saturation.setup.interface import GAP_BYTES
from tightlink.studies.link_saturation.setup.sweeps import (
    BARE_LINE,
    GIGABIT,
    MAIN,
    NO_BYTES,
    SLOW,
    TCP_BOTH,
    TCP_OUT,
    TWICE_AS_FAST,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.analysis.saturation import Law, Saturation

_MBIT: Final = 1e6
_BITS: Final = 8
#: Resamples where intervals are not shown.
_FEW: Final = 19
#: Sweeps of which it is found where each saturates, too, by the names of its values.
_COMPARED: Final = {
    "slow": SLOW, "main": MAIN, "gigabit": GIGABIT, "no-bytes": NO_BYTES, "twice-as-fast": TWICE_AS_FAST,
    "tcp": TCP_OUT, "tcp-both": TCP_BOTH,
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
    """Of other sweeps, by their names, in frames; of intervals no more than a glimpse, as none is shown."""
    bare_line: Saturation
    """Of the line alone, in IP packets."""

    def law(self, reading: Reading, name: str) -> Law:
        """A law as it was fitted in a reading."""
        return next(law for law in self.by_reading[reading.name].laws if law.name == name)

    @property
    def saturated(self) -> pl.DataFrame:
        """The rows below the critical size."""
        return self.table.filter(pl.col("frame_bytes") < self.law(FRAME, "cost").critical_bytes.value)

    @property
    def free(self) -> pl.DataFrame:
        """The rows from the critical size on."""
        return self.table.filter(pl.col("frame_bytes") >= self.law(FRAME, "cost").critical_bytes.value)

    @property
    def documents_method(self) -> tuple[float, float]:
        """Eq. 7 solved for p_c at every saturated size with the document's T_max: the mean, in bytes, and its spread.

        p_c = T_max · p / T = T_max / f: payloads and frames give the same, as only the packet rate is left.
        """
        each = [PLATEAU_MBIT * _MBIT / _BITS / rate for rate in self.saturated["packets_per_s"].to_list()]
        return fmean(each), (max(each) - min(each)) / 2


def read(tables: Mapping[str, pl.DataFrame]) -> Found:
    """Analyse the main sweep in every reading, and the others in frames."""
    table = tables[MAIN.name]
    by_reading = {reading.name: find(table, size=reading.size, throughput=reading.throughput) for reading in READINGS}
    line = table.select(packet_bytes=pl.col("frame_bytes") + GAP_BYTES, packets_per_s=pl.col("packets_per_s"))
    compared = {
        sweep.name: find(tables[sweep.name], size=FRAME.size, throughput=FRAME.throughput, resamples=_FEW)
        for sweep in _COMPARED.values()
    }
    bare = find(tables[BARE_LINE.name], resamples=_FEW)
    return Found(table, by_reading, find(line, resamples=_FEW), compared, bare)


def values(found: Found) -> dict[str, object]:
    """What claims compare, by name: READING.…, free-flow.…, eq7.…, and SWEEP.critical_bytes."""
    each = slope_values("line", found.line)
    for reading in (PAYLOAD, FRAME):
        own = found.by_reading[reading.name]
        each |= law_values(reading.name, own) | slope_values(reading.name, own)
        each[f"free-flow.{reading.name}_least_bps"] = smallest(found.free[reading.throughput])
    for name, sweep in _COMPARED.items():
        if (saturation := found.compared[sweep.name]).laws:
            each[f"{name}.critical_bytes"] = saturation.better.critical_bytes.value
    mean, spread = found.documents_method
    return each | _free_flow(found) | {"eq7.critical_bytes": mean, "eq7.spread_bytes": spread}


def law_values(name: str, saturation: Saturation | None) -> dict[str, object]:
    """The laws as they were fitted, by name: NAME.LAW.…."""
    each: dict[str, object] = {}
    for law in () if saturation is None else saturation.laws:
        own = {
            "critical_bytes": law.critical_bytes.value,
            "critical_low_bytes": law.critical_bytes.low,
            "critical_high_bytes": law.critical_bytes.high,
            "throughput_max_bps": law.throughput_max_bps.value,
            "packets_per_s_max": law.packets_per_s_max.value,
            "aicc": law.fit.aicc,
        }
        each |= {f"{name}.{law.name}.{key}": value for key, value in own.items()}
    return each


def slope_values(name: str, saturation: Saturation | None) -> dict[str, object]:
    """The slope of free flow with its interval, by name: NAME.slope and so on; none where it has none."""
    if saturation is None or saturation.free_flow is None:
        return {}
    slope = saturation.free_flow.slope
    return {f"{name}.slope": slope.value, f"{name}.slope_low": slope.low, f"{name}.slope_high": slope.high}


def _free_flow(found: Found) -> dict[str, object]:
    throughput, frames = (found.free[name] for name in ("frame_throughput_bps", "frame_bytes"))
    return {
        "free-flow.erodes": bool((throughput.diff().drop_nulls() > 0).all()),
        "free-flow.most_bps": largest(throughput),
        "free-flow.first_bps": throughput.to_list()[0],
        "free-flow.last_bps": throughput.to_list()[-1],
        "free-flow.line_misfit": largest((throughput / BANDWIDTH_BPS / (frames / (frames + GAP_BYTES)) - 1).abs()),
    }
