"""What the experiments cost: packet-hops counted at the size that was run, and extrapolated to the document's."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
import polars as pl

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario import memory
from tightlink.studies.congestion_control.observe.evidence import Evidence
from tightlink.studies.congestion_control.setup.experiment import Experiment, Size

_SCALES: Final = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1))
#: Nanoseconds of one core for a packet-hop by the sources of a network, as docs/benchmarks.md has them, with nothing
#: else running; two threads take half as long, and so as much of their cores.
NANOSECONDS: Final = {2_780: 41, 8_790: 36, 27_800: 37, 87_900: 41, 278_000: 53}
_HOUR_S: Final = 3600


def table(found: Sequence[Evidence]) -> pl.DataFrame:
    """A row for each experiment and scale: runs, sources, packet-hops, core-hours, longest run, its memory, disk.

    Packet-hops go with sources and simulated time; what is stored goes with time only, as
    tables are of intervals, routers and groups of transfers.
    """
    return pl.DataFrame([row for each in found for row in _rows(each)])


def _rows(found: Evidence) -> Iterator[dict[str, object]]:
    own = found.experiment
    hungriest = max(range(own.conditions.height), key=lambda condition: _needed(own, condition, found.size))
    for size in (found.size, *(Size(scale, own.duration) for scale in _SCALES)):
        if not _exists(own, size):
            continue
        longer = units.time(size.duration) / units.time(found.size.duration)
        packet_hops = found.packet_hops * float(size.part / found.size.part) * longer
        sources = own.sources(size)
        nanoseconds = per_packet_hop(sources)
        yield {
            "experiment": own.name,
            "size": str(size),
            "runs": own.conditions.height * len(own.compared) * own.replications,
            "sources": sources,
            "packet_hops": packet_hops,
            "nanoseconds": nanoseconds,
            "core_hours": packet_hops * nanoseconds * 1e-9 / _HOUR_S,
            "longest_hours": packet_hops * found.largest_share * nanoseconds * 1e-9 / _HOUR_S,
            "memory_bytes": _needed(own, hungriest, size),
            "stored_bytes": round(found.stored_bytes * longer),
            "from": "counted" if size == found.size else "extrapolated",
        }


def per_packet_hop(sources: int) -> float:
    """Nanoseconds of one core for a packet-hop in a network of so many sources, between those that were measured.

    >>> per_packet_hop(27_800), per_packet_hop(1_000_000), round(per_packet_hop(50_000), 1)
    (37.0, 53.0, 39.0)
    """
    known = np.log(list(NANOSECONDS))
    return float(np.interp(np.log(sources), known, list(NANOSECONDS.values())))


def on_cluster(costs: pl.DataFrame, cores: Sequence[int] = (16, 64, 256)) -> pl.DataFrame:
    """Hours that each experiment takes at its largest size by the cores of a cluster, a run on each at a time.

    No fewer than its longest run takes: runs are not divided.
    """
    whole = costs.group_by("experiment", maintain_order=True).last()
    hours = {
        f"hours on {count} cores": pl.max_horizontal(pl.col("core_hours") / count, "longest_hours") for count in cores
    }
    gigabytes = pl.col("memory_bytes") / 1e9
    return whole.select("experiment", "runs", "core_hours", "longest_hours", **hours, gigabytes_a_worker=gigabytes)


def _needed(experiment: Experiment, condition: int, size: Size) -> int:
    """Bytes that a run of a condition needs; of the first control, as they differ little in that."""
    needed = memory.needed(experiment.scenario(condition, experiment.compared[0], size).resolve())
    return 0 if needed is None else needed.bytes


def _exists(experiment: Experiment, size: Size) -> bool:
    try:
        experiment.check(size)
    except ScenarioError:
        return False
    return True
