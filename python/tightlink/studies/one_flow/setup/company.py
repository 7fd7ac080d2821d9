"""With company, as the document announces: TCP beside TCP, TCP beside UDP, UDP beside UDP, small beside large."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Bulk, Cbr, Dumbbell, Link, Observe, OnOff, Saturate, Scenario, Tcp, Udp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.scenario.topologies import AnyTopology

SEEDS: Final = (1, 2, 3, 4, 5)
FLOWS: Final = (1, 2, 5, 10, 20)
UDP_PERCENT: Final = tuple(range(10, 151, 10))
UDP_FLOWS: Final = (2, 5, 10)
UDP_KINDS: Final = ("constant", "on-off")
SMALL: Final = (100, 250, 500, 1000)
LONG: Final = (1, 2, 4, 8)
COMPANY_X: Final = "company-x"
ALONE: Final = ("tcp", "udp")
AROUND: Final = ("tcp", *UDP_KINDS)
#: Routers of the ring, and links that each flow crosses.
_RING: Final = 9
_ONWARD: Final = 4
LINK_BPS: Final = 2e6
_PERCENT: Final = 100
#: The way of an ACK over the near path.
BACK_S: Final = 0.012


def _net(pairs: int, **left: Any) -> dict[str, AnyTopology]:
    """The document's link as the bottleneck of hosts with fast access."""
    bottleneck = {"rate": "2 Mbit/s", "delay": "10 ms", "queue": "20 packets", "reverse": {"queue": "1000 packets"}}
    access = {"rate": "100 Mbit/s", "delay": "1 ms", "queue": "1000 packets"}
    table: dict[str, Any] = {"pairs": pairs, "bottleneck": bottleneck, "access": access}
    return {"net": Dumbbell.model_validate(table | ({"access_left": left} if left else {}))}


def _scenario(pairs: int, traffic: Mapping[str, Any], seed: int, **left: Any) -> Scenario:
    return Scenario(
        profile="ns2",
        duration="60 s",
        seed=seed,
        topology=_net(pairs, **left),
        traffic=dict(traffic),
        observe=Observe(interval="100 ms"),
    )


def _starts(count: int, seed: int) -> list[str]:
    """Within the first second, at random: flows that start together stay together."""
    draw = random.Random(seed)  # noqa: S311
    return [f"{100 + draw.uniform(0, 1000):.3f} ms" for _ in range(count)]


def _pair(index: int) -> dict[str, Any]:
    return {"from_": f"net.left[{index}]", "to": f"net.right[{index}]"}


def _noise() -> dict[str, OnOff]:
    """About 5 % of random traffic; with less, drop-tail's phase effects decide, not the flows' properties."""
    small = Udp(payload="100 B")
    return {"noise": OnOff(rate="1 Mbit/s", on="10 ms", off="90 ms", udp=small, **_pair(2))}


def many(count: int, seed: int) -> Scenario:
    """TCP flows with the document's settings that share its link."""
    ends: dict[str, Any] = {"from_": "net.left[*]", "to": "net.right[*]"}
    return _scenario(count, {"ftp": Bulk(flows=count, start=_starts(count, seed), **ends)}, seed)


def beside_udp(percent: int, seed: int) -> Scenario:
    """One TCP flow beside UDP at a constant rate, given in percent of the link's."""
    begin, later = _starts(2, seed)
    voice = Cbr(rate=f"{percent * LINK_BPS / _PERCENT / 1e6:g} Mbit/s", start=later, **_pair(1))
    return _scenario(2, {"ftp": Bulk(start=begin, **_pair(0)), "cbr": voice}, seed)


def unresponsive(count: int, kind: str, seed: int) -> Scenario:
    """UDP flows that offer 150 % of the link together, constant or half of the time twice as much."""
    rate = 1.5 * LINK_BPS / count
    ends: dict[str, Any] = {"from_": "net.left[*]", "to": "net.right[*]", "flows": count, "start": _starts(count, seed)}
    return _scenario(count, {"udp": _offered(kind, rate, ends)}, seed)


