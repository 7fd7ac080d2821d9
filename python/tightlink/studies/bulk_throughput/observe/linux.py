"""What stands for the document's measurements: cells that Linux carried, as they are stored.

``linux.csv`` has a row for each cell: medians of three to five measurements with ``--live``. It says where, when and of
which commit; ``benchmarks/bulk_linux.py`` writes it from the folder of a study that measured.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.path.cells import cell
from tightlink.analysis.path.residuals import agreement, share_within, with_residuals
from tightlink.reduce import mean_of, median_of
from tightlink.run import Run
from tightlink.studies.bulk_throughput.setup.linux import CONTROLS, cells, path_of
from tightlink.studies.bulk_throughput.setup.paths import CALTECH, DARESBURY, SITES

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
    return pl.read_csv(STORED, glob=False, comment_prefix="#", schema=MEASURED)


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
    """What claims compare, by name: linux.…."""
    caltech = ns2[CALTECH.name]
    lost, pings = (int(caltech[name].sum()) for name in ("pings_lost", "pings"))
    share = Estimate.of_share(lost, pings)
    daresbury = points.filter(pl.col("path") == DARESBURY.name)
    return {
        "linux.within_10_percent": share_within(points, WITHIN),
        **{f"linux.{place.name}": agreement(points.filter(pl.col("path") == place.name)) for place in SITES},
        "linux.pings_lost": lost,
        "linux.pings": pings,
        "linux.pings_low": share.low,
        "linux.pings_high": share.high,
        "linux.simulated_loss": mean_of(caltech["predicted_loss"]),
        "linux.measured_loss": mean_of(caltech["loss"]),
        # Of repeated transfers with nobody else on the path: how far they are apart, over their median.
        "linux.spread": median_of((daresbury["highest_bps"] - daresbury["lowest_bps"]) / daresbury["observed_bps"]),
    }
