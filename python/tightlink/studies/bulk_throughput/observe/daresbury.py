"""Daresbury: utilization and loss for each number of flows, best windows, run time.

The document calls goodput / bandwidth the utilization; of full packets' bytes, 97.3 % are payload.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.reduce import largest, median_of, smallest
from tightlink.studies.bulk_throughput.observe.lines import (
    best,
    best_windows,
    beyond_best,
    is_best,
    lines,
    nearest_window,
    short_of_best,
    without_loss,
)
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY, KILOBYTES

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The document's few flows are those up to this.
FEW: Final = 4
#: The flows of the document's plot of utilization over loss.
PLOTTED: Final = (1, 2, 4, 7, 10, 15, 20, 25, 30, 40)


def values(grid: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: daresbury.…."""
    plotted = grid.filter(pl.col("flows").is_in(PLOTTED))
    own = {**without_losses(plotted), **optimum(plotted), **beyond_maxima(plotted), **windows(grid)}
    return {f"daresbury.{name}": value for name, value in own.items()}


def without_losses(grid: pl.DataFrame) -> dict[str, object]:
    """The highest utilization without loss, for few flows and for more; and of few flows with loss."""
    clean = {flows: _most(without_loss(part)) for flows, part in lines(grid)}
    enough = {flows: share for flows, share in clean.items() if flows >= FEW}
    corner = grid.filter((pl.col("flows") == max(enough)) & (pl.col("window_packets") == 6)).row(0, named=True)
    return {
        "lossless_share_of_1": clean[1],
        "lossless_share_of_2": clean[2],
        "lossless_share_most_below_4": max(share for flows, share in clean.items() if flows < FEW),
        "lossless_share_least_from_4": min(enough.values()),
        "lossless_share_least": min(share for share in enough.values() if share),
        "lossless_flows_most": max(flows for flows, share in enough.items() if share),
        "never_lossless_flows": _and([flows for flows, share in enough.items() if share == 0]),
        "most_flows_smallest_window_loss": corner["loss"],
        "most_flows_smallest_window_share": corner["goodput_share"],
        "share_most_to_4": largest(grid.filter(pl.col("flows") <= FEW)["goodput_share"]),
        "share_most_below_4": largest(grid.filter(pl.col("flows") < FEW)["goodput_share"]),
    }


def optimum(grid: pl.DataFrame) -> dict[str, object]:
    """The highest goodput without loss, and the fewest flows that use more than 90 % without loss."""
    clean = without_loss(grid)
    top = best(clean)
    return {
        "optimum_share": top["goodput_share"],
        "optimum_flows": top["flows"],
        "optimum_kb": KILOBYTES[top["window_packets"]],
        "flows_over_90_percent": min(clean.filter(pl.col("goodput_share") > 0.9)["flows"].to_list(), default="no"),
    }


def beyond_maxima(grid: pl.DataFrame) -> dict[str, object]:
    """How loss and goodput of larger windows differ from those of the best."""
    after = [(flows, best(part), beyond_best(part)) for flows, part in lines(grid)]
    after = [(flows, top, rest) for flows, top, rest in after if rest.height]
    decreases = {flows: 1 - smallest(rest["goodput_bps"]) / top["goodput_bps"] for flows, top, rest in after}
    return {
        "lines": len(after),
        "lines_losing_more": sum(top["loss"] < smallest(rest["loss"]) for _, top, rest in after),
        "decrease_most": max(decreases.values()),
        "decrease_over_10_percent_flows": _and([flows for flows, drop in decreases.items() if drop > 0.1]),
    }


def windows(grid: pl.DataFrame) -> dict[str, object]:
    """The best windows in kB and those nearest to BDP and BDP / flows; and where the best one grows with flows."""
    found = best_windows(grid)
    few = {flows: part for flows, part in lines(grid) if flows <= FEW}
    more = {flows: window for flows, window in found.items() if flows >= FEW}
    packets = DARESBURY.bdp_packets
    rising = [
        flows for flows, before, after in zip([*more][1:], more.values(), [*more.values()][1:], strict=False)
        if after > before
    ]  # fmt: skip
    return {
        "few_lines": len(few),
        "best_windows_to_4_kb": ", ".join(_kilobytes(best(part)["window_packets"] for part in few.values())),
        "best_at_bdp": sum(is_best(part, nearest_window(packets)) for part in few.values()),
        "best_at_shared_bdp": sum(is_best(part, nearest_window(packets / flows)) for flows, part in few.items()),
        "short_at_bdp": max(short_of_best(part, nearest_window(packets)) for part in few.values()),
        "best_windows_from_4_kb": " ".join(_kilobytes(more.values())),
        "best_windows_shrink": not rising,
        **(_first_rise(grid, rising[0]) if rising else {}),
    }


def _first_rise(grid: pl.DataFrame, flows: int) -> dict[str, Any]:
    """The best and the second cell of a number of flows."""
    part = grid.filter(pl.col("flows") == flows).sort("goodput_bps", descending=True)
    first, second = part.row(0, named=True), part.row(1, named=True)
    return {
        "rise.flows": flows,
        "rise.kb": KILOBYTES[first["window_packets"]],
        "rise.second_kb": KILOBYTES[second["window_packets"]],
        "rise.bps": first["goodput_bps"],
        "rise.second_bps": second["goodput_bps"],
        "rise.loss": first["loss"],
        "rise.second_loss": second["loss"],
    }


def run_time(grid: pl.DataFrame, long: pl.DataFrame) -> dict[str, object]:
    """The cells of 10 s beside those of 50 s, by name: daresbury.…."""
    joined = grid.join(long, on=["window_packets", "flows"], suffix="_long")
    off = (joined["goodput_bps"] / joined["goodput_bps_long"] - 1).abs()
    own = {
        "most_bps": largest(grid["goodput_bps"]),
        "most_in_50_s_bps": largest(long["goodput_bps"]),
        "run_time_cells": joined.height,
        "run_time_median_difference": median_of(off),
        "run_time_cells_within_1_percent": int((off <= 0.01).sum()),
    }
    return {f"daresbury.{name}": value for name, value in own.items()}


def _most(part: pl.DataFrame) -> float:
    return 0.0 if part.is_empty() else largest(part["goodput_share"])


def _kilobytes(found: Iterable[int]) -> list[str]:
    return [str(KILOBYTES[window]) for window in found]


def _and(numbers: list[int]) -> str:
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + f" and {words[-1]}" if words else "no"
