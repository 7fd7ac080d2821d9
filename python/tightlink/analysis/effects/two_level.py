"""The design behind a table: which effects two-level factors allow to find, and which cannot be told apart.

Found from the columns alone, so that it holds for whoever's table, and for a sweep of which runs failed.

Example:
    >>> runs = pl.DataFrame({"a": [1, 2, 1, 2], "b": [1, 1, 2, 2], "c": [2, 1, 1, 2]})
    >>> design = two_level(runs, ["a", "b", "c"])
    >>> print(design.sentence())
    4 runs of 4 of 8 combinations: resolution 3, orthogonal
    >>> [(term.name, term.aliases) for term in design.terms()]
    [('a', ('b × c',)), ('b', ('a × c',)), ('c', ('a × b',))]
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from tightlink.analysis.effects.factors import in_words, levels, signs
from tightlink.analysis.measurements import MeasurementError
from tightlink.experiment.fractional import Fraction, of_signs
from tightlink.lazy import Array, NDArray, np, pl
from tightlink.numbers import several

_PAIR: Final = 2
#: What is left of a column that earlier ones make up, as a share of its length; once is not exact to rounding.
_NOTHING: Final = 1e-9
_PASSES: Final = 2
#: Combinations up to which all effects are found.
_MOST: Final = 1024


if TYPE_CHECKING:
    #: A column of signs, and what each run counts for in its effect.
    Weighed = tuple[NDArray[np.int64], Array]


@dataclass(frozen=True)
class Term:
    """An effect: of one factor, or of a product of several."""

    factors: tuple[int, ...]
    name: str
    signs: NDArray[np.int64]
    """−1 or 1 for each run."""
    aliases: tuple[str, ...]
    """Single factors and products of two that have the same column; with "−" those of the opposite one."""

    @property
    def order(self) -> int:
        """How many factors it is the product of."""
        return len(self.factors)


@dataclass(frozen=True)
class TwoLevel:
    """The levels of each run, and what follows from them."""

    factors: tuple[str, ...]
    levels: tuple[tuple[str, str], ...]
    """Low and high of each factor, in words."""
    signs: NDArray[np.int64]
    """A row for each run, a column for each factor: −1 low, 1 high."""

    @cached_property
    def fraction(self) -> Fraction:
        """Which factors are products of which."""
        return of_signs(self.signs)

    @cached_property
    def distinct(self) -> int:
        """How many combinations of levels are among the runs."""
        return len(self._counts)

    @cached_property
    def regular(self) -> bool:
        """Whether it is a full design, or a fraction of one by products of factors, with equal replications."""
        return self.distinct == 2 ** len(self.fraction.base) and bool((self._counts == self._counts[0]).all())

    @cached_property
    def _counts(self) -> NDArray[np.int64]:
        """How many runs each combination has."""
        return np.unique(self.signs, axis=0, return_counts=True)[1]

    @cached_property
    def overlap(self) -> tuple[float, str]:
        """The largest correlation, without its sign, of a factor with another or with the mean, and of what it is."""
        most = (0.0, "")
        share = abs(self.signs.mean(axis=0))
        for place, factor in enumerate(self.factors):
            most = max(most, (float(share[place]), f"{factor} has {_split(self.signs[:, place])}"))
        for first, second in combinations(range(len(self.factors)), _PAIR):
            both = float(abs((self.signs[:, first] * self.signs[:, second]).mean()))
            most = max(most, (both, f"{self.factors[first]} and {self.factors[second]} are correlated by {both:.2f}"))
        return most

    @property
    def orthogonal(self) -> bool:
        """Whether each level of a factor is met as often, and with each level of every other factor as often."""
        return self.overlap[0] == 0

    def changing_together(self) -> dict[str, str]:
        """Factors that have the column of an earlier one in all runs, or its opposite, and that one."""
        first: dict[int, str] = {}
        return {
            factor: first[vector]
            for factor, vector in zip(self.factors, self.fraction.vectors, strict=True)
            if first.setdefault(vector, factor) != factor
        }

    def sentence(self) -> str:
        """What the design is, and how far it tells effects apart."""
        runs, all_ = len(self.signs), 2 ** len(self.factors)
        here = f"all {all_}" if self.distinct == all_ else f"{self.distinct} of {all_}"
        text = f"{runs} runs of {here} combinations: "
        resolution = self.fraction.resolution
        if self.regular and resolution is not None:
            text += f"resolution {resolution}, "
        if not self.orthogonal:
            return f"{text}not orthogonal, so that effects are those of least squares: {self.overlap[1]}"
        if not self.regular:
            return f"{text}orthogonal, but no fraction by products: these overlap with single factors"
        return f"{text}orthogonal"

    def column(self, factors: Iterable[int]) -> NDArray[np.int64]:
        """The signs of a product of factors."""
        return np.asarray(self.signs[:, list(factors)].prod(axis=1), dtype=np.int64)

    def name(self, factors: Iterable[int]) -> str:
        """What a product of factors is called."""
        return " × ".join(self.factors[factor] for factor in factors)

    def weights(self, factors: Sequence[int]) -> Array:
        """What each run counts for in the effect of a factor or of a product of two, by least squares.

        In a regular design it is the mean at the high level less the mean at the low one. In others a factor is fitted
        together with all factors, and a product of two also with the other products where the runs tell all of them
        apart. NaN where the others make the column up.
        """
        vector, column = self._vector(factors), self.column(factors)
        if self.regular:
            return np.asarray(column * (2 / len(column) if vector else math.nan), dtype=np.float64)
        known = self._single if vector in self._single else self._product
        leader, found = known.get(vector, (column, np.full(len(column), math.nan)))
        return np.asarray(found * (column[0] * leader[0]), dtype=np.float64)

    def sizes(self, values: Array) -> list[float]:
        """The size of each factor's own effect on a response; zero where the others make its column up."""
        weights = [self.weights([place]) for place in range(len(self.factors))]
        return [abs(float(np.nan_to_num(each @ values))) for each in weights]

    def tells(self) -> set[str]:
        """The factors that the runs tell from the mean and from the other factors."""
        return {factor for place, factor in enumerate(self.factors) if not np.isnan(self.weights([place])[0])}

    @cached_property
    def _single(self) -> dict[int, Weighed]:
        """By the vector of a single factor, its column, and what `weights` says of it."""
        columns = {vector: self.column([place]) for place, vector in enumerate(self.fraction.vectors) if vector}
        weights = _told_apart(_model(columns.values(), len(self.signs)))
        return {vector: (column, own) for (vector, column), own in zip(columns.items(), weights, strict=True)}

    @cached_property
    def _product(self) -> dict[int, Weighed]:
        """The same of products of two that have not the column of a single factor."""
        single = [column for column, _ in self._single.values()]
        named = {vector: group[0] for vector, group in self._short.items() if vector and vector not in self._single}
        columns = {vector: self.column(factors) for vector, factors in named.items()}
        every = _model([*single, *columns.values()], len(self.signs))
        if np.linalg.matrix_rank(every) == every.shape[1]:
            weights = list(_told_apart(every)[len(single) :])
        else:
            weights = [_told_apart(_model([*single, each], len(self.signs)))[-1] for each in columns.values()]
        return {vector: (column, own) for (vector, column), own in zip(columns.items(), weights, strict=True)}

    def aliases(self, factors: Sequence[int]) -> tuple[str, ...]:
        """Single factors and products of two other than this one that have its column, or its opposite."""
        own = self._vector(factors)
        column = self.column(factors)
        found = []
        for other in self._short.get(own, ()):
            if tuple(factors) != other:
                opposite = self.column(other)[0] != column[0]
                found.append(("−" if opposite else "") + self.name(other))
        return tuple(found)

    def terms(self) -> list[Term]:
        """The effects that can be found, one for each set of those that cannot be told apart: the simplest.

        In a regular design these are as many as there are combinations, less one; where that is more than can be
        looked at, single factors and products of two; and in other designs those that the earlier ones do not
        make up.
        """
        return list(self._terms)

    @cached_property
    def _terms(self) -> tuple[Term, ...]:
        every = self.regular and self.distinct <= _MOST
        chosen = self._leaders() if every else self._simple()
        return tuple(Term(each, self.name(each), self.column(each), self.aliases(each)) for each in chosen)

    @cached_property
    def _short(self) -> dict[int, list[tuple[int, ...]]]:
        """Single factors and products of two, by the vector of their column."""
        found: dict[int, list[tuple[int, ...]]] = {}
        for order in (1, _PAIR):
            for each in combinations(range(len(self.factors)), order):
                found.setdefault(self._vector(each), []).append(each)
        return found

    def _vector(self, factors: Iterable[int]) -> int:
        total = 0
        for factor in factors:
            total ^= self.fraction.vectors[factor]
        return total

    def _simple(self) -> list[tuple[int, ...]]:
        """Single factors and products of two, as many as the runs allow to find together."""
        candidates = [group[0] for vector, group in self._short.items() if vector]
        if self.regular:
            return candidates
        chosen, basis = [], np.full((1, len(self.signs)), 1 / math.sqrt(len(self.signs)))
        for each in candidates:
            wider = extended(basis, self.column(each))
            if wider is not None:
                chosen.append(each)
                basis = wider
        return chosen

    def _leaders(self) -> list[tuple[int, ...]]:
        """For each column that products of factors can have, the first of the fewest factors."""
        reached: dict[int, tuple[int, ...]] = {0: ()}
        last: list[tuple[int, ...]] = [()]
        while last:
            wider = sorted({tuple(sorted({*each, factor})) for each in last for factor in range(len(self.factors))})
            last = []
            for each in wider:
                vector = self._vector(each)
                if vector not in reached:
                    reached[vector] = each
                    last.append(each)
        return list(reached.values())[1:]


