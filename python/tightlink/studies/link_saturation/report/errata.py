"""The part of the report on what the document gets wrong, in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.report import Section, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim


def section(claims: Mapping[str, Claim]) -> Section:
    """The part of the report: each slip with the document's figure and ours, from the claims."""
    here = {claim.id: claim.observed_text for claim in claims.values()}
    text = (
        f"- **Free flow does not begin at 7 thousand packets/s** but at {here['rate.largest-packets']}: 7 thousand "
        "packets of 1450 B are 81 Mbit/s.\n"
        f"- **6 % of the bandwidth at 25 B is goodput** ({here['share.payload']}); with the headers that the "
        f"document says it counts it is {here['share.frame']}.\n"
        "- **The critical size is one of payload, and 96 Mbit/s there is throughput with headers**, as the set-up has "
        f"them: so read, {here['critical.payload-cost']}, {here['critical.rate']} and {here['plateau.frame']} go "
        "together within the document's digits. Eq. 7 takes both sides in the same bytes; of frames the critical "
        f"size is {here['critical.frame-cost']}.\n"
        "- **The rising packet rate is no contradiction.** Bytes cost the interface time, too; without that cost "
        "the rate is constant, and eq. 7 exact.\n"
        "- **Free flow erodes for no imperfection.** The line is busy all the time; preamble and gap, 20 B a frame, "
        f"are not counted. Counted, d ln f / d ln p is {here['slope.line']} instead of {here['slope.frame']}.\n"
        f"- **The second fragment of 1475 B** carries {here['fragments.second']}, not 3, as it has an IP header of "
        "its own.\n"
        f"- **Jumbo frames help 100 Mbit/s by their headers, not by sparing the processor** ({here['jumbo.cause']}); "
        "at 1 Gbit/s the document's reason holds.\n"
        f"- **Flow does not fall beyond the critical size** ({here['size-density.congested']}): over packet size the "
        "vehicles' diagram has no congested branch. Over connections it has one where work is lost with load "
        f"({here['density.congested']}), and none where a link or an interface is full.\n"
        "- **Packets are no flows**: the document's thousands of flows per second are packets.\n"
    )
    finding = (
        "Its measurements and its main conclusion stand: packets limit, not bits. What does not hold are slips, "
        "readings, and a law with one parameter too few."
    )
    return Section("What the document gets wrong", finding, [Text(text)])
