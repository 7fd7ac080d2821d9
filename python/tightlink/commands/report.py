"""``tightlink report`` and ``tightlink plot``: what a folder holds, as one HTML file, or one figure of it."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tightlink.commands.controls import Controls, define
from tightlink.commands.options import Json, Names, Output, seconds
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_names, print_verbatim
from tightlink.errors import TightlinkError
from tightlink.files import check_new
from tightlink.report import run_report
from tightlink.report.figures import figure, figures


def report(
    folder: Path,
    *,
    sequence: str | None = None,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
    to: str | None = None,
    with_lab: Annotated[bool, Parameter(negative="")] = False,
    controls: Controls = None,
) -> None:
    """Write the report of a run, a study or a sweep, one HTML file, and print where it is.

    Args:
        folder: Folder of the run, the study or the sweep.
        sequence: Flow whose sequence numbers are drawn over time; the run needs its packets (run --trace, capture
            --packets).
        from_: Where the sequence numbers begin, such as "3 s": of a short part every packet is drawn (default: the
            beginning of the run).
        to: Where they end (default: the end of the run).
        with_lab: Put a laboratory into the report: the engine, and what was simulated with sliders.
    """
    define(controls)
    if sequence is None and (from_ is not None or to is not None):
        raise TightlinkError("--from and --to are times of the chart that --sequence FLOW draws")
    between_s = (seconds("--from", from_, zero=True), seconds("--to", to))
    print_verbatim(f"{run_report(folder, sequence=sequence, between_s=between_s, with_lab=with_lab)}\n")


@with_table_options
def plot(
    folder: Path,
    name: str | None = None,
    *,
    output: Output = None,
    entity: Names = None,
    controls: Controls = None,
    json_: Json = False,
) -> None:
    """Write one figure of a run, a sweep or a study, as its report draws it; without a name, print what there is.

    Of a run each of its series is a figure, too, such as cwnd_packets.

    Args:
        folder: Folder of the run, the sweep or the study.
        name: Name of the figure.
        output: File to write, .svg, .png or .pdf (default: NAME.svg).
        entity: Flows, links or nodes of which a series is drawn (default: all that have it).
        json_: Print what figures there are as JSON.
    """
    define(controls)
    if name is None:
        if output is not None or entity is not None:
            given = "--entity" if output is None else f"--output {output}"
            raise TightlinkError(f"{given}: nothing is drawn without the name of a figure")
        print_names(("figure", "title"), [(each.name, each.title) for each in figures(folder)], as_json=json_)
        return
    if json_:
        raise TightlinkError("--json: it has no effect beside the name of a figure, which is drawn")
    target = Path(f"{name}.svg") if output is None else output
    check_new(target)
    found = figure(folder, name)
    print_verbatim(f"{(found if entity is None else found.of(entity)).write(target)}\n")
