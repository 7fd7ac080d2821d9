"""Study ``bulk-throughput``: what a path carries for every window and number of flows, and what to choose.

IEPM group, SLAC: Bulk throughput simulation, December 2000 (cited as "SLAC 2000, Bulk throughput
simulation"), which predicted iperf's goodput from SLAC to four sites with ns-2. Its measurements were not
published; its simulations are redone here, and compared with ns-2.35.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tightlink.analysis.choice import choose
from tightlink.studies.bulk_throughput import (
    cells,
    company,
    daresbury,
    figures,
    grids,
    live_cells,
    measured,
    observed,
    one_property,
    paths,
    pings,
    reference,
    sites,
    unpublished,
    variants,
)
from tightlink.studies.study import Findings, Study
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.run import Run


def tasks() -> list[Task]:
    """Everything that is simulated; the grids of the document come first."""
    return [
        *paths.tasks(),
        *daresbury.tasks(),
        *variants.tasks(),
        *pings.tasks(),
        *one_property.tasks(),
        *company.tasks(),
        *observed.tasks(),
    ]


def findings(runs: Mapping[str, Run]) -> Findings:
    """Claims, report and figures, all from the runs."""
    found = {place.name: cells.cells(runs, place.name, place.cells, place.path) for place in paths.PATHS}
    claims = [
        *daresbury.claims(found["daresbury"], runs),
        *sites.claims(found),
        *variants.claims(runs),
        *pings.claims(runs),
        *company.claims(runs),
        *reference.claims(runs),
        *unpublished.claims(),
    ]
    sections = [
        grids.choices(found),
        *grids.sections(found),
        one_property.section(runs),
        variants.section(runs),
        pings.section(runs),
        company.section(runs),
        observed.section(runs),
        reference.section(runs),
    ]
    return Findings(
        "Bulk throughput: windows, flows and what to choose",
        _lead(found, claims),
        claims,
        sections,
        lambda folder: figures.draw(folder, found, runs),
    )


def _lead(found: Mapping[str, pl.DataFrame], claims: list[Claim]) -> str:
    best = choose(found["daresbury"]).best
    failed = sum(claim.holds is False for claim in claims)
    held = sum(claim.holds is True for claim in claims)
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


def _with_measurements() -> Study:
    return replace(
        STUDY,
        tasks=lambda: [*tasks(), *live_cells.tasks()],
        findings=_found_live,
        measured=live_cells.measurements,
        command=" --live",
    )


def _found_live(runs: Mapping[str, Run]) -> Findings:
    """The same, and what was measured; that first, as who measures asks for it."""
    own = findings(runs)
    wanted = live_cells.cells()
    points = measured.points(runs, wanted)
    return replace(
        own,
        claims=[*own.claims, *measured.claims(points, len(wanted))],
        sections=[measured.section(runs, points), *own.sections],
        draw=lambda folder: [*own.draw(folder), *figures.measured(folder, points)],
        tables={"measured": points},
    )


STUDY: Final = Study(
    "bulk-throughput",
    "windows and flows on four wide-area paths: what to expect, what to choose (SLAC 2000)",
    tasks,
    findings=findings,
    measure=cells.measure,
    live=_with_measurements,
)
