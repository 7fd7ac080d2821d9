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
from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.report import Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.document import (
    CRITICAL_BYTES,
    CRITICAL_RATE,
    DOCUMENT,
    PLATEAU_MBIT,
    SIZE_TOLERANCE,
    half_digit,
)
from tightlink.studies.link_saturation.interface import GAP_BYTES
from tightlink.studies.link_saturation.measures import least, most
from tightlink.studies.link_saturation.sweeps import MAIN, NO_BYTES, TWICE_AS_FAST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.saturation import Law, Saturation, Slope
    from tightlink.run import Run
    from tightlink.studies.link_saturation.sweeps import Sweep

_MBIT: Final = 1e6
_BITS: Final = 8
#: Resamples where intervals are not shown.
_FEW: Final = 19
_RESULTS: Final = f"{DOCUMENT}, section 4"
_SHORT: Final = {"ideal": "ideal law", "cost": "cost law"}
_LAWS: Final = {"ideal": "ideal law", "cost": "cost per packet and byte"}
#: Sizes at which the laws are drawn.
_CURVE: Final = range(60, 1501, 10)


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
    """The main sweep, and what was found in it."""

    table: pl.DataFrame
    by_reading: Mapping[str, Saturation]
    line: Saturation
    """Counted as the line does, with preamble and gap."""
    critical: Mapping[str, float]
    """Critical frames in bytes of other interfaces, by the sweep's name."""

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


def read(runs: Mapping[str, Run]) -> Found:
    """Analyse the main sweep in every reading."""
    table = MAIN.table(runs)
    by_reading = {reading.name: find(table, size=reading.size, throughput=reading.throughput) for reading in READINGS}
    line = table.select(packet_bytes=pl.col("frame_bytes") + GAP_BYTES, packets_per_s=pl.col("packets_per_s"))
    critical = {sweep.name: in_frames(sweep, runs).better.critical_bytes.value for sweep in (NO_BYTES, TWICE_AS_FAST)}
    return Found(table, by_reading, find(line, resamples=_FEW), critical)


def in_frames(sweep: Sweep, runs: Mapping[str, Run]) -> Saturation:
    """What is found in a sweep whose sizes count frames; of intervals no more than a glimpse, as none is shown."""
    return find(sweep.table(runs), size=FRAME.size, throughput=FRAME.throughput, resamples=_FEW)


def documents_method(found: Found) -> tuple[float, float]:
    """Eq. 7 solved for p_c at every saturated size with the document's T_max: the mean, in bytes, and its spread.

    p_c = T_max · p / T = T_max / f: payloads and frames give the same, as only the packet rate is left.
    """
    each = [PLATEAU_MBIT * _MBIT / _BITS / rate for rate in found.saturated["packets_per_s"].to_list()]
    return fmean(each), (max(each) - min(each)) / 2


def claims(found: Found) -> Iterator[Claim]:
    """What the document says of the plateau, of the critical size, and of the laws."""
    yield from _plateau(found)
    yield from _critical(found)
    yield from _slopes(found)


def _plateau(found: Found) -> Iterator[Claim]:
    near = half_digit(PLATEAU_MBIT)
    law = found.law(FRAME, "cost")
    largest = found.table.row(-1, named=True)
    yield within(
        "plateau.frame", "As frame, where saturation begins: T_max is about 96 Mbit/s", _RESULTS,
        PLATEAU_MBIT, law.throughput_max_bps.value / _MBIT, tolerance=near, unit="Mbit/s",
        reason="Nothing is fitted to it: it is what preamble and gap leave at the critical frame.",
    )  # fmt: skip
    yield within(
        "plateau.payload", "As payload, with the largest packets: T_max is about 96 Mbit/s", _RESULTS,
        PLATEAU_MBIT, largest["goodput_bps"] / _MBIT, tolerance=near, unit="Mbit/s",
        reason="Nothing is fitted to it: 1450 B of payload take 1516 B of line time. Both readings give 96, at "
        "different sizes.",
    )  # fmt: skip
    free = found.free
    line = free["frame_bytes"] / (free["frame_bytes"] + GAP_BYTES)
    apart = most((free["frame_throughput_bps"] / (100 * _MBIT) / line - 1).abs())
    throughput = free["frame_throughput_bps"]
    erodes = bool((throughput.diff().drop_nulls() > 0).all())
    yield holds_if(
        "plateau.erodes", "Free flow never reaches the bandwidth and erodes steadily with smaller packets", _RESULTS,
        f"{throughput.to_list()[-1] / _MBIT:.1f} to {throughput.to_list()[0] / _MBIT:.1f} Mbit/s",
        erodes and most(throughput) < 100 * _MBIT,
        'Not "various processes and imperfections": the line is busy all the time, and each frame takes 20 B more '
        f"of it for preamble and gap; frame / (frame + 20) gives every point within {100 * apart:.2f} %.",
    )  # fmt: skip
    for key, reading, words in (("frame", FRAME, "throughput with headers"), ("payload", PAYLOAD, "goodput")):
        bottom = least(free[reading.throughput]) / _MBIT
        yield holds_if(
            f"free-flow.flat-{key}",
            f"Free flow leaves {words} alone: all of it rounds to T_max or more",
            _RESULTS, bottom, bottom >= PLATEAU_MBIT - near,
            "Least of free flow." if key == "frame" else "Least of free flow. Payload carries its headers with it: "
            "the smaller the packet, the larger their share. The statement is one on throughput with headers.",
            unit="Mbit/s",
        )  # fmt: skip


