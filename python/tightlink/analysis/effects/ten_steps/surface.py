"""Step 10: the response over the two factors that matter most, and where it rises.

Example:
    >>> found = Surface("a", "b", ("1", "2"), ("10", "20"), mean=3.0, slopes=(2.0, 1.0), twist=0.5)
    >>> found.at(1, 1), found.at(-1, -1), found.highest
    (6.5, 0.5, (1, 1))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tightlink.analysis.effects.two_level import TwoLevel
from tightlink.lazy import Array, pl

_AXES: Final = 2
_CORNERS: Final = ((-1, -1), (-1, 1), (1, -1), (1, 1))


@dataclass(frozen=True)
class Surface:
    """A response as mean + slopes[0]·x + slopes[1]·y + twist·x·y, with x and y from −1 (low) to 1 (high)."""

    across: str
    """The factor of x, that which matters most."""
    up: str
    """The factor of y."""
    across_levels: tuple[str, str]
    up_levels: tuple[str, str]
    mean: float
    slopes: tuple[float, float]
    """Half the effects of the two."""
    twist: float
    """Half their interaction."""

    def at(self, x: Any, y: Any) -> Any:
        """The response at a place, or at many."""
        return self.mean + self.slopes[0] * x + self.slopes[1] * y + self.twist * x * y

    def uphill(self, x: float, y: float) -> tuple[float, float]:
        """The direction in which the response rises most: its gradient."""
        return self.slopes[0] + self.twist * y, self.slopes[1] + self.twist * x

    @property
    def highest(self) -> tuple[int, int]:
        """The corner with the greatest response."""
        return max(_CORNERS, key=lambda corner: float(self.at(*corner)))

    @property
    def lowest(self) -> tuple[int, int]:
        """The corner with the least response."""
        return min(_CORNERS, key=lambda corner: float(self.at(*corner)))


def surface(design: TwoLevel, effects: pl.DataFrame, values: Array) -> Surface | None:
    """The surface through the means at the four corners of the first two factors that the ranked effects name.

    Of an interaction the factor with the larger main effect comes first.

    Returns:
        Nothing where there is one factor only, or no run in a corner.
    """
    if len(design.factors) < _AXES:
        return None
    size = dict(zip(design.factors, design.sizes(values), strict=True))
    named: dict[str, None] = {}
    for term in effects["term"]:
        named |= dict.fromkeys(sorted(term.split(" × "), key=lambda factor: -size[factor]))
    one, two = (design.factors.index(factor) for factor in list(named)[:_AXES])
    corners = []
    for x, y in _CORNERS:
        here = (design.signs[:, one] == x) & (design.signs[:, two] == y)
        if not here.any():
            return None
        corners.append(float(values[here].mean()))
    # Of the design of these four: each coefficient is orthogonal to the others.
    mean, across, up, both = (
        sum(sign * corner for sign, corner in zip(signs, corners, strict=True)) / len(corners)
        for signs in zip(*((1, x, y, x * y) for x, y in _CORNERS), strict=True)
    )
    return Surface(
        design.factors[one], design.factors[two], design.levels[one], design.levels[two],
        mean=mean, slopes=(across, up), twist=both,
    )  # fmt: skip
