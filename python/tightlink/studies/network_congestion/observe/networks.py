"""The critical load against what graphs are like: degree, clustering, path length, betweenness, spectral gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from tightlink.lazy import stats
from tightlink.run import Run
from tightlink.studies.network_congestion.observe.load import Measured
from tightlink.studies.network_congestion.setup import cases
from tightlink.studies.network_congestion.setup.graphs import Named
from tightlink.studies.network_congestion.setup.network import CAPACITY, Case

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


def invariants_table(runs: Mapping[str, Run]) -> pl.DataFrame:
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


def invariants_values(found: pl.DataFrame, ranked: pl.DataFrame) -> dict[str, object]:
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


# Capacity where it is needed: as much in all, shared by what links have to carry.


def balanced_table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each graph."""
    rows = []
    for case in cases.balanced():
        one = Measured(case, runs)
        equal = case.routes.critical(CAPACITY).load
        rows.append(
            {
                "graph": f"{case.graph.family}, {case.graph.nodes} nodes",
                "equal capacities": equal,
                "by betweenness": one.critical[0],
                "theory": case.critical.load,
                "gain": one.critical[0] / equal,
                "η at 1.1 λc": float(one.mean.filter(pl.col("load") == 1.1)["order"].to_list()[0]),
                "normalised": one.critical[0] * case.routes.hops.sum() / (case.graph.nodes - 1) / case.capacity.sum(),
            }
        )
    return pl.DataFrame(rows)


# What becomes of critical load and invariants as networks grow under load.

#: The rule of graphs before anything grows.
BEFORE = "before"


def growth_table() -> pl.DataFrame:
    """A row for each graph and rule: its critical load by the theory, its gain, and what the graph is like."""
    rows = []
    for start in cases.starts():
        rows.append(_row(start, BEFORE, cases.before(start)))
        rows += [_row(start, rule, cases.grown(start, rule).case) for rule in cases.RULES]
    return pl.DataFrame(rows).with_columns(gain=pl.col("critical") / pl.col("critical").first().over("graph"))


def _row(start: Named, rule: str, case: Case) -> dict[str, float | str]:
    # With as much capacity in all, shared as links carry.
    even = case.capacity.sum() * (case.graph.nodes - 1) / case.routes.hops.sum()
    critical = case.critical.load
    found: dict[str, float | str] = {"graph": start.name, "family": start.slug, "rule": rule, "critical": critical}
    own = {"of_even": critical / even, "betweenness": float(case.routes.betweenness.max())}
    return found | own | case.graph.invariants.row()


def simulated(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each network that was simulated: where packets begin to pile up, beside the theory."""
    rows = []
    for case in cases.networks():
        value, low, high = Measured(case, runs).critical
        rows.append(
            {"network": case.graph.name, "critical": value, "low": low, "high": high, "theory": case.critical.load,
             "betweenness": float(case.routes.betweenness.max())} | case.graph.invariants.row()
        )  # fmt: skip
    return pl.DataFrame(rows)


def steps() -> pl.DataFrame:
    """λc by the theory after each step, over what it was before the first: a row for each rule and step."""
    rows = []
    for rule in cases.RULES:
        each = np.array([cases.grown(start, rule).critical for start in cases.starts()])
        gains = (each / each[:, :1]).mean(axis=0)
        rows += [{"rule": cases.RULES[rule], "step": step, "gain": gain} for step, gain in enumerate(gains.tolist())]
    return pl.DataFrame(rows)


def growth_values(found: pl.DataFrame, measured: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: growth.… of all rules, growth.RULE.… of one."""
    apart = (measured["critical"] / measured["theory"] - 1).to_numpy()
    off = np.abs(apart)
    width = ((measured["high"] - measured["low"]) / 2 / measured["theory"]).to_numpy()
    equal = ~pl.col("network").str.ends_with("-wider") & ~pl.col("network").str.ends_with("-moved")
    wired = measured.filter(equal)
    told = explained(correlations(wired))
    each: dict[str, object] = {
        "growth.networks": measured.height,
        "growth.farthest": measured["network"][int(off.argmax())],
        "growth.graphs": len(cases.starts()),
        "growth.off": float(off.max()),
        "growth.off_mean": float(apart.mean()),
        "growth.held": measured.filter(pl.col("theory").is_between(pl.col("low"), pl.col("high"))).height,
        "growth.farthest_low": float((measured["low"] / measured["theory"]).to_list()[int(off.argmax())]),
        "growth.farthest_high": float((measured["high"] / measured["theory"]).to_list()[int(off.argmax())]),
        "growth.widest": float(width.max()),
        "growth.steps": cases.STEPS,
        "growth.wired": wired.height,
        **{f"growth.{name}": value for name, value in told.items()},
    }
    names = {"gain": "gain", "degree_ratio": "ratio", "path_length_mean": "path", "of_even": "of_even"}
    by_rule = {
        rule: found.filter(pl.col("rule") == rule).select("graph", "family", **{new: old for old, new in names.items()})
        for rule in (BEFORE, *cases.RULES)
    }
    for rule in cases.RULES:
        own = by_rule[rule].join(by_rule[BEFORE], on="graph", suffix="_before", maintain_order="left")
        own = own.join(by_rule["anywhere"], on="graph", suffix="_anywhere", maintain_order="left")
        each |= {
            f"growth.{rule}.gain": _mean(own["gain"]),
            **{
                f"growth.{rule}.gain_{family}": _mean(own.filter(pl.col("family") == family)["gain"])
                for family in own["family"].unique(maintain_order=True)
            },
            f"growth.{rule}.gain_least": float(own["gain"].to_numpy().min()),
            f"growth.{rule}.better": int((own["gain"] > own["gain_anywhere"]).sum()),
            f"growth.{rule}.more_uneven": int((own["ratio"] > own["ratio_before"]).sum()),
            f"growth.{rule}.ratio": _mean(own["ratio"] / own["ratio_before"]),
            f"growth.{rule}.path": _mean(own["path"] / own["path_before"]),
            f"growth.{rule}.of_even": _mean(own["of_even"]),
            f"growth.{rule}.of_even_least": float(own["of_even"].to_numpy().min()),
        }
    wider, past = (by_rule[rule]["gain"].to_numpy() for rule in ("wider", "congested"))
    each["growth.wider.better_than_wires"] = int((wider > past).sum())
    falls = [np.diff(cases.grown(start, rule).critical) < 0 for start in cases.starts() for rule in cases.WIRES]
    return each | {"growth.falls": int(np.sum(falls)), "growth.added": int(np.size(falls))}


def _mean(column: pl.Series) -> float:
    return float(column.to_numpy().mean())
