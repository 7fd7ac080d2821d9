"""The command ``tightlink plot``: one figure of a run, a sweep or a study."""

from pathlib import Path

from tightlink.commands.controls import Controls, define
from tightlink.commands.options import Json, Output
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_names, print_verbatim
from tightlink.errors import TightlinkError
from tightlink.files import check_new
from tightlink.report.figures import figure, figures


@with_table_options
def plot(
    folder: Path, name: str | None = None, *, output: Output = None, controls: Controls = None, json_: Json = False
) -> None:
    """Write one figure of a run, a sweep or a study, as its report draws it; without a name, print what there is.

    Of a run each of its series is a figure, too, such as cwnd_packets.

    Args:
        folder: Folder of the run, the sweep or the study.
        name: Name of the figure.
        output: File to write, .svg, .png or .pdf (default: NAME.svg).
        json_: Print what figures there are as JSON.
    """
    define(controls)
    if name is None:
        if output is not None:
            raise TightlinkError(f"--output {output}: nothing is drawn without the name of a figure")
        print_names(("figure", "title"), [(each.name, each.title) for each in figures(folder)], as_json=json_)
        return
    if json_:
        raise TightlinkError("--json: it has no effect beside the name of a figure, which is drawn")
    target = Path(f"{name}.svg") if output is None else output
    check_new(target)
    print_verbatim(f"{figure(folder, name).write(target)}\n")
