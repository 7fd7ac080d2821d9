"""The order parameter over the load on graphs of eight families and on one link, beside theory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.studies.network_congestion.observe.measured import Measured, misfit
from tightlink.studies.network_congestion.setup import cases
from tightlink.studies.network_congestion.setup.cases import LOADS, STEP
from tightlink.studies.network_congestion.setup.network import CAPACITY, DURATION_S, FILLED_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run

#: Free flow, in which links carry what they are offered.
_FREE: Final = 0.85


def read(runs: Mapping[str, Run]) -> list[Measured]:
    """What came out, in the order of the cases."""
    return [Measured(case, runs) for case in cases.order_parameter()]


def noise() -> float:
    """Standard error of the order parameter of one link beyond its critical load: of a Poisson count over its mean."""
    return float(1 / np.sqrt(CAPACITY * (DURATION_S - FILLED_S)))


def values(found: list[Measured]) -> dict[str, object]:
    """What claims compare, by name: critical.FAMILY.…, order.… and routing.…."""
    worst = max(found, key=lambda one: misfit(one.mean))
    free = (one.mean.filter(pl.col("load") <= 0.96)["order"].abs() < 3 * noise() for one in found)
    congested = (one.each.filter(pl.col("load") >= 1.2)["order"] > 0 for one in found)
    return {
        **{f"critical.{one.case.graph.slug}.{key}": value for one in found for key, value in _critical(one).items()},
        "order.graphs": len(found),
        "order.noise": noise(),
        "order.misfit": misfit(worst.mean),
        "order.misfit_graph": worst.case.graph.name,
        "order.free_graphs": sum(bool(each.all()) for each in free),
        "order.congested_graphs": sum(bool(each.all()) for each in congested),
        "order.jump": max(float(one.mean.filter(pl.col("load") == 1 + STEP)["order"].to_list()[0]) for one in found),
        "order.steepest": max(one.case.onset_slope for one in found),
        "order.busiest_graphs": sum(_busiest(one) for one in found),
        **_routing(found),
    }


def _critical(one: Measured) -> dict[str, object]:
    theory = one.case.critical
    equal = "" if theory.links == 1 else f", with {theory.links - 1} others,"
    return one.critical_values() | {"theory_per_s": theory.load, "first_full": f"{theory.link}{equal}"}


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


def _routing(found: list[Measured]) -> dict[str, object]:
    """The noise of counting, 1 for Poisson counts, with its standard error at one load."""
    squares, links, loads = 0.0, 0, [load for load in LOADS if load < 0.95]
    for one in found:
        case = one.case
        for load in loads:
            expected = case.routes.offered(case.load(load)) * case.duration_s * case.seeds
            used = expected > 0
            packets = _carried(one, load)["packets_in"].to_numpy().astype(float)
            squares += float(((packets[used] - expected[used]) ** 2 / expected[used]).sum())
            links += int(used.sum())
    return {
        "routing.noise": squares / links,
        "routing.error": float(np.sqrt(2 * len(loads) / links)),
        "routing.links": links // len(loads),
        "routing.loads": len(loads),
    }
