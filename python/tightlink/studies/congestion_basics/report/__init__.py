"""The report: a lead, and sections in the order of the document."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from tightlink.studies.congestion_basics.report import figures, operating_points, paths, responses
from tightlink.studies.study import Report

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.congestion_basics.observe import Observed

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


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """All of it."""
    return Report(
        "The basics of congestion control",
        _LEAD.format(failed=sum(claim.holds is False for claim in claims.values())),
        [
            paths.phases(observed.phases),
            paths.bottleneck(observed.paths),
            paths.long_path(observed.long_path),
            responses.section(observed.responses),
            operating_points.measuring_delay(observed.points.delay),
            operating_points.knowing_rates(observed.points),
        ],
        partial(figures.draw, observed=observed),
        picture=paths.TITLE,
    )
