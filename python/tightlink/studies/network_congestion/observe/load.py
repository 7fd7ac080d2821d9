"""What came out of the runs of a case: order parameter and susceptibility at each load, and where it begins."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.networks import scaling, transition
from tightlink.analysis.networks.scaling import Collapse
from tightlink.analysis.networks.transition import Onset
from tightlink.run import Run
from tightlink.studies.network_congestion.setup import cases
from tightlink.studies.network_congestion.setup.cases import LIMITS, LOADS, STEP
from tightlink.studies.network_congestion.setup.network import CAPACITY, DURATION_S, FILLED_S, SAMPLE_S, Case

#: For intervals of critical loads, of which the study has many.
_RESAMPLES: Final = 299


@dataclass(frozen=True)
class Measured:
    """A case with its runs."""

    case: Case
    runs: Mapping[str, Run]

    def tables(self, relative: float) -> list[pl.DataFrame]:
        """The tables ``scatter`` of a load."""
        return [self.runs[key].table("scatter") for key in self.case.keys(relative)]

    def carried(self, relative: float) -> pl.DataFrame:
        """The tables ``links`` of a load, one below the other."""
        return pl.concat(self.runs[key].links for key in self.case.keys(relative))

    @cached_property
    def each(self) -> pl.DataFrame:
        """A row for each run: ``load`` (in critical ones of the theory), ``order``, ``error``, ``lost``."""
        rows = []
        for load in self.case.loads:
            for table in self.tables(load):
                found = transition.growth(table, FILLED_S)
                rows.append({"load": load, "order": found.order, "error": found.error, "lost": found.lost})
        return pl.DataFrame(rows)

    @cached_property
    def mean(self) -> pl.DataFrame:
        """A row for each load, with what the fluid model says, ``fluid``."""
        grouped = self.each.group_by("load", maintain_order=True).agg(
            pl.col("order", "lost").mean(), (pl.col("error").pow(2).sum().sqrt() / pl.len()).alias("error")
        )
        fluid = [self.case.routes.piled_up(self.case.capacity, self.case.load(load)) for load in grouped["load"]]
        return grouped.with_columns(fluid=pl.Series(fluid))

    @cached_property
    def susceptibility(self) -> pl.DataFrame:
        """A row for each load: ``load``, ``susceptibility`` and ``error``."""
        found = [transition.susceptibility(self.tables(load), FILLED_S / 2) for load in self.case.loads]
        values, errors = [one.value for one in found], [one.error for one in found]
        return pl.DataFrame({"load": self.case.loads, "susceptibility": values, "error": errors})

    @cached_property
    def onset(self) -> Onset:
        """Where the order parameter leaves zero, in critical loads of the theory."""
        columns = (self.each[name].to_numpy() for name in ("load", "order", "error"))
        return transition.onset(*columns, resamples=_RESAMPLES)

    def waiting(self, relative: float) -> float:
        """Mean number of packets at a load beyond those on wires and in service, where nothing piles up."""
        inside = [float(table.filter(pl.col("time_s") >= FILLED_S)["packets_in_network"].to_numpy().mean())
                  for table in self.tables(relative)]  # fmt: skip
        return sum(inside) / len(inside) - self.case.moving(relative)

    @cached_property
    def rise(self) -> Estimate:
        """Where the susceptibility rises, in critical loads of the theory."""
        table, critical = self.susceptibility, self.onset.critical.value
        loads, values, errors = (table[name].to_numpy() for name in ("load", "susceptibility", "error"))
        return transition.rise(loads, values, errors, critical, resamples=_RESAMPLES)

    @cached_property
    def critical(self) -> Estimate:
        """λc from the order parameter in packets/s from each node."""
        return self.onset.critical.times(self.case.critical.load)

    @property
    def tolerance(self) -> float:
        """How far λc may be from the theory's, in packets/s."""
        return reach(self.critical, self.case.critical.load, STEP * self.case.critical.load)

    @property
    def first_full(self) -> str:
        """The link that is full first by the theory, and with how many others."""
        theory = self.case.critical
        return theory.link if theory.links == 1 else f"{theory.link}, with {theory.links - 1} others,"

    @property
    def rise_tolerance(self) -> float:
        """How far the rise may be from the critical load: by its interval, or by the rounding where that is more."""
        return reach(self.rise, 1.0, ROUNDED)


def reach(found: Estimate, expected: float, least: float) -> float:
    """How far a value may be from another: by its interval, on that side, or by the least that can be told.

    >>> round(reach(Estimate(0.96, 0.94, 1.01), 1.0, 0.02), 3), reach(Estimate(0.96, 0.94, 0.97), 1.0, 0.02)
    (0.05, 0.02)
    """
    return max(least, found.high - found.value if found.value < expected else found.value - found.low)


