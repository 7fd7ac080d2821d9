"""What is printed fits a terminal of 80 columns, and no value is cut; a pipe gets everything."""

from __future__ import annotations

import io
import re
import shlex
import sys
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis_cases import BLOAT
from programs import commands
from terminal import WIDTH, check_fits, typed
from tightlink import cli, console, text_table
from tightlink.numbers import NONE
from tightlink.text_table import Choice, TextTable, layout, size

ROOT: Final = Path(__file__).parent.parent
_CELLS = st.text(alphabet="abc 0123456789./:>-[]%", max_size=60).map(str.strip)


@given(st.lists(st.lists(_CELLS, min_size=4, max_size=4), max_size=4), st.integers(min_value=12, max_value=100))
def test_any_table_fits_any_terminal_and_keeps_its_values(rows: list[list[str]], width: int) -> None:
    check_fits(TextTable(["flow", "goodput", "one-way delay mean", "limited by"], rows, (3,), ("goodput",)), width)


def test_columns_go_in_the_order_that_a_table_states() -> None:
    table = TextTable(["flow", "first", "second", "third"], [["a" * 10, "b" * 10, "c" * 10, "d" * 10]],
                      drop=("second", "first"))  # fmt: skip
    assert [layout(table, width).hidden for width in (46, 45, 30)] == [(), ("second",), ("first", "second")]


def test_long_names_do_not_become_the_same() -> None:
    names = [f"upload-from-the-office-in-the-north-to-the-server-in-the-south[{number}]" for number in range(4)]
    table = TextTable(["flow", "goodput"], [[name, "28.69 Mbit/s"] for name in names])
    check_fits(table, 40)
    shown = "".join(layout(table, 40).lines).replace(" ", "")
    assert all(f"[{number}]" in shown for number in range(4))


def test_headers_are_folded_and_abbreviated_before_a_column_goes() -> None:
    table = TextTable(
        ["flow", "one-way delay p95", "retransmitted"], [["ftp", "72.48 ms", "4"]], drop=("retransmitted",)
    )
    assert layout(table, 38).head == ["flow  one-way delay p95  retransmitted"]
    assert layout(table, 37).head == ["       one-way", "         delay", "flow       p95  retransmitted"]
    assert layout(table, 28).head == ["flow   OWD p95  retx"]
    assert layout(table, 20).hidden == ()
    assert layout(table, 19).hidden == ("retransmitted",)


@pytest.mark.parametrize("name", ["retransmitted", "retx", "Retransmitted"])
def test_columns_are_chosen_by_name(name: str) -> None:
    table = TextTable(["flow", "goodput", "retransmitted"], [["ftp", "2 Mbit/s", "4"]])
    assert layout(table, None, Choice(names=[name])).lines == ["ftp               4"]


def test_more_columns_are_shown_to_who_asks_for_them() -> None:
    table = TextTable(["flow", "goodput", "loss"], [["ftp", "2 Mbit/s", "4 %"]], more=("loss",))
    choices = [None, Choice(names=["loss"]), Choice(wide=True)]
    assert [layout(table, width, choice).places for width in (None, 80) for choice in choices] == 2 * [
        (0, 1),
        (0, 2),
        (0, 1, 2),
    ]


def test_tables_of_many_columns_take_no_longer_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell is measured a few times, however many columns find no room."""
    measured = 0

    def counting(text: str) -> int:
        nonlocal measured
        measured += 1
        return size(text)

    monkeypatch.setattr(text_table, "size", counting)
    counts = []
    for columns in (100, 400):
        header = [f"factor.of.many.{place:03}" for place in range(columns)]
        rows = [[NONE if (place + row) % 3 else f"{place * row}" for place in range(columns)] for row in range(20)]
        measured = 0
        assert len(layout(TextTable(header, rows), 80).places) < 20
        counts.append(measured / columns)
    # Four times as many columns: as many measurements of each.
    assert counts[1] == pytest.approx(counts[0], rel=0.2)


@pytest.fixture
def one_flow() -> Path:
    return ROOT / "examples" / "one-flow.toml"


def test_a_column_that_no_table_has_is_said(one_flow: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", str(one_flow), "--columns", "goodputs"]) == console.WRONG
    said = capsys.readouterr()
    assert "flow" in said.out
    assert '--columns = "goodputs": expected one of flow, goodput' in said.err
    assert "did you mean goodput?" in said.err


def test_the_same_header_twice_is_told_apart() -> None:
    table = TextTable(["cell", "goodput", "±", "loss", "±"], [["0", "1", "2", "3", "4"]])
    assert layout(table, None, Choice(names=["loss ±"])).lines == ["0     4"]


def test_sentences_are_folded_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    for terminal, wanted in ((True, "the buffer is too\nlarge\n"), (False, "the buffer is too large\n")):
        out = io.StringIO()
        monkeypatch.setattr(out, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setattr("sys.stdout", out)
        console.print_text("the buffer is too large")
        assert out.getvalue() == wanted


def test_names_of_files_are_not_folded(one_flow: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", out)
    assert cli.main(["lab", str(one_flow), "--slider", "seed=1,2", "-o", str(tmp_path / "seeds.html")]) == 0
    assert out.getvalue() == f"{tmp_path / 'seeds.html'}\n"


def test_lines_are_folded_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of `study --claims`: each is indented where it goes on."""
    monkeypatch.setenv("COLUMNS", "20")
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setattr("sys.stdout", out)
    console.print_text("claim.one\n  The buffer is too large\nclaim.two\n", indent=2)
    assert out.getvalue().split("\n")[:4] == ["claim.one", "  The buffer is too", "  large", "claim.two"]


