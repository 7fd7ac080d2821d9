"""The tables of the study: what each run comes to, and a row for each cell of a grid."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from statistics import fmean
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.bulk_path import GROUP, BulkPath
from tightlink.analysis.path.cells import cell, table
from tightlink.diagnosis.words import listed
from tightlink.experiment.metrics import metrics
from tightlink.lazy import stats
from tightlink.numbers import several
from tightlink.reduce import largest, mean_of, smallest
from tightlink.run import Run
from tightlink.studies.bulk_throughput.setup import paths
from tightlink.studies.words import percent

_OF_PATH: Final = ("bandwidth_bps", "rtt_s", "queue_packets", "factor", "cross", "duration_s")


def measure(run: Run) -> dict[str, float]:
    """What ``runs.parquet`` says of a run: the path, the cell and what it came to."""
    path = BulkPath.of(run)
    bulk = run.manifest["scenario"]["traffic"][GROUP]
    found = metrics(run) | cell(run, path)
    return {
        **{name: getattr(path, name) for name in _OF_PATH},
        "window_packets": int(bulk["tcp"]["window"].split()[0]),
        "flows": int(bulk["flows"]),
        "packet_bytes": path.packet_bytes,
        "packets_per_s": found["throughput_bps"] / (8 * path.packet_bytes),
        **found,
    }


def cells(runs: Mapping[str, Run], prefix: str, places: Iterable[tuple[int, int]], path: BulkPath) -> pl.DataFrame:
    """A row for each cell of a grid whose runs are called ``prefix/window/flows``."""
    return table([
        {"window_packets": window, "flows": flows} | cell(runs[f"{prefix}/{window}/{flows}"], path)
        for window, flows in places
    ])  # fmt: skip


def acked_packets(run: Run, path: BulkPath) -> int:
    """Packets acknowledged at the senders when the run ends: the series' one sample is of what arrived by then."""
    series = run.series.filter(pl.col("metric") == "goodput_bps")
    return round(float((series["value"] * series["time_s"]).sum()) / (8 * path.payload_bytes))


# The other paths, and all of them together: bottleneck factor, loss, windows, and what the summary compares.

#: From so many flows on the document has its maxima (Summary).
SEVEN: Final = 7


