"""What becomes of critical load and invariants as networks grow under load."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from tightlink.studies.network_congestion.observe import invariants
from tightlink.studies.network_congestion.observe.measured import Measured
from tightlink.studies.network_congestion.setup import growth

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.studies.network_congestion.setup.graphs import Named
    from tightlink.studies.network_congestion.setup.network import Case

#: The rule of graphs before anything grows.
BEFORE = "before"


def table() -> pl.DataFrame:
    """A row for each graph and rule: its critical load by the theory, its gain, and what the graph is like."""
    rows = []
    for start in growth.starts():
        rows.append(_row(start, BEFORE, growth.before(start)))
        rows += [_row(start, rule, growth.grown(start, rule).case) for rule in growth.RULES]
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
    for case in growth.networks():
        value, low, high = Measured(case, runs).critical
        rows.append(
            {"network": case.graph.name, "critical": value, "low": low, "high": high, "theory": case.critical.load,
             "betweenness": float(case.routes.betweenness.max())} | case.graph.invariants.row()
        )  # fmt: skip
    return pl.DataFrame(rows)


def steps() -> pl.DataFrame:
    """λc by the theory after each step, over what it was before the first: a row for each rule and step."""
    rows = []
    for rule in growth.RULES:
        each = np.array([growth.grown(start, rule).critical for start in growth.starts()])
        gains = (each / each[:, :1]).mean(axis=0)
        rows += [{"rule": growth.RULES[rule], "step": step, "gain": gain} for step, gain in enumerate(gains.tolist())]
    return pl.DataFrame(rows)


def values(found: pl.DataFrame, measured: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: growth.… of all rules, growth.RULE.… of one."""
    apart = (measured["critical"] / measured["theory"] - 1).to_numpy()
    off = np.abs(apart)
    width = ((measured["high"] - measured["low"]) / 2 / measured["theory"]).to_numpy()
    equal = ~pl.col("network").str.ends_with("-wider") & ~pl.col("network").str.ends_with("-moved")
    wired = measured.filter(equal)
    told = invariants.explained(invariants.correlations(wired))
    each: dict[str, object] = {
        "growth.networks": measured.height,
        "growth.farthest": measured["network"][int(off.argmax())],
        "growth.graphs": len(growth.starts()),
        "growth.off": float(off.max()),
        "growth.off_mean": float(apart.mean()),
        "growth.held": measured.filter(pl.col("theory").is_between(pl.col("low"), pl.col("high"))).height,
        "growth.farthest_low": float((measured["low"] / measured["theory"]).to_list()[int(off.argmax())]),
        "growth.farthest_high": float((measured["high"] / measured["theory"]).to_list()[int(off.argmax())]),
        "growth.widest": float(width.max()),
        "growth.steps": growth.STEPS,
        "growth.wired": wired.height,
        **{f"growth.{name}": value for name, value in told.items()},
    }
    names = {"gain": "gain", "degree_ratio": "ratio", "path_length_mean": "path", "of_even": "of_even"}
    by_rule = {
        rule: found.filter(pl.col("rule") == rule).select("graph", "family", **{new: old for old, new in names.items()})
        for rule in (BEFORE, *growth.RULES)
    }
    for rule in growth.RULES:
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
    falls = [np.diff(growth.grown(start, rule).critical) < 0 for start in growth.starts() for rule in growth.WIRES]
    return each | {"growth.falls": int(np.sum(falls)), "growth.added": int(np.size(falls))}


def _mean(column: pl.Series) -> float:
    return float(column.to_numpy().mean())
