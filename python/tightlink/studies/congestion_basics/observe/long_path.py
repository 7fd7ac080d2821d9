"""What standard TCP and its replacements use of 1 Gbit/s from Chicago to Dublin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from tightlink.studies.congestion_basics.setup import long_path
from tightlink.studies.congestion_basics.setup.network import FLOW, LINK

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run


@dataclass(frozen=True)
class LongPath:
    """Utilizations of the path, and goodputs over time."""

    standard: pl.DataFrame
    """What one standard TCP flow uses of the path."""
    replacements: pl.DataFrame
    """What one flow of each control uses of it."""
    goodput: pl.DataFrame
    """Of one flow of each control, over time."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> LongPath:
        """The tables from the runs."""
        standard = [
            (threshold, loss, _used(runs[long_path.standard(threshold, loss)]))
            for threshold in long_path.THRESHOLDS
            for loss in long_path.LOSSES
        ]
        own = {control: runs[long_path.replacement(control)] for control in long_path.CONTROLS}
        wanted = (pl.col("entity") == FLOW) & (pl.col("metric") == "goodput_bps")
        parts = [
            run.series.filter(wanted).select("time_s", pl.col("value").alias("goodput_bps"), control=pl.lit(control))
            for control, run in own.items()
        ]
        return cls(
            pl.DataFrame(standard, schema=["slow_start_to", "loss", "utilization"], orient="row"),
            pl.DataFrame({"control": list(own), "utilization": [_used(run) for run in own.values()]}),
            pl.concat(parts),
        )

    def values(self) -> dict[str, object]:
        """What claims compare, by name."""
        unlimited = pl.col("slow_start_to") == long_path.THRESHOLDS[0]
        clean = self.standard.filter((pl.col("loss") == 0) & unlimited)["utilization"][0]
        lossy = self.standard.filter((pl.col("loss") > 0) | ~unlimited)["utilization"].to_list()
        reno = pl.col("control") == "reno"
        return {
            "dublin.duration_s": long_path.DURATION_S,
            "dublin.compared_s": long_path.COMPARED_S,
            "dublin.clean": clean,
            "dublin.lossy_runs": len(lossy),
            "dublin.lossy_most": max(lossy),
            "dublin.reno": self.replacements.filter(reno)["utilization"][0],
            "dublin.replacement_least": min(self.replacements.filter(~reno)["utilization"].to_list()),
        }


def _used(run: Run) -> float:
    return float(run.links.filter(pl.col("link") == LINK)["utilization"][0])
