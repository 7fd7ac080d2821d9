"""Reports in headless Chromium: every chart draws, the console is silent, and nothing is fetched."""

from __future__ import annotations

import html
import itertools
import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from browser import Page, browser
from programs import CHROMIUM, need, needs_browser
from tightlink import report
from tightlink.analysis.effects import designed
from tightlink.analysis.effects.main import main_effects
from tightlink.analysis.responses import clusters, correlation, outliers, ranks
from tightlink.analysis.responses import fairness as shares
from tightlink.analysis.responses import pca as components
from tightlink.experiment import claims
from tightlink.report import charts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = needs_browser

CLAIMS = [
    *(
        claims.compared(f"base.packets.{place}", f"Case {place}: 2385 packets are sent", "table 1", 2385, 2385)
        for place in range(15)
    ),
    claims.compared("goodput", "The flow carries 1.9 Mbit/s", "p. 4", 1.9, 1.9119, relative=0.02, unit="Mbit/s"),
    claims.compared(
        "queue-5", "With a queue of 5, 2097 packets are sent", "p. 6", 2097, 2096, reason="<another> timer"
    ),
    claims.stated("wan", "The path carries 20 Mbit/s", "fig. 3", None, None, "its data were not published"),
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


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def _opened(
    chromium: Page, file: Path, *, window: tuple[int, int] = (1200, 1000), dark: bool = False
) -> tuple[str, list[str]]:
    """The page as it stands after its scripts ran, and what they said."""
    chromium.console.clear()
    chromium.size(*window, dark=dark, phone=False)
    return chromium.settled(file.as_uri()), list(chromium.console)


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


def test_every_chart_draws_and_the_console_is_silent(chromium: Page, page: Path) -> None:
    dom, console = _opened(chromium, page)
    assert console == []
    parts = _drawn(dom)
    assert len(parts) == 7
    for part in parts:
        marks = re.findall(r'<g class="mark-(?:line|rect|symbol) role-mark[^>]*>(.*?)</g>', part, re.DOTALL)
        paths = [path for mark in marks for path in re.findall(r'<path[^>]* d="([^"]+)"', mark)]
        assert sum(map(len, paths)) > 50
        assert "NaN" not in "".join(paths)
    assert "alert(1)" in html.unescape(dom)


def test_charts_of_users_draw(chromium: Page, small_users: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(small_users)).save(tmp_path / "run")
    dom, console = _opened(chromium, report.run_report(folder))
    assert console == []
    assert len(_drawn(dom)) == 5


def _with_script(page: Path, folder: Path, script: str) -> Path:
    """A copy of the page that does something once its charts are drawn."""
    waiting = "const wait = setInterval(() => { if (!document.documentElement.dataset.charts) return; clearInterval(wait); %s }, 50);"
    copy = folder / "scripted.html"
    before, _, after = page.read_text().rpartition("</body>")
    copy.write_text(f"{before}<script>{waiting % script}</script></body>{after}")
    return copy


def test_hovering_shows_the_values_of_the_whole_row(chromium: Page, page: Path, tmp_path: Path) -> None:
    script = """
    const box = document.querySelector(".chart"); const { left, top, width } = box.getBoundingClientRect();
    box.dispatchEvent(new PointerEvent("pointermove", { clientX: left + width * 0.7, clientY: top + 60, bubbles: true }));
    """
    dom, console = _opened(chromium, _with_script(page, tmp_path, script))
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
    dom, _ = _opened(chromium, page)
    # By where they stand: table 1, p. 4, p. 6, fig. 3.
    assert re.findall(r'<details class="claimed"([^>]*)>', dom) == [""] * 4
    script = """document.querySelector('[data-verdict="document"]').click();"""
    dom, _ = _opened(chromium, _with_script(page, tmp_path, script))
    assert sorted(re.findall(r'<details class="claimed"([^>]*)>', dom)) == [' hidden="" open=""'] * 3 + [' open=""']
    assert len(re.findall(r'<tr[^>]*class="[^"]*filtered', dom)) == 17
    script = "location.hash = '#claim-wan';"
    dom, _ = _opened(chromium, _with_script(page, tmp_path, script))
    assert re.search(r'<details class="claimed" open=""><summary>fig. 3', dom)


def test_dark_and_narrow(chromium: Page, page: Path, tmp_path: Path) -> None:
    script = "document.body.dataset.over = String(document.documentElement.scrollWidth - innerWidth);"
    copy = _with_script(page, tmp_path, script)
    dom, console = _opened(chromium, copy, window=(500, 900), dark=True)
    assert console == []
    _drawn(dom)
    assert re.search(r'data-over="(-\d+|0)"', dom), "the page is wider than the screen"


def test_a_run(chromium: Page, mixed: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(mixed)).save(tmp_path / "run")
    dom, console = _opened(chromium, report.run_report(folder))
    assert console == []
    limits, completions, panels, *_ = _drawn(dom)
    assert "mark-rect" in limits
    assert "completion" in completions
    assert len(re.findall(r'class="mark-line role-mark panel_\d+_marks', panels)) > 3
    assert "Why is it slow?" in dom


def test_the_charts_of_an_evaluation_draw(chromium: Page, tmp_path: Path) -> None:
    tests = ["ramp-up", "changes", "convergence"]
    found = tl.evaluate(["cubic", "vegas"], tests=tests, output=tmp_path / "evaluation", jobs=2)
    dom, console = _opened(chromium, found.folder / "report.html")
    assert console == []
    assert len(_drawn(dom)) == len(tests) * 2


def test_the_map_of_what_matters_draws(chromium: Page, one_flow: str, tmp_path: Path) -> None:
    keys = {"link.bottleneck.queue": ["5 packets", "50 packets"], "link.bottleneck.delay": ["5 ms", "50 ms"]}
    base = tl.loads(one_flow).set("duration", "1 s")
    tl.sweep(base, keys, output=tmp_path / "sweep")
    dom, console = _opened(chromium, report.run_report(tmp_path / "sweep"))
    assert console == []
    assert len(_drawn(dom)) > 4
    assert "What matters" in dom
    cells = _drawn(dom)[0].count('aria-roledescription="rect mark"')
    assert cells >= 2 * 5


COMPARED = Path(__file__).parent.parent / "examples" / "controls-compared.csv"
FACTORS = ["rate", "delay", "queue", "flows", "congestion"]


def _compared() -> designed.Designed:
    return designed.read(COMPARED, factors=FACTORS)


def test_charts_of_many_responses_draw(chromium: Page, tmp_path: Path) -> None:
    table = _compared()
    where = {"condition": FACTORS[:-1], "algorithm": "congestion"}
    correlated = correlation.correlation(table.runs, table.responses)
    summed = components.components(table.runs, table.responses)
    ranked = ranks.ranks(table.runs, responses=["own_bps"], **where)  # type: ignore[arg-type]
    cells = outliers.outliers(table.runs, responses=table.responses, **where)  # type: ignore[arg-type]
    beside = shares.beside(table.runs, own="own_bps", standard="standard_bps", **where)  # type: ignore[arg-type]
    parts = shares.shares(table.runs, algorithm="congestion", own="own_bps", standard="standard_bps", available="rate")
    trees = clusters.clusters(table.runs, responses=table.responses, **where)  # type: ignore[arg-type]
    alone = [
        charts.correlation_matrix(correlated), charts.correlation_histogram(correlated), charts.index_index(correlated),
        charts.scree(summed), charts.component_loadings(summed),
        charts.component_scores(summed, by="congestion", tell=FACTORS, arrows=True), charts.rank_scatter(ranked),
        charts.outlier_grid(cells, least=0.1), charts.share_bars(parts),
    ]  # fmt: skip
    blocks: list[Any] = [
        *map(report.Chart, alone),
        report.Row(charts.dendrograms(trees)),
        report.Row(charts.beside_standard(beside)),
    ]
    page = report.write(
        tmp_path / "report.html", title="Many", lead="", sections=[report.Section("Responses", "", blocks)]
    )
    dom, console = _opened(chromium, page)
    assert console == []
    assert len(_drawn(dom)) == len(alone) + 16 + 8
    for words in (
        "mean rank (1 is the best)",
        "within a group",
        "threshold 0.65",
        "a single response",
        "standard TCP beside them",
        "100 Mbit/s, 40 ms, 1 BDP",
    ):
        assert words in dom


EXPLORING = """
const box = document.querySelector(".chart"), svg = box.querySelector("svg");
const texts = () => [...svg.querySelectorAll("text")].map((text) => text.textContent);
const count = () => texts().find((text) => / of \\d+ runs/.test(text));
const fire = (target, types, x, y) => types.forEach((type) => target.dispatchEvent(
  new (type.startsWith("pointer") ? PointerEvent : MouseEvent)(type, { clientX: x, clientY: y, bubbles: true, view: window, buttons: 1 })));
const click = (label) => {
  const mark = [...svg.querySelectorAll("path")].find((path) => (path.getAttribute("aria-label") || "").includes(label));
  const { left, top, width, height } = mark.getBoundingClientRect();
  fire(mark, ["pointerdown", "pointerup", "click"], left + width / 2, top + height / 2);
};
const dots = () => [...svg.querySelectorAll("g.mark-symbol.role-mark path")].map((path) => path.getAttribute("transform")).join();
const said = { before: count(), lines: svg.querySelectorAll("g.mark-line.role-mark path").length };
const told = () => { said.after = count(); said.now = svg.querySelectorAll("g.mark-line.role-mark path").length; document.body.dataset.said = JSON.stringify(said); };
"""


@pytest.fixture(scope="module")
def exploring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    section = report.Section("Runs", "", [report.Chart(charts.explore(_compared(), algorithm="congestion"))])
    return report.write(tmp_path_factory.mktemp("explore") / "report.html", title="Runs", lead="", sections=[section])


@pytest.mark.parametrize("algorithm", [None, "species"])
def test_tables_without_conditions_are_explored(chromium: Page, algorithm: str | None, tmp_path: Path) -> None:
    iris = designed.read(
        Path(__file__).parent / "data" / "tables" / "iris.csv", factors=[algorithm] if algorithm else []
    )
    section = report.Section("Runs", "", [report.Chart(charts.explore(iris, algorithm=algorithm))])
    page = report.write(tmp_path / "report.html", title="Runs", lead="", sections=[section])
    dom, console = _opened(chromium, page)
    assert console == []
    _drawn(dom)
    assert "150 of 150 runs" in dom


def _explored(chromium: Page, page: Path, folder: Path, script: str) -> dict[str, Any]:
    """What the page says before and after somebody has done something."""
    dom, console = _opened(chromium, _with_script(page, folder, EXPLORING + script + "setTimeout(told, 300);"))
    assert console == []
    _drawn(dom)
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found is not None
    said: dict[str, Any] = json.loads(html.unescape(found[1]))
    assert said["before"] == "128 of 128 runs"
    # A pale line for each run, and one in colour for each that is chosen.
    assert said["lines"] == 256
    return said


def test_a_click_on_a_level_keeps_its_runs(chromium: Page, exploring: Path, tmp_path: Path) -> None:
    said = _explored(chromium, exploring, tmp_path, 'click("delay = 40 ms");')
    assert (said["after"], said["now"]) == ("64 of 128 runs", 128 + 64)


def test_levels_of_several_factors_hold_together(chromium: Page, exploring: Path, tmp_path: Path) -> None:
    script = """
    const shift = (label) => {
      const mark = [...svg.querySelectorAll("path")].find((path) => (path.getAttribute("aria-label") || "").includes(label));
      const { left, top } = mark.getBoundingClientRect();
      ["pointerdown", "pointerup", "click"].forEach((type) => mark.dispatchEvent(new (type === "click" ? MouseEvent : PointerEvent)(
        type, { clientX: left + 9, clientY: top + 9, bubbles: true, view: window, shiftKey: true })));
    };
    shift("congestion = fast"); shift("congestion = reno"); shift("rate = 20 Mbit/s");
    """
    said = _explored(chromium, exploring, tmp_path, script)
    # Two of eight controls, at one of two rates.
    assert said["after"] == "16 of 128 runs"


def test_a_band_keeps_the_runs_within_it(chromium: Page, exploring: Path, tmp_path: Path) -> None:
    script = """
    const name = [...svg.querySelectorAll("text")].find((text) => text.textContent === "mean RTT (ms)").getBoundingClientRect();
    const ground = [...svg.querySelectorAll("path.background")].find((path) => {
      const { width, height } = path.getBoundingClientRect(); return width > 800 && height === 230; });
    const { top } = ground.getBoundingClientRect(), x = name.right, at = (scaled) => top + 230 * (1.06 - scaled) / 1.12;
    fire(ground, ["pointermove", "pointerdown"], x - 15, at(1.04));
    fire(window, ["pointermove"], x + 10, at(0.5)); fire(window, ["pointerup"], x + 10, at(0.5));
    """
    said = _explored(chromium, exploring, tmp_path, script)
    rtt = _compared().runs["rtt_mean_s"]
    inside = int((rtt >= (float(rtt.min()) + float(rtt.max())) / 2).sum())  # type: ignore[arg-type]
    assert 0 < inside < 128
    assert said["after"] == f"{inside} of 128 runs"


def test_a_rectangle_in_the_scatter_keeps_the_runs_within_it(chromium: Page, exploring: Path, tmp_path: Path) -> None:
    script = """
    const ground = [...svg.querySelectorAll("path.background")].find((path) => {
      const { width, height } = path.getBoundingClientRect(); return width === 390 && height === 300; });
    const { left, top } = ground.getBoundingClientRect();
    fire(ground, ["pointermove", "pointerdown"], left + 1, top + 1);
    fire(window, ["pointermove"], left + 0.3 * 390, top + 299); fire(window, ["pointerup"], left + 0.3 * 390, top + 299);
    """
    said = _explored(chromium, exploring, tmp_path, script)
    # Along are 0 to 100 Mbit/s, and nothing lies between 21 and 40 Mbit/s.
    goodput = _compared().runs["goodput_bps"]
    assert int(((goodput > 21e6) & (goodput < 40e6)).sum()) == 0
    assert said["after"] == f"{int((goodput < 30e6).sum())} of 128 runs"


def test_a_click_on_a_cluster_keeps_its_runs(chromium: Page, exploring: Path, tmp_path: Path) -> None:
    said = _explored(chromium, exploring, tmp_path, 'click("0.1 BDP, flows 2; clusters: click on one: fast;");')
    # FAST and FAST-AT are a cluster under the first condition.
    assert said["after"] == "2 of 128 runs"


def test_two_responses_are_chosen(chromium: Page, exploring: Path, tmp_path: Path) -> None:
    script = """
    said.dots = dots();
    const [across] = box.querySelectorAll("select");
    across.value = "loss (%)"; across.dispatchEvent(new Event("input")); across.dispatchEvent(new Event("change"));
    setTimeout(() => { said.moved = dots() !== said.dots; said.title = texts().find((text) => text.startsWith("along: ")); }, 200);
    """
    said = _explored(chromium, exploring, tmp_path, script)
    assert said["moved"]
    assert said["title"] == "along: loss (%)"
    assert said["after"] == "128 of 128 runs"


@pytest.fixture(scope="module")
def over_time(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run with several flows."""
    scenario = tl.loads("""
        duration = "4 s"
        link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
        traffic.up = { kind = "bulk", flows = 3, from = "a", to = "b" }
        observe = { interval = "50 ms", flows = "each" }
    """)
    return report.run_report(tl.simulate(scenario).save(tmp_path_factory.mktemp("over-time") / "run"))


#: Functions for the linked panels of a run's report.
LINKED = """
    const box = [...document.querySelectorAll(".chart")].find((one) => one.querySelector(".panel_0_group, .mark-group.panel_0_group, [class*=panel_0]"));
    const svg = box.querySelector("svg");
    const fire = (target, types, x, y) => types.forEach((type) => target.dispatchEvent(new (type === "click" ? MouseEvent : PointerEvent)(
      type, { clientX: x, clientY: y, bubbles: true, view: window })));
    const tips = () => [...box.querySelectorAll(".tip")].map((tip) => tip.innerText);
    const bounds = box.getBoundingClientRect();
    const hover = (share) => fire(box, ["pointermove"], bounds.left + share * bounds.width, bounds.top + 90);
    const said = {};
    const told = () => { document.documentElement.dataset.said = JSON.stringify(said); };
"""


def _said(
    chromium: Page, page: Path, folder: Path, script: str, window: tuple[int, int] = (1200, 1000)
) -> dict[str, Any]:
    dom, console = _opened(chromium, _with_script(page, folder, LINKED + script), window=window)
    assert console == []
    _drawn(dom)
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found is not None
    said: dict[str, Any] = json.loads(html.unescape(found[1]))
    return said


def test_hovering_a_panel_shows_all_flows_in_all_panels(chromium: Page, over_time: Path, tmp_path: Path) -> None:
    said = _said(chromium, over_time, tmp_path, "hover(0.5); said.tips = tips(); told();")
    throughput, *_, queue = said["tips"]
    assert all(f"up[{place}]" in throughput for place in range(3))
    assert "wire" in queue
    assert len({re.findall(r"time \(s\)\s+([0-9.]+)", tip)[0] for tip in (throughput, queue)}) == 1


def test_a_click_in_the_legend_picks_out_a_flow_but_not_from_the_queue(
    chromium: Page, over_time: Path, tmp_path: Path
) -> None:
    script = """
    const name = [...svg.querySelectorAll("text")].find((text) => text.textContent === "up[1]");
    const { left, top } = name.getBoundingClientRect();
    fire(name, ["pointermove", "pointerdown", "pointerup", "click"], left + 3, top + 3);
    setTimeout(() => { hover(0.5); said.tips = tips(); told(); }, 200);
    """
    throughput, *_, queue = _said(chromium, over_time, tmp_path, script)["tips"]
    assert re.findall(r"up\[\d\]", throughput) == ["up[1]"]
    assert "wire" in queue


def test_dragging_over_the_strip_zooms_every_panel(chromium: Page, over_time: Path, tmp_path: Path) -> None:
    script = """
    const ground = [...svg.querySelectorAll("path.background")].find((path) => Math.round(path.getBoundingClientRect().height) === 34);
    const { left, top, width } = ground.getBoundingClientRect();
    hover(0.9); said.before = tips()[0];
    fire(ground, ["pointermove", "pointerdown"], left + 1, top + 9);
    fire(window, ["pointermove"], left + width / 4, top + 9); fire(window, ["pointerup"], left + width / 4, top + 9);
    setTimeout(() => { hover(0.9); said.after = tips(); told(); }, 200);
    """
    said = _said(chromium, over_time, tmp_path, script)
    times = [float(re.findall(r"time \(s\)\s+([0-9.]+)", tip)[0]) for tip in [said["before"], *said["after"]]]
    assert times[0] > 3
    assert all(time < 1.1 for time in times[1:])


def test_the_keyboard_picks_out_and_zooms_as_the_mouse_does(chromium: Page, over_time: Path, tmp_path: Path) -> None:
    script = """
    const press = (part, key) => part.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    const reached = [...svg.querySelectorAll("[tabindex='0']")];
    said.reached = reached.map((part) => part.getAttribute("aria-label"));
    const name = reached.find((part) => part.textContent === "up[1]"), strip = svg.querySelector("[aria-label^=Zoom]");
    const settle = () => new Promise((resume) => setTimeout(resume, 200));
    const look = (key) => { hover(0.9); said[key] = tips(); };
    (async () => {
      look("before");
      press(name, " "); await settle(); look("picked");
      press(name, "Escape"); await settle(); look("all");
      press(strip, "+"); await settle(); look("near");
      press(strip, "ArrowLeft"); await settle(); look("left");
      press(strip, "Escape"); await settle(); look("whole");
      told();
    })();
    """
    said = _said(chromium, over_time, tmp_path, script)
    names = [f"Show {name} alone; Escape for all" for name in ("up[0]", "up[1]", "up[2]", "wire")]
    assert said["reached"] == ["Zoom: plus and minus, arrow keys to move, Escape for all", *names]
    assert re.findall(r"up\[\d\]", said["picked"][0]) == ["up[1]"]
    assert len(re.findall(r"up\[\d\]", said["all"][0])) == 3

    def end(key: str) -> float:
        return float(re.findall(r"time \(s\)\s+([0-9.]+)", said[key][0])[0])

    # Half of the time about its middle, then from an eighth of it on, then all of it.
    whole, duration = end("before"), 4
    assert end("near") == pytest.approx(duration / 4 + whole / 2, abs=0.05 * duration)
    assert end("left") == pytest.approx(duration / 8 + whole / 2, abs=0.05 * duration)
    assert end("whole") == whole


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
    script = """
    const said = [...document.querySelectorAll(".chart")].map((box) => [...box.querySelectorAll(".mark-text.role-mark text")].map((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect(); return [text.textContent, left, right, top, bottom]; }));
    document.documentElement.dataset.said = JSON.stringify(said);
    """
    dom, console = _opened(chromium, _with_script(page, tmp_path, script), window=window)
    assert console == []
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found is not None
    for texts in json.loads(html.unescape(found[1])):
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
    script = """
    const said = [...document.querySelectorAll(".chart")].map((box) => {
      const above = box.querySelector("svg").getBoundingClientRect().top;
      return [...box.querySelectorAll(".role-legend-label text")].map((text) => [text.textContent, text.getBoundingClientRect().top - above]); });
    document.documentElement.dataset.said = JSON.stringify(said);
    """
    dom, console = _opened(chromium, _with_script(page, tmp_path, script), window=(1100, 900))
    assert console == []
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found is not None
    for names in json.loads(html.unescape(found[1])):
        assert [name for name, _ in names] == ["download", "call"]
        assert all(below >= 0 for _, below in names), names


def test_levels_of_factors_do_not_cover_each_other_in_a_narrow_chart(chromium: Page, tmp_path: Path) -> None:
    levels = {"rate": ("1 Mbit/s", "10 Mbit/s"), "delay": ("1 ms", "50 ms"), "buffer": ("5 kB", "50 kB"), "flows": "15"}
    rows = list(itertools.product(*levels.values(), [0, 1]))
    runs = pl.DataFrame(rows, schema=[*levels, "replication"], orient="row").drop("replication")
    runs = runs.with_columns(loss=pl.Series(range(runs.height), dtype=pl.Float64))
    chart = charts.significance_map(main_effects(runs, list(levels), ["loss"]))
    section = report.Section("Map", "", [report.Chart(chart)])
    page = report.write(tmp_path / "report.html", title="Map", lead="", sections=[section])
    for window, lines in (((1300, 900), 2), ((390, 900), 3)):
        _, console = _opened(chromium, page, window=window)
        assert console == []
        sides = chromium.run("""[...document.querySelectorAll('.role-axis-label text')]
            .filter((each) => each.textContent.includes('→')).map((each) => {
                const { left, right } = each.getBoundingClientRect(); return [left, right, each.children.length]; })""")
        assert [count for *_, count in sides] == [lines] * len(levels)
        assert all(right <= left for (_, right, _), (left, _, _) in itertools.pairwise(sides))


def test_charts_have_names_for_those_who_hear_them(chromium: Page, over_time: Path) -> None:
    _opened(chromium, over_time)
    sections = chromium.run(
        "[...document.querySelectorAll('svg.marks')].map((each) => each.closest('section').querySelector('h2').textContent)"
    )
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    names = [each["name"]["value"] for each in nodes if each["role"]["value"] == "graphics-document"]
    assert len(names) == len(sections) > 3
    assert all(said for _, _, said in (name.partition(": ") for name in names))
    assert sorted(name.partition(": ")[0] for name in names) == sorted(sections)


def test_nobody_hears_names_of_columns(chromium: Page, over_time: Path) -> None:
    """Lines were "rtt_s: 20.32", in ms, of their first sample alone."""
    _opened(chromium, over_time)
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    heard = [str(each["name"]["value"]) for each in nodes if not each["ignored"] and "name" in each]
    assert not [name for name in heard if re.search(r"\w_(s|bps|packets)\b", name)]
    assert not [name for name in heard if "titled 'drag" in name]
    panels = next(name for name in heard if name.startswith("Over time: "))
    assert re.search(r"[^.]\. round-trip time \(ms\): up\[0\] [\d.]+ to [\d.]+, up\[1\] ", panels)
    assert re.search(r"\. queue \(packets\): wire \d+ to \d+\b", panels)


def test_the_menu_of_a_chart_has_a_name_and_covers_nothing(chromium: Page, over_time: Path) -> None:
    """Delay and throughput of one flow are its point at the upper right, where the button was."""
    _opened(chromium, over_time)
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    menus = [each["name"]["value"] for each in nodes if each["role"]["value"] == "DisclosureTriangle"]
    buttons = chromium.run("document.querySelectorAll('.vega-embed summary').length")
    assert len({name for name in menus if name.startswith("Save this chart: ")}) == buttons > 1
    # All that is drawn is below them.
    above = chromium.run("""[...document.querySelectorAll('.vega-embed summary')].map((menu) => {
        const top = [...menu.closest('.chart').querySelectorAll('.role-mark:not([class*=legend]) path')].map((each) => each.getBoundingClientRect().top);
        return Math.min(...top) - menu.getBoundingClientRect().bottom; })""")
    assert min(above) >= -1


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
    theory = pl.concat([dots.with_columns(of=pl.lit(name)) for name in ("what theory says", "what the document says")])
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
        _opened(chromium, page, window=(400, 900))
        assert chromium.run("document.documentElement.scrollWidth - innerWidth") <= 0
        assert chromium.run(beyond) == []


def test_the_menu_of_a_chart_can_be_read_in_the_dark(chromium: Page, over_time: Path) -> None:
    _opened(chromium, over_time, dark=True)
    chromium.run("(document.querySelector('.vega-embed details').open = true)")
    word = "document.querySelector('.vega-actions a')"
    ink = chromium.run(f"getComputedStyle({word}).color")
    assert ink == chromium.run("getComputedStyle(document.body).color")
    chromium.run(f"{word}.focus()")
    ground = chromium.run(f"getComputedStyle({word}).backgroundColor")
    assert ground == "rgb(29, 33, 38)"


def test_long_commands_are_broken_on_a_narrow_screen(
    chromium: Page, one_flow: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    folder = tmp_path / "a_folder_with_quite_a_long_name" / "and_another_one_that_is_in_it"
    folder.mkdir(parents=True)
    (folder / "scenario.toml").write_text(one_flow, encoding="utf-8")
    assert said("run", str(folder / "scenario.toml"), "--report", str(tmp_path / "report.html"))[0] == 0
    _opened(chromium, tmp_path / "report.html", window=(400, 900))
    assert chromium.run("document.querySelectorAll('li > code').length") > 0
    assert chromium.run("document.documentElement.scrollWidth - innerWidth") <= 0


def test_charts_have_room_on_a_narrow_screen(chromium: Page, over_time: Path, tmp_path: Path) -> None:
    script = """
    said.charts = [...document.querySelectorAll(".chart")].map((one) => [
      one.querySelector("svg").viewBox.baseVal.width, one.clientWidth]);
    told();
    """
    for wide, room in _said(chromium, over_time, tmp_path, script, window=(400, 900))["charts"]:
        # Otherwise all of it would be drawn smaller.
        assert wide <= room


def _wide() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "label": [f"flow {row}" for row in range(90)],
            **{f"column_{place}_bps": list(range(90)) for place in range(24)},
        }
    )


def _with_wide_table(folder: Path) -> Path:
    blocks: list[report.Block] = [
        report.Table(_wide(), "Wide and long."),
        report.Details("Folded", "what is folded away"),
    ]
    return report.write(
        folder / "report.html", title="Wide", lead="", claims=CLAIMS, sections=[report.Section("Table", "", blocks)]
    )


@pytest.mark.parametrize("window", [(1300, 900), (500, 900)])
def test_no_table_is_cut_at_the_right(chromium: Page, window: tuple[int, int], tmp_path: Path) -> None:
    script = """
    const boxes = [...document.querySelectorAll(".scroll")];
    document.documentElement.dataset.said = JSON.stringify({
      hidden: boxes.map((box) => box.scrollWidth - box.clientWidth), page: document.documentElement.scrollWidth - innerWidth });
    """
    page = _with_wide_table(tmp_path)
    before, _, after = page.read_text().rpartition("</body>")
    page.write_text(f"{before}<script>{script}</script></body>{after}")
    dom, console = _opened(chromium, page, window=window)
    assert console == []
    found = re.search(r'data-said="([^"]*)"', dom)
    assert found is not None
    said = json.loads(html.unescape(found[1]))
    assert said["page"] <= 0
    if window == (1300, 900):
        assert set(said["hidden"]) == {0}
    else:
        # There its box scrolls, and is shaded at the side where there is more.
        assert max(said["hidden"]) > 0


def _printed(page: Path, folder: Path) -> list[str]:
    """The text of each page of a report on paper."""
    need("pdftotext")
    pdf = folder / "report.pdf"
    subprocess.run(
        [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}",
         "--virtual-time-budget=30000", "--no-pdf-header-footer", f"--print-to-pdf={pdf}", page.as_uri()],
        capture_output=True, check=True, timeout=180,
    )  # fmt: skip
    text = subprocess.run(["pdftotext", "-layout", pdf, "-"], capture_output=True, text=True, check=True).stdout
    return text.removesuffix("\f").split("\f")


def test_paper_hides_nothing(tmp_path: Path) -> None:
    text = "\n".join(_printed(_with_wide_table(tmp_path), tmp_path))
    assert "what is folded away" in text
    # The last row of a table in a scroll box, its last column, and claims that are folded on the screen.
    assert "flow 89" in text
    assert "column 23" in " ".join(text.split())
    assert all(f"Case {place}:" in text for place in range(15))
    assert "another" in text


def test_pages_hold_together_what_belongs_together(over_time: Path, tmp_path: Path) -> None:
    pages = _printed(over_time, tmp_path)
    assert all(page.strip() for page in pages)
    # The panels over time are on one page, with their heading and their caption.
    (whole,) = (page for page in pages if "congestion window (packets)" in page)
    assert "Over time" in whole
    assert "queue (packets)" in whole
    assert "Throughput is what arrives" in whole
    # Sections of any length: no page ends with a heading, a finding or the heads of a table.
    short = pl.DataFrame({"first": ["cell"] * 6})
    sections = [
        report.Section(f"Heading {place}", f"Finding {place}.", [report.Text("Evidence.\n\n" * place), report.Table(short)])
        for place in range(1, 16)
    ]  # fmt: skip
    page = report.write(tmp_path / "report.html", title="Sections", lead="", sections=sections)
    ends = [text.rstrip().rpartition("\n")[2].strip() for text in _printed(page, tmp_path)]
    assert len(ends) > 3
    assert not [end for end in ends if end.startswith(("Heading", "Finding", "first"))]


@pytest.fixture(scope="module")
def sequence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a flow that sends many packets and loses none, with a table that is wider than a narrow window."""
    rows = [
        {"time_s": at / 100, "sequence": float(at), "kind": kind}
        for at in range(200)
        for kind in ("sent", "acknowledged")
    ]
    chart = report.Chart(charts.sequence(pl.DataFrame(rows)), "All arrive.")
    table = report.Table(
        pl.DataFrame({"of": ["a", "b"], "is": ["a long word " * 9] * 2, "was": ["another word " * 9] * 2})
    )
    sections = [report.Section("Packets", "", [chart]), report.Section("Words", "", [table])]
    return report.write(tmp_path_factory.mktemp("sequence") / "report.html", title="T", lead="", sections=sections)


def test_packets_of_a_flow_without_losses_are_drawn_and_not_heard_one_by_one(chromium: Page, sequence: Path) -> None:
    """The sizes of points of one kind alone were no numbers."""
    dom, console = _opened(chromium, sequence)
    assert console == []
    assert len(re.findall(r'<path[^>]*d="M1\.5,0A1\.5', dom)) == 200
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    assert sum(each["role"]["value"].startswith("graphics-") and not each["ignored"] for each in nodes) < 20
    names = [each["name"]["value"] for each in nodes if each["role"]["value"] == "graphics-document"]
    assert names == ["Packets: sequence number over time (s): All arrive."]


def test_what_is_cut_off_is_scrolled_by_keys(chromium: Page, sequence: Path) -> None:
    groups = "[...document.querySelectorAll('.scroll')].map((each) => [each.ariaLabel, each.getAttribute('tabindex')])"
    _opened(chromium, sequence)
    assert chromium.run(groups) == [["Words", None]]
    _opened(chromium, sequence, window=(500, 900))
    assert chromium.run(groups) == [["Words", "0"]]
    assert chromium.run("document.querySelector('nav [aria-current=true]').hash") == "#packets"


def test_a_chart_that_is_printed_too_early_says_so(chromium: Page, sequence: Path) -> None:
    _opened(chromium, sequence)
    said = "getComputedStyle(document.querySelector('.chart'), '::after').content"
    chromium.send("Emulation.setEmulatedMedia", media="print")
    assert chromium.run(said) == "none"
    chromium.run("delete document.querySelector('.chart').dataset.state")
    assert "not drawn when the page was printed" in chromium.run(said)
    chromium.send("Emulation.setEmulatedMedia", media="")
