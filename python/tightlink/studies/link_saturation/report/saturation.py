"""The part of the report on where saturation begins."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.report import Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.observe.saturation import FRAME, PAYLOAD, READINGS

if TYPE_CHECKING:
    from tightlink.studies.link_saturation.observe.saturation import Found, Reading

_MBIT: Final = 1e6
_LAWS: Final = {"ideal": "ideal law", "cost": "cost per packet and byte"}
#: Sizes at which the laws are drawn.
_CURVE: Final = range(60, 1501, 10)


def section(found: Found) -> Section:
    """The part of the report."""
    frame, payload = found.law(FRAME, "cost"), found.law(PAYLOAD, "cost")
    mean, spread = found.documents_method
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
    return Section("Where saturation begins", finding, [Text(text), Row(both), Table(_laws(found), _CAPTION, _FORMATS)])


_CAPTION: Final = "Fits to the main sweep. The document prints about 96 Mbit/s, 451 B and 25 thousand packets/s."
_FORMATS: Final = {
    "plateau (Mbit/s)": ".2f", "critical size (B)": ".0f", "from": ".0f", "to": ".0f", "packets/s there": ",.0f",
    "AICc": ".0f",
    "free-flow slope": ".4f",
}  # fmt: skip


def _laws(found: Found) -> pl.DataFrame:
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
