"""Mixed sizes: several sources share the interface, and eq. 1 takes means: T = p̄ · f̄."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink import units
from tightlink.experiment.execute import Task
from tightlink.scenario import Saturate, Scenario, Udp
from tightlink.studies.link_saturation.setup.interface import (
    DURATION_S,
    FAST_ETHERNET,
    NIC,
    RECEIVER,
    SENDER,
    nodes,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Sources by payload: two sizes from all small to all large, then the three sizes that the document cites.
MIXES: Final[tuple[dict[int, int], ...]] = (
    *({25: 10 - large, 1450: large} for large in range(11)),
    {25: 6, 548: 2, 1450: 2},
    {25: 2, 548: 6, 1450: 2},
    {25: 2, 548: 2, 1450: 6},
)


def key(mix: Mapping[int, int]) -> str:
    """The name of a run."""
    return "mixed/" + "+".join(f"{count}x{size}" for size, count in mix.items() if count)


def scenario(mix: Mapping[int, int]) -> Scenario:
    """Sources that take turns at one interface, as each is woken for one packet."""
    traffic = {
        f"size-{size}": Saturate(from_=SENDER, to=RECEIVER, flows=count, udp=Udp(payload=f"{size} B"))
        for size, count in mix.items()
        if count
    }
    return Scenario(
        duration=units.format_time(DURATION_S),
        link={"wire": FAST_ETHERNET.link()},
        node=nodes(NIC),
        traffic=dict(traffic),
    )


def tasks() -> list[Task]:
    """Every mix of sizes."""
    return [Task(key(mix), scenario(mix)) for mix in MIXES]
