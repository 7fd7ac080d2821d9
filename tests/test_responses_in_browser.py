"""Charts of many responses in headless Chromium, and runs that are explored by clicks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from browser import Page
from programs import needs_browser
from report_pages import drawn, opened, told
from tightlink import report
from tightlink.analysis.effects import designed
from tightlink.analysis.responses import clusters, correlation, outliers, ranks
from tightlink.analysis.responses import fairness as shares
from tightlink.analysis.responses import pca as components
from tightlink.report import charts

pytestmark = needs_browser
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
    dom, console = opened(chromium, page)
    assert console == []
    assert len(drawn(dom)) == len(alone) + 16 + 8
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
    dom, console = opened(chromium, page)
    assert console == []
    drawn(dom)
    assert "150 of 150 runs" in dom


def _explored(chromium: Page, page: Path, folder: Path, script: str) -> dict[str, Any]:
    """What the page says before and after somebody has done something."""
    said = told(chromium, page, folder, EXPLORING + script + "setTimeout(told, 300);")
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
