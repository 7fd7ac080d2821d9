"""What is measured on real hosts: the cells of `tightlink.studies.bulk_throughput.setup.linux`, some by iperf3, too."""

import statistics
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.cells import cell
from tightlink.analysis.path.residuals import agreement, share_within
from tightlink.experiment.claims import Claim
from tightlink.reduce import largest, mean_of, smallest
from tightlink.run import Run
from tightlink.studies.bulk_throughput.observe.linux import MEASURED, WITHIN, beside, outside
from tightlink.studies.bulk_throughput.report import residuals
from tightlink.studies.bulk_throughput.setup.linux import ECHO_S, Cell, cells
from tightlink.studies.bulk_throughput.setup.paths import SITES
from tightlink.studies.live import Measurement, Repetition, machine, repeats
from tightlink.studies.study import Report

IPERF3: Final = "iperf3"
#: The cells that are measured are simulated in any case, beside those that are stored.
tasks: Final = tuple


def measurements() -> list[Measurement]:
    """The cells, measured: by the probe, whose windows are exact, until medians have converged; some by iperf3."""
    from tightlink.measure.machine import missing

    own = [
        Measurement(each.name, each.scenario, echo_s=ECHO_S, repetition=Repetition(each.goodput_bps))
        for each in cells()
    ]
    witnessed = [each for each in cells() if each.witnessed and missing(IPERF3) is None]
    return own + [
        Measurement(f"{IPERF3}/{each.name}", each.scenario, sender=IPERF3, echo_s=ECHO_S) for each in witnessed
    ]


# The cells as Linux carries them over an emulated link, beside the same cells simulated.
#
# What the document could not publish, with hosts of today: observed over predicted, residuals, R² for each path. The
# goals, in the table of claims, are this study's, and were set before anything was measured.


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values named live.…, and ``points``: a row for each cell that was measured, beside its prediction.

    ``observed_bps``, ``lowest_bps`` and ``highest_bps`` are goodputs, ``rtt_loaded_s`` is the mean round trip of the
    echoes, ``iperf3_bps`` what iperf3 got where it was asked, too.
    """
    wanted = cells()
    found = beside(measured(runs, wanted), runs)
    own = [run for name, run in runs.items() if name.startswith("live/")]
    return values(found, wanted) | {"points": found, "runs": own}


def measured(runs: Mapping[str, Run], cells: Sequence[Cell]) -> pl.DataFrame:
    """A row for each cell that was measured: what ``linux.csv`` stores."""
    rows = [_measured(runs, each, own) for each in cells if (own := repeats(runs, f"live/{each.name}"))]
    return pl.DataFrame(rows, MEASURED)


def values(found: pl.DataFrame, wanted: Sequence[Cell]) -> dict[str, object]:
    """What claims compare, by name: live.PATH.… and live.…; no agreement where less than half was measured."""
    each: dict[str, object] = {"live.cells": found.height, "live.wanted": len(wanted)}
    for place in SITES:
        own = found.filter(pl.col("path") == place.name)
        expected = sum(one.place is place for one in wanted)
        each[f"live.{place.name}.why_not"] = f"{own.height} of {expected} cells were measured."
        if _enough(own, expected):
            each[f"live.{place.name}.why_not"] = "All cells are alike."
            each[f"live.{place.name}.cells"] = own.height
            if (origin := agreement(own).origin) is not None:
                each[f"live.{place.name}.r2"] = origin.value
    if _enough(found, len(wanted)):
        each |= {"live.within_10_percent": share_within(found, WITHIN), "live.beyond": _beyond(found)}
    witnessed = found.drop_nulls("iperf3_bps")
    if not witnessed.is_empty():
        apart = witnessed["iperf3_bps"] / witnessed["observed_bps"] - 1
        each |= {"live.witness.apart": max(apart.to_list(), key=abs), "live.witness.cells": witnessed.height}
    return each


def _enough(found: pl.DataFrame, wanted: int) -> bool:
    return not found.is_empty() and 2 * found.height >= wanted


def _beyond(found: pl.DataFrame) -> str:
    """Where the residuals beyond the goal are."""
    missed = outside(found)
    if missed.is_empty():
        return "None is beyond."
    counted = missed.group_by("path", "kind", maintain_order=True).len().iter_rows()
    return "Beyond: " + ", ".join(f"{count} {kind} at {path}" for path, kind, count in counted) + "."


def _measured(runs: Mapping[str, Run], each: Cell, own: Sequence[Run]) -> dict[str, Any]:
    observed = [cell(run, each.path) for run in own]
    goodputs = [one["goodput_bps"] for one in observed]
    witness = runs.get(f"live/{IPERF3}/{each.name}")
    echoes = [run.series.filter(pl.col("entity") == "echo") for run in own if "series" in run.tables]
    trips = [mean_of(table["value"]) for table in echoes if not table.is_empty()]
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
        "loss": statistics.median(one["loss"] for one in observed),
        "rtt_loaded_s": statistics.median(trips) if trips else None,
        "pings": sum(_sent(table) for table in echoes),
        "pings_lost": sum(_sent(table) - table.height for table in echoes),
        "iperf3_bps": None if witness is None else each.goodput_bps(witness),
    }


def _sent(echoes: pl.DataFrame) -> int:
    """How many echoes were sent from the first to the last that came back: one every `ECHO_S`."""
    if echoes.is_empty():
        return 0
    return round((largest(echoes["time_s"]) - smallest(echoes["time_s"])) / ECHO_S) + 1


# What was measured, beside the same cells simulated: a section, a figure and the table of cells.


def report(observed: Mapping[str, Any], _: Mapping[str, Claim]) -> Report:
    """Those parts of the report that who measures asks for."""
    points = observed["points"]
    return Report(
        sections=[residuals.measured("Linux measured, beside the simulation", points, machine(observed["runs"]))],
        draw=partial(residuals.draw, points=points),
        tables={"measured": points},
    )
