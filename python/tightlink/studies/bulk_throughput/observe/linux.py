"""What stands for the document's measurements: cells that Linux carried, as they are stored, other traffic, pings.

``linux.csv`` has a row for each cell: medians of three to five measurements with ``--live``. It says where, when and of
which commit; ``benchmarks/bulk_linux.py`` writes it from the folder of a study that measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import polars as pl

from tightlink.analysis.path.cells import cell
from tightlink.analysis.path.cross_traffic import MOMENTS, spread
from tightlink.analysis.path.residuals import agreement, share_within, with_residuals
from tightlink.reduce import mean_of, median_of
from tightlink.run import Run
from tightlink.studies.bulk_throughput.observe.grids import mean_rank_correlation
from tightlink.studies.bulk_throughput.setup.linux import (
    BYTES,
    CONTROLS,
    PACKETS,
    PING,
    SEEDS,
    SETTINGS,
    SHARES,
    Observation,
    cells,
    name,
    observations,
    path_of,
)
from tightlink.studies.bulk_throughput.setup.paths import CALTECH, CHOSEN, DARESBURY, SITES, Alternative, Place

STORED: Final = Path(__file__).parents[1] / "linux.csv"
#: A residual that is small, over what was observed.
WITHIN: Final = 0.10
#: What was measured, before anything was predicted.
MEASURED: Final = {
    "path": pl.String, "congestion": pl.String, "window_packets": pl.Int64, "flows": pl.Int64, "kind": pl.String,
    "times": pl.Int64, "observed_bps": pl.Float64, "lowest_bps": pl.Float64, "highest_bps": pl.Float64,
    "loss": pl.Float64, "rtt_loaded_s": pl.Float64, "pings": pl.Int64, "pings_lost": pl.Int64,
    "iperf3_bps": pl.Float64,
}  # fmt: skip
_CELL: Final = ["window_packets", "flows"]


def stored() -> pl.DataFrame:
    """The cells as they were measured."""
    return pl.read_csv(STORED, comment_prefix="#", schema=MEASURED)


def where() -> list[str]:
    """Where, when and of which commit the stored cells were measured, in lines."""
    text = STORED.read_text(encoding="utf-8").splitlines()
    return [line.removeprefix("#").strip() for line in text if line.startswith("#")]


def beside(measured: pl.DataFrame, runs: Mapping[str, Run]) -> pl.DataFrame:
    """The measured cells with what profile ``linux`` predicts for each, and the residuals."""
    wanted = {(each.place.name, each.congestion, each.window, each.flows): each for each in cells()}
    found = []
    for key in measured.select("path", "congestion", *_CELL).rows():
        each = wanted[key]
        predicted = cell(runs[each.task], each.path)
        found.append({f"predicted_{what}": predicted[what] for what in ("loss", "rtt_loaded_s")}
                     | {"predicted_bps": predicted["goodput_bps"]})  # fmt: skip
    schema = dict.fromkeys(("predicted_loss", "predicted_rtt_loaded_s", "predicted_bps"), pl.Float64)
    return with_residuals(pl.concat([measured, pl.DataFrame(found, schema)], how="horizontal"))


def beside_ns2(measured: pl.DataFrame, grids: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """The cells under Reno with what the document's simulator predicts for them, for each site.

    Linux with timestamps has 1448 B of payload in a packet, the document's simulator 1460 B.
    """
    found = {}
    for place in SITES:
        own = measured.filter((pl.col("path") == place.name) & (pl.col("congestion") == CONTROLS[0]))
        payload = path_of(place, CONTROLS[0]).payload_bytes / place.path.payload_bytes
        grid = grids[place.name].select(*_CELL, predicted_bps=pl.col("goodput_bps") * payload, predicted_loss="loss")
        found[place.name] = with_residuals(own.join(grid, on=_CELL, how="left", maintain_order="left"))
    return found


def outside(found: pl.DataFrame) -> pl.DataFrame:
    """The points whose residuals are beyond the goal."""
    return found.filter(pl.col("residual_bps").abs() > WITHIN * pl.col("observed_bps"))


def values(points: pl.DataFrame, ns2: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: linux.….

    Args:
        points: Measured and predicted with profile ``linux``.
        ns2: Measured and predicted by the document's simulator, for each site.
    """
    caltech = ns2[CALTECH.name]
    daresbury = points.filter(pl.col("path") == DARESBURY.name)
    return {
        "linux.within_10_percent": share_within(points, WITHIN),
        **{f"linux.{place.name}": agreement(points.filter(pl.col("path") == place.name)) for place in SITES},
        "linux.pings_lost": int(caltech["pings_lost"].sum()),
        "linux.pings": int(caltech["pings"].sum()),
        "linux.simulated_loss": mean_of(caltech["predicted_loss"]),
        "linux.measured_loss": mean_of(caltech["loss"]),
        # Of repeated transfers with nobody else on the path: how far they are apart, over their median.
        "linux.spread": median_of((daresbury["highest_bps"] - daresbury["lowest_bps"]) / daresbury["observed_bps"]),
    }


