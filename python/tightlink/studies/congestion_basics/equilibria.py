"""Where controls that measure delay come to rest: packets of each flow that wait in the queue."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.experiment.execute import Task
from tightlink.report import Section, Table
from tightlink.studies.congestion_basics.document import LINK, scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

FLOWS: Final = (1, 2, 4, 8)
ALPHAS: Final = (20, 50)
#: Vegas' band, its defaults.
BAND: Final = (2, 4)
_RATE: Final = "100 Mbit/s"
_RTT_MS: Final = 40
_DURATION_S: Final = 40
_SETTLED_S: Final = 20


def tasks() -> list[Task]:
    """Flows that start together, as a late one would take the others' queue for a part of the path."""
    controls: dict[str, Any] = {f"fast-{alpha}": {"kind": "fast", "alpha": f"{alpha} packets"} for alpha in ALPHAS}
    return [
        Task(
            f"equilibrium/{name}/{flows}",
            scenario(_RATE, _RTT_MS, "unlimited", _DURATION_S, flows=flows, interval_s=0.1, congestion=congestion),
        )
        for name, congestion in (controls | {"vegas": "vegas"}).items()
        for flows in FLOWS
    ]


def waiting(runs: Mapping[str, Run]) -> pl.DataFrame:
    """Packets of a flow that wait or are in transmission, the mean over time."""
    rows = []
    for task in tasks():
        _, control, flows = task.name.split("/")
        chosen = (pl.col("entity") == LINK) & (pl.col("metric") == "queue_packets") & (pl.col("time_s") > _SETTLED_S)
        queue = runs[task.name].series.filter(chosen)["value"].to_list()
        rows.append((control, int(flows), (fmean(queue) + 1) / int(flows)))
    return pl.DataFrame(rows, schema=["control", "flows", "per_flow_packets"], orient="row")


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """FAST's alpha and Vegas' band."""
    found = waiting(runs)
    for alpha in ALPHAS:
        own = found.filter(pl.col("control") == f"fast-{alpha}")["per_flow_packets"].to_list()
        yield within(
            f"fast.{alpha}", f"FAST keeps alpha = {alpha} packets of each flow in the queue",
            "Jin, Wei, Low 2004, equilibrium", alpha, fmean(own), relative=0.05, unit="packets",
            reason=f"Mean over {', '.join(map(str, FLOWS))} flows, which find {min(own):.1f} to {max(own):.1f}.",
        )  # fmt: skip
    several = found.filter((pl.col("control") == "vegas") & (pl.col("flows") > 1))["per_flow_packets"].to_list()
    low, high = BAND
    yield holds_if(
        "vegas.band", f"Vegas keeps {low} to {high} packets of each flow in the queue", "Brakmo, Peterson 1995",
        fmean(several), low <= min(several) and max(several) <= high,
        f"Mean over 2 to {max(FLOWS)} flows, which find {min(several):.2f} to {max(several):.2f}.", unit="packets",
    )  # fmt: skip
    alone = found.filter((pl.col("control") == "vegas") & (pl.col("flows") == 1))["per_flow_packets"][0]
    yield within(
        "vegas.alone", "A single Vegas flow, which comes from above, stays at the band's upper end",
        "Brakmo, Peterson 1995", high, alone, tolerance=1, unit="packets",
        reason="The packet in transmission is counted here, and its time is no queueing to Vegas.",
    )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    wide = waiting(runs).pivot("flows", index="control", values="per_flow_packets")
    titled = wide.rename({str(flows): f"{flows} flow{'s' * (flows > 1)}" for flows in FLOWS})
    formats = {column: ".2f" for column in titled.columns if column != "control"}
    found = waiting(runs).filter(pl.col("control") == f"fast-{ALPHAS[-1]}")["per_flow_packets"].to_list()
    finding = (
        f"Each FAST flow keeps {fmean(found):.1f} packets in the queue where alpha is {ALPHAS[-1]}, however many flows "
        "there are; each Vegas flow between two and four, a single one a little above."
    )
    caption = f"Packets of each flow at the bottleneck ({_RATE}, {_RTT_MS} ms), the one in transmission included"
    return Section("Controls that measure delay", finding, [Table(titled, caption, dict(formats))])
