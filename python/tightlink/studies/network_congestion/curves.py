"""The order parameter over the load on graphs of eight families and on one link, beside theory."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.network_congestion import graphs
from tightlink.studies.network_congestion.document import ARENAS, FLUID, INTRODUCTION, THEORY
from tightlink.studies.network_congestion.measured import Measured, misfit
from tightlink.studies.network_congestion.network import CAPACITY, DURATION_S, FILLED_S, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

#: Near the critical load in steps that are the resolution of what is found there.
STEP: Final = 0.02
LOADS: Final = (0.7, 0.85, 0.92, 0.96, 0.98, 1.0, 1.02, 1.04, 1.06, 1.08, 1.1, 1.2, 1.5, 2.0)
_SEEDS: Final = 2
#: Free flow, in which links carry what they are offered.
_FREE: Final = 0.85
_PERCENT: Final = 100


@cache
def cases() -> tuple[Case, ...]:
    """One link, a graph of each family, of 63 to 65 nodes, and the backbone of Abilene."""
    chosen = (
        graphs.one_link(), graphs.ring(65), graphs.lattice(8), graphs.torus(8), graphs.tree(5), graphs.small_world(64),
        graphs.random(64), graphs.scale_free(64), graphs.autonomous_systems(64), graphs.abilene(),
    )  # fmt: skip
    return tuple(Case(f"curves/{graph.name}", graph, LOADS, _SEEDS) for graph in chosen)


def read(runs: Mapping[str, Run]) -> list[Measured]:
    """What came out, in the order of the cases."""
    return [Measured(case, runs) for case in cases()]


def noise() -> float:
    """Standard error of the order parameter of one link beyond its critical load: of a Poisson count over its mean."""
    return float(1 / np.sqrt(CAPACITY * (DURATION_S - FILLED_S)))


def claims(found: list[Measured]) -> Iterator[Claim]:
    """What the theory says of each graph, and the literature of all."""
    for one in found:
        yield _critical(one)
    yield from _fluid(found)
    yield from _kind(found)
    yield _routing(found)


def _critical(one: Measured) -> Claim:
    graph = one.case.graph
    value, low, high = one.critical
    theory = one.case.critical
    equal = "" if theory.links == 1 else f", with {theory.links - 1} others,"
    return within(
        f"critical.{_slug(one)}", f"{graph.family.capitalize()}, {graph.nodes} nodes: packets pile up from λc on",
        THEORY, theory.load, value, tolerance=max(STEP * theory.load, value - low, high - value), unit="packets/s",
        reason=f"Found between {low:.4g} and {high:.4g}; {theory.link}{equal} is full first. Tolerance: that interval, "
        "or the distance of the loads near λc where it is narrower.",
    )  # fmt: skip


def _fluid(found: list[Measured]) -> Iterator[Claim]:
    worst = max(found, key=lambda one: misfit(one.mean))
    yield within(
        "fluid.order", "The order parameter is that of the fluid model, at all loads up to 2 λc", FLUID, 0.0,
        misfit(worst.mean), tolerance=3 * noise(),
        reason=f"Largest distance, on {worst.case.graph.name}. The model has no number that is fitted; tolerance: "
        "three standard errors of one link's order parameter.",
    )  # fmt: skip


def _kind(found: list[Measured]) -> Iterator[Claim]:
    inside = sum(bool((one.mean.filter(pl.col("load") <= 0.96)["order"].abs() < 3 * noise()).all()) for one in found)
    beyond = sum(bool((one.each.filter(pl.col("load") >= 1.2)["order"] > 0).all()) for one in found)
    yield holds_if(
        "kind.critical", "A critical packet flow separates free flow from congested traffic on networks", INTRODUCTION,
        f"{min(inside, beyond)} of {len(found)} graphs", inside == beyond == len(found),
        "Nothing piles up at 0.96 λc and below, something in every run at 1.2 λc and above.",
    )  # fmt: skip
    jump = max(float(one.mean.filter(pl.col("load") == 1 + STEP)["order"].to_list()[0]) for one in found)
    steepest = max(one.case.onset_slope for one in found)
    yield holds_if(
        "kind.continuous", "The order parameter leaves zero without a jump", ARENAS,
        f"at most {jump:.3f} at {1 + STEP:g} λc", jump < steepest * STEP + 3 * noise(),
        f"The fluid model's steepest, {steepest:.2f} × {STEP:g}, and three standard errors above it at most: no jump, "
        "and no hysteresis to look for.",
    )  # fmt: skip
    hits = [one for one in found if _busiest(one)]
    yield holds_if(
        "kind.busiest", "The link of the largest betweenness is the one that fills", THEORY,
        f"on {len(hits)} of {len(found)} graphs", len(hits) == len(found),
        f"Most utilized at {_FREE:g} λc, or within two standard errors of it where several are nearly as busy.",
    )  # fmt: skip


def _busiest(one: Measured) -> bool:
    carried = _carried(one, _FREE)
    packets = carried["packets_in"].to_numpy().astype(float)
    expected = one.case.routes.betweenness / one.case.capacity
    full = packets[int(np.argmax(expected))]
    return bool(full + 2 * np.sqrt(full) >= packets.max() - 2 * np.sqrt(packets.max()))


def _carried(one: Measured, load: float) -> pl.DataFrame:
    order = pl.DataFrame({"link": one.case.routes.links})
    total = one.carried(load).group_by("link").agg(pl.col("packets_in").sum())
    return order.join(total, on="link", how="left", maintain_order="left")


def _routing(found: list[Measured]) -> Claim:
    squares, links, loads = 0.0, 0, [load for load in LOADS if load < 0.95]
    for one in found:
        case = one.case
        for load in loads:
            expected = case.routes.offered(case.load(load)) * case.duration_s * case.seeds
            used = expected > 0
            packets = _carried(one, load)["packets_in"].to_numpy().astype(float)
            squares += float(((packets[used] - expected[used]) ** 2 / expected[used]).sum())
            links += int(used.sum())
    return within(
        "routing.betweenness", "In free flow each link carries its betweenness, to the noise of counting", THEORY, 1.0,
        squares / links, tolerance=4 * float(np.sqrt(2 * len(loads) / links)),
        reason=f"Mean of (packets − expected)² / expected, 1 for Poisson counts, over {links // len(loads)} links at "
        f"{len(loads)} loads. Tolerance: four standard errors at one load, as links of a path count the same packets. "
        "So the betweenness is that of the paths that the engine takes.",
    )  # fmt: skip


def table(found: list[Measured]) -> pl.DataFrame:
    """A row for each graph, for the report."""
    rows = []
    for one in found:
        value, low, high = one.critical
        even = CAPACITY * (one.case.graph.nodes - 1) / one.case.graph.invariants.link_betweenness_max
        rows.append(
            {
                "graph": f"{one.case.graph.family}, {one.case.graph.nodes} nodes",
                "λc theory": one.case.critical.load,
                "λc found": f"{value:.1f} ({low:.1f} to {high:.1f})",
                "from fluctuations": f"{one.rise.times(one.case.critical.load):.1f}",
                "full at once": one.case.critical.links,
                "η at 1.5 λc": float(one.mean.filter(pl.col("load") == 1.5)["order"].to_list()[0]),
                "fluid model": float(one.mean.filter(pl.col("load") == 1.5)["fluid"].to_list()[0]),
                "λc, equal paths sharing": even,
            }
        )
    return pl.DataFrame(rows)


_FORMATS: Final[dict[str, Any]] = {
    "λc theory": ".1f", "η at 1.5 λc": ".3f", "fluid model": ".3f",
    "λc, equal paths sharing": ".1f",
}  # fmt: skip


#: Graphs in the figures: as many as can be told apart.
SHOWN: Final = ("one link", "ring", "lattice", "random", "scale-free")


def curves(found: list[Measured]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Points and the fluid model's curves of some graphs, over loads in critical ones."""
    found = [one for one in found if one.case.graph.family in SHOWN]
    points = pl.concat(one.mean.select("load", "order", "error", graph=pl.lit(one.case.graph.family)) for one in found)
    dense = np.unique(np.concatenate([np.linspace(0.7, 1.0, 4), np.linspace(1.0, 2.0, 26)]))
    lines = []
    for one in found:
        values = [one.case.routes.piled_up(one.case.capacity, load * one.case.critical.load) for load in dense]
        lines.append(pl.DataFrame({"load": dense, "order": values, "model": one.case.graph.family}))
    return points, pl.concat(lines)


