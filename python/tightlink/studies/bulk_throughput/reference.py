"""The grids beside those of ns-2.35: exact where nothing is lost, equally distributed where something is.

``ns2_35.csv`` was made with ns-2.35 (Debian package ns2, 2.35+dfsg-5) by ``tests/data/ns2/bulk.tcl``: one
row a cell of document's windows and flows, with Agent/TCP/Newreno. ns-2 counts what is acknowledged at the
sender, not what arrived at the receiver; both are compared as ns-2 counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.experiment.claims import exact, holds_if
from tightlink.reduce import largest, mean_of
from tightlink.report import Chart as Figure
from tightlink.report import Section, Table, Text, charts
from tightlink.studies.bulk_throughput.cells import acked_packets
from tightlink.studies.bulk_throughput.paths import PATHS, Place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run

_SOURCE: Final = "ns-2.35"
_SIGNIFICANT: Final = 0.05
_AGREE: Final = 0.999


def grid(place: Place) -> pl.DataFrame:
    """What ns-2.35 makes of a path's grid; no rows where it was not run."""
    return pl.read_csv(Path(__file__).with_name("ns2_35.csv")).filter(pl.col("path") == place.name)


COMPARED: Final = tuple(place for place in PATHS if not grid(place).is_empty())


def beside(place: Place, runs: Mapping[str, Run]) -> pl.DataFrame:
    """Its rows with ours: ``sent``, ``arrivals``, ``drops``, ``acked`` here, and both goodputs."""
    theirs = grid(place)
    rows = []
    for row in theirs.iter_rows(named=True):
        run = runs[f"{place.name}/{row['window_packets']}/{row['flows']}"]
        link = run.links.row(0, named=True)
        rows.append({
            "sent": int(run.flows["packets_sent"].sum()),
            "arrivals": int(link["packets_in"]),
            "drops": int(link["packets_dropped"]),
            "acked": acked_packets(run, place.path),
        })  # fmt: skip
    rate = 8 * place.path.payload_bytes / place.path.duration_s
    return pl.concat([theirs, pl.DataFrame(rows)], how="horizontal").with_columns(
        here_bps=pl.col("acked") * rate, ns2_bps=pl.col("packets_acked") * rate
    )


def p_value(lossy: pl.DataFrame) -> float:
    """Wilcoxon's signed-rank test of the paired relative differences; 1 where there is none.

    Windows that never limit give equal runs in ns-2: such cells are one pair, not several.
    """
    from scipy import stats

    pairs = lossy.unique(["flows", "packets_sent", "packets_acked", "bottleneck_drops"], maintain_order=True)
    differences = (pairs["here_bps"] / pairs["ns2_bps"] - 1).to_numpy()
    differences = differences[differences != 0]
    return float(stats.wilcoxon(differences).pvalue) if len(differences) else 1.0


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """Per path: equal counts and R² without loss, no difference in distribution with it."""
    tests: dict[str, float] = {}
    for place in COMPARED:
        both = beside(place, runs)
        clean, lossy = (both.filter((pl.col("bottleneck_drops") > 0) == lost) for lost in (False, True))
        equal = sum(
            (row["sent"], row["arrivals"], row["drops"], row["acked"])
            == (row["packets_sent"], row["bottleneck_arrivals"], row["bottleneck_drops"], row["packets_acked"])
            for row in clean.iter_rows(named=True)
        )
        yield exact(
            f"ns2.{place.name}.counts",
            f"{place.title}: cells without loss in which every count is ns-2.35's",
            _SOURCE, clean.height, equal, unit="cells",
            reason="Packets sent, arrivals and drops at the bottleneck, packets acknowledged.",
        )  # fmt: skip
        r2 = _r2(clean["here_bps"].to_numpy(), clean["ns2_bps"].to_numpy())
        yield holds_if(
            f"ns2.{place.name}.r2", f"{place.title}: R² of the goodputs without loss is at least 0.999", _SOURCE,
            r2, r2 >= _AGREE, "About the line of equality.",
        )  # fmt: skip
        if not lossy.is_empty():
            tests[place.name] = p_value(lossy)
    for name, p in tests.items():
        both = beside(next(place for place in COMPARED if place.name == name), runs)
        lossy = both.filter(pl.col("bottleneck_drops") > 0)
        mean = mean_of(lossy["here_bps"] / lossy["ns2_bps"] - 1)
        yield holds_if(
            f"ns2.{name}.lossy", f"{name}: goodputs with loss are not distributed otherwise than ns-2.35's", _SOURCE,
            p, p > _SIGNIFICANT / len(tests),
            f"p of Wilcoxon's signed-rank test over {lossy.height} cells (different runs counted once), against "
            f"{_SIGNIFICANT} / {len(tests)} for {len(tests)} paths; mean difference {100 * mean:+.2f} %.",
        )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    rows, frames = [], []
    for place in COMPARED:
        both = beside(place, runs)
        clean, lossy = (both.filter((pl.col("bottleneck_drops") > 0) == lost) for lost in (False, True))
        same = both.filter((pl.col("sent") == pl.col("packets_sent")) & (pl.col("acked") == pl.col("packets_acked")))
        off = (lossy["here_bps"] / lossy["ns2_bps"] - 1) * 100
        rows.append({
            "path": place.title,
            "cells without loss": clean.height,
            "equal to the packet": same.filter(pl.col("bottleneck_drops") == 0).height,
            "cells with loss": lossy.height,
            "of these equal": same.filter(pl.col("bottleneck_drops") > 0).height,
            "mean difference %": off.mean(),
            "its deviation %": off.std(),
            "p": p_value(lossy) if lossy.height else None,
        })  # fmt: skip
        frames.append(both.select("window_packets", "flows", "ns2_bps", "here_bps", path=pl.lit(place.title)))
    table = pl.DataFrame(rows)
    equal, clean_all = int(table["equal to the packet"].sum()), int(table["cells without loss"].sum())
    finding = (
        f"Of {clean_all} cells without loss, {equal} agree with ns-2.35 in every count to the packet; with loss, "
        f"{int(table['of these equal'].sum())} of {int(table['cells with loss'].sum())} do, and the others "
        "scatter around it."
    )
    text = (
        "ns-2.35 ran the same grids, as the document's own numbers were not published. Flows that start "
        "together over equal paths stay in step, so that packets of several flows reach the bottleneck at the same "
        "instant, to the last bit of the time; which is first decides which is lost, and everything after. Single "
        "cells can therefore differ for no reason that a network would know; distributions may not."
    )
    points = pl.concat(frames)
    top = largest(points["ns2_bps"])
    equality = pl.DataFrame({"ns2_bps": [0.0, top], "here_bps": [0.0, top], "line": ["equality"] * 2})
    chart = charts.points(
        points, "ns2_bps", "here_bps", by="path", curves=equality, curve="line", x_scale="linear",
    )  # fmt: skip
    formats = {"mean difference %": "+.2f", "its deviation %": ".2f", "p": ".3f"}
    return Section("Beside ns-2.35", finding, [Text(text), Figure(chart), Table(table, "", formats)])


def _r2(here: NDArray[Any], theirs: NDArray[Any]) -> float:
    return 1 - float(((here - theirs) ** 2).sum() / ((theirs - theirs.mean()) ** 2).sum())
