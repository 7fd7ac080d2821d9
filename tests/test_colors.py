"""Colours of congestion controls that stand beside each other, as people see them that see no red, no green or no blue."""

from __future__ import annotations

from collections.abc import Sequence
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


def _distance(one: str, other: str, sight: str) -> float:
    """Between two colours in Oklab, of which black and white are 1 apart."""
    places = []
    for color in (one, other):
        parts = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        places.append(OPPONENTS @ np.cbrt(CONES @ np.clip(SEEN[sight] @ linear, 0, 1)))
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
