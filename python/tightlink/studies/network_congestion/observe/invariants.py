"""The critical load against what graphs are like: degree, clustering, path length, betweenness, spectral gap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.studies.network_congestion.observe.measured import Measured
from tightlink.studies.network_congestion.setup import cases
from tightlink.studies.network_congestion.setup.network import CAPACITY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

_R2: Final = "R² of a power law"
#: What is measured of graphs, in words; "(even)": equal paths share.
FACTORS: Final = {
    "degree_mean": "mean degree",
    "degree_ratio": "⟨k²⟩ / ⟨k⟩²",
    "clustering": "clustering",
    "path_length_mean": "mean path length",
    "node_betweenness_max": "largest betweenness of a node (even)",
    "link_betweenness_max": "largest betweenness of a link (even)",
    "spectral_gap": "spectral gap",
    "betweenness": "largest betweenness of a link (as routed)",
}


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each graph: its invariants, and the critical load that was found."""
    rows = []
    for case in cases.invariants():
        value, low, high = Measured(case, runs).critical
        rows.append(
            {"graph": case.graph.name, "family": case.graph.family, "critical": value, "low": low, "high": high,
             "theory": case.critical.load, "betweenness": float(case.routes.betweenness.max())}
            | case.graph.invariants.row()
        )  # fmt: skip
    return pl.DataFrame(rows)


def correlations(found: pl.DataFrame) -> pl.DataFrame:
    """For each invariant how its order is that of λc (Spearman's ρ), and R² of a power law of it."""
    from scipy import stats

    critical = np.log(found["critical"].to_numpy())
    rows = []
    for name, words in FACTORS.items():
        values = found[name].to_numpy()
        rank = float(stats.spearmanr(values, critical).statistic)
        positive = values > 0
        fit = stats.linregress(np.log(values[positive]), critical[positive])
        rows.append((words, rank, float(fit.rvalue**2), float(fit.slope), int(positive.sum())))
    names = ["invariant", "rank correlation with λc", _R2, "its exponent", "graphs"]
    return pl.DataFrame(rows, schema=names, orient="row")


def values(found: pl.DataFrame, ranked: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: invariants.… of all graphs, invariants.FAMILY.… of those of a family."""
    off = (found["critical"] / found["theory"] - 1).abs().to_numpy()
    return {
        "invariants.graphs": found.height,
        "invariants.off": off.max(),
        **{f"invariants.{name}": value for name, value in explained(ranked).items()},
        **_families(found),
    }


def explained(ranked: pl.DataFrame) -> dict[str, object]:
    """What a power law of the busiest link's betweenness explains, and of the invariant that comes next."""
    shares = dict(ranked.select("invariant", _R2).iter_rows())
    best = FACTORS["betweenness"]
    others = {name: share for name, share in shares.items() if name != best}
    second = max(others, key=lambda name: others[name])
    return {
        "r2": shares[best],
        "exponent": float(ranked.filter(pl.col("invariant") == best)["its exponent"].to_list()[0]),
        "second": second,
        "r2_second": others[second],
        "r2_even": shares[FACTORS["link_betweenness_max"]],
    }


def _families(found: pl.DataFrame) -> dict[str, object]:
    """The mean over the graphs of a family, its standard error, and what it would be if equal paths shared."""
    each: dict[str, object] = {}
    for (family,), part in found.group_by("family", maintain_order=True):
        loads = part["critical"].to_numpy()
        error = float(loads.std(ddof=1)) / part.height**0.5 if part.height > 1 else 0.0
        even = float(np.mean(CAPACITY * (part["nodes"] - 1).to_numpy() / part["link_betweenness_max"].to_numpy()))
        measured = {"load_per_s": float(loads.mean()), "error_per_s": error, "even_per_s": even}
        each |= {f"invariants.{str(family).replace(' ', '-')}.{key}": value for key, value in measured.items()}
    return each
