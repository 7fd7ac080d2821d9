"""Controls that measure delay (FAST, Vegas) or the path's rate (BBR), and managed queues (CoDel, PIE)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from tightlink import units
from tightlink.experiment.execute import Task
from tightlink.scenario import Cbr, Codel, Pie, Udp
from tightlink.studies.congestion_basics.setup.network import FLOW, PACKET_BYTES, RECEIVER, SENDER, scenario

if TYPE_CHECKING:
    from tightlink.scenario import Scenario

RTT_MS: Final = 40
#: Of the path of FAST and Vegas.
DELAY_RATE: Final = "100 Mbit/s"
DELAY_DURATION_S: Final = 40
DELAY_FLOWS: Final = (1, 2, 4, 8)
ALPHAS: Final = (20, 50)
#: FAST and Vegas by the names that tasks have.
MEASURING_DELAY: Final[dict[str, Any]] = {
    **{f"fast-{alpha}": {"kind": "fast", "alpha": f"{alpha} packets"} for alpha in ALPHAS},
    "vegas": "vegas",
}
BBRS: Final = ("bbr", "bbr3")
#: Of the buffers in front of BBR, in bandwidth-delay products.
BUFFERS_BDP: Final = (1, 2, 8)
PIE_FLOWS: Final = (4, 10, 20)
RATE: Final = "50 Mbit/s"
#: What is offered to CoDel over what its line carries.
OVERLOAD: Final = 1.2
CODEL: Final = "point/codel"
_DURATION_S: Final = 40
_OVERLOADED_S: Final = 5
_BDP_PACKETS: Final = units.rate(RATE) * RTT_MS / 1e3 / (8 * PACKET_BYTES)


def tasks() -> list[Task]:
    """Single flows of BBR, PIE with several flows, a constant overload of CoDel, then FAST and Vegas.

    Flows of these start together, as a late one would take the others' queue for a part of the path.
    """
    bbr = [
        Task(
            single(control, buffer),
            scenario(
                RATE, RTT_MS, f"{math.ceil(buffer * _BDP_PACKETS)} packets", _DURATION_S, interval_s=0.01,
                congestion=control, recovery="rack",
            ),
        )
        for control in BBRS
        for buffer in BUFFERS_BDP
    ]  # fmt: skip
    several = [
        Task(
            pie(flows),
            scenario(
                RATE, RTT_MS, Pie(limit="2000 packets"), _DURATION_S, interval_s=0.01, flows=flows, recovery="rack"
            ),
        )
        for flows in PIE_FLOWS
    ]
    delay = [
        Task(
            equilibrium(control, flows),
            scenario(
                DELAY_RATE, RTT_MS, "unlimited", DELAY_DURATION_S, flows=flows, interval_s=0.1, congestion=congestion
            ),
        )
        for control, congestion in MEASURING_DELAY.items()
        for flows in DELAY_FLOWS
    ]
    return [*bbr, *several, Task(CODEL, _overload(), trace=True), *delay]


def equilibrium(control: str, flows: int) -> str:
    """Name of the task of some flows of a control that measures delay."""
    return f"equilibrium/{control}/{flows}"


def single(control: str, buffer: float) -> str:
    """Name of the task of a flow of BBR in front of a buffer."""
    return f"point/{control}/{buffer}"


def pie(flows: int) -> str:
    """Name of the task of some flows through PIE."""
    return f"point/pie/{flows}"


def _overload() -> Scenario:
    rate = units.rate(RATE) * OVERLOAD
    flow = Cbr(from_=SENDER, to=RECEIVER, rate=f"{rate / 1e6:g} Mbit/s", udp=Udp(datagram=f"{PACKET_BYTES} B"))
    base = scenario(RATE, RTT_MS, Codel(limit="1000000 packets"), _OVERLOADED_S)
    return base.model_copy(update={"traffic": {FLOW: flow}})
