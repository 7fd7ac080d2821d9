"""Laboratories in headless Chromium, in real time: the same bytes as natively, sliders, pins, sweeps, and no network."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import polars as pl
import pytest

import tightlink as tl
from browser import Page, browser
from browser_digests import Engines, tasks
from programs import need, needs_browser, needs_engine_for_browsers
from tightlink import studies, units
from tightlink.console import quantity
from tightlink.laboratory import write
from tightlink.plots import palette

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [needs_browser, needs_engine_for_browsers]

EXAMPLES = sorted(Path(__file__).parent.parent.glob("examples/*.toml"))
SVG = "{http://www.w3.org/2000/svg}"
LAB = "document.getElementById('lab')"


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with browser(tmp_path_factory.mktemp("profile")) as page:
        yield page


def opened(chromium: Page, file: Path, *, fragment: str = "") -> dict[str, str]:
    """A laboratory whose first run is shown; what it says of itself."""
    chromium.console.clear()
    chromium.requests.clear()
    chromium.open("about:blank")
    chromium.open(f"{file.as_uri()}{fragment}")
    chromium.wait(f"Boolean({LAB}?.laboratory && {LAB}.dataset.digest)")
    return shown(chromium)


def shown(chromium: Page) -> dict[str, str]:
    return dict(json.loads(chromium.run(f"JSON.stringify({LAB}.dataset)")))


def move(chromium: Page, positions: dict[int, int]) -> dict[str, str]:
    """Move sliders, and wait for the run."""
    runs = shown(chromium)["runs"]
    chromium.run(f"{LAB}.laboratory.controls.move({json.dumps(list(positions.items()))})")
    chromium.wait(f"{LAB}.dataset.runs !== {json.dumps(runs)}")
    return shown(chromium)


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory, one_flow: str) -> tuple[Path, list[dict[str, Any]]]:
    """A laboratory of one flow, and its sliders."""
    from tightlink.laboratory import page

    scenario = tl.loads(one_flow)
    folder = tmp_path_factory.mktemp("lab")
    name = "one </script><b>flow"
    file = write(folder / "one.html", scenario, title=name, text="Try {set: link.bottleneck.queue=5 packets}.")
    return file, page.data(scenario, title=name)["sliders"]


def position(sliders: list[dict[str, Any]], key: str, text: str) -> dict[int, int]:
    number = [slider["key"] for slider in sliders].index(key)
    return {number: sliders[number]["texts"].index(text)}


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


def test_nothing_is_fetched_and_names_are_text(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    assert chromium.console == []
    assert [url for url in chromium.requests if not url.startswith(("file:", "blob:", "about:"))] == []
    assert chromium.run("document.querySelector('h1').textContent") == "one </script><b>flow"
    assert chromium.run("document.querySelectorAll('h1 b').length") == 0
    policy = chromium.run("document.querySelector('meta[http-equiv]').content")
    assert policy.startswith("default-src 'none';")
    # What the policy forbids is refused.
    assert chromium.run("fetch('https://example.org').then(() => 'fetched', () => 'refused')") == "refused"


def test_the_file_is_small(one: tuple[Path, Any]) -> None:
    import gzip

    assert len(gzip.compress(one[0].read_bytes())) < 1_000_000


def test_totals_are_those_of_the_command_line(
    one: tuple[Path, Any], chromium: Page, one_flow: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tightlink.commands.run_output import print_summary

    endless = tl.loads(one_flow)
    sized = endless.set("traffic.ftp.bytes", "100 kB")
    drawn = []
    for scenario, file in ((endless, one[0]), (sized, write(tmp_path / "sized.html", sized))):
        opened(chromium, file)
        print_summary(tl.simulate(scenario))
        printed = capsys.readouterr().out.split("\n\n")
        for table, index in zip(printed, (0, 1), strict=True):
            row = chromium.run(
                f"[...document.querySelectorAll('.totals table')[{index}].querySelectorAll('tbody tr:first-child > *')]"
                ".map((cell) => cell.firstChild.textContent)"
            )
            for cell in row:
                assert cell in table
        drawn.append(chromium.run("document.querySelectorAll('details')[1].textContent"))
    assert ["mean completion time" in each for each in drawn] == [False, True]


def test_numbers_are_written_as_the_command_line_writes_them(one: tuple[Path, Any], chromium: Page) -> None:
    """JavaScript rounds what lies exactly between two numbers to the larger one, Python to the even one."""
    opened(chromium, one[0])
    halves = [41785.0, 1912500.0, 41775.0, 0.5, 999_950.0]
    values = {
        "goodput_bps": halves,
        "one_way_delay_mean_s": [*halves, 0.03125, 1.5 / 2**10, 1e-13],
        "queue_mean_packets": [*halves, 1.707e-6, 1e-4, 9.9995e-5, 1e-13, 1234567.5, 28.125, 2.0],
        "utilization": [0.03125, 0.09375, 0.5, 1.0, 0.99995, 0.999949, 1e-5, 3.7e-4],
        "load_true": [1.24451, 1.0625, 12.3456],
    }
    given = [(column, value) for column, several in values.items() for value in several]
    written = chromium.run(f"{json.dumps(given)}.map(([column, value]) => quantity(column, value))")
    assert written == [quantity(column, value) for column, value in given]


ROUTER = """
duration = "2 s"
link.lan = { ends = ["sender", "router"], rate = "100 Mbit/s", delay = "50 us", queue = "1000 packets" }
link.wan = { ends = ["router", "receiver"], rate = "10 Mbit/s", delay = "5 ms", queue = "100 packets" }
node.router.processor = { per_packet = "200 us", input_ring = "75 packets" }
traffic.stream = { kind = "cbr", from = "sender", to = "receiver", rate = "6 Mbit/s", udp = { datagram = "1500 B" } }
"""


def test_what_a_processor_drops_is_among_the_totals(
    chromium: Page, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tightlink.commands.run_output import print_summary

    scenario = tl.loads(ROUTER)
    file = write(tmp_path / "router.html", scenario, sliders=["traffic.stream.udp.datagram=100 B,500 B,1500 B"])
    opened(chromium, file)
    of = "document.querySelectorAll('.totals table')"
    cells = "[...{}.querySelectorAll('{}')].map((cell) => cell.firstChild.textContent)"
    flow = f"[...{of}[0].querySelectorAll('tbody small')].map((each) => each.textContent)"
    # Jitter that is none but for rounding has not changed.
    jitter = chromium.run(cells.format(f"{of}[0]", "th")).index("jitter") - 1
    move(chromium, {0: 1})
    assert chromium.run(flow)[jitter] == ""
    move(chromium, {0: 0})
    assert chromium.run(flow)[jitter] == "▲ new"
    print_summary(tl.simulate(scenario.set("traffic.stream.udp.datagram", "100 B")))
    head, row = capsys.readouterr().out.split("\n\n")[2].splitlines()
    assert head.split("  ")[0] == "processor"
    for line, selector in ((head, "thead th"), (row, "tbody tr > *")):
        written = chromium.run(cells.format(f"{of}[2]", selector))
        assert line.split() == " ".join(written).split()


def test_a_move_a_button_and_a_link(one: tuple[Path, Any], chromium: Page, one_flow: str) -> None:
    file, sliders = one
    opened(chromium, file)
    found = move(chromium, position(sliders, "link.bottleneck.rate", "4 Mbit/s"))
    assert found["digest"] == tl.simulate(tl.loads(one_flow).set("link.bottleneck.rate", "4 Mbit/s")).manifest["digest"]
    runs = found["runs"]
    chromium.run("document.querySelector('button.set').click()")
    chromium.wait(f"{LAB}.dataset.runs !== {runs!r}")
    wanted = tl.loads(one_flow).set_all({"link.bottleneck.rate": "4 Mbit/s", "link.bottleneck.queue": "5 packets"})
    digest = tl.simulate(wanted).manifest["digest"]
    assert shown(chromium)["digest"] == digest
    # The address of the page is a link to this state.
    fragment = chromium.wait("location.hash.includes('queue') && location.hash")
    assert "rate=4%20Mbit%2Fs" in fragment
    assert opened(chromium, file, fragment=fragment)["digest"] == digest
    assert chromium.run("[...document.querySelectorAll('.totals small')].some((cell) => cell.textContent)") is False
    move(chromium, position(sliders, "link.bottleneck.rate", "2 Mbit/s"))
    assert chromium.run(
        "[...document.querySelectorAll('.totals small')].some((cell) => cell.textContent.includes('%'))"
    )


@pytest.mark.parametrize("fragment", ["#100%", "#link.bottleneck.rate=4%20Mbit%2Fs&loss=1%"])
def test_a_link_that_was_cut_opens_the_page(
    fragment: str, one: tuple[Path, Any], chromium: Page, one_flow: str
) -> None:
    rate = "4 Mbit/s" if "rate" in fragment else "2 Mbit/s"
    wanted = tl.loads(one_flow).set("link.bottleneck.rate", rate)
    assert opened(chromium, one[0], fragment=fragment)["digest"] == tl.simulate(wanted).manifest["digest"]
    assert chromium.console == []


def test_an_error_is_shown_in_place_and_the_last_run_stays(chromium: Page, tmp_path: Path) -> None:
    scenario = tl.loads("""
        duration = "1 s"
        link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", queue = "20 packets" }
        traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    """)
    file = write(
        tmp_path / "lab.html", scenario, sliders=["link.wire.queue=20 packets,2 BDP", "traffic.ftp.tcp.payload=9000 B"]
    )
    before = opened(chromium, file)
    # A queue that is written as its limit is no choice of disciplines.
    assert chromium.run("document.querySelector('.control label').textContent") == "wire: buffer"
    assert move(chromium, {0: 1})["digest"] == before["digest"]
    # Of what depends on others the engine says what is wrong; of the rest it was known when the file was made.
    for key, value in (("link.wire.queue", "2 BDP"), ("traffic.ftp.tcp.payload", "9000 B")):
        with pytest.raises(tl.ScenarioError) as caught:
            scenario.set(key, value).resolve()
        caught.value.file = None
        assert chromium.run("document.querySelector('.error').textContent") == caught.value.sentence()
        # The address says where the sliders are, also there.
        chromium.wait(f"location.hash.startsWith('#{key}=')")
        move(chromium, {0: 0, 1: 1})
    move(chromium, {0: 0, 1: 0})
    assert chromium.run("document.querySelector('.error').hidden")
    assert chromium.console == []


def test_what_takes_too_long_is_stopped_and_says_how_far_it_came(chromium: Page, tmp_path: Path) -> None:
    scenario = tl.loads("""
        duration = "20 s"
        link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "5 ms", queue = "20 packets" }
        traffic.ftp = { kind = "bulk", flows = 4, from = "a", to = "b" }
    """)
    file = write(
        tmp_path / "lab.html", scenario, sliders=["link.wire.rate=100 Gbit/s", "traffic.ftp.tcp.window=1000000 packets"]
    )
    before = opened(chromium, file)
    chromium.run(f"{LAB}.laboratory.controls.move([[0, 1], [1, 1]])")
    chromium.wait("!document.querySelector('.shown .tools button').hidden")
    chromium.wait("document.querySelector('.status').textContent.startsWith('simulated')")
    chromium.run("document.querySelector('.shown .tools button').click()")
    said = chromium.wait("document.querySelector('.error').textContent")
    assert said.startswith("stopped at ")
    assert "of 20 s" in said
    assert chromium.run("document.querySelector('.status').textContent").startswith("Goodput ")
    assert shown(chromium)["digest"] == before["digest"]
    assert move(chromium, {0: 0, 1: 0})["digest"] == before["digest"]


def test_pins_sweeps_and_packets(one: tuple[Path, Any], chromium: Page) -> None:
    file, sliders = one
    opened(chromium, file)
    chromium.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Pin as A').click()")
    move(chromium, position(sliders, "link.bottleneck.queue.limit", "5 packets"))
    assert chromium.run(
        "[...document.querySelectorAll('.u-legend th')].some((each) => each.textContent.startsWith('A '))"
    )
    assert float(chromium.run("document.querySelector('#chart-queue canvas').toDataURL().length")) > 2000
    chromium.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    chromium.wait("Boolean(document.querySelector('details figure canvas'))")
    label = chromium.run("document.querySelector('details figure [role=img]').getAttribute('aria-label')")
    assert "packets sent" in label
    assert int(label.split("over time: ")[1].split()[0]) > 1000
    sweep = "document.querySelectorAll('details')[1]"
    chromium.run(f"{sweep}.querySelector('button').click()")
    chromium.wait(f"{sweep}.querySelector('[role=status]').textContent.endsWith('runs')")
    assert chromium.run(f"Boolean({sweep}.querySelector('canvas'))")
    assert chromium.console == []


def test_packets_are_asked_for_again_before_they_are_there(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    film = "document.querySelectorAll('details')[0]"
    chromium.run(f"({LAB}.laboratory.charts.zoom([2, 4]), {film}.open = true)")
    chromium.run(f"for (let time = 0; time < 3; time += 1) {film}.querySelector('button').click()")
    chromium.wait(f"{film}.querySelector('[role=status]').textContent === '2 s to 4 s'")
    assert chromium.console == []
    # The film is of the packets that are here, whatever the charts show by now.
    chromium.run(f"{LAB}.laboratory.charts.zoom([6, 7])")
    chromium.wait(f"{film}.querySelector('[role=status]').textContent.startsWith('the charts')")
    time = f"{film}.querySelector('input[type=range]')"
    chromium.run(f"({time}.value = '500', {time}.dispatchEvent(new Event('input')))")
    assert chromium.run(f"{time}.getAttribute('aria-valuetext')") == "3 s"


def test_a_sweep_is_of_the_positions_with_which_it_began(one: tuple[Path, Any], chromium: Page, one_flow: str) -> None:
    file, sliders = one
    opened(chromium, file)
    sweep = "document.querySelectorAll('details')[1]"
    keys = [slider["key"] for slider in sliders]
    texts = sliders[keys.index("link.bottleneck.queue.limit")]["texts"]
    chromium.run(f"{sweep}.open = true")
    chromium.run(f"{sweep}.querySelector('select').value = {keys.index('link.bottleneck.queue.limit')}")
    chromium.run(f"{sweep}.querySelector('button').click()")
    move(chromium, position(sliders, "link.bottleneck.rate", "4 Mbit/s"))
    chromium.wait(f"{sweep}.querySelector('[role=status]').textContent.endsWith('runs')")
    heard = chromium.run(f"{sweep}.querySelector('[role=img]').getAttribute('aria-label')")
    last = tl.simulate(tl.loads(one_flow).set("link.bottleneck.queue", texts[-1])).flows
    assert heard.endswith(f"{texts[-1]}: ftp {quantity('goodput_bps', last['goodput_bps'].item())}")


def test_a_sweep_draws_who_gets_how_much(chromium: Page, tmp_path: Path) -> None:
    scenario = tl.loads("""
        duration = "5 s"
        profile = "linux"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "1 BDP" }
        traffic.bbr = { kind = "bulk", from = "a", to = "b", tcp.congestion = "bbr" }
        traffic.cubic = { kind = "bulk", from = "a", to = "b", start = "0.1 s", tcp.congestion = "cubic" }
    """)
    opened(chromium, write(tmp_path / "lab.html", scenario, sliders=["link.wire.queue=0.3 BDP,1 BDP,6 BDP"]))
    sweep = "document.querySelectorAll('details')[1]"
    chromium.run(f"{sweep}.open = true")
    chromium.run(f"{sweep}.querySelector('button').click()")
    chromium.wait(f"{sweep}.querySelector('[role=status]').textContent === '3 runs'")
    assert chromium.run(f"{sweep}.querySelector('select').selectedOptions[0].text") == "wire: buffer"
    heard = chromium.run(f"{sweep}.querySelector('[role=img]').getAttribute('aria-label')")
    title, _, positions = heard.partition(": 0.3 BDP")
    assert title == "goodput of each flow over wire: buffer"
    flows = tl.simulate(scenario.set("link.wire.queue", "6 BDP")).flows
    bbr, cubic = (quantity("goodput_bps", each) for each in flows["goodput_bps"])
    assert positions.endswith(f"6 BDP: bbr {bbr}, cubic {cubic}")
    lines = [f"{LAB}.querySelector('#chart-rate')", f"{sweep}.querySelector('figure')"]
    colors = [
        chromium.run(
            f"[...{line}.querySelectorAll('.u-series')].slice(1, 3).map((each) => each.innerHTML.match(/rgb[^)]*/)[0])"
        )
        for line in lines
    ]
    assert colors[0] == colors[1]


def press(chromium: Page, key: str, code: int) -> None:
    for kind in ("keyDown", "keyUp"):
        chromium.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)


def unfold(chromium: Page) -> None:
    """Open all that is folded, with something in it."""
    chromium.run("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    chromium.run("document.querySelectorAll('details')[1].querySelector('button').click()")
    chromium.wait("document.querySelectorAll('details figure canvas').length === 2")
    chromium.wait("document.querySelectorAll('details')[1].querySelector('[role=status]').textContent.endsWith('runs')")


#: What is wider than the window, and nothing that scrolls is around it.
BEYOND = """[...document.querySelectorAll('.lab *')].filter((each) => {
    const { left, right, width } = each.getBoundingClientRect();
    if (!width || (left >= -0.5 && right <= document.documentElement.clientWidth + 0.5)) return false;
    for (let outer = each.parentElement; outer; outer = outer.parentElement)
        if (getComputedStyle(outer).overflowX !== 'visible') return false;
    return true;
}).map((each) => each.outerHTML.slice(0, 80))"""
#: Texts that differ too little from what is behind them: WCAG 2.2, success criterion 1.4.3, asks for a ratio of 4.5.
PALE = """(() => {
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => numbers(color).slice(0, 3)
        .map((part) => ((part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = (each) => {
        const { backgroundColor } = getComputedStyle(each);
        return numbers(backgroundColor)[3] === 0 ? behind(each.parentElement) : backgroundColor;
    };
    return [...document.querySelectorAll('.lab *')]
        .filter((each) => [...each.childNodes].some(({ nodeType, data }) => nodeType === 3 && data.trim()))
        .map((each) => [each.textContent, ...[getComputedStyle(each).color, behind(each)].map(light).sort()])
        .filter(([, dark, bright]) => (bright + 0.05) / (dark + 0.05) < 4.5);
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_takes_it(dark: bool, one: tuple[Path, Any], chromium: Page) -> None:  # noqa: FBT001
    chromium.size(400, 800, dark=dark)
    try:
        opened(chromium, one[0])
        unfold(chromium)
        assert chromium.run("document.documentElement.scrollWidth") <= 400
        assert chromium.run(BEYOND) == []
        assert chromium.run(PALE) == []
        ground = chromium.run("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(20, 23, 27)") is dark
    finally:
        chromium.size(1200, 1000)


@pytest.mark.parametrize("width", [400, 800])
def test_long_names_do_not_widen_it(width: int, chromium: Page, tmp_path: Path) -> None:
    name = "_".join(["a_name_that_somebody_exported_from_a_spreadsheet"] * 2)
    scenario = tl.loads(f"""
        duration = "1 s"
        link.{name} = {{ ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }}
        traffic.{name[:-1]} = {{ kind = "bulk", flows = 2, from = "a", to = "b" }}
    """)
    chromium.size(width, 800)
    try:
        opened(chromium, write(tmp_path / "lab.html", scenario))
        unfold(chromium)
        assert chromium.run("document.documentElement.scrollWidth") <= width
        assert chromium.run(BEYOND) == []
    finally:
        chromium.size(1200, 1000)


def test_the_goodput_of_many_flows_has_a_key(chromium: Page, tmp_path: Path) -> None:
    """There is no legend below charts of many lines, and the key above them has flows only."""
    scenario = tl.loads("""
        duration = "1 s"
        link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }
        traffic.up = { kind = "bulk", flows = 9, from = "a", to = "b" }
    """)
    opened(chromium, write(tmp_path / "lab.html", scenario))
    for place in (None, 0):
        if place is not None:
            move(chromium, {0: place})
        keys = "document.querySelectorAll('#chart-rate figcaption .key')"
        assert chromium.run(f"[...{keys}].map((each) => each.textContent)") == ["all 9 flows"]
    shade = chromium.run(f"getComputedStyle({keys}[0].firstChild).backgroundColor")
    flows = "document.querySelectorAll('.flows .key i')"
    assert shade not in chromium.run(f"[...{flows}].map((each) => getComputedStyle(each).backgroundColor)")


def test_what_is_unfolded_follows_the_width(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    unfold(chromium)
    try:
        for width in (400, 1200):
            chromium.size(width, 800)
            drawn = "[...document.querySelectorAll('details .uplot')].map((each) => each.clientWidth)"
            chromium.wait(f"{drawn}.every((wide) => wide > {0.6 * width} && wide < {width})")
            assert chromium.run("document.documentElement.scrollWidth") <= width
    finally:
        chromium.size(1200, 1000)


def test_paper_has_values_in_place_of_sliders_and_is_never_dark(
    one: tuple[Path, Any], chromium: Page, tmp_path: Path
) -> None:
    need("pdftotext")
    chromium.size(1200, 1000, dark=True)
    try:
        opened(chromium, one[0])
        unfold(chromium)
        shown_ = "document.querySelector('#chart-queue canvas').toDataURL()"
        before = chromium.run(shown_)
        said = chromium.run("document.querySelector('details [role=status]').textContent")
        chromium.run("""addEventListener("beforeprint", () => queueMicrotask(() => (window.drawn =
            [isDark(), ...[...document.querySelectorAll(".uplot")].map((each) => each.clientWidth)])), { once: true })""")
        pdf = chromium.send("Page.printToPDF", paperWidth=8.27, paperHeight=11.69, preferCSSPageSize=True)["data"]
        (tmp_path / "lab.pdf").write_bytes(base64.b64decode(pdf))
        dark, *widths = chromium.run("drawn")
        assert not dark
        # Between the margins of A4 there are 186 mm, of 96 pixels in an inch.
        assert len(widths) > 3
        assert max(widths) <= 186 / 25.4 * 96
        command = ["pdftotext", "-layout", str(tmp_path / "lab.pdf"), "-"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert re.search(r"bottleneck: rate +2 Mbit/s", text)
        assert "drop-tail" in text
        assert "Pin as A" not in text
        # Afterwards all is as it was.
        chromium.wait(f"{shown_} === {json.dumps(before)}")
        assert chromium.run("document.querySelector('details [role=status]').textContent") == said
    finally:
        chromium.size(1200, 1000)


def test_a_slider_over_the_duration(chromium: Page, tmp_path: Path, one_flow: str) -> None:
    scenario = tl.loads(one_flow)
    opened(chromium, write(tmp_path / "lab.html", scenario, sliders=["duration=2 s,10 s"]))
    chromium.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Pin as A').click()")
    chromium.run(f"{LAB}.laboratory.charts.zoom([5, 6])")
    found = move(chromium, {0: 0})
    assert found["digest"] == tl.simulate(scenario.set("duration", "2 s")).manifest["digest"]
    assert chromium.run("document.querySelector('.lead').textContent").startswith("2 s of simulated time.")
    # Neither a part of the time that is no longer there, nor lines at times at which they were not.
    assert chromium.run(f"{LAB}.laboratory.charts.range") is None
    labels = "[...document.querySelectorAll('#chart-window .u-label')].map((each) => each.textContent)"
    assert chromium.run(labels) == ["time", "ftp", "ftp in flight"]


@pytest.mark.parametrize("width", [400, 700, 880, 1120, 1400])
def test_tables_wrap_or_scroll(width: int, one: tuple[Path, Any], chromium: Page) -> None:
    """880 is what a notebook leaves on a screen of 1400 when its files are shown beside it."""
    chromium.size(width, 1000)
    try:
        opened(chromium, one[0])
        assert chromium.run("document.documentElement.scrollWidth") <= width
        boxes = chromium.run(
            "[...document.querySelectorAll('.wide')].map((each) => each.scrollWidth - each.clientWidth)"
        )
        assert boxes[0] == 0 or width == 400
        for number, hidden in enumerate(boxes):
            box = f"document.querySelectorAll('.wide')[{number}]"
            chromium.run(f"{box}.focus()")
            if hidden:
                press(chromium, "End", 35)
                for _ in range(30):
                    press(chromium, "ArrowRight", 39)
                chromium.wait(f"{box}.scrollLeft >= {hidden - 1}")
        # Whoever looks at the last column sees what becomes of it.
        move(chromium, {0: 3})
        for number, hidden in enumerate(boxes):
            box = f"document.querySelectorAll('.wide')[{number}]"
            assert chromium.run(f"{box}.scrollLeft") >= min(hidden, 1)
            assert chromium.run(f"{box}.getBoundingClientRect().right") <= width
    finally:
        chromium.size(1200, 1000)


def test_everything_has_a_name_for_those_who_hear_it(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    move(chromium, {0: 3})
    unfold(chromium)
    nodes = [node for node in chromium.send("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]
    heard: list[tuple[str, str]] = []
    for node in nodes:
        can_be_reached = any(each["name"] == "focusable" for each in node.get("properties", []))
        if can_be_reached or node["role"]["value"] in ("image", "region"):
            heard.append((node["role"]["value"], node.get("name", {}).get("value", "")))
    assert [role for role, name in heard if not name.strip() or role == "generic"] == []
    kinds = {"button", "slider", "combobox", "option", "region", "image", "DisclosureTriangle", "RootWebArea"}
    assert {role for role, _ in heard} == kinds
    # The tree as DevTools tells it has the position in place of this text.
    assert chromium.run("document.querySelector('input[type=range]').getAttribute('aria-valuetext')") == "400 kbit/s"
    assert chromium.run("document.querySelector('.status').getAttribute('role')") == "status"
    # What a sweep found is said, too.
    assert any(role == "image" and "400 kbit/s: " in name for role, name in heard)


def test_charts_say_what_they_show(chromium: Page, tmp_path: Path) -> None:
    scenario = tl.load("examples/one-flow.toml").set("observe.interval", "50 ms")
    opened(chromium, write(tmp_path / "lab.html", scenario, sliders=["traffic.ftp.tcp.window=4 packets,20 packets"]))

    def heard(chart: str) -> str:
        return str(chromium.run(f"document.querySelector('#chart-{chart} [role=img]').getAttribute('aria-label')"))

    # The first position changes what is drawn, not which lines there are.
    for place, size in ((1, "20 packets"), (0, "4 packets")):
        if place == 0:
            move(chromium, {0: place})
        run = tl.simulate(scenario.set("traffic.ftp.tcp.window", size))
        window = run.series.filter(pl.col("metric") == "cwnd_packets")["value"]
        packets = window.to_numpy()
        low, high, mean, last = (
            quantity("packets", float(each)) for each in (packets.min(), packets.max(), packets.mean(), packets[-1])
        )
        assert f"over time: ftp {low} to {high}, {mean} on average, {last} at the end; ftp in flight" in heard("window")
        flow = run.flows.row(0, named=True)
        limits = {name: share for name, share in flow.items() if name.startswith("limited_by_") and share}
        name = max(limits, key=lambda each: limits[each])
        word = name.removeprefix("limited_by_").replace("_", " ")
        assert heard("limits").startswith(
            f"What held each flow back, over time: ftp {word} {quantity(name, limits[name])}, "
        )


def test_keys_reach_everything_in_the_order_of_the_page(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    unfold(chromium)
    chromium.run("""{
        window.expected = [...document.querySelectorAll('.lab :is(button, input, select, summary, [tabindex])')]
            .filter((each) => each.checkVisibility());
        window.reached = [];
        document.activeElement.blur();
    }""")
    for _ in range(chromium.run("expected.length")):
        press(chromium, "Tab", 9)
        chromium.run("reached.push(document.activeElement)")
        assert chromium.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert chromium.run("expected.filter((each, place) => reached[place] !== each).map((each) => each.outerHTML)") == []


def test_keys_zoom_and_hide_lines(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    charts = f"{LAB}.laboratory.charts"

    def shows(*names: str) -> list[float]:
        """Press buttons; the part of the whole time that is shown then."""
        for name in names:
            chromium.run(
                f"[...document.querySelectorAll('.lab button')].find(({{title}}) => title === {name!r}).focus()"
            )
            press(chromium, " ", 32)
        return list(chromium.run(f"({charts}.range ?? {charts}.whole).map((time) => time / {charts}.whole[1])"))

    assert shows() == [0, 1]
    assert shows("half of the time shown") == pytest.approx([0.25, 0.75])
    assert shows("earlier") == pytest.approx([0, 0.5])
    assert shows("half of the time shown", "later") == pytest.approx([0.25, 0.5])
    assert shows("later", "later", "later", "later") == pytest.approx([0.75, 1])
    assert shows("twice the time shown", "twice the time shown") == [0, 1]
    assert chromium.run(f"{charts}.range") is None
    line = "document.querySelector('#chart-window .u-legend [role=button]')"
    chromium.run(f"{line}.focus()")
    for pressed, shown_ in (("false", False), ("true", True)):
        press(chromium, "Enter", 13)
        assert chromium.run(f"{line}.getAttribute('aria-pressed')") == pressed
        assert chromium.run(f"{charts}.plots.get('window').series[1].show") is shown_


def test_going_back_leaves_the_keys_at_the_slider(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    move(chromium, {0: 3})
    chromium.run("document.querySelector('.reset:not([hidden])').focus()")
    press(chromium, " ", 32)
    chromium.wait("document.querySelector('.reset').hidden")
    assert chromium.run("document.activeElement.getAttribute('aria-valuetext')") == "2 Mbit/s"


def test_memory_stays_bounded(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    sizes = chromium.run(f"""(async () => {{
        const lab = {LAB}.laboratory, engine = lab.make(), sizes = [];
        for (let run = 0; run < 60; run += 1) {{
            await engine.run({{ positions: lab.controls.positions.map((own, index) => (index ? own : run % 20)), samples: 600 }});
            sizes.push(await new Promise((resolve) => {{
                const heard = engine.worker.onmessage;
                engine.worker.onmessage = ({{ data }}) => {{ engine.worker.onmessage = heard; resolve(data.memory); }};
                engine.worker.postMessage({{ memory: true }});
            }}));
        }}
        return sizes;
    }})()""")
    assert sizes[-1] == sizes[30]
    assert sizes[-1] < 64 * 2**20


def test_colours_are_those_of_reports(one: tuple[Path, Any], chromium: Page) -> None:
    opened(chromium, one[0])
    names = [
        "up[0]",
        "up[1]",
        "Bbr",
        "bbr[0]",
        "cubic[12]",
        "10",
        "2",
        "-1",
        "wire",
        "wire.reverse",
        "é",
        "a[3].reverse",
    ]
    for listed in (names, names[::-1], [f"f{place}" for place in range(30)], [f"g[{place}]" for place in range(30)]):
        found = chromium.run(f"JSON.stringify([...colors({json.dumps(listed)})])")
        assert dict(json.loads(found)) == palette.colors(listed)


def test_charts_are_vectors_and_pictures(one: tuple[Path, Any], chromium: Page, one_flow: str) -> None:
    opened(chromium, one[0])
    root = ET.fromstring(chromium.run(f"{LAB}.laboratory.vectors()"))
    texts = [each.text for each in root.iter(f"{SVG}text")]
    for title in ("Congestion window (solid) and packets in flight (dashed)", "Packets waiting at links", "Goodput"):
        assert title in texts
    assert "2 Mbit/s" in texts
    # A flow and a link have the colours that reports give them.
    painted = palette.colors(palette.entities(tl.simulate(tl.loads(one_flow))))
    lines = [each.get("d", "") for each in root.iter(f"{SVG}path") if each.get("stroke") in painted.values()]
    # The window, what is in flight, the queue, goodput, utilization and delay, each as samples joined by lines.
    assert len(lines) == 6
    assert all(line.count("L") > 300 for line in lines)
    assert any(each.get("fill") == palette.LIMITS["network"].color for each in root.iter(f"{SVG}rect"))
    # What records is gone, and the page draws as before.
    assert chromium.run("Path2D.name") == "Path2D"
    assert chromium.run("Object.keys(document.querySelector('#chart-queue canvas').getContext('2d')).length") == 0
    assert chromium.run(f"{LAB}.laboratory.picture().then((blob) => blob.size)") > 10_000
    assert chromium.console == []
