"""The command ``tightlink new study``: a study of one's own."""

from importlib.resources import files
from pathlib import Path
from typing import Final

from tightlink.console import print_verbatim
from tightlink.errors import TightlinkError
from tightlink.files import check_new, write_text

#: What it begins as.
_BEGINS: Final = "new_study.py"


def study(name: str) -> None:
    """Write a Python file with a small study, to begin your own with, and print where it is.

    Args:
        name: Name of the file, such as my_study.
    """
    file = Path(name if name.endswith(".py") else f"{name}.py")
    if not file.stem.isidentifier():
        raise TightlinkError(f"{file}: expected a name that a Python module can have, such as my_study")
    check_new(file)
    text = (files("tightlink") / "examples" / _BEGINS).read_text(encoding="utf-8")
    write_text(file, text.replace(_BEGINS, file.name).replace('"new-study"', f'"{file.stem.replace("_", "-")}"'))
    print_verbatim(f"{file}\n")
