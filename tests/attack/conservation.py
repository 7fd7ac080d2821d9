"""What the tables of a run say fits together: no packet comes from nowhere, no link carries more than it can."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import tightlink as tl
from attack import Violation, _networks

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from tightlink import Run

_ROUNDING: Final = 1e-9
#: Of traffic other than TCP's, tables beside those of every flow.
_DATAGRAMS: Final = (
    {"kind": "saturate", "udp": {"payload": "777 B"}},
    {"kind": "cbr", "rate": "3 Mbit/s", "udp": {"payload": "100 B"}},
    {"kind": "cbr", "interval": "0.7 ms", "udp": {"payload": "4000 B"}},
    {"kind": "on-off", "rate": "5 Mbit/s", "on": "50 ms", "off": "100 ms"},
    {"kind": "video", "rate": "2 Mbit/s"},
)


def attempt(chance: Random, place: Path) -> str:
    """Run a random network, and add up its tables."""
    _ = place
    table = _network(chance)
    scenario = tl.Scenario.from_dict(table)
    try:
        run = tl.simulate(scenario)
    except tl.ScenarioError:
        # What saturates a link needs a queue with a limit.
        return "refused"
    wrong = [*_links(run, scenario), *_flows(run)]
    if tl.simulate(scenario).manifest["digest"] != run.manifest["digest"]:
        wrong.append("a second run has other tables")
    if wrong:
        raise Violation(f"{'; '.join(wrong)}: {table}")
    return "with losses" if run.links["packets_dropped"].sum() else "without losses"


def _network(chance: Random) -> dict[str, Any]:
    table = _networks.scenario(chance)
    nodes = ["a", "b", "c", "d"][: chance.randint(2, 4)]
    table["link"] = {f"wire_{first}": _networks.link(chance, first, second) for first, second in pairwise(nodes)}
    table["traffic"] = {}
    for number in range(chance.randint(1, 5)):
        first, second = chance.sample(nodes, 2)
        flow: dict[str, Any] = {"kind": "bulk"}
        if chance.random() < 0.5:
            flow = dict(chance.choice(_DATAGRAMS))
        else:
            flow["tcp"] = _networks.tcp(chance, table["profile"])
        start = {"start": "0.1 s"} if chance.random() < 0.5 else {}
        table["traffic"][f"flow_{number}"] = flow | {"from": first, "to": second} | start
    if chance.random() < 0.5:
        table["observe"] = {"interval": "50 ms"}
    if chance.random() < 0.3:
        every = chance.choice(["1 us", "1 ms", "1 s"])
        processor = {"per_packet": chance.choice(["10 us", "2 ms"]), "background": {"cpu": "300 ns", "every": every}}
        table["node"] = {chance.choice(nodes): {"processor": processor}}
    return table


def _links(run: Run, scenario: tl.Scenario) -> list[str]:
    wrong = []
    resolved = scenario.resolve()
    for link, row in zip(resolved["links"], run.links.iter_rows(named=True), strict=True):
        name = row["link"]
        # What the wire loses has left the transmitter.
        apart = row["packets_out"] + row["packets_dropped"]
        gone = max(row["packets_out"], row["packets_dropped"]) if link["loss"] else apart
        if row["packets_in"] < gone:
            wrong.append(f"{name} sent and dropped more packets than came")
        if not 0 <= row["utilization"] <= 1:
            wrong.append(f"{name} was busy for {row['utilization']} of the time")
        if row["queue_mean_packets"] > row["queue_max_packets"] * (1 + _ROUNDING):
            wrong.append(f"{name} has a mean queue above the largest")
        # A packet in service at the end is not yet out.
        carried = row["bytes_out"] * 8 / resolved["duration_s"]
        if link["rate_pps"] is None and carried > link["rate_bps"] * (1 + _ROUNDING):
            wrong.append(f"{name} carried {carried} bit/s")
    return wrong


def _flows(run: Run) -> list[str]:
    wrong = []
    for row in run.flows.iter_rows(named=True):
        label = row["flow"] if "label" not in row else row["label"]
        if row["packets_sent"] < row["packets_delivered"] + row["packets_dropped"]:
            wrong.append(f"{label} delivered and lost more than it sent")
        if row["bytes_sent"] < row["bytes_delivered"]:
            wrong.append(f"{label} delivered more bytes than it sent")
        if row["goodput_bps"] > row["throughput_bps"] * (1 + _ROUNDING):
            wrong.append(f"{label} has a goodput above its throughput")
        shares = [value for key, value in row.items() if key.startswith("limited_by_") and value is not None]
        if shares and not math.isclose(sum(shares), 1, abs_tol=_ROUNDING):
            wrong.append(f"{label} was limited for {sum(shares)} of its time")
        if any(not -_ROUNDING <= share <= 1 + _ROUNDING for share in shares):
            wrong.append(f"{label} has shares of its time {shares}")
        if any(isinstance(value, float) and not math.isfinite(value) for value in row.values()):
            wrong.append(f"{label} has a value that is no number")
    return wrong
