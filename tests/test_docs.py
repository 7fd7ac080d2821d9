"""Every code block of the documentation runs and prints what it says; links and references are true.

On each page blocks run in order, in one folder, and share their names:

- ``toml`` must be a scenario. ``# file: NAME`` in its first line writes it to that file, for the blocks that
  follow; ``# with: NAME`` says that it is added to the scenario of that file.
- ``python`` is run; with ``>>>`` as a doctest; with ``# file: NAME`` in its first line,
  written to that file as well.
- ``console`` runs the lines that begin with ``$`` and compares what is printed; ``...`` stands for anything.
  Of ``make`` of the repository, which would take minutes, it is checked that the target exists; ``git clone`` and ``pip install`` are taken
  as read (``make check-wheel`` does what they do). Where a program is not installed, blocks that need it are left out, and
  the page is reported as skipped.
- ``rust`` is run by ``cargo test``, as part of the engine's own documentation.
- ``tcl`` is run by ns-2.35, where it is installed, and what it traces compared with the ``out.tr`` of the page.
- ``c`` has ``/* file: NAME */`` in its first line, and is a congestion control of Linux in that file.
- ``text`` is no code; with ``# file: NAME`` in its first line, written to that file, as for ``make``.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

import tightlink as tl
from programs import commands, lacking, lacking_engine_for_browsers
from terminal import check_fits
from tightlink import cli, console, control, studies
from tightlink.laboratory.lessons import LESSONS
from tightlink.lazy import _core
from tightlink.measure.machine import missing
from tightlink.scenario import TOPOLOGIES
from tightlink.scenario.table import merged
from tightlink.text_table import Choice, Layout, TextTable, layout

ROOT: Final = Path(__file__).parent.parent
DOCS: Final = ROOT / "docs"
PAGES: Final = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
LANGUAGES: Final = {"c", "toml", "python", "console", "rust", "tcl", "text"}
FLAGS: Final = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
#: What a plain shell must run, where it is not quoted: pipes, variables.
_SHELL: Final = re.compile(r"[|;&<>`$\\]")
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"`$\\]*\"")
#: Where the output of a command goes instead.
_INTO: Final = re.compile(r" > ?(\S+)$")
#: tshark does not like to be run by root, as it is where tests run in containers.
_AS_ROOT: Final = r"(?m)^Running as user \"root\".*\n"
#: What is said beside a measurement on a busy machine.
_BUSY: Final = r"(?m)^tightlink: warning: the machine was busy: .*\n"
#: What takes new namespaces and devices.
_LIVE: Final = re.compile(r"tightlink (emulate|measure \S+\.toml)")
_BY_KERNEL: Final = "tightlink.measure.forwarding"
#: How blocks are known that need a program of others, or what it wrote.
_NEEDS: Final = {
    "awk": r"[$|] awk ",
    "cc": r"\Ac\n|linux-gentle|tcp_gentle",
    "make": r"\$ make --silent ",
    "iperf3": r"--sender iperf3|iperf3\.json",
    "ns": r"\Atcl\n",
    "ping": r"-- ping |\"ping\"|\"pinged\"|\"crossed\"|burnt",
    "tshark": r"\$ tshark ",
}
_FENCE: Final = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_TARGETS: Final = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and the line of the page at which it stands."""

    language: str
    text: str
    line: int


def _blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [Block(match[1], match[2], text[: match.start()].count("\n") + 2) for match in _FENCE.finditer(text)]


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


