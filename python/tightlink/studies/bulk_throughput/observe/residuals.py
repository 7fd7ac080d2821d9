"""What the document says of observed against predicted goodputs, asked of transfers that stand for its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.residuals import agreement, share_within
from tightlink.lazy import stats
from tightlink.reduce import mean_of, median_of
from tightlink.run import Run
from tightlink.studies.bulk_throughput.observe.alternatives import Missed
from tightlink.studies.bulk_throughput.observe.cross_traffic import points
from tightlink.studies.bulk_throughput.observe.grids import acked_packets
from tightlink.studies.bulk_throughput.setup import paths
from tightlink.studies.bulk_throughput.setup.cross_traffic import CROSS
from tightlink.studies.bulk_throughput.setup.unknowns import UNKNOWNS, Unknown
from tightlink.studies.words import percent

#: The document's few flows, at Caltech and at LBNL, and what it calls agreement at Caltech.
_FEW: Final = {paths.CALTECH.name: 3, paths.LBNL.name: 4}
AGREES: Final = 0.2


def values(kind: str, points: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name: KIND.PATH.…, by what stands for the document's measurements."""
    each: dict[str, object] = {f"{kind}.in2p3.median": median_of(points[paths.IN2P3[1].name]["residual"].abs())}
    for place in paths.SITES:
        each[f"{kind}.{place.name}"] = agreement(points[place.name])
    for name in _FEW:
        each |= {f"{kind}.{name}.{key}": value for key, value in by_flows(name, points[name]).items()}
    lbnl = points[paths.LBNL.name]
    for column in ("observed", "predicted"):
        goodputs = lbnl[f"{column}_bps"].to_list()
        each[f"{kind}.lbnl.{column}_variation"] = pstdev(goodputs) / fmean(goodputs)
    return each


def by_flows(path: str, points: pl.DataFrame) -> dict[str, float]:
    """Agreement with few flows and with more, rank correlation, and the residual with the most flows."""
    few = pl.col("flows") <= _FEW[path]
    most = points.filter(pl.col("flows") == pl.col("flows").max())
    ranks = stats.spearmanr(points["observed_bps"].to_numpy(), points["predicted_bps"].to_numpy())
    return {
        "few_agree": share_within(points.filter(few), AGREES),
        "more_agree": share_within(points.filter(~few), AGREES),
        "most_flows": float(most["flows"][0]),
        "most_flows_median": median_of(most["residual"]),
        "ranks": float(ranks.statistic),
    }


# The grids beside those of ns-2.35: exact where nothing is lost, equally distributed where something is.
#
# ``ns2_35.csv`` was made with ns-2.35 (Debian package ns2, 2.35+dfsg-5) by ``tests/data/ns2/bulk.tcl``: one
# row a cell of the document's windows and flows, with Agent/TCP/Newreno, under ns-2's defaults and under what is
# chosen. ns-2 counts what is acknowledged at the sender, not what arrived at the receiver; both are compared as
# ns-2 counts. With delayed ACKs, where some wait at the end, it is what passed the bottleneck.

#: Our counts, and the same of ns-2.
_COUNTS: Final = {
    "sent": "packets_sent", "arrivals": "bottleneck_arrivals", "drops": "bottleneck_drops", "acked": "packets_acked",
}  # fmt: skip


def grid(place: paths.Place, under: paths.Alternative = paths.DEFAULTS) -> pl.DataFrame:
    """What ns-2.35 makes of a path's grid; no rows where it was not run."""
    own = (pl.col("path") == place.name) & (pl.col("alternative") == under.name)
    return pl.read_csv(Path(__file__).parents[1] / "ns2_35.csv", glob=False).filter(own)


COMPARED: Final = tuple(place for place in paths.PATHS if not grid(place).is_empty())
#: By which claims and tables are named.
UNDER: Final = {"ns2": paths.DEFAULTS, "ns2.chosen": paths.CHOSEN}


def beside(place: paths.Place, runs: Mapping[str, Run], under: paths.Alternative = paths.DEFAULTS) -> pl.DataFrame:
    """Its rows with ours: ``sent``, ``arrivals``, ``drops``, ``acked`` here, and both goodputs."""
    theirs = grid(place, under)
    cells = theirs.select("window_packets", "flows").rows()
    own = [runs[under.task(f"{place.name}/{window}/{flows}")] for window, flows in cells]
    counts = {
        "sent": [int(run.flows["packets_sent"].sum()) for run in own],
        "arrivals": [int(run.links["packets_in"][0]) for run in own],
        "drops": [int(run.links["packets_dropped"][0]) for run in own],
        "acked": [acked_packets(run, place.path) for run in own],
    }
    rate = 8 * place.path.payload_bytes / place.path.duration_s
    # With delayed ACKs those that wait are no measure: what passed the bottleneck is.
    passed = {"here_bps": pl.col("arrivals") - pl.col("drops"),
              "ns2_bps": pl.col("bottleneck_arrivals") - pl.col("bottleneck_drops")}  # fmt: skip
    acked = {"here_bps": pl.col("acked"), "ns2_bps": pl.col("packets_acked")}
    counted = passed if under.tcp.get("delayed_acks") else acked
    return pl.concat([theirs, pl.DataFrame(counts)], how="horizontal").with_columns(
        **{name: count * rate for name, count in counted.items()}
    )


