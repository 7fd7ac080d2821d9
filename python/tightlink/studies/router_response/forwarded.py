"""The grid through this machine's own kernel, which forwards: its load is that of the thread that does it.

The document's lengths, at rates up to those at which a kernel of today is full, with a line behind it that never is:
what the packets cost the router is all that there is to see.

Example:
    >>> PROBES[0].name, len(PROBES)
    ('kernel/65/1000', 36)
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.measure.forwarding import slowest
from tightlink.measure.forwarding_sender import IN_TRAINS
from tightlink.measure.kernel_router import RING
from tightlink.measure.machine import missing
from tightlink.scenario import Cbr, Link, Scenario, Udp
from tightlink.studies.live import Firm, Measurement, repeats
from tightlink.studies.router_response.document import datagram_bytes
from tightlink.studies.router_response.network import PROBE, RECEIVER, SENDER
from tightlink.studies.router_response.probes import REFINED, interval

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

#: From where a kernel is idle to where it is full.
RATES_PER_S: Final = (
    1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 400_000, 700_000, 1_000_000, 1_400_000,
)  # fmt: skip
DURATION_S: Final = 1
_ROUTER: Final = "router"
_BITS: Final = 8


@dataclass(frozen=True)
class Probe:
    """Packets of one length at one rate."""

    length: int
    """In the document's count, with Ethernet's header."""
    rate_per_s: int

    @property
    def name(self) -> str:
        """Of its measurement."""
        return f"kernel/{self.length}/{self.rate_per_s}"

    @property
    def scenario(self) -> Scenario:
        """Sender, the machine's kernel, a line that is never full, receiver."""
        datagrams = Udp(datagram=f"{datagram_bytes(self.length)} B")
        return Scenario(
            profile="rfc",
            duration=f"{DURATION_S} s",
            link={
                "lan": Link(ends=(SENDER, _ROUTER), rate="100 Gbit/s", delay="1 us"),
                "line": Link(ends=(_ROUTER, RECEIVER), rate="30 Gbit/s", delay="1 us", queue="1000 packets"),
            },
            traffic={PROBE: Cbr(from_=SENDER, to=RECEIVER, interval=interval(self.rate_per_s), udp=datagrams)},
        )

    @property
    def pace_s(self) -> float | None:
        """How late its datagrams may be: what the router's ring bridges; of what comes in trains it is not known."""
        return RING / self.rate_per_s if self.rate_per_s <= IN_TRAINS else None

    def row(self, run: Run) -> dict[str, float]:
        """A probe in numbers, as `tightlink.analysis.regimes` takes them."""
        router = run.nodes.row(0, named=True)
        offered = router["packets_in"] / DURATION_S
        return {
            "packet_bytes": self.length,
            "offered_packets_per_s": offered,
            "offered_bps": _BITS * self.length * offered,
            "forwarded_packets_per_s": float(run.flows["packets_delivered"][0]) / DURATION_S,
            "load": load(run),
            "loss": float(run.flows["packets_dropped"][0]) / router["packets_in"],
        }


PROBES: Final = tuple(Probe(length, rate) for length in REFINED for rate in RATES_PER_S)


def load(run: Run) -> float:
    """The share of the time in which the router's thread ran, by the kernel's scheduler."""
    return float(min(1.0, run.nodes["load_reported"][0]))


def measurements() -> list[Measurement]:
    """The probes, one after the other, where the machine's kernel can be a router."""
    if missing("forwarding"):
        return []
    firm = Firm(load, share=0.05, fewest=2, most=3)
    return [
        Measurement(probe.name, probe.scenario, over="kernel", pace_s=probe.pace_s, alone=True, firm=firm)
        for probe in PROBES
    ]


def measured(runs: Mapping[str, Run]) -> list[Run]:
    """All runs of the grid."""
    return [run for probe in PROBES for run in repeats(runs, f"live/{probe.name}")]


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each probe that was measured: medians, and what was slowest."""
    rows: list[dict[str, Any]] = []
    for probe in PROBES:
        own = repeats(runs, f"live/{probe.name}")
        if own:
            found = [probe.row(run) for run in own]
            medians = {name: statistics.median(each[name] for each in found) for name in found[0]}
            full = statistics.mode(slowest(run) for run in own) == "router"
            rows.append({"nominal_packets_per_s": probe.rate_per_s, "times": len(own), "router_full": full} | medians)
    return pl.DataFrame(rows)


def seconds_per_packet(found: pl.DataFrame) -> pl.Series:
    """What a packet costs the router where it is not full, by probes."""
    return found.filter(~pl.col("router_full")).select(pl.col("load") / pl.col("forwarded_packets_per_s")).to_series()