def agreeing(found: pl.DataFrame) -> pl.DataFrame:
    """Critical loads beside the theory's: how far ``apart``, as a share of it, and whether their intervals reach it."""
    rows = found.select("critical", "low", "high", "theory").iter_rows()
    agrees = [
        abs(value - theory) <= reach(Estimate(value, low, high), theory, STEP * theory)
        for value, low, high, theory in rows
    ]
    return found.with_columns(apart=pl.col("critical") / pl.col("theory") - 1, agrees=pl.Series(agrees))


def misfit(points: pl.DataFrame) -> float:
    """The largest distance of the order parameter from the fluid model."""
    return float(np.abs(points["order"].to_numpy() - points["fluid"].to_numpy()).max())


def row(run: Run) -> dict[str, float | str]:
    """What ``runs.parquet`` says of a run."""
    table = run.table("scatter")
    sent = float(table["packets_sent"].sum())
    delivered = table["packets_delivered"].to_numpy().astype(float)
    late = table["one_way_delay_mean_s"].fill_null(0.0).to_numpy()
    found = transition.growth(table, FILLED_S)
    return {
        "packets_per_s": sent / float(table["time_s"].to_list()[-1]),
        "order": found.order,
        "order_error": found.error,
        "loss": found.lost,
        "packets_in_network": float(table["packets_in_network"].to_list()[-1]),
        "one_way_delay_mean_s": float((late * delivered).sum() / delivered.sum()),
        "utilization": float(run.links["utilization"].to_numpy().max()),
    }


# The order parameter over the load on graphs of eight families and on one link, beside theory.

#: Free flow, in which links carry what they are offered.
_FREE: Final = 0.85


def noise() -> float:
    """Standard error of the order parameter of one link beyond its critical load: of a Poisson count over its mean."""
    return float(1 / np.sqrt(CAPACITY * (DURATION_S - FILLED_S)))


def order_parameter_values(found: Collection[Measured]) -> dict[str, object]:
    """What claims compare, by name: order.… and routing.…."""
    worst = max(found, key=lambda one: misfit(one.mean))
    free = (one.mean.filter(pl.col("load") <= 0.96)["order"].abs() < 3 * noise() for one in found)
    congested = (one.each.filter(pl.col("load") >= 1.2)["order"] > 0 for one in found)
    return {
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


def _routing(found: Collection[Measured]) -> dict[str, object]:
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


# Fluctuations: the susceptibility over the load, with unlimited queues and with short ones.

#: The longest windows, in samples, as `tightlink.analysis.networks.transition` takes them.
_LONGEST: Final = 32
#: How far a step may be rounded, and a maximum be from where it is: two of the times 1 / √(services in a window).
ROUNDED: Final = 2 / float(np.sqrt(CAPACITY * _LONGEST * SAMPLE_S))


@dataclass(frozen=True)
class Limited:
    """What came out of them."""

    runs: Mapping[str, Run]

    @cached_property
    def wandering(self) -> pl.DataFrame:
        """Standard deviation of one link's queue over its limit: ``size`` (limit), ``x``, ``y``, ``error``."""
        rows = []
        for case, limit in zip(cases.limited_queues(), LIMITS, strict=False):
            for load in case.loads:
                # Two queues, one each way, independent of each other.
                spread = [_deviation(table) / limit / 2**0.5 for table in Measured(case, self.runs).tables(load)]
                error = float(np.std(spread, ddof=1)) / len(spread) ** 0.5
                rows.append((float(limit), load, float(np.mean(spread)), error))
        return pl.DataFrame(rows, schema=["size", "x", "y", "error"], orient="row")

    @cached_property
    def collapsed(self) -> Collapse:
        """How these lie on one curve."""
        return scaling.collapse(self.wandering, 1.0)

    @cached_property
    def network(self) -> Measured:
        """The network with limited queues."""
        return Measured(cases.limited_queues()[-1], self.runs)


def _deviation(table: pl.DataFrame) -> float:
    inside = table.filter(pl.col("time_s") >= FILLED_S)["packets_in_network"].to_numpy().astype(float)
    return float(inside.std())


def fluctuations_values(found: Collection[Measured], limited: Limited) -> dict[str, object]:
    """What claims compare, by name; ``worst`` is the graph whose fluctuations rise farthest from where they should."""
    peaks = [_peak(one.susceptibility, "load", "susceptibility") for one in found]
    short = [_peak(limited.wandering.filter(pl.col("size") == limit), "x", "y") for limit in LIMITS]
    return {
        "fluctuations.worst": max(found, key=lambda one: abs(one.rise.value - 1) / one.rise_tolerance),
        "fluctuations.rounded": ROUNDED,
        "fluctuations.peaked_graphs": sum(abs(peak - 1) <= ROUNDED for peak in peaks),
        "fluctuations.limited_peak": max(short, key=lambda peak: abs(peak - 1)),
    }


def _peak(table: pl.DataFrame, load: str, height: str) -> float:
    """The load of the largest value."""
    return float(table[load].to_numpy()[int(table[height].to_numpy().argmax())])


# Links limited in bit/s or in packets/s, and packets of one size or of the Internet's three.

#: Where queues below the critical load are compared.
BELOW: Final = 0.9
