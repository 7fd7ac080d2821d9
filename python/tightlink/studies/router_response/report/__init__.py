"""The report: a lead, the answer first, what the document gets wrong and the costs last."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tightlink.studies.router_response.report import alternatives, costs, errata, figures, laws, response
from tightlink.studies.router_response.setup.document import SHORTEST
from tightlink.studies.study import Report
from tightlink.studies.words import per_s, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.router_response.observe import Observed
    from tightlink.studies.router_response.observe.regions import Routers


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """All of it."""
    return Report(
        "A router's response to traffic",
        _lead(observed.routers, sum(claim.holds is False for claim in claims.values())),
        [
            *response.sections(observed, claims),
            laws.section(observed.routers, observed.values),
            *alternatives.sections(observed),
            errata.section(claims),
            costs.section(),
        ],
        partial(figures.draw, found=observed.routers),
    )


def _lead(found: Routers, failed: int) -> str:
    short = found.probes(SHORTEST)
    return (
        "*What breaks a router first: bits, bytes or packets?* M. Paredes-Farrera, M. Fleury and M. Ghanbari probed "
        "two Cisco 2600 routers, joined by a 2 Mbit/s serial link, with 140 streams of constant rate (2006); here "
        "they are simulated again.\n\n"
        "**Packets, as far as its probes can tell.** What is assumed: a packet costs router A the same time whatever "
        "its length, so many microseconds that the mean of the document's three onsets comes out, and a low-priority "
        "process makes the one-minute reading. What follows from that and five printed figures: the 72 % that the "
        "router reports is saturation, seen through a decaying average; that the reading falls at still higher rates, "
        f"to {percent(float(short['load'][-1]))} at {per_s(float(short['offered_packets_per_s'][-1]))}, is a meter "
        "that gets no turn while the CPU is busy; where the serial link ends router B's curves and where loss begins, "
        "for lengths that nothing was fitted to.\n\n"
        f"What does not: with one cost all lengths give way {found.found.onset} packets/s, and the document's onsets, "
        "4290, 4092 and 3925, are not met. A cost that steps with IOS's pools of buffers meets them; the document's "
        "other prints of the same onsets contradict them by more. Whether buffers are the cause, as it supposes, its "
        "figures cannot say.\n\n"
        f"Our runs contradict {failed} claims; each says why. Claims that repeat a figure which the routers' costs "
        "were derived from, or what the model has built in, say so."
    )
