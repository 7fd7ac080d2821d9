"""Reports on narrow screens: nothing is cut off, covered, or wider than the page."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import tightlink as tl
from browser import Page
from programs import needs_browser
from report_pages import opened, with_wide_table
from tightlink import report
from tightlink.analysis.effects.main import main_effects
from tightlink.report import charts

if TYPE_CHECKING:
    from collections.abc import Callable


pytestmark = needs_browser


@pytest.mark.parametrize("window", [(1300, 900), (800, 900), (400, 900)])
def test_no_name_in_the_plane_of_delay_and_throughput_covers_another(
    chromium: Page, window: tuple[int, int], tmp_path: Path
) -> None:
    """As in a sweep over the buffer: throughputs are nearly equal, in half of the page's width."""
    lengths = [42, 84, 168, 336, 671, 1000]
    swept = pl.DataFrame(
        {
            "label": [f"{length} packets" for length in lengths],
            "throughput_bps": [95.2e6 + length for length in lengths],
            "queueing_delay_p95_s": [length * 1.17e-4 for length in lengths],
        }
    )
    plane = charts.delay_throughput(swept, height=300)
    section = report.Section("Plane", "", [report.Row([plane, plane])])
    page = report.write(tmp_path / "report.html", title="Plane", lead="", sections=[section])
    _, console = opened(chromium, page, window=window)
    assert console == []
    charted = chromium.run("""[...document.querySelectorAll(".chart")].map((box) => [...box.querySelectorAll(".mark-text.role-mark text")].map((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect(); return [text.textContent, left, right, top, bottom]; }))""")
    assert len(charted) == 2
    for texts in charted:
        assert len(texts) == len(lengths) + 1
        for place, (one, left, right, top, bottom) in enumerate(texts):
            for other, left_, right_, top_, bottom_ in texts[:place]:
                # A line of text has room to spare above and below.
                apart = right <= left_ or right_ <= left or bottom - 2 <= top_ or bottom_ - 2 <= top
                assert apart, (one, other)


def test_the_names_of_a_narrow_chart_stand_above_it(chromium: Page, tmp_path: Path) -> None:
    """Five charts in a row, as a sweep has them: names for which one line is too short were cut off."""
    levels = pl.DataFrame(
        {
            "queue": ["10 packets"] * 2 + ["50 packets"] * 2,
            "traffic": ["download", "call"] * 2,
            "loss": [0.1, 0, 0.2, 0],
        }
    )
    chart = charts.over_levels(levels, "queue", "loss", by="traffic")
    section = report.Section("Row", "", [report.Row([chart] * 5)])
    page = report.write(tmp_path / "report.html", title="Row", lead="", sections=[section])
    _, console = opened(chromium, page, window=(1100, 900))
    assert console == []
    charted = chromium.run("""[...document.querySelectorAll(".chart")].map((box) => {
      const above = box.querySelector("svg").getBoundingClientRect().top;
      return [...box.querySelectorAll(".role-legend-label text")].map((text) => [text.textContent, text.getBoundingClientRect().top - above]); })""")
    assert len(charted) == 5
    for names in charted:
        assert [name for name, _ in names] == ["download", "call"]
        assert all(below >= 0 for _, below in names), names


def test_slanted_names_below_a_small_chart_are_read_to_their_end(chromium: Page, tmp_path: Path) -> None:
    """Five charts in a row, as a sweep over queues has them: all kinds were "{ kind =…"."""
    names = ['{ kind = "fq-codel" }', '{ kind = "codel" }', '{ kind = "codel", target = "5 ms" }', "250 packets"]
    chart = charts.over_levels(pl.DataFrame({"queue": names, "loss": [0.1, 0.0, 0.2, 0.3]}), "queue", "loss")
    section = report.Section("Row", "", [report.Row([chart] * 5)])
    page = report.write(tmp_path / "report.html", title="Row", lead="", sections=[section])
    _, console = opened(chromium, page, window=(1300, 900))
    assert console == []
    below = chromium.run(
        "[...document.querySelectorAll('.role-axis-label text')].map((each) => each.textContent).filter((each) => /[a-z]/.test(each))"
    )
    assert below == ["fq-codel", "codel", "codel (target 5 ms)", "250 packets"] * 5


