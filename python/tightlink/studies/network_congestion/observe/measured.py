"""What came out of the runs of a case: order parameter and susceptibility at each load, and where it begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis import transition
from tightlink.studies.network_congestion.setup.network import FILLED_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.analysis.estimates import Estimate
    from tightlink.analysis.transition import Onset
    from tightlink.run import Run
    from tightlink.studies.network_congestion.setup.network import Case

#: For intervals of critical loads, of which the study has many.
_RESAMPLES: Final = 299


@dataclass(frozen=True)
class Measured:
    """A case with its runs."""

    case: Case
    runs: Mapping[str, Run]

    def tables(self, relative: float) -> list[pl.DataFrame]:
        """The tables ``scatter`` of a load."""
        return [self.runs[key].table("scatter") for key in self.case.keys(relative)]

    def carried(self, relative: float) -> pl.DataFrame:
        """The tables ``links`` of a load, one below the other."""
        return pl.concat(self.runs[key].links for key in self.case.keys(relative))

    @cached_property
    def each(self) -> pl.DataFrame:
        """A row for each run: ``load`` (in critical ones of the theory), ``order``, ``error``, ``lost``."""
        rows = []
        for load in self.case.loads:
            for table in self.tables(load):
                found = transition.growth(table, FILLED_S)
                rows.append({"load": load, "order": found.order, "error": found.error, "lost": found.lost})
        return pl.DataFrame(rows)

    @cached_property
    def mean(self) -> pl.DataFrame:
        """A row for each load, with what the fluid model says, ``fluid``."""
        grouped = self.each.group_by("load", maintain_order=True).agg(
            pl.col("order", "lost").mean(), (pl.col("error").pow(2).sum().sqrt() / pl.len()).alias("error")
        )
        fluid = [self.case.routes.piled_up(self.case.capacity, self.case.load(load)) for load in grouped["load"]]
        return grouped.with_columns(fluid=pl.Series(fluid))

    @cached_property
    def susceptibility(self) -> pl.DataFrame:
        """A row for each load: ``load``, ``susceptibility`` and ``error``."""
        found = [transition.susceptibility(self.tables(load), FILLED_S / 2) for load in self.case.loads]
        values, errors = [one.value for one in found], [one.error for one in found]
        return pl.DataFrame({"load": self.case.loads, "susceptibility": values, "error": errors})

    @cached_property
    def onset(self) -> Onset:
        """Where the order parameter leaves zero, in critical loads of the theory."""
        columns = (self.each[name].to_numpy() for name in ("load", "order", "error"))
        return transition.onset(*columns, resamples=_RESAMPLES)

    def waiting(self, relative: float) -> float:
        """Mean number of packets at a load beyond those on wires and in service, where nothing piles up."""
        inside = [float(table.filter(pl.col("time_s") >= FILLED_S)["packets_in_network"].to_numpy().mean())
                  for table in self.tables(relative)]  # fmt: skip
        return sum(inside) / len(inside) - self.case.moving(relative)

    @cached_property
    def rise(self) -> Estimate:
        """Where the susceptibility rises, in critical loads of the theory."""
        table, critical = self.susceptibility, self.onset.critical.value
        loads, values, errors = (table[name].to_numpy() for name in ("load", "susceptibility", "error"))
        return transition.rise(loads, values, errors, critical, resamples=_RESAMPLES)

    @cached_property
    def critical(self) -> tuple[float, float, float]:
        """λc from the order parameter in packets/s from each node, with its interval."""
        found = self.onset.critical.times(self.case.critical.load)
        return found.value, found.low, found.high

    def critical_values(self) -> dict[str, object]:
        """The same, by name."""
        return dict(zip(("load_per_s", "low_per_s", "high_per_s"), self.critical, strict=True))


def misfit(points: pl.DataFrame) -> float:
    """The largest distance of the order parameter from the fluid model."""
    return float(np.abs(points["order"].to_numpy() - points["fluid"].to_numpy()).max())


def row(run: Run) -> dict[str, float | str]:
    """What ``runs.parquet`` says of a run."""
    table = run.table("scatter")
    sent = float(table["packets_sent"].sum())
    delivered = table["packets_delivered"].to_numpy().astype(float)
    late = table["one_way_delay_mean_s"].fill_null(0.0).to_numpy()
    found = transition.growth(table, FILLED_S)
    return {
        "packets_per_s": sent / float(table["time_s"].to_list()[-1]),
        "order": found.order,
        "order_error": found.error,
        "loss": found.lost,
        "packets_in_network": float(table["packets_in_network"].to_list()[-1]),
        "one_way_delay_mean_s": float((late * delivered).sum() / delivered.sum()),
        "utilization": float(run.links["utilization"].to_numpy().max()),
    }