def _critical(found: Found) -> Iterator[Claim]:
    at_rate = 100 * _MBIT / _BITS / CRITICAL_RATE
    neither = (
        f"A line of 100 Mbit/s carries 25,000 packets/s of {at_rate:.0f} B of line time, a frame of "
        f"{at_rate - GAP_BYTES:.0f} B; 96 Mbit/s over 451 B are "
        f"{PLATEAU_MBIT * _MBIT / _BITS / CRITICAL_BYTES / 1e3:.1f} thousand/s. So 451 B, 25 thousand/s and 96 Mbit/s "
        "cannot all be where the two regimes meet."
    )
    for key, reading in (("payload", PAYLOAD), ("frame", FRAME)):
        for name in ("cost", "ideal"):
            law = found.law(reading, name)
            fits = " It is within the grid." if abs(law.critical_bytes.value - CRITICAL_BYTES) <= SIZE_TOLERANCE else ""
            yield within(
                f"critical.{key}-{name}",
                f"As {reading.name}, by the {_SHORT[name]}: saturation begins at about 451 B",
                _RESULTS, CRITICAL_BYTES, law.critical_bytes.value, tolerance=SIZE_TOLERANCE, unit="B",
                reason=f"Half of the document's 25 B between sizes.{fits} {neither}",
            )  # fmt: skip
    mean, spread = documents_method(found)
    yield within(
        "critical.document", "By eq. 7 at saturated sizes: saturation begins at about 451 B",
        _RESULTS, CRITICAL_BYTES, mean, tolerance=SIZE_TOLERANCE, unit="B",
        reason=f"Mean over the saturated sizes; each size gives another value, ± {spread:.0f} B, as the packet rate is "
        "not constant. The method sees only the packet rate: payload and frame give the same, so it cannot tell the "
        f"readings apart; 451 B is {PLATEAU_MBIT * _MBIT / _BITS / CRITICAL_BYTES:,.0f} packets/s, a mean of 25 and 30 "
        "thousand, and not the rate at the critical size.",
    )  # fmt: skip
    yield within(
        "critical.rate", "At the critical size about 25 thousand packets/s pass", _RESULTS,
        CRITICAL_RATE / 1e3, found.law(FRAME, "cost").packets_per_s_max.value / 1e3,
        tolerance=half_digit(CRITICAL_RATE, 2) / 1e3, unit="thousand/s",
        reason="By the cost per packet and byte; the cost is fitted to 25 thousand/s at 451 B, so this confirms "
        "nothing.",
    )  # fmt: skip
    specific = ", ".join(f"{size:.0f} B with {name.partition(', ')[2]}" for name, size in found.critical.items())
    usual = found.law(FRAME, "cost").critical_bytes.value
    fast = found.critical[TWICE_AS_FAST.name]
    yield holds_if(
        "critical.specific", "The critical size is specific to the equipment and has no general value", _RESULTS,
        f"{usual:.0f} B, {fast:.0f} "
        f"B", fast < usual / 2, f"Frames, with this interface and with one that is twice as fast; also: {specific}.",
    )  # fmt: skip
    yield holds_if(
        "law.better", "Eq. 7, a constant packet rate in saturation, describes the data", _RESULTS,
        f"{found.law(FRAME, 'ideal').fit.aicc:.0f} against {found.law(FRAME, 'cost').fit.aicc:.0f}",
        found.law(FRAME, "ideal").fit.aicc <= found.law(FRAME, "cost").fit.aicc,
        "AICc of the two laws, less is better. Our interface has a cost per byte because the document's rates rise "
        "from 25 to 30 thousand; that the fit finds it says that 58 sizes suffice to tell the laws apart, and "
        "nothing of that interface.",
    )  # fmt: skip


