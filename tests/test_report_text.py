"""Texts of reports, names within what was observed, and the cases of a study."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
import pytest

import tightlink as tl
from tightlink.report import Chart, Row, Section, Table, Text, charts
from tightlink.report.tables import parts
from tightlink.studies.cases import Cases
from tightlink.studies.expressions import Names, NotObservedError, evaluate, fill
from tightlink.studies.report_text import page
from tightlink.studies.study import Live, Report

if TYPE_CHECKING:
    from pathlib import Path


class Pair(NamedTuple):
    """Something with attributes."""

    first: float
    second: float


FRAME = pl.DataFrame({"flows": [1, 10], "loss": [0.0, 0.25]})
OBSERVED = {"queue-5.sent": 12, "pair": Pair(1.5, 2.5), "many": FRAME, "nested": {"a.b": {"c": 3}}}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("queue-5.sent", 12),
        ("pair.second - pair.first", 1.0),
        ("many.10.loss", 0.25),
        ("many.last.flows", 10),
        ("max(many.loss) + mean(many.flows) + sum(many.flows) + len(many.loss)", 18.75),
        ("nested.a.b.c", 3),
    ],
)
def test_names_reach_into_what_was_observed(expression: str, value: float) -> None:
    assert evaluate(expression, OBSERVED) == value


@pytest.mark.parametrize("name", ["many.2.loss", "pair.third", "pair._fields", "queue-5.dropped", "many.loss.first"])
def test_what_was_not_observed_is_said(name: str) -> None:
    with pytest.raises(NotObservedError, match=f'"{name}" was not observed'):
        evaluate(name, OBSERVED)


def test_the_first_of_several_that_has_a_name() -> None:
    names = Names({"sent": 1}, {"sent": 2, "lost": 3})
    assert (names["sent"], names["lost"], sorted(names)) == (1, 3, ["lost", "sent"])


def test_formats_of_sentences() -> None:
    written = fill("{many.flows:list}; {pair.first * 1e6:mbit 1}; {1234.5:per_s}", OBSERVED)
    assert written.replace("\u00a0", " ") == "1, 10; 1.5 Mbit/s; 1,234 packets/s"


def test_a_text_becomes_a_report(tmp_path: Path) -> None:
    chart = charts.line(FRAME, "flows", "loss")
    made = Section("Elsewhere", "Made by code.")
    text = """
# Flows

One paragraph
of {queue-5.sent} packets.

Another.

## Loss of {many.last.flows}
> {many.10.loss:.0%} of the packets
> {queue-5.sent /
> 12:g} time.

- first
item
- second

Then more.

[[table]] A caption
in two lines.

[[row]]

[[one]] {pair.first}

## Not measured
> Nothing.

[[missing]]

