"""Goodput over one property at a time; and where Tahoe, NewReno and SACK differ, cell by cell to the packet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.reduce import largest, mean_of
from tightlink.studies.bulk_throughput.observe.cells import cells
from tightlink.studies.bulk_throughput.setup.alternatives import CHOSEN
from tightlink.studies.bulk_throughput.setup.variants import BASES, COMPARED, variations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.studies.bulk_throughput.setup.alternatives import Alternative
    from tightlink.studies.bulk_throughput.setup.variants import Comparison

_COUNTS: Final = ("packets_sent", "packets_dropped", "goodput_bps")


def properties(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each variation: base, property, value, goodput and loss."""
    rows = []
    for name, (base, place) in variations().items():
        found = cell(runs[name], place.path)
        rows.append({
            "base": base,
            "property": place.factor,
            "value": float(place.value),
            "goodput_bps": found["goodput_bps"],
            "goodput_share": found["goodput_share"],
            "loss": found["loss"],
        })  # fmt: skip
    return pl.DataFrame(rows)


def sweeps(found: pl.DataFrame) -> dict[str, object]:
    """What claims compare of one property at a time, by name: sweep.…; the worst of the three settings."""
    from scipy import stats

    def ranks(name: str, base: str, column: str = "goodput_bps") -> float:
        part = found.filter((pl.col("property") == name) & (pl.col("base") == base))
        return float(stats.spearmanr(part["value"].to_numpy(), part[column].to_numpy()).statistic)

    factor = found.filter(pl.col("property") == "factor").group_by("base").agg(pl.col("goodput_bps"))
    return {
        "sweep.factor_change": max(1 - min(goodputs) / max(goodputs) for goodputs in factor["goodput_bps"]),
        "sweep.rtt_ranks": max(ranks("rtt_s", base) for base in BASES),
        "sweep.duration_ranks": min(ranks("duration_s", base) for base in BASES),
        # That of the settings that overflows the queue.
        "sweep.queue_loss_ranks": ranks("queue_packets", [*BASES][-1], "loss"),
    }


def compared(each: Comparison, runs: Mapping[str, Run], under: Alternative = CHOSEN) -> pl.DataFrame:
    """The cells of a path under both: whether they are ``equal`` to the packet, and ``difference`` in goodput."""
    place = each.place
    first, second = (cells(runs, each.prefix(recovery, under), place.cells, place.path) for recovery in each.recoveries)
    equal = pl.all_horizontal(pl.col(name) == pl.col(f"{name}_other") for name in _COUNTS)
    return first.join(second, on=["window_packets", "flows"], suffix="_other").with_columns(
        equal=equal,
        difference=pl.col("goodput_bps") / pl.col("goodput_bps_other") - 1,
        lossless=(pl.col("packets_dropped") == 0) & (pl.col("packets_dropped_other") == 0),
    )


def recoveries(runs: Mapping[str, Run], under: Alternative = CHOSEN) -> dict[str, pl.DataFrame]:
    """The cells of each comparison, by its name."""
    return {each.name: compared(each, runs, under) for each in COMPARED}


def values(found: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: PATH.RECOVERIES.…, and variants.… over all of them."""
    each: dict[str, object] = {}
    for name, table in found.items():
        each |= {
            f"{name}.cells": table.height,
            f"{name}.equal": int(table["equal"].sum()),
            f"{name}.lossless": int(table["lossless"].sum()),
            f"{name}.equal_with_loss": int((table["equal"] & ~table["lossless"]).sum()),
            f"{name}.largest_difference": largest(table["difference"].abs()),
            f"{name}.mean_difference": mean_of(table["difference"]),
        }
    lossless = [table.filter("lossless") for table in found.values()]
    return each | {
        "variants.lossless": sum(table.height for table in lossless),
        "variants.lossless_equal": sum(int(table["equal"].sum()) for table in lossless),
    }
