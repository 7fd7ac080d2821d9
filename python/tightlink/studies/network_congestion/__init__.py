"""Study ``network-congestion``: where a network begins to congest, and what of its graph decides that.

R. Smith finds a bifurcation on one link and asks about networks: whether congestion there is a phase transition, and
how topological invariants affect it (Data Traffic Dynamics and Saturation on a Single Link, 2009, sections 4 and 6).
Here graphs of nine families carry packets between all their nodes, at loads around the critical one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.studies.network_congestion import balanced, curves, figures, fluctuations, invariants, limits, rounding
from tightlink.studies.network_congestion.measured import row
from tightlink.studies.network_congestion.network import tasks as tasks_of
from tightlink.studies.study import Findings, Study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.run import Run


def tasks() -> list[Task]:
    """Everything that is simulated."""
    parts = (curves, rounding, fluctuations, invariants, limits, balanced)
    return [task for part in parts for task in tasks_of(part.cases())]


def findings(runs: Mapping[str, Run]) -> Findings:
    """Claims, report and figures, all from the runs."""
    found, structure, sizes = curves.read(runs), invariants.table(runs), limits.read(runs)
    near, limited = rounding.read(runs), fluctuations.read(runs)
    claims = [
        *curves.claims(found),
        *rounding.claims(near),
        *fluctuations.claims(found, limited),
        *invariants.claims(structure),
        *limits.claims(sizes),
        *balanced.claims(runs),
    ]
    sections = [
        curves.section(found),
        rounding.section(near),
        fluctuations.section(found, limited),
        invariants.section(structure),
        limits.section(sizes),
        balanced.section(runs),
    ]
    return Findings(
        "Where a network begins to congest",
        _lead(claims),
        claims,
        sections,
        lambda folder: figures.draw(folder, found, structure, near, limited),
    )


def _lead(claims: list[Claim]) -> str:
    failed = sum(claim.holds is False for claim in claims)
    return (
        "R. Smith's study of one link (2009) ends with a question: *on a network, where many nodes interact, is "
        "congestion a phase transition, and how do topological invariants affect it?* Here graphs of many kinds carry "
        "packets from every node to every other: small worlds, scale-free and random ones, lattices, trees, "
        "autonomous systems, Abilene.\n\n**One number decides where congestion begins: the betweenness of the busiest "
        "link, along the paths that are really taken.** λc = C (n − 1) / B, on every graph; and with paths that do "
        "not change and senders that do not listen, congestion there is what it is on one link, a bifurcation, one "
        "for each link at its own load. Time rounds it as it rounds one queue; more nodes do not sharpen it. "
        f"Fluctuations show the same point, and peak there only if queues are limited.\n\nOur runs contradict {failed} "
        "claims; each says why."
    )


STUDY: Final = Study(
    "network-congestion",
    "where congestion begins on graphs of many kinds: critical load, fluctuations, invariants (Smith 2009)",
    tasks,
    findings=findings,
    measure=row,
)
