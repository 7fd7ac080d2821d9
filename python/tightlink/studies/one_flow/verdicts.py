"""What each case is good for: real-time, interactive and bulk traffic.

Latency is one-way and that of the 99 % of packets that do best; delay variation is the 99.9 % quantile
less the least latency (ITU-T Y.1541's IPDV); both of the second half of the run, after the start.
Thresholds: ITU-T G.114 (2003): up to 150 ms for most applications, 400 ms at most. ITU-T Y.1541
(2011): variation up to 50 ms for real time (classes 0 and 1), latency up to 100 ms for highly
interactive and 400 ms for interactive data (classes 2 and 3), up to 1 s for bulk data (class 4), loss
up to 0.1 % in all of them. The document's own limit for real time is 300 ms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import Claim, holds_if
from tightlink.report import Section, Table, Text
from tightlink.studies.one_flow.cases import CASES, DOCUMENT
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.studies.one_flow.measures import Measured

GOOD: Final = "good"
FAIR: Final = "fair"
BAD: Final = "bad"
_MS: Final = 1e-3
_PERCENT: Final = 100
G114_GOOD_S: Final = 0.150
G114_MOST_S: Final = 0.400
DOCUMENT_MOST_S: Final = 0.300
Y1541_INTERACTIVE_S: Final = 0.100
Y1541_BULK_S: Final = 1.0
Y1541_VARIATION_S: Final = 0.050
Y1541_LOSS: Final = 0.001
#: Shares of the link's payload rate with which a transfer is content; ours, no standard's.
BULK_GOOD: Final = 0.95
BULK_FAIR: Final = 0.80


@dataclass(frozen=True)
class Quality:
    """What an application notices of a path."""

    latency_s: float
    variation_s: float
    loss: float
    share: float
    """Goodput over the rate that the link has for payload."""

    def real_time(self) -> str:
        """For calls: latency, its variation, loss.

        >>> Quality(0.073, 0.0, 0.0, 1.0).real_time(), Quality(0.313, 0.0, 0.0, 1.0).real_time()
        ('good', 'bad: latency')
        """
        if self.loss > Y1541_LOSS:
            return f"{BAD}: loss"
        if self.variation_s > Y1541_VARIATION_S:
            return f"{BAD}: delay variation"
        if self.latency_s > DOCUMENT_MOST_S:
            return f"{BAD}: latency"
        return GOOD if self.latency_s <= G114_GOOD_S else f"{FAIR}: latency"

    def interactive(self) -> str:
        """For terminals and pages: latency and loss."""
        if self.loss > Y1541_LOSS:
            return f"{BAD}: loss"
        if self.latency_s > G114_MOST_S:
            return f"{BAD}: latency"
        return GOOD if self.latency_s <= Y1541_INTERACTIVE_S else f"{FAIR}: latency"

    def bulk(self, *, repairs: bool) -> str:
        """For files: goodput, where the transport repairs losses."""
        if self.loss > Y1541_LOSS and not repairs:
            return f"{BAD}: loss, not repaired"
        if self.latency_s > Y1541_BULK_S:
            return f"{BAD}: latency"
        if self.share >= BULK_GOOD:
            return GOOD
        return f"{FAIR if self.share >= BULK_FAIR else BAD}: {percent(self.share)} of the link"


def quality(measured: Measured) -> Quality:
    """The quality of a case."""
    latency = measured.steady(measured.trips, "arrived_s")["latency_s"]
    most, nearly = (float(latency.quantile(share, "nearest") or 0.0) for share in (0.999, 0.99))
    least = min(latency, default=0.0)
    carried = measured.case.payload_share if measured.header_bytes else 1.0
    share = measured.flow["goodput_bps"] / (carried * measured.case.rate_bps)
    return Quality(nearly, most - least, measured.loss, share)


def claims(tcp: Mapping[str, Measured]) -> Iterator[Claim]:
    """What the document says of the traffic that its cases would suit."""
    found = {name: quality(measured) for name, measured in tcp.items()}
    base, large, long = found["base"], found["packet-4000"], found["delay-100ms"]
    yield holds_if(
        "verdict.base.real-time", "base case: fit for real-time traffic", f"{DOCUMENT}, base case",
        base.real_time(), base.real_time() == GOOD, "Latency, delay variation and loss against ITU-T G.114 and Y.1541.",
    )  # fmt: skip
    place = f"{DOCUMENT}, packets of 4000 B"
    yield holds_if(
        "verdict.packet-4000.real-time", "packets of 4000 B: unfit for real-time traffic, over its 300 ms", place,
        large.real_time(), large.real_time().startswith(BAD), "G.114's upper limit of 400 ms is kept.",
    )  # fmt: skip
    yield holds_if(
        "verdict.packet-4000.interactive", "packets of 4000 B: terminals and pages suffer", place, large.interactive(),
        large.interactive() != GOOD,
    )  # fmt: skip
    yield holds_if(
        "verdict.packet-4000.bulk", "packets of 4000 B: good for bulk traffic, whatever the latency", place,
        large.bulk(repairs=True),
        large.bulk(repairs=True) == GOOD,
    )  # fmt: skip
    yield holds_if(
        "verdict.delay-100ms.bulk", "delay of 100 ms: a bad performance", f"{DOCUMENT}, delay of 100 ms",
        long.bulk(repairs=True), long.bulk(repairs=True).startswith(BAD),
        "With ns-2's window; the section on the window shows what the link can do.",
    )  # fmt: skip


def section(tcp: Mapping[str, Measured], udp: Mapping[str, Measured]) -> Section:
    """The part of the report."""
    rows = []
    for case in CASES:
        for transport, measured in (("TCP", tcp[case.name]), ("UDP", udp[case.name])):
            found = quality(measured)
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
