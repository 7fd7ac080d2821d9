"""Laboratories in reports: only if asked for, each scenario with sliders, and the digest of the run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import tightlink as tl
from browser import Page
from programs import needs_browser, needs_engine_for_browsers
from tightlink import report
from tightlink.cli import main
from tightlink.laboratory.embedded import Offer
from tightlink.report import run_report

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LAB = "document.getElementById('laboratory-place').shadowRoot.querySelector('.lab')"


def opened(chromium: Page, file: Path, place: int = 0) -> str:
    """The digest that the laboratory of a report shows, once it is open."""
    chromium.console.clear()
    chromium.open("about:blank")
    chromium.open(file.as_uri())
    chromium.wait("Boolean(document.getElementById('laboratory-open'))")
    chromium.run(f"document.getElementById('laboratory-choice').value = '{place}'")
    chromium.run("document.getElementById('laboratory-open').click()")
    chromium.wait(f"Boolean({LAB}?.dataset.digest)")
    return str(chromium.run(f"{LAB}.dataset.digest"))


@needs_browser
@needs_engine_for_browsers
def test_a_run_opens_in_the_lab(chromium: Page, one_flow: str, tmp_path: Path) -> None:
    run = tl.simulate(tl.loads(one_flow))
    run.save(tmp_path / "run")
    assert 'id="laboratory' not in run_report(tmp_path / "run").read_text()
    file = run_report(tmp_path / "run", with_lab=True)
    assert opened(chromium, file) == run.manifest["digest"]
    assert chromium.console == []
    assert chromium.run(f"{LAB}.querySelectorAll('canvas').length") >= 4
    # The charts of the report are there as well.
    chromium.wait("document.querySelectorAll('.vega-embed').length > 0")


@needs_browser
@needs_engine_for_browsers
def test_both_sides_of_a_comparison_open_in_the_lab(chromium: Page, one_flow: str, tmp_path: Path) -> None:
    runs = [
        tl.simulate(tl.loads(one_flow).set("link.bottleneck.queue", queue)) for queue in ("5 packets", "40 packets")
    ]
    for name, run in zip(("before", "after"), runs, strict=True):
        run.save(tmp_path / name)
    both = [str(tmp_path / "before"), str(tmp_path / "after")]
    assert main(["compare", *both, "-o", str(tmp_path / "compared"), "--with-lab"]) == 0
    for place, run in enumerate(runs):
        assert opened(chromium, tmp_path / "compared" / "report.html", place) == run.manifest["digest"]
    assert main(["compare", *both, "--with-lab"]) == 2


@needs_browser
@needs_engine_for_browsers
def test_a_sweep_has_a_slider_for_each_key(chromium: Page, one_flow: str, tmp_path: Path) -> None:
    key = "link.bottleneck.queue"
    found = tl.sweep(tl.loads(one_flow), {key: ["5 packets", "40 packets"]}, output=tmp_path / "sweep")
    file = run_report(tmp_path / "sweep", with_lab=True)
    assert opened(chromium, file) == found.run("0/0").manifest["digest"]
    assert chromium.run(f"{LAB}.laboratory.controls.given.sliders.map(({{key, texts}}) => [key, texts])") == [
        [key, ["5 packets", "40 packets"]]
    ]
    chromium.run(f"{LAB}.laboratory.controls.move([[0, 1]])")
    chromium.wait(f"{LAB}.dataset.positions === '1'")
    assert chromium.run(f"{LAB}.dataset.digest") == found.run("1/0").manifest["digest"]


@needs_browser
@needs_engine_for_browsers
def test_one_of_several_opens_at_a_time(chromium: Page, one_flow: str, small_users: str, tmp_path: Path) -> None:
    names = [f"</script><b>case {number}" for number in range(14)]
    scenarios = [tl.loads(one_flow).set("duration", f"{number + 1} s") for number in range(14)]
    offers = [Offer(name, scenario) for name, scenario in zip(names, scenarios, strict=True)]
    file = report.write(
        tmp_path / "report.html", title="Cases", lead="", laboratories=[*offers, Offer("users", tl.loads(small_users))]
    )
    assert opened(chromium, file, 2) == tl.simulate(scenarios[2]).manifest["digest"]
    assert chromium.run("document.getElementById('laboratory-choice').selectedOptions[0].text") == names[2]
    assert "Left out are 1 that a browser cannot simulate" in file.read_text()
    assert opened(chromium, file, 13) == tl.simulate(scenarios[13]).manifest["digest"]
    assert chromium.console == []


@needs_engine_for_browsers
def test_what_has_no_laboratory_is_one_sentence(
    small_users: str, said: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    tl.simulate(tl.loads(small_users)).save(tmp_path / "users")
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "claims.json").write_text("{}")
    for folder, sentence in (("users", "a browser cannot hold"), ("study", "tightlink study … --with-lab")):
        code, _, error = said("report", str(tmp_path / folder), "--with-lab")
        assert code == 2
        assert sentence in error
        assert len(error.strip().split("\n")) == 1
