"""What is simulated: the seven cases of the document, one flow over one link, random loss, competing flows, phases.

Example:
    >>> tcp(CASES[1]).traffic["ftp"].tcp.payload
    '100 B'
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Cbr, Dumbbell, Link, Observe, OnOff, Reverse, Saturate, Scenario, Tcp, Udp
from tightlink.studies.cases import Cases

#: Offered in the link's queue: 40 bytes of IP and TCP header, none of UDP (ns-2 counts them as payload).
TCP_HEADER_BYTES: Final = 40
START_S: Final = 0.1
STOP_S: Final = 10.0
#: Packets of ns-2's default window, which the document does not mention, and of one that limits nothing.
WINDOW: Final = 20
OPEN: Final = "1000 packets"
SENDER: Final = "sender"
RECEIVER: Final = "receiver"


@dataclass(frozen=True)
class Case:
    """A case: the base case with one property changed."""

    name: str
    title: str
    """What is changed, for people."""
    payload_bytes: int = 1000
    rate_bps: float = 2e6
    delay_s: float = 0.010
    queue_packets: int = 20
    udp_rate: str = "2.5 Mbit/s"
    tcp: Mapping[str, Any] = field(default_factory=dict)
    """Of the transport, where that is not ns-2.35's."""

    @property
    def packet_bytes(self) -> int:
        """A full TCP packet with its header."""
        return self.payload_bytes + TCP_HEADER_BYTES

    @property
    def payload_share(self) -> float:
        """The part of a TCP packet that the application sent."""
        return self.payload_bytes / self.packet_bytes


BASE: Final = Case("base", "base case")
CASES: Final = (
    BASE,
    Case("packet-100", "packets of 100 B", payload_bytes=100),
    Case("packet-4000", "packets of 4000 B", payload_bytes=4000),
    Case("bandwidth-1mbit", "link of 1 Mbit/s", rate_bps=1e6, udp_rate="2 Mbit/s"),
    Case("queue-50", "queue of 50 packets", queue_packets=50),
    # The only case with losses, and so with a timer: its lower bound was 1 s in the ns-2 of the document's day.
    Case("queue-5", "queue of 5 packets", queue_packets=5, tcp={"rto": {"min": "1 s"}}),
    Case("delay-100ms", "delay of 100 ms", delay_s=0.100),
)
BY_NAME: Final = {case.name: case for case in CASES}


def link(case: Case) -> Link:
    """The link of a case; the ACKs' queue is ns-2's default."""
    return Link(
        ends=(SENDER, RECEIVER),
        rate=f"{case.rate_bps / 1e6:g} Mbit/s",
        delay=f"{case.delay_s * 1e3:g} ms",
        queue=f"{case.queue_packets} packets",
        reverse=Reverse(queue="50 packets"),
    )


def tcp(case: Case, **settings: Any) -> Scenario:
    """A case with TCP Reno and ns-2's window of 20 packets, and settings beyond or instead of the document's."""
    payload = f"{case.payload_bytes} B"
    own: dict[str, Any] = {"congestion": "reno", "recovery": "reno", "payload": payload, "window": "20 packets"}
    ftp = Bulk(from_=SENDER, to=RECEIVER, start=f"{START_S} s", tcp=Tcp(**own | dict(case.tcp) | settings))
    return Scenario(profile="ns2", duration=f"{STOP_S} s", link={"bottleneck": link(case)}, traffic={"ftp": ftp})


def udp(case: Case) -> Scenario:
    """A case with UDP at a constant rate above the link's, the document's announced next step."""
    datagrams = Udp(payload=f"{case.payload_bytes} B")
    voice = Cbr(from_=SENDER, to=RECEIVER, start=f"{START_S} s", rate=case.udp_rate, udp=datagrams)
    return Scenario(profile="ns2", duration=f"{STOP_S} s", link={"bottleneck": link(case)}, traffic={"cbr": voice})


