"""The documentation site: what it is made of, and, where MkDocs is installed, that it builds and loads nothing from elsewhere."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

import tightlink as tl
from tightlink import _core

ROOT: Final = Path(__file__).parent.parent
GALLERY: Final = ROOT / "docs" / "gallery"
API: Final[dict[str, Any]] = tomllib.loads((ROOT / "docs" / "reference" / "api.toml").read_text(encoding="utf-8"))
_NEEDED: Final = ("mkdocs", "material", "mkdocstrings")
WHY_NOT: Final = next(
    (
        f"{name} is not installed (pip install --requirement docs/requirements.txt)"
        for name in _NEEDED
        if importlib.util.find_spec(name) is None
    ),
    None,
)
needs_mkdocs: Final = pytest.mark.skipif(WHY_NOT is not None, reason=str(WHY_NOT))
#: Scripts, styles, pictures and fonts that a page loads; links to read on are no such thing.
_LOADED: Final = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"']?([^\"'\s>]+)[^>]*>")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_the_reference_has_every_public_name_once() -> None:
    listed = [name for group in API.values() for name in group["names"]]
    assert set(tl.__all__) - set(listed) == set(), "in no group of docs/reference/api.toml"
    assert sorted(listed) == sorted(tl.__all__)


@pytest.mark.parametrize("name", API)
def test_the_examples_of_the_reference_run(name: str) -> None:
    example = doctest.DocTestParser().get_doctest(API[name]["example"], {}, name, "api.toml", 0)
    said = io.StringIO()
    assert doctest.DocTestRunner(verbose=False).run(example, out=said.write).failed == 0, said.getvalue()


@pytest.mark.parametrize("module", ["tightlink", "tightlink.analyze", "tightlink.plots", "tightlink.report.charts"])
def test_first_lines_of_docstrings_stand_alone(module: str) -> None:
    exporting = importlib.import_module(module)
    things = {name: getattr(exporting, name) for name in exporting.__all__}
    # What the engine defines has its text there; numbers and styles have none.
    ours = {
        name: each
        for name, each in things.items()
        if str(getattr(each, "__module__", "")).startswith("tightlink.") and not hasattr(_core, name)
    }
    assert len(ours) > 20
    for name, each in ours.items():
        first = (inspect.getdoc(each) or "").partition("\n")[0]
        assert len(first.split()) >= 4, f"{module}.{name}: {first}"


@needs_mkdocs
def test_the_site_is_built_and_loads_nothing_from_elsewhere(site: Path) -> None:
    pages = [page for page in site.rglob("*.html") if page.name != "404.html"]
    assert len(pages) > 70
    for page in pages:
        for tag in _LOADED.finditer(page.read_text(encoding="utf-8")):
            if "://" in tag[1]:
                assert 'rel="canonical"' in tag[0] or "rel=canonical" in tag[0], f"{page.relative_to(site)}: {tag[0]}"
    for style in site.rglob("*.css"):
        assert "url(http" not in style.read_text(encoding="utf-8")
    assert {file.parent for file in site.rglob("*.py")} == {site / "notebooks"}


@needs_mkdocs
def test_search_finds_names_and_pages(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"]: entry["text"] for entry in index["docs"]}
    assert "guides/why-is-it-slow.html" in places
    link = next(text for place, text in places.items() if place.endswith("scenarios.html#tightlink.Link"))
    assert "Transmission rate" in link
    assert "BeforeValidator" not in link
    assert {f"reference/definitions.html#{term}" for term in ("goodput", "jitter", "delay-variation")} <= set(places)
    assert "(" in index["config"]["separator"], "OWD is found in (OWD)"
    # What a word means comes before what changed.
    boosts = {entry["location"].partition("#")[0]: entry.get("boost", 1) for entry in index["docs"]}
    assert boosts["reference/definitions.html"] > boosts["guides/why-is-it-slow.html"] > boosts["CHANGELOG.html"]


def test_the_gallery_is_complete_and_small() -> None:
    gallery = runpy.run_path(str(GALLERY / "make.py"))
    pages = gallery["pages"]()
    named = [name for page in pages for name in re.findall(r"\]\(([\w-]+\.svg)\)", page.read_text(encoding="utf-8"))]
    assert len(named) == len(set(named)) >= 30
    assert sorted(named) == sorted(file.name for file in GALLERY.glob("*.svg"))
    assert sum((GALLERY / name).stat().st_size for name in named) < 3_000_000
    assert (GALLERY / "README.md").read_text(encoding="utf-8") == gallery["overview"](), "make gallery"


def test_pictures_of_the_gallery_are_drawn_the_same_twice(tmp_path: Path) -> None:
    draw = runpy.run_path(str(GALLERY / "make.py"))["draw"]
    drawn = []
    for turn in ("first", "second"):
        (tmp_path / turn).mkdir()
        drawn.append([file.read_bytes() for file in draw(GALLERY / "competing-flows.md", tmp_path / turn)])
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) == 6


def test_each_guide_begins_with_its_question_and_a_command() -> None:
    for guide in sorted((ROOT / "docs" / "guides").glob("*.md")):
        first = guide.read_text(encoding="utf-8").split("\n\n")[1]
        assert re.fullmatch(r"\*\*[A-Z][^*]+\?\*\* `[^`]+`", first), f"{guide.name}: {first}"


@needs_mkdocs
def test_lessons_and_notebooks_can_be_taken_away(site: Path) -> None:
    lesson = (site / "lessons" / "hidden-window.html").read_text(encoding="utf-8")
    assert "tightlink lab hidden-window.toml --text hidden-window.md" in lesson
    assert "{set:" not in lesson
    assert (site / "lessons" / "hidden-window.toml").is_file()
    notebooks = (site / "notebooks" / "index.html").read_text(encoding="utf-8")
    for file in (ROOT / "docs" / "notebooks").glob("*.py"):
        assert (site / "notebooks" / file.name).is_file()
        assert file.name in notebooks
