"""The critical load against what graphs are like: degree, clustering, path length, betweenness, spectral gap."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim, holds_if
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.network_congestion import graphs
from tightlink.studies.network_congestion.document import DISCUSSION, THEORY, ZHAO
from tightlink.studies.network_congestion.measured import Measured
from tightlink.studies.network_congestion.network import CAPACITY, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_LOADS: Final = (0.9, 1.0, 1.03, 1.06, 1.09, 1.12)
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


@cache
def cases() -> tuple[Case, ...]:
    """Graphs of 62 to 65 nodes."""
    chosen = [
        graphs.ring(65), graphs.lattice(8), graphs.torus(8), graphs.tree(5),
        *(graphs.small_world(64, rewired, seed) for rewired in (0.02, 0.1, 0.3, 1.0) for seed in (1, 2)),
        *(graphs.random(64, seed) for seed in (1, 2, 3)),
        *(graphs.regular(64, seed) for seed in (1, 2, 3)),
        *(graphs.scale_free(64, seed) for seed in (1, 2, 3, 4)),
        *(graphs.autonomous_systems(64, seed) for seed in (1, 2, 3)),
    ]  # fmt: skip
    return tuple(Case(f"invariants/{graph.name}", graph, _LOADS) for graph in chosen)


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each graph: its invariants, and the critical load that was found."""
    rows = []
    for case in cases():
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
    names = ["invariant", "rank correlation with λc", "R² of a power law", "its exponent", "graphs"]
    return pl.DataFrame(rows, schema=names, orient="row")


def claims(found: pl.DataFrame) -> Iterator[Claim]:
    """What structure says of the critical load."""
    off = (found["critical"] / found["theory"] - 1).abs().to_numpy()
    ranked = correlations(found)
    explained = dict(ranked.select("invariant", "R² of a power law").iter_rows())
    best = FACTORS["betweenness"]
    others = {name: share for name, share in explained.items() if name != best}
    even = explained[FACTORS["link_betweenness_max"]]
    second = max(others, key=lambda name: others[name])
    yield holds_if(
        "invariants.betweenness", "Topological invariants affect the dynamics: betweenness sets the critical load",
        DISCUSSION, explained[best], explained[best] > max(others.values()),
        f"Share of the variance of ln λc over {found.height} graphs that a power law of the busiest link's "
        f"betweenness, as routed, explains (exponent {_exponent(ranked, best):.2f}); the next is {second} with "
        f"{others[second]:.2f}. λc lies within {100 * off.max():.1f} % of C (n − 1) / B on all of them.",
    )  # fmt: skip
    yield holds_if(
        "invariants.even", "Betweenness as it is usually counted, equal paths sharing, does as well", THEORY,
        even, even >= explained[best] - 0.01,
        "It is a number of the graph, not of the routing: where many paths are equally short, as on lattices, one "
        "fixed choice loads some links with all of them.",
    )  # fmt: skip
    yield from _tolerant(found)


def _tolerant(found: pl.DataFrame) -> Iterator[Claim]:
    """Means over the graphs of a family, told apart by two standard errors of the mean."""
    mean, error, even = {}, {}, {}
    for (family,), part in found.group_by("family", maintain_order=True):
        values = part["critical"].to_numpy()
        mean[family] = float(values.mean())
        error[family] = float(values.std(ddof=1)) / part.height**0.5 if part.height > 1 else 0.0
        even[family] = float(
            np.mean(CAPACITY * (part["nodes"] - 1).to_numpy() / part["link_betweenness_max"].to_numpy())
        )
    for family in ("scale-free", "random"):
        low = mean[family] - 2 * error[family]
        yield holds_if(
            f"tolerant.{family}", f"{family.capitalize()} networks tolerate more than regular lattices and trees", ZHAO,
            f"λc {mean[family]:.0f} ± {error[family]:.0f}, lattice {mean['lattice']:.0f}, tree {mean['tree']:.0f}",
            low > max(mean["lattice"], mean["tree"]),
            "Links of equal capacity, so that a node's is proportional to its degree, as in their first model; about "
            "64 nodes, packets/s from each, ± the standard error over graphs of the family, two of which tell means "
            f"apart. With equal paths sharing it would be {even[family]:.0f}, {even['lattice']:.0f} and "
            f"{even['tree']:.0f}: where each pair has one path, it is often one hub's link that is on all of them.",
        )  # fmt: skip


def _exponent(ranked: pl.DataFrame, name: str) -> float:
    return float(ranked.filter(pl.col("invariant") == name)["its exponent"].to_list()[0])


def section(found: pl.DataFrame) -> Section:
    """Structure."""
    ranked = correlations(found)
    finding = (
        f"Over {found.height} graphs λc is C (n − 1) / B of the busiest link as routed; every other number of a graph "
        "says less, and no global one (clustering, spectral gap, mean degree) comes near."
    )
    text = (
        "Graphs of 62 to 65 nodes, most with four links at a node. Each invariant is measured on the graph; *as "
        "routed* is counted along the paths that the engine takes. The spectral gap and the mean path length say how "
        "far a network is from falling apart, or from end to end, not how unevenly its traffic is spread, and one "
        "link is enough."
    )
    over = (("betweenness", "as routed"), ("link_betweenness_max", "equal paths sharing"))
    panels = [
        charts.points(
            found.select("graph", "family", name, "critical", "theory"), name, "critical", by="family",
            curves=_law(found, name), curve="law", x_scale="log", y_scale="log", height=320, x_domain=(50, 1200),
            y_domain=(50, 1200), title=words,
            x_title="largest betweenness of a link (pairs)", y_title="λc (packets/s from each node)",
        )
        for name, words in over
    ]  # fmt: skip
    formats: dict[str, Any] = {
        "rank correlation with λc": "+.2f", "R² of a power law": ".3f", "its exponent": "+.2f",
    }  # fmt: skip
    return Section(
        "What of a graph sets the critical load",
        finding,
        [
            Text(text),
            *(Chart(panel, "Line: C (n − 1) / B." if place == 0 else "") for place, panel in enumerate(panels)),
            Table(ranked, "Graphs without any clustering are left out of its power law.", formats),
            Table(_shown(found), "The graphs.", _SHOWN_FORMATS),
        ],
    )


def _law(found: pl.DataFrame, name: str) -> pl.DataFrame:
    ends = np.geomspace(float(found[name].to_numpy().min()), float(found[name].to_numpy().max()), 20)
    return pl.DataFrame({name: ends, "critical": CAPACITY * 63 / ends, "law": "C (n − 1) / B, n = 64"})


_SHOWN_FORMATS: Final[dict[str, Any]] = {
    "λc": ".1f", "C (n − 1) / B": ".1f", "mean degree": ".2f", "⟨k²⟩ / ⟨k⟩²": ".2f", "clustering": ".2f",
    "mean path": ".2f", "spectral gap": ".3f", "B as routed": ".0f", "B even": ".0f",
}  # fmt: skip


def _shown(found: pl.DataFrame) -> pl.DataFrame:
    return found.select(
        "graph", pl.col("critical").alias("λc"), pl.col("theory").alias("C (n − 1) / B"),
        pl.col("betweenness").alias("B as routed"), pl.col("link_betweenness_max").alias("B even"),
        pl.col("degree_mean").alias("mean degree"), pl.col("degree_ratio").alias("⟨k²⟩ / ⟨k⟩²"), "clustering",
        pl.col("path_length_mean").alias("mean path"), pl.col("spectral_gap").alias("spectral gap"),
    )  # fmt: skip