#: Commands of the documentation that need no file but examples, write none, and take no long time.
_QUICK: Final = re.compile(
    r"^\$ tightlink ((?:run examples/(?!router)|capture examples|list|packetize|maxflow examples|analyze \w+ examples)[^|;>]*?)"
    r"(?: --(?:pcap|tr) \S+| -o \S+)*$",
    re.MULTILINE,
)
_PAGES: Final = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
#: What is not folded: what others read. And what is a page.
_NOT_FOLDED: Final = re.compile(r"--json|--pcap|analyze explore| -o ")
_COMMANDS: Final = sorted(
    {
        found
        for page in _PAGES
        for found in _QUICK.findall(page.read_text(encoding="utf-8"))
        if not _NOT_FOLDED.search(found)
    }
)


@pytest.mark.parametrize("command", _COMMANDS)
def test_commands_of_the_documentation_fit_a_terminal(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    out = io.StringIO()
    monkeypatch.setattr(out, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdout", out)
    assert cli.main(shlex.split(command)) in {0, console.CAUTION}
    lines = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue()).splitlines()
    assert lines
    assert max(map(len, lines)) <= WIDTH, max(lines, key=len)
    assert not any("…" in line for line in lines), lines


def test_commands_fit_a_terminal_of_80_columns(one_flow: Path, tmp_path: Path) -> None:
    uploads = ["--set", "traffic.ftp.flows=4", "--set", "traffic.ftp.tcp.congestion=cubic"]
    assert cli.main(["run", str(one_flow), "-o", str(tmp_path / "before")]) == 0
    several = [
        ["run", str(one_flow), *uploads, "-o", "after"],
        ["compare", "before", "after"],
        ["sweep", str(one_flow), "--vary", "link.bottleneck.queue=5 packets,20 packets", "--replications", "2"],
    ]
    for words in several:
        code, lines = typed(words, tmp_path)
        assert code == 0, lines
        assert any("bottleneck" in line for line in lines), lines
        assert max(map(len, lines)) <= WIDTH, lines
        assert not any("…" in line for line in lines), lines


def test_a_sweep_of_queues_shows_what_changes_most_on_a_terminal(tmp_path: Path) -> None:
    """Three goodputs and names of queues as TOML left no room for the delay, of which the sentence below tells."""
    (tmp_path / "home.toml").write_text(
        """
        duration = "5 s"
        link.line = { ends = ["home", "net"], rate = "10 Mbit/s", delay = "15 ms" }
        traffic.upload = { kind = "bulk", from = "home", to = "net" }
        traffic.backup = { kind = "bulk", from = "home", to = "net", tcp.congestion = "cubic" }
        traffic.call = { kind = "cbr", from = "home", to = "net", rate = "100 kbit/s" }
        """,
        encoding="utf-8",
    )
    queues = "250 packets,{ kind = 'fq-codel' },{ kind = 'codel', target = '20 ms' }"
    code, lines = typed(["sweep", "home.toml", "--vary", f"link.line.queue={queues}"], tmp_path)
    assert code == 0
    table = lines[: next(place for place, line in enumerate(lines) if line.startswith("not shown"))]
    assert any(re.match(r"1/0 +fq-codel  .* ms$", line) for line in table), table
    assert any(re.match(r"2/0 +codel \(target 20 ms\)  .* ms$", line) for line in table), table
    assert any(line.startswith("The largest p95 queueing delay goes from") for line in lines), lines


@pytest.mark.parametrize("command", commands())
def test_help_fits_and_says_a_default_once(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for width in (WIDTH, 1000):
        monkeypatch.setenv("COLUMNS", str(width))
        assert cli.main([*command.split(), "--help"]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert max(map(len, lines)) <= width
        assert [line for line in lines if "(default:" in line and "[default:" in line] == []
        assert not any(f"[default: {off}]" in line for line in lines for off in (None, False))


def test_the_options_of_a_study_are_shown_wherever_its_name_stands(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["congestion-control"], ["-j", "2", "congestion-control"]):
        assert cli.main(["study", *words, "--help"]) == 0
        assert "Options of congestion-control:" in capsys.readouterr().out
    assert cli.main(["study", "--help"]) == 0
    assert "Options of" not in capsys.readouterr().out


@pytest.mark.parametrize("width", [60, 100])
def test_answers_are_folded_for_a_narrow_terminal(tmp_path: Path, width: int) -> None:
    """Their sentences have as many columns as it has, and no more than 80; options of a command are not broken."""
    (tmp_path / "bloat.toml").write_text(BLOAT["scenario"], encoding="utf-8")
    code, lines = typed(["run", "bloat.toml"], tmp_path, width)
    assert code == 0
    sentences = [line for line in lines[: lines.index("")] if "--set" not in line]
    assert min(width, 80) - 20 < max(map(len, sentences)) <= min(width, 80)
