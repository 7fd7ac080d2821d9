"""The command ``tightlink new lessons``: laboratories with a text, which come with the package."""

from pathlib import Path

from tightlink.commands.options import Json
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_names, print_verbatim
from tightlink.errors import TightlinkError
from tightlink.laboratory.lessons import LESSONS, write_lessons


@with_table_options
def lessons(folder: Path | None = None, *, json_: Json = False) -> None:
    """Write the lessons that come with Tightlink to a folder, pages to open in a browser, or print what there is.

    Args:
        folder: Folder to write to, which is made; beside each page are its scenario and its text. Files of others are
            never overwritten.
        json_: Print what lessons there are as JSON.
    """
    if folder is None:
        print_names(("lesson", "about"), [(name, title) for name, (title, _) in LESSONS.items()], as_json=json_)
        return
    if json_:
        raise TightlinkError("--json: it has no effect beside a folder, to which the lessons are written")
    # Last: whoever reads only the first lines, as head does, ends this.
    print_verbatim("".join(f"{file}\n" for file in write_lessons(folder)))
