"""Study ``link-saturation``: UDP of all packet sizes over one Ethernet link, limited by bits, then by packets.

R. Smith: Data Traffic Dynamics and Saturation on a Single Link, 2009 (arXiv 0802.3554), two hosts and a cable:
below a critical packet size the sender's interface, not the line, is what limits.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tightlink.studies.link_saturation import (
    branching,
    capacity,
    connections,
    disturbed,
    figures,
    forwarded,
    forwarded_claims,
    other_links,
    readings,
    receiver,
    relayed,
    relayed_claims,
    shared,
    slips,
    statements,
    sweeps,
)
from tightlink.studies.link_saturation.interface import HEADER_BYTES, PER_BYTE_S, PER_PACKET_S
from tightlink.studies.link_saturation.measures import measure
from tightlink.studies.link_saturation.readings import FRAME
from tightlink.studies.link_saturation.sweeps import TCP_BOTH, TCP_OUT
from tightlink.studies.study import Findings, Study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.run import Run
    from tightlink.studies.link_saturation.readings import Found


def tasks() -> list[Task]:
    """Everything that is simulated."""
    return [*sweeps.tasks(), *disturbed.tasks(), *shared.tasks(), *connections.tasks()]


def findings(runs: Mapping[str, Run]) -> Findings:
    """Claims, report and figures, all from the runs."""
    found = readings.read(runs)
    over_tcp = {sweep.name: readings.in_frames(sweep, runs) for sweep in (TCP_OUT, TCP_BOTH)}
    flows = capacity.table(runs)
    claims = [
        *readings.claims(found),
        *statements.claims(found, runs),
        *other_links.claims(runs),
        *branching.claims(found, runs),
        *shared.claims(runs, found.table),
        *connections.claims(runs, over_tcp),
        *capacity.claims(flows),
    ]
    sections = [
        statements.section(found),
        slips.section(claims),
        readings.section(found),
        branching.section(found, runs),
        *other_links.sections(runs),
        receiver.section(runs),
        shared.section(runs, found.table),
        *connections.sections(runs, over_tcp),
        capacity.section(flows),
    ]
    return Findings(
        "When a link runs out of packets, not bits",
        _lead(found, claims),
        claims,
        sections,
        lambda folder: figures.draw(folder, found, runs),
    )


def _lead(found: Found, claims: list[Claim]) -> str:
    law = found.law(FRAME, "cost")
    failed = sum(claim.holds is False for claim in claims)
    critical = law.critical_bytes.value
    smallest = found.table.row(0, named=True)
    return (
        "R. Smith's *Data Traffic Dynamics and Saturation on a Single Link* (2009), simulated again: UDP of 25 to "
        "1450 B over a 100 Mbit/s cable between two hosts. **Why is a link slow with small packets?**\n\n"
        f"Because each packet costs its sender {PER_PACKET_S * 1e6:.1f} µs, and each byte {PER_BYTE_S * 1e9:.1f} ns. "
        f"Above a frame of {critical:.0f} B ({critical - HEADER_BYTES:.0f} B of payload) the line is the slower of "
        "the two and is full; below, the interface is, and packets of 25 B bring "
        f"{smallest['goodput_bps'] / 1e6:.1f} Mbit/s. Two numbers, taken from the two packet rates that the document "
        "prints, and Ethernet's framing give its plateau, its erosion, its step at the fragmentation limit and the "
        "rise of the packet rate in saturation, which it calls a contradiction.\n\n"
        f"Our runs contradict {failed} claims. Each says why: slips of the document (7 thousand packets/s, a fragment "
        "without its IP header, 6 % that is goodput and not throughput), one effect put down to another cause, or a "
        "law that is simpler than the document's own data."
    )


def _measure(run: Run) -> dict[str, float | str]:
    return {"link": sweeps.link_of(run.scenario)} | measure(run)


def _with_measurements() -> Study:
    return replace(
        STUDY,
        tasks=lambda: [*tasks(), *relayed.tasks()],
        findings=_found_live,
        measured=lambda: [*relayed.measurements(), *forwarded.measurements()],
        command=" --live",
    )


def _found_live(runs: Mapping[str, Run]) -> Findings:
    """The same, and what was measured; that first, as who measures asks for it."""
    own = findings(runs)
    claims, section, table = relayed_claims.findings(runs)
    more, other, swept = forwarded_claims.findings(runs)
    return replace(
        own,
        claims=[*own.claims, *claims, *more],
        sections=[section, other, *own.sections],
        tables={"measured": table, "forwarded": swept},
    )


STUDY: Final = Study(
    "link-saturation",
    "UDP of all packet sizes over one link: limited by bits, then by packets (Smith 2009)",
    tasks,
    findings=findings,
    measure=_measure,
    live=_with_measurements,
)
