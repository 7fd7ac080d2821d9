"""Is it a phase transition: what rounds the onset of congestion, and what sharpens it?

Near a phase transition the size of the system rounds it: its width shrinks as n^(−1/ν). At a bifurcation nothing of
the kind happens; a queue's onset is rounded by the time that it was given, as t^(−½).
"""

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import cached_property
from typing import Final

import numpy as np
import polars as pl

from tightlink.analysis.estimates import Estimate
from tightlink.analysis.networks import scaling
from tightlink.analysis.networks.backlog import stationary_queue
from tightlink.analysis.networks.scaling import Collapse
from tightlink.lazy import stats
from tightlink.run import Run
from tightlink.studies.network_congestion.observe.load import Measured
from tightlink.studies.network_congestion.setup import cases
from tightlink.studies.network_congestion.setup.network import CAPACITY, SAMPLE_S, Case

#: Times since the start, as shares of the duration.
_TIMES: Final = (1 / 16, 1 / 4, 1.0)
_HALF: Final = 0.5
#: Ends of the scaled axis.
SHOWN: Final = (-6.0, 10.0)
#: Of a family, for an exponent; and the exponents that are tried.
_FEWEST_SIZES: Final = 3
_EXPONENTS: Final = np.linspace(-5, 5, 2001)


@dataclass(frozen=True)
class Rounding:
    """What came out of them."""

    runs: Mapping[str, Run]

    @cached_property
    def in_time(self) -> dict[Case, Collapse]:
        """The exponents in time."""
        return {case: scaling.collapse(self.piled(case), 1.0) for case in cases.in_time()}

    def piled(self, case: Case) -> pl.DataFrame:
        """Packets that piled up by some times, per packet sent: ``size`` (services of a link), ``x``, ``y``, ``error``.

        What is on its way where nothing waits, and a packet in service for each that is served, is not counted.
        """
        rows = []
        for load in case.loads:
            tables = Measured(case, self.runs).tables(load)
            for share in _TIMES:
                place = round(share * case.duration_s / SAMPLE_S)
                found = [
                    (float(table["packets_in_network"].to_list()[place - 1]) - case.moving(load))
                    / float(table["packets_sent"].head(place).sum())
                    for table in tables
                ]
                error = float(np.std(found, ddof=1)) / np.sqrt(len(found))
                rows.append((share * case.duration_s * CAPACITY, load, float(np.mean(found)), error))
        return pl.DataFrame(rows, schema=["size", "x", "y", "error"], orient="row")

    def master_curve(self, case: Case) -> pl.DataFrame:
        """Points scaled with exponents ½ and ½, and by the slope of η in the fluid model: ``z``, ``g`` and ``time``."""
        points = scaling.scaled(self.piled(case), 1.0, _HALF, _HALF)
        return points.select(
            z="scaled_x",
            g=pl.col("scaled_y") * pl.col("x") / case.onset_slope,
            time=pl.format("{} s", pl.col("size") / CAPACITY),
        ).filter(pl.col("z").is_between(*SHOWN))

    @cached_property
    def in_size(self) -> pl.DataFrame:
        """A row for each family and size: critical load, by theory and found, and how wide the onset is.

        ``width`` is η at λc over the slope with which it leaves zero: the relative load by which the onset is rounded.
        Its ``error`` is that within runs or, where it is larger, that between them, as queues at λc remember for long.
        """
        rows = []
        for case in cases.in_size():
            one = Measured(case, self.runs)
            at, within = one.mean.filter(pl.col("load") == 1.0).select("order", "error").row(0)
            each = one.each.filter(pl.col("load") == 1.0)["order"].to_numpy()
            between = float(np.std(each, ddof=1)) / np.sqrt(len(each)) if len(each) > 1 else 0.0
            found = (at / case.onset_slope, max(within, between) / case.onset_slope)
            critical = (case.critical.load, *astuple(one.critical))
            rows.append((case.graph.family, case.graph.nodes, *critical, *found, case.onset_slope))
        names = ["family", "nodes", "theory", "critical", "low", "high", "width", "error", "slope"]
        return pl.DataFrame(rows, schema=names, orient="row")


