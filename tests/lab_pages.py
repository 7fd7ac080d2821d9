"""Laboratories that are opened in a browser: moved, unfolded, and asked what they show."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING

from browser import Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LAB = "document.getElementById('lab')"


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


def sliders(chromium: Page) -> dict[str, list[str]]:
    """The sliders of a laboratory that is open: their keys, with the text of each position."""
    given = f"{LAB}.laboratory.controls.given.sliders"
    return dict(chromium.run(f"{given}.map(({{key, texts}}) => [key, texts])"))


def position(chromium: Page, key: str, text: str) -> dict[int, int]:
    """Where the slider of a key is to be moved for a text."""
    known = sliders(chromium)
    return {list(known).index(key): known[key].index(text)}


@contextmanager
def sized(chromium: Page, width: int, height: int, *, dark: bool = False) -> Iterator[None]:
    """A window of another size, or a dark one, for as long as it is looked at."""
    chromium.size(width, height, dark=dark)
    try:
        yield
    finally:
        chromium.size(1200, 1000)


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
