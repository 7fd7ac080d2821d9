"""The charts, tables and figures of the report, whose text is ``report.md``."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.networks import scaling
from tightlink.analysis.networks.backlog import master
from tightlink.experiment.claims import Claim
from tightlink.numbers import grouped
from tightlink.report import Format, Table, charts
from tightlink.studies.claims_table import failed
from tightlink.studies.expressions import Names
from tightlink.studies.network_congestion.observe import networks
from tightlink.studies.network_congestion.observe.load import BELOW, Limited, Measured
from tightlink.studies.network_congestion.observe.rounding import SHOWN, Rounding
from tightlink.studies.network_congestion.setup import cases, growth
from tightlink.studies.network_congestion.setup.network import CAPACITY, Case
from tightlink.studies.report_text import page
from tightlink.studies.study import Report

#: Graphs in the figures: as many as can be told apart.
_DRAWN: Final = ("one link", "ring", "lattice", "random", "scale-free")
#: All graphs of the report: each has one colour in all of its figures.
_ALL: Final = (
    *_DRAWN, "torus", "tree", "small world", "random regular", "autonomous systems", "Abilene",
)  # fmt: skip
_LOAD: Final = "load / λc of the theory"
_ORDER: Final = "order parameter η"
_CRITICAL: Final = "λc (packets/s from each node)"


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The report's text, tables and charts."""
    best = observed["growth"].filter(pl.col("rule").is_in(list(growth.RULES))).sort("gain").row(-1, named=True)
    names = {
        "failed": failed(claims, "document", "theory"),
        "own": failed(claims, "ours"),
        "width_exponents": observed["size.width_exponents"],
        "far": 100 * max(abs(one.onset.critical.value - 1) for one in observed["graphs"].values()),
        "widths": ", ".join(f"{one.width.value:.2f}" for one in observed["rounding"].in_time.values()),
        "longer": claims["limits.bits-queues"].observed,
        "gained": observed["balanced"].sort("gain").row(-1, named=True),
        "best": growth.RULES[best["rule"]],
        "best_gain": best["gain"],
    }
    blocks = (
        _of_graphs(observed["graphs"].values())
        | _of_rounding(observed["rounding"])
        | _of_fluctuations(observed["graphs"].values(), observed["limited"])
        | _of_packet_sizes(observed["sizes"])
        | _of_networks(observed)
    )
    in_time = zip(observed["rounding"].in_time, blocks["scaled"], strict=True)
    figures = {
        "order": blocks["order"],
        "critical-load-over-betweenness": [blocks["as-routed"], blocks["equal-paths"]],
        "fluctuations-limited-queues": blocks["limited"],
        **{f"scaling-in-time-{case.graph.name}": chart for case, chart in in_time},
    }
    return page(Path(__file__).with_suffix(".md"), Names(names, observed), blocks, figures=figures)


def _written(found: Estimate) -> str:
    value, low, high = (grouped(f"{each:.1f}") for each in (found.value, found.low, found.high))
    return f"{value} ({low} to {high})"


def _of_graphs(found: Collection[Measured]) -> dict[str, Any]:
    """The order parameter over the load, and the critical load of each graph."""
    points, lines = _curves(found)
    rows = []
    for one in found:
        critical, at = one.case.critical, one.mean.row(by_predicate=pl.col("load") == 1.5, named=True)
        graph, rise = one.case.graph, _written(one.rise.times(critical.load))
        even = CAPACITY * (graph.nodes - 1) / graph.invariants.link_betweenness_max
        named, order = f"{graph.family}, {graph.nodes} nodes", (at["order"], at["fluid"])
        rows.append((named, critical.load, _written(one.critical), rise, critical.links, *order, even))
    drawn = charts.points(
        points, "load", "order", by="graph", among=_ALL, curves=lines, curve="model", x_title=_LOAD, y_title=_ORDER,
        height=380, x_domain=(0.7, 2.02),
    )  # fmt: skip
    return {"order": drawn, "critical": rows}