def sites_values(grids: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: PATH.… and summary.…."""
    each: dict[str, object] = {}
    for low, high in pairwise(place for place in paths.IN2P3 if place.name in grids):
        own = factor(grids[low.name], grids[high.name])
        name = f"in2p3.factor-{low.path.factor:g}-{high.path.factor:g}"
        each |= {f"{name}.{key}": value for key, value in own.items()}
    for place in (paths.CALTECH, paths.LBNL, paths.DARESBURY):
        each |= loss(place, grids[place.name])
    return each | lbnl(grids[paths.LBNL.name]) | _summary(grids)


def factor(low: pl.DataFrame, high: pl.DataFrame) -> dict[str, float]:
    """How the goodput changes from one bottleneck factor to another."""
    joined = low.join(high, on=["window_packets", "flows"], suffix="_other")
    calm = joined.filter(pl.col("packets_dropped_other") == 0)
    change, calm_change = ((part["goodput_bps_other"] / part["goodput_bps"] - 1).abs() for part in (joined, calm))
    return {
        "cells": joined.height,
        "mean_change": mean_of(change),
        "largest_change": largest(change),
        "lossless_cells": calm.height,
        "lossless_largest_change": largest(calm_change),
    }


def loss(place: paths.Place, grid: pl.DataFrame) -> dict[str, object]:
    """Rank correlations of the loss, means over lines, by name: PATH.…; to Daresbury of what the document plotted."""
    grid = plotted(grid) if place is paths.DARESBURY else grid
    over_windows, flows = mean_rank_correlation(grid, "window_packets", "loss", line="flows")
    over_flows, windows = mean_rank_correlation(grid, "flows", "loss", line="window_packets")
    found = {"windows": over_windows, "windows_lines": flows, "flows": over_flows, "flows_lines": windows}
    return {f"{place.name}.loss_over_{name}": value for name, value in found.items()}


def lbnl(grid: pl.DataFrame) -> dict[str, float]:
    """How much of the highest goodput the window takes, at most and on average."""
    effects = _effects(grid)
    large = grid.filter(pl.col("window_packets") * paths.LBNL.path.payload_bytes >= paths.LBNL.path.bdp_bytes)
    return {
        "lbnl.window_effect": max(effects.values()),
        "lbnl.window_effect_mean": fmean(effects.values()),
        "lbnl.window_effect_from_2": max(effect for flows, effect in effects.items() if flows > 1),
        "lbnl.window_effect_above_bdp": max(_effects(large).values()),
    }


def fewer_ahead(grid: pl.DataFrame) -> float:
    """How much more the best of fewer than 7 flows carry than the best of 7 and more, over these, in whole bit/s."""
    few, many = grid.filter(pl.col("flows") < SEVEN), grid.filter(pl.col("flows") >= SEVEN)
    return round(largest(few["goodput_bps"])) / round(largest(many["goodput_bps"])) - 1


def _effects(grid: pl.DataFrame) -> dict[int, float]:
    return {flows: 1 - smallest(part["goodput_bps"]) / largest(part["goodput_bps"]) for flows, part in lines(grid)}


def short_at_bdp(place: paths.Place, grid: pl.DataFrame) -> float:
    """How much more than the window nearest to the BDP the best one carries, at most, with few flows."""
    window = nearest_window(place.bdp_packets)
    return max(short_of_best(part, window) for flows, part in lines(grid) if flows <= FEW)


def _summary(grids: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    each: dict[str, object] = {}
    tops = {place: best(grids[place.name]) for place in paths.SUMMARY}
    for place, top in tops.items():
        near = grids[place.name].filter(pl.col("goodput_bps") >= 0.95 * top["goodput_bps"])
        each |= {
            f"{place.name}.maximum_share": top["goodput_share"],
            f"{place.name}.flows_within_5_percent": min(near["flows"].to_list()),
        }
    ahead = [fewer_ahead(grids[place.name]) for place in paths.SUMMARY]
    at = ", ".join(f"{place.name} {top['flows']}" for place, top in tops.items())
    return {
        **each,
        **_windows_of_bdp(grids),
        "summary.paths": len(ahead),
        "summary.seven_enough": sum(more < -EQUAL for more in ahead),
        "summary.fewer_ahead": max(ahead),
        "summary.maximum_shares": pl.DataFrame({"share": [top["goodput_share"] for top in tops.values()]}),
        "summary.maximum_flows": at,
    }


def _windows_of_bdp(grids: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """Where windows of the BDP are the best, with few flows and with more."""
    few, hits, alone, shared, alone_of_more = 0, 0, 0, 0, 0
    more: dict[str, list[float]] = {}
    for place in paths.SUMMARY:
        window = nearest_window(place.bdp_packets)
        for flows, part in lines(grids[place.name]):
            if flows <= FEW:
                few += 1
                hits += is_best(part, window)
                alone += is_best(part, window, alone=True)
                shared += is_best(part, nearest_window(place.bdp_packets / flows))
            else:
                more.setdefault(place.name, []).append(short_of_best(part, window))
                alone_of_more += is_best(part, window, alone=True)
    every, last = [over for line in more.values() for over in line], [line[-1] for line in more.values()]
    told, ends = (sum(over > EQUAL for over in found) for found in (every, last))
    at_most = ", ".join(f"{name} {percent(max(line), 1)}" for name, line in more.items())
    return {
        "summary.few_lines": few,
        "summary.best_at_bdp": hits,
        "summary.best_only_at_bdp": alone,
        "summary.best_at_shared_bdp": shared,
        "summary.short_at_bdp": max(short_at_bdp(place, grids[place.name]) for place in paths.SUMMARY),
        "summary.short_in_text": short_at_bdp(paths.CALTECH, grids[paths.CALTECH.name]),
        "summary.more_lines": len(every),
        "summary.more_short_lines": told,
        "summary.more_short_paths": ends,
        "summary.more_short": at_most,
        "summary.more_only_at_bdp": alone_of_more,
    }


# What can be read off a grid, line by line: a line is a number of flows, its points are the windows, or reversed.

#: Goodputs that the document calls equal: within 1 % (Daresbury, run time).
EQUAL: Final = 0.01


def lines(grid: pl.DataFrame, of: str = "flows") -> Iterator[tuple[int, pl.DataFrame]]:
    """Each number of flows with its rows, by window; or each window with its rows, by flows."""
    for (line,), part in grid.sort("flows", "window_packets").group_by(of, maintain_order=True):
        yield int(line), part


def best(part: pl.DataFrame) -> dict[str, Any]:
    """The row with the highest goodput; of equal ones, that with the fewest flows and the smallest window."""
    whole = part.sort(pl.col("goodput_bps").round(), "flows", "window_packets", descending=[True, False, False])
    return whole.row(0, named=True)


def best_windows(grid: pl.DataFrame) -> dict[int, int]:
    """The window with the highest goodput, for each number of flows."""
    return {flows: int(best(part)["window_packets"]) for flows, part in lines(grid)}


def beyond_best(part: pl.DataFrame, along: str = "window_packets") -> pl.DataFrame:
    """The rows of a line with larger windows, or more flows, than its best, without those that are one point with it.

    Where a window never limits, larger ones change nothing.
    """
    top = best(part)
    same = pl.all_horizontal(pl.col(name) == top[name] for name in ("packets_sent", "packets_dropped", "goodput_bps"))
    return part.filter((pl.col(along) > top[along]) & ~same)


def beyond_maxima(grid: pl.DataFrame) -> Iterator[tuple[str, dict[str, Any], pl.DataFrame]]:
    """The lines with points beyond the best, along windows and then along flows: which, its best, and these points."""
    for of, along, unit in (("flows", "window_packets", "flows"), ("window_packets", "flows", "kB")):
        for line, part in lines(grid, of):
            if (rest := beyond_best(part, along)).height:
                yield f"{line if of == 'flows' else paths.KILOBYTES[line]} {unit}", best(part), rest


def short_of_best(part: pl.DataFrame, window: int) -> float:
    """How much more the best window of a line carries than this one, over this one."""
    own = part.filter(pl.col("window_packets") == window).row(0, named=True)
    return float(best(part)["goodput_bps"] / own["goodput_bps"] - 1)


def without_loss(grid: pl.DataFrame) -> pl.DataFrame:
    """The rows in which no packet was lost."""
    return grid.filter(pl.col("packets_dropped") == 0)


def nearest_window(packets: float) -> int:
    """The window of the document that is nearest to a number of packets.

    >>> nearest_window(202_500 / 1460), nearest_window(202_500 / 1460 / 4)
    (175, 44)
    """
    return min(paths.WINDOWS, key=lambda window: abs(window - packets))


def equal_to_best(part: pl.DataFrame) -> list[int]:
    """The windows of a line that carry most, within what the document calls equal.

    A window that never limits carries what larger ones do: all of them are the best.
    """
    goodput = pl.col("goodput_bps")
    return part.filter(goodput.max() / goodput - 1 <= EQUAL)["window_packets"].sort().to_list()


def is_best(part: pl.DataFrame, window: int, *, alone: bool = False) -> bool:
    """Whether no window of a line carries more than this one; or, ``alone``, as much."""
    equal = equal_to_best(part)
    return equal == [window] if alone else window in equal


def mean_rank_correlation(grid: pl.DataFrame, x: str, y: str, *, line: str) -> tuple[float, int]:
    """Spearman's, the mean over the lines on which neither of the two is constant; and how many these are."""
    parts = [part for _, part in grid.sort(x).group_by(line, maintain_order=True)]
    found = [
        float(stats.spearmanr(part[x].to_numpy(), part[y].to_numpy()).statistic)
        for part in parts
        if part[x].n_unique() > 1 and part[y].n_unique() > 1
    ]
    return fmean(found), len(found)


# Daresbury: utilization and loss for each number of flows, best windows, run time.
#
# The document calls goodput / bandwidth the utilization; of full packets' bytes, 97.3 % are payload.

#: The document's few flows are those up to this.
FEW: Final = 4
#: The flows of the document's plot of utilization over loss.
PLOTTED: Final = (1, 2, 4, 7, 10, 15, 20, 25, 30, 40)


def plotted(grid: pl.DataFrame) -> pl.DataFrame:
    """The rows that are in the document's plot, of which it says what it says of utilization, loss and best windows."""
    return grid.filter(pl.col("flows").is_in(PLOTTED))


def daresbury_values(grid: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: daresbury.…."""
    shown = plotted(grid)
    own = {**without_losses(shown), **optimum(shown), **maxima(shown), **windows(shown), "unplotted_rise": _rise(grid)}
    return {f"daresbury.{name}": value for name, value in own.items()}


def without_losses(grid: pl.DataFrame) -> dict[str, object]:
    """The highest utilization without loss, for few flows and for more; and of few flows with loss."""
    rows = {flows: without_loss(part)["goodput_share"] for flows, part in lines(grid)}
    clean = {flows: 0.0 if shares.is_empty() else largest(shares) for flows, shares in rows.items()}
    enough = {flows: share for flows, share in clean.items() if flows >= FEW}
    to_4, below_4 = (largest(grid.filter(pl.col("flows") <= most)["goodput_share"]) for most in (FEW, FEW - 1))
    never = [str(flows) for flows, share in enough.items() if share == 0]
    corner = grid.filter((pl.col("flows") == max(enough)) & (pl.col("window_packets") == 6)).row(0, named=True)
    return {
        "lossless_share_of_1": clean[1],
        "lossless_share_of_2": clean[2],
        "lossless_share_most_below_4": max(share for flows, share in clean.items() if flows < FEW),
        "lossless_share_least_from_4": min(enough.values()),
        "lossless_share_least": min(share for share in enough.values() if share),
        "lossless_flows_most": max(flows for flows, share in enough.items() if share),
        "never_lossless_flows": listed(never) if never else "no",
        "most_flows_smallest_window_loss": corner["loss"],
        "most_flows_smallest_window_share": corner["goodput_share"],
        "share_most_to_4": to_4,
        "share_most_below_4": below_4,
    }


def optimum(grid: pl.DataFrame) -> dict[str, object]:
    """The highest goodput without loss, and the fewest flows that use more than 90 % without loss."""
    clean = without_loss(grid)
    top = best(clean)
    return {
        "optimum_share": top["goodput_share"],
        "optimum_flows": top["flows"],
        "optimum_kb": paths.KILOBYTES[top["window_packets"]],
        "flows_over_90_percent": min(clean.filter(pl.col("goodput_share") > 0.9)["flows"].to_list(), default="no"),
    }


def maxima(grid: pl.DataFrame) -> dict[str, object]:
    """How loss and goodput of larger windows, and of more flows, differ from those of the best."""
    after = list(beyond_maxima(grid))
    decreases = {line: 1 - smallest(rest["goodput_bps"]) / top["goodput_bps"] for line, top, rest in after}
    return {
        "lines": len(after),
        "lines_losing_more": sum(top["loss"] < smallest(rest["loss"]) for _, top, rest in after),
        "decrease_most": max(decreases.values()),
        "decrease_most_at": max(decreases, key=lambda line: decreases[line]),
        "decrease_mean": fmean(decreases.values()),
    }


def windows(grid: pl.DataFrame) -> dict[str, object]:
    """The best windows in kB and those nearest to BDP and BDP / flows; and how the best one goes with flows."""
    found = best_windows(grid)
    few = {flows: part for flows, part in lines(grid) if flows <= FEW}
    bdp = {flows: nearest_window(paths.DARESBURY.bdp_packets) for flows in few}
    shared = {flows: nearest_window(paths.DARESBURY.bdp_packets / flows) for flows in few}
    more = {flows: window for flows, window in found.items() if flows >= FEW}
    return {
        "few_lines": len(few),
        **_places("", few, bdp),
        **_places("shared_", few, shared),
        "few_equal": "; ".join(
            f"{several(flows, 'flow')}: {', '.join(_kilobytes(equal_to_best(part)))} kB" for flows, part in few.items()
        ),
        "short_at_bdp": max(short_of_best(part, bdp[flows]) for flows, part in few.items()),
        "best_windows_from_4_kb": " ".join(_kilobytes(more.values())),
        "best_windows_rise": _rise(grid),
        "best_windows_ranks": float(stats.spearmanr(list(more), list(more.values())).statistic),
    }


def _rise(grid: pl.DataFrame) -> float:
    """What is lost, at most, where each number of flows beyond 4 has no larger window than the one before."""
    limit, worst = max(paths.KILOBYTES), 0.0
    for flows, part in lines(grid):
        if flows < FEW:
            continue
        allowed = best(part.filter(pl.col("window_packets") <= limit))
        worst = max(worst, best(part)["goodput_bps"] / allowed["goodput_bps"] - 1)
        limit = allowed["window_packets"]
    return worst


def _places(of: str, few: Mapping[int, pl.DataFrame], windows: Mapping[int, int]) -> dict[str, object]:
    """Of how many lines these windows are the best, and alone."""
    return {
        f"best_{only}at_{of}bdp": sum(is_best(part, windows[flows], alone=bool(only)) for flows, part in few.items())
        for only in ("", "only_")
    }


def run_time(grid: pl.DataFrame, long: pl.DataFrame) -> pl.DataFrame:
    """The cells of 10 s beside those of 50 s, and how far they are ``off``."""
    joined = grid.join(long, on=["window_packets", "flows"], suffix="_long")
    return joined.with_columns(off=(pl.col("goodput_bps") / pl.col("goodput_bps_long") - 1).abs())


def _kilobytes(found: Iterable[int]) -> list[str]:
    return [str(paths.KILOBYTES[window]) for window in found]
