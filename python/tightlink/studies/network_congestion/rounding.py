"""Is it a phase transition: what rounds the onset of congestion, and what sharpens it?

Near a phase transition the size of the system rounds it: its width shrinks as n^(−1/ν). At a bifurcation nothing of
the kind happens; a queue's onset is rounded by the time that it was given, as t^(−½).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink.analysis import scaling
from tightlink.analysis.backlog import master, stationary_queue
from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.studies.network_congestion import graphs
from tightlink.studies.network_congestion.document import QUEUEING, RESULTS, THEORY
from tightlink.studies.network_congestion.measured import Measured
from tightlink.studies.network_congestion.network import CAPACITY, SAMPLE_S, Case

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tightlink.analysis.scaling import Collapse
    from tightlink.run import Run
    from tightlink.studies.network_congestion.graphs import Named

_NEAR: Final = (0.93, 0.95, 0.97, 0.985, 1.0, 1.015, 1.03, 1.05, 1.07)
_SEEDS: Final = 8
#: Times since the start, as shares of the duration.
TIMES: Final = (1 / 16, 1 / 4, 1.0)
#: Sizes of each family.
_SIZES: Final[dict[str, tuple[Callable[[int], Named], tuple[int, ...]]]] = {
    "ring": (graphs.ring, (17, 33, 65, 129)),
    "lattice": (lambda nodes: graphs.lattice(round(nodes**0.5)), (16, 36, 64, 144)),
    "random": (graphs.random, (16, 32, 64, 128)),
    "scale-free": (graphs.scale_free, (16, 32, 64, 128)),
}
_SIZE_LOADS: Final = (0.9, 0.96, 1.0, 1.02, 1.04, 1.06, 1.09, 1.12)
_SIZE_SEEDS: Final = 2
_HALF: Final = 0.5
#: Ends of the scaled axis.
SHOWN: Final = (-6.0, 10.0)
#: Of a family, for an exponent.
_FEWEST_SIZES: Final = 3
_PERCENT: Final = 100


@cache
def in_time() -> tuple[Case, ...]:
    """One link, and two networks, of which one has a single busiest link and one has 66."""
    chosen = (graphs.one_link(), graphs.scale_free(32), graphs.ring(33))
    return tuple(Case(f"time/{graph.name}", graph, _NEAR, _SEEDS) for graph in chosen)


@cache
def in_size() -> tuple[Case, ...]:
    """Four families at four sizes each."""
    return tuple(
        Case(f"size/{make(nodes).name}", make(nodes), _SIZE_LOADS, _SIZE_SEEDS)
        for make, sizes in _SIZES.values()
        for nodes in sizes
    )


def cases() -> tuple[Case, ...]:
    """All of them."""
    return (*in_time(), *in_size())


@dataclass(frozen=True)
class Rounding:
    """What came out of them."""

    runs: Mapping[str, Run]

    @cached_property
    def in_time(self) -> dict[Case, Collapse]:
        """The exponents in time."""
        return {case: scaling.collapse(self.piled(case), 1.0) for case in in_time()}

    def piled(self, case: Case) -> pl.DataFrame:
        """Packets that piled up by some times, per packet sent: ``size`` (services of a link), ``x``, ``y``, ``error``.

        What is on its way where nothing waits, and a packet in service for each that is served, is not counted.
        """
        rows = []
        for load in case.loads:
            tables = Measured(case, self.runs).tables(load)
            for share in TIMES:
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
        """
        rows = []
        for case in in_size():
            one = Measured(case, self.runs)
            value, low, high = one.critical
            at = float(one.mean.filter(pl.col("load") == 1.0)["order"].to_list()[0])
            width = at / case.onset_slope
            rows.append(
                (case.graph.family, case.graph.nodes, case.critical.load, value, low, high, width, case.onset_slope)
            )
        names = ["family", "nodes", "theory", "critical", "low", "high", "width", "slope"]
        return pl.DataFrame(rows, schema=names, orient="row")