class Reader:
    """Somebody who types all blocks of a page, one after the other, in a folder."""

    def __init__(self, page: Path, folder: Path) -> None:
        self.page = page
        self.folder = folder
        self.names: dict[str, Any] = {"__name__": "docs"}
        for name in ("benchmarks", "examples"):
            (folder / name).symlink_to(ROOT / name)

    def follow(self, block: Block) -> None:
        getattr(self, f"_{block.language}")(block)

    def _rust(self, _: Block) -> None:
        guides = (ROOT / "crates" / "sim" / "src" / "lib.rs").read_text(encoding="utf-8")
        assert f'include_str!("../../../{_name(self.page)}")' in guides

    def _tcl(self, block: Block) -> None:
        elsewhere = self.folder / "ns2"
        elsewhere.mkdir()
        subprocess.run(["ns", "-"], input=block.text, cwd=elsewhere, text=True, check=True, timeout=60)
        assert (elsewhere / "out.tr").read_text() == (self.folder / "out.tr").read_text()

    def _text(self, block: Block) -> None:
        if head := re.match(r"# file: (\S+)\n", block.text):
            (self.folder / head[1]).write_text(block.text, encoding="utf-8")

    def _c(self, block: Block) -> None:
        head = re.match(r"/\* file: (\S+) \*/\n", block.text)
        assert head is not None, f"{_name(self.page)}:{block.line}: expected the name of a file"
        (self.folder / head[1]).write_text(block.text, encoding="utf-8")
        control.load(self.folder / head[1])

    def _toml(self, block: Block) -> None:
        head = re.match(r"# (file|with): (\S+)\n", block.text)
        data = tomllib.loads(block.text)
        if head and head[1] == "with":
            data = merged(tomllib.loads((self.folder / head[2]).read_text(encoding="utf-8")), data)
        tl.Scenario.from_dict(data, file=self.page.name).resolve()
        if head and head[1] == "file":
            (self.folder / head[2]).write_text(block.text, encoding="utf-8")

    def _python(self, block: Block) -> None:
        if head := re.match(r"# file: (\S+)\n", block.text):
            (self.folder / head[1]).write_text(block.text, encoding="utf-8")
        if not block.text.startswith(">>>"):
            with contextlib.redirect_stdout(io.StringIO()):
                source = "\n" * (block.line - 1) + block.text
                # As readers run it: without the future statements of this file.
                exec(compile(source, str(self.page), "exec", dont_inherit=True), self.names)
            return
        example = doctest.DocTestParser().get_doctest(block.text, {}, _name(self.page), str(self.page), block.line - 1)
        example.globs = self.names
        said = io.StringIO()
        result = doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(example, out=said.write, clear_globs=False)
        if "InvalidMeasurementError: lateness: " in said.getvalue():
            pytest.skip("the machine is too busy for a router that is its kernel")
        assert result.failed == 0, said.getvalue()

    def _console(self, block: Block) -> None:
        for part in re.split(r"^(?=\$ )", block.text, flags=re.MULTILINE):
            command, _, expected = part.partition("\n")
            if not command.startswith("$ "):
                assert not command, f"{_name(self.page)}:{block.line}: output before the first command"
                continue
            code, printed = self._typed(command.removeprefix("$ "))
            if "tightlink: lateness: " in printed:
                pytest.skip("the machine is too busy for an emulated link")
            place = f"{_name(self.page)}:{block.line}: {command}"
            printed = re.sub(_BUSY, "", printed)
            if expected.strip():
                wanted = _lines(expected)
                assert doctest.OutputChecker().check_output(wanted, _lines(printed), doctest.ELLIPSIS), (
                    f"{place}\nexpected:\n{wanted}\nprinted:\n{printed}"
                )
            assert code in {0, console.CAUTION} or "expected" in expected, f"{place}\n{printed}"

    def _typed(self, command: str) -> tuple[int, str]:
        program, *words = command.split()
        if program == "make" and not (self.folder / "Makefile").exists():
            assert all(word in _TARGETS for word in words), command
            return 0, ""
        if program in {"git", "cd", ".", "pip"}:
            return 0, ""
        plain = _QUOTED.sub('""', command)
        into = _INTO.search(plain)
        if program == "tightlink" and not _SHELL.search(_INTO.sub("", plain)):
            said = io.StringIO()
            line = command.removesuffix(into[0]) if into else command
            with contextlib.ExitStack() as stack:
                out = stack.enter_context((self.folder / into[1]).open("w", encoding="utf-8")) if into else said
                stack.enter_context(contextlib.redirect_stdout(out))
                stack.enter_context(contextlib.redirect_stderr(said))
                code = cli.main(shlex.split(line)[1:])
            return code, said.getvalue()
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder, env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, check=False,
        )  # fmt: skip
        return done.returncode, re.sub(_AS_ROOT, "", done.stdout)


def _layout_that_fits(table: TextTable, width: int | None, choice: Choice) -> Layout:
    """A table's layout; whatever a page prints is looked at as a terminal of 80 columns shows it, too."""
    check_fits(table)
    return layout(table, width, choice)


def _lacking(block: Block) -> str | None:
    """The first program that a block needs and that is not installed, with its package, as a reason to skip."""
    if (
        re.search(r"\$ tightlink lab |--with-lab|\blab\b = tl\.lab|\blab\.run\b", block.text)
        and (why := lacking_engine_for_browsers()) is not None
    ):
        return why
    return lacking(*(name for name, mark in _NEEDS.items() if re.search(mark, f"{block.language}\n{block.text}")))


def _words(command: str) -> list[str]:
    """A command's words; spaces between quotes do not separate."""
    return re.findall(r'(?:[^\s"]|"[^"]*")+', command)


