"""Links limited in bit/s or in packets/s, and packets of one size or of the Internet's three."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.experiment.claims import Claim, exact, within
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.network_congestion import graphs
from tightlink.studies.network_congestion.document import DISCUSSION, ISSUES, MODES, QUEUEING
from tightlink.studies.network_congestion.measured import Measured
from tightlink.studies.network_congestion.network import CAPACITY, Case, Sizes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run

_LOADS: Final = (0.9, 0.94, 0.97, 1.0, 1.02, 1.04, 1.06, 1.08, 1.12, 1.16, 1.2, 1.5)
_SEEDS: Final = 6
_STEP: Final = 0.02
MIXED: Final = Sizes(MODES)
ALIKE: Final = Sizes({"mean": (round(MIXED.mean), 1.0)})
#: Where queues below the critical load are compared.
_BELOW: Final = 0.9


@cache
def cases() -> tuple[Case, ...]:
    """A scale-free graph, with its links limited in either unit, under packets alike and mixed."""
    graph = graphs.scale_free(32)
    return tuple(
        Case(f"limits/{unit}-{kind}", graph, _LOADS, _SEEDS, sizes=sizes, in_bits=unit == "bits", stream="limits")
        for unit in ("packets", "bits")
        for kind, sizes in (("alike", ALIKE), ("mixed", MIXED))
    )


def read(runs: Mapping[str, Run]) -> dict[str, Measured]:
    """What came out, by "packets-alike" and so on."""
    return {case.name.partition("/")[2]: Measured(case, runs) for case in cases()}


def claims(found: Mapping[str, Measured]) -> Iterator[Claim]:
    """What sizes change."""
    for unit, words in (("packets", "packets/s"), ("bits", "bit/s")):
        alike, mixed = found[f"{unit}-alike"], found[f"{unit}-mixed"]
        yield within(
            f"limits.{unit}-critical", f"Links limited in {words}: three packet sizes leave λc where one size has it",
            DISCUSSION, alike.critical[0], mixed.critical[0], tolerance=_reach(alike, mixed), unit="packets/s",
            reason=("A packet takes as long whatever its size." if unit == "packets" else
                    f"Sizes of 40, 576 and 1500 B beside {ALIKE.mean:.0f} B, their mean: only the mean counts."),
        )  # fmt: skip
    ratio = _longer(found, "bits")
    yield within(
        "limits.bits-queues", "Links limited in bit/s: mixed sizes lengthen queues below λc", QUEUEING,
        MIXED.variability, ratio, relative=0.15,
        reason=f"Packets waiting at {_BELOW:g} λc over those of one size; by Pollaczek and Khinchine the second "
        "moment of the sizes over their squared mean. Tolerance: ours; arrivals within a network are not Poisson.",
    )  # fmt: skip
    ratio = _longer(found, "packets")
    yield exact(
        "limits.packets-queues", "Links limited in packets/s: mixed sizes change nothing", ISSUES, 1.0,
        _longer(found, "packets"), reason="The same ratio: sizes play no part at all, not by one packet.",
    )  # fmt: skip


def _reach(one: Measured, other: Measured) -> float:
    """The wider half interval of two critical loads, or the distance of the loads where that is more."""
    return max(_STEP * one.critical[0], *((high - low) / 2 for _, low, high in (one.critical, other.critical)))


def _longer(found: Mapping[str, Measured], unit: str) -> float:
    """What waits of mixed packets over what waits of packets alike."""
    return found[f"{unit}-mixed"].waiting(_BELOW) / found[f"{unit}-alike"].waiting(_BELOW)


def section(found: Mapping[str, Measured]) -> Section:
    """Limits and sizes."""
    rows: list[dict[str, Any]] = []
    for name, one in found.items():
        unit, _, kind = name.partition("-")
        value, low, high = one.critical
        rows.append(
            {"links limited in": "packets/s" if unit == "packets" else "bit/s",
             "packets": "40, 576, 1500 B" if kind == "mixed" else f"{ALIKE.mean:.0f} B",
             "λc theory": one.case.critical.load, "λc found": f"{value:.1f} ({low:.1f} to {high:.1f})",
             f"waiting at {_BELOW:g} λc": one.waiting(_BELOW)}
        )  # fmt: skip
    table = pl.DataFrame(rows)
    points = pl.concat(
        one.mean.select("load", "order", "error", links=pl.lit(name.replace("-", ", "))) for name, one in found.items()
    )
    finding = (
        "A mix of packet sizes moves the critical load no more than its mean size does; what it lengthens are the "
        f"queues below, {_longer(found, 'bits'):.1f} where links are limited in bit/s, not at all where they are "
        "limited in packets/s."
    )
    text = (
        "A scale-free graph of 32 nodes. Half of the packets have 40 B, a quarter 576 B, a quarter 1500 B: the three "
        f"modes of the Internet, {MIXED.mean:.0f} B in the mean. Links carry {CAPACITY:.0f} packets/s, or the bits of "
        "as many packets of the mean size."
    )
    formats: dict[str, Any] = {"λc theory": ".1f", f"waiting at {_BELOW:g} λc": ".1f"}
    return Section(
        "Bits or packets, and three packet sizes",
        finding,
        [
            Text(text),
            Table(table, "", formats),
            Chart(
                charts.points(
                    points, "load", "order", by="links", curves=_fluid(found), curve="model", height=260,
                    x_title="load / λc of the theory", y_title="order parameter η",
                )
            ),
        ],
    )  # fmt: skip


def _fluid(found: Mapping[str, Measured]) -> pl.DataFrame:
    one = found["packets-alike"]
    return one.mean.select("load", order="fluid", model=pl.lit("fluid model"))
