"""The report: a lead, and sections from the main sweep to networks."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tightlink.studies.link_saturation.observe.saturation import FRAME
from tightlink.studies.link_saturation.report import (
    bifurcation,
    connections,
    density,
    errata,
    figures,
    max_flow,
    mixes,
    other_links,
    receiver,
    saturation,
    sweep,
)
from tightlink.studies.link_saturation.setup.interface import HEADER_BYTES, PER_BYTE_S, PER_PACKET_S
from tightlink.studies.study import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.link_saturation.observe import Observed
    from tightlink.studies.link_saturation.observe.saturation import Found


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """Lead, sections and figures."""
    found = observed.main
    return Report(
        "When a link runs out of packets, not bits",
        _lead(found, claims),
        [
            sweep.section(found, claims),
            errata.section(claims),
            saturation.section(found),
            bifurcation.section(found, observed.perturbed, observed.runs),
            *other_links.sections(observed),
            receiver.section(observed.tables),
            mixes.section(observed.mixes, found.table),
            *connections.sections(observed),
            *density.sections(observed),
            max_flow.section(observed.flows),
        ],
        partial(figures.draw, observed=observed),
    )


def _lead(found: Found, claims: Mapping[str, Claim]) -> str:
    law = found.law(FRAME, "cost")
    failed = sum(claim.holds is False for claim in claims.values())
    critical = law.critical_bytes.value
    smallest = found.table.row(0, named=True)
    return (
        "R. Smith's *Data Traffic Dynamics and Saturation on a Single Link* (2009), simulated again: UDP of 25 to "
        "1450 B over a 100 Mbit/s cable between two hosts. **Why is a link slow with small packets?**\n\n"
        f"Because each packet costs its sender {PER_PACKET_S * 1e6:.1f} µs, and each byte {PER_BYTE_S * 1e9:.1f} ns. "
        f"Above a frame of {critical:.0f} B ({critical - HEADER_BYTES:.0f} B of payload) the line is the slower of "
        "the two and is full; below, the interface is, and packets of 25 B bring "
        f"{smallest['goodput_bps'] / 1e6:.1f} Mbit/s. Two numbers, fitted to the packet rates and the critical size "
        "that the document prints, and Ethernet's framing give its plateau, its erosion, its step at the "
        "fragmentation limit and the rise of the packet rate in saturation, which it calls a contradiction.\n\n"
        f"Our runs contradict {failed} claims. Each says why: slips of the document (7 thousand packets/s, a fragment "
        "without its IP header, 6 % that is goodput and not throughput), one effect put down to another cause, or a "
        "law that is simpler than the document's own data."
    )
