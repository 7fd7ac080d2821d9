"""What the documentation site has beside the pages of this folder: a hook of MkDocs, used by ``make docs``.

- Its sections and pages are those of README.md, the index that every page must be in.
- Pages of the project's root, such as CHANGELOG.md, are pages of the site, too.
- The API reference has every public name of the package, in the groups of reference/api.toml.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import posixpath
import re
import textwrap
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import griffe
from mkdocs.structure.files import File

from tightlink.laboratory.lessons import LESSONS, command

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT: Final = Path(__file__).resolve().parent.parent
#: Pages of the project's root that the site has, under these names.
_OF_ROOT: Final = {"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}
#: Lessons of the package, which are pages below lessons/.
_LESSONS: Final = "python/tightlink/laboratory/lessons/"
#: How a definition begins: with its term, which the site has as a heading, as the search finds these first.
_TERM: Final = re.compile(r"^\*\*([A-Z][\w -]+)\.\*\* ", re.MULTILINE)
_LINK: Final = re.compile(r"\[([^]]+)\]\(([^)\s]+)\)")
_REPOSITORY: Final = "https://github.com/tightlink/tightlink/blob/main/"

#: How much more a page counts in the search than others, by how its name begins: what a word means first, then what to
#: do, before names of Python and what changed when.
_BOOSTS: Final = {
    "reference/definitions.md": 4.0,
    "tutorial/": 2.0,
    "guides/": 2.0,
    "reference/api/": 0.5,
    "CHANGELOG.md": 0.05,
}

#: The groups of the API reference: title, what is said above, an example, and its names.
API: Final[dict[str, Any]] = tomllib.loads((ROOT / "docs" / "reference" / "api.toml").read_text(encoding="utf-8"))
#: What examples take for granted.
_IMPORTED: Final = (
    "Every public name of the package, after `import tightlink as tl`. Examples have `import numpy as np` and "
    "`import polars as pl` before them, too."
)
#: Modules that have a page each, with all that they export.
MODULES: Final = {
    "analyze": "Analyses",
    "plots": "Figures for papers",
    "report": "Reports",
    "report.charts": "Charts of reports",
    "experiment": "Results of experiments",
    "units": "Units",
}


class Docstrings(griffe.Extension):
    """Docstrings as griffe knows them, which does not run the package.

    Examples stand below "Examples:", where ours have "Example:" or no title. Tables of scenarios have the text of
    ``help``, with each key, its type and its meaning.
    """

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Change the docstring of what was loaded."""
        if obj.docstring is not None:
            if obj.is_class and obj.path.startswith("tightlink.scenario."):
                thing = getattr(importlib.import_module(obj.module.path), obj.name, None)
                obj.docstring.value = inspect.getdoc(thing) or obj.docstring.value
            text = re.sub(r"^Example:$", "Examples:", obj.docstring.value, flags=re.MULTILINE)
            if bare := re.search(r"^>>> ", text, re.MULTILINE):
                text = f"{text[: bare.start()]}Examples:\n{textwrap.indent(text[bare.start() :], '    ')}"
            obj.docstring.value = text


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Sections and pages as README.md has them, with the API reference behind the reference."""
    sections: dict[str, list[Any]] = {"Start": [{"Documentation": "README.md"}]}
    title = "Start"
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for part in re.split(r"^\*\*(.+)\*\*$", index, flags=re.MULTILINE):
        links = _LINK.findall(part)
        title = title if links else part
        for text, target in links:
            name = " ".join(text.split())
            target = target.replace(f"../{_LESSONS}", "lessons/")
            if target.endswith(".md") and not target.startswith(".."):
                sections.setdefault(title, []).append({name[0].upper() + name[1:]: target})
    lessons = [page for page in sections["Guides"] if next(iter(page.values())).startswith("lessons/")]
    sections["Guides"] = [page for page in sections["Guides"] if page not in lessons] + [{"Lessons": lessons}]
    api = [{group["title"]: f"reference/api/{name}.md"} for name, group in API.items()]
    api += [{title: f"reference/api/{name.replace('.', '-')}.md"} for name, title in MODULES.items()]
    sections["Reference"].append({"Python": [{"All names": "reference/api/index.md"}, *api]})
    sections["Project"] = [{name.removesuffix(".md").capitalize(): name} for name in sorted(_OF_ROOT)]
    config.nav = [{title: pages} for title, pages in sections.items()]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages of the root, of the lessons and of the API reference."""
    for name in sorted(_OF_ROOT):
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, name, content=text))
    for name in LESSONS:
        for file in (f"{name}.md", f"{name}.toml"):
            text = (ROOT / _LESSONS / file).read_text(encoding="utf-8")
            files.append(File.generated(config, f"lessons/{file}", content=text))
    for name, text in api_pages().items():
        files.append(File.generated(config, f"reference/api/{name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Links as they are right in the project, to pages of the site or files of the repository; lessons with a lab."""
    page.meta["search"] = {"boost": _boost(page.file.src_uri)}
    if page.file.src_uri == "reference/definitions.md":
        markdown = _TERM.sub(r"#### \1\n\n", markdown)
    if page.file.src_uri.startswith("lessons/"):
        markdown = _lesson(Path(page.file.src_uri).stem, markdown)
    here = posixpath.dirname(page.file.src_uri)
    from_root = page.file.src_uri in _OF_ROOT

    def moved(match: re.Match[str]) -> str:
        target, hash_, anchor = match[2].partition("#")
        if not target or "://" in target or target.startswith("mailto:"):
            return match[0]
        path = posixpath.normpath(posixpath.join("" if from_root else "docs", here, target))
        inside = path.removeprefix("docs/") if path.startswith("docs/") else path if path in _OF_ROOT else None
        if path == "README.md":
            inside = "README.md"
        if path.startswith(_LESSONS):
            inside = path.replace(_LESSONS, "lessons/")
        if inside is None or (not inside.endswith(".md") and files.get_file_from_path(inside) is None):
            # Not a page: a file, which must be there.
            if not (ROOT / path).exists():
                return match[0]
            return f"[{match[1]}]({_REPOSITORY}{path}{hash_}{anchor})"
        return f"[{match[1]}]({posixpath.relpath(inside, here or '.')}{hash_}{anchor})"

    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.DOTALL | re.MULTILINE)
    return "".join(part if part.startswith("```") else _LINK.sub(moved, part) for part in parts)


def _boost(page: str) -> float:
    """How much more a page counts in the search than others."""
    return next((boost for beginning, boost in _BOOSTS.items() if page.startswith(beginning)), 1.0)


def _lesson(name: str, markdown: str) -> str:
    """A lesson as a page: what its buttons set, and the command that makes its laboratory."""
    told = re.sub(r"\{set: ([^}]+)\}", r"`\1`", markdown)
    return (
        f"# {LESSONS[name][0]}\n\nA lesson beside a laboratory, in which what is set here are buttons: the scenario is "
        f"[{name}.toml]({name}.toml), the text [{name}.md]({_REPOSITORY}{_LESSONS}{name}.md).\n\n"
        f"```text\n{command(name)}\n```\n\n{told}"
    )


def api_pages() -> dict[str, str]:
    """The API reference: the text of each page by its name."""
    pages = {}
    index = ["# Python, name by name", "", _IMPORTED]
    for page, group in API.items():
        entries = "\n\n".join(_entry(name) for name in group["names"])
        example = f"```pycon\n{group['example'].strip()}\n```"
        pages[page] = f"# {group['title']}\n\n{group['text']}\n\n{example}\n\n{entries}\n"
        index += ["", f"**[{group['title']}]({page}.md)**", ""]
        index += [f"- [`tl.{name}`]({page}.md#{_path(name)})" for name in group["names"]]
    for module, title in MODULES.items():
        page = module.replace(".", "-")
        pages[page] = f"# {title}\n\n{_module(module)}\n"
        index += ["", f"**[{title}]({page}.md)**: `tightlink.{module}`"]
    return pages | {"index": "\n".join(index) + "\n"}


def _path(name: str) -> str:
    """Where a name is: a function may be called like the module that it is in."""
    in_module = importlib.util.find_spec(f"tightlink.{name}") is not None
    return f"tightlink.{name}.{name}" if in_module else f"tightlink.{name}"


def _entry(name: str) -> str:
    import tightlink
    from tightlink.scenario.table import Table

    thing = getattr(tightlink, name)
    table = isinstance(thing, type) and issubclass(thing, Table)
    if not table:
        return f"::: {_path(name)}"
    # Of a table its keys, which its docstring has; what all tables can do is said once, of the scenario.
    methods = [each for each in vars(thing) if not each.startswith("_") and callable(getattr(thing, each))]
    if name == "Scenario":
        return f"::: tightlink.{name}\n    options:\n      members: [{', '.join(methods)}]"
    return f"::: tightlink.{name}\n    options:\n      show_signature: false\n      members: false"


def _module(module: str) -> str:
    """A module's own text, then what it exports; of the analyses, the modules that they are in, with their methods."""
    import tightlink

    options = "    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n"
    parts = [f"::: tightlink.{module}\n{options}      members: false"]
    if module == "analyze":
        from tightlink import analyze

        places: dict[str, list[str]] = {}
        for name in analyze.__all__:
            places.setdefault(getattr(analyze, name).__module__, []).append(name)
        for place, names in places.items():
            parts.append(f"::: {place}\n    options:\n      show_root_full_path: true\n      members: false")
            parts += [f"::: tightlink.analyze.{name}\n    options:\n      heading_level: 3" for name in names]
        return "\n\n".join(parts)
    exported = getattr(importlib.import_module(f"tightlink.{module}"), "__all__", None)
    if exported is None:
        return f"::: tightlink.{module}\n{options}".rstrip()
    # What has a name of the package, too, is described by that.
    others = (name for name in exported if name not in tightlink.__all__)
    return "\n\n".join([*parts, *(f"::: tightlink.{module}.{name}" for name in others)])
