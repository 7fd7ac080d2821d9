"""The report: a lead, and sections in the order of the document."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tightlink.studies.one_flow.report import cases, company, figures, notes, quality, response, window
from tightlink.studies.study import Report
from tightlink.studies.words import ms, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.one_flow.observe import Observed


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """All of it."""
    tcp, udp, runs = observed.tcp, observed.udp, observed.runs
    return Report(
        "One flow, alone and with company",
        _lead(observed, claims),
        [
            *cases.sections(tcp, udp, claims),
            window.section(tcp, runs),
            quality.section(tcp, udp),
            response.section(observed.response),
            *company.sections(observed.company, runs),
            response.phase_section(observed.company.phase),
            notes.section(),
        ],
        partial(figures.draw, observed=observed),
        picture="What the document missed: the window",
    )


def _lead(observed: Observed, claims: Mapping[str, Claim]) -> str:
    tcp = observed.tcp
    small, long, base = tcp["packet-100"], tcp["delay-100ms"], tcp["base"]
    failed = sum(claim.holds is False for claim in claims.values())
    return (
        "Six of the seven cases of L. Balliache's *One TCP flow* (2003) agree with the document to the last packet, "
        "but its lessons are a default's: **ns-2's window of 20 packets**, which it never mentions, "
        f"makes the latency of {ms(base.latency_s, 0)} that no queue can change, the "
        f"{percent(1 - small.kilobytes / base.kilobytes)} lost with small packets and the "
        f"{percent(1 - long.kilobytes / base.kilobytes)} lost on a long link.\n\nSimulated again: seven cases of one "
        "TCP Reno flow in ns-2, then the same with UDP and with company, as the document announces. Our runs "
        f"contradict {failed} of its claims, which are slips of arithmetic or put an effect down to another "
        "cause; each says why. The counts of the seventh case, which another version of ns-2 made, are open."
    )
