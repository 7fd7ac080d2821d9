"""Study ``congestion-basics``: what congestion control is, and what theory says of it, before a network is built of it.

The first pages of NIST's study of proposed replacements for TCP (2011): the phases of a flow, a path of which TCP
uses 89 %, and one of which it uses little; then the response functions of the replacements, and the points at which
those that measure delay come to rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.studies.congestion_basics import (
    equilibria,
    figures,
    long_path,
    operating_points,
    paths,
    phases,
    response_claims,
    responses,
)
from tightlink.studies.study import Findings, Study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.execute import Task
    from tightlink.run import Run


def tasks() -> list[Task]:
    """Everything that is simulated, the longest first, so that none is left to the end alone."""
    parts = (long_path, paths, operating_points, equilibria, phases)
    return [*responses.tasks()[::-1], *(task for part in parts for task in part.tasks())]


def findings(runs: Mapping[str, Run]) -> Findings:
    """Claims, report and figures, all from the runs."""
    claims = [
        *phases.claims(runs),
        *paths.claims(runs),
        *long_path.claims(runs),
        *response_claims.claims(runs),
        *equilibria.claims(runs),
        *operating_points.claims(runs),
    ]
    parts = (phases, paths, long_path, response_claims, equilibria, operating_points)
    failed = sum(claim.holds is False for claim in claims)
    return Findings(
        "The basics of congestion control",
        _LEAD.format(failed=failed),
        claims,
        [part.section(runs) for part in parts],
        lambda folder: figures.draw(folder, runs),
        picture="252 Mbit/s, and 89 % of it",
    )


_LEAD: Final = (
    "NIST's *Study of Proposed Internet Congestion Control Mechanisms* begins with the phases of a flow, a path of "
    "which TCP uses 89 %, and one across the Atlantic of which it uses little. Here they are simulated, with the "
    "queues and round trips that the document leaves out, and the theory behind them: **89 % is the sawtooth of one "
    "flow with a queue of a quarter of a bandwidth-delay product**, whatever the round trip, and on 1 Gbit/s across "
    "the Atlantic one packet lost in a million is enough to leave most of it idle.\n\nThen what the proposed "
    "replacements change, as response functions: every one follows the rules of its source. Our runs contradict "
    "{failed} claims, of which most compare losses at random with formulas for losses at equal distances; each says "
    "why."
)

STUDY: Final = Study(
    "congestion-basics",
    "phases of a flow, 89 % of a path, and response functions (NIST 2011)",
    tasks,
    findings=findings,
)
