"""Workloads: from a scenario file to the settings that ns2.tcl and ns3.cc share."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORKLOADS = ("w1", "w2-10", "w2-100", "w2-1000", "w3", "w4", "w5", "w6")

Settings = dict[str, str]

UNITS = {
    "bit/s": Fraction(1), "kbit/s": Fraction(10**3), "Mbit/s": Fraction(10**6),
    "Gbit/s": Fraction(10**9), "s": Fraction(1), "ms": Fraction(1, 10**3),
    "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9), "packets": Fraction(1), "B": Fraction(1),
}  # fmt: skip


def number(quantity: str) -> str:
    """`"10 ms"` as `"0.01"`: base units, no rounding but the one to a float."""
    value, unit = quantity.split()
    exact = Fraction(value) * UNITS[unit]
    return str(exact.numerator) if exact.denominator == 1 else repr(float(exact))


def numbers(quantities: str | list[str]) -> str:
    """One quantity, or a list of them, joined by commas."""
    return number(quantities) if isinstance(quantities, str) else ",".join(map(number, quantities))


@dataclass(frozen=True)
class Workload:
    name: str
    path: Path
    settings: Settings
    wire_per_payload: float  # bytes on the wire for a byte of payload
    chain: bool = True  # a chain or a dumbbell, which settings can describe

    @property
    def duration(self) -> float:
        return float(self.settings["duration"])


def read_workload(name: str) -> Workload:
    path = HERE / f"{name}.toml"
    scenario = tomllib.loads(path.read_text())
    (traffic,) = scenario["traffic"].values()
    tcp = traffic["tcp"]
    payload = int(number(tcp["payload"]))
    wire_per_payload = (payload + 40) / payload
    if any(topology["kind"] == "fat-tree" for topology in scenario.get("topology", {}).values()):
        return Workload(name, path, {"duration": number(scenario["duration"])}, wire_per_payload, chain=False)
    settings = {"duration": number(scenario["duration"]), "flows": str(traffic.get("flows", 1))}
    start = traffic["start"]
    if isinstance(start, str):
        start = {"first": start, "every": "0 s"}
    settings["start_first"], settings["start_every"] = number(start["first"]), number(start["every"])
    settings["recovery"] = tcp["recovery"]
    for key in ("payload", "window", "initial_window", "initial_ssthresh"):
        if key in tcp:
            settings[key] = number(tcp[key])
    if "link" in scenario:
        (hop,) = scenario["link"].values()
        settings |= {"hops": "1", "pairs": "0"}
    else:
        (topology,) = scenario["topology"].values()
        hop = topology["bottleneck"] if topology["kind"] == "dumbbell" else topology["hop"]
        access = topology["access"]
        settings |= {"hops": str(topology.get("hops", 1)), "pairs": str(topology["pairs"])}
        settings["access_rate"] = number(access["rate"])
        settings["access_delay"] = numbers(access["delay"])
        settings["access_queue"] = number(access["queue"])
    for key in ("rate", "delay", "queue"):
        settings[f"hop_{key}"] = number(hop[key])
    return Workload(name, path, settings, wire_per_payload)
