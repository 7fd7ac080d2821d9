"""Colours of congestion controls that stand beside each other, as people see them that see no red, no green or no blue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.resources import files
from itertools import combinations
from typing import Final

import numpy as np
import pytest

from tightlink.plots import palette

#: What is seen of linear red, green and blue without one kind of cones (Machado, Oliveira, Fernandes 2009, severity 1).
SEEN: Final = {
    "normal": np.eye(3),
    "protanopia": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998],
    ]),
    "deuteranopia": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881],
    ]),
    "tritanopia": np.array([
        [1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900],
    ]),
}  # fmt: skip
#: From linear colours to Oklab (Ottosson 2020), in which equal distances look equal.
CONES: Final = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
OPPONENTS: Final = np.array([
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
])  # fmt: skip

#: Those of Okabe and Ito that are nearest to each other here, green and pink, are 0.076 apart.
LEAST: Final = 0.075


#: Grounds of reports: of pages, and of pages in the dark.
WHITE: Final = "#ffffff"
DARK: Final = "#14171b"


def _linear(color: str) -> np.ndarray:
    parts = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def _contrast(one: str, other: str) -> float:
    """The contrast of two colours by WCAG 2.2, which asks for 4.5 of texts (1.4.3) and 3 of graphics (1.4.11)."""
    dark, bright = sorted(0.05 + float(_linear(color) @ [0.2126, 0.7152, 0.0722]) for color in (one, other))
    return bright / dark


def _filtered(color: str, filters: str) -> str:
    """A colour behind the filters of a style."""
    parts = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    for name, amount in re.findall(r"(contrast|brightness)\(([\d.]+)\)", filters):
        scaled = float(amount) * (parts - 0.5) + 0.5 if name == "contrast" else float(amount) * parts
        parts = np.clip(scaled, 0, 1)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def test_lines_and_names_stand_out_from_the_ground_of_a_report() -> None:
    """In the dark the ninth flow of a run was drawn at 1.8 : 1, and the name of an orange point at 2.3 : 1 on white."""
    style = files("tightlink.report").joinpath("assets", "page.css").read_text(encoding="utf-8")
    light, dark_lines, dark_names = re.findall(r"\.chart svg [^{]*\{ filter: ([^;]+);", style)
    for color in palette.NAMED:
        assert _contrast(_filtered(color, light), WHITE) >= 4.5
        assert _contrast(_filtered(color, dark_lines), DARK) >= 3
        assert _contrast(_filtered(color, dark_names), DARK) >= 4.5


def _distance(one: str, other: str, sight: str) -> float:
    """Between two colours in Oklab, of which black and white are 1 apart."""
    places = [OPPONENTS @ np.cbrt(CONES @ np.clip(SEEN[sight] @ _linear(color), 0, 1)) for color in (one, other)]
    return float(np.linalg.norm(places[0] - places[1]))


@pytest.mark.parametrize("sight", SEEN)
@pytest.mark.parametrize(
    "controls",
    [
        ("bic", "compound", "fast", "fast-at", "highspeed", "htcp", "reno", "scalable"),
        ("cubic", "bbr", "reno", "bbr3"),
        ("cubic", "reno", "prague"),
    ],
    ids=["NIST 2010", "today's", "L4S"],
)
def test_controls_that_are_compared_are_told_apart(controls: Sequence[str], sight: str) -> None:
    colors = palette.colors(controls)
    near = {f"{one}, {other}": _distance(colors[one], colors[other], sight) for one, other in combinations(controls, 2)}
    assert min(near.values()) >= LEAST, min(near, key=lambda pair: near[pair])
