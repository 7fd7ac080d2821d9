"""What the document gets wrong, in one table: the claims that do not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.report import Section, Table, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tightlink.experiment.claims import Claim


def section(claims: Sequence[Claim]) -> Section:
    """The part of the report."""
    failed = [claim for claim in claims if claim.holds is False]
    frame = pl.DataFrame(
        {
            "the document": [claim.statement for claim in failed],
            "its figure": [claim.expected_text for claim in failed],
            "here": [claim.observed_text for claim in failed],
            "why": [claim.reason for claim in failed],
        }
    )
    finding = (
        "Its measurements stand, and its main conclusion does; what does not hold are slips, readings, and a law with one "
        "parameter too few."
    )
    text = (
        "The contradiction that the document itself notes, a packet rate that goes on rising in saturation, is none: bytes "
        "cost the interface time as well. With a cost per packet alone the rate would be constant (a sweep of its own here "
        'says so), and eq. 7 exact. What also differs: "flows per second" are packets per second.'
    )
    return Section("What the document gets wrong", finding, [Text(text), Table(frame)])
