"""``tightlink new examples``, ``lessons`` and ``study``: files to start from, which come with the package."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from tightlink.commands.options import Json
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_names, print_verbatim
from tightlink.errors import TightlinkError
from tightlink.files import check_new, check_same, write_bytes, write_text

#: What an example is that says nothing of itself in its first line.
_KINDS: Final = {
    ".csv": "a table of runs",
    ".gml": "a graph",
    ".gz": "a capture",
    ".py": "a script",
    ".toml": "a scenario",
}
#: What a study of one's own begins as.
_BEGINS: Final = "new_study.py"


@with_table_options
def examples(folder: Path | None = None, *, json_: Json = False) -> None:
    """Write the examples that come with Tightlink to a folder, or print what there is.

    Args:
        folder: Folder to write to, which is made; files of the same content are left, others are never overwritten.
        json_: Print what examples there are as JSON.
    """
    with as_file(files("tightlink") / "examples") as source:
        found = {file.name: file.read_bytes() for file in sorted(source.iterdir()) if file.suffix in _KINDS}
    if folder is None or json_:
        _list("example", [(name, _about(name, content)) for name, content in found.items()], folder, as_json=json_)
        return
    for name, content in found.items():
        check_same(folder / name, content)
    for name, content in found.items():
        write_bytes(folder / name, content)
    # Last: whoever reads only the first lines, as head does, ends this.
    print_verbatim("".join(f"{folder / name}\n" for name in found))


def _about(name: str, content: bytes) -> str:
    """The first sentence of a file's comment or docstring, or its kind."""
    if name.endswith((".toml", ".py")):
        lines = (line.strip('# "') for line in content.decode().splitlines())
        text = " ".join(line for line in lines if line)
        return text.partition(". ")[0].partition(": ")[0]
    return _KINDS[Path(name).suffix]


@with_table_options
def lessons(folder: Path | None = None, *, json_: Json = False) -> None:
    """Write the lessons that come with Tightlink to a folder, pages to open in a browser, or print what there is.

    Args:
        folder: Folder to write to, which is made; beside each page are its scenario and its text. Files of others are
            never overwritten.
        json_: Print what lessons there are as JSON.
    """
    from tightlink.laboratory.lessons import LESSONS, write_lessons

    if folder is None or json_:
        _list("lesson", [(name, title) for name, (title, _) in LESSONS.items()], folder, as_json=json_)
        return
    # Last: whoever reads only the first lines, as head does, ends this.
    print_verbatim("".join(f"{file}\n" for file in write_lessons(folder)))


def _list(kind: str, names: list[tuple[str, str]], folder: Path | None, *, as_json: bool) -> None:
    if folder is not None:
        raise TightlinkError(f"--json: it has no effect beside a folder, to which the {kind}s are written")
    print_names((kind, "about"), names, as_json=as_json)


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
