"""Phase effects: two flows of nearly equal round trips, and a drop-tail queue that always hits the same one.

S. Floyd, V. Jacobson: On Traffic Phase Effects in Packet-Switched Gateways, Internetworking 3(3), 1992:
a bottleneck of 0.8 Mbit/s and 100 ms with a buffer of 15 packets, access links of 8 Mbit/s and 5 ms,
packets of 1000 B, windows of 32 packets; one flow's access is lengthened little by little. A packet
takes the bottleneck 10 ms, and so the outcome repeats with each 10 ms of the round trip.
"""

from __future__ import annotations

from typing import Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Dumbbell, OnOff, Scenario, Tcp, Udp

#: What lengthens one access link, in steps of 0.5 ms; the round trip grows by twice as much.
EXTRA_US: Final = tuple(range(0, 25_001, 500))
KINDS: Final = {"alone": "two flows alone", "noise": "beside a little random traffic"}


def scenario(extra_us: int, *, noise: bool) -> Scenario:
    """Two Reno flows, the second with the longer access; beside them, or not, 9 kbit/s of random traffic."""
    flows = Bulk(
        flows=2,
        from_="net.left[*]",
        to="net.right[*]",
        start=["0.1 s", "0.5 s"],
        tcp=Tcp(recovery="reno", payload="960 B", window="32 packets"),
    )
    other = OnOff(
        from_="net.left[2]", to="net.right[2]", rate="100 kbit/s", on="10 ms", off="100 ms", udp=Udp(payload="100 B")
    )
    net = Dumbbell.model_validate(
        {
            "pairs": 3,
            "bottleneck": {"rate": "0.8 Mbit/s", "delay": "100 ms", "queue": "15 packets"},
            "access": {"rate": "8 Mbit/s", "delay": "5 ms", "queue": "1000 packets"},
            "access_left": {"delay": ["5 ms", f"{5000 + extra_us} us", "5 ms"]},
        }
    )
    traffic: dict[str, Bulk | OnOff] = {"flow": flows, **({"noise": other} if noise else {})}
    return Scenario(profile="ns2", duration="200 s", topology={"net": net}, traffic=dict(traffic))


def tasks() -> list[Task]:
    """Every access delay, with and without random traffic beside."""
    return [
        Task(f"phase/{kind}/{extra}", scenario(extra, noise=kind == "noise")) for kind in KINDS for extra in EXTRA_US
    ]
