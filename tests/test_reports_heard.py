"""Reports for those who hear them, or reach them by keys: names of charts, menus and lines."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest

from browser import Page
from programs import needs_browser
from report_pages import opened
from tightlink import report
from tightlink.report import charts

pytestmark = needs_browser


def test_charts_have_names_for_those_who_hear_them(chromium: Page, over_time: Path) -> None:
    opened(chromium, over_time)
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
    opened(chromium, over_time)
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    heard = [str(each["name"]["value"]) for each in nodes if not each["ignored"] and "name" in each]
    assert not [name for name in heard if re.search(r"\w_(s|bps|packets)\b", name)]
    assert not [name for name in heard if "titled 'drag" in name]
    panels = next(name for name in heard if name.startswith("Over time: "))
    assert re.search(r"[^.]\. round-trip time \(ms\): up\[0\] [\d.]+ to [\d.]+, up\[1\] ", panels)
    assert re.search(r"\. queue \(packets\): wire \d+ to \d+\b", panels)


def test_the_menu_of_a_chart_has_a_name_and_covers_nothing(chromium: Page, over_time: Path) -> None:
    """Delay and throughput of one flow are its point at the upper right, where the button was."""
    opened(chromium, over_time)
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    menus = [each["name"]["value"] for each in nodes if each["role"]["value"] == "DisclosureTriangle"]
    buttons = chromium.run("document.querySelectorAll('.vega-embed summary').length")
    assert len({name for name in menus if name.startswith("Save this chart: ")}) == buttons > 1
    # All that is drawn is below them.
    above = chromium.run("""[...document.querySelectorAll('.vega-embed summary')].map((menu) => {
        const top = [...menu.closest('.chart').querySelectorAll('.role-mark:not([class*=legend]) path')].map((each) => each.getBoundingClientRect().top);
        return Math.min(...top) - menu.getBoundingClientRect().bottom; })""")
    assert min(above) >= -1


def test_the_menu_of_a_chart_can_be_read_in_the_dark(chromium: Page, over_time: Path) -> None:
    opened(chromium, over_time, dark=True)
    chromium.run("(document.querySelector('.vega-embed details').open = true)")
    word = "document.querySelector('.vega-actions a')"
    ink = chromium.run(f"getComputedStyle({word}).color")
    assert ink == chromium.run("getComputedStyle(document.body).color")
    chromium.run(f"{word}.focus()")
    ground = chromium.run(f"getComputedStyle({word}).backgroundColor")
    assert ground == "rgb(29, 33, 38)"


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
    dom, console = opened(chromium, sequence)
    assert console == []
    assert len(re.findall(r'<path[^>]*d="M1\.5,0A1\.5', dom)) == 200
    nodes = chromium.send("Accessibility.getFullAXTree")["nodes"]
    assert sum(each["role"]["value"].startswith("graphics-") and not each["ignored"] for each in nodes) < 20
    names = [each["name"]["value"] for each in nodes if each["role"]["value"] == "graphics-document"]
    assert names == ["Packets: sequence number over time (s): All arrive."]


def test_what_is_cut_off_is_scrolled_by_keys(chromium: Page, sequence: Path) -> None:
    groups = "[...document.querySelectorAll('.scroll')].map((each) => [each.ariaLabel, each.getAttribute('tabindex')])"
    opened(chromium, sequence)
    assert chromium.run(groups) == [["Words", None]]
    opened(chromium, sequence, window=(500, 900))
    assert chromium.run(groups) == [["Words", "0"]]
    assert chromium.run("document.querySelector('nav [aria-current=true]').hash") == "#packets"


def test_a_chart_that_is_printed_too_early_says_so(chromium: Page, sequence: Path) -> None:
    opened(chromium, sequence)
    said = "getComputedStyle(document.querySelector('.chart'), '::after').content"
    chromium.send("Emulation.setEmulatedMedia", media="print")
    assert chromium.run(said) == "none"
    chromium.run("delete document.querySelector('.chart').dataset.state")
    assert "not drawn when the page was printed" in chromium.run(said)
    chromium.send("Emulation.setEmulatedMedia", media="")
