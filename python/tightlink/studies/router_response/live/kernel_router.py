"""The grid through this machine's own kernel, which forwards: its load is that of the thread that does it.

The document's lengths, at rates up to those at which a kernel of today is full, with a line behind it that never is:
what the packets cost the router is all that there is to see.

Example:
    >>> PROBES[0].name, len(PROBES)
    ('kernel/65/1000', 36)
"""

from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl

from tightlink.analysis.limits.regimes import Regimes
from tightlink.measure.forwarding import FULL, slowest
from tightlink.measure.forwarding_sender import IN_TRAINS
from tightlink.measure.kernel_router import RING
from tightlink.measure.machine import missing
from tightlink.reduce import largest, smallest
from tightlink.run import Run
from tightlink.scenario import Cbr, Link, Scenario, Udp
from tightlink.studies.live import Measurement, Point, Repetition, measurements_of
from tightlink.studies.router_response.observe.probes import offered
from tightlink.studies.router_response.observe.regions import BEYOND, seen
from tightlink.studies.router_response.setup.document import datagram_bytes
from tightlink.studies.router_response.setup.network import PROBE, RECEIVER, REFINED, SENDER, interval
from tightlink.studies.words import per_s

#: From where a kernel is idle to where it is full.
RATES_PER_S: Final = (
    1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 400_000, 700_000, 1_000_000, 1_400_000,
)  # fmt: skip
DURATION_S: Final = 1
_ROUTER: Final = "router"
#: Senders that offer less than this share of what they should are no measure of a rate.
_KEPT: Final = 0.98
NOT_ENOUGH: Final = "The machine was too busy: not enough probes were measured."


def _scenario(length: int, rate_per_s: int) -> Scenario:
    """Sender, the machine's kernel, a line that is never full, receiver."""
    datagrams = Udp(datagram=f"{datagram_bytes(length)} B")
    return Scenario(
        profile="rfc",
        duration=f"{DURATION_S} s",
        link={
            "lan": Link(ends=(SENDER, _ROUTER), rate="100 Gbit/s", delay="1 us"),
            "line": Link(ends=(_ROUTER, RECEIVER), rate="30 Gbit/s", delay="1 us", queue="1000 packets"),
        },
        traffic={PROBE: Cbr(from_=SENDER, to=RECEIVER, interval=interval(rate_per_s), udp=datagrams)},
    )


def _row(length: int, run: Run) -> dict[str, float | str]:
    """A probe in numbers, as `tightlink.analysis.limits.regimes` takes them."""
    router = run.nodes.row(0, named=True)
    return {
        "slowest": slowest(run),
        **offered(length, router["packets_in"] / DURATION_S),
        "forwarded_packets_per_s": float(run.flows["packets_delivered"][0]) / DURATION_S,
        "load": load(run),
        "loss": float(run.flows["packets_dropped"][0]) / router["packets_in"],
    }


PROBES: Final = tuple(
    Point(
        f"kernel/{length}/{rate}",
        {"nominal_packets_per_s": rate, "packet_bytes": length},
        _scenario(length, rate),
        partial(_row, length),
    )
    for length in REFINED
    for rate in RATES_PER_S
)


def load(run: Run) -> float:
    """The share of the time in which the router's thread ran, by the kernel's scheduler."""
    return float(min(1.0, run.nodes["load_reported"][0]))


def measurements() -> list[Measurement]:
    """The probes, one after the other, where the machine's kernel can be a router."""
    if missing("forwarding"):
        return []
    probes = measurements_of(PROBES, Repetition(load, share=0.05, fewest=2, most=3), over="kernel")
    rates = [probe.levels["nominal_packets_per_s"] for probe in PROBES]
    # As late as the router's ring bridges; of what comes in trains it is not known.
    paces = (RING / rate if rate <= IN_TRAINS else None for rate in rates)
    return [replace(probe, pace_s=pace_s) for probe, pace_s in zip(probes, paces, strict=True)]


regions = seen


def why_not() -> str:
    """Why nothing was measured."""
    return missing("forwarding") or NOT_ENOUGH


def values(found: pl.DataFrame, regions: Regimes | None) -> dict[str, object]:
    """What claims compare, by name, and why what is not among them is not."""
    if regions is None or found.height < len(PROBES):
        return {f"kernel.{name}": why_not() for name in ("why_not", "why_no_costs", "why_no_onset")}
    return {
        "kernel.why_no_costs": "The router was full at all rates.",
        "kernel.why_no_onset": "",
        "kernel.governs": regions.governs or "nothing",
        "kernel.sure": regions.explained.sure,
        **_costs(found),
        **_about_onset(found, regions),
    }


def _costs(found: pl.DataFrame) -> dict[str, object]:
    """Loads at one rate, and what a packet costs, where the router is not full."""
    below = found.filter(pl.col("slowest") != "router")
    loads = (
        below.filter(pl.col("offered_packets_per_s") >= _KEPT * pl.col("nominal_packets_per_s"))
        .group_by("nominal_packets_per_s")
        .agg(apart=pl.col("load").max() / pl.col("load").min(), lengths=pl.len())
    )
    comparable = loads.filter(pl.col("lengths") == len(REFINED)).sort("apart")
    if comparable.is_empty():
        return {}
    worst = comparable.row(-1, named=True)
    costs = below["load"] / below["forwarded_packets_per_s"]
    return {
        "kernel.lengths_apart": worst["apart"],
        "kernel.lengths_apart_at_per_s": worst["nominal_packets_per_s"],
        "kernel.rates_compared": comparable.height,
        "kernel.dearest_s": largest(costs),
        "kernel.cheapest_s": smallest(costs),
    }


def _about_onset(found: pl.DataFrame, regions: Regimes) -> dict[str, object]:
    """What is on both sides of the onset."""
    onset, offered = regions.onset, pl.col("offered_packets_per_s")
    if onset is None or onset.high is None or onset.low is None:
        sentence = f"No onset was seen for all lengths, up to {per_s(RATES_PER_S[-1])}: {regions.sentence()}."
        return {"kernel.why_no_onset": sentence}
    beyond, below = found.filter(offered > BEYOND * onset.high), found.filter(offered <= onset.low)
    listed: dict[str, object] = {"kernel.full_from": FULL}
    if not beyond.is_empty():
        listed |= {"kernel.beyond": beyond.height, "kernel.load_least_beyond": smallest(beyond["load"])}
    if not below.is_empty():
        listed |= {"kernel.below": below.height, "kernel.loss_most_below": largest(below["loss"])}
    return listed
