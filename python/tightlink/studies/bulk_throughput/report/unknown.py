"""What the prediction for Caltech may not know of its path: traffic, bandwidth, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tightlink.report import Row, Section, Table, Text
from tightlink.studies.bulk_throughput.report import residuals
from tightlink.studies.bulk_throughput.setup.cross_traffic import CROSS
from tightlink.studies.bulk_throughput.setup.paths import CALTECH
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tightlink.studies.bulk_throughput.observe.unknown import Explained


def section(found: Sequence[Explained]) -> Section:
    """The part of the report."""
    best, nearest = found[0], min(found, key=lambda each: each.mean_miss)
    beside = next(each for each in found if each.unknown.cross == CROSS)
    finding = (
        f"Akaike's criterion chooses {_named(best)}, which miss the document's figures of Caltech by "
        f"{best.mean_miss:.3f} on average; {_named(nearest)} miss them least, by {nearest.mean_miss:.3f}; with "
        f"{percent(CROSS)} of traffic {beside.unknown.bandwidth_bps / 1e6:g} Mbit/s do best, by {beside.mean_miss:.3f}."
    )
    text = (
        "The document finds its simulator low with many flows and suspects the bandwidth of 45 Mbit/s; it also says "
        "that nobody else's traffic is in it. Here both are varied in the transfers that stand for its measurements, "
        "while the prediction stays as it was. The figures are both R², agreement within ± 20 % with more than 3 "
        "flows, a poorer one with fewer, and an underestimation with many; the criterion charges for each of the two "
        "that differs."
    )
    rows = [
        {
            "bandwidth_bps": each.unknown.bandwidth_bps,
            "traffic %": 100 * each.unknown.cross,
            **each.misses,
            "mean miss": each.mean_miss,
            "AIC": each.aic,
        }
        for each in found
    ]
    digits = dict.fromkeys([*best.misses, "mean miss"], ".3f") | {"AIC": ".1f", "traffic %": ".0f"}
    return Section(
        "Traffic or bandwidth",
        finding,
        [
            Text(text),
            Row(
                [residuals.scatter(CALTECH, best.points), residuals.over_windows(CALTECH, best.points)],
                f"{_named(best)}, unknown to the prediction.",
            ),
            Table(pl.DataFrame(rows), "The misses of each pair, the best first.", digits),
        ],
    )


def _named(each: Explained) -> str:
    return f"{each.unknown.bandwidth_bps / 1e6:g} Mbit/s with {percent(each.unknown.cross)} of others' traffic"