def read(runs: Mapping[str, Run]) -> Rounding:
    """What came out of the runs."""
    return Rounding(runs)


def exponent(table: pl.DataFrame, column: str) -> tuple[float, float]:
    """The exponent of a power law of the number of nodes, with half of its 95 % interval."""
    from scipy import stats

    found = stats.linregress(np.log(table["nodes"].to_numpy()), np.log(table[column].to_numpy()))
    return float(found.slope), float(found.stderr * stats.t.ppf(0.975, table.height - 2))


def claims(found: Rounding) -> Iterator[Claim]:
    """What kind of transition it is."""
    for case, one in found.in_time.items():
        yield within(
            f"time.{case.graph.family.replace(' ', '-')}",
            f"{_words(case)}: time sharpens the onset as a queue's, by t^½", QUEUEING, _HALF,
            one.width.value, tolerance=_reach(one.width),
            reason=f"Width exponent {one.width:.2f}, height exponent {one.height:.2f}; tolerance: the interval's half "
            f"width. Scaled, the curves are {_PERCENT * one.misfit:.0f} % apart, unscaled "
            f"{_PERCENT * one.misfit_unscaled:.0f} %.",
        )  # fmt: skip
    ratios = [one.height.value / one.width.value for one in found.in_time.values()]
    worst = max(ratios, key=lambda ratio: abs(ratio - 1))
    yield within(
        "kind.exponent", "The order parameter leaves zero with exponent β = 1, as at a transcritical bifurcation",
        RESULTS, 1.0, worst, tolerance=0.2,
        reason=f"Height over width exponent: {', '.join(f'{ratio:.2f}' for ratio in ratios)} on one link, scale-free "
        "and ring; the farthest. Tolerance: ours, about twice the standard error of such a ratio.",
    )  # fmt: skip
    yield from _sizes(found.in_size)
    yield _interaction(found)


def _sizes(table: pl.DataFrame) -> Iterator[Claim]:
    off = float((table["critical"] / table["theory"] - 1).abs().to_numpy().max())
    wide = float(((table["high"] - table["low"]) / 2 / table["theory"]).to_numpy().max())
    yield within(
        "size.critical", "λc of all sizes is C (n − 1) / B", THEORY, 0.0, off, tolerance=wide,
        reason="Largest relative distance over four families of four sizes; tolerance: half of the "
        "widest interval of one of them.",
    )  # fmt: skip
    ring = table.filter(pl.col("family") == "ring")
    slope, error = exponent(ring.with_columns(pl.col("nodes") + 1), "critical")
    yield within(
        "size.ring", "On a ring of n nodes λc = 8 C / (n + 1)", THEORY, -1.0, slope, tolerance=0.02,
        reason=f"Exponent of n + 1, ± {error:.3f} (95 %). Each direction of each wire has (n² − 1) / 8 paths.",
    )  # fmt: skip
    families = table.filter(pl.col("width") > 0).group_by("family", maintain_order=True)
    found = {str(family): exponent(part, "width") for (family,), part in families if part.height >= _FEWEST_SIZES}
    shrinks = [family for family, (slope, error) in found.items() if slope + error < 0]
    said = ", ".join(f"{family} {slope:+.2f} ± {error:.2f}" for family, (slope, error) in found.items())
    yield holds_if(
        "kind.phase-transition",
        "On networks congestion is a phase transition: the number of nodes sharpens it", RESULTS,
        f"on {len(shrinks)} of {len(found)} families", len(shrinks) == len(found),
        f"Exponents of n of the width of the onset, with 95 % intervals: {said}; a phase transition's is −1/ν, "
        "clearly negative. Each link bifurcates by itself where it is full, the busiest first; what n changes is "
        "where that is. The document says that congestion can perhaps be seen as a phase change on networks; with "
        "paths that do not change and senders that do not listen it is the bifurcation of one link, once for each "
        "link.",
    )  # fmt: skip


