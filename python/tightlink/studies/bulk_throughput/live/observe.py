"""The cells as Linux carries them over a link in real time, beside the same cells simulated.

What the document could not publish, with hosts of today: observed over predicted, residuals, R² for each path. The
goals, in the table of claims, are this study's, and were set before anything was measured.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.analysis.residuals import agreement, share_within, with_residuals
from tightlink.studies.bulk_throughput.live.setup import IPERF3, cells
from tightlink.studies.bulk_throughput.setup.paths import SITES
from tightlink.studies.live import repeats

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tightlink.run import Run
    from tightlink.studies.bulk_throughput.live.setup import Cell

#: A residual that is small, over what was observed.
WITHIN: Final = 0.10
_ECHO: Final = "echo"
_SCHEMA: Final = {
    "path": pl.String, "congestion": pl.String, "window_packets": pl.Int64, "flows": pl.Int64, "kind": pl.String,
    "times": pl.Int64, "observed_bps": pl.Float64, "lowest_bps": pl.Float64, "highest_bps": pl.Float64,
    "predicted_bps": pl.Float64, "loss": pl.Float64, "predicted_loss": pl.Float64, "rtt_loaded_s": pl.Float64,
    "predicted_rtt_loaded_s": pl.Float64, "iperf3_bps": pl.Float64,
}  # fmt: skip


@dataclass(frozen=True)
class Observed:
    """The cells that were measured."""

    values: Mapping[str, object]
    points: pl.DataFrame
    measured: Sequence[Run]


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to points, and to values named live.…."""
    wanted = cells()
    found = points(runs, wanted)
    measured = [run for name, run in runs.items() if name.startswith("live/")]
    return Observed(values(found, wanted), found, measured)


def points(runs: Mapping[str, Run], cells: Sequence[Cell]) -> pl.DataFrame:
    """A row for each cell that was measured: medians of what was observed, what is predicted, and the residuals.

    ``observed_bps``, ``lowest_bps`` and ``highest_bps`` are goodputs, ``rtt_loaded_s`` is the mean round trip of the
    echoes, ``iperf3_bps`` what iperf3 got where it was asked, too.
    """
    rows = [_point(runs, each, own) for each in cells if (own := repeats(runs, f"live/{each.name}"))]
    return with_residuals(pl.DataFrame(rows, _SCHEMA))


def values(found: pl.DataFrame, wanted: Sequence[Cell]) -> dict[str, object]:
    """What claims compare, by name: live.PATH.… and live.…; no agreement where less than half was measured.

    Args:
        found: The points.
        wanted: The cells that should have been measured.
    """
    each: dict[str, object] = {"live.cells": found.height, "live.wanted": len(wanted)}
    for place in SITES:
        own = found.filter(pl.col("path") == place.name)
        expected = sum(one.place is place for one in wanted)
        each[f"live.{place.name}.why_not"] = f"{own.height} of {expected} cells were measured."
        if _enough(own, expected):
            each[f"live.{place.name}.why_not"] = "All cells are alike."
            each[f"live.{place.name}.cells"] = own.height
            if (origin := agreement(own).origin) is not None:
                each[f"live.{place.name}.r2"] = origin.value
    if _enough(found, len(wanted)):
        each |= {"live.within_10_percent": share_within(found, WITHIN), "live.beyond": _beyond(found)}
    witnessed = found.drop_nulls("iperf3_bps")
    if not witnessed.is_empty():
        apart = witnessed["iperf3_bps"] / witnessed["observed_bps"] - 1
        each |= {"live.witness.apart": max(apart.to_list(), key=abs), "live.witness.cells": witnessed.height}
    return each


def outside(found: pl.DataFrame) -> pl.DataFrame:
    """The points whose residuals are beyond the goal."""
    return found.filter(pl.col("residual_bps").abs() > WITHIN * pl.col("observed_bps"))


def _enough(found: pl.DataFrame, wanted: int) -> bool:
    return not found.is_empty() and 2 * found.height >= wanted


def _beyond(found: pl.DataFrame) -> str:
    """Where the residuals beyond the goal are."""
    missed = outside(found)
    if missed.is_empty():
        return "None is beyond."
    counted = missed.group_by("path", "kind", maintain_order=True).len().iter_rows()
    return "Beyond: " + ", ".join(f"{count} {kind} at {path}" for path, kind, count in counted) + "."


def _point(runs: Mapping[str, Run], each: Cell, own: Sequence[Run]) -> dict[str, Any]:
    observed = [cell(run, each.path) for run in own]
    predicted = cell(runs[each.task], each.path)
    goodputs = [one["goodput_bps"] for one in observed]
    witness = runs.get(f"live/{IPERF3}/{each.name}")
    return {
        "path": each.place.name,
        "congestion": each.congestion,
        "window_packets": each.window,
        "flows": each.flows,
        "kind": each.kind,
        "times": len(own),
        "observed_bps": statistics.median(goodputs),
        "lowest_bps": min(goodputs),
        "highest_bps": max(goodputs),
        "predicted_bps": predicted["goodput_bps"],
        "loss": statistics.median(one["loss"] for one in observed),
        "predicted_loss": predicted["loss"],
        "rtt_loaded_s": _round_trip(own),
        "predicted_rtt_loaded_s": predicted["rtt_loaded_s"],
        "iperf3_bps": None if witness is None else each.goodput_bps(witness),
    }


def _round_trip(own: Sequence[Run]) -> float | None:
    """The mean of the echoes, the median of the runs; nothing where none came back."""
    means = []
    for run in own:
        trips = run.series.filter(pl.col("entity") == _ECHO)["value"].to_list() if "series" in run.tables else []
        if trips:
            means.append(statistics.fmean(trips))
    return statistics.median(means) if means else None
