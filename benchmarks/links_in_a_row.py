"""Linux over several links in a row, in real time, beside the simulation of the same scenarios.

    python benchmarks/links_in_a_row.py -o results/links-in-a-row

Three networks, three congestion controls, one flow and four: 18 cells, which take about 15 minutes on a machine that
does nothing else. Measured three times, and simulated with sixteen seeds of the times that hosts take; the means
count. What flows over three full links get is left to chance: twelve times, and 64 seeds. Ends with a table of
what the flows from end to end got, and those that cross one link only, and, of goodput and of the 95th percentile of
the one-way delay, R² and how many are within 10 %. Continues where it was interrupted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

from changing_links import CONTROLS, DURATION, FLOWS, Measured, beside, command, mean, tell_agreement, with_hosts

import tightlink as tl
from tightlink.measure.measuring import measure


def link(ends: tuple[str, str], rate: str, delay: str, queue: str) -> dict[str, Any]:
    """A link whose way back is never full."""
    return {"ends": list(ends), "rate": rate, "delay": delay, "queue": queue, "reverse": {"rate": "50 Mbit/s"}}


_DATAGRAMS = {"datagram": "1000 B"}
TIMES = 3
#: How often a cell that is left to chance is measured.
CHANCE = {("lot", "reno", 1): 12, ("lot", "cubic", 1): 12, ("lot", "cubic", 4): 12}
SEEDS = range(1, 17)
MORE_SEEDS = range(1, 65)
#: Links, and flows that cross some of them beside those from end to end: kind, from, to.
NETWORKS: dict[str, tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]] = {
    # The line is full while nobody else is behind it, the peering otherwise.
    "home": (
        {
            "dsl": link(("a", "b"), "10 Mbit/s", "10 ms", "60 packets"),
            "peering": link(("b", "c"), "12 Mbit/s", "15 ms", "80 packets"),
        },
        {"others": {"kind": "cbr", "rate": "6 Mbit/s", "from": "b", "to": "c", "start": "6 s", "udp": _DATAGRAMS}},
    ),
    "equal": (
        {
            "one": link(("a", "b"), "10 Mbit/s", "10 ms", "60 packets"),
            "two": link(("b", "c"), "10 Mbit/s", "10 ms", "60 packets"),
        },
        {},
    ),
    "lot": (
        {
            "first": link(("a", "b"), "10 Mbit/s", "5 ms", "60 packets"),
            "second": link(("b", "c"), "8 Mbit/s", "10 ms", "60 packets"),
            "third": link(("c", "d"), "10 Mbit/s", "5 ms", "60 packets"),
        },
        {
            "first": {"kind": "bulk", "from": "a", "to": "b"},
            "second": {"kind": "bulk", "from": "b", "to": "c"},
            "third": {"kind": "bulk", "from": "c", "to": "d"},
        },
    ),
}  # fmt: skip


def scenario(network: str, control: str, flows: int, seed: int = 0) -> tl.Scenario:
    """A cell: flows from end to end, and others; with a seed to simulate, between hosts that take time."""
    links, others = NETWORKS[network]
    last = list(links.values())[-1]["ends"][1]
    traffic = {"through": {"kind": "bulk", "from": "a", "to": last, "flows": flows}} | others
    tcp = {"tcp": {"congestion": control}}
    traffic = {name: each | (tcp if each["kind"] == "bulk" else {}) for name, each in traffic.items()}
    chosen = with_hosts(links, traffic) if seed else {"link": links, "traffic": traffic}
    return tl.Scenario.from_dict({"profile": "linux", "duration": DURATION, "seed": seed} | chosen)


def found(run: tl.Run) -> dict[str, dict[str, float]]:
    """Of each group of flows over TCP the goodput, and the 95th percentile of one-way delays, the mean over flows."""
    answer = {}
    tcp = run.flows.filter(transport="tcp")
    for group in dict.fromkeys(label.partition("[")[0] for label in tcp["label"]):
        own = tcp.filter(tcp["label"].str.starts_with(group))
        answer[group] = {
            "goodput_bps": float(own["goodput_bps"].sum()),
            "one_way_delay_p95_s": float(own["one_way_delay_p95_s"].mean()),  # type: ignore[arg-type]  # numbers
        }
    return answer


def compared(stored: Measured) -> Iterator[tuple[tuple[Any, ...], list[Any], list[Any]]]:
    """Of each cell the network, the control and how many flows, and what measured and simulated runs had."""
    for network, control, flows in product(NETWORKS, CONTROLS, FLOWS):
        links = list(NETWORKS[network][0])
        run = partial(measure, scenario(network, control, flows), links=links, tries=3)
        cell = (network, control, flows)
        measured = stored.of(f"{network}, {control}, {flows}", CHANCE.get(cell, TIMES), found, run)
        seeds = MORE_SEEDS if cell in CHANCE else SEEDS
        yield cell, measured, [found(tl.simulate(scenario(*cell, seed))) for seed in seeds]


def main() -> None:
    rows = []
    for (network, control, flows), *both in compared(Measured(command(__doc__).parse_args().output)):
        for group in both[0][0]:
            there, here = (mean([one[group] for one in runs]) for runs in both)
            rows.append((there, here))
            spread = " ".join(f"{one[group]['goodput_bps']:.3g}" for one in both[0])
            print(f"{network:6} {control:6} {flows} {group:8} {beside(there, here)}  ({spread})", flush=True)
    tell_agreement(rows)


if __name__ == "__main__":
    main()
