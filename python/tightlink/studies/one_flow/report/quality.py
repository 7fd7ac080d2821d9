"""The part of the report on what each case is good for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.report import Section, Table, Text
from tightlink.studies.one_flow.observe.quality import BULK_FAIR, BULK_GOOD, GOOD
from tightlink.studies.one_flow.setup.cases import CASES
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.studies.one_flow.observe.cases import Measured

_MS: Final = 1e-3
_PERCENT: Final = 100


def section(tcp: Mapping[str, Measured], udp: Mapping[str, Measured]) -> Section:
    """The part of the report."""
    rows = []
    for case in CASES:
        for transport, measured in (("TCP", tcp[case.name]), ("UDP", udp[case.name])):
            found = measured.quality
            rows.append(
                {
                    "case": case.title,
                    "over": transport,
                    "latency ms": round(found.latency_s / _MS, 1),
                    "variation ms": round(found.variation_s / _MS, 2),
                    "lost %": round(_PERCENT * found.loss, 2),
                    "real-time": found.real_time(),
                    "interactive": found.interactive(),
                    "bulk": found.bulk(repairs=transport == "TCP"),
                }
            )
    frame = pl.DataFrame(rows)
    over_tcp = frame.filter(pl.col("over") == "TCP")
    counts = {kind: int((over_tcp[kind] == GOOD).sum()) for kind in ("real-time", "interactive", "bulk")}
    finding = (
        f"Over TCP, {counts['real-time']} of the seven cases suit real-time traffic, {counts['interactive']} "
        f"interactive and {counts['bulk']} bulk traffic; over UDP above the link's rate, none suits anything, as the "
        "loss alone forbids it."
    )
    text = (
        "Thresholds: latency up to 150 ms is good and 400 ms the limit (ITU-T G.114), with 300 ms the document's own "
        "limit for real time; delay variation up to 50 ms, loss up to 0.1 %, 100 ms for highly interactive and 1 s "
        f"for bulk data (ITU-T Y.1541, classes 0 to 4); bulk traffic is content with {percent(BULK_GOOD)} of what the "
        f"link has for payload and gets along with {percent(BULK_FAIR)}. All of the steady half of the run. A loss "
        "over TCP is repaired, and costs time instead: real-time and interactive traffic feel it all the same."
    )
    return Section("What each case is good for", finding, [Text(text), Table(frame)])