def test_levels_of_factors_do_not_cover_each_other_in_a_narrow_chart(chromium: Page, tmp_path: Path) -> None:
    levels = {"rate": ("1 Mbit/s", "10 Mbit/s"), "delay": ("1 ms", "50 ms"), "buffer": ("5 kB", "50 kB"), "flows": "15"}
    rows = list(itertools.product(*levels.values(), [0, 1]))
    runs = pl.DataFrame(rows, schema=[*levels, "replication"], orient="row").drop("replication")
    runs = runs.with_columns(loss=pl.Series(range(runs.height), dtype=pl.Float64))
    chart = charts.significance_map(main_effects(runs, list(levels), ["loss"]))
    section = report.Section("Map", "", [report.Chart(chart)])
    page = report.write(tmp_path / "report.html", title="Map", lead="", sections=[section])
    for window, lines in (((1300, 900), 2), ((390, 900), 3)):
        _, console = opened(chromium, page, window=window)
        assert console == []
        sides = chromium.run("""[...document.querySelectorAll('.role-axis-label text')]
            .filter((each) => each.textContent.includes('→')).map((each) => {
                const { left, right } = each.getBoundingClientRect(); return [left, right, each.children.length]; })""")
        assert [count for *_, count in sides] == [lines] * len(levels)
        assert all(right <= left for (_, right, _), (left, _, _) in itertools.pairwise(sides))


def test_long_names_do_not_widen_a_narrow_page(chromium: Page, tmp_path: Path) -> None:
    name = "_".join(["a_name_that_somebody_exported_from_a_spreadsheet"] * 2)
    scenario = tl.loads(f"""
        duration = "2 s"
        link.{name} = {{ ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }}
        traffic.{name[:-1]} = {{ kind = "bulk", flows = 2, from = "a", to = "b" }}
    """)
    run = tl.simulate(scenario)
    titled = charts.bars_stacked(run.flows, "label", title="What limits both of them, with a window of 20 packets")
    dots = pl.DataFrame(
        {"loss": [0.01, 0.02], "goodput_bps": [2e6, 1e6], "kind": ["lossy and long", "lossy and short"]}
    )
    said = ("what theory says", "what the document says", "what others say")
    theory = pl.concat([dots.with_columns(of=pl.lit(name)) for name in said])
    legends = charts.points(dots, "loss", "goodput_bps", by="kind", curves=theory, curve="of")
    sections = [report.Section("Titled", "", [report.Chart(titled), report.Chart(legends)])]
    beyond = """[...document.querySelectorAll('svg.marks text')].filter((each) => {
        const [text, chart] = [each, each.closest('svg')].map((part) => part.getBoundingClientRect());
        return text.width > 0 && (text.left < chart.left - 1 || text.right > chart.right + 1);
    }).map((each) => each.textContent)"""
    for page in (
        report.run_report(run.save(tmp_path / "run")),
        report.write(tmp_path / "titled.html", title="Titled", lead=f"Of {name}.", sections=sections),
    ):
        opened(chromium, page, window=(400, 900))
        assert chromium.run("document.documentElement.scrollWidth - innerWidth") <= 0
        assert chromium.run(beyond) == []


def test_long_commands_are_broken_on_a_narrow_screen(
    chromium: Page, one_flow: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    folder = tmp_path / "a_folder_with_quite_a_long_name" / "and_another_one_that_is_in_it"
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(one_flow, encoding="utf-8")
    assert said("run", str(folder / "scenario.toml"), "--report", str(tmp_path / "report.html"))[0] == 0
    opened(chromium, tmp_path / "report.html", window=(400, 900))
    assert chromium.run("document.querySelectorAll('li > code').length") > 0
    assert chromium.run("document.documentElement.scrollWidth - innerWidth") <= 0


def test_charts_have_room_on_a_narrow_screen(chromium: Page, over_time: Path) -> None:
    _, console = opened(chromium, over_time, window=(400, 900))
    assert console == []
    charted = chromium.run("""[...document.querySelectorAll(".chart")].map((one) => [
      one.querySelector("svg").viewBox.baseVal.width, one.clientWidth])""")
    assert charted
    for wide, room in charted:
        # Otherwise all of it would be drawn smaller.
        assert wide <= room


@pytest.mark.parametrize("window", [(1300, 900), (500, 900)])
def test_no_table_is_cut_at_the_right(chromium: Page, window: tuple[int, int], tmp_path: Path) -> None:
    _, console = opened(chromium, with_wide_table(tmp_path), window=window)
    assert console == []
    assert chromium.run("document.documentElement.scrollWidth - innerWidth") <= 0
    hidden = chromium.run("[...document.querySelectorAll('.scroll')].map((box) => box.scrollWidth - box.clientWidth)")
    if window == (1300, 900):
        assert set(hidden) == {0}
    else:
        # There its box scrolls, and is shaded at the side where there is more.
        assert max(hidden) > 0
