"""The critical load against what graphs are like: degree, clustering, path length, betweenness, spectral gap."""

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from tightlink.lazy import stats
from tightlink.run import Run
from tightlink.studies.network_congestion.observe.load import Measured, agreeing
from tightlink.studies.network_congestion.setup import cases, growth
from tightlink.studies.network_congestion.setup.graphs import Named
from tightlink.studies.network_congestion.setup.network import CAPACITY, Case

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


def invariants_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each graph: its invariants, and the critical load that was found."""
    return pl.DataFrame([
        {"graph": case.graph.name, "family": case.graph.family} | _critical(case, runs) for case in cases.invariants()
    ])  # fmt: skip


def _critical(case: Case, runs: Mapping[str, Run]) -> dict[str, float]:
    """The critical load that was found, beside the theory, and what the graph is like."""
    found = Measured(case, runs).critical
    own = {"critical": found.value, "low": found.low, "high": found.high, "theory": case.critical.load}
    return own | {"betweenness": float(case.routes.betweenness.max())} | case.graph.invariants.row()


def correlations(found: pl.DataFrame) -> pl.DataFrame:
    """For each invariant how its order is that of λc (Spearman's ρ), and R² of a power law of it."""
    critical = np.log(found["critical"].to_numpy())
    rows = []
    for name, words in FACTORS.items():
        values = found[name].to_numpy()
        rank = float(stats.spearmanr(values, critical).statistic)
        positive = values > 0
        fit = stats.linregress(np.log(values[positive]), critical[positive])
        rows.append((words, rank, float(fit.rvalue**2), float(fit.slope), int(positive.sum())))
    return pl.DataFrame(rows, schema=["invariant", "rank", "r2", "exponent", "graphs"], orient="row")


def explained(ranked: pl.DataFrame) -> dict[str, object]:
    """What a power law of the busiest link's betweenness explains, and of the invariant that comes next."""
    shares = dict(ranked.select("invariant", "r2").iter_rows())
    best = FACTORS["betweenness"]
    others = {name: share for name, share in shares.items() if name != best}
    second = max(others, key=lambda name: others[name])
    return {
        "r2": shares[best],
        "exponent": ranked.row(by_predicate=pl.col("invariant") == best, named=True)["exponent"],
        "second": second,
        "r2_second": others[second],
        "r2_even": shares[FACTORS["link_betweenness_max"]],
    }


def families(found: pl.DataFrame) -> pl.DataFrame:
    """A row for each family: means over its graphs, their standard error, and what it were if equal paths shared."""
    loads, even = pl.col("critical"), CAPACITY * (pl.col("nodes") - 1) / pl.col("link_betweenness_max")
    return found.group_by(pl.col("family").str.replace_all(" ", "-"), maintain_order=True).agg(
        load_per_s=loads.mean(), error_per_s=loads.std().fill_null(0.0) / pl.len().sqrt(), even_per_s=even.mean()
    )


def tolerant(found: pl.DataFrame) -> dict[str, str]:
    """Why it is not told whether a family congests later than lattices and trees, by name; empty where it is."""
    of = {row["family"]: row for row in found.iter_rows(named=True)}
    each = {}
    for family in ("scale-free", "random"):
        load, error = of[family]["load_per_s"], of[family]["error_per_s"]
        most = max(of[other]["load_per_s"] for other in ("lattice", "tree") if other in of)
        why = (
            f"Two standard errors tell means apart: λc is {load:.0f} ± {error:.0f} packets/s over graphs of the "
            f"family, and {most:.0f} on lattices. With equal paths sharing it would be {of[family]['even_per_s']:.0f} "
            f"and {of['lattice']['even_per_s']:.0f}."
        )
        each[f"tolerant.{family}.open"] = why if abs(load - most) <= 2 * error else ""
    return each


# Capacity where it is needed: as much in all, shared by what links have to carry.


def balanced_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each graph."""
    rows = []
    for case in cases.balanced():
        one, routes, others = Measured(case, runs), case.routes, case.graph.nodes - 1
        found, equal = one.critical.value, routes.critical(CAPACITY).load
        order = float(one.mean.filter(pl.col("load") == 1.1)["order"].to_list()[0])
        graph, normalised = f"{case.graph.family}, {others + 1} nodes", found * routes.hops.sum() / others
        rows.append((graph, equal, found, case.critical.load, found / equal, order, normalised / case.capacity.sum()))
    names = ["graph", "equal", "critical", "theory", "gain", "order", "normalised"]
    return pl.DataFrame(rows, schema=names, orient="row")


# What becomes of critical load and invariants as networks grow under load.

#: The rule of graphs before anything grows.
BEFORE = "before"


def growth_table() -> pl.DataFrame:
    """A row for each graph and rule: its critical load by the theory, its gain, and what the graph is like.

    Means over the draws of rules that draw.
    """
    rows = []
    for start in growth.starts():
        rows.append(_row(start, BEFORE, growth.before(start)))
        rows += [_row(start, rule, one.case) for rule in growth.RULES for one in growth.drawn(start, rule)]
    means = pl.DataFrame(rows).group_by("graph", "family", "rule", maintain_order=True).mean()
    return means.with_columns(gain=pl.col("critical") / pl.col("critical").first().over("graph"))


def _row(start: Named, rule: str, case: Case) -> dict[str, float | str]:
    # With as much capacity in all, shared as links carry.
    even = case.capacity.sum() * (case.graph.nodes - 1) / case.routes.hops.sum()
    critical = case.critical.load
    found: dict[str, float | str] = {"graph": start.name, "family": start.slug, "rule": rule, "critical": critical}
    own = {"of_even": critical / even, "betweenness": float(case.routes.betweenness.max())}
    return found | own | case.graph.invariants.row()


def simulated(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each network that was simulated: where packets begin to pile up, beside the theory."""
    return agreeing(pl.DataFrame([{"network": case.graph.name} | _critical(case, runs) for case in growth.networks()]))


def steps() -> pl.DataFrame:
    """λc by the theory after each step, over what it was before the first: a row for each rule and step."""
    rows = []
    for rule in growth.RULES:
        each = np.array([one.critical for start in growth.starts() for one in growth.drawn(start, rule)])
        gains = (each / each[:, :1]).mean(axis=0)
        rows += [{"rule": growth.RULES[rule], "step": step, "gain": gain} for step, gain in enumerate(gains.tolist())]
    return pl.DataFrame(rows)


def growth_values(found: pl.DataFrame, measured: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: growth.… of all rules, growth.RULE.… of one."""
    wired = measured.filter(~pl.col("network").str.contains("-(?:wider|moved)$"))
    falls = [
        np.diff(one.critical) < 0
        for start in growth.starts()
        for rule in growth.WIRES
        for one in growth.drawn(start, rule)
    ]
    return {
        "growth": by_rule(found),
        "growth.graphs": len(growth.starts()),
        "growth.wired": wired.height,
        **{f"growth.{name}": value for name, value in explained(correlations(wired)).items()},
        "growth.falls": int(np.sum(falls)),
        "growth.added": int(np.size(falls)),
    }


def by_rule(found: pl.DataFrame) -> pl.DataFrame:
    """A row for each rule: means over the graphs, and on how many of them it does better than others."""

    def under(rule: str, name: str) -> pl.Expr:
        return pl.col(name).filter(pl.col("rule") == rule).first().over("graph")

    beside = found.with_columns(
        better=pl.col("gain") > under("anywhere", "gain"),
        apart=pl.col("gain") - under("anywhere", "gain"),
        better_than_wires=pl.col("gain") > under("congested", "gain"),
        more_uneven=pl.col("degree_ratio") > under(BEFORE, "degree_ratio"),
        ratio=pl.col("degree_ratio") / under(BEFORE, "degree_ratio"),
        path=pl.col("path_length_mean") / under(BEFORE, "path_length_mean"),
    )
    return beside.group_by("rule", maintain_order=True).agg(
        pl.col("better", "better_than_wires", "more_uneven").sum(),
        pl.col("gain", "of_even").min().name.suffix("_least"),
        pl.col("gain", "ratio", "path", "of_even", "apart").mean(),
        apart_error=pl.col("apart").std() / pl.len().sqrt(),
        **{
            f"gain_{family}": pl.col("gain").filter(pl.col("family") == family).mean()
            for family in found["family"].unique(maintain_order=True)
        },
    )