## [[made]]
"""
    blocks = {"table": FRAME, "row": [chart, chart], "one": Chart(chart, "old"), "missing": None, "made": made}
    report = page(text, OBSERVED, blocks, picture="x", figures={"loss": chart, "both": [chart, chart]})
    assert (report.title, report.lead, report.picture) == (
        "Flows", "One paragraph of 12 packets.\n\nAnother.", "x",
    )  # fmt: skip
    section, last = report.sections
    assert (section.title, section.finding) == ("Loss of 10", "25% of the packets 1 time.")
    words, table, row, one = section.blocks
    assert words == Text("- first item\n- second\n\nThen more.")
    assert isinstance(table, Table)
    assert table.caption == "A caption in two lines."
    assert isinstance(row, Row)
    assert isinstance(one, Chart)
    assert one.caption == "1.5"
    assert last is made
    written = {file.name for file in report.draw(tmp_path)}
    assert written == {"loss.svg", "loss.png", "both.svg", "both.png"} == {file.name for file in tmp_path.iterdir()}


def test_a_block_that_there_is_not() -> None:
    with pytest.raises(tl.TightlinkError, match=r'text of the report: there is no block "tabel"; did you mean table\?'):
        page("# Title\n\n## Part\n\n[[tabel]]\n", {}, {"table": FRAME})


def test_a_block_without_a_place_is_not_lost() -> None:
    text = "# Title\n\n## Part\n\n[[table]]\n"
    with pytest.raises(tl.TightlinkError, match=r'block "loss" is given and placed nowhere: expected \[\[loss\]\]$'):
        page(text, {}, {"table": FRAME, "loss": FRAME})
    # What there is not this time needs no place.
    assert len(page(text, {}, {"table": FRAME, "loss": None}).sections) == 1


def test_a_table_is_shown_as_the_text_says() -> None:
    text = (
        "# Title\n\n## Part\n\n[[many]] Flows.\n| n | lost |\n|---|---|\n| {flows} | {100 * loss:.0f} % |\n\n[[rows]]\n"
    )
    text += "| of | share |\n|---|---|\n| {} | {:percent} |\n\n[[none]]\n| of |\n|---|\n| {} |\n"
    (section,) = page(text, OBSERVED, {"rows": [("a", 0.25)], "none": None}).sections
    of_frame, of_rows = section.blocks
    assert isinstance(of_frame, Table)
    assert isinstance(of_rows, Table)
    assert (of_frame.caption, of_frame.frame.rows()) == ("Flows.", [(1, 0.0), (10, 25.0)])
    assert '<td class="number">25 %</td>' in str(parts(of_frame.frame, of_frame.formats)[0])
    assert "25\u00a0%" in str(parts(of_rows.frame, of_rows.formats)[0])


@pytest.mark.parametrize("shape", ["| n |", "| n |\n|---|\n| {flows} | {loss} |"])
def test_a_table_without_a_cell_for_each_head(shape: str) -> None:
    with pytest.raises(tl.TightlinkError, match='table "many": expected heads, a rule, and a cell below each head'):
        page(f"# Title\n\n## Part\n\n[[many]]\n{shape}\n", OBSERVED, {})


def _scenario(window: int, seed: int) -> tl.Scenario:
    wire = tl.Link(ends=("a", "b"), rate="1 Mbit/s", delay="5 ms", queue="20 packets", loss=0.05)
    ftp = tl.Bulk(from_="a", to="b", tcp=tl.Tcp(window=f"{window} packets"))
    return tl.Scenario(profile="ns2", duration="2 s", seed=seed, link={"wire": wire}, traffic={"ftp": ftp})


def test_cases_make_tasks_and_tables() -> None:
    cases = Cases("{window}/{seed}", _scenario, {"window": (1, 4), "seed": (1, 2, 3)})
    assert [task.name for task in cases.tasks()] == ["1/1", "1/2", "1/3", "4/1", "4/2", "4/3"]
    assert [task.name for task in cases.tasks(seed=2)] == ["1/2", "4/2"]
    runs = {task.name: tl.simulate(task.scenario) for task in cases.tasks()}
    each = cases.table(runs, lambda run, seed: {"sent": run.flows["packets_sent"][0], "twice": 2 * seed})
    assert each.columns == ["window", "seed", "sent", "twice"]
    assert each["twice"].to_list() == [2, 4, 6] * 2
    means = cases.table(runs, lambda run: {"sent": run.flows["packets_sent"][0]}, over="seed")
    assert means["window"].to_list() == [1, 4]
    assert means["sent"].to_list() == pytest.approx(
        each.group_by("window", maintain_order=True).mean()["sent"].to_list()
    )
    assert cases.of(runs, window=4) == [runs[f"4/{seed}"] for seed in (1, 2, 3)]


def test_tables_of_cases_measure_by_any_callable() -> None:
    cases = Cases("{window}/{seed}", _scenario, {"window": (1, 4), "seed": (1, 2)})
    runs: Any = {f"{window}/{seed}": 10 * window + seed for window in (1, 4) for seed in (1, 2)}

    def times(run: Any, *, window: int, factor: int = 1) -> dict[str, int]:
        return {"times": run * window * factor}

    assert cases.table(runs, partial(times, factor=2))["times"].to_list() == [22, 24, 328, 336]


def test_cases_know_their_factors() -> None:
    cases = Cases("{window}/{seed}", _scenario, {"window": (1, 4), "seed": (1, 2)})
    with pytest.raises(tl.TightlinkError, match=r'there is no factor "windows"; did you mean window\?'):
        cases.of({}, windows=4)
    with pytest.raises(tl.TightlinkError, match='there is no factor "run"'):
        cases.table({}, lambda _: {}, over="run")


def _with_window(window: str = "1") -> tl.Study:
    live = Live(list, list, lambda _: {}, lambda _, __: Report())
    return tl.Study(
        "own", "one window", lambda: {window: _scenario(int(window), 1)}, options={"window": "in packets"},
        adapt=lambda options: _with_window(**options), live=live, file="own.py",
    )  # fmt: skip


@pytest.mark.parametrize("file", ["own.py", "other.py"])
def test_options_of_a_study_leave_its_file_and_go_with_measuring(file: str) -> None:
    study = replace(_with_window(), file=file).with_options({"live": "", "window": "4"})
    assert study.measuring
    assert (study.file, study.command) == (file, " --window 4 --live")
    assert list(study.tasks()) == ["4"]


def test_what_is_less_than_the_decimals_of_a_column_is_not_nothing() -> None:
    """A percentile is no less than the median, however few decimals its column needs for others."""
    frame = pl.DataFrame({"p50_s": [10e-6, 0.0], "p95_s": [45e-6, 0.1234]})
    cells = [re.findall(r">([^<>]+)</t[dh]>", str(part).partition("<tbody>")[2]) for part in parts(frame, {})]
    assert cells == [["0.01", "&lt; 0.1", "0", "123.4"]]
