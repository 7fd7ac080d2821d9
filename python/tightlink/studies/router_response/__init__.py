"""Study ``router-response``: two routers and a serial link, probed with packets of five lengths at 28 rates.

M. Paredes-Farrera, M. Fleury, M. Ghanbari: Router Response to Traffic at a Bottleneck Link, 2006. They
find that the packet rate, not the bit rate or the packet length, governs the load of a router's CPU, and
that it becomes unstable from about 4,000 packets/s on.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tightlink.experiment.metrics import metrics
from tightlink.studies.router_response import (
    burnt,
    burnt_claims,
    evidence,
    figures,
    forwarded,
    forwarded_claims,
    load_claims,
    loss_claims,
    otherwise,
    probes,
    sections,
    variants,
    video,
)
from tightlink.studies.router_response.network import DOCUMENTED
from tightlink.studies.router_response.words import per_s, percent
from tightlink.studies.study import Findings, Study

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.execute import Task
    from tightlink.run import Run
    from tightlink.studies.router_response.evidence import Evidence

#: Columns of a probe in the table of runs.
_MEASURED: Final = (
    "packet_bytes", "nominal_packets_per_s", "nominal_bps", "offered_packets_per_s", "offered_bps", "packets_per_s",
    "throughput_bps", "goodput_bps", "load", "load_busy", "load_true", "loss", "lost_input_ring", "lost_output_ring",
    "forwarded_packets_per_s", "b_packets_per_s", "b_bps", "b_load", "one_way_delay_mean_s",
)  # fmt: skip


def tasks() -> list[Task]:
    """Everything that is simulated."""
    return [*probes.tasks(), *evidence.tasks(), *variants.tasks(), *video.tasks()]


def findings(runs: Mapping[str, Run]) -> Findings:
    """Claims, report and figures, all from the runs."""
    found = evidence.gather(runs)
    claims = [*load_claims.claims(found), *loss_claims.claims(found)]
    parts = sections.sections(found, claims)
    # The answer first, what the document gets wrong and the costs last.
    parts[5:5] = otherwise.sections(found)
    failed = sum(claim.holds is False for claim in claims)
    return Findings(
        "A router's response to traffic",
        _lead(found, failed),
        claims,
        parts,
        lambda folder: figures.draw(folder, found),
    )


def measure(run: Run) -> dict[str, float | str]:
    """A row of the table of runs, which ``tightlink analyze regimes`` takes as it is.

    ``router`` names router A in its setting. It is empty for what is no probe of the grid or about the
    onset: the probes of the fall, the videos, and the meter that was watched.
    """
    setting = variants.setting_of(run.scenario)
    own = metrics(run)
    if setting is None or run.series["time_s"].n_unique() > 1:
        return {"router": "", **dict.fromkeys(_MEASURED, math.nan), **own}
    apart = setting is DOCUMENTED and probes.is_of_fall(run)
    return {"router": "" if apart else setting.name, **own, **probes.measured(run)}


def _lead(found: Evidence, failed: int) -> str:
    onset = found.found.onset
    short = found.of(65)
    return (
        "*What breaks a router first: bits, bytes or packets?* M. Paredes-Farrera, M. Fleury and M. Ghanbari probed "
        "two Cisco 2600 routers, joined by a 2 Mbit/s serial link, with 140 streams of constant rate (2006); here "
        "they are simulated again.\n\n"
        f"**Packets.** The load of router A follows the packet rate alike for packets of 65 to 1500 B, and leaves it "
        f'{onset} packets/s, the document\'s "about 4000". The 72 % that the router then reports is saturation, seen '
        "through a one-minute average; that the reading falls at still higher rates, to "
        f"{percent(float(short['load'][-1]))} at {per_s(float(short['offered_packets_per_s'][-1]))}, shows a meter "
        "that gets no turn, not a router at rest. It is the CPU's time for each packet that does it, not, as the "
        "document supposes, that buffers count packets: with buffers that count bytes the onset does not move.\n\n"
        f"Our runs contradict {failed} claims: slips of the document, statements that contradict its own figures, and "
        "one other reading of them that was tried; each says why. Claims that repeat a figure which the routers' costs "
        "were derived from say so."
    )


def _with_measurements() -> Study:
    return replace(
        STUDY,
        tasks=lambda: [*tasks(), *burnt.tasks()],
        findings=_found_live,
        measured=lambda: [*burnt.measurements(), *forwarded.measurements()],
        command=" --live",
    )


def _found_live(runs: Mapping[str, Run]) -> Findings:
    """The same, and what was measured; that first, as who measures asks for it."""
    own = findings(runs)
    claims, section, table = burnt_claims.findings(runs)
    more, other, probed = forwarded_claims.findings(runs)
    return replace(
        own,
        claims=[*own.claims, *claims, *more],
        sections=[section, other, *own.sections],
        tables={"measured": table, "forwarded": probed},
    )


STUDY: Final = Study(
    "router-response",
    "a router's load over packet rate, bit rate and packet length (Paredes-Farrera et al. 2006)",
    tasks,
    findings=findings,
    measure=measure,
    live=_with_measurements,
)
