"""Links limited in bit/s or in packets/s, and packets of one size or of the Internet's three."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.studies.network_congestion.observe.measured import Measured
from tightlink.studies.network_congestion.setup import cases

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

#: Where queues below the critical load are compared.
BELOW: Final = 0.9


def read(runs: Mapping[str, Run]) -> dict[str, Measured]:
    """What came out, by "packets-alike" and so on."""
    return {case.name.partition("/")[2]: Measured(case, runs) for case in cases.packet_sizes()}


def values(found: Mapping[str, Measured]) -> dict[str, object]:
    """What claims compare, by name: sizes.UNIT-KIND.…."""
    each: dict[str, object] = {
        "sizes.alike_bytes": cases.ALIKE.mean,
        "sizes.variability": cases.MIXED.variability,
    }
    for name, one in found.items():
        own = one.critical_values() | {"waiting_packets": one.waiting(BELOW)}
        each |= {f"sizes.{name}.{key}": value for key, value in own.items()}
    return each