def tables(runs: Mapping[str, Run]) -> dict[str, pl.DataFrame]:
    """The rows of each path that is compared, as ns2.PATH and ns2.chosen.PATH."""
    return {f"{name}.{place.name}": beside(place, runs, under) for name, under in UNDER.items() for place in COMPARED}


def p_value(lossy: pl.DataFrame) -> float:
    """Wilcoxon's signed-rank test of the paired relative differences; 1 where there is none.

    Windows that never limit give equal runs in ns-2: such cells are one pair, not several.
    """
    pairs = lossy.unique(["flows", "packets_sent", "packets_acked", "bottleneck_drops"], maintain_order=True)
    differences = (pairs["here_bps"] / pairs["ns2_bps"] - 1).to_numpy()
    differences = differences[differences != 0]
    return float(stats.wilcoxon(differences).pvalue) if len(differences) else 1.0


def reference_values(both: pl.DataFrame) -> dict[str, Any]:
    """What claims compare of a path, as ns2.PATH and ns2.chosen.PATH; p and differences where something is lost."""
    lost = pl.col("bottleneck_drops") > 0
    clean, lossy = both.filter(~lost), both.filter(lost)
    same = {ours: pl.col(ours) == pl.col(theirs) for ours, theirs in _COUNTS.items()}
    equal, counted = pl.all_horizontal(same.values()), pl.all_horizontal(same["sent"], same["drops"])
    each: dict[str, Any] = {
        "lossless_cells": clean.height,
        "lossless_equal": clean.filter(equal).height,
        "lossless_counted": clean.filter(counted).height,
        "lossless_r2": _r2(clean),
        "lossy_cells": lossy.height,
        "lossy_counted": lossy.filter(counted).height,
    }
    if lossy.height:
        differences = lossy["here_bps"] / lossy["ns2_bps"] - 1
        each |= {"p": p_value(lossy), "mean_difference": mean_of(differences), "deviation": differences.std()}
    return each


def _r2(rows: pl.DataFrame) -> float:
    """R² about the line of equality."""
    here, theirs = (rows[name].to_numpy() for name in ("here_bps", "ns2_bps"))
    return 1 - float(((here - theirs) ** 2).sum() / ((theirs - theirs.mean()) ** 2).sum())


# Which traffic and bandwidth, unknown to the prediction, bring its residuals at Caltech to the document's figures.
#
# The figures: both R², agreement within ± 20 % with more than 3 flows, a worse one with
# fewer, and an underestimation with many. A miss is a difference of R², of shares of the cells, or of
# (o − s) / o.
# Akaike's criterion weighs the mean miss and what was left unknown, as it does the alternatives.

#: R² at Caltech of the line through the origin and of the free line.
_R2: Final = 0.7746
_R2_FREE: Final = 0.802


@dataclass(frozen=True, kw_only=True)
class Explained(Missed):
    """A path with what its residuals come to."""

    unknown: Unknown
    points: pl.DataFrame
    figures: Mapping[str, float]

    @property
    def words(self) -> str:
        """The path, in words."""
        return f"{self.unknown.bandwidth_bps / 1e6:g} Mbit/s with {percent(self.unknown.cross)} of others' traffic"

    @property
    def missed(self) -> str:
        """The misses, in words."""
        return "; ".join(f"{name}: {miss:.2f}" for name, miss in self.misses.items())


def explained(runs: Mapping[str, Run]) -> list[Explained]:
    """Every path, the best first."""
    return sorted((_explained(each, runs) for each in UNKNOWNS), key=lambda each: each.aic)


def _explained(unknown: Unknown, runs: Mapping[str, Run]) -> Explained:
    rows = points(paths.CALTECH, runs, unknown.observations())
    found, flows = agreement(rows), by_flows(paths.CALTECH.name, rows)
    if found.origin is None or found.free is None:
        raise ValueError("all cells are alike")
    figures = {"r2": found.origin.value, "r2_free": found.free.value, **flows}
    misses = {
        "R², origin": abs(found.origin.value - _R2),
        "R², free": abs(found.free.value - _R2_FREE),
        "within 20 % with more than 3 flows": 1 - flows["more_agree"],
        "fewer with less": max(0.0, flows["few_agree"] - flows["more_agree"]),
        "underestimated with many": max(0.0, -flows["most_flows_median"]),
    }
    return Explained(unknown=unknown, points=rows, figures=figures, misses=misses, changed=len(unknown.names))


def unknown_values(found: Sequence[Explained]) -> dict[str, object]:
    """What claims compare, by name: unknown.…; lead is of the best with more bandwidth than the document's."""
    known, wider = (next(each for each in found if (each.unknown.bandwidth > 1) is more) for more in (False, True))
    # The pair that misses least, whatever it leaves unknown; and given this study's traffic, the best bandwidth.
    nearest, given = min(found, key=lambda each: each.mean_miss), next(e for e in found if e.unknown.cross == CROSS)
    return {
        "unknown.tried": len(found),
        "unknown.lead": known.aic - wider.aic,
        "unknown.known": known,
        "unknown.wider": wider,
        "unknown.nearest": nearest,
        "unknown.given": given,
    }
