"""Reports in headless Chromium: every chart draws, the console is silent, and nothing is fetched."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from tightlink import report
from tightlink.experiment import claims
from tightlink.report import charts

CHROMIUM = next((path for path in map(shutil.which, ("chromium", "/usr/bin/chromium", "google-chrome")) if path), None)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on the PATH")

CLAIMS = [
    *(
        claims.exact(f"base.packets.{place}", f"Case {place}: 2385 packets are sent", "table 1", 2385, 2385)
        for place in range(15)
    ),
    claims.within("goodput", "The flow carries 1.9 Mbit/s", "p. 4", 1.9, 1.9119, relative=0.02, unit="Mbit/s"),
    claims.exact("queue-5", "With a queue of 5, 2097 packets are sent", "p. 6", 2097, 2096, reason="<another> timer"),
    claims.untestable("wan", "The path carries 20 Mbit/s", "fig. 3", "its data were not published"),
]


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


def _opened(path: Path, profile: Path, *more: str) -> tuple[str, list[str]]:
    """The page as it stands after its scripts ran, and what they said."""
    command = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--window-size=1200,1000",
        "--virtual-time-budget=30000", "--enable-logging=stderr", "--log-level=0", *more, "--dump-dom", path.as_uri(),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=180)
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@pytest.fixture(scope="module")
def page(one_flow: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _page(tmp_path_factory.mktemp("report"), one_flow)


def _drawn(dom: str) -> list[str]:
    """The charts, each with its markup."""
    assert 'data-charts="drawn"' in dom
    parts = dom.split('<div class="chart"')[1:]
    for part in parts:
        assert 'data-state="drawn"' in part[:200]
    return parts


def test_every_chart_draws_and_the_console_is_silent(page: Path, tmp_path: Path) -> None:
    dom, console = _opened(page, tmp_path)
    assert console == []
    parts = _drawn(dom)
    assert len(parts) == 7
    for part in parts:
        marks = re.findall(r'<g class="mark-(?:line|rect|symbol) role-mark[^>]*>(.*?)</g>', part, re.DOTALL)
        paths = [path for mark in marks for path in re.findall(r'<path[^>]* d="([^"]+)"', mark)]
        assert sum(map(len, paths)) > 50
        assert "NaN" not in "".join(paths)
    assert "alert(1)" in html.unescape(dom)


def test_charts_of_users_draw(small_users: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(small_users)).save(tmp_path / "run")
    dom, console = _opened(report.run_report(folder), tmp_path)
    assert console == []
    assert len(_drawn(dom)) == 5


def _with_script(page: Path, folder: Path, script: str) -> Path:
    """A copy of the page that does something once its charts are drawn."""
    waiting = "const wait = setInterval(() => { if (!document.documentElement.dataset.charts) return; clearInterval(wait); %s }, 50);"
    copy = folder / "scripted.html"
    before, _, after = page.read_text().rpartition("</body>")
    copy.write_text(f"{before}<script>{waiting % script}</script></body>{after}")
    return copy


def test_hovering_shows_the_values_of_the_whole_row(page: Path, tmp_path: Path) -> None:
    script = """
    const box = document.querySelector(".chart"); const { left, top, width } = box.getBoundingClientRect();
    box.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width * 0.7, clientY: top + 60, bubbles: true }));
    """
    dom, console = _opened(_with_script(page, tmp_path, script), tmp_path)
    assert console == []
    rows = [re.findall(r"<td>(.*?)</td>", tip) for tip in re.findall(r'<div class="tip".*?</table></div>', dom)]
    assert [row[0] for row in rows] == ["time (s)"] * 3
    times = {row[1] for row in rows}
    assert len(times) == 1
    assert 5 < float(times.pop()) < 9
    assert 1.8 < float(rows[0][3]) < 2.1
    assert rows[2][3] == "20"
    assert dom.count('class="dot"') == 3


def test_claims_fold_and_filter(page: Path, tmp_path: Path) -> None:
    dom, _ = _opened(page, tmp_path)
    assert len(re.findall(r'<tr[^>]*class="folded"', dom)) == 4
    assert re.search(r'id="claim-queue-5" data-verdict="fails"(?! class="folded")', dom)
    script = """document.querySelector('[data-verdict="open"]').click();"""
    dom, _ = _opened(_with_script(page, tmp_path, script), tmp_path)
    assert 'class="folded"' not in dom
    assert len(re.findall(r'<tr[^>]*class="[^"]*filtered', dom)) == 17


def test_dark_and_narrow(page: Path, tmp_path: Path) -> None:
    script = "document.body.dataset.over = String(document.documentElement.scrollWidth - innerWidth);"
    copy = _with_script(page, tmp_path, script)
    dom, console = _opened(copy, tmp_path, "--window-size=500,900", "--blink-settings=preferredColorScheme=0")
    assert console == []
    _drawn(dom)
    assert re.search(r'data-over="(-\d+|0)"', dom), "the page is wider than the screen"


def test_a_run(mixed: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(mixed)).save(tmp_path / "run")
    dom, console = _opened(report.run_report(folder), tmp_path / "profile")
    assert console == []
    assert len(_drawn(dom)) > 5
    assert "What held each flow back" in dom


def test_the_charts_of_an_evaluation_draw(tmp_path: Path) -> None:
    from tightlink.evaluation import report as evaluated

    tests = ["ramp-up", "changes", "convergence"]
    found = tl.evaluate(["cubic", "vegas"], tests=tests, output=tmp_path / "evaluation", jobs=2)
    dom, console = _opened(evaluated.write(found, command="tightlink evaluate cubic vegas"), tmp_path)
    assert console == []
    assert len(_drawn(dom)) == len(tests) * 2


def test_the_map_of_what_matters_draws(one_flow: str, tmp_path: Path) -> None:
    keys = {"link.bottleneck.queue": ["5 packets", "50 packets"], "link.bottleneck.delay": ["5 ms", "50 ms"]}
    base = tl.loads(one_flow).set("duration", "1 s")
    tl.sweep(base, keys, output=tmp_path / "sweep")
    dom, console = _opened(report.run_report(tmp_path / "sweep"), tmp_path / "profile")
    assert console == []
    assert len(_drawn(dom)) > 4
    assert "What matters" in dom
    cells = _drawn(dom)[0].count('aria-roledescription="rect mark"')
    assert cells >= 2 * 5
