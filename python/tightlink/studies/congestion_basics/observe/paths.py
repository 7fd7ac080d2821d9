"""What is used of 252 Mbit/s, and with which queues that is the document's share."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.sawtooth import queue_for, utilization
from tightlink.reduce import largest, smallest
from tightlink.studies.congestion_basics.setup import paths
from tightlink.studies.congestion_basics.setup.network import LINK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

#: The share that the document states.
STATED: Final = 0.89


@dataclass(frozen=True)
class Paths:
    """Utilizations, and queues."""

    grid: pl.DataFrame
    """Utilization of each cell after the first losses, beside that of one flow's sawtooth."""
    reached: pl.DataFrame
    """The queue at which the stated utilization is reached, for each round trip and number of flows."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> Paths:
        """Both tables from the runs."""
        rows = [
            (float(rtt), queue, flows, _used(runs[paths.name(rtt, queue, flows)]), utilization(queue))
            for rtt, queue, flows in paths.cells()
        ]
        names = ["rtt_ms", "queue_bdp", "flows", "utilization", "sawtooth"]
        grid = pl.DataFrame(rows, schema=names, orient="row")
        return cls(grid, _reached(grid))

    def queues(self) -> list[float]:
        """Those with which one flow reaches the stated utilization, in bandwidth-delay products."""
        return self.reached.filter(pl.col("flows") == 1)["queue_bdp"].drop_nulls().to_list()

    def values(self) -> dict[str, object]:
        """What claims compare, by name."""
        alone, several = (self.grid.filter(pl.col("flows") == flows) for flows in (1, max(paths.FLOWS)))
        more = several.join(alone, on=["rtt_ms", "queue_bdp"], suffix="_alone")
        gained = more["utilization"] - more["utilization_alone"]
        at_choice = (pl.col("flows") == 1) & (pl.col("rtt_ms") == paths.CHOSEN_MS)
        chosen, queues = self.reached.filter(at_choice)["queue_bdp"][0], self.queues()
        return {
            "path.rtts_ms": ", ".join(map(str, paths.RTTS_MS)),
            "path.chosen_ms": paths.CHOSEN_MS,
            "path.off_sawtooth_most": (alone["utilization"] - alone["sawtooth"]).abs().max(),
            "path.reached": chosen is not None,
            "path.chosen_queue_bdp": chosen,
            "path.mean_queue_bdp": sum(queues) / len(queues),
            "path.sawtooth_queue_bdp": queue_for(STATED),
            "path.several_gain_least": smallest(gained),
            "path.several_gain_most": largest(gained),
        }


def _reached(grid: pl.DataFrame) -> pl.DataFrame:
    """Interpolated; missing where every queue of the grid reaches it."""
    rows = []
    for (rtt, flows), part in grid.group_by("rtt_ms", "flows", maintain_order=True):
        points = part.sort("queue_bdp").select("queue_bdp", "utilization").rows()
        crossing = [
            low + (STATED - used) / (more - used) * (high - low)
            for (low, used), (high, more) in itertools.pairwise(points)
            if used < STATED <= more
        ]
        rows.append((rtt, flows, crossing[0] if crossing else None))
    return pl.DataFrame(rows, schema={"rtt_ms": pl.Float64, "flows": pl.Int64, "queue_bdp": pl.Float64}, orient="row")


def _used(run: Run) -> float:
    """Utilization over whole epochs: from the first loss to the last one."""
    chosen = pl.col("entity") == LINK
    wide = run.series.filter(chosen & pl.col("metric").is_in(["utilization", "packets_dropped"]))
    samples = wide.pivot("metric", index="time_s", values="value").sort("time_s")
    losses = [place for place, dropped in enumerate(samples["packets_dropped"]) if dropped > 0]
    epochs = samples["utilization"].slice(losses[0] + 1, losses[-1] - losses[0])
    return fmean(epochs.to_list())
