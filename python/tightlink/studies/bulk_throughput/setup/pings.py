"""Pings beside transfers to Caltech: a packet of 100 B each second through the same queue.

The document pinged during some 20 measurements of 10 s, which makes some 200 pings for each window and
number of flows. Here 20 pings, each once a second, run beside one transfer, spread over the second: their
two kilobytes a second take no part of the path worth mentioning.
"""

from typing import Final

from tightlink.analysis.path.bulk_path import BOTTLENECK, competing_ends
from tightlink.experiment.execute import Task
from tightlink.scenario import Cbr, Scenario, Udp
from tightlink.studies.bulk_throughput.setup.paths import CALTECH, CHOSEN

_PINGS: Final = 20
PING: Final = "ping"
#: Prefixes of tasks, by what the queue counts.
PACKETS: Final = "ping"
BYTES: Final = "ping-bytes"
#: Some 80 full packets, and no whole number of them: there is room for a ping when there is none for a packet.
SIZE: Final = "120 KiB"


def scenario(window: int, flows: int) -> Scenario:
    """A transfer to Caltech with pings beside it."""
    start = [f"{1000 * index // _PINGS} ms" for index in range(_PINGS)]
    ping = Cbr(flows=_PINGS, interval="1 s", start=start, udp=Udp(datagram="100 B"), **competing_ends(flows))
    return CALTECH.path.scenario(window, flows, traffic={PING: ping}, tcp=CHOSEN.tcp)


def tasks() -> list[Task]:
    """The grid of Caltech with pings, at a queue that counts packets and at one that counts bytes."""
    return CALTECH.grid(PACKETS, scenario) + CALTECH.grid(
        BYTES, lambda window, flows: scenario(window, flows).set(f"topology.{BOTTLENECK}.queue", SIZE)
    )
