"""Minimal cut sets: transitions without which a goal cannot be reached, none of them more than needed.

Example:
    >>> from tightlink.analysis.markov.chain import Chain
    >>> rows = [[0, 0.5, 0.5, 0], [0.5, 0, 0, 0.5], [0, 0, 0.9, 0.1], [0, 0, 0, 1]]
    >>> chain = Chain(("start", "upper", "lower", "goal"), np.array(rows))
    >>> [len(cut) for cut in minimal_cut_sets(chain, "start", "goal")]
    [2, 2, 2, 2]
"""

from __future__ import annotations

from typing import Final

from tightlink.analysis.markov.chain import Chain, Transition
from tightlink.errors import TightlinkError
from tightlink.lazy import nx

#: Larger sets are of no interest: everything fails where all fails.
LARGEST: Final = 3
#: Ways from start to goal.
_MOST_PATHS: Final = 100_000


def minimal_cut_sets(chain: Chain, start: str, goal: str, largest: int = LARGEST) -> list[tuple[Transition, ...]]:
    """All minimal sets of so many transitions at most whose loss separates start and goal, small ones first.

    Those that hit every path without a loop (C. Berge: Hypergraphs, 1989, chapter 2): path by path, sets that miss it
    get one of its transitions.
    """
    chain.index(start), chain.index(goal)
    sets: set[frozenset[Transition]] = {frozenset()}
    for count, path in enumerate(nx.all_simple_edge_paths(chain.graph, start, goal)):
        if count >= _MOST_PATHS:
            raise TightlinkError(f"more than {_MOST_PATHS:,} paths from {start} to {goal}: expected fewer transitions")
        hitting = {one for one in sets if not one.isdisjoint(path)}
        grown = {one | {edge} for one in sets - hitting if len(one) < largest for edge in path}
        sets = hitting | {one for one in grown if not any(smaller < one for smaller in hitting | grown)}
    if sets == {frozenset()}:
        return []
    place = {transition: number for number, transition in enumerate(chain.transitions)}
    ordered = [tuple(sorted(one, key=place.__getitem__)) for one in sets]
    return sorted(ordered, key=lambda one: (len(one), [place[transition] for transition in one]))