def two_level(runs: pl.DataFrame, factors: Sequence[str], pairs: Sequence[tuple[Any, Any]] | None = None) -> TwoLevel:
    """The design of a table; ``pairs`` are low and high of each factor, where they are known from a larger one."""
    if not factors:
        raise MeasurementError("expected at least one factor: a column of two levels")
    pairs = pairs or [levels(runs, factor) for factor in factors]
    columns = [signs(runs, factor, pair) for factor, pair in zip(factors, pairs, strict=True)]
    words = tuple((in_words(low), in_words(high)) for low, high in pairs)
    return TwoLevel(tuple(factors), words, np.column_stack(columns))


def extended(basis: Array, column: NDArray[np.int64]) -> Array | None:
    """Orthonormal rows, and what a column has beyond them as one more; nothing where they make it up."""
    left = column.astype(float)
    # Twice, as what is left of nearly dependent columns is not orthogonal to rounding after once.
    for _ in range(_PASSES):
        left -= basis.T @ (basis @ left)
    length = float(np.linalg.norm(left))
    return np.vstack([basis, left / length]) if length > _NOTHING * math.sqrt(len(column)) else None


def _model(columns: Iterable[NDArray[np.int64]], runs: int) -> Array:
    return np.column_stack([np.ones(runs), *columns])