def _interaction(found: Rounding) -> Claim:
    case = in_time()[-1]
    load = case.loads[0]
    waiting = Measured(case, found.runs).waiting(load)
    alone = float(stationary_queue(case.routes.offered(case.load(load)) / CAPACITY).sum())
    return within(
        "kind.independent", "Below λc queues on a network are those of links that know nothing of each other", QUEUEING,
        alone, waiting, relative=0.1, unit="packets",
        reason=f"Ring of {case.graph.nodes} nodes at {load:g} λc, where most of what arrives at a link comes from "
        "another one of the same speed, and so one service time apart at least: it cannot queue by itself. Links do "
        "act on each other, and make queues shorter than M/D/1 for each of them would be; where they are full does "
        "not change.",
    )  # fmt: skip


def _reach(value: Any) -> float:
    return float(max(value.high - value.value, value.value - value.low))


def _words(case: Case) -> str:
    return case.graph.family.capitalize()


def section(found: Rounding) -> Section:
    """The answer to the document's question."""
    table = found.in_size
    widths = ", ".join(f"{one.width.value:.2f}" for one in found.in_time.values())
    finding = (
        f"It is the bifurcation of one link, again and again: time rounds it with exponents {widths} on one link and "
        "two networks (a queue's is ½), and the number of nodes does not sharpen it."
    )
    text = (
        "On one link the document finds a transcritical bifurcation: two regimes that exchange their stability. Here "
        "that is the growth of the queue, 0 or λ − C. Near the point where they meet a queue is a random walk above a "
        "wall, with one curve for all times: packets that piled up after t, over √t, against (λ / λc − 1) √t. **A "
        "network follows the same curve**, scaled by the share of the traffic that its busiest link has; only a ring, "
        "whose links smooth what they send each other, is rounded less.\n\n"
        "A phase transition would be sharpened by *size*: at a given time the width of its onset would shrink with "
        "the number of nodes. It does not. Beyond λc the links fill one after the other, each at its own load; the "
        "curve of η has as many kinks. Only where all links are equally busy, as on a ring, do all bifurcate at once, "
        "and then η has a kink for n → ∞, too; but it has the same one for n = 17."
    )
    panels = [_panel(case, found) for case in in_time()]
    formats: dict[str, Any] = {
        "λc theory": ".1f", "λc found": ".1f", "width %": ".2f", "slope of η": ".3f",
    }  # fmt: skip
    shown = table.select(
        "family", "nodes", pl.col("theory").alias("λc theory"), pl.col("critical").alias("λc found"),
        (_PERCENT * pl.col("width")).alias("width %"), pl.col("slope").alias("slope of η"),
    )  # fmt: skip
    return Section(
        "Phase transition or bifurcation",
        finding,
        [
            Text(text),
            Row(panels, "After 1.25 s, 5 s and 20 s: 1250, 5000 and 20,000 service times; grey: the queue's curve G."),
            Chart(
                charts.points(
                    table.select("family", "nodes", "critical"), "nodes", "critical", by="family",
                    curves=table.select("nodes", "family", critical=pl.col("theory")), curve="family", x_scale="log",
                    y_scale="log", x_title="nodes", y_title="λc (packets/s from each node)", height=300,
                ),
                "Lines: C (n − 1) / B.",
            ),
            Table(shown, "Width: η at λc over its slope beyond, in percent of λc, after 20 s.", formats),
        ],
    )  # fmt: skip


def _panel(case: Case, found: Rounding) -> Any:
    z = np.linspace(*SHOWN, 65)
    curve = pl.DataFrame({"z": z, "g": master(z), "theory": ["G"] * len(z)})
    return charts.points(
        found.master_curve(case), "z", "g", by="time", curves=curve, curve="theory", title=_words(case), height=240,
        x_title="(λ / λc − 1) √t", y_title="η (λ / λc) √t / slope",
    )  # fmt: skip
