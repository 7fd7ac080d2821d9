"""Laboratories on screens of any width, dark or not, and on paper."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from pathlib import Path

import pytest

import tightlink as tl
from browser import Page
from lab_pages import BEYOND, move, opened, press, sized, unfold
from programs import need, needs_browser, needs_engine_for_browsers
from tightlink.laboratory import write

pytestmark = [needs_browser, needs_engine_for_browsers]


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
def test_a_phone_takes_it(dark: bool, lab: Path, chromium: Page) -> None:  # noqa: FBT001
    with sized(chromium, 400, 800, dark=dark):
        opened(chromium, lab)
        unfold(chromium)
        assert chromium.run("document.documentElement.scrollWidth") <= 400
        assert chromium.run(BEYOND) == []
        assert chromium.run(PALE) == []
        ground = chromium.run("getComputedStyle(document.body).backgroundColor")
        assert (ground == "rgb(20, 23, 27)") is dark


@pytest.mark.parametrize("width", [400, 800])
def test_long_names_do_not_widen_it(width: int, chromium: Page, tmp_path: Path) -> None:
    name = "_".join(["a_name_that_somebody_exported_from_a_spreadsheet"] * 2)
    scenario = tl.loads(f"""
        duration = "1 s"
        link.{name} = {{ ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "20 packets" }}
        traffic.{name[:-1]} = {{ kind = "bulk", flows = 2, from = "a", to = "b" }}
    """)
    with sized(chromium, width, 800):
        opened(chromium, write(tmp_path / "lab.html", scenario))
        unfold(chromium)
        assert chromium.run("document.documentElement.scrollWidth") <= width
        assert chromium.run(BEYOND) == []


def test_what_is_unfolded_follows_the_width(lab: Path, chromium: Page) -> None:
    opened(chromium, lab)
    unfold(chromium)
    for width in (400, 1200):
        with sized(chromium, width, 800):
            drawn = "[...document.querySelectorAll('details .uplot')].map((each) => each.clientWidth)"
            chromium.wait(f"{drawn}.every((wide) => wide > {0.6 * width} && wide < {width})")
            assert chromium.run("document.documentElement.scrollWidth") <= width


def test_paper_has_values_in_place_of_sliders_and_is_never_dark(lab: Path, chromium: Page, tmp_path: Path) -> None:
    need("pdftotext")
    with sized(chromium, 1200, 1000, dark=True):
        opened(chromium, lab)
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


@pytest.mark.parametrize("width", [400, 700, 880, 1120, 1400])
def test_tables_wrap_or_scroll(width: int, lab: Path, chromium: Page) -> None:
    """880 is what a notebook leaves on a screen of 1400 when its files are shown beside it."""
    with sized(chromium, width, 1000):
        opened(chromium, lab)
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
