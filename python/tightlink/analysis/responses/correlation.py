"""Which responses say the same: correlations of all pairs, groups of mutual correlation, one of each to go on with.

The method of NIST 2010: Pearson's r of all pairs over the runs; pairs with |r| above a threshold are kept; responses
of which every pair is kept form a group; the number of groups is the dimension of the behaviour, and one response
represents each. Its matrix has three colours, by |r|: red from 0.80, blue from 0.30, green below. Its key of red reads
"80 ≥ |r| × 100 ≤ 100", a slip: 80 to 100 is meant.

The document reads its groups from a plot by eye. Here they come from complete linkage: the strongest pairs first, and
never two in a group whose pair is not kept. A response without a partner is its own group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, TypeAlias

from tightlink.analysis.effects.designed import deviations, numbers, varying
from tightlink.analysis.measurements import MeasurementError
from tightlink.errors import show
from tightlink.lazy import Array, NDArray, np, pl, stats
from tightlink.numbers import several

Strength: TypeAlias = Literal["strong", "moderate", "weak"]

#: The document's threshold.
THRESHOLD: Final = 0.65
#: |r| from which a pair is strong, and from which it is moderate: the document's red, blue and green.
STRONG: Final = 0.80
MODERATE: Final = 0.30
_FEWEST_RUNS: Final = 3
#: Up to so many responses each pair is correlated by itself.
_ONE_BY_ONE: Final = 100
_BIN: Final = 0.05


@dataclass(frozen=True)
class Group:
    """Responses that are correlated with each other, the strongest first, and the one that stands for them."""

    representative: str
    responses: tuple[str, ...]
    #: The least |r| of a pair within; none of a response alone.
    weakest: float | None


@dataclass(frozen=True)
class Correlation:
    """The correlations of a table of runs, and what follows from them."""

    #: Responses that vary, in the order of the columns.
    responses: tuple[str, ...]
    #: Responses that are the same in all runs, and therefore correlated with nothing.
    constant: tuple[str, ...]
    r: Array
    #: A row for each two: first, second, r, p (two-sided, of no correlation), runs (that have both), strength, kept.
    pairs: pl.DataFrame
    #: A row for each response, in the order of the index-index plot: response, partners (pairs kept), group,
    #: representative.
    places: pl.DataFrame
    threshold: float
    groups: tuple[Group, ...]

    @property
    def dimension(self) -> int:
        """How many dimensions the behaviour has: one for each group."""
        return len(self.groups)

    def sentence(self) -> str:
        """What was found, in words."""
        of = f"{len(self.responses)} responses have {several(self.dimension, 'dimension')}"
        kept = int(self.pairs["kept"].sum())
        constant = f"; {', '.join(self.constant)} did not vary" if self.constant else ""
        return f"{of}: {kept} of {self.pairs.height} pairs have |r| > {self.threshold:.4g}{constant}"


def correlation(
    runs: pl.DataFrame, responses: Sequence[str], *, threshold: float | Literal["gap"] = THRESHOLD
) -> Correlation:
    """Correlate responses over runs, and group them.

    Args:
        runs: A row a run.
        responses: Columns of numbers; where one has no value, its pairs go without that run.
        threshold: |r| above which a pair is kept; or "gap", for the middle of the widest gap between neighbouring
            |r| that are moderate.

    Returns:
        Each pair of responses with r, p and strength (``pairs``), the ``groups`` of correlated ones, whose number is
        ``dimension``, and the index-index plot (``places``).

    Raises:
        MeasurementError: There are fewer than two responses that vary, or too few runs have both of a pair.

    Example:
        >>> runs = pl.DataFrame({"sent": [1.0, 2, 3, 4], "received": [1.0, 2, 3, 5], "loss": [0.3, 0.1, 0.4, 0.1]})
        >>> found = tl.analyze.correlation(runs, ["sent", "received", "loss"])
        >>> found.dimension, [group.responses for group in found.groups]
        (2, [('sent', 'received'), ('loss',)])
    """
    values = numbers(runs, responses, fewest=2)
    given: object = threshold
    if threshold != "gap" and not (isinstance(given, int | float) and 0 <= threshold < 1):
        shown = f"{threshold:g}" if isinstance(given, int | float) else show(given)
        raise MeasurementError(f'threshold = {shown}: expected a number from 0 to less than 1, or "gap"')
    varies, named = varying(values, responses)
    constant = tuple(name for name in responses if name not in named)
    matrix, counts = _matrix(values[:, varies], named)
    limit = _gap(np.abs(matrix[np.triu_indices(len(named), 1)])) if threshold == "gap" else threshold
    kept = (np.abs(matrix) > limit) & ~np.eye(len(named), dtype=bool)
    groups = _groups(matrix, kept, named)
    return Correlation(named, constant, matrix, _pairs(matrix, counts, kept, named),
                       _places(kept, named, groups), limit, groups)  # fmt: skip


def histogram(found: Correlation) -> pl.DataFrame:
    """How many pairs have which |r|: ``low``, ``high``, ``pairs``, and of these ``kept``, for each bin from 0 to 1."""
    bins = round(1 / _BIN)
    edges = np.linspace(0, 1, bins + 1)
    # A pair of |r| = 1 belongs to the last bin.
    place = np.minimum((found.pairs["r"].abs().to_numpy() / _BIN + 1e-9).astype(int), bins - 1)
    kept = found.pairs["kept"].to_numpy()
    return pl.DataFrame({
        "low": edges[:-1], "high": edges[1:],
        "pairs": np.bincount(place, minlength=bins), "kept": np.bincount(place[kept], minlength=bins),
    })  # fmt: skip


def strength(r: float) -> Strength:
    """In which of the document's three bands an r is.

    >>> strength(-0.8), strength(0.3), strength(0.1)
    ('strong', 'moderate', 'weak')
    """
    return "strong" if abs(r) >= STRONG else "moderate" if abs(r) >= MODERATE else "weak"


def _matrix(values: Array, names: Sequence[str]) -> tuple[Array, NDArray[np.int64]]:
    """Pearson's r of all pairs, each over the runs that have both, and how many these are."""
    size = len(names)
    if size > _ONE_BY_ONE and len(values) >= _FEWEST_RUNS and np.isfinite(values).all():
        # The same but for rounding, and thousands of times as fast.
        at_once = np.clip(np.asarray(np.corrcoef(values, rowvar=False)), -1, 1)
        np.fill_diagonal(at_once, 1)
        runs = np.full((size, size), len(values))
        np.fill_diagonal(runs, 0)
        return (at_once + at_once.T) / 2, runs
    matrix, counts = np.eye(size), np.zeros((size, size), dtype=np.int64)
    for i, j in combinations(range(size), 2):
        both, pair = values[np.isfinite(values[:, [i, j]]).all(axis=1)][:, [i, j]], f"{names[i]} and {names[j]}"
        counts[i, j] = counts[j, i] = len(both)
        if len(both) < _FEWEST_RUNS:
            raise MeasurementError(f"{pair}: {len(both)} runs have both; expected at least {_FEWEST_RUNS}")
        if not (deviations(both) > 0).all():
            raise MeasurementError(f"{pair}: one of them is the same in all runs that have both")
        matrix[i, j] = matrix[j, i] = np.clip(np.asarray(np.corrcoef(both, rowvar=False))[0, 1], -1, 1)
    return matrix, counts