#: The base case with an ACKs' direction that is a thousand times as fast.
FAST_ACKS: Final = "tcp/base/acks-2gbit"
#: The case with the short queue under the retransmission timer's lower bound of ns-2.35.
NEW_TIMER: Final = "tcp/queue-5/minrto-200ms"


def _cases() -> list[Task]:
    """The seven cases under TCP and under UDP, the base case with fast ACKs, the short queue with the newer timer."""
    return [
        *(Task(f"tcp/{case.name}", tcp(case), trace=True) for case in CASES),
        *(Task(f"udp/{case.name}", udp(case), trace=True) for case in CASES),
        Task(FAST_ACKS, tcp(BASE).set("link.bottleneck.reverse.rate", "2 Gbit/s")),
        Task(NEW_TIMER, tcp(BY_NAME["queue-5"], rto={"min": "0.2 s"}), trace=True),
    ]


def _opened() -> list[Task]:
    """Each case for 100 s; with the window opened, for 10 s and for 100 s; and with the old slow-start threshold."""
    listed = []
    for case in CASES:
        opened = tcp(case, window=OPEN)
        careful = tcp(case, window=OPEN, initial_ssthresh=f"{WINDOW} packets")
        listed += [
            Task(f"window-20-100s/{case.name}", tcp(case).set("duration", "100 s")),
            Task(f"opened/{case.name}", opened),
            Task(f"opened-100s/{case.name}", opened.set("duration", "100 s")),
            Task(f"opened-ssthresh-20/{case.name}", careful),
        ]
    return listed


# TCP with an open window over a link that loses packets at random, or at its queue.

SEEDS: Final = (1, 2, 3, 4, 5)
FEW_SEEDS: Final = (1, 2, 3)
#: Loss at which packet size and round trip are varied.
_FIXED_LOSS: Final = 0.005
VARIANTS: Final[dict[str, dict[str, Any]]] = {
    "Reno": {"recovery": "reno"},
    "Tahoe": {"recovery": "tahoe"},
    "Reno, delayed ACKs": {"recovery": "reno", "delayed_acks": True},
}


def response_scenario(
    *, rate: str = "10 Mbit/s", delay_ms: float = 50, queue: int = 1000, loss: float = 0, payload: int = 1000,
    seed: int, **settings: Any,
) -> Scenario:  # fmt: skip
    """One bulk flow with an open window over a link that loses packets at random, or at its queue."""
    back = Reverse(queue="1000 packets", loss=0)
    own = Tcp(payload=f"{payload} B", window="1000 packets", initial_ssthresh="20 packets", **settings)
    link = Link(
        ends=(SENDER, RECEIVER), rate=rate, delay=f"{delay_ms} ms", queue=f"{queue} packets", loss=loss, reverse=back
    )
    ftp = Bulk(from_=SENDER, to=RECEIVER, start="0.1 s", tcp=own)
    return Scenario(profile="ns2", duration="200 s", seed=seed, link={"bottleneck": link}, traffic={"ftp": ftp})


RANDOM: Final = Cases(
    "response/{variant}/loss-{loss}/{seed}",
    lambda variant, loss, seed: response_scenario(loss=loss, seed=seed, **VARIANTS[variant]),
    {"variant": tuple(VARIANTS), "loss": (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1), "seed": SEEDS},
)
#: The smallest of these losses with further seeds: there Reno's mean is the largest over the function.
FEWEST: Final = Cases(
    "response/Reno/loss-{loss}/{seed}",
    lambda loss, seed: response_scenario(loss=loss, seed=seed, **VARIANTS["Reno"]),
    {"loss": RANDOM.levels["loss"][:1], "seed": tuple(range(len(SEEDS) + 1, len(SEEDS) + 61))},
)
FORCED: Final = Cases(
    "response/{variant}/queue-{queue}/{seed}",
    lambda variant, queue, seed: response_scenario(rate="2 Mbit/s", queue=queue, seed=seed, **VARIANTS[variant]),
    {"variant": ("Reno", "Tahoe"), "queue": (3, 5, 8, 12, 20, 30, 50, 80), "seed": FEW_SEEDS},
)
PAYLOADS: Final = Cases(
    "response/payload-{payload}/{seed}",
    lambda payload, seed: response_scenario(loss=_FIXED_LOSS, payload=payload, seed=seed),
    {"payload": (250, 500, 1000, 2000), "seed": FEW_SEEDS},
)
DELAYS: Final = Cases(
    "response/delay-{delay}/{seed}",
    lambda delay, seed: response_scenario(loss=_FIXED_LOSS, delay_ms=delay, seed=seed),
    {"delay": (12.5, 25.0, 50.0, 100.0), "seed": FEW_SEEDS},
)


