"""``tightlink analyze explore``: an interactive page of runs."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tightlink import report
from tightlink.analysis import measurements
from tightlink.analysis.effects import designed
from tightlink.commands.analyze_output import drawable
from tightlink.commands.options import Names
from tightlink.console import print_verbatim
from tightlink.report import charts

_LEAD = (
    "Draw a band across lines to keep the runs within it; click on levels and clusters, with the shift key on several; "
    "choose two responses, and draw a rectangle about some runs. All choices hold together; a click beside takes one "
    "back."
)


def explore(
    table: Path,
    *,
    algorithm: str | None = None,
    factors: Names = None,
    responses: Names = None,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = Path("explore.html"),
) -> None:
    """Write an interactive page of runs: parallel coordinates, two responses, clusters; and print where it is.

    Args:
        table: Runs: CSV, Parquet, or the folder of a sweep or study; a row a run.
        algorithm: Factor by which runs are coloured, and whose levels are clustered under all conditions of the others.
        factors: Columns of factors; without them, what the sweep varied, otherwise columns of two values, and the
            algorithm.
        responses: Columns of responses; without them, all other columns of numbers.
        output: File to write.
    """
    read = designed.read(table, factors=factors, responses=responses)
    with measurements.of_file(table):
        if algorithm is not None:
            designed.present(read.runs, [algorithm])
            named = dict.fromkeys([*read.factors, algorithm])
            read = designed.designed(read.runs, factors=list(named), responses=responses)
        shown = read if responses else _varying(read)
        drawable(table, shown.responses)
        chart = charts.explore(shown, algorithm=algorithm)
    section = report.Section("Runs", "", [report.Chart(chart)])
    title = f"{read.runs.height} runs of {table.name}"
    still = [name for name in read.responses if name not in shown.responses]
    lead = f"{_LEAD} Not drawn, as they did not vary: {', '.join(still)}." if still else _LEAD
    print_verbatim(f"{report.write(output, title=title, lead=lead, sections=[section])}\n")


def _varying(table: designed.Designed) -> designed.Designed:
    """The same with the responses that differ between runs, if there are several."""
    varying = tuple(name for name in table.responses if table.runs[name].drop_nulls().n_unique() > 1)
    return replace(table, responses=varying) if len(varying) > 1 else table