def _offered(kind: str, rate_bps: float, ends: Mapping[str, Any]) -> Cbr | OnOff:
    """Datagrams at a constant rate, or at random half of the time at twice the rate."""
    if kind == "constant":
        return Cbr(rate=f"{rate_bps / 1e6:g} Mbit/s", **ends)
    return OnOff(rate=f"{2 * rate_bps / 1e6:g} Mbit/s", on="0.5 s", off="0.5 s", **ends)


def sizes(small: int, seed: int) -> Scenario:
    """A TCP flow of small packets beside one of 1000 B, with windows that limit neither."""
    begin, later = _starts(2, seed)
    flows: dict[str, Any] = {
        name: Bulk(start=start, tcp=Tcp(payload=f"{payload} B", window="1000 packets"), **_pair(index))
        for index, (name, payload, start) in enumerate((("small", small, begin), ("large", 1000, later)))
    }
    return _scenario(3, flows | _noise(), seed).set("duration", "200 s")


def round_trips(times: int, seed: int) -> Scenario:
    """Two TCP flows, of which one has a path so many times as long (24 ms and more)."""
    begin, later = _starts(2, seed)
    tcp = Tcp(window="1000 packets", initial_ssthresh="20 packets")
    flows: dict[str, Any] = {
        "near": Bulk(start=begin, tcp=tcp, **_pair(0)),
        "far": Bulk(start=later, tcp=tcp, **_pair(1)),
    }
    delay = ["1 ms", f"{1 + extra_s(times) * 1e3:g} ms", "1 ms"]
    return _scenario(3, flows | _noise(), seed, delay=delay).set("duration", "200 s")


def extra_s(times: int) -> float:
    """What makes a path of 12 ms one way so many times as long."""
    return BACK_S * (times - 1)


def company_x() -> Scenario:
    """A 10 Mbit/s network with 20 sources that talk seldom and fast: 7 % of it, as much as the document's."""
    source = OnOff(
        flows=20, from_="lan", to="gateway", rate="9 Mbit/s", on="20 ms", off="6.5 s", distribution="pareto",
        start=[f"{index} ms" for index in range(20)],
    )  # fmt: skip
    wire = Link(ends=("lan", "gateway"), rate="10 Mbit/s", delay="1 ms", queue="1000 packets")
    return Scenario(profile="ns2", duration="247 s", link={"lan": wire}, traffic={"host": source})


def around(kind: str, seed: int) -> Scenario:
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


def alone(kind: str) -> Scenario:
    """A file of 100 packets over an idle network of 10 Mbit/s: by TCP, or as fast as the interface sends."""
    ends: dict[str, Any] = {"from_": "server", "to": "client"}
    traffic: dict[str, Any] = {
        "file": Bulk(bytes="100 kB", **ends) if kind == "tcp" else Saturate(udp=Udp(payload="1000 B"), **ends)
    }
    wire = Link(ends=("server", "client"), rate="10 Mbit/s", delay="1 ms", queue="100 packets")
    return Scenario(profile="ns2", duration="1 s", link={"lan": wire}, traffic=traffic)


def tasks() -> list[Task]:
    """Every mix, with every seed."""
    listed = [Task(f"many/{count}/{seed}", many(count, seed)) for count in FLOWS for seed in SEEDS]
    listed += [Task(f"beside-udp/{part}/{seed}", beside_udp(part, seed)) for part in UDP_PERCENT for seed in SEEDS]
    listed += [
        Task(f"udp-only/{kind}-{count}/{seed}", unresponsive(count, kind, seed))
        for kind in UDP_KINDS
        for count in UDP_FLOWS
        for seed in SEEDS
    ]
    listed += [Task(f"sizes/{small}/{seed}", sizes(small, seed)) for small in SMALL for seed in SEEDS]
    listed += [Task(f"round-trips/{times}/{seed}", round_trips(times, seed)) for times in LONG for seed in SEEDS]
    listed += [Task(f"around/{kind}/{seed}", around(kind, seed)) for kind in AROUND for seed in SEEDS]
    listed += [Task(f"alone/{kind}", alone(kind), trace=True) for kind in ALONE]
    return [*listed, Task(COMPANY_X, company_x(), trace=True)]
