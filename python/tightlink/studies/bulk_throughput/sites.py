"""The document's statements on the other three paths, and those of its summary."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import exact, holds_if, within
from tightlink.reduce import largest, smallest
from tightlink.studies.bulk_throughput.lines import best, best_windows, lines, nearest_window, rank_correlation
from tightlink.studies.bulk_throughput.paths import (
    CALTECH,
    CALTECH_10MS,
    DARESBURY,
    DOCUMENT,
    IN2P3,
    LBNL,
    SITES,
    WINDOWS,
)
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.experiment.claims import Claim

#: BW × RTT in kB, as the summary prints it.
_PRINTED_KB: Final = {"daresbury": (DARESBURY, 203), "in2p3": (IN2P3[1], 630), "caltech": (CALTECH_10MS, 56),
                      "lbnl": (LBNL, 13)}  # fmt: skip
#: The document's list of windows in bytes.
_PRINTED_WINDOWS: Final = (8760, 16060, 32120, 64240, 128480, 511000, 1022000)
#: "Not very sensitive", "little effect": a tenth.
_LITTLE: Final = 0.1
_SMALL: Final = 0.05
_NEARLY: Final = 0.95
#: A rank correlation from which one grows with the other.
_GROWS: Final = 0.5


def claims(grids: Mapping[str, pl.DataFrame]) -> Iterator[Claim]:
    """In the order of the document."""
    missing = [window for window in WINDOWS if 1460 * window not in _PRINTED_WINDOWS]
    yield exact(
        "windows-in-bytes", "Windows in the list in bytes, of 6 to 700 packets of 1460 B", DOCUMENT,
        len(_PRINTED_WINDOWS), len(WINDOWS),
        reason=f"A slip: the list leaves out {missing[0]} packets, {1460 * missing[0]} bytes.",
    )  # fmt: skip
    yield from _factor(grids)
    yield exact(
        "caltech.rtt", "The round trip to Caltech is the same in text (24.7 ms) and summary (10 ms)",
        f"{DOCUMENT}, Caltech and summary", 1e3 * CALTECH_10MS.path.rtt_s, 1e3 * CALTECH.path.rtt_s, unit="ms",
        reason="The document contradicts itself; both are simulated.",
    )  # fmt: skip
    for place in (CALTECH, LBNL, DARESBURY):
        yield from _loss(place.name, place.title, grids[place.name])
    yield from _lbnl(grids["lbnl"])
    for name, (place, printed) in _PRINTED_KB.items():
        yield within(
            f"{name}.bdp", f"{place.title}: bandwidth × round trip", f"{DOCUMENT}, summary", printed,
            place.path.bdp_bytes / 1e3, tolerance=0.5, unit="kB", reason="As printed, in whole kB.",
        )  # fmt: skip
    yield from _summary(grids)


def _factor(grids: Mapping[str, pl.DataFrame]) -> Iterator[Claim]:
    one, two, three = (grids[place.name] for place in IN2P3)
    for low, high, name in ((one, two, "1-2"), (two, three, "2-3")):
        joined = low.join(high, on=["window_packets", "flows"], suffix="_other")
        ratio = (joined["goodput_bps_other"] / joined["goodput_bps"] - 1).abs()
        calm = joined.filter(pl.col("packets_dropped_other") == 0)
        calm_ratio = (calm["goodput_bps_other"] / calm["goodput_bps"] - 1).abs()
        yield holds_if(
            f"in2p3.factor-{name}", f"The goodput is not very sensitive to the bottleneck factor, {name[0]} or "
            f"{name[2]}", f"{DOCUMENT}, IN2P3", _percent(ratio.mean()), _percent(ratio.mean()) < 100 * _LITTLE,
            f"Mean over the grid, largest {percent(largest(ratio))}. "
            f"Where nothing is lost at the greater factor ({calm.height} of {joined.height} cells) it is at most "
            f"{percent(largest(calm_ratio), 1)}. At factor 1 nothing can be lost at the bottleneck; from 2 on "
            "slow start overshoots, and recovery takes a good part of 10 s.", unit="%",
        )  # fmt: skip


def _loss(name: str, title: str, grid: pl.DataFrame) -> Iterator[Claim]:
    over_windows = [found for _, part in lines(grid)
                    if (found := rank_correlation(part, "window_packets", "loss")) is not None]  # fmt: skip
    over_flows = [
        found
        for _, part in grid.sort("flows").group_by("window_packets", maintain_order=True)
        if (found := rank_correlation(part, "flows", "loss")) is not None
    ]
    yield holds_if(
        f"{name}.loss-over-windows", f"{title}: along a line of equal flows, loss grows with the window",
        f"{DOCUMENT}, utilization and goodput over loss", fmean(over_windows), fmean(over_windows) > _GROWS,
        f"Mean rank correlation over {len(over_windows)} numbers of flows. It grows up to the window that fills path "
        "and queue; larger ones never limit, and change nothing but which packet is lost.",
    )  # fmt: skip
    yield holds_if(
        f"{name}.loss-over-flows", f"{title}: loss grows with the number of flows", f"{DOCUMENT}, Caltech",
        fmean(over_flows), fmean(over_flows) > _GROWS, f"Mean rank correlation over {len(over_flows)} windows.",
    )  # fmt: skip


def _lbnl(grid: pl.DataFrame) -> Iterator[Claim]:
    spreads = {flows: 1 - smallest(part["goodput_bps"]) / largest(part["goodput_bps"])
               for flows, part in lines(grid)}  # fmt: skip
    rest = max(spread for flows, spread in spreads.items() if flows > 1)
    yield holds_if(
        "lbnl.window", "LBNL: the window has little effect", f"{DOCUMENT}, LBNL", _percent(max(spreads.values())),
        max(spreads.values()) < _LITTLE,
        f"With two flows or more it changes the goodput by {percent(rest, 1)} at most. One flow with 8 kB, below the "
        "BDP of 12.75 kB, carries little more than half: the document's own reason, for the one cell that it does not "
        "fit.", unit="%",
    )  # fmt: skip
    large = grid.filter(pl.col("window_packets") * LBNL.path.payload_bytes >= LBNL.path.bdp_bytes)
    wide = [1 - smallest(part["goodput_bps"]) / largest(part["goodput_bps"])
            for _, part in lines(large)]  # fmt: skip
    yield holds_if(
        "lbnl.window-above-bdp", "LBNL: windows above the BDP of 12.75 kB have little effect",
        f"{DOCUMENT}, LBNL, as its reason implies", _percent(max(wide)), max(wide) < _SMALL, unit="%",
    )  # fmt: skip


def _summary(grids: Mapping[str, pl.DataFrame]) -> Iterator[Claim]:
    source = f"{DOCUMENT}, summary"
    tops = {place.name: best(grids[place.name]) for place in SITES}
    least = min(tops.values(), key=lambda row: row["flows"])
    near = {
        name: min(grids[name].filter(pl.col("goodput_bps") >= _NEARLY * top["goodput_bps"])["flows"].to_list())
        for name, top in tops.items()
    }
    yield holds_if(
        "summary.seven-flows", "The maximum goodput is obtained with 7 flows or more, on every path", source,
        least["flows"], least["flows"] >= 7,
        "Flows at the maximum: " + ", ".join(f"{name} {row['flows']}" for name, row in tops.items())
        + ". Flows within 5 % of it: " + ", ".join(f"{name} {flows}" for name, flows in near.items()) + ".",
    )  # fmt: skip
    hits, shared = [], []
    for place in SITES:
        packets = place.path.bdp_bytes / place.path.payload_bytes
        for flows, window in best_windows(grids[place.name]).items():
            if flows <= 4:
                hits.append(window == nearest_window(packets))
                shared.append(window == nearest_window(packets / flows))
    yield holds_if(
        "summary.bdp", "For few flows the best window is the BDP, on every path", source,
        f"{sum(hits)} of {len(hits)}", all(hits),
        f"Paths and numbers of flows up to 4. BDP / flows fits {sum(shared)} of {len(shared)}. Best is the smallest "
        "window that keeps the link busy, from the BDP shared among the flows up to that and a share of the queue.",
    )  # fmt: skip
    most = {place.name: tops[place.name]["goodput_share"] for place in SITES}
    worst = min(most, key=lambda name: most[name])
    yield holds_if(
        "summary.ninety", "Bulk transfers can use over 90 % of the bottleneck, on every path", source,
        _percent(most[worst]), most[worst] > 0.9,
        "Highest utilizations: " + ", ".join(f"{name} {percent(share)}" for name, share in most.items())
        + ". At IN2P3 a run of 10 s is 55 round trips, too short to recover from slow start.", unit="%",
    )  # fmt: skip


def _percent(share: object) -> float:
    """A share in percent, as claims show it."""
    return round(100 * share, 2) if isinstance(share, float) else 0.0
