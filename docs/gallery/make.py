#!/usr/bin/env python3
"""Draws the pictures of the gallery: ``make gallery``.

    python docs/gallery/make.py             # all
    python docs/gallery/make.py queues.md   # those of some pages

A page says how each of its pictures is made: the last ``python`` block before it leaves the picture in ``figure``.
Blocks of a page run in order and share their names; a ``toml`` block with ``# file: NAME`` in its first line is that
file. README.md, the overview, is written from the pages.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tightlink import plots

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HERE: Final = Path(__file__).resolve().parent
EXAMPLES: Final = HERE.parent.parent / "examples"
_PARTS: Final = re.compile(
    r"^```(?P<language>\w+)\n(?P<text>.*?)^```$|^## (?P<question>[^\n]+)$"
    r"|^!\[(?P<said>[^]]+)\]\((?P<file>[\w-]+\.svg)\)$",
    re.DOTALL | re.MULTILINE,
)


def pages() -> list[Path]:
    """The pages of the gallery, in the order of docs/README.md."""
    listed = re.findall(r"\(gallery/([\w-]+\.md)\)", (HERE.parent / "README.md").read_text(encoding="utf-8"))
    return [HERE / name for name in dict.fromkeys(listed) if name != "README.md"]


def draw(page: Path, folder: Path) -> list[Path]:
    """Run the blocks of a page and write its pictures into a folder."""
    return [_written(names.pop("figure"), folder / file) for file, names in followed(page)]


def followed(page: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run the blocks of a page; at each of its pictures the picture's file and the names that the blocks have set."""
    names: dict[str, Any] = {"__name__": "gallery"}
    with _in_a_folder():
        for part in _PARTS.finditer(page.read_text(encoding="utf-8")):
            if part["language"] == "toml":
                name = part["text"].partition("\n")[0].removeprefix("# file: ")
                Path(name).write_text(part["text"], encoding="utf-8")
            elif part["language"] == "python":
                exec(compile(part["text"], f"{page.name}", "exec"), names)  # noqa: S102
            elif part["file"]:
                yield part["file"], names


def overview() -> str:
    """The page on which all pictures are."""
    lines = [
        "# Gallery",
        "",
        "Pictures first: each leads to its question, the scenario, and the lines that made it.",
        "",
    ]
    for page in pages():
        text = page.read_text(encoding="utf-8")
        title, _, _ = text.partition("\n")
        # Beside each other on the site, below each other where styles are not known.
        lines += [f"#{title}", "", '<div class="gallery" markdown>', ""]
        question = ""
        for part in _PARTS.finditer(text):
            question = part["question"] or question
            if part["file"]:
                target = f"{page.name}#{_anchor(question)}"
                picture = f"[![{part['said']}]({part['file']})]({target})"
                lines += ["<div markdown>", "", picture, "", f"[{question}]({target})", "", "</div>", ""]
        lines += ["</div>", ""]
    return "\n".join(lines).rstrip() + "\n"


def _written(figure: Any, target: Path) -> Path:
    """A picture as one file, in which no line ends in spaces."""
    with tempfile.TemporaryDirectory() as elsewhere:
        drawn = plots.write(figure, Path(elsewhere) / target.name)
        text = "".join(line.rstrip() + "\n" for line in drawn.read_text(encoding="utf-8").splitlines())
    target.write_text(text, encoding="utf-8")
    return target


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@contextlib.contextmanager
def _in_a_folder() -> Iterator[None]:
    """Within it the working directory is a temporary folder with the examples."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("examples").symlink_to(EXAMPLES)
        try:
            yield
        finally:
            os.chdir(before)


def main(names: Sequence[str]) -> None:
    """Draw pages and write the overview."""
    for page in pages():
        if not names or page.name in names:
            begun = time.monotonic()
            made = draw(page, HERE)
            size = sum(file.stat().st_size for file in made)
            print(f"{page.name}: {len(made)} pictures, {size / 1e3:.0f} kB, {time.monotonic() - begun:.1f} s")
    (HERE / "README.md").write_text(overview(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
