"""Digests of laboratories in headless Chromium: the same bytes as natively, of examples, studies and exported files."""

from __future__ import annotations

from pathlib import Path

import pytest

import tightlink as tl
from browser import Page
from browser_digests import Engines, tasks
from lab_pages import LAB, move, opened
from programs import needs_browser, needs_engine_for_browsers
from tightlink import studies, units
from tightlink.laboratory import write

pytestmark = [needs_browser, needs_engine_for_browsers]

EXAMPLES = sorted(Path(__file__).parent.parent.glob("examples/*.toml"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_the_digest_that_it_has_natively(example: Path, chromium: Page, tmp_path: Path) -> None:
    scenario = tl.load(example)
    if example.stem == "fat-tree-k16":
        # What it adds to the smaller ones are its 1024 hosts; so much of its time has a million packet hops.
        scenario = scenario.set_all({"duration": "4 ms", "traffic.answers.stop": "4 ms"})
    try:
        file = write(tmp_path / "lab.html", scenario, sliders=["seed=1,2"])
    except tl.ScenarioError as error:
        assert "a browser" in str(error)
        return
    assert opened(chromium, file)["digest"] == tl.simulate(scenario).manifest["digest"]
    assert chromium.console == []


def test_the_largest_seed_is_the_same_number(chromium: Page, tmp_path: Path) -> None:
    """A number of JavaScript has 53 bits, a seed 63."""
    scenario = tl.load("examples/on-off.toml")
    opened(chromium, write(tmp_path / "lab.html", scenario, sliders=["seed=1,9223372036854775807"]))
    found = move(chromium, {0: 1})
    assert found["digest"] == tl.simulate(scenario.set("seed", 2**63 - 1)).manifest["digest"]


def test_sweeps_have_the_same_digests_without_charts(chromium: Page, tmp_path: Path) -> None:
    engines = Engines(chromium, tmp_path)
    # One with its own interval, whose series are part of its digest, and one without.
    for example in ("open-window", "one-flow"):
        scenario = tl.load(f"examples/{example}.toml")
        assert engines.digest(scenario, samples=False) == tl.simulate(scenario).manifest["digest"]


@pytest.mark.parametrize("study", [name for name, _ in studies.names() if name != "network-congestion"])
def test_scenarios_of_studies_have_the_digests_that_they_have_natively(
    study: str, chromium: Page, tmp_path: Path
) -> None:
    """The first seconds of some of each; ``make lab-digests`` compares all. Of network-congestion a browser takes none."""
    engines = Engines(chromium, tmp_path)
    known = tasks(study)
    for task in known[:: len(known) // 3]:
        scenario = _first_seconds(task.scenario)
        try:
            found = engines.digest(scenario)
        except tl.ScenarioError as error:
            assert "a browser" in str(error)
            continue
        assert found == tl.simulate(scenario).manifest["digest"], task.name


def _first_seconds(scenario: tl.Scenario) -> tl.Scenario:
    """The first five seconds of a scenario; all of it where something is later, or lasts longer."""
    seconds = min(5.0, units.time(scenario.duration))
    longer = scenario.observe and scenario.observe.interval and units.time(scenario.observe.interval) > seconds
    sampled = {"observe.interval": units.format_time(seconds)} if longer else {}
    brief = scenario.set_all({"duration": units.format_time(seconds), **sampled})
    try:
        brief.resolve()
    except tl.ScenarioError:
        return scenario
    return brief


@pytest.mark.parametrize("name", ["chain", "one-flow", "queues"])
def test_exported_toml_runs_to_the_same_bytes(name: str, chromium: Page, tmp_path: Path) -> None:
    scenario = tl.load(f"examples/{name}.toml").set("duration", "3 s")
    file = write(tmp_path / "lab.html", scenario)
    opened(chromium, file)
    counts = chromium.run(f"{LAB}.laboratory.controls.given.sliders.map(({{texts}}) => texts.length)")
    for step in (0, 3, 7):
        positions = {index: (step * (index + 2) + 1) % count for index, count in enumerate(counts)}
        found = move(chromium, positions)
        exported = tl.loads(chromium.run(f"{LAB}.laboratory.toml()"))
        assert found["digest"] == tl.simulate(exported).manifest["digest"], positions
