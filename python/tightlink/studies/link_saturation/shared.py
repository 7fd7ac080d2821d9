"""Mixed sizes: several sources share the interface, and eq. 1 takes means: T = p̄ · f̄."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink import units
from tightlink.experiment.claims import Claim, holds_if
from tightlink.experiment.execute import Task
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.scenario import Saturate, Scenario, Udp
from tightlink.studies.link_saturation.document import DOCUMENT
from tightlink.studies.link_saturation.interface import (
    DURATION_S,
    FAST_ETHERNET,
    NIC,
    RECEIVER,
    SENDER,
    nodes,
)
from tightlink.studies.link_saturation.measures import measure, most

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_PERCENT: Final = 100
_MBIT: Final = 1e6
#: Sources by payload: two sizes from all small to all large, then the three sizes that the document cites.
MIXES: Final[tuple[dict[int, int], ...]] = (
    *({25: 10 - large, 1450: large} for large in range(11)),
    {25: 6, 548: 2, 1450: 2},
    {25: 2, 548: 6, 1450: 2},
    {25: 2, 548: 2, 1450: 6},
)
#: Between sizes that were simulated rates are taken from a line; that is what it misses.
_NEAR: Final = 0.01


def key(mix: Mapping[int, int]) -> str:
    """The name of a run."""
    return "mixed/" + "+".join(f"{count}x{size}" for size, count in mix.items() if count)


def scenario(mix: Mapping[int, int]) -> Scenario:
    """Sources that take turns at one interface, as each is woken for one packet."""
    traffic = {
        f"size-{size}": Saturate(from_=SENDER, to=RECEIVER, flows=count, udp=Udp(payload=f"{size} B"))
        for size, count in mix.items()
        if count
    }
    return Scenario(
        duration=units.format_time(DURATION_S),
        link={"wire": FAST_ETHERNET.link()},
        node=nodes(NIC),
        traffic=dict(traffic),
    )


def tasks() -> list[Task]:
    """Every mix."""
    return [Task(key(mix), scenario(mix)) for mix in MIXES]


def table(runs: Mapping[str, Run], uniform: pl.DataFrame) -> pl.DataFrame:
    """A row for each mix, with the packet rate of equal packets of its mean size.

    Args:
        runs: Of the study.
        uniform: The main sweep.
    """
    import numpy as np

    sizes = uniform["payload_bytes"].to_numpy()
    times = 1 / uniform["packets_per_s"].to_numpy()
    rows = []
    for mix in MIXES:
        found = measure(runs[key(mix)])
        flows = runs[key(mix)].flows
        # Weighted by bytes instead: the size that a byte, not a packet, finds itself in.
        goodput = flows["goodput_bps"].to_numpy()
        own = goodput / flows["packets_delivered"].to_numpy() / 8 * DURATION_S
        by_bytes = float((own * goodput).sum() / goodput.sum())
        rows.append(
            {
                "mix": " + ".join(f"{count} × {size} B" for size, count in mix.items() if count),
                "payload_bytes": found["payload_bytes"],
                "by_bytes": by_bytes,
                "packets_per_s": found["packets_per_s"],
                "uniform": float(1 / np.interp(found["payload_bytes"], sizes, times)),
                "uniform_by_bytes": float(1 / np.interp(by_bytes, sizes, times)),
                "goodput_bps": found["goodput_bps"],
                "jitter_rfc3550_s": found["jitter_rfc3550_s"],
            }
        )
    return pl.DataFrame(rows)


def claims(runs: Mapping[str, Run], uniform: pl.DataFrame) -> Iterator[Claim]:
    """Eq. 1."""
    found = table(runs, uniform)
    wrong = (found["packets_per_s"] / found["uniform"] - 1).abs()
    other = (found["packets_per_s"] / found["uniform_by_bytes"] - 1).abs()
    off = most(wrong)
    yield holds_if(
        "mixed.mean-size", "Throughput is mean size × mean packet rate, whatever the mix",
        f"{DOCUMENT}, eq. 1",
        f"within {_PERCENT * off:.2f} %", off < _NEAR,
        f"T = p̄ · f̄ itself is arithmetic. What can be tested: {len(MIXES)} mixes of sizes send at the packet rate "
        "of equal packets of their mean size. The mean is over packets; weighted by bytes it would be off by up to "
        f"{_PERCENT * most(other):.0f} %. It holds as both costs are linear in the size, and as a ring "
        "stands between the interface and the line.",
    )  # fmt: skip


def section(runs: Mapping[str, Run], uniform: pl.DataFrame) -> Section:
    """The part of the report."""
    found = table(runs, uniform)
    off = most((found["packets_per_s"] / found["uniform"] - 1).abs())
    jitter = most(found["jitter_rfc3550_s"])
    finding = (
        f"Mixed packets go at the rate of equal packets of their mean size, within {_PERCENT * off:.2f} %; "
        f"jitter is {jitter * 1e6:.0f} µs at most, as sources that take turns keep their pace."
    )
    text = (
        "Ten sources take turns at the interface: small and large packets in all proportions, and three sizes at once. "
        "The mean of eq. 1 is over packets. Jitter is that of RFC 3550, which Iperf reports and the document does not "
        "use: packets in a steady order have none, whatever their sizes. What a real Iperf reports here comes from its "
        "hosts."
    )
    frame = pl.concat(
        [
            uniform.select("payload_bytes", "packets_per_s", sizes=pl.lit("equal packets")),
            found.select("payload_bytes", "packets_per_s", sizes=pl.lit("mixed, at their mean size")),
            found.select(
                pl.col("by_bytes").alias("payload_bytes"), "packets_per_s", sizes=pl.lit("mixed, at the mean by bytes")
            ),
        ]
    )  # fmt: skip
    chart = charts.points(
        frame, "payload_bytes", "packets_per_s", by="sizes", x_title="mean payload (B)", height=280,
        y_domain=(0, 35_000), x_domain=(0, 1500),
    )  # fmt: skip
    formats: dict[str, Any] = {
        "mean payload B": ".1f", "packets/s": ",.0f", "equal packets/s": ",.0f", "goodput Mbit/s": ".2f",
        "jitter µs": ".1f",
    }  # fmt: skip
    shown = found.select(
        "mix",
        pl.col("payload_bytes").alias("mean payload B"),
        pl.col("packets_per_s").alias("packets/s"),
        pl.col("uniform").alias("equal packets/s"),
        (pl.col("goodput_bps") / _MBIT).alias("goodput Mbit/s"),
        (pl.col("jitter_rfc3550_s") * 1e6).alias("jitter µs"),
    )
    return Section(
        "Mixed sizes", finding, [Text(text), Chart(chart), Table(shown, "Mean jitter over the sources.", formats)]
    )
