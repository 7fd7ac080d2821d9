"""Charts of laboratories in headless Chromium: pins, sweeps and packets, keys, colours, pictures of them."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import tightlink as tl
from browser import Page
from lab_pages import LAB, move, opened, position, sliders
from programs import needs_browser, needs_engine_for_browsers
from tightlink.console import quantity
from tightlink.laboratory import write
from tightlink.plots import palette

pytestmark = [needs_browser, needs_engine_for_browsers]
SVG = "{http://www.w3.org/2000/svg}"


def test_pins_sweeps_and_packets(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
    chromium.run("[...document.querySelectorAll('button')].find((each) => each.textContent === 'Pin as A').click()")
    move(chromium, position(chromium, "link.bottleneck.queue.limit", "5 packets"))
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


def test_packets_are_asked_for_again_before_they_are_there(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
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


def test_a_sweep_is_of_the_positions_with_which_it_began(lab: Path, chromium: Page, one_flow: str) -> None:
    opened(chromium, lab)
    sweep = "document.querySelectorAll('details')[1]"
    known = sliders(chromium)
    texts = known["link.bottleneck.queue.limit"]
    chromium.run(f"{sweep}.open = true")
    chromium.run(f"{sweep}.querySelector('select').value = {list(known).index('link.bottleneck.queue.limit')}")
    chromium.run(f"{sweep}.querySelector('button').click()")
    move(chromium, position(chromium, "link.bottleneck.rate", "4 Mbit/s"))
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


def test_colours_are_those_of_reports(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
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


def test_charts_are_vectors_and_pictures(lab: Path, chromium: Page, one_flow: str) -> None:
    opened(chromium, lab)
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
