"""What is varied beside the sweeps: mixed sizes, random arrivals, perturbed links, numbers of connections.

Example:
    >>> round(relaxation_s(0.9), 3)
    0.2
"""

from dataclasses import dataclass
from typing import Final

from tightlink import units
from tightlink.scenario import Bulk, Cbr, Link, Node, Observe, Processor, Saturate, Scenario, Starts, Tcp, Udp
from tightlink.studies.cases import Cases
from tightlink.studies.link_saturation.setup import interface, sweeps
from tightlink.studies.link_saturation.setup.interface import FAST_ETHERNET, PROBE, RECEIVER, SENDER, Wire, nodes

# Mixed sizes: several sources share the interface, and eq. 1 takes means: T = p̄ · f̄.

#: Sources by payload: two sizes from all small to all large, then the three sizes that the document cites.
_MIXES: Final[tuple[dict[int, int], ...]] = (
    {25: 10},
    *({25: 10 - large, 1450: large} for large in range(1, 10)),
    {1450: 10},
    {25: 6, 548: 2, 1450: 2},
    {25: 2, 548: 6, 1450: 2},
    {25: 2, 548: 2, 1450: 6},
)
BY_SIZES: Final = {"+".join(f"{count}x{size}" for size, count in mix.items()): mix for mix in _MIXES}


def _mixed(sizes: str) -> Scenario:
    """Sources that take turns at one interface, as each is woken for one packet."""
    traffic = {
        f"size-{size}": Saturate(from_=SENDER, to=RECEIVER, flows=count, udp=Udp(payload=f"{size} B"))
        for size, count in BY_SIZES[sizes].items()
    }
    return interface.two_hosts(traffic)


MIXES: Final = Cases("mixed/{sizes}", _mixed, {"sizes": tuple(BY_SIZES)})


# Random arrivals at one link, below what it carries: is there a phase between free flow and congestion?
#
# In the three-phase model of vehicles (section 1, after Kerner and Rehborn 1997) speeds match and correlations lengthen
# before traffic congests. A link that serves 1000 packets/s is asked for a growing share of that at the times of a
# Poisson process, with a queue without limit: runs last as many correlation times at each load, sampled as finely.
# A queue's slowest relaxation in heavy traffic is that of a Brownian motion with drift −(1 − ρ) C and variance C above
# a wall (Kingman 1961; Harrison 1985, section 5): 2 / (C (1 − ρ)²).

CAPACITY_PER_S: Final = 1000
LOADS: Final = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.93, 0.95)
_SEEDS: Final = 4
#: Relaxation times that a run lasts, and samples in one of them.
RELAXATIONS: Final = 1000
SAMPLES: Final = 10


def relaxation_s(load: float) -> float:
    """The slowest relaxation of the queue in heavy traffic, in seconds."""
    return 2 / (CAPACITY_PER_S * (1 - load) ** 2)


def _random(load: float, seed: int) -> Scenario:
    """Both hosts send at random times to each other, at a share of what either direction carries."""
    relaxation = relaxation_s(load)
    rate = f"{CAPACITY_PER_S} packets/s"
    return Scenario.from_dict(
        {
            # Each load has its own numbers, too: one long queue would be seen in all.
            "seed": _SEEDS * LOADS.index(load) + seed,
            "duration": f"{RELAXATIONS * relaxation:g} s",
            "link": {"wire": {"ends": [SENDER, RECEIVER], "rate": rate, "delay": "1 us", "queue": "unlimited"}},
            "traffic": {
                "random": {"kind": "scatter", "at": [SENDER, RECEIVER], "rate": f"{load * CAPACITY_PER_S:g} packets/s"}
            },
            "observe": {"interval": f"{relaxation / SAMPLES:g} s", "flows": "none"},
        }
    )


PHASES: Final = Cases("phases/{load:g}/{seed}", _random, {"load": LOADS, "seed": range(1, _SEEDS + 1)})


# Perturbed links: do simulations come back to the branch that the bifurcation calls stable?
#
# Three disturbances for packets on either side of the critical size: a source that starts from nothing, one
# that shares its interface with another until 0.1 s, and a queue that a third host fills at the start. The
# last puts small packets on the plateau, which is unstable there: the line is full for as long as the queue
# lasts.

SILENCE: Final = "silence"
RIVAL: Final = "rival"
QUEUE: Final = "full queue"
#: What the third host fills, and until when.
QUEUE_PACKETS: Final = 1000
FILLED_S: Final = 0.02
_FILLER: Final = "filler"
_SWITCH: Final = "switch"


def perturbed(disturbance: str, payload_bytes: int) -> Scenario:
    """A link that begins away from its branch."""
    datagrams = Udp(payload=f"{payload_bytes} B")
    start = "50 ms" if disturbance == SILENCE else None
    traffic = {PROBE: Saturate(from_=SENDER, to=RECEIVER, start=start, udp=datagrams)}
    links = {"wire": FAST_ETHERNET.link()}
    if disturbance == RIVAL:
        traffic["rival"] = Saturate(from_=SENDER, to=RECEIVER, stop="0.1 s", udp=datagrams)
    elif disturbance == QUEUE:
        links = {
            "wire": FAST_ETHERNET.link((SENDER, _SWITCH)),
            "far": FAST_ETHERNET.link((_SWITCH, RECEIVER), queue=f"{QUEUE_PACKETS} packets"),
            "fill": Wire("1 Gbit/s").link((_FILLER, _SWITCH)),
        }
        traffic["filler"] = Saturate(from_=_FILLER, to=RECEIVER, stop=units.format_time(FILLED_S), udp=datagrams)
    return Scenario(
        duration="2 s", link=links, node=nodes(interface.NIC), traffic=dict(traffic), observe=Observe(interval="10 ms")
    )