def _curves(found: Collection[Measured]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Points and the fluid model's curves of some graphs, over loads in critical ones."""
    drawn = [one for one in found if one.case.graph.family in _DRAWN]
    points = pl.concat(one.mean.select("load", "order", "error", graph=pl.lit(one.case.graph.family)) for one in drawn)
    dense = np.unique(np.concatenate([np.linspace(0.7, 1.0, 4), np.linspace(1.0, 2.0, 26)]))
    lines = []
    for one in drawn:
        values = [one.case.routes.piled_up(one.case.capacity, load * one.case.critical.load) for load in dense]
        lines.append(pl.DataFrame({"load": dense, "order": values, "model": one.case.graph.family}))
    return points, pl.concat(lines)


def _of_rounding(found: Rounding) -> dict[str, Any]:
    """What rounds the onset: time on one curve, sizes, and the width by size."""
    table = found.in_size
    theory = table.select("nodes", "family", critical=pl.col("theory"))
    return {
        "scaled": [_scaled(case, found) for case in found.in_time],
        "sizes": charts.points(
            table.select("family", "nodes", "critical"), "nodes", "critical", by="family", among=_ALL, curves=theory,
            curve="family", x_scale="log", y_scale="log", x_title="nodes", y_title=_CRITICAL, height=300,
        ),
    }  # fmt: skip


def _scaled(case: Case, found: Rounding) -> Any:
    z = np.linspace(*SHOWN, 65)
    curve = pl.DataFrame({"z": z, "g": master(z), "theory": ["G"] * len(z)})
    return charts.points(
        found.master_curve(case), "z", "g", by="time", curves=curve, curve="theory", height=240,
        title=case.graph.family.capitalize(), x_title="(λ / λc − 1) √t", y_title="η (λ / λc) √t / slope",
    )  # fmt: skip


def _of_fluctuations(found: Collection[Measured], limited: Limited) -> dict[str, Any]:
    """The susceptibility over the load, and the queue of one link by its limit."""
    parts = []
    for one in found:
        near = one.susceptibility.filter((pl.col("load") >= 1) & (pl.col("load") <= 1.1))
        level = float(np.median(near["susceptibility"].to_numpy()))
        graph = pl.lit(one.case.graph.family)
        parts.append(one.susceptibility.with_columns(susceptibility=pl.col("susceptibility") / level, graph=graph))
    table = limited.wandering.with_columns(limit=pl.format("{} packets", pl.col("size").cast(pl.Int64)))
    scaled = scaling.scaled(table, 1.0, limited.collapsed.height.value, limited.collapsed.width.value)
    return {
        "susceptibility": charts.points(
            pl.concat(parts).filter(pl.col("load") <= 1.2), "load", "susceptibility", by="graph", among=_ALL,
            x_title=_LOAD, y_title="χ / its level above λc", height=300, y_domain=(-0.1, 2.0),
        ),
        "limited": [
            charts.line(
                table, "x", "y", by="limit", title="As it is", x_title="load / λc", height=220,
                y_title="σ of the queue / limit",
            ),
            charts.line(
                scaled.filter(pl.col("scaled_x").abs() <= 6), "scaled_x", "scaled_y", by="limit", title="Scaled",
                x_title="(load / λc − 1) K^b", y_title="σ of the queue × K^(a − 1)", height=220,
            ),
        ],
    }  # fmt: skip


def _of_packet_sizes(found: Mapping[str, Measured]) -> dict[str, Any]:
    """Critical loads and queues by limit and sizes."""
    waiting = f"waiting at {BELOW:g} λc"
    units = {"packets": "packets/s", "bits": "bit/s"}
    kinds = {"mixed": "40, 576, 1500 B", "alike": f"{cases.ALIKE.mean:.0f} B"}
    rows = []
    for name, one in found.items():
        unit, _, kind = name.partition("-")
        rows.append((units[unit], kinds[kind], one.case.critical.load, _written(one.critical), one.waiting(BELOW)))
    heads: dict[str, Format] = {
        "links limited in": "", "packets": "", "λc theory": ".1f", "λc found": "", waiting: ".1f",
    }  # fmt: skip
    points = pl.concat(
        one.mean.select("load", "order", "error", links=pl.lit(name.replace("-", ", "))) for name, one in found.items()
    )
    fluid = found["packets-alike"].mean.select("load", order="fluid", model=pl.lit("fluid model"))
    order = charts.points(
        points, "load", "order", by="links", curves=fluid, curve="model", height=260, x_title=_LOAD, y_title=_ORDER
    )
    return {"packet-sizes": Table.of(heads, rows), "order-by-size": order}


def _of_networks(observed: Mapping[str, Any]) -> dict[str, Any]:
    """Invariants, capacity by betweenness, and growth."""
    found = observed["invariants"]
    words = {networks.BEFORE: "before"} | growth.RULES
    grown = observed["grown"].group_by("rule", maintain_order=True)
    grown = grown.agg(pl.col(pl.Float64).mean())
    return {
        "as-routed": _over(found, "betweenness", "as routed"),
        "equal-paths": _over(found, "link_betweenness_max", "equal paths sharing"),
        "growth-steps": charts.line(
            networks.steps(), "step", "gain", by="rule", title="Critical load as networks grow",
            x_title="wires added, or as much capacity", y_title="λc over λc before", height=300,
        ),
        "growth": grown.with_columns(pl.col("rule").replace_strict(words)),
    }  # fmt: skip


def _over(found: pl.DataFrame, name: str, words: str) -> Any:
    """Critical loads over a betweenness."""
    ends = np.geomspace(float(found[name].to_numpy().min()), float(found[name].to_numpy().max()), 20)
    law = pl.DataFrame({name: ends, "critical": CAPACITY * 63 / ends, "law": "C (n − 1) / B, n = 64"})
    return charts.points(
        found.select("graph", "family", name, "critical", "theory"), name, "critical", by="family", among=_ALL,
        curves=law, curve="law", x_scale="log", y_scale="log", height=320, x_domain=(50, 1200), y_domain=(50, 1200),
        title=words, x_title="largest betweenness of a link (pairs)", y_title=_CRITICAL,
    )  # fmt: skip
