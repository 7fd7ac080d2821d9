"""The document's doubt whether its ns-2 compared Tahoe and SACK at all: where they differ, and where nothing shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import holds_if
from tightlink.experiment.execute import Task
from tightlink.reduce import largest, mean_of
from tightlink.report import Chart, Section, Table, Text, charts
from tightlink.studies.bulk_throughput.cells import cells
from tightlink.studies.bulk_throughput.paths import DARESBURY, DOCUMENT, IN2P3, LBNL, Place
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

_NEWRENO: Final = "newreno"
#: What the document compared, and where.
COMPARED: Final[tuple[tuple[Place, str, str], ...]] = (
    (DARESBURY, "tahoe", _NEWRENO),
    (IN2P3[1], "tahoe", "sack"),
    (LBNL, "sack", _NEWRENO),
)
_NAMES: Final = {"tahoe": "Tahoe", "sack": "SACK", _NEWRENO: "NewReno"}
#: Where it says so, and what.
_SAID: Final = {
    "daresbury": ("Tahoe instead of NewReno has no noticeable effect", "introduction"),
    "in2p3-factor-2": ("Tahoe and SACK give identical results", "IN2P3"),
    "lbnl": ("SACK and NewReno give identical results", "LBNL"),
}
_UNNOTICED: Final = 0.01
_COUNTS: Final = ("packets_sent", "packets_dropped", "goodput_bps")


def tasks() -> list[Task]:
    """The grids with the recoveries that are not in the main ones."""
    return [
        Task(f"{recovery}/{place.name}/{window}/{flows}", place.path.changed(recovery=recovery).scenario(window, flows))
        for place, *pair in COMPARED
        for recovery in pair
        if recovery != _NEWRENO
        for window, flows in place.cells
    ]


def compared(place: Place, one: str, other: str, runs: Mapping[str, Run]) -> pl.DataFrame:
    """The cells of a path under both: whether they are ``equal`` to the packet, and ``difference`` in goodput."""
    both = [
        cells(runs, place.name if recovery == _NEWRENO else f"{recovery}/{place.name}", place.cells, place.path)
        for recovery in (one, other)
    ]
    equal = pl.all_horizontal(pl.col(name) == pl.col(f"{name}_other") for name in _COUNTS)
    return (
        both[0]
        .join(both[1], on=["window_packets", "flows"], suffix="_other")
        .with_columns(
            equal=equal,
            difference=pl.col("goodput_bps") / pl.col("goodput_bps_other") - 1,
            lossless=(pl.col("packets_dropped") == 0) & (pl.col("packets_dropped_other") == 0),
        )
    )


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """Identical, as the document found and doubted; and that the window hides what loss would show."""
    hidden, clean = 0, 0
    for place, one, other in COMPARED:
        found = compared(place, one, other, runs)
        hidden += int(found.filter("lossless")["equal"].sum())
        clean += found.filter("lossless").height
        statement, where = _SAID[place.name]
        others = int((found["equal"] & ~found["lossless"]).sum())
        furthest = largest(found["difference"].abs())
        yield holds_if(
            f"{place.name}.{one}-{other}", f"{place.title}: {statement}", f"{DOCUMENT}, {where}",
            f"{int(found['equal'].sum())} of {found.height} cells equal",
            furthest <= _UNNOTICED,
            f"Goodputs differ by up to {percent(furthest)}, on average {_NAMES[one]} by "
            f"{percent(mean_of(found['difference']), 1)} from {_NAMES[other]}. The cells without loss "
            f"({int(found['lossless'].sum())}) cannot differ; of the others {others} "
            "are equal. The document suspects that its option had no effect, with good reason.",
        )  # fmt: skip
    yield holds_if(
        "variants.hidden", "Where the window prevents loss, all recoveries are equal to the packet", "this study",
        f"{hidden} of {clean} cells", hidden == clean, "A recovery that has nothing to recover shows nothing.",
    )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    rows, frames = [], []
    for place, one, other in COMPARED:
        found = compared(place, one, other, runs)
        lossy = found.filter(~pl.col("lossless"))
        rows.append({
            "path": place.title,
            "compared": f"{_NAMES[one]} with {_NAMES[other]}",
            "cells without loss": found.height - lossy.height,
            "equal": int(found.filter("lossless")["equal"].sum()),
            "cells with loss": lossy.height,
            "equal there": int(lossy["equal"].sum()),
            "mean difference %": 100 * mean_of(lossy["difference"]),
            "largest %": 100 * largest(lossy["difference"].abs()),
        })  # fmt: skip
        label = f"{place.title.partition(',')[0]}: {_NAMES[one]} with {_NAMES[other]}"
        frames.append(found.select("window_packets", "flows", "loss", pl.col("difference") * 100, path=pl.lit(label)))
    table = pl.DataFrame(rows)
    clean, lossy_all = int(table["cells without loss"].sum()), int(table["cells with loss"].sum())
    finding = (
        f"The doubt is justified: recoveries are equal to the packet in {int(table['equal'].sum())} of {clean} "
        f"cells without loss, and differ in all but {int(table['equal there'].sum())} of the {lossy_all} with loss, by "
        f"up to {percent(largest(table['largest %']) / 100)}. Identical results with loss mean that the option had "
        "no effect."
    )
    text = (
        "While the window is small enough that nothing is lost, Tahoe, NewReno and SACK send the same packets at the "
        "same times. Above, each loses other packets after its first recovery."
    )
    chart = charts.points(
        pl.concat(frames), "loss", "difference", by="path", y_title="difference in goodput (%)",
    )  # fmt: skip
    formats = {"mean difference %": "+.1f", "largest %": ".0f"}
    return Section("Tahoe, NewReno, SACK", finding, [Text(text), Chart(chart), Table(table, "", formats)])