def _slopes(found: Found) -> Iterator[Claim]:
    place = f"{DOCUMENT}, eq. 5"
    for key, words, slope in (
        ("payload", "payload", found.by_reading[PAYLOAD.name].free_flow),
        ("frame", "frame", found.by_reading[FRAME.name].free_flow),
        ("line", "line time with preamble and gap", found.line.free_flow),
    ):
        if slope is None:
            continue
        yield holds_if(
            f"slope.{key}", f"As {words}: d ln f = −d ln p in free flow, a slope of −1", place,
            round(slope.slope.value, 4), abs(slope.slope.value + 1) <= _RESOLUTION, _slope_reason(key, slope),
        )  # fmt: skip


#: What counting whole packets for a second leaves of a slope.
_RESOLUTION: Final = 1e-3


def _slope_reason(key: str, slope: Slope) -> str:
    interval = f"Within {_RESOLUTION:g}; interval {slope.slope.low:.4f} to {slope.slope.high:.4f}. "
    if key == "line":
        return f"{interval}The relation is exact for what the line counts: it is busy all the time."
    return (
        f"{interval}The assumption dT = 0 is not met: what is not counted is a larger share of a smaller packet, so f "
        "grows by less than p shrinks."
    )


def section(found: Found) -> Section:
    """The part of the report."""
    frame, payload = found.law(FRAME, "cost"), found.law(PAYLOAD, "cost")
    mean, spread = documents_method(found)
    finding = (
        f"The line and the interface take the same time for a frame of {frame.critical_bytes.value:.0f} B "
        f"({payload.critical_bytes.value:.0f} B of payload) at {frame.packets_per_s_max.value:,.0f} packets/s; the "
        f"document's 451 B is what its own method gives from packet rates between 25 and 30 thousand: "
        f"{mean:.0f} ± {spread:.0f} B here."
    )
    text = (
        "Two laws, each fitted to every reading of a packet's size. The **ideal law** is the document's: a plateau "
        "T_max, and below p_c a constant packet rate, T = T_max · p / p_c (eq. 7). The other is a **cost per packet "
        "and byte** at the interface against the time on the line. They are compared by AICc (less is better); "
        "intervals hold 95 % of fits to resampled residuals.\n\n"
        "With the plateau that the document prints, eq. 7 solved for p_c is T_max / f. It asks for the packet rate "
        "alone, so it gives the same for payloads and for frames. Over the saturated sizes it runs from 400 to 475 B: "
        "451 B is one of many, and the size at which throughput leaves its plateau is another number."
    )
    curves = pl.concat(_curve(found, reading, name) for reading in (PAYLOAD, FRAME) for name in _LAWS)
    both = [
        charts.points(
            found.by_reading[reading.name].points.select("packet_bytes", "throughput_bps", "regime"),
            "packet_bytes", "throughput_bps", by="regime",
            curves=curves.filter(pl.col("reading") == reading.name).drop("reading"), curve="law",
            x_title=f"{reading.name} (B)", title=title, height=300, y_domain=(0, 105 * _MBIT), x_domain=(0, 1550),
        )
        for reading, title in ((PAYLOAD, "Goodput over payload"), (FRAME, "Throughput over frame"))
    ]  # fmt: skip
    return Section("Where saturation begins", finding, [Text(text), Row(both), Table(laws(found), _CAPTION, _FORMATS)])


_CAPTION: Final = "Fits to the main sweep. The document prints about 96 Mbit/s, 451 B and 25 thousand packets/s."
_FORMATS: Final = {
    "plateau (Mbit/s)": ".2f", "critical size (B)": ".0f", "from": ".0f", "to": ".0f", "packets/s there": ",.0f",
    "AICc": ".0f",
    "free-flow slope": ".4f",
}  # fmt: skip


def laws(found: Found) -> pl.DataFrame:
    """A row for each reading and law."""
    rows = []
    for reading in READINGS:
        saturation = found.by_reading[reading.name]
        for law in saturation.laws:
            critical = law.critical_bytes
            rows.append(
                {
                    "p counts": reading.name,
                    "law": _LAWS[law.name],
                    "plateau (Mbit/s)": law.throughput_max_bps.value / _MBIT,
                    "critical size (B)": critical.value,
                    "from": critical.low,
                    "to": critical.high,
                    "packets/s there": law.packets_per_s_max.value,
                    "AICc": law.fit.aicc,
                    "free-flow slope": saturation.free_flow.slope.value if saturation.free_flow else None,
                }
            )
    return pl.DataFrame(rows)


def _curve(found: Found, reading: Reading, name: str) -> pl.DataFrame:
    import numpy as np

    law = found.law(reading, name)
    sizes = np.array(_CURVE, dtype=float)
    return pl.DataFrame(
        {
            "packet_bytes": sizes,
            "throughput_bps": law.throughput_bps(sizes),
            "law": [_LAWS[name]] * len(sizes),
            "reading": [reading.name] * len(sizes),
        }
    )
