"""Which algorithms behave alike under a condition: standardised distances, average linkage, dendrograms.

The method of NIST 2010: under each condition, algorithms are points in the space of the responses; the distance of
two is Euclidean, each difference divided by the standard deviation of its response; clusters are joined by the mean
distance over all pairs across; joins below 70 % of the largest are coloured. Conditions differ too much to be
compared with each other, so that each has its own dendrogram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from tightlink.analysis.effects.designed import deviations
from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.responses.compared import compared
from tightlink.lazy import Array, np, pl

#: Share of the largest linkage below which joins are coloured.
CUT: Final = 0.7
_FEWEST: Final = 2


@dataclass(frozen=True)
class Join:
    """Two clusters that become one: places of their middles along the dendrogram, and heights."""

    #: Where its two legs stand, along, and how high they begin.
    left: float
    right: float
    left_height: float
    right_height: float
    #: The mean distance over all pairs across.
    height: float
    #: The algorithms below its left and its right leg, in the order of the dendrogram.
    joined: tuple[tuple[str, ...], tuple[str, ...]]
    #: Number of the coloured cluster that it is part of; none at or above the cut.
    cluster: int | None

    @property
    def members(self) -> tuple[str, ...]:
        """All algorithms that it joins."""
        return self.joined[0] + self.joined[1]


@dataclass(frozen=True)
class Dendrogram:
    """The clusters of algorithms under one condition."""

    condition: str
    #: In the order in which they stand beside each other, so that no lines cross.
    order: tuple[str, ...]
    #: From the lowest to the highest.
    joins: tuple[Join, ...]
    #: Height below which joins are coloured.
    cut: float
    #: The coloured clusters, from left to right; algorithms that are in none are left out.
    clusters: tuple[tuple[str, ...], ...]
    #: A row for each two algorithms: first, second, distance.
    distances: pl.DataFrame
    #: Responses that all algorithms have and that differ between some of them.
    responses: int

    @property
    def height(self) -> float:
        """The largest linkage; 0 where all algorithms are identical."""
        return self.joins[-1].height

    @property
    def identical(self) -> bool:
        """Whether no response tells any two algorithms apart."""
        return self.height == 0

    @property
    def apart(self) -> str | None:
        """The one algorithm that is not in the coloured cluster of all others; nothing where there is none."""
        if len(self.clusters) != 1 or len(self.clusters[0]) != len(self.order) - 1:
            return None
        return next(name for name in self.order if name not in self.clusters[0])


def clusters(
    runs: pl.DataFrame,
    *,
    condition: str | Sequence[str],
    algorithm: str,
    responses: Sequence[str] | None = None,
    spread: Literal["condition", "all"] = "condition",
    cut: float = CUT,
) -> tuple[Dendrogram, ...]:
    """Cluster the algorithms under each condition.

    Args:
        runs: A row a run, or a row for each number in columns ``response`` and ``value``; runs of the same
            algorithm under the same condition are averaged.
        condition: Column, or columns, of the condition.
        algorithm: Column of the algorithm.
        responses: The responses to compare by; without them, all that the table has.
        spread: What differences are divided by: of the "condition", the standard deviation of the response over its
            algorithms; of "all", the root of the mean of these variances over all conditions, which makes heights
            comparable, and those of conditions without congestion small.
        cut: Share of the largest linkage below which joins are coloured.

    Returns:
        A dendrogram for each condition: ``joins`` with their heights, the coloured ``clusters``, ``distances``, and
        ``apart``, the one algorithm that is in no cluster with all others, if there is one.

    Raises:
        MeasurementError: A column is missing, or a condition has fewer than two algorithms or no response
            that all of them have.

    Example:
        >>> runs = pl.DataFrame({"load": ["heavy"] * 3, "tcp": ["reno", "cubic", "fast"],
        ...                      "loss": [0.010, 0.011, 0.09], "goodput_bps": [4e6, 4.1e6, 2e6]})
        >>> (heavy,) = tl.analyze.clusters(runs, condition="load", algorithm="tcp")
        >>> heavy.clusters, heavy.apart
        ((('reno', 'cubic'),), 'fast')
    """
    if not 0 <= cut <= 1:
        raise MeasurementError(f"cut = {cut:g}: expected a share from 0 to 1")
    table = compared(runs, condition, algorithm, responses)
    for name, part in table.items():
        if len(part.algorithms) < _FEWEST:
            raise MeasurementError(f"{name}: only {part.algorithms[0]} was run; expected at least two algorithms")
        if np.isnan(part.values).any(axis=0).all():
            raise MeasurementError(f"{name}: no response has a value for every algorithm")
    spreads = {
        name: np.where(np.isnan(part.values).any(axis=0), np.nan, deviations(part.values))
        for name, part in table.items()
    }
    squares = np.square(list(spreads.values()))
    common = np.sqrt(np.nansum(squares, axis=0) / np.maximum(np.isfinite(squares).sum(axis=0), 1))
    found = []
    for name, part in table.items():
        used = spreads[name] > 0
        scale = common if spread == "all" else spreads[name]
        distances = standardised(part.values[:, used], scale[used])
        found.append(dendrogram(part.algorithms, distances, condition=name, cut=cut, responses=int(used.sum())))
    return tuple(found)


def standardised(values: Array, scale: Array) -> Array:
    """Distances of all rows from each other: √Σ ((a − b) / scale)² over the columns."""
    steps = (values[:, None, :] - values[None, :, :]) / scale
    return np.asarray(np.sqrt((steps**2).sum(axis=2)), dtype=float)


def dendrogram(
    names: Sequence[str], distances: Array, *, condition: str = "", cut: float = CUT, responses: int = 0
) -> Dendrogram:
    """Average linkage of things whose distances from each other, square and symmetric, are known.

    Joins below the share ``cut`` of the largest linkage are coloured.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    links = linkage(squareform(distances, checks=False), "average")
    order = leaves_list(links).tolist()
    limit = cut * float(links[-1, 2])
    pairs = list(combinations(range(len(names)), 2))
    joins, groups = _joins(links, order, names, limit)
    return Dendrogram(
        condition=condition,
        order=tuple(names[place] for place in order),
        joins=joins,
        cut=limit,
        clusters=groups,
        distances=pl.DataFrame(
            [(names[one], names[other], float(distances[one, other])) for one, other in pairs],
            schema=["first", "second", "distance"], orient="row",
        ),
        responses=responses,
    )  # fmt: skip


