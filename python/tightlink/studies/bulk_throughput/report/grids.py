"""The grids in charts and tables: what each path carries, the bottleneck factor, windows and single properties."""

from collections.abc import Mapping
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.choice import LITTLE, NEARLY, choose
from tightlink.analysis.path.vary import FACTORS
from tightlink.numbers import several
from tightlink.report import charts
from tightlink.studies.bulk_throughput.observe.grids import best, is_best, lines, nearest_window
from tightlink.studies.bulk_throughput.setup import paths
from tightlink.studies.words import mbit, percent

_OVER_WINDOWS: Final[dict[str, Any]] = {"by": "line", "x_scale": "log", "x_domain": (8, 1024), "x_title": "window (kB)"}
#: Charts of one property in a row.
_ACROSS: Final = 3
#: As many lines as there are colours, of the numbers of flows that all paths have.
_SHOWN: Final = (1, 2, 4, 7, 10, 15, 20, 40)
#: What the text of a section names, and its charts and tables.
Parts = tuple[dict[str, Any], dict[str, Any]]


def of_grids(grids: Mapping[str, pl.DataFrame]) -> Parts:
    """What each path carries, and which window and flows to take."""
    rows, chosen = [], {place.name: choose(grids[place.name]) for place in paths.PATHS}
    for place in paths.PATHS:
        for rule, row in (("best", chosen[place.name].best), ("cheapest", chosen[place.name].cheapest)):
            rows.append((place.title, place.path.bdp_bytes / 1e3, rule, *_cell(row), row["rtt_loaded_s"]))
    single = grids[paths.DARESBURY.name].filter((pl.col("flows") == 1) & (pl.col("window_packets") == 44))
    sites = {}
    for place in paths.SITES:
        top = best(grids[place.name])
        sites[place.name] = {
            "title": place.title,
            "finding": f"The most is {mbit(top['goodput_bps'], 1)}, {percent(top['goodput_share'])} of the link, with "
            f"{several(top['flows'], 'flow')} of {paths.KILOBYTES[top['window_packets']]} kB, which lose "
            f"{percent(top['loss'], 1)}. Settings that lose no more than {percent(LITTLE, 1)} get "
            f"{percent(chosen[place.name].best['goodput_share'])} at most.",
        }
    named: dict[str, Any] = {
        key: {
            "best": chosen[place.name].best,
            "cheapest": chosen[place.name].cheapest,
            "cheapest_kb": paths.KILOBYTES[chosen[place.name].cheapest["window_packets"]],
        }
        for key, place in (("daresbury", paths.DARESBURY), ("caltech", paths.CALTECH), ("tenms", paths.CALTECH_10MS))
    }
    drawn = {f"grid.{place.name}": two(grids[place.name]) for place in paths.PATHS}
    named |= {"sites": sites, "single": single.row(0, named=True), "little": LITTLE, "nearly": NEARLY}
    return named, {"choices": rows, **drawn}


def _cell(row: Mapping[str, Any]) -> tuple[Any, ...]:
    """Flows, window in kB, goodput, utilization and loss in percent."""
    shares = (100 * row["goodput_share"], 100 * row["loss"])
    return row["flows"], paths.KILOBYTES[row["window_packets"]], row["goodput_bps"], *shares


def two(grid: pl.DataFrame) -> list[Any]:
    """Goodput over the window, and utilization over loss."""
    kept = _shown(grid)
    over_windows = charts.line(
        kept.select("window_kb", "goodput_bps", "line"), "window_kb", "goodput_bps", title="goodput over the window",
        height=300, **_OVER_WINDOWS,
    )  # fmt: skip
    over_loss = charts.line(
        kept.select("loss", "utilization", "line"), "loss", "utilization", by="line", y_title="goodput / bandwidth (%)",
        title="utilization over loss", height=300,
    )  # fmt: skip
    return [over_windows, over_loss]


def of_factor(grids: Mapping[str, pl.DataFrame]) -> Parts:
    """The path to IN2P3 with each bottleneck factor."""
    most = (
        f"{percent(best(grids[place.name])['goodput_share'])} at most with factor {place.path.factor:g}"
        for place in paths.IN2P3
    )
    row = [
        charts.line(
            _shown(grids[place.name]).select("window_kb", "goodput_bps", "line"), "window_kb", "goodput_bps",
            title=f"factor {place.path.factor:g}", height=240, y_domain=(0, place.path.bandwidth_bps), **_OVER_WINDOWS,
        )
        for place in paths.IN2P3
    ]  # fmt: skip
    return {"factors": ", ".join(most)}, {"factors": row}


def of_windows(grid: pl.DataFrame) -> Parts:
    """The best window for each number of flows, beside two rules."""
    packets = paths.DARESBURY.bdp_packets
    rows, hits, few = [], 0, 0
    for flows, part in lines(grid):
        _, window, *carried = _cell(best(part))
        near = (paths.KILOBYTES[nearest_window(wanted)] for wanted in (packets, packets / flows))
        rows.append((flows, window, *near, *carried))
        hits += is_best(part, nearest_window(packets / flows))
        few += is_best(part, nearest_window(packets))
    heads = ["flows", "best", "bdp", "shared", "goodput_bps", "utilization", "lost"]
    table = pl.DataFrame(rows, heads, orient="row")
    return {"best_windows": table, "shared_hits": hits, "product_hits": few}, {}


def of_properties(found: pl.DataFrame) -> Parts:
    """One property at a time."""
    small = found.filter((pl.col("base") == "4 × 64 kB") & (pl.col("property") == "rtt_s"))
    at, rtt_s = dict(small.select("value", "goodput_share").rows()), paths.DARESBURY.path.rtt_s
    drawn = [
        charts.line(
            _property(found, name).select("base", pl.col("value").alias(name), "goodput_bps"),
            name, "goodput_bps", by="base", title=title.partition(" (")[0], height=170, x_scale="log",
            # In bit/s the labels would not fit: without a title the axis takes a larger unit.
            x_title=None if name == "bandwidth_bps" else title,
        )
        for name, title in FACTORS.items()
    ]  # fmt: skip
    rows = [drawn[first : first + _ACROSS] for first in range(0, len(drawn), _ACROSS)]
    named = {f"property-{number}": row for number, row in enumerate(rows)}
    return {"at_once": at[rtt_s], "at_twice": at[2 * rtt_s]}, named


def _property(found: pl.DataFrame, name: str) -> pl.DataFrame:
    """The settings over one property; over flows they are told apart by their window alone."""
    own = found.filter(pl.col("property") == name)
    if name != "flows":
        return own
    return own.with_columns(pl.col("base").str.split(" × ").list.last()).unique(["base", "value"], maintain_order=True)


def _shown(grid: pl.DataFrame) -> pl.DataFrame:
    """The lines that are drawn, named."""
    kept = grid.filter(pl.col("flows").is_in(_SHOWN)).sort("flows", "window_packets")
    return kept.with_columns(
        line=pl.col("flows").cast(pl.String),
        window_kb=pl.col("window_packets").replace_strict(paths.KILOBYTES),
        utilization=pl.col("goodput_share") * 100,
    )
