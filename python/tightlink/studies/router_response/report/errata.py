"""The part of the report on what the document gets wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.report import Section, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.studies.router_response.observe.regions import Routers


def section(found: Routers, claims: Mapping[str, Claim]) -> Section:
    """The claims of the document that do not hold, and why."""
    failed = [claim for claim in claims.values() if claim.holds is False and claim.origin == "document"]
    listed = "\n".join(
        f"- *{claim.statement}* ({claim.source.partition(', ')[2]}). Here: {claim.observed_text}. {claim.reason}"
        for claim in failed
    )
    text = (
        "None of this touches its main finding. Beside the slips: the unstable and the highly unstable region of each "
        'curve rest on one probe each; probes go *from the sender*, not "from the receiver"; and the text names '
        "Fig. 4 (a) and (b) the other way round than the caption."
    )
    in_bytes = found.variants["A, rings in bytes"].onset
    finding = (
        "What it measured holds; the cause that it supposes does not. With rings that count bytes the onset stays "
        f"where it is, {in_bytes} packets/s: the CPU's time for each packet governs, not the slot that it takes."
    )
    return Section("What the document gets wrong", finding, [Text(listed), Text(text)])
