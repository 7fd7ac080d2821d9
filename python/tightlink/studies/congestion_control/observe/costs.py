"""What the experiments cost: packet-hops counted at the size that was run, and extrapolated to the document's."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.scenario import memory
from tightlink.studies.congestion_control.setup.experiment import Size

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tightlink.studies.congestion_control.observe.evidence import Evidence
    from tightlink.studies.congestion_control.setup.experiment import Experiment

_SCALES: Final = (Fraction(1, 1000), Fraction(1, 100), Fraction(1, 10), Fraction(1))
#: Time of one core for a packet-hop, as docs/benchmarks.md measures it for users: it changes little with the scale.
SECONDS_PER_PACKET_HOP: Final = 110e-9
_HOUR_S: Final = 3600


def table(found: Sequence[Evidence]) -> pl.DataFrame:
    """A row for each experiment and scale: runs, sources, packet-hops, core-hours, memory of the largest run, disk.

    Packet-hops go with sources and simulated time, as speeds do with sources; what is stored goes with time only, as
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
        yield {
            "experiment": own.name,
            "size": str(size),
            "runs": own.conditions.height * len(own.compared),
            "sources": own.sources(size),
            "packet_hops": packet_hops,
            "core_hours": packet_hops * SECONDS_PER_PACKET_HOP / _HOUR_S,
            "memory_bytes": _needed(own, hungriest, size),
            "stored_bytes": round(found.stored_bytes * longer),
            "from": "counted" if size == found.size else "extrapolated",
        }


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
