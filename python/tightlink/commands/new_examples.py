"""The command ``tightlink new examples``: scenarios and tables to start from, which come with the package."""

from importlib.resources import as_file, files
from pathlib import Path
from typing import Final

from tightlink.commands.options import Json
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_names, print_verbatim
from tightlink.errors import TightlinkError
from tightlink.files import check_same, write_bytes

#: What an example is that says nothing of itself in its first line.
_KINDS: Final = {
    ".csv": "a table of runs",
    ".gml": "a graph",
    ".gz": "a capture",
    ".py": "a script",
    ".toml": "a scenario",
}


@with_table_options
def examples(folder: Path | None = None, *, json_: Json = False) -> None:
    """Write the examples that come with Tightlink to a folder, or print what there is.

    Args:
        folder: Folder to write to, which is made; files of the same content are left, others are never overwritten.
        json_: Print what examples there are as JSON.
    """
    with as_file(files("tightlink") / "examples") as source:
        found = {file.name: file.read_bytes() for file in sorted(source.iterdir()) if file.suffix in _KINDS}
    if folder is None:
        print_names(
            ("example", "about"), [(name, _about(name, content)) for name, content in found.items()], as_json=json_
        )
        return
    if json_:
        raise TightlinkError("--json: it has no effect beside a folder, to which the examples are written")
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
