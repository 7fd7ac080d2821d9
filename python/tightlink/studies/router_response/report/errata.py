"""The part of the report on what the document gets wrong, and its own figures side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.report import Format, Section, Table, Text
from tightlink.studies.router_response.setup.document import INTERVALS_MS, ONSETS_MBIT, ONSETS_PER_S, SHORTEST
from tightlink.studies.words import MBIT, percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.experiment.claims import Claim

_BITS: Final = 8


def section(claims: Mapping[str, Claim]) -> Section:
    """The claims of the document that do not hold, and why; then what its own figures contradict."""
    failed = [claim for claim in claims.values() if claim.holds is False and claim.origin == "document"]
    listed = "\n".join(
        f"- *{claim.statement}* ({claim.source.partition(', ')[2]}). Here: {claim.observed_text}. {claim.reason}"
        for claim in failed
    )
    twice = ONSETS_MBIT[SHORTEST] * MBIT / _BITS / SHORTEST / ONSETS_PER_S[SHORTEST] - 1
    notes = (
        f"Notes, which need no run. The document prints its onsets twice (table): those of {SHORTEST} B are "
        f"{percent(twice)} apart, and what it has as 4.6 Mbit/s of 1500 B is read as 46. The inter-arrival times that "
        f"it lists, 0.1 to 100 ms, are {len(INTERVALS_MS)}, not 30. For constant inter-arrival time the packet rate is "
        "the same for small packets and large ones, not higher; it is higher at constant bit rate. The unstable and "
        "the highly unstable region of each curve rest on one probe each; probes go *from the sender*, not from the "
        "receiver; and the text names Fig. 4 (a) and (b) the other way round than the caption. None of this touches "
        "its main finding."
    )
    rows = [
        {
            "length": f"{length} B",
            "printed in packets/s": rate,
            "which is Mbit/s": _BITS * length * rate / MBIT,
            "printed in Mbit/s, 4.6 as 46": ONSETS_MBIT[length],
            "which is packets/s": ONSETS_MBIT[length] * MBIT / _BITS / length,
        }
        for length, rate in ONSETS_PER_S.items()
    ]
    formats: dict[str, Format] = {
        "printed in packets/s": ".0f", "which is Mbit/s": ".2f", "printed in Mbit/s, 4.6 as 46": ".1f",
        "which is packets/s": ".0f",
    }  # fmt: skip
    finding = (
        "What it measured stands within its probes. What it prints beyond them, onsets to a packet per second, one "
        "cost for all lengths does not give, and no run can say more of its cause than its figures do."
    )
    table = Table(pl.DataFrame(rows), "The document's two prints of each onset", formats)
    return Section("What the document gets wrong", finding, [Text(listed), Text(notes), table])
