"""The report of a folder: of a run, or of a study or a sweep that has none yet."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from tightlink import arguments
from tightlink.checksums import read_parquet
from tightlink.errors import TightlinkError
from tightlink.experiment import claims_file
from tightlink.experiment.folder import MARKER, RUNS, Experiment, holds_experiment
from tightlink.files import folder_of
from tightlink.laboratory.embedded import Offer
from tightlink.report.blocks import Block, Section, Table, Text
from tightlink.report.page import write
from tightlink.report.runs import lead, sections
from tightlink.report.sequence import Between
from tightlink.report.sweep import write_sweep
from tightlink.run import SIMULATION, Run, holds_run, open_run


def run_report(
    folder: str | os.PathLike[str],
    *,
    sequence: str | None = None,
    between_s: Between = (None, None),
    with_lab: bool = False,
) -> Path:
    """Write ``report.html`` into a folder and return where it is.

    A run gets its totals, why each flow was as fast as it was, and its series. A study writes its own
    report when it runs, which is left as it is; where it is missing, one is made of what is there.

    Args:
        folder: Of the run, the study or the sweep.
        sequence: Name of a flow whose sequence numbers are drawn over time, of a run with packets.
        between_s: When these begin and end, in seconds; without it, with the run.
        with_lab: Whether the report opens what was simulated in the lab, for which it contains the engine.

    Raises:
        TightlinkError: The folder holds neither a run nor a study nor a sweep; or there is no such flow, or it has no
            packets; or what it holds has no laboratory.

    Example:
        >>> run_report("nowhere")
        Traceback (most recent call last):
        tightlink.errors.TightlinkError: nowhere: there is no such folder; expected the folder of a run, \
a study or a sweep, as -o, or output, names it
    """
    given: object = folder
    if isinstance(given, Run):
        raise TightlinkError("expected the folder of a run, not a Run; run.report(path) writes the report of one")
    place = arguments.path("folder", folder)
    if not place.is_dir():
        what = "it is a file" if place.exists() else "there is no such folder"
        raise TightlinkError(
            f"{place}: {what}; expected the folder of a run, a study or a sweep, as -o, or output, names it"
            f"{folder_of(place)}"
        )
    target = place / "report.html"
    if holds_run(place):
        run = open_run(place)
        laboratories = _laboratories(run, place) if with_lab else ()
        name = place.resolve().name
        return write_run(run, target, name=name, sequence=sequence, between_s=between_s, laboratories=laboratories)
    if sequence is not None:
        raise TightlinkError(f"{place}: only the folder of a run has sequence numbers")
    if not holds_experiment(place) and not (place / "claims.json").exists():
        raise TightlinkError(
            f"{place}: expected the folder of a run (it has manifest.json; tightlink run FILE -o DIR writes one) "
            "or of a study or a sweep (it has claims.json or runs.parquet)"
        )
    if (place / MARKER).exists():
        return write_sweep(Experiment(place), target, name=place.resolve().name, with_lab=with_lab)
    if with_lab:
        raise TightlinkError(f"{place}: the report of a study gets its laboratories by tightlink study … --with-lab")
    return target if target.exists() else _of_study(place, target)


def write_run(
    run: Run,
    target: Path,
    *,
    name: str,
    sequence: str | None = None,
    between_s: Between = (None, None),
    laboratories: Sequence[Offer] = (),
) -> Path:
    """Write the report of a run into a file, which is replaced if it is there."""
    return write(
        target,
        title=f"{'Run' if run.source == SIMULATION else run.source.capitalize()} {name}",
        lead=lead(run),
        sections=sections(run, sequence=sequence, between_s=between_s),
        seeds=[run.manifest["seed"]] if "seed" in run.manifest else [],
        engine_behaviour=run.manifest.get("engine_behaviour"),
        warnings=run.warnings,
        laboratories=laboratories,
    )


def _laboratories(run: Run, place: Path) -> list[Offer]:
    if run.source != SIMULATION:
        raise TightlinkError(f"{place}: only what was simulated has a lab, and this run was not")
    return [Offer(place.resolve().name, run.scenario)]


def _of_study(place: Path, target: Path) -> Path:
    """What can be said without the study itself: its claims, its runs, its figures."""
    parts = []
    seeds: list[int] = []
    made = None
    runs = place / RUNS
    if runs.exists():
        frame = read_parquet(runs)
        seeds = frame["seed"].drop_nulls().to_list() if "seed" in frame.columns else []
        made = Experiment(place).engine_behaviour if {"run", "status", "identity"} <= {*frame.columns} else None
        parts.append(Section("Runs", "", [Table.first(frame, 500, "runs")]))
    figures = sorted((place / "figures").glob("*.svg"))
    if figures:
        parts.append(Section("Figures", "", [_image(figure) for figure in figures]))
    claimed = place / "claims.json"
    return write(
        target,
        title=f"Results in {place.resolve().name}",
        lead="Made from the files of the folder; running the study again writes its own report.",
        claims=claims_file.load(claimed) if claimed.exists() else [],
        sections=parts,
        figures=figures,
        seeds=seeds,
        engine_behaviour=made,
    )


def _image(file: Path) -> Block:
    data = b64encode(file.read_bytes()).decode()
    image = Markup('<figure><img src="data:image/svg+xml;base64,{}" alt="{}"><figcaption>{}</figcaption></figure>')
    return Text(image.format(data, file.stem, file.stem))