# Competing flows, as the document announces: TCP beside TCP, TCP beside UDP, UDP beside UDP, small beside large.

_UDP_KINDS: Final = ("constant", "on-off")
_BESIDE_NOISE: Final = "constant-noise"
COMPANY_X: Final = "company-x"
#: Routers of the ring, and links that each flow crosses.
_RING: Final = 9
_ONWARD: Final = 4
LINK_BPS: Final = 2e6
#: The way of an ACK over the near path.
BACK_S: Final = 0.012


def _scenario(pairs: int, traffic: Mapping[str, Any], seed: int, **left: Any) -> Scenario:
    """The document's link as the bottleneck of hosts with fast access."""
    bottleneck = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": "20 packets", "reverse": {"queue": "1000 packets"}}
    access = {"rate": "100 Mbit/s", "delay": "1 ms", "queue": "1000 packets"}
    table: dict[str, Any] = {"pairs": pairs, "bottleneck": bottleneck, "access": access}
    net = Dumbbell.model_validate(table | ({"access_left": left} if left else {}))
    return Scenario(
        profile="ns2", duration="60 s", seed=seed, topology={"net": net}, traffic=dict(traffic),
        observe=Observe(interval="100 ms"),
    )  # fmt: skip


def _starts(count: int, seed: int) -> list[str]:
    """Within the first second, at random: flows that start together stay together."""
    draw = random.Random(seed)  # noqa: S311
    return [f"{100 + draw.uniform(0, 1000):.3f} ms" for _ in range(count)]


def _pair(index: int) -> dict[str, Any]:
    return {"from_": f"net.left[{index}]", "to": f"net.right[{index}]"}


def _pairs(flows: int) -> dict[str, Any]:
    return {"flows": flows, "from_": "net.left[*]", "to": "net.right[*]"}


def _noise(pair: int) -> dict[str, OnOff]:
    """About 5 % of random traffic; with less, drop-tail's phase effects decide, not the flows' properties."""
    small = Udp(payload="100 B")
    return {"noise": OnOff(rate="1 Mbit/s", on="10 ms", off="90 ms", udp=small, **_pair(pair))}


def _many(flows: int, seed: int) -> Scenario:
    """TCP flows with the document's settings that share its link."""
    return _scenario(flows, {"ftp": Bulk(start=_starts(flows, seed), **_pairs(flows))}, seed)


def _beside_udp(offered_percent: int, seed: int) -> Scenario:
    """One TCP flow beside UDP at a constant rate, given in percent of the link's."""
    begin, later = _starts(2, seed)
    voice = Cbr(rate=f"{offered_percent * LINK_BPS / 100 / 1e6:g} Mbit/s", start=later, **_pair(1))
    return _scenario(2, {"ftp": Bulk(start=begin, **_pair(0)), "cbr": voice}, seed)


def _unresponsive(kind: str, flows: int, seed: int) -> Scenario:
    """UDP flows that offer 150 % of the link together, constant or half of the time twice as much."""
    rate = 1.5 * LINK_BPS / flows
    ends = _pairs(flows) | {"start": _starts(flows, seed)}
    if kind == _BESIDE_NOISE:
        return _scenario(flows + 1, {"udp": _offered(_UDP_KINDS[0], rate, ends)} | _noise(flows), seed)
    return _scenario(flows, {"udp": _offered(kind, rate, ends)}, seed)


