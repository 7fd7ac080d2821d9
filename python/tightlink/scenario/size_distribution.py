"""Distributions of the sizes of transfers: a law with a mean, or points of a cumulative distribution.

Example:
    >>> sizes = SizeDistribution(points=[("1 kB", "50 %"), ("9 kB", 1)])
    >>> float(sizes.mean_bytes())
    3000.0
"""

from __future__ import annotations

import csv
import re
from fractions import Fraction as Exact
from pathlib import Path
from typing import Annotated, Final, Self

from pydantic import AfterValidator, Field, PrivateAttr

from tightlink import units
from tightlink.errors import ScenarioError
from tightlink.files import check_stored
from tightlink.scenario.problems import why_unreadable
from tightlink.scenario.table import Table, wrong
from tightlink.scenario.users import Shape, check_shape
from tightlink.scenario.values import Amount, Fraction, SizePoint, choice, two

_LARGEST_FILE: Final = 2**20
#: Python would write all of the digits.
_LARGE_EXPONENT: Final = re.compile(r"[eE][+-]?\d{4}")


Point = Annotated[tuple[SizePoint, Fraction], two('a size and the share of transfers up to it, such as ["10 kB", 0.5]')]


def _check_points(points: list[tuple[str, float]]) -> list[tuple[str, float]]:
    before = (Exact(0), 0.0)
    for text, share in points:
        size = units.parse(text, units.SIZE)[1].exact
        if size < before[0] or share < before[1]:
            raise wrong(f"sizes and shares that do not fall: {text} and {share:g} come after a share of {before[1]:g}")
        before = (size, share)
    if before[1] != 1:
        raise wrong(f"a last share of 1, not {before[1]:g}")
    if before[0] == 0:
        raise wrong("sizes above zero")
    return points


class SizeDistribution(Table):
    """A distribution of sizes: by its law, by its points, or by a file of these."""

    distribution: Annotated[str, choice("exponential", "pareto")] | None = None
    """The law: exponential or pareto."""
    mean: Amount | None = None
    """Mean size of the law."""
    shape: Shape | None = None
    """Shape of the Pareto distribution (default 1.5)."""
    points: Annotated[list[Point], Field(min_length=1, max_length=10_000), AfterValidator(_check_points)] | None = None
    """Sizes, each with the share of transfers that are not larger; linear between them."""
    file: str | None = None
    """CSV file of such points, in bytes: a line ``1000,0.5`` for each, relative to the scenario's file."""

    _folder: Path = PrivateAttr(default_factory=Path)
    _written_out: Self | None = PrivateAttr(default=None)

    def _check(self) -> None:
        if self._only("distribution", "points", "file") is None:
            raise wrong("a distribution with its mean, points, or a file", key="distribution")
        if self.distribution is None:
            self._refuse("nothing here without distribution", "mean", "shape")
        elif self.mean is None:
            raise wrong('a mean size, such as "100 kB"', key="mean")
        else:
            check_shape(self.distribution, self.shape)

    def stands_in(self, folder: Path) -> None:
        """Says which folder the file's name is relative to."""
        self._folder = folder  # type: ignore[misc]

    def written_out(self) -> Self:
        """The same with points instead of a file.

        Raises:
            ScenarioError: The file cannot be read, or holds no such points; the key is relative to the traffic.
        """
        if self.file is None:
            return self
        if self._written_out is None:
            points = _read(self._folder / self.file, self.file)
            try:
                # Kept, as nothing of a scenario changes, and the file might.
                self._written_out = type(self)(points=points)  # type: ignore[misc]
            except ScenarioError as error:
                message = f"{error.expected} in the file"
                raise ScenarioError(message, key="size.file", value=self.file) from None
        return self._written_out

    def mean_bytes(self) -> Exact:
        """The mean size, of points by the lines between them."""
        if self.mean is not None:
            return units.parse(self.mean, units.SIZE)[1].exact
        total, before = Exact(0), (Exact(0), Exact(0))
        for place, (text, share) in enumerate(self.written_out().points or []):
            point = (units.parse(text, units.SIZE)[1].exact, units.exact(units.fraction(share)))
            middle = (point[0] + before[0]) / 2 if place else point[0]
            total += (point[1] - before[1]) * middle
            before = point
        return total


def _read(path: Path, written: str) -> list[tuple[str, float | str]]:
    """The points in a file."""

    def fail(expected: str) -> ScenarioError:
        return ScenarioError(expected, key="size.file", value=written)

    try:
        check_stored(path, _LARGEST_FILE)
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise fail(f"a file that can be read: {why_unreadable(error)}") from None
    points: list[tuple[str, float | str]] = []
    for number, row in enumerate(csv.reader(text.splitlines()), 1):
        cells = [cell.strip() for cell in row]
        if not any(cells) or cells[0].startswith("#"):
            continue
        point = _point(cells)
        if point is not None:
            points.append(point)
        # The first line may say what the columns are.
        elif points or cells != ["bytes", "cumulative_share"]:
            found = ",".join(row)
            raise fail(f"a whole number of bytes and a share from 0 to 1, not {found!r} in line {number}")
    if not points:
        raise fail("lines such as 1000,0.5 of bytes and cumulative share, of which there is none")
    return points


def _point(cells: list[str]) -> tuple[str, float] | None:
    """A line of the file as a point; nothing where it is none."""
    if any(map(_LARGE_EXPONENT.search, cells)):
        return None
    try:
        size, share = map(Exact, cells)
    except (ValueError, ZeroDivisionError):
        return None
    return (f"{int(size)} B", float(share)) if size.denominator == 1 and 0 <= share <= 1 else None