# How cross traffic widens the interval of one measurement; observed goodputs against predicted ones.


def goodputs(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run: what is transferred, mean share, hour, weekend, its weight, goodput."""
    rows = []
    for setting, (window, flows) in SETTINGS.items():
        calm = cell(runs[f"{DARESBURY.name}/{window}/{flows}"], DARESBURY.path)["goodput_bps"]
        for share in SHARES:
            for place, moment in enumerate(MOMENTS):
                then = moment.path(DARESBURY.path.changed(cross=share))
                rows += [
                    {
                        "setting": setting, "share": share, "hour": moment.hour, "weekend": moment.weekend,
                        "weight": moment.weight,
                        "goodput_bps": cell(runs[name(share, window, flows, place, seed)], then)["goodput_bps"]
                        if share else calm,
                    }
                    for seed in SEEDS
                ]  # fmt: skip
    return pl.DataFrame(rows)


def intervals(found: pl.DataFrame) -> pl.DataFrame:
    """Mean and 95 % interval of one measurement, for each setting and share."""
    rows = []
    for (setting, share), part in found.group_by("setting", "share", maintain_order=True):
        estimate = spread(part["goodput_bps"].to_list(), part["weight"].to_list())
        rows.append({
            "setting": setting, "share": share, "mean_bps": estimate.value, "low_bps": estimate.low,
            "high_bps": estimate.high, "width": (estimate.high - estimate.low) / estimate.value,
        })  # fmt: skip
    return pl.DataFrame(rows)


def points(
    place: Place,
    runs: Mapping[str, Run],
    observed: Sequence[Observation] | None = None,
    under: Alternative = CHOSEN,
) -> pl.DataFrame:
    """A row for each measurement: what was observed, what the quiet path predicts, and the residuals.

    Args:
        place: The path.
        runs: By name.
        observed: The measurements; without them, those with the study's traffic.
        under: The alternative that predicts.
    """
    return with_residuals(pl.DataFrame([
        {
            "window_packets": each.window,
            "flows": each.flows,
            "observed_bps": cell(runs[each.name], each.path)["goodput_bps"],
            "predicted_bps": cell(runs[under.task(each.prediction)], place.path)["goodput_bps"],
        }
        for each in (observations(place) if observed is None else observed)
    ]))  # fmt: skip


# Loss as a ping sees it, beside TCP's own.


def tables(runs: Mapping[str, Run]) -> dict[str, pl.DataFrame]:
    """A row for each cell, TCP's loss and that of the pings: at a queue that counts packets, and at one of bytes."""
    return {queue: _losses(queue, runs) for queue in (PACKETS, BYTES)}


def _losses(queue: str, runs: Mapping[str, Run]) -> pl.DataFrame:
    rows = []
    for window, flows in CALTECH.cells:
        run = runs[f"{queue}/{window}/{flows}"]
        pings = run.flows.filter(pl.col("label").str.starts_with(PING))
        rows.append({
            "window_packets": window,
            "flows": flows,
            "tcp": cell(run, CALTECH.path)["loss"],
            "ping": int(pings["packets_dropped"].sum()) / int(pings["packets_sent"].sum()),
            "pings": int(pings["packets_sent"].sum()),
        })  # fmt: skip
    return pl.DataFrame(rows)


def pings_values(found: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: rank correlations at the queue that counts packets."""
    each: dict[str, object] = {}
    for kind in ("tcp", "ping"):
        over_flows, _ = mean_rank_correlation(found[PACKETS], "flows", kind, line="window_packets")
        over_windows, _ = mean_rank_correlation(found[PACKETS], "window_packets", kind, line="flows")
        each |= {f"{PACKETS}.{kind}_over_flows": over_flows, f"{PACKETS}.{kind}_over_windows": over_windows}
    return each
