"""The report: a lead, the answer first, what the document gets wrong and the costs last."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tightlink.studies.router_response.report import alternatives, costs, errata, figures, response
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
            *alternatives.sections(observed),
            errata.section(observed.routers, claims),
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
        f"**Packets.** The load of router A follows the packet rate alike for packets of 65 to 1500 B, and leaves it "
        f'{found.found.onset} packets/s, the document\'s "about 4000". The 72 % that the router then reports is '
        "saturation, seen through a one-minute average; that the reading falls at still higher rates, to "
        f"{percent(float(short['load'][-1]))} at {per_s(float(short['offered_packets_per_s'][-1]))}, shows a meter "
        "that gets no turn, not a router at rest. It is the CPU's time for each packet that does it, not, as the "
        "document supposes, that buffers count packets: with buffers that count bytes the onset does not move.\n\n"
        f"Our runs contradict {failed} claims: slips of the document, statements that contradict its own figures, and "
        "one other reading of them that was tried; each says why. Claims that repeat a figure which the routers' costs "
        "were derived from say so."
    )
