"""The probes of the document, more of them where its grid is coarse, and what came out.

Example:
    >>> len(grid()), len(onset()), len(fall())
    (140, 78, 39)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.experiment.execute import Task
from tightlink.studies.router_response.document import (
    DURATION_S,
    ETHERNET_HEADER,
    INTERVALS_MS,
    LENGTHS,
    ONSETS_PER_S,
)
from tightlink.studies.router_response.network import DOCUMENTED, PROBE, ROUTER_A, ROUTER_B

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tightlink.run import Run

#: The lengths whose onset the document prints.
REFINED: Final = tuple(ONSETS_PER_S)
_ONSET_PER_S: Final = range(3000, 5501, 100)
_FALL_PER_S: Final = (*range(5600, 6000, 100), *range(6000, 10_001, 500))
#: Of probes that are not the document's: what is read is read by then.
SHORT_S: Final = 80
_BITS: Final = 8
_US: Final = 1e-6
_MS: Final = 1e-3
#: The first part of the names of the grid's tasks.
GRID: Final = "probe"


def interval(per_s: float) -> str:
    """The interval of a packet rate.

    >>> interval(4100)
    '243.902439 us'
    """
    return f"{1 / per_s / _US:.9g} us"


def grid() -> list[Task]:
    """The document's grid: 5 packet lengths, 28 inter-arrival times, 2 minutes."""
    return [
        Task(f"{GRID}/{length}/{every:g}ms", DOCUMENTED.probe(length, f"{every:g} ms", DURATION_S))
        for length in LENGTHS
        for every in INTERVALS_MS
    ]


def onset() -> list[Task]:
    """Between the grid's 3,333 and 5,000 packets/s, and around: where the unstable region begins."""
    return _at("onset", _ONSET_PER_S)


def fall() -> list[Task]:
    """Between the grid's 5,000 and 10,000 packets/s: where the reading falls."""
    return _at("fall", _FALL_PER_S)


def _at(name: str, rates: Iterable[int]) -> list[Task]:
    return [
        Task(f"{name}/{length}/{rate}", DOCUMENTED.probe(length, interval(rate), SHORT_S))
        for length in REFINED
        for rate in rates
    ]


def tasks() -> list[Task]:
    """All of these."""
    return [*grid(), *onset(), *fall()]


def measured(run: Run) -> dict[str, float]:
    """A probe in numbers: the columns of a row of measurements.

    What is *offered* reaches router A: the sender's 100 Mbit/s may have limited it before. Bit rates
    count whole packet lengths, as the document's do.
    """
    length, every_s, duration_s = asked(run)
    nodes = {row["node"]: row for row in run.nodes.iter_rows(named=True)}
    a, b = nodes[ROUTER_A], nodes[ROUTER_B]
    arrived = a["packets_in"]
    dropped = {ring: a[ring] + b[ring] for ring in ("dropped_input_ring", "dropped_output_ring")}
    delivered = run.flows["packets_delivered"][0] / duration_s
    sampled = {
        (row["entity"], row["metric"]): row["value"]
        for row in run.series.filter(pl.col("metric").is_in(["load", "load_reported"])).iter_rows(named=True)
    }
    bits = _BITS * length
    return {
        "packet_bytes": length,
        "nominal_packets_per_s": 1 / every_s,
        "nominal_bps": bits / every_s,
        "offered_packets_per_s": arrived / duration_s,
        "offered_bps": bits * arrived / duration_s,
        "packets_per_s": delivered,
        "throughput_bps": bits * delivered,
        "goodput_bps": run.flows["goodput_bps"][0],
        "load": sampled[ROUTER_A, "load_reported"],
        "load_busy": sampled[ROUTER_A, "load"],
        "load_true": a["load_true"],
        "loss": sum(dropped.values()) / arrived,
        "lost_input_ring": dropped["dropped_input_ring"] / arrived,
        "lost_output_ring": dropped["dropped_output_ring"] / arrived,
        "forwarded_packets_per_s": a["packets_served"] / duration_s,
        "b_packets_per_s": b["packets_in"] / duration_s,
        "b_bps": bits * b["packets_in"] / duration_s,
        "b_load": sampled[ROUTER_B, "load_reported"],
        "one_way_delay_mean_s": run.flows["one_way_delay_mean_s"][0],
    }


def asked(run: Run) -> tuple[int, float, float]:
    """Packet length in the document's count, interval and duration of a probe, as the engine understood them."""
    scenario = run.manifest["scenario"]
    probe: Mapping[str, Any] = scenario["traffic"][PROBE]
    return (
        int(probe["udp"]["datagram"].split()[0]) + ETHERNET_HEADER,
        _seconds(probe["interval"]),
        _seconds(scenario["duration"]),
    )


def _seconds(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"us": _US, "ms": _MS, "s": 1.0}[unit]


def is_of_fall(run: Run) -> bool:
    """Whether a probe is one of `fall`: these show the fall itself, which is no straight line."""
    _, every_s, duration_s = asked(run)
    return duration_s == SHORT_S and round(1 / every_s) in _FALL_PER_S


def table(runs: Mapping[str, Run], *prefixes: str) -> pl.DataFrame:
    """A row for each probe of the tasks with these beginnings, ordered by length and rate."""
    rows = [measured(run) for name, run in runs.items() if name.split("/")[0] in prefixes]
    return pl.DataFrame(rows).sort("packet_bytes", "offered_packets_per_s")
