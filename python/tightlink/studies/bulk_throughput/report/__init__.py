"""The report: a lead, and sections in the order of the document."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tightlink.analysis.choice import choose
from tightlink.studies.bulk_throughput.observe.linux import where
from tightlink.studies.bulk_throughput.report import (
    alternatives,
    cross_traffic,
    figures,
    grids,
    linux,
    notes,
    pings,
    reference,
    residuals,
    unknown,
    variants,
)
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY
from tightlink.studies.study import Report
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.bulk_throughput.observe import Observed


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """Lead, sections and figures."""
    return Report(
        "Bulk throughput: windows, flows and what to choose",
        _lead(observed, claims),
        [
            alternatives.section(observed.alternatives),
            grids.choices(observed.grids),
            *grids.sections(observed.grids),
            variants.property_section(observed.one_property),
            variants.recovery_section(observed.variants),
            pings.section(observed.pings),
            cross_traffic.section(observed.cross, observed.intervals),
            residuals.section(observed.points),
            unknown.section(observed.explained),
            linux.section("Linux, measured", observed.measured, f"Measured and stored: {' '.join(where())}"),
            reference.section(observed.reference, observed.values),
            notes.section(),
        ],
        partial(figures.draw, observed=observed),
    )


def _lead(observed: Observed, claims: Mapping[str, Claim]) -> str:
    best = choose(observed.grids[DARESBURY.name]).best
    failed = sum(claim.holds is False for claim in claims.values())
    held = sum(claim.holds is True for claim in claims.values())
    return (
        "What will a path carry, for which window and how many parallel flows? SLAC's *Bulk throughput simulation* "
        "(2000) asked ns-2 for four paths; all of its cells are simulated again here, beside ns-2.35, with the "
        "variants that it wondered about.\n\nIts main result stands: **several flows with modest windows fill a path "
        f"without loss** ({best['flows']} flows to Daresbury: {percent(best['goodput_share'])}), and whoever goes "
        "beyond gains loss only. But the window to choose is the bandwidth-delay product *divided by the number of "
        "flows*, four flows are not needed for 70 %, the bottleneck factor does matter once slow start overflows the "
        "queue, and Tahoe and SACK are equal only where nothing is lost.\n\n"
        f"{held} claims on what is simulated hold; our runs contradict {failed}, and each says why; what the "
        "document says of its measurements cannot be tested, as these were not published."
    )