def _joins(
    links: Array, order: Sequence[int], names: Sequence[str], limit: float
) -> tuple[tuple[Join, ...], tuple[tuple[str, ...], ...]]:
    """The joins with their places, and the coloured clusters from left to right."""
    count = len(order)
    # Of each cluster: its leaves, its middle, its height.
    nodes: dict[int, tuple[tuple[int, ...], float, float]] = {
        leaf: ((place,), float(place), 0.0) for place, leaf in enumerate(order)
    }
    found = []
    for step, (one, other, height, _) in enumerate(links.tolist()):
        legs = sorted((nodes.pop(int(one)), nodes.pop(int(other))), key=lambda leg: leg[1])
        leaves = legs[0][0] + legs[1][0]
        nodes[count + step] = (leaves, (legs[0][1] + legs[1][1]) / 2, height)
        found.append((legs, leaves, height))
    low = [set(leaves) for _, leaves, height in found if height < limit]
    largest = sorted((group for group in low if not any(group < other for other in low)), key=min)
    named = [tuple(names[order[place]] for place in sorted(group)) for group in largest]
    joins = [
        Join(
            left=left[1], right=right[1], left_height=left[2], right_height=right[2], height=height,
            joined=(tuple(names[order[place]] for place in left[0]), tuple(names[order[place]] for place in right[0])),
            cluster=next((number for number, group in enumerate(largest, 1) if set(leaves) <= group), None)
            if height < limit else None,
        )
        for (left, right), leaves, height in found
    ]  # fmt: skip
    return tuple(joins), tuple(named)