def _gap(sizes: Array) -> float:
    """The middle of the widest gap between neighbours among the moderate |r|."""
    inside = np.sort(sizes[(sizes > MODERATE) & (sizes < STRONG)])
    ends = np.concatenate([[MODERATE], inside, [STRONG]])
    widest = int(np.argmax(np.diff(ends)))
    return float((ends[widest] + ends[widest + 1]) / 2)


def _groups(matrix: Array, kept: NDArray[np.bool_], names: Sequence[str]) -> tuple[Group, ...]:
    """Complete linkage over the pairs that are kept; the largest groups first."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    # Pairs that are not kept are farther than any that is, so that the cut at 1 never joins one.
    distances = np.where(kept, 1 - np.abs(matrix), 2.0)
    np.fill_diagonal(distances, 0.0)
    labels = fcluster(linkage(squareform(distances, checks=False), "complete"), 1.0, "distance")
    groups = []
    for label in dict.fromkeys(labels.tolist()):
        members = np.flatnonzero(labels == label)
        within = np.abs(matrix[np.ix_(members, members)])
        order = members[np.argsort(-within.sum(axis=0), kind="stable")]
        weakest = float(within.min()) if len(members) > 1 else None
        groups.append(Group(names[order[0]], tuple(names[place] for place in order), weakest))
    return tuple(sorted(groups, key=lambda group: -len(group.responses)))


def _pairs(matrix: Array, counts: NDArray[np.int64], kept: NDArray[np.bool_], names: Sequence[str]) -> pl.DataFrame:
    rows, columns = np.triu_indices(len(names), 1)
    r, runs = matrix[rows, columns], counts[rows, columns]
    # Of n pairs from two normal distributions without correlation, (1 + r) / 2 is Beta(n/2 − 1, n/2 − 1).
    p = 2 * stats.beta.sf((1 + np.abs(r)) / 2, runs / 2 - 1, runs / 2 - 1)
    return pl.DataFrame({
        "first": [names[place] for place in rows.tolist()], "second": [names[place] for place in columns.tolist()],
        "r": r, "p": p, "runs": runs, "strength": [strength(value) for value in r], "kept": kept[rows, columns],
    })  # fmt: skip


def _places(kept: NDArray[np.bool_], names: Sequence[str], groups: Sequence[Group]) -> pl.DataFrame:
    """By increasing number of partners, as in the document; those with as many stand by their groups."""
    partners = dict(zip(names, kept.sum(axis=0).tolist(), strict=True))
    number = {name: place for place, group in enumerate(groups, 1) for name in group.responses}
    representatives = {group.representative for group in groups}
    order = sorted(names, key=lambda name: (partners[name], -number[name]))
    return pl.DataFrame({
        "response": order, "partners": [partners[name] for name in order], "group": [number[name] for name in order],
        "representative": [name in representatives for name in order],
    })  # fmt: skip