def section(found: list[Measured]) -> Section:
    """The order parameter."""
    points, lines = curves(found)
    far = max(abs(one.onset.critical.value - 1) for one in found)
    finding = (
        f"On all {len(found)} graphs packets pile up from the load on at which the busiest link is full, within "
        f"{_PERCENT * far:.1f} %; how many, is given by the paths and the capacities alone."
    )
    text = (
        "Every node sends packets at random times, λ a second in the mean, each to any other node. Every direction of "
        "every wire serves 1000 packets/s; queues are unlimited, so nothing is lost: what does not arrive piles up. "
        "The **order parameter** η is the share that does.\n\n"
        "A link through which B of the n (n − 1) paths lead is offered λ B / (n − 1), so the first is full at **λc = "
        "C (n − 1) / B** of the busiest. Beyond it the *fluid model* says how much piles up: a full link passes all "
        "that wants through in the same proportion, and what comes after it gets less. Nothing is fitted.\n\n"
        "Paths are the ones that the engine takes, one for each pair. Where equally short paths would share evenly, as "
        "betweenness is usually counted, λc would be that of the last column: on a torus, all of whose links could "
        "carry the same, one fixed choice among equals costs most of it."
    )
    return Section(
        "Where packets pile up",
        finding,
        [
            Text(text),
            Chart(
                charts.points(
                    points, "load", "order", by="graph", curves=lines, curve="model", x_title="load / λc of the theory",
                    y_title="order parameter η", height=380, x_domain=(0.7, 2.02),
                ),
                "Points: simulated, on five of the graphs. Lines: the fluid model.",
            ),
            Table(table(found), "λc in packets/s from each node.", _FORMATS),
        ],
    )  # fmt: skip


def _slug(one: Measured) -> str:
    return one.case.graph.family.lower().replace(" ", "-")
