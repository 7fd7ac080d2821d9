"""Phase effects: two flows of nearly equal round trips, and a drop-tail queue that always hits the same one.

S. Floyd, V. Jacobson: On Traffic Phase Effects in Packet-Switched Gateways, Internetworking 3(3), 1992:
a bottleneck of 0.8 Mbit/s and 100 ms with a buffer of 15 packets, access links of 8 Mbit/s and 5 ms,
packets of 1000 B, windows of 32 packets; one flow's access is lengthened little by little. A packet
takes the bottleneck 10 ms, and so the outcome repeats with each 10 ms of the round trip.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import Claim, holds_if
from tightlink.experiment.execute import Task
from tightlink.reduce import largest, smallest
from tightlink.report import Chart, Section, Text, charts
from tightlink.scenario import Bulk, Dumbbell, OnOff, Scenario, Tcp, Udp
from tightlink.studies.one_flow.cases import DOCUMENT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

#: What lengthens one access link, in steps of 0.5 ms; the round trip grows by twice as much.
EXTRA_US: Final = tuple(range(0, 25_001, 500))
_KINDS: Final = {"alone": "two flows alone", "noise": "beside a little random traffic"}
_SAME: Final = 0.5


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
        Task(f"phase/{kind}/{extra}", scenario(extra, noise=kind == "noise")) for kind in _KINDS for extra in EXTRA_US
    ]


def shares(runs: Mapping[str, Run]) -> pl.DataFrame:
    """The second flow's share of what both got through."""
    rows = []
    for kind, words in _KINDS.items():
        for extra in EXTRA_US:
            goodput = runs[f"phase/{kind}/{extra}"].flows["goodput_bps"]
            rows.append({"kind": words, "extra_ms": 2 * extra / 1e3, "share": goodput[1] / (goodput[0] + goodput[1])})
    return pl.DataFrame(rows)


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """That there are phase effects, and what they need."""
    alone, noise = _spreads(shares(runs))
    yield holds_if(
        "company.phase", "Phase effects take part in how bandwidth is shared", f"{DOCUMENT}, response function",
        f"shares from {alone[0] * 100:.0f} to {alone[1] * 100:.0f} %", alone[1] - alone[0] > _SAME,
        "Share of the flow whose round trip is 0 to 50 ms longer; Floyd and Jacobson 1992.",
    )  # fmt: skip
    yield holds_if(
        "company.phase-noise", "A little random traffic takes most of them away", "Floyd and Jacobson 1992",
        f"shares from {noise[0] * 100:.0f} to {noise[1] * 100:.0f} %", noise[1] - noise[0] < (alone[1] - alone[0]) / 2,
    )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    frame = shares(runs)
    alone, noise = _spreads(frame)
    finding = (
        f"Lengthening one round trip of 233 ms by up to 50 ms moves that flow's share between {alone[0] * 100:.0f} "
        f"and {alone[1] * 100:.0f} %, again and again with each 10 ms, the time of a packet at the bottleneck; with 9 "
        f"kbit/s of random traffic beside, it stays between {noise[0] * 100:.0f} and {noise[1] * 100:.0f} %."
    )
    text = (
        "When a drop-tail queue is full, the packet that arrives just after one has left finds room. Which flow that "
        "is depends on the phase between their packets, and deterministic flows never change it, so one flow loses "
        "again and again. Results of a simulation without any randomness can rest on nothing else. Set-up of Floyd "
        "and Jacobson (1992)."
    )
    shown = frame.with_columns((pl.col("share") * 100).alias("share"))
    chart = charts.line(
        shown, "extra_ms", "share", by="kind", x_title="longer round trip of the second flow (ms)",
        y_title="share of the second flow (%)", y_domain=(0, 100), height=260,
    )  # fmt: skip
    return Section("Phase effects", finding, [Text(text), Chart(chart)])


def _spreads(frame: pl.DataFrame) -> tuple[tuple[float, float], ...]:
    spreads = []
    for words in _KINDS.values():
        share = frame.filter(pl.col("kind") == words)["share"]
        spreads.append((smallest(share), largest(share)))
    return tuple(spreads)
