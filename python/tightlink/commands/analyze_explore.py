"""``tightlink analyze explore``: an interactive page of runs."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tightlink import report
from tightlink.analysis import measurements
from tightlink.analysis.effects import designed
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
        chart = charts.explore(read, algorithm=algorithm)
    section = report.Section("Runs", "", [report.Chart(chart)])
    title = f"{read.runs.height} runs of {table.name}"
    print_verbatim(f"{report.write(output, title=title, lead=_LEAD, sections=[section])}\n")
