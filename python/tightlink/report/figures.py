"""The figures of a run, a sweep or a study by name, for a paper or a slide: those that its report draws.

Of a run each of its series is one, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from tightlink import plots
from tightlink.diagnosis.words import sentence
from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.experiment import open as open_folder
from tightlink.experiment.folder import MARKER
from tightlink.files import write_bytes
from tightlink.lazy import _core
from tightlink.plots.observed import not_here, observed
from tightlink.plots.style import check_format
from tightlink.report import runs, sweep
from tightlink.report.blocks import Chart, Row, Section
from tightlink.run import Run, holds_run, open_run


@dataclass(frozen=True)
class Figure:
    """A figure that can be written.

    Attributes:
        name: By which it is asked for.
        title: What it shows.
        drawn: What draws it; or its file, where a study drew it.
        of_entities: Whether it is a series, which may be drawn of some flows, links or nodes.
    """

    name: str
    title: str
    drawn: Callable[..., Any] | Path
    of_entities: bool = False

    def of(self, entities: Sequence[str]) -> Figure:
        """The same of some flows, links or nodes alone."""
        if isinstance(self.drawn, Path) or not self.of_entities:
            raise TightlinkError(f"{self.name}: entity, or --entity, is of a series, such as cwnd_packets")
        return replace(self, drawn=partial(self.drawn, list(entities)))

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write it in the format of the file's ending: .svg, .png or .pdf."""
        target = Path(path)
        ending = check_format(target)
        if not isinstance(self.drawn, Path):
            return plots.write(self.drawn(), target)
        if ending == "pdf":
            import vl_convert

            return write_bytes(target, vl_convert.svg_to_pdf(self.drawn.read_text(encoding="utf-8")))
        return write_bytes(target, self.drawn.with_suffix(f".{ending}").read_bytes())


def figures(folder: str | os.PathLike[str]) -> list[Figure]:
    """The figures of the folder of a run, a sweep or a study, in the order of its report."""
    place = Path(folder)
    if holds_run(place):
        return list(_numbered(_of_run(open_run(place))))
    if (place / MARKER).exists():
        return list(_numbered(_of_sections(sweep.sections(sweep.Found(open_folder(place))))))
    drawn = sorted((place / "figures").glob("*.svg"))
    if not drawn and (place / "claims.json").exists():
        raise TightlinkError(f"{place}: this study draws no figures; its charts are in {place / 'report.html'}")
    if not drawn:
        raise TightlinkError(f"{place}: expected the folder of a run, a sweep or a finished study")
    return [Figure(file.stem, "", file) for file in drawn]


def figure(folder: str | os.PathLike[str], name: str) -> Figure:
    """The figure of that name."""
    there = {each.name: each for each in figures(folder)}
    if name not in there:
        missing = not_here(open_run(folder)) if holds_run(folder) else ""
        hint = f". {missing}" if missing else did_you_mean(name, there)
        raise TightlinkError(f'"{name}": expected a figure of {folder}, {one_of(there)}{hint}')
    return there[name]


def _of_run(run: Run) -> Iterator[Figure]:
    yield Figure("overview", "Rates, congestion windows and queues over time, or what limited each flow", run.plot)
    yield from _of_sections(runs.sections(run))
    sampled = observed(run, "series")
    if "series" in sampled.tables:
        said = dict(_core.metrics())
        for metric in sampled.series["metric"].unique().sort():
            yield Figure(metric, sentence(said.get(metric, "")), partial(sampled.plot, metric), of_entities=True)


def _of_sections(sections: Iterable[Section]) -> Iterator[Figure]:
    for section in sections:
        name = re.sub(r"[^a-z0-9]+", "-", section.title.casefold()).strip("-")
        for block in section.blocks:
            if isinstance(block, Chart | Row):
                drawn = "chart" if isinstance(block, Chart) else "charts"
                said = block.caption.partition(". ")[0].removesuffix(".") or _upwards(block)
                yield Figure(name, f"{section.title}: {said}".removesuffix(": "), partial(getattr, block, drawn))


def _upwards(block: Chart | Row) -> str:
    """What is drawn upwards in charts that have no caption, which tells the rows of a section apart."""
    charts = [block.chart] if isinstance(block, Chart) else block.charts
    encodings = (getattr(chart, "layer", [chart])[0].to_dict(validate=False).get("encoding", {}) for chart in charts)
    titles = (encoding.get("y", {}).get("title") or "" for encoding in encodings)
    return ", ".join(dict.fromkeys(title.partition(" (")[0] for title in titles if isinstance(title, str) and title))


def _numbered(found: Iterable[Figure]) -> Iterator[Figure]:
    """The same, with numbers behind names that came before."""
    taken: dict[str, int] = {}
    for each in found:
        taken[each.name] = taken.get(each.name, 0) + 1
        name = each.name if taken[each.name] == 1 else f"{each.name}-{taken[each.name]}"
        yield replace(each, name=name)
