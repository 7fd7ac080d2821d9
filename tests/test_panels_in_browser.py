"""The linked panels of a run's report in headless Chromium: hovered, picked out and zoomed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from browser import Page
from programs import needs_browser
from report_pages import told

pytestmark = needs_browser

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


def test_hovering_a_panel_shows_all_flows_in_all_panels(chromium: Page, over_time: Path, tmp_path: Path) -> None:
    said = told(chromium, over_time, tmp_path, LINKED + "hover(0.5); said.tips = tips(); told();")
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
    throughput, *_, queue = told(chromium, over_time, tmp_path, LINKED + script)["tips"]
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
    said = told(chromium, over_time, tmp_path, LINKED + script)
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
    said = told(chromium, over_time, tmp_path, LINKED + script)
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
