"""The grids beside those of ns-2.35: exact where nothing is lost, equally distributed where something is.

``ns2_35.csv`` was made with ns-2.35 (Debian package ns2, 2.35+dfsg-5) by ``tests/data/ns2/bulk.tcl``: one
row a cell of the document's windows and flows, with Agent/TCP/Newreno, under ns-2's defaults and under the alternative
that is chosen. ns-2 counts what is acknowledged at the sender, not what arrived at the receiver; both are compared as
ns-2 counts. With delayed ACKs, where some wait at the end, it is what passed the bottleneck.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.reduce import mean_of
from tightlink.studies.bulk_throughput.observe.cells import acked_packets
from tightlink.studies.bulk_throughput.setup.alternatives import CHOSEN, DEFAULTS, Alternative
from tightlink.studies.bulk_throughput.setup.paths import PATHS, Place

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

#: Our counts, and the same of ns-2.
_COUNTS: Final = {
    "sent": "packets_sent", "arrivals": "bottleneck_arrivals", "drops": "bottleneck_drops", "acked": "packets_acked",
}  # fmt: skip


def grid(place: Place, under: Alternative = DEFAULTS) -> pl.DataFrame:
    """What ns-2.35 makes of a path's grid; no rows where it was not run."""
    own = (pl.col("path") == place.name) & (pl.col("alternative") == under.name)
    return pl.read_csv(Path(__file__).parents[1] / "ns2_35.csv").filter(own)


COMPARED: Final = tuple(place for place in PATHS if not grid(place).is_empty())
#: By which claims and tables are named.
UNDER: Final = {"ns2": DEFAULTS, "ns2.chosen": CHOSEN}


def beside(place: Place, runs: Mapping[str, Run], under: Alternative = DEFAULTS) -> pl.DataFrame:
    """Its rows with ours: ``sent``, ``arrivals``, ``drops``, ``acked`` here, and both goodputs."""
    theirs = grid(place, under)
    rows = []
    for row in theirs.iter_rows(named=True):
        run = runs[under.task(f"{place.name}/{row['window_packets']}/{row['flows']}")]
        link = run.links.row(0, named=True)
        rows.append({
            "sent": int(run.flows["packets_sent"].sum()),
            "arrivals": int(link["packets_in"]),
            "drops": int(link["packets_dropped"]),
            "acked": acked_packets(run, place.path),
        })  # fmt: skip
    rate = 8 * place.path.payload_bytes / place.path.duration_s
    # With delayed ACKs those that wait are no measure: what passed the bottleneck is.
    passed = {"here_bps": pl.col("arrivals") - pl.col("drops"),
              "ns2_bps": pl.col("bottleneck_arrivals") - pl.col("bottleneck_drops")}  # fmt: skip
    acked = {"here_bps": pl.col("acked"), "ns2_bps": pl.col("packets_acked")}
    counted = passed if under.tcp.get("delayed_acks") else acked
    return pl.concat([theirs, pl.DataFrame(rows)], how="horizontal").with_columns(
        **{name: count * rate for name, count in counted.items()}
    )


def tables(runs: Mapping[str, Run]) -> dict[str, pl.DataFrame]:
    """The rows of each path that is compared, as ns2.PATH and ns2.chosen.PATH."""
    return {f"{name}.{place.name}": beside(place, runs, under) for name, under in UNDER.items() for place in COMPARED}


def parted(both: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows in which ns-2 loses nothing, and the others."""
    lossy = pl.col("bottleneck_drops") > 0
    return both.filter(~lossy), both.filter(lossy)


def p_value(lossy: pl.DataFrame) -> float:
    """Wilcoxon's signed-rank test of the paired relative differences; 1 where there is none.

    Windows that never limit give equal runs in ns-2: such cells are one pair, not several.
    """
    from scipy import stats

    pairs = lossy.unique(["flows", "packets_sent", "packets_acked", "bottleneck_drops"], maintain_order=True)
    differences = (pairs["here_bps"] / pairs["ns2_bps"] - 1).to_numpy()
    differences = differences[differences != 0]
    return float(stats.wilcoxon(differences).pvalue) if len(differences) else 1.0


def values(found: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: ns2.PATH.… and ns2.chosen.PATH.…; p and the difference where something is lost."""
    each: dict[str, object] = {}
    for name, both in found.items():
        clean, lossy = parted(both)
        same = {ours: pl.col(ours) == pl.col(theirs) for ours, theirs in _COUNTS.items()}
        equal, counted = pl.all_horizontal(same.values()), pl.all_horizontal(same["sent"], same["drops"])
        each |= {
            f"{name}.lossless_cells": clean.height,
            f"{name}.lossless_equal": clean.filter(equal).height,
            f"{name}.lossless_counted": clean.filter(counted).height,
            f"{name}.lossless_r2": _r2(clean),
            f"{name}.lossy_cells": lossy.height,
        }
        if lossy.height:
            each[f"{name}.p"] = p_value(lossy)
            each[f"{name}.mean_difference"] = mean_of(lossy["here_bps"] / lossy["ns2_bps"] - 1)
    return each


def _r2(rows: pl.DataFrame) -> float:
    """R² about the line of equality."""
    here, theirs = (rows[name].to_numpy() for name in ("here_bps", "ns2_bps"))
    return 1 - float(((here - theirs) ** 2).sum() / ((theirs - theirs.mean()) ** 2).sum())
