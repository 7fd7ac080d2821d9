"""The cells as Linux carries them over a link in real time, beside the same cells simulated.

What the document could not publish, with hosts of today: observed over predicted, residuals, R² for each path. The
goals are this study's, and were set before anything was measured.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis.bulk_cells import cell
from tightlink.analysis.residuals import agreement, share_within
from tightlink.experiment.claims import holds_if, untestable
from tightlink.report import Row, Section, Table, Text
from tightlink.studies.bulk_throughput import agreements, live_cells
from tightlink.studies.bulk_throughput.paths import KILOBYTES, SITES
from tightlink.studies.live import machine, repeats
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tightlink.experiment.claims import Claim
    from tightlink.run import Run
    from tightlink.studies.bulk_throughput.live_cells import Cell
    from tightlink.studies.bulk_throughput.paths import Place

_HERE: Final = "this study"
#: The goals.
R2: Final = 0.98
WITHIN: Final = 0.10
SHARE: Final = 0.95
#: What iperf3's way of keeping a window is good for.
WITNESS: Final = 0.10
_ECHO: Final = "echo"
_SCHEMA: Final = {
    "path": pl.String, "congestion": pl.String, "window_packets": pl.Int64, "flows": pl.Int64, "kind": pl.String,
    "times": pl.Int64, "observed_bps": pl.Float64, "lowest_bps": pl.Float64, "highest_bps": pl.Float64,
    "predicted_bps": pl.Float64, "loss": pl.Float64, "predicted_loss": pl.Float64, "rtt_loaded_s": pl.Float64,
    "predicted_rtt_loaded_s": pl.Float64, "iperf3_bps": pl.Float64,
}  # fmt: skip


def points(runs: Mapping[str, Run], cells: Sequence[Cell]) -> pl.DataFrame:
    """A row for each cell that was measured: medians of what was observed, what is predicted, and the residuals.

    ``observed_bps``, ``lowest_bps`` and ``highest_bps`` are goodputs, ``rtt_loaded_s`` is the mean round trip of the
    echoes, ``iperf3_bps`` what iperf3 got where it was asked, too.
    """
    rows = [_point(runs, each, own) for each in cells if (own := repeats(runs, f"live/{each.name}"))]
    difference = pl.col("observed_bps") - pl.col("predicted_bps")
    return pl.DataFrame(rows, _SCHEMA).with_columns(
        residual_bps=difference, residual=difference / pl.col("observed_bps")
    )


def claims(found: pl.DataFrame, wanted: int) -> Iterator[Claim]:
    """The goals, path by path and together; and what the witness says.

    Args:
        found: The points.
        wanted: Cells that should have been measured.
    """
    for place in SITES:
        yield _explained(place, found.filter(pl.col("path") == place.name))
    if 2 * found.height < wanted or found.is_empty():
        yield untestable("live.residuals", _RESIDUALS, _HERE, f"{found.height} of {wanted} cells were measured.")
    else:
        share = share_within(found, WITHIN)
        yield holds_if(
            "live.residuals", _RESIDUALS, _HERE, round(100 * share, 1), share >= SHARE,
            f"{found.height} of {wanted} cells were measured. {_missed(found)}", unit="%",
        )  # fmt: skip
    yield _witness(found.drop_nulls("iperf3_bps"))


_BUSY: Final = "Nothing was measured: the machine was too busy."
_RESIDUALS: Final = (
    f"Linux measured: for {percent(SHARE)} of the cells (o − s) / o is within ± {percent(WITHIN)} of the simulation"
)


def section(runs: Mapping[str, Run], found: pl.DataFrame) -> Section:
    """The part of the report."""
    title = "Linux measured, beside the simulation"
    if found.is_empty():
        return Section(title, _BUSY, [])
    parts = {place: found.filter(pl.col("path") == place.name) for place in SITES}
    parts = {place: part for place, part in parts.items() if not part.is_empty()}
    rows = []
    for place, part in parts.items():
        rows.append(agreements.row(place, {"control": "both"}, agreement(part)))
        for (control,), own in part.group_by("congestion", maintain_order=True):
            rows.append(agreements.row(place, {"control": str(control)}, agreement(own)))
    explained = [
        f"{value.origin.value:.3f} at {agreements.site(place)} (the document: {agreements.DOCUMENT_R2[place.name]:g})"
        for place, part in parts.items()
        if (value := agreement(part)).origin is not None
    ]
    finding = (
        f"Of {found.height} cells {percent(share_within(found, WITHIN))} are predicted within ± {percent(WITHIN)}; R² "
        f"of simulation and measurement is {', '.join(explained)}."
    )
    measured = [run for name, run in runs.items() if name.startswith("live/")]
    text = (
        "The document compares its predictions with what iperf measured from SLAC. Here two hosts of today, Linux with "
        "Reno and CUBIC, send over the same four paths in real time, and the same cells are simulated with profile "
        "`linux`: no fitting, no other network, 10 s each. Windows are the document's; for 1, 4 and 20 flows they are "
        "the smallest, those just below and just above what the path holds, the one just above what path and queue "
        "hold, and the largest. Senders keep windows to the byte; each cell is measured three to five times, and its "
        f"median counts. {machine(measured)}"
    )
    return Section(
        title,
        finding,
        [
            Text(text),
            Row(
                [agreements.scatter(place, part, by="kind") for place, part in parts.items()],
                "Each point is a cell under one control; colours tell what its flows do to the path.",
            ),
            Row(
                [agreements.residuals(place, part, by="series") for place, part in _series(parts)],
                "Residuals over the window, for each control and number of flows.",
            ),
            Table(pl.DataFrame(rows), "", agreements.FORMATS),
            *_misses(found),
        ],
    )


def _point(runs: Mapping[str, Run], each: Cell, own: Sequence[Run]) -> dict[str, Any]:
    observed = [cell(run, each.path) for run in own]
    predicted = cell(runs[each.task], each.path)
    goodputs = [one["goodput_bps"] for one in observed]
    witness = runs.get(f"live/{live_cells.IPERF3}/{each.name}")
    return {
        "path": each.place.name,
        "congestion": each.congestion,
        "window_packets": each.window,
        "flows": each.flows,
        "kind": each.kind,
        "times": len(own),
        "observed_bps": statistics.median(goodputs),
        "lowest_bps": min(goodputs),
        "highest_bps": max(goodputs),
        "predicted_bps": predicted["goodput_bps"],
        "loss": statistics.median(one["loss"] for one in observed),
        "predicted_loss": predicted["loss"],
        "rtt_loaded_s": _round_trip(own),
        "predicted_rtt_loaded_s": predicted["rtt_loaded_s"],
        "iperf3_bps": None if witness is None else each.goodput_bps(witness),
    }


def _round_trip(own: Sequence[Run]) -> float | None:
    """The mean of the echoes, the median of the runs; nothing where none came back."""
    means = []
    for run in own:
        trips = run.series.filter(pl.col("entity") == _ECHO)["value"].to_list() if "series" in run.tables else []
        if trips:
            means.append(statistics.fmean(trips))
    return statistics.median(means) if means else None


def _explained(place: Place, found: pl.DataFrame) -> Claim:
    name = f"live.r2-{place.name}"
    site = agreements.site(place)
    statement = f"{site}: R² of simulation and Linux, measured, is at least {R2:g}"
    wanted = sum(each.place is place for each in live_cells.cells())
    if 2 * found.height < wanted:
        return untestable(name, statement, _HERE, f"{found.height} of {wanted} cells were measured.")
    value = agreement(found)
    if value.origin is None:
        return untestable(name, statement, _HERE, "All cells are alike.")
    return holds_if(
        name, statement, _HERE, round(value.origin.value, 4), value.origin.value >= R2,
        f"Of the line through the origin, about the mean; {value.points} cells. The document has "
        f"{agreements.DOCUMENT_R2[place.name]:g} with iperf over the real path.",
    )  # fmt: skip


def _witness(found: pl.DataFrame) -> Claim:
    statement = f"iperf3 gets what the probe gets, within ± {percent(WITNESS)}"
    if found.is_empty():
        why = "iperf3 is not installed, or the machine was too busy for it."
        return untestable("live.witness", statement, _HERE, why)
    apart = found["iperf3_bps"] / found["observed_bps"] - 1
    worst = max(apart.to_list(), key=abs)
    return holds_if(
        "live.witness", statement, _HERE, round(100 * worst, 1), abs(worst) <= WITNESS,
        f"Largest difference of {found.height} cells to Daresbury. iperf3 sets the size of a socket's buffer, of which "
        "the kernel's bookkeeping leaves a window that is right to about 10 %.", unit="%",
    )  # fmt: skip


def _outside(found: pl.DataFrame) -> pl.DataFrame:
    return found.filter(pl.col("residual_bps").abs() > WITHIN * pl.col("observed_bps"))


def _missed(found: pl.DataFrame) -> str:
    """Where the residuals beyond the goal are."""
    outside = _outside(found)
    if outside.is_empty():
        return "None is beyond."
    counted = outside.group_by("path", "kind", maintain_order=True).len().iter_rows()
    return "Beyond: " + ", ".join(f"{count} {kind} at {path}" for path, kind, count in counted) + "."


def _misses(found: pl.DataFrame) -> list[Text | Table]:
    outside = _outside(found).sort(pl.col("residual").abs(), descending=True)
    if outside.is_empty():
        return [Text(f"No cell misses by more than {percent(WITHIN)}.")]
    shown = outside.select(
        "path", "congestion", "flows", "kind", "observed_bps", "predicted_bps", "rtt_loaded_s",
        (pl.col("residual") * 100).alias("(o − s) / o, %"),
        (pl.col("highest_bps") / pl.col("lowest_bps") * 100 - 100).alias("spread %"),
        pl.col("window_packets").replace_strict(KILOBYTES).alias("window kB"),
        (pl.col("loss") * 100).alias("lost %"), (pl.col("predicted_loss") * 100).alias("lost, simulated %"),
    )  # fmt: skip
    caption = f"Where it misses by more than {percent(WITHIN)}; spread is highest over lowest of the same cell."
    formats = {"(o − s) / o, %": "+.1f", "spread %": ".1f", "lost %": ".2f", "lost, simulated %": ".2f"}
    return [Table(shown, caption, formats)]


def _series(parts: Mapping[Place, pl.DataFrame]) -> Iterator[tuple[Place, pl.DataFrame]]:
    named = pl.format("{}, {}", "congestion", "flows")
    for place, part in parts.items():
        yield place, part.with_columns(series=named)
