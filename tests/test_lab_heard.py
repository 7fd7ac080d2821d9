"""Laboratories for those who hear them, or reach them by keys."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from browser import Page
from lab_pages import LAB, move, opened, press, unfold
from programs import needs_browser, needs_engine_for_browsers
from tightlink.console import quantity
from tightlink.laboratory import write

pytestmark = [needs_browser, needs_engine_for_browsers]


def test_everything_has_a_name_for_those_who_hear_it(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
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


def test_keys_reach_everything_in_the_order_of_the_page(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
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


def test_keys_zoom_and_hide_lines(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
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


def test_going_back_leaves_the_keys_at_the_slider(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
    move(chromium, {0: 3})
    chromium.run("document.querySelector('.reset:not([hidden])').focus()")
    press(chromium, " ", 32)
    chromium.wait("document.querySelector('.reset').hidden")
    assert chromium.run("document.activeElement.getAttribute('aria-valuetext')") == "2 Mbit/s"
