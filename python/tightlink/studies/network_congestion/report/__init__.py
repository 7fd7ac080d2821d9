"""The report: a lead, and sections from where packets pile up to what to do about it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tightlink.studies.network_congestion.report import (
    balanced,
    figures,
    fluctuations,
    growth,
    invariants,
    order_parameter,
    packet_sizes,
    rounding,
)
from tightlink.studies.study import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.network_congestion.observe import Observed


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """Lead, sections and figures."""
    return Report(
        "Where a network begins to congest",
        _lead(claims),
        [
            order_parameter.section(observed.graphs),
            rounding.section(observed.rounding),
            fluctuations.section(observed.graphs, observed.limited),
            invariants.section(observed.invariants, observed.correlations),
            packet_sizes.section(observed.packet_sizes, claims),
            balanced.section(observed.balanced),
            growth.section(observed.growth, observed.values),
        ],
        partial(figures.draw, observed=observed),
    )


def _lead(claims: Mapping[str, Claim]) -> str:
    failed = sum(claim.holds is False for claim in claims.values())
    return (
        "R. Smith's study of one link (2009) ends with questions: *on a network, where many nodes interact, is "
        "congestion a phase transition, how do topological invariants affect it, and how does it affect them?* Here "
        "graphs of many kinds carry packets from every node to every other: small worlds, scale-free and random ones, "
        "lattices, trees, autonomous systems, Abilene.\n\n"
        "**One number decides where congestion begins: the betweenness of the busiest link, along the paths that are "
        "really taken.** λc = C (n − 1) / B, on every graph; and with paths that do not change and senders that do "
        "not listen, congestion there is what it is on one link, a bifurcation, one for each link at its own load. "
        "Time rounds it as it rounds one queue; more nodes do not sharpen it. Fluctuations show the same point, and "
        "peak there only if queues are limited.\n\n"
        f"Our runs contradict {failed} claims; each says why."
    )
