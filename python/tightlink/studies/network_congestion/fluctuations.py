"""Fluctuations: the susceptibility over the load, with unlimited queues and with short ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis import scaling
from tightlink.experiment.claims import Claim, holds_if, within
from tightlink.report import Chart, Row, Section, Text, charts
from tightlink.studies.network_congestion import graphs
from tightlink.studies.network_congestion.document import ARENAS, QUEUEING
from tightlink.studies.network_congestion.measured import Measured
from tightlink.studies.network_congestion.network import CAPACITY, FILLED_S, SAMPLE_S, Case

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.analysis.estimates import Estimate
    from tightlink.analysis.scaling import Collapse
    from tightlink.run import Run

#: The longest windows, in samples, as `tightlink.analysis.transition` takes them.
_LONGEST: Final = 32
#: How far a step may be rounded: two of the times 1 / √(services in a window).
ROUNDED: Final = 2 / float(np.sqrt(CAPACITY * _LONGEST * SAMPLE_S))
#: Packets that a queue holds, the one in service among them.
LIMITS: Final = (8, 16, 32, 64)
_LOADS: Final = (0.8, 0.88, 0.92, 0.95, 0.97, 0.985, 1.0, 1.015, 1.03, 1.05, 1.08, 1.12, 1.2)
_SEEDS: Final = 2
_NEAR: Final = 0.05
#: Of the link with short queues: packets on its wire would count among few that wait.
_DELAY_S: Final = 0.0005


@cache
def cases() -> tuple[Case, ...]:
    """One link with short queues, and a network with one of them."""
    link = [
        Case(f"buffers/one-link-{limit}", graphs.one_link(), _LOADS, _SEEDS, queue=f"{limit} packets", delay_s=_DELAY_S)
        for limit in LIMITS
    ]
    network = Case("buffers/scale-free", graphs.scale_free(32), (*_LOADS, 1.5, 2.0), 1, queue="64 packets")
    return (*link, network)


@dataclass(frozen=True)
class Limited:
    """What came out of them."""

    runs: Mapping[str, Run]

    @cached_property
    def wandering(self) -> pl.DataFrame:
        """Standard deviation of one link's queue over its limit: ``size`` (limit), ``x``, ``y``, ``error``."""
        rows = []
        for case, limit in zip(cases(), LIMITS, strict=False):
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
        return Measured(cases()[-1], self.runs)


def read(runs: Mapping[str, Run]) -> Limited:
    """What came out of the runs."""
    return Limited(runs)


def _deviation(table: pl.DataFrame) -> float:
    inside = table.filter(pl.col("time_s") >= FILLED_S)["packets_in_network"].to_numpy().astype(float)
    return float(inside.std())


def claims(found: list[Measured], limited: Limited) -> Iterator[Claim]:
    """What fluctuations say of the critical load."""
    worst = max(found, key=lambda one: abs(one.rise.value - 1) / _tolerance(one.rise))
    yield within(
        "fluctuations.rise", "The susceptibility rises at the critical load", ARENAS, 1.0, worst.rise.value,
        tolerance=_tolerance(worst.rise), unit="λc",
        reason=f"The worst of {len(found)} graphs, {worst.case.graph.name}: {worst.rise:.3f}. Windows of W seconds "
        "round "
        f"the rise towards smaller loads; tolerance: half of the interval, or 2 / √(W C) = {ROUNDED:.2f} of the "
        "longest windows where that is more, which is for one full link: where all links fill at once, as on a ring, "
        "the rise begins earlier.",
    )  # fmt: skip
    peaks = [one for one in found if _peak(one.susceptibility) is not None]
    at = sum(abs((_peak(one.susceptibility) or 0.0) - 1) <= _NEAR for one in peaks)
    yield holds_if(
        "fluctuations.peak", "The susceptibility has its maximum at the critical load", ARENAS,
        f"on {at} of {len(found)} graphs", at == len(found),
        f"Within {_NEAR:.0%} of λc. With unlimited queues it does not fall beyond: a queue that grows wanders as "
        "freely as what arrives, and with every further link that fills there is more of it. A maximum needs "
        "something that holds queues down above λc, as a limit does (fluctuations.limited).",
    )  # fmt: skip
    table = limited.wandering
    far = [_limited_peak(table, limit) for limit in LIMITS]
    largest = max(far, key=lambda peak: abs(peak - 1))
    yield within(
        "fluctuations.limited", "With limited queues fluctuations are largest at the critical load", ARENAS, 1.0,
        largest, tolerance=1 / min(LIMITS), unit="λc",
        reason=f"One link, queues of {', '.join(map(str, LIMITS))} packets; the farthest. A queue of K packets has its "
        "transition rounded by 1 / K: tolerance, that of the shortest.",
    )  # fmt: skip
    exponents = limited.collapsed
    yield within(
        "fluctuations.size", "The size that sharpens it is the queue's: σ / K is one curve over (λ / λc − 1) K",
        QUEUEING, 1.0, exponents.width.value, tolerance=0.1,
        reason=f"Width exponent {exponents.width:.2f}, height exponent {exponents.height:.2f}; by the theory of a "
        "Brownian motion between two walls 1 and 0. Tolerance: ours, for queues that hold as few as 8 packets.",
    )  # fmt: skip
    yield _lost(limited.network)


