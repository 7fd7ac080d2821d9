"""Study ``one-flow``: one TCP flow over one link, in seven cases, then with UDP, and with company.

L. Balliache: Differentiated service on Linux / one TCP flow, 2003 (cited as "Balliache 2003, One TCP
flow"), a study with ns-2 of a TCP flow that has a link for itself. Its lessons rest on a default that
it does not mention, a window of 20 packets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tightlink.studies.one_flow import (
    case_sections,
    cases,
    company,
    company_section,
    company_tables,
    counts,
    figures,
    live,
    phase,
    response,
    statements,
    verdicts,
    window,
)
from tightlink.studies.one_flow.measures import Measured, measure
from tightlink.studies.study import Findings, Study
from tightlink.studies.words import ms, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.run import Run


def tasks() -> list[Task]:
    """Everything that is simulated."""
    return [*cases.tasks(), *window.tasks(), *response.tasks(), *company.tasks(), *phase.tasks()]


def findings(runs: Mapping[str, Run]) -> Findings:
    """Claims, report and figures, all from the runs."""
    tcp, udp = (
        {case.name: measure(case, runs[f"{transport}/{case.name}"]) for case in cases.CASES}
        for transport in ("tcp", "udp")
    )
    claims = [
        *counts.claims(tcp, udp, runs),
        *statements.claims(tcp, udp, runs),
        *verdicts.claims(tcp),
        *response.claims(runs),
        *company_tables.claims(runs),
        *phase.claims(runs),
        *window.claims(tcp, runs),
    ]
    sections = [
        *case_sections.sections(tcp, udp),
        window.section(tcp, runs),
        verdicts.section(tcp, udp),
        response.section(runs),
        *company_section.sections(runs),
        phase.section(runs),
    ]
    lead = _lead(tcp, claims)
    return Findings(
        "One flow, alone and with company",
        lead,
        claims,
        sections,
        lambda folder: figures.draw(folder, tcp, udp, runs),
        picture="What the document missed: the window",
    )


def _lead(tcp: Mapping[str, Measured], claims: list[Claim]) -> str:
    small, long, base = tcp["packet-100"], tcp["delay-100ms"], tcp["base"]
    failed = sum(claim.holds is False for claim in claims)
    return (
        "Six of the seven cases of L. Balliache's *One TCP flow* (2003) agree with the document to the last packet, "
        "but its lessons are a default's: **ns-2's window of 20 packets**, which it never mentions, "
        f"makes the latency of {ms(base.latency_s, 0)} that no queue can change, the "
        f"{percent(1 - small.kilobytes / base.kilobytes)} lost with small packets and the "
        f"{percent(1 - long.kilobytes / base.kilobytes)} lost on a long link.\n\nSimulated again: seven cases of one "
        "TCP Reno flow in ns-2, then the same with UDP and with company, as the document announces. Our runs "
        f"contradict {failed} of its claims: the counts of the seventh case, which another version of ns-2 made, "
        "and statements that are slips of arithmetic or put an effect down to another cause; each says why."
    )


def _with_measurements() -> Study:
    return replace(
        STUDY,
        tasks=lambda: [*tasks(), *live.tasks()],
        findings=_found_live,
        measured=live.measurements,
        command=" --live",
    )


def _found_live(runs: Mapping[str, Run]) -> Findings:
    """The same, and what was measured; that first, as who measures asks for it."""
    own = findings(runs)
    claims, section, table = live.findings(runs)
    return replace(own, claims=[*own.claims, *claims], sections=[section, *own.sections], tables={"measured": table})


STUDY: Final = Study(
    "one-flow",
    "one TCP or UDP flow over one link, then with company (Balliache 2003)",
    tasks,
    findings,
    live=_with_measurements,
)