def exponent(table: pl.DataFrame, column: str) -> tuple[float, float]:
    """The exponent of a power law of the number of nodes, with half of its 95 % interval."""
    found = stats.linregress(np.log(table["nodes"].to_numpy()), np.log(table[column].to_numpy()))
    return float(found.slope), float(found.stderr * stats.t.ppf(0.975, table.height - 2))


def width_exponent(table: pl.DataFrame) -> Estimate:
    """The exponent of a power law of widths, by their errors: what chance makes of them may also be below zero.

    Its 95 % interval is that of the likelihood, within the exponents that are tried.

    >>> rings = pl.DataFrame({"nodes": [16, 32, 64], "width": [0.4, 0.5, -0.1], "error": [0.1, 0.3, 0.5]})
    >>> found = width_exponent(rings)
    >>> found.low < 0 < found.high
    True
    """
    nodes, width, error = (table[name].to_numpy() for name in ("nodes", "width", "error"))
    powers = (nodes / stats.gmean(nodes)) ** _EXPONENTS[:, None]
    height = (powers * width / error**2).sum(axis=1) / (powers**2 / error**2).sum(axis=1)
    misfit = (((width - np.maximum(height, 0)[:, None] * powers) / error) ** 2).sum(axis=1)
    within = _EXPONENTS[misfit <= misfit.min() + stats.chi2.ppf(0.95, 1)]
    return Estimate(float(_EXPONENTS[misfit.argmin()]), float(within.min()), float(within.max()))


def values(found: Rounding) -> dict[str, object]:
    """What claims compare, by name: time.FAMILY.…, size.… and independent.…."""
    ratios = [one.height.value / one.width.value for one in found.in_time.values()]
    return {
        **{f"time.{case.graph.slug}": one for case, one in found.in_time.items()},
        "time.exponent": max(ratios, key=lambda ratio: abs(ratio - 1)),
        "time.exponents": ", ".join(f"{ratio:.2f}" for ratio in ratios),
        **_sizes(found.in_size),
        **_interaction(found),
    }


def _sizes(table: pl.DataFrame) -> dict[str, object]:
    ring = table.filter(pl.col("family") == "ring")
    slope, error = exponent(ring.with_columns(pl.col("nodes") + 1), "critical")
    families = table.group_by("family", maintain_order=True)
    found = {str(family): width_exponent(part) for (family,), part in families if part.height >= _FEWEST_SIZES}
    exponents = ", ".join(f"{family} {one:+.2f}" for family, one in found.items())
    sharpened = sum(one.high < 0 for one in found.values())
    not_sharpened = [family for family, one in found.items() if one.low >= 0]
    undecided = (
        "Exponents of n of the width of the onset, from −5 to 5, with 95 % intervals by the errors of the widths: "
        f"{exponents}; a phase transition's is −1/ν, negative. They exclude that on: "
        f"{', '.join(not_sharpened) or 'none'}; on the others sizes do not tell. "
        "The document says that congestion can perhaps be seen so on networks."
    )
    return {
        "size.ring_exponent": slope,
        "size.ring_exponent_error": error,
        "size.families": len(found),
        "size.sharpened_families": sharpened,
        "size.open": "" if len(found) in {sharpened, len(not_sharpened)} else undecided,
        "size.width_exponents": exponents,
        "size.told": (
            f"is excluded on {', '.join(not_sharpened)} and open on other graphs"
            if not_sharpened
            else "is open, as four sizes of each family do not tell"
        ),
    }


def _interaction(found: Rounding) -> dict[str, object]:
    """Packets that wait on a ring below λc, and that would wait if its links knew nothing of each other."""
    case = cases.in_time()[-1]
    load = case.loads[0]
    return {
        "independent.case": case,
        "independent.load": load,
        "independent.waiting_packets": Measured(case, found.runs).waiting(load),
        "independent.alone_packets": float(stationary_queue(case.routes.offered(case.load(load)) / CAPACITY).sum()),
    }