def _tolerance(rise: Estimate) -> float:
    return max(ROUNDED, (rise.high - rise.low) / 2)


def _lost(found: Measured) -> Claim:
    table = found.mean
    off = float((table["lost"] - table["fluid"]).abs().to_numpy().max())
    return within(
        "fluctuations.lost", "With limited queues as much is lost as else piles up", QUEUEING, 0.0, off, tolerance=0.01,
        reason=f"{found.case.graph.name}, queues of 64 packets: largest distance of the share lost from the fluid "
        f"model's η, which reaches {float(table['fluid'].to_numpy().max()):.3f}. Tolerance: what a queue of 64 "
        "packets loses at λc, about 1 / 64.",
    )  # fmt: skip


def _peak(table: pl.DataFrame) -> float | None:
    """The load of the largest value."""
    values = table["susceptibility"].to_numpy()
    return float(table["load"].to_numpy()[int(values.argmax())])


def _limited_peak(table: pl.DataFrame, limit: int) -> float:
    part = table.filter(pl.col("size") == limit)
    return float(part["x"].to_numpy()[int(part["y"].to_numpy().argmax())])


def section(found: list[Measured], limited: Limited) -> Section:
    """Fluctuations."""
    points = pl.concat(
        one.susceptibility.with_columns(
            susceptibility=pl.col("susceptibility") / _level(one), graph=pl.lit(one.case.graph.family)
        ).filter(pl.col("load") <= 1.2)
        for one in found
    )
    table = limited.wandering.with_columns(limit=pl.format("{} packets", pl.col("size").cast(pl.Int64)))
    exponents = limited.collapsed
    one_curve = scaling.scaled(table, 1.0, exponents.height.value, exponents.width.value)
    finding = (
        "Where queues are unlimited, fluctuations step up at λc and stay; where they are limited, they peak there, "
        f"the more sharply the longer the queues: over (λ / λc − 1) K^{exponents.width.value:.2f} all are one curve."
    )
    text = (
        "The **susceptibility** χ is the variance by which the packets in the network spread, per packet sent: read "
        "from the variance of their growth over windows of 0.2 to 1.6 s, whose slope over the length is χ. Below λc "
        "the number goes up and down about a level and χ is 0; beyond, at least one queue is a random walk.\n\nThe "
        "maximum of χ at λc, by which other models find the critical load, is not there: nothing calms a queue that "
        "only grows. It is there as soon as queues have a limit K, and then the transition is rounded by 1 / K: the "
        "finite size that scales is that of the queue, not of the network."
    )
    return Section(
        "Fluctuations",
        finding,
        [
            Text(text),
            Chart(
                charts.points(
                    points, "load", "susceptibility", by="graph", x_title="load / λc of the theory",
                    y_title="χ / its level above λc", height=300, y_domain=(-0.1, 2.0),
                ),
                "Unlimited queues; each graph relative to its median from λc to 1.1 λc.",
            ),
            Row(
                [
                    charts.line(
                        table, "x", "y", by="limit", title="As it is", x_title="load / λc", height=220,
                        y_title="σ of the queue / limit",
                    ),
                    charts.line(
                        one_curve.filter(pl.col("scaled_x").abs() <= 6), "scaled_x", "scaled_y", by="limit",
                        title="Scaled", x_title="(load / λc − 1) K^b", y_title="σ of the queue × K^(a − 1)", height=220,
                    ),
                ],
                "One link with queues of K packets.",
            ),
        ],
    )  # fmt: skip


def _level(one: Measured) -> float:
    table = one.susceptibility.filter((pl.col("load") >= 1) & (pl.col("load") <= 1.1))
    return float(np.median(table["susceptibility"].to_numpy()))
