"""The parts of the report on what the document compares with vehicles: size as density, and a third phase."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.link_saturation.observe import size_density
from tightlink.studies.link_saturation.setup import phases

if TYPE_CHECKING:
    from tightlink.studies.link_saturation.observe import Observed

_PERCENT: Final = 100


def sections(observed: Observed) -> list[Section]:
    """Figure 2 as a flow–density curve, and random arrivals below the critical load."""
    return [_size(observed), _phases(observed)]


def _size(observed: Observed) -> Section:
    frame, values = size_density.table(observed.main), observed.values
    finding = (
        f"Over packets a byte flow grows in proportion up to {values['size-density.critical_per_kb']:.2f} packets/kB "
        f"and then approaches its maximum; it never falls ({_PERCENT * float(str(values['size-density.left'])):.0f} % "
        "is left at the smallest packets), so that of the vehicles' three features, free branch, critical density and "
        "congested branch, two are there."
    )
    text = (
        "The document finds its Fig. 2 similar to the curve of flow over density, and eq. 1 to eq. 11. With density k "
        "= 1 / p both are one: packet flow f = T k, and throughput is the speed. In free flow the line sets the "
        "speed, which only preamble and gap erode. In saturation the interface sets the flow; speed falls as 1 / k. "
        "On a road flow falls, too, for drivers slow each other down."
    )
    row = [
        charts.points(
            frame, "packets_per_kb", column, by="regime", title=title, x_title="density (packets/kB)", y_title=words,
            height=260, x_domain=(0, 15), y_domain=domain,
        )
        for column, title, words, domain in (
            ("packets_per_s", "Flow over density", "flow (packets/s)", (0, 32_000)),
            ("speed_mbit", "Speed over density", "throughput with headers (Mbit/s)", (0, 105)),
        )
    ]  # fmt: skip
    return Section("Packet size as density", finding, [Text(text), Row(row, "Frames of 71 to 1496 B.")])


def _phases(observed: Observed) -> Section:
    frame, values = observed.phases, observed.values
    finding = (
        f"Below the critical load correlations lengthen as a queue's, with the power {values['phases.exponent']:.2f} "
        "of what is left of the capacity; no load begins a phase of its own (difference in BIC "
        f"{float(str(values['phases.straight_bic'])) - float(str(values['phases.broken_bic'])):.1f})."
    )
    text = (
        "Vehicles have a third phase in some models, synchronized flow: speeds match at a lower level and "
        "correlations lengthen before traffic congests (the document's section 1). The sweep over sizes knows nothing "
        f"of the kind, as its sources never wait. Here packets come at random to a link of {phases.CAPACITY_PER_S} "
        "packets/s. All of them slow down alike, and the queue remembers for longer and longer: a prelude, but a "
        "gradual one. A power law that breaks at a load describes the times no better than one that does not."
    )
    shown = frame.select(
        "load",
        (1e3 * pl.col("correlation_s")).alias("correlation time ms"),
        (1e3 * pl.col("one_way_delay_s")).alias("mean delay ms"),
        (_PERCENT * pl.col("speed")).alias("speed %"),
    )
    formats: dict[str, Any] = {"load": ".2f", "correlation time ms": ".1f", "mean delay ms": ".2f", "speed %": ".0f"}
    chart = charts.points(
        frame.with_columns(gap=1 - pl.col("load"), heavy=pl.lit("simulated")), "gap", "correlation_s", by="heavy",
        x_title="1 − load", y_title="correlation time (s)", x_scale="log", y_scale="log", height=260,
    )  # fmt: skip
    return Section(
        "A third phase?", finding, [Text(text), Chart(chart), Table(shown, "Means of four runs at each load.", formats)]
    )
