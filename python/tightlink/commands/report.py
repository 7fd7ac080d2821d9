"""The command ``tightlink report``: what a folder holds, as one HTML file."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tightlink.commands.controls import Controls, define
from tightlink.commands.options import seconds
from tightlink.console import print_verbatim
from tightlink.errors import TightlinkError
from tightlink.report import run_report


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
