"""Two-level designs that run a fraction of all combinations, and what they cannot tell apart.

The columns come from pydoe. Everything said of them here is computed from the columns themselves, over the
field of two elements: a column is the vector of the base factors of which it is the product, and factors
whose vectors add up to zero are a word of the defining relation. The shortest word is the resolution
(Box and Hunter, 1961).

Example:
    >>> design = fraction(5, 3)
    >>> design.signs.shape, design.resolution
    ((8, 5), 3)
    >>> design.generators(["A", "B", "C", "D", "E"])
    ['D = A × B', 'E = A × C']
    >>> design.aliases(["A", "B", "C", "D", "E"])[0]
    ['A', 'B × D', 'C × E']
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Final

from tightlink.errors import Argument, ScenarioError, TightlinkError
from tightlink.lazy import NDArray, np

LOWEST: Final = 3
_MOST_FACTORS: Final = 64


@dataclass(frozen=True)
class Fraction:
    """A two-level design: a row for each run, −1 and 1 for the two levels of each factor."""

    signs: NDArray[np.int64]
    vectors: tuple[int, ...]
    """Of each factor: the base factors of which it is the product, as bits."""
    base: tuple[int, ...]
    """The factors that all others are products of."""

    @property
    def resolution(self) -> int | None:
        """Length of the shortest word of the defining relation; none if every combination is run."""
        longest = len(self.vectors)
        reached = {0: 0}
        # Factors chosen so far, by their sum: the fewest for each sum, and the shortest way back to zero.
        shortest = longest + 1
        for vector in self.vectors:
            for total, count in list(reached.items()):
                now = total ^ vector
                if now == 0:
                    shortest = min(shortest, count + 1)
                elif count + 1 < reached.get(now, longest + 1):
                    reached[now] = count + 1
        return shortest if shortest <= longest else None

    def generators(self, names: Sequence[str]) -> list[str]:
        """Which factors are products of which."""
        return [
            f"{names[factor]} = {' × '.join(names[b] for bit, b in enumerate(self.base) if vector >> bit & 1)}"
            for factor, vector in enumerate(self.vectors)
            if factor not in self.base
        ]

    def aliases(self, names: Sequence[str]) -> list[list[str]]:
        """Effects that cannot be told apart: single factors and products of two, a list for each group of several."""
        groups: dict[int, list[str]] = {}
        for factor, vector in enumerate(self.vectors):
            groups.setdefault(vector, []).append(names[factor])
        for one, two in combinations(range(len(self.vectors)), 2):
            groups.setdefault(self.vectors[one] ^ self.vectors[two], []).append(f"{names[one]} × {names[two]}")
        return [group for group in groups.values() if len(group) > 1]


def fraction(factors: int, resolution: int | None, runs: int | None = None) -> Fraction:
    """The smallest design of a resolution, or the one of the highest resolution with at most so many runs.

    Raises:
        ScenarioError: The resolution takes more runs, or cannot be had.
    """
    if not 1 < factors <= _MOST_FACTORS:
        expected = f"from 2 to {_MOST_FACTORS} factors for a fractional design, not {factors}"
        raise ScenarioError(expected, key=Argument("vary"))
    if resolution is not None and resolution < LOWEST:
        raise ScenarioError(f"a resolution of at least {LOWEST}", value=resolution)
    if resolution is None and runs is None:
        raise ScenarioError("a resolution, or the most runs", key="resolution")
    fewest = fewest_runs(factors, resolution or LOWEST)
    if runs is None or fewest <= runs:
        found = _of_resolution(factors, resolution or LOWEST)
        fewest = len(found.signs)
    if runs is not None and fewest > runs:
        needed = f"resolution {resolution or LOWEST} of {factors} factors takes {fewest} runs"
        raise ScenarioError(f"at least {fewest}: {needed}", key="runs", value=runs)
    # What the smallest design of a resolution has room for costs nothing: 16 runs of 5 factors have 5 as well as 4.
    most = fewest if runs is None or resolution is not None else runs
    for higher in range((resolution or LOWEST) + 1, factors + 1):
        if fewest_runs(factors, higher) > most:
            break
        better = _of_resolution(factors, higher)
        if len(better.signs) > most:
            break
        found = better
    return found


def fewest_runs(factors: int, resolution: int) -> int:
    """A number of runs below which there is no design of a resolution: Hamming's bound.

    A design's defining relation is a linear code, the resolution its distance. An even one needs twice the runs of the
    odd one below it with a factor less.

    >>> fewest_runs(7, 3), fewest_runs(8, 4), fewest_runs(64, 32) > 10**14
    (8, 16, True)
    """
    if resolution % 2 == 0:
        return 2 * fewest_runs(factors - 1, resolution - 1)
    around = sum(comb(factors, changed) for changed in range(min((resolution - 1) // 2, factors) + 1))
    return 1 << (around - 1).bit_length()


@lru_cache(maxsize=64)
def _of_resolution(factors: int, resolution: int) -> Fraction:
    import pydoe

    try:
        signs = np.asarray(pydoe.fracfact_by_res(factors, resolution), dtype=np.int64)
    except ValueError as error:
        raise ScenarioError(f"a design that can be made: {error}", key="resolution", value=resolution) from None
    # Kept, as pydoe searches for it: nobody may change it.
    signs.setflags(write=False)
    found = of_signs(signs)
    if found.resolution is not None and found.resolution < resolution:
        raise TightlinkError(
            f"pydoe gives a design of resolution {found.resolution} for {resolution}: install version 1.6 or later"
        )
    return found


def of_signs(signs: NDArray[np.int64]) -> Fraction:
    """A design of which the columns are known."""
    ones = (1 << len(signs)) - 1
    base: list[int] = []
    # Columns as numbers of a bit for each run, reduced, and the base factors that they are products of.
    reduced: list[tuple[int, int]] = []
    vectors = []
    for factor in range(signs.shape[1]):
        column = int("".join("1" if sign < 0 else "0" for sign in signs[:, factor]), 2)
        vector = 0
        for other, bits in reduced:
            if min(column ^ other, column ^ other ^ ones) < min(column, column ^ ones):
                column, vector = column ^ other, vector ^ bits
        if column not in {0, ones}:
            own = 1 << len(base)
            base.append(factor)
            reduced.append((min(column, column ^ ones), vector ^ own))
            reduced.sort(reverse=True)
            vector = own
        vectors.append(vector)
    return Fraction(signs, tuple(vectors), tuple(base))