def _offered(kind: str, rate_bps: float, ends: Mapping[str, Any]) -> Cbr | OnOff:
    """Datagrams at a constant rate, or at random half of the time at twice the rate."""
    if kind == "constant":
        return Cbr(rate=f"{rate_bps / 1e6:g} Mbit/s", **ends)
    return OnOff(rate=f"{2 * rate_bps / 1e6:g} Mbit/s", on="0.5 s", off="0.5 s", **ends)


def _sizes(setting: int, seed: int) -> Scenario:
    """A TCP flow of small packets beside one of 1000 B, with windows that limit neither."""
    begin, later = _starts(2, seed)
    flows: dict[str, Any] = {
        name: Bulk(start=start, tcp=Tcp(payload=f"{payload} B", window="1000 packets"), **_pair(index))
        for index, (name, payload, start) in enumerate((("small", setting, begin), ("large", 1000, later)))
    }
    return _scenario(3, flows | _noise(2), seed).set("duration", "200 s")


def _round_trips(setting: int, seed: int) -> Scenario:
    """Two TCP flows, of which one has a path so many times as long (24 ms and more)."""
    begin, later = _starts(2, seed)
    tcp = Tcp(window="1000 packets", initial_ssthresh="20 packets")
    flows: dict[str, Any] = {
        "near": Bulk(start=begin, tcp=tcp, **_pair(0)),
        "far": Bulk(start=later, tcp=tcp, **_pair(1)),
    }
    delay = ["1 ms", f"{1 + extra_s(setting) * 1e3:g} ms", "1 ms"]
    return _scenario(3, flows | _noise(2), seed, delay=delay).set("duration", "200 s")


def extra_s(times: int) -> float:
    """What makes a path of 12 ms one way so many times as long."""
    return BACK_S * (times - 1)


def _company_x() -> Scenario:
    """A 10 Mbit/s network with 20 sources that talk seldom and fast: 7 % of it, as much as the document's."""
    source = OnOff(
        flows=20, from_="lan", to="gateway", rate="9 Mbit/s", on="20 ms", off="6.5 s", distribution="pareto",
        start=[f"{index} ms" for index in range(20)],
    )  # fmt: skip
    wire = Link(ends=("lan", "gateway"), rate="10 Mbit/s", delay="1 ms", queue="1000 packets")
    return Scenario(profile="ns2", duration="247 s", link={"lan": wire}, traffic={"host": source})


def _around(kind: str, seed: int) -> Scenario:
    """A ring of nine routers, on which each sends four links onward: what is lost late was carried in vain.

    Floyd and Fall 1999: congestion collapse from undelivered packets.
    """
    wire: dict[str, Any] = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": "20 packets"}
    links = {f"wire{index}": Link(ends=(f"r{index}", f"r{(index + 1) % _RING}"), **wire) for index in range(_RING)}
    starts = _starts(_RING, seed)
    traffic: dict[str, Any] = {}
    for index in range(_RING):
        ends: dict[str, Any] = {"from_": f"r{index}", "to": f"r{(index + _ONWARD) % _RING}", "start": starts[index]}
        traffic[f"flow{index}"] = Bulk(**ends) if kind == "tcp" else _offered(kind, 1.5 * LINK_BPS, ends)
    return Scenario(profile="ns2", duration="60 s", seed=seed, link=links, traffic=traffic)


def _alone(kind: str) -> Scenario:
    """A file of 100 packets over an idle network of 10 Mbit/s: by TCP, or as fast as the interface sends."""
    ends: dict[str, Any] = {"from_": "server", "to": "client"}
    traffic: dict[str, Any] = {
        "file": Bulk(bytes="100 kB", **ends) if kind == "tcp" else Saturate(udp=Udp(payload="1000 B"), **ends)
    }
    wire = Link(ends=("server", "client"), rate="10 Mbit/s", delay="1 ms", queue="100 packets")
    return Scenario(profile="ns2", duration="1 s", link={"lan": wire}, traffic=traffic)


