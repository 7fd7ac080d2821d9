"""A router of which everything is real but its speed: a process of this machine that spends the time of each packet.

Between two hosts stands a process that forwards, and for each packet works as long as a packet takes a router that is
full at the document's mean onset. Its input ring is a device of the kernel, and its load is what the kernel's
scheduler says. The same scenario is simulated beside it.

Example:
    >>> round(PER_PACKET_S * 1e6, 1), len(PROBES), PROBES[0].name
    (243.8, 30, '65/500')
"""

from functools import partial
from typing import Any, Final

import polars as pl

from tightlink import units
from tightlink.analysis.limits.regimes import Regimes
from tightlink.reduce import mean_of, smallest
from tightlink.run import Run
from tightlink.scenario import Cbr, Framing, Link, Node, Processor, Scenario, Udp
from tightlink.studies.live import Measurement, Point, Repetition, measurements_of, told_apart
from tightlink.studies.router_response.observe.probes import middle, offered
from tightlink.studies.router_response.observe.regions import BEYOND, seen
from tightlink.studies.router_response.setup import costs
from tightlink.studies.router_response.setup.document import INPUT_RING, OUTPUT_RING, SERIAL_OVERHEAD, datagram_bytes
from tightlink.studies.router_response.setup.network import PROBE, RECEIVER, REFINED, ROUTER_A, SENDER, interval

#: With nothing else to do a router of one cost is full there.
PER_PACKET_S: Final = 1 / costs.ONSET_PER_S
#: Stable, about the onset, and beyond.
RATES_PER_S: Final = (500, 1000, 2000, 3000, 3500, 4000, 4500, 5000, 7000, 10_000)
DURATION_S: Final = 2


def scenario(length: int, rate_per_s: int) -> Scenario:
    """Sender, router, serial line, receiver; packets are all that costs the router time."""
    cost, rings = units.format_time(round(PER_PACKET_S, 9)), (f"{INPUT_RING} packets", f"{OUTPUT_RING} packets")
    router = Processor(per_packet=cost, input_ring=rings[0], output_ring=rings[1])
    framing = Framing(overhead=f"{SERIAL_OVERHEAD} B")
    datagrams = Udp(datagram=f"{datagram_bytes(length)} B")
    return Scenario(
        profile="rfc",
        duration=f"{DURATION_S} s",
        link={
            "lan": Link(ends=(SENDER, ROUTER_A), rate="1 Gbit/s", delay="5 us"),
            "serial": Link(ends=(ROUTER_A, RECEIVER), rate="2 Mbit/s", delay="1 ms", framing=framing),
        },
        node={ROUTER_A: Node(processor=router)},
        traffic={PROBE: Cbr(from_=SENDER, to=RECEIVER, interval=interval(rate_per_s), udp=datagrams)},
    )


def row(length: int, run: Run) -> dict[str, float]:
    """A probe in numbers, as `tightlink.analysis.limits.regimes` takes them."""
    router = _router(run)
    arrived = router["packets_in"]
    lost = {ring: router[ring] or 0 for ring in ("dropped_input_ring", "dropped_output_ring")}
    return {
        **offered(length, arrived / DURATION_S),
        "load": load(run),
        "loss": sum(lost.values()) / arrived,
        "lost_input_ring": lost["dropped_input_ring"] / arrived,
        "lost_output_ring": lost["dropped_output_ring"] / arrived,
    }


def load(run: Run) -> float:
    """The share of the time in which the router's processor was busy; of a real one, by the kernel."""
    router = _router(run)
    reported = router["load_reported"]
    # A simulated one is asked for more than it has.
    return float(min(1.0, router["load_true"]) if reported is None else reported)


def _router(run: Run) -> dict[str, Any]:
    return run.nodes.row(by_predicate=pl.col("node") == ROUTER_A, named=True)


PROBES: Final = tuple(
    Point(
        f"{length}/{rate}",
        {"nominal_packets_per_s": rate, "packet_bytes": length},
        scenario(length, rate),
        partial(row, length),
        "burnt",
    )
    for length in REFINED
    for rate in RATES_PER_S
)


def measurements() -> list[Measurement]:
    """The probes, measured, one after the other: the router has its own processor."""
    return measurements_of(PROBES, Repetition(load, fewest=2, most=4), burn=True, pace_s=INPUT_RING * PER_PACKET_S)


def regions(found: pl.DataFrame) -> Regimes | None:
    """The regions of what was measured; nothing where too little was."""
    return seen(told_apart(found)[0])


def values(found: pl.DataFrame, regions: Regimes | None) -> dict[str, object]:
    """What claims compare, by name; without those for which too little was measured."""
    own, same = told_apart(found)
    listed: dict[str, object] = {}
    if regions is not None:
        listed |= {"process.governs": regions.governs or "nothing", "process.sure": regions.explained.sure}
        for length in regions.lengths:
            size = int(length.packet_bytes)
            listed |= {f"process.{size}.onset_per_s": middle(length), f"process.{size}.onset": str(length.onset)}
    onset = None if regions is None else regions.onset
    if onset is not None and onset.middle is not None:
        listed["process.onset_per_s"] = onset.middle
    if onset is not None and onset.high is not None:
        beyond = own.filter(pl.col("offered_packets_per_s") > BEYOND * onset.high)
        if not beyond.is_empty():
            listed["process.load_least_beyond"] = smallest(beyond["load"])
    # A row for each probe measured, and one for its simulation.
    if found.height >= len(PROBES):
        listed |= {"process.compared": found.height // 2, "process.probes": len(PROBES)}
        for name in ("load", "loss"):
            apart = own[name] - same[name]
            listed |= {
                f"process.{name}_apart": max(apart.to_list(), key=abs),
                f"process.{name}_apart_mean": mean_of(apart.abs()),
            }
    return listed
