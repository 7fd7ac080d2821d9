"""The command ``tightlink lab``: a scenario as a page with sliders that simulates every packet in the browser."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from tightlink.commands.options import Output, Set, changes
from tightlink.console import print_verbatim, warned
from tightlink.laboratory import write
from tightlink.scenario import load


def lab(
    file: Path,
    *,
    output: Output = None,
    slider: Annotated[list[str] | None, Parameter(negative="")] = None,
    set_: Set = None,
    text: Path | None = None,
    title: str = "",
) -> int:
    """Write a laboratory: one HTML file with the engine in it, in which sliders simulate every packet again.

    Args:
        file: Scenario, a TOML file.
        output: File to write (default: FILE.html in this folder).
        slider: key=v1,v2,… or a range key=1..20, of a key by its dotted path; may be repeated. Without any, sensible
            ones.
        text: Lesson to show, in Markdown; {set: key=value} in it is a button that moves a slider, and its
            images become part of the page.
        title: What stands above it (default: the name of the scenario).
    """
    scenario = load(file, set=changes(set_))
    wrong: list[str] = []
    target = write(
        output or Path(f"{file.stem}.html"),
        scenario,
        sliders=slider or (),
        text=text or "",
        title=title,
        warnings=wrong,
    )
    print_verbatim(f"{target}\n")
    return warned(wrong)
