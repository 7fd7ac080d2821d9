"""Reports in headless Chromium: every chart draws, the console is silent, and nothing is fetched."""

from __future__ import annotations

import html
import re
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from browser import Page
from programs import needs_browser
from report_pages import CLAIMS, drawn, opened, with_script
from tightlink import report
from tightlink.report import charts

pytestmark = needs_browser


def _page(folder: Path, one_flow: str) -> Path:
    """A report with every kind of block."""
    run = tl.simulate(tl.loads(one_flow).set("observe.interval", "50 ms"))
    wide = run.series.filter(pl.col("entity") == "ftp").pivot("metric", index="time_s", values="value")
    lines = run.series.filter(pl.col("metric").is_in(["cwnd_packets", "in_flight_packets"]))
    loss = pl.DataFrame(
        {"loss": [0.001, 0.01, 0.1], "goodput_bps": [3.1e6, 0.9e6, 0.2e6], "kind": ["reno", "reno", "tahoe"]}
    )
    theory = pl.DataFrame({"loss": [0.001, 0.01, 0.1], "goodput_bps": [3e6, 0.95e6, 0.3e6], "of": "Mathis"})
    many = pl.DataFrame(
        {"time_s": pl.int_range(30_000, eager=True) / 1000, "queue_packets": pl.int_range(30_000, eager=True) % 97}
    )
    return report.write(
        folder / "report.html",
        title="One TCP flow <redone>",
        lead="The window, **not the queue**, sets the latency in six of seven cases.",
        claims=CLAIMS,
        sections=[
            report.Section("Base", "A window of 20 packets fills the path.", [
                report.Text("A list:\n\n- `window` is 20 packets\n- <script>alert(1)</script> stays text"),
                report.Row(charts.small_multiples(wide, "time_s", ["goodput_bps", "cwnd_packets", "in_flight_packets"]), "base"),
                report.Chart(charts.line(lines, "time_s", "value", by="metric", y_title="packets"), "Window and flight."),
                report.Table(run.flows, "Totals."),
            ]),
            report.Section("Response", "Loss decides.", [
                report.Chart(charts.points(loss, "loss", "goodput_bps", by="kind", curves=theory, curve="of", x_scale="log", y_scale="log")),
                report.Chart(charts.bars_stacked(run.flows, "label"), "Why."),
                report.Chart(charts.line(many, "time_s", "queue_packets"), "A sawtooth."),
                report.Details("Scenario", run.scenario.to_toml()),
            ]),
        ],
        seeds=[1, 2, 3, 7],
        command="tightlink study demo",
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(one_flow: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _page(tmp_path_factory.mktemp("report"), one_flow)


def test_every_chart_draws_and_the_console_is_silent(chromium: Page, page: Path) -> None:
    dom, console = opened(chromium, page)
    assert console == []
    parts = drawn(dom)
    assert len(parts) == 7
    for part in parts:
        marks = re.findall(r'<g class="mark-(?:line|rect|symbol) role-mark[^>]*>(.*?)</g>', part, re.DOTALL)
        paths = [path for mark in marks for path in re.findall(r'<path[^>]* d="([^"]+)"', mark)]
        assert sum(map(len, paths)) > 50
        assert "NaN" not in "".join(paths)
    assert "alert(1)" in html.unescape(dom)


def test_charts_of_users_draw(chromium: Page, small_users: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(small_users)).save(tmp_path / "run")
    dom, console = opened(chromium, report.run_report(folder))
    assert console == []
    assert len(drawn(dom)) == 5


def test_hovering_shows_the_values_of_the_whole_row(chromium: Page, page: Path, tmp_path: Path) -> None:
    script = """
    const box = document.querySelector(".chart"); const { left, top, width } = box.getBoundingClientRect();
    box.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width * 0.7, clientY: top + 60, bubbles: true }));
    """
    dom, console = opened(chromium, with_script(page, tmp_path, script))
    assert console == []
    rows = [re.findall(r"<td>(.*?)</td>", tip) for tip in re.findall(r'<div class="tip".*?</table></div>', dom)]
    assert [row[0] for row in rows] == ["time (s)"] * 3
    times = {row[1] for row in rows}
    assert len(times) == 1
    assert 5 < float(times.pop()) < 9
    assert 1.8 < float(rows[0][3]) < 2.1
    assert rows[2][3] == "20"
    assert dom.count('class="dot"') == 3


def test_claims_fold_and_filter(chromium: Page, page: Path, tmp_path: Path) -> None:
    dom, _ = opened(chromium, page)
    # By where they stand: table 1, p. 4, p. 6, fig. 3.
    assert re.findall(r'<details class="claimed"([^>]*)>', dom) == [""] * 4
    script = """document.querySelector('[data-verdict="document"]').click();"""
    dom, _ = opened(chromium, with_script(page, tmp_path, script))
    assert sorted(re.findall(r'<details class="claimed"([^>]*)>', dom)) == [' hidden="" open=""'] * 3 + [' open=""']
    assert len(re.findall(r'<tr[^>]*class="[^"]*filtered', dom)) == 17
    script = "location.hash = '#claim-wan';"
    dom, _ = opened(chromium, with_script(page, tmp_path, script))
    assert re.search(r'<details class="claimed" open=""><summary>fig. 3', dom)


def test_dark_and_narrow(chromium: Page, page: Path, tmp_path: Path) -> None:
    script = "document.body.dataset.over = String(document.documentElement.scrollWidth - innerWidth);"
    copy = with_script(page, tmp_path, script)
    dom, console = opened(chromium, copy, window=(500, 900), dark=True)
    assert console == []
    drawn(dom)
    assert re.search(r'data-over="(-\d+|0)"', dom), "the page is wider than the screen"


def test_a_run(chromium: Page, mixed: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(mixed)).save(tmp_path / "run")
    dom, console = opened(chromium, report.run_report(folder))
    assert console == []
    limits, completions, panels, *_ = drawn(dom)
    assert "mark-rect" in limits
    assert "completion" in completions
    assert len(re.findall(r'class="mark-line role-mark panel_\d+_marks', panels)) > 3
    assert "Why is it slow?" in dom


def test_the_charts_of_an_evaluation_draw(chromium: Page, tmp_path: Path) -> None:
    tests = ["ramp-up", "changes", "convergence"]
    found = tl.evaluate(["cubic", "vegas"], tests=tests, output=tmp_path / "evaluation", jobs=2)
    dom, console = opened(chromium, found.folder / "report.html")
    assert console == []
    assert len(drawn(dom)) == len(tests) * 2


def test_the_map_of_what_matters_draws(chromium: Page, one_flow: str, tmp_path: Path) -> None:
    keys = {"link.bottleneck.queue": ["5 packets", "50 packets"], "link.bottleneck.delay": ["5 ms", "50 ms"]}
    base = tl.loads(one_flow).set("duration", "1 s")
    tl.sweep(base, keys, output=tmp_path / "sweep")
    dom, console = opened(chromium, report.run_report(tmp_path / "sweep"))
    assert console == []
    assert len(drawn(dom)) > 4
    assert "What matters" in dom
    cells = drawn(dom)[0].count('aria-roledescription="rect mark"')
    assert cells >= 2 * 5