MANY: Final = Cases("many/{flows}/{seed}", _many, {"flows": (1, 2, 5, 10, 20), "seed": SEEDS})
BESIDE_UDP: Final = Cases(
    "beside-udp/{offered_percent}/{seed}", _beside_udp, {"offered_percent": tuple(range(10, 151, 10)), "seed": SEEDS}
)
UDP_ONLY: Final = Cases(
    "udp-only/{kind}-{flows}/{seed}",
    _unresponsive,
    {"kind": (*_UDP_KINDS, _BESIDE_NOISE), "flows": (2, 5, 10), "seed": SEEDS},
)
SIZES: Final = Cases("sizes/{setting}/{seed}", _sizes, {"setting": (100, 250, 500, 1000), "seed": SEEDS})
ROUND_TRIPS: Final = Cases("round-trips/{setting}/{seed}", _round_trips, {"setting": (1, 2, 4, 8), "seed": SEEDS})
AROUND: Final = Cases("around/{kind}/{seed}", _around, {"kind": ("tcp", *_UDP_KINDS), "seed": SEEDS})
ALONE: Final = Cases("alone/{kind}", _alone, {"kind": ("tcp", "udp")}, trace=True)


# Phase effects: two flows of nearly equal round trips, and a drop-tail queue that always hits the same one.
#
# S. Floyd, V. Jacobson: On Traffic Phase Effects in Packet-Switched Gateways, Internetworking 3(3), 1992:
# a bottleneck of 0.8 Mbit/s and 100 ms with a buffer of 15 packets, access links of 8 Mbit/s and 5 ms,
# packets of 1000 B, windows of 32 packets; one flow's access is lengthened little by little. A packet
# takes the bottleneck 10 ms, and so the outcome repeats with each 10 ms of the round trip.


def phase_scenario(extra_us: int, *, noise: bool) -> Scenario:
    """Two Reno flows, the second with the longer access; beside them, or not, 9 kbit/s of random traffic."""
    tcp = Tcp(recovery="reno", payload="960 B", window="32 packets")
    flows = Bulk(start=["0.1 s", "0.5 s"], tcp=tcp, **_pairs(2))
    other = OnOff(rate="100 kbit/s", on="10 ms", off="100 ms", udp=Udp(payload="100 B"), **_pair(2))
    table = {
        "pairs": 3,
        "bottleneck": {"rate": "0.8 Mbit/s", "delay": "100 ms", "queue": "15 packets"},
        "access": {"rate": "8 Mbit/s", "delay": "5 ms", "queue": "1000 packets"},
        "access_left": {"delay": ["5 ms", f"{5000 + extra_us} us", "5 ms"]},
    }
    traffic: dict[str, Any] = {"flow": flows, **({"noise": other} if noise else {})}
    net = Dumbbell.model_validate(table)
    return Scenario(profile="ns2", duration="200 s", topology={"net": net}, traffic=traffic)


#: One access link is lengthened in steps of 0.5 ms; the round trip grows by twice as much.
PHASE: Final = Cases(
    "phase/{kind}/{extra_us}",
    lambda kind, extra_us: phase_scenario(extra_us, noise=kind == "noise"),
    {"kind": ("alone", "noise"), "extra_us": tuple(range(0, 25_001, 500))},
)


def tasks() -> list[Task]:
    """Everything that is simulated."""
    varied = [task for seed in FEW_SEEDS for cases in (PAYLOADS, DELAYS) for task in cases.tasks(seed=seed)]
    competing = (MANY, BESIDE_UDP, UDP_ONLY, SIZES, ROUND_TRIPS, AROUND, ALONE)
    return [
        *_cases(), *_opened(), *RANDOM.tasks(), *FEWEST.tasks(), *FORCED.tasks(), *varied,
        *(task for cases in competing for task in cases.tasks()), Task(COMPANY_X, _company_x(), trace=True),
        *PHASE.tasks(),
    ]  # fmt: skip