#: With payloads below and above the critical one.
PERTURBED: Final = Cases(
    "disturbed/{disturbance}/{payload_bytes}",
    perturbed,
    {"disturbance": (SILENCE, RIVAL, QUEUE), "payload_bytes": (50, 100, 200, 300, 400, 500, 700, 1000, 1450)},
)


# Connections over one bottleneck: the fundamental diagram over their number.
#
# Gábor and Csabai: The analogies of highway and computer network traffic, Physica A 307 (reference 21 of the
# document) take the number of TCP connections between two hosts for the density of traffic. Beside links and an
# interface, which do all the work that they can, there is a router that loses work with load: each arrival costs it an
# interrupt, even of a packet that it then drops (receive livelock: Mogul and Ramakrishnan 1997). It is passed by TCP,
# which listens to losses, and by streams of datagrams, which do not.

CONNECTED_S: Final = 10.0
#: One way: far enough that one connection with a small window does not fill the link.
_DELAY: Final = "10 ms"
#: Windows XP's default, 17,520 B of 1460.
_XP_WINDOW: Final = "12 packets"
_OPEN: Final = "10000 packets"
#: Half of a packet's time in the router is the interrupt of its arrival: it forwards 5,000 packets/s where none is
#: dropped, and none where twice as many arrive. Its lines are faster.
_COST: Final = "100 us"
_STREAM_PER_S: Final = 250


@dataclass(frozen=True)
class Density:
    """Connections over one bottleneck."""

    name: str
    payload: int
    window: str
    router: bool = False
    """Whether the bottleneck is behind a router, whose queue drops, or the sender's own link, which pushes back."""
    interrupts: bool = False
    """Whether that router is one that arrivals interrupt, and is the bottleneck."""
    streams: bool = False
    """Whether connections are streams of datagrams at a constant rate instead of TCP's."""

    def scenario(self, flows: int) -> Scenario:
        """Connections that start a millisecond apart and send all the time."""
        far = ("router", RECEIVER) if self.router else (SENDER, RECEIVER)
        base = FAST_ETHERNET.link(far)
        links: dict[str, Link] = {"far": base.model_copy(update={"delay": _DELAY})}
        if self.router:
            links["near"] = Wire("1 Gbit/s").link((SENDER, "router"))
        traffic = {"udp": self._udp(flows)} if self.streams else {"tcp": self._tcp(flows)}
        own = {} if self.router else nodes(interface.NIC)
        if self.interrupts:
            own = {"router": Node(processor=Processor(per_packet=_COST, interrupt=_COST, input_ring=interface.RING))}
        return Scenario(duration=units.format_time(CONNECTED_S), link=links, node=own, traffic=dict(traffic))

    def _tcp(self, flows: int) -> Bulk:
        tcp = Tcp(payload=f"{self.payload} B", window=self.window)
        return Bulk(from_=SENDER, to=RECEIVER, flows=flows, start=Starts(every="1 ms"), tcp=tcp)

    def _udp(self, flows: int) -> Cbr:
        interval, udp = units.format_time(1 / _STREAM_PER_S), Udp(payload=f"{self.payload} B")
        # A different start for each spreads the packets of all streams over the interval.
        start = Starts(every=units.format_time(1 / _STREAM_PER_S / flows))
        return Cbr(from_=SENDER, to=RECEIVER, flows=flows, start=start, interval=interval, udp=udp)


LARGE: Final = Density("1448 B, link", 1448, _XP_WINDOW)
SMALL: Final = Density("100 B, interface", 100, _XP_WINDOW)
LOSSY: Final = Density("1448 B, router", 1448, _OPEN, router=True)
LIVELOCK: Final = Density("100 B, interrupted router", 100, _OPEN, router=True, interrupts=True)
STREAMS: Final = Density("100 B, interrupted router, streams", 100, "", router=True, interrupts=True, streams=True)
_BY_NAME: Final = {kind.name: kind for kind in (LARGE, SMALL, LOSSY, LIVELOCK, STREAMS)}
DENSITY: Final = Cases(
    "density/{bottleneck}/{connections}",
    lambda bottleneck, connections: _BY_NAME[bottleneck].scenario(connections),
    {
        "bottleneck": tuple(_BY_NAME),
        "connections": (1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 36, 40, 44, 48, 56, 64),
    },
)


#: One TCP connection with that window over longer and longer links.
LATENCY: Final = Cases(
    "latency/{delay}",
    lambda delay: (
        sweeps.TCP_OUT.scenario(LARGE.payload).set("link.wire.delay", delay).set("traffic.probe.tcp.window", _XP_WINDOW)
    ),
    {"delay": ("1 us", "1 ms", "10 ms", "50 ms")},
)