def _told_apart(model: Array) -> Array:
    """What each run counts for in twice each coefficient but the first; NaN where other columns make one up."""
    inverse = np.linalg.pinv(model)
    known = np.isclose(np.diag(inverse @ model), 1, rtol=0, atol=_NOTHING)
    return np.where(known[:, None], 2 * inverse, math.nan)[1:]


def _split(column: NDArray[np.int64]) -> str:
    low = int((column < 0).sum())
    return f"{several(low, 'run')} at its low level and {len(column) - low} at its high"


def gaps(runs: pl.DataFrame, design: TwoLevel, responses: Sequence[str]) -> list[str]:
    """The responses that some runs lack, where those that have one do not tell apart the factors that all runs do.

    >>> runs = pl.DataFrame({"flows": [1, 4, 1, 4], "queue": [5, 5, 9, 9], "loss": [0.0, 0.1, 0.0, 0.2],
    ...                      "jain": [None, 0.8, None, 0.9]})
    >>> gaps(runs, two_level(runs, ["flows", "queue"]), ["loss", "jain"])
    ['jain']
    """
    pairs = [levels(runs, factor) for factor in design.factors]
    told = design.tells()
    found = []
    for name in responses:
        there = runs.filter(pl.col(name).is_not_null() & pl.col(name).cast(pl.Float64).is_not_nan())
        if there.height < runs.height:
            left = two_level(there, design.factors, pairs).tells() if there.height else set()
            found += [] if told <= left else [name]
    return found
