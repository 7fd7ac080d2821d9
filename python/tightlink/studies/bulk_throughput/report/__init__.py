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
from tightlink.studies.bulk_throughput.setup.alternatives import CHOSEN
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
            alternatives.section(observed.alternatives, observed.values),
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
    own = [claim for claim in claims.values() if claim.origin == "document"]
    failed, held = (sum(claim.holds is verdict for claim in own) for verdict in (False, True))
    return (
        "What will a path carry, for which window and how many parallel flows? SLAC's *Bulk throughput simulation* "
        "(2000) asked ns-2 for four paths; all of its cells are simulated again here, beside ns-2.35, with the "
        "variants that it wondered about.\n\nIts main result stands: **several flows with modest windows fill a path "
        f"without loss** ({best['flows']} flows to Daresbury: {percent(best['goodput_share'])}), and whoever goes "
        f"beyond gains loss only. What it says of few flows and of the bottleneck factor holds with {CHOSEN.title}, "
        "which it does not mention and which its figures choose; with ns-2's defaults two flows are enough, and the "
        "factor matters. Its agreement with iperf over long paths speaks for the defaults: no settings have both."
        "\n\n"
        f"Of the document's statements {held} hold; our runs contradict {failed}, and each says why. Its measurements "
        "were never published: what it says of them is asked of Linux, measured, and of transfers beside unknown "
        "traffic, as claims of this study."
    )
