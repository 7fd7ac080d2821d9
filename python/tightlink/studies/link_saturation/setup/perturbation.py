"""Perturbed links: do simulations come back to the branch that the bifurcation calls stable?

Three disturbances for packets on either side of the critical size: a source that starts from nothing, one
that shares its interface with another until 0.1 s, and a queue that a third host fills at the start. The
last puts small packets on the plateau, which is unstable there: the line is full for as long as the queue
lasts.
"""

from __future__ import annotations

from typing import Final

from tightlink import units
from tightlink.experiment.execute import Task
from tightlink.scenario import Link, Observe, Saturate, Scenario, Udp
from tightlink.studies.link_saturation.setup.interface import (
    FAST_ETHERNET,
    NIC,
    PROBE,
    RECEIVER,
    SENDER,
    Wire,
    nodes,
    udp,
)

#: Payloads below and above the critical one.
SIZES: Final = (50, 100, 200, 300, 400, 500, 700, 1000, 1450)
SILENCE: Final = "silence"
RIVAL: Final = "rival"
QUEUE: Final = "full queue"
KINDS: Final = (SILENCE, RIVAL, QUEUE)
_END: Final = "2 s"
_INTERVAL: Final = "10 ms"
_START: Final = "50 ms"
_RIVAL_STOPS: Final = "0.1 s"
#: What the third host fills, and until when.
QUEUE_PACKETS: Final = 1000
FILLED_S: Final = 0.02
_FILLER: Final = "filler"
_SWITCH: Final = "switch"


def key(kind: str, payload: int) -> str:
    """The name of a run."""
    return f"disturbed/{kind}/{payload}"


def scenario(kind: str, payload: int) -> Scenario:
    """A link that begins away from its branch."""
    usual = udp(payload)
    probe = Saturate(from_=SENDER, to=RECEIVER, udp=Udp(payload=f"{payload} B"))
    traffic: dict[str, Saturate] = {PROBE: probe}
    links: dict[str, Link] = dict(usual.link)
    if kind == SILENCE:
        traffic = {PROBE: Saturate(from_=SENDER, to=RECEIVER, start=_START, udp=probe.udp)}
    elif kind == RIVAL:
        traffic["rival"] = Saturate(from_=SENDER, to=RECEIVER, stop=_RIVAL_STOPS, udp=probe.udp)
    else:
        links = {
            "wire": FAST_ETHERNET.link((SENDER, _SWITCH)),
            "far": FAST_ETHERNET.link((_SWITCH, RECEIVER), queue=f"{QUEUE_PACKETS} packets"),
            "fill": Wire("1 Gbit/s").link((_FILLER, _SWITCH)),
        }
        traffic["filler"] = Saturate(from_=_FILLER, to=RECEIVER, stop=units.format_time(FILLED_S), udp=probe.udp)
    return Scenario(
        duration=_END, link=links, node=nodes(NIC), traffic=dict(traffic), observe=Observe(interval=_INTERVAL)
    )


def tasks() -> list[Task]:
    """Every disturbance at every size."""
    return [Task(key(kind, size), scenario(kind, size)) for kind in KINDS for size in SIZES]