def _lines(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.rstrip().splitlines())


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_pages_do_what_they_say(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(console, "layout", _layout_that_fits)
    reader = Reader(page, tmp_path)
    left_out: list[str] = []
    for block in _blocks(page):
        assert block.language in LANGUAGES, f"{_name(page)}:{block.line}: not a language that is tested"
        if (why := _lacking(block)) is not None:
            left_out.append(why)
            continue
        if block.language == "console" and _LIVE.search(block.text) and (why := missing("tun")):
            pytest.skip(f"the rest of the page takes emulated hosts: {why}")
        if block.language == "python" and _BY_KERNEL in block.text and (why := missing("forwarding")):
            pytest.skip(f"the rest of the page takes a router that is the kernel: {why}")
        reader.follow(block)
    if left_out:
        pytest.skip(f"all but some blocks: {'; '.join(dict.fromkeys(left_out))}")


def _anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    plain = re.sub(r"[`*_]|\[([^]]*)\]\([^)]*\)", lambda match: match[1] or "", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{_name(page)}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", _FENCE.sub("", file.read_text(encoding="utf-8")), re.MULTILINE)
            assert anchor in map(_anchor, headings), f"{_name(page)}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_files_that_are_named_exist(page: Path) -> None:
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for name in re.findall(r"`((?:benchmarks|crates|docs|examples|python|tests)/[\w./-]+)`", text):
        assert (ROOT / name).exists(), f"{_name(page)}: {name}"
    for target in re.findall(r"`make ([a-z-]+)`", text):
        assert target in _TARGETS, f"{_name(page)}: make {target}"


def test_the_index_lists_every_page() -> None:
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    for page in PAGES:
        if page.is_relative_to(DOCS) and page != DOCS / "README.md":
            assert f"({page.relative_to(DOCS)})" in index, _name(page)


def test_the_reference_is_up_to_date() -> None:
    stale = runpy.run_path(str(DOCS / "reference" / "make.py"))["stale"]()
    assert [page.name for page in stale] == [], "python docs/reference/make.py"


def test_every_table_of_a_scenario_has_its_place() -> None:
    tables = runpy.run_path(str(DOCS / "reference" / "make.py"))["KEYS"]
    page = (DOCS / "reference" / "scenario.md").read_text(encoding="utf-8")
    lacking = [name for name in tables if f"<!-- made: keys.{name} -->" not in page]
    assert lacking == [], "a heading in scenario.md, and <!-- made: keys.NAME --> with <!-- end --> below it"
    sections = {part.partition("\n")[0]: part for part in page.split("\n### ")}
    for kind, topology in TOPOLOGIES.items():
        names = re.findall(r"NAME\.\w+", str(topology.__doc__).partition("Args:")[0])
        assert [name for name in names if f"`{name}" not in sections[kind]] == []


def test_pages_count_what_there_is() -> None:
    counted = {
        "twenty-four [congestion controls]": (ROOT, len(_core.congestion()), 24),
        "fifteen [queues]": (ROOT, len(_core.queues()), 15),
        "seven lessons": (ROOT, len(LESSONS), 7),
        "six of them": (DOCS, len([*(DOCS / "notebooks").glob("*.py")]), 6),
    }
    for text, (folder, there_are, told) in counted.items():
        assert there_are == told, text
        assert text in (folder / "README.md").read_text(encoding="utf-8")


def test_every_command_has_its_place() -> None:
    page = (DOCS / "reference" / "commands.md").read_text(encoding="utf-8")
    places = {name: f"<!-- made: command.{name.replace(' ', '.')} -->" for name in commands()}
    lacking = [name for name, place in places.items() if place not in page]
    assert lacking == [], "a heading in commands.md, and <!-- made: command.NAME --> with <!-- end --> below it"


def test_the_images_can_be_made(tmp_path: Path) -> None:
    made = runpy.run_path(str(DOCS / "images" / "make.py"))["draw"](tmp_path)
    assert [file.name for file in made] == sorted(file.name for file in (DOCS / "images").glob("*.svg"))
    assert all(file.stat().st_size < 150_000 for file in made)


VALIDATION: Final = (DOCS / "validation.md").read_text(encoding="utf-8")
#: The last cells of its first table: how to have each thing said again.
RERUN: Final = sorted(set(re.findall(r"\| `([^`|]+)` \|$", VALIDATION, re.MULTILINE)))


@pytest.mark.parametrize("command", [command for command in RERUN if not command.startswith("cargo ")])
def test_what_validation_names_can_be_run(command: str) -> None:
    program, *words = _words(command)
    if program == "make":
        assert all(word in _TARGETS for word in words)
    elif program == "tightlink":
        cli.app.parse_args(words, exit_on_error=False, print_error=False)
        assert words[0] != "study" or words[1] in dict(studies.names())
    elif program == ".venv/bin/python":
        assert (ROOT / words[0]).is_file()
    else:
        assert program == ".venv/bin/pytest"
        assert words
        assert all((ROOT / word).is_file() for word in words)


def test_what_validation_names_of_the_engine_has_tests() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed: https://rustup.rs")
    commands = [command for command in RERUN if command.startswith("cargo ")]
    assert len(commands) > 5
    for command in commands:
        found = re.fullmatch(r"cargo test -p (tightlink-\w+) (--lib|--test \w+)(?: (?:-- )?([\w: ]+))?", command)
        assert found, command
        names = _tests_of_the_engine(found[2])
        assert names, command
        for part in (found[3] or "").split():
            assert any(part in name for name in names), f"{command}: no test is called so"


@cache
def _tests_of_the_engine(target: str) -> list[str]:
    """The names of the tests of a target."""
    # All packages, as `make test` has compiled them: of one alone, dependencies would have other features.
    argv = ["cargo", "test", "--quiet", "--workspace", "--exclude", "tightlink-python", *target.split(), "--", "--list"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=True, timeout=900)
    return re.findall(r"^(.+): test$", done.stdout, re.MULTILINE)
