"""Laboratories in headless Chromium, in real time: totals, links, mistakes, runs that take long, and no network."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tightlink as tl
from browser import Page
from lab_pages import LAB, move, opened, position, shown
from programs import needs_browser, needs_engine_for_browsers
from tightlink.console import quantity
from tightlink.laboratory import write

pytestmark = [needs_browser, needs_engine_for_browsers]


def test_nothing_is_fetched_and_names_are_text(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
    assert chromium.console == []
    assert [url for url in chromium.requests if not url.startswith(("file:", "blob:", "about:"))] == []
    assert chromium.run("document.querySelector('h1').textContent") == "one </script><b>flow"
    assert chromium.run("document.querySelectorAll('h1 b').length") == 0
    policy = chromium.run("document.querySelector('meta[http-equiv]').content")
    assert policy.startswith("default-src 'none';")
    # What the policy forbids is refused.
    assert chromium.run("fetch('https://example.org').then(() => 'fetched', () => 'refused')") == "refused"


def test_the_file_is_small(lab: Path) -> None:
    import gzip

    assert len(gzip.compress(lab.read_bytes())) < 1_000_000


def test_totals_are_those_of_the_command_line(
    lab: Path, chromium: Page, one_flow: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from tightlink.commands.run_output import print_summary

    endless = tl.loads(one_flow)
    sized = endless.set("traffic.ftp.bytes", "100 kB")
    drawn = []
    for scenario, file in ((endless, lab), (sized, write(tmp_path / "sized.html", sized))):
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


def test_numbers_are_written_as_the_command_line_writes_them(lab: Path, chromium: Page) -> None:
    """JavaScript rounds what lies exactly between two numbers to the larger one, Python to the even one."""
    opened(chromium, lab)
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


def test_a_move_a_button_and_a_link(lab: Path, chromium: Page, one_flow: str) -> None:
    opened(chromium, lab)
    found = move(chromium, position(chromium, "link.bottleneck.rate", "4 Mbit/s"))
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
    assert opened(chromium, lab, fragment=fragment)["digest"] == digest
    assert chromium.run("[...document.querySelectorAll('.totals small')].some((cell) => cell.textContent)") is False
    move(chromium, position(chromium, "link.bottleneck.rate", "2 Mbit/s"))
    assert chromium.run(
        "[...document.querySelectorAll('.totals small')].some((cell) => cell.textContent.includes('%'))"
    )


@pytest.mark.parametrize("fragment", ["#100%", "#link.bottleneck.rate=4%20Mbit%2Fs&loss=1%"])
def test_a_link_that_was_cut_opens_the_page(fragment: str, lab: Path, chromium: Page, one_flow: str) -> None:
    rate = "4 Mbit/s" if "rate" in fragment else "2 Mbit/s"
    wanted = tl.loads(one_flow).set("link.bottleneck.rate", rate)
    assert opened(chromium, lab, fragment=fragment)["digest"] == tl.simulate(wanted).manifest["digest"]
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


def test_memory_stays_bounded(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
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
