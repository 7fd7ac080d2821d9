"""TCP connections over one bottleneck: the fundamental diagram over their number.

Gábor and Csabai: The analogies of highway and computer network traffic, Physica A 307 (reference 21 of the
document) take the number of TCP connections between two hosts for the density of traffic.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tightlink import units
from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Link, Scenario, Starts, Tcp
from tightlink.studies.link_saturation.setup.interface import FAST_ETHERNET, NIC, RECEIVER, SENDER, Wire, nodes

DENSITIES: Final = (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64)
DURATION_S: Final = 10.0
#: One way: far enough that one connection with a small window does not fill the link.
_DELAY: Final = "10 ms"
#: Windows XP's default, 17,520 B of 1460.
_XP_WINDOW: Final = "12 packets"
_OPEN: Final = "10000 packets"


@dataclass(frozen=True)
class Density:
    """Connections over one bottleneck."""

    name: str
    payload: int
    window: str
    router: bool = False
    """Whether the bottleneck is behind a router, whose queue drops, or the sender's own link, which pushes back."""

    def key(self, flows: int) -> str:
        """The name of a run."""
        return f"density/{self.name}/{flows}"

    def scenario(self, flows: int) -> Scenario:
        """Connections that start a millisecond apart and send all the time."""
        far = ("router", RECEIVER) if self.router else (SENDER, RECEIVER)
        base = FAST_ETHERNET.link(far)
        links: dict[str, Link] = {"far": base.model_copy(update={"delay": _DELAY})}
        if self.router:
            links["near"] = Wire("1 Gbit/s").link((SENDER, "router"))
        bulk = Bulk(
            from_=SENDER,
            to=RECEIVER,
            flows=flows,
            start=Starts(every="1 ms"),
            tcp=Tcp(payload=f"{self.payload} B", window=self.window),
        )
        own = {} if self.router else nodes(NIC)
        return Scenario(duration=units.format_time(DURATION_S), link=links, node=own, traffic={"tcp": bulk})


LARGE: Final = Density("1448 B, link", 1448, _XP_WINDOW)
SMALL: Final = Density("100 B, interface", 100, _XP_WINDOW)
LOSSY: Final = Density("1448 B, router", 1448, _OPEN, router=True)
KINDS: Final = (LARGE, SMALL, LOSSY)


def tasks() -> list[Task]:
    """Every number of connections, three times."""
    return [Task(kind.key(flows), kind.scenario(flows)) for kind in KINDS for flows in DENSITIES]
