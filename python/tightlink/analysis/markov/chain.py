"""A discrete-time Markov chain: its states, the probabilities of what comes next, and what follows from these.

Example:
    The weather in the Land of Oz (J. G. Kemeny, J. L. Snell: Finite Markov Chains, 1960): never two nice days.

    >>> oz = Chain(("rain", "nice", "snow"), np.array([[0.5, 0.25, 0.25], [0.5, 0, 0.5], [0.25, 0.25, 0.5]]))
    >>> oz.stationary().round(3).tolist()
    [0.4, 0.2, 0.4]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.lazy import Array, np, nx

#: How far the sum of a row may be from one: rounding.
_ROUNDING: Final = 1e-9

#: From one state to another.
Transition: TypeAlias = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Chain:
    """A homogeneous Markov chain in discrete time.

    Raises:
        TightlinkError: The matrix is not square, has a negative number, or a row that does not sum to one.
    """

    states: tuple[str, ...]
    matrix: Array
    """Row: from; column: to."""

    def __post_init__(self) -> None:
        size = len(self.states)
        if self.matrix.shape != (size, size):
            raise TightlinkError(f"a matrix of {' × '.join(map(str, self.matrix.shape))}: expected {size} × {size}")
        for state, row in zip(self.states, self.matrix, strict=True):
            if not (row >= 0).all() or abs(row.sum() - 1) > _ROUNDING:
                raise TightlinkError(f"row {state}: expected probabilities that sum to 1")

    def index(self, state: str) -> int:
        """The place of a state."""
        if state not in self.states:
            ending = did_you_mean(state, self.states)
            raise TightlinkError(f'no state "{state}": expected {one_of(self.states)}{ending}')
        return self.states.index(state)

    @property
    def transitions(self) -> list[Transition]:
        """From one state to another, where that can happen; staying is none."""
        rows, columns = np.nonzero(self.matrix)
        pairs = zip(rows.tolist(), columns.tolist(), strict=True)
        return [(self.states[row], self.states[column]) for row, column in pairs if row != column]

    def probability(self, transition: Transition) -> float:
        """Of a transition in one step."""
        return float(self.matrix[self.index(transition[0]), self.index(transition[1])])

    @property
    def graph(self) -> nx.DiGraph[str]:
        """The states, and the transitions between them."""
        graph = nx.DiGraph(self.transitions)
        graph.add_nodes_from(self.states)
        return graph

    @cached_property
    def recurrent(self) -> tuple[tuple[str, ...], ...]:
        """The classes of states that are never left: an absorbing state is one by itself."""
        components = (tuple(s for s in self.states if s in c) for c in nx.attracting_components(self.graph))
        return tuple(sorted(components, key=lambda component: self.states.index(component[0])))

    @property
    def absorbing(self) -> tuple[str, ...]:
        """States that are never left."""
        return tuple(component[0] for component in self.recurrent if len(component) == 1)

    def reachable(self, start: str) -> Chain:
        """The chain of the states that can be reached from one: all that matters for what begins there."""
        self.index(start)
        there = {start, *nx.descendants(self.graph, start)}
        kept = [place for place, state in enumerate(self.states) if state in there]
        return Chain(tuple(self.states[place] for place in kept), self.matrix[np.ix_(kept, kept)])

    def stationary(self) -> Array:
        """The shares of states in the long run, which do not depend on where it began.

        Raises:
            TightlinkError: They do, as there are several classes of states that are never left.
        """
        if len(self.recurrent) > 1:
            names = "; ".join(", ".join(component) for component in self.recurrent)
            raise TightlinkError(f"{len(self.recurrent)} classes of states are never left ({names}): expected one")
        size = len(self.states)
        system = np.vstack([(np.eye(size) - self.matrix).T, np.ones(size)])
        found, *_ = np.linalg.lstsq(system, np.append(np.zeros(size), 1.0), rcond=None)
        return np.asarray(np.clip(found, 0, None), dtype=float)

    def fundamental(self) -> Array:
        """Kemeny and Snell's Z = (I − P + 1π)⁻¹, from which derivatives of the shares in the long run follow."""
        size = len(self.states)
        return np.asarray(
            np.linalg.inv(np.eye(size) - self.matrix + np.tile(self.stationary(), (size, 1))), dtype=float
        )

    def visits(self) -> tuple[list[int], Array]:
        """The transient states, and how often each is seen from each of them on: Kemeny and Snell's N = (I − Q)⁻¹."""
        ends = {state for component in self.recurrent for state in component}
        kept = [place for place, state in enumerate(self.states) if state not in ends]
        return kept, np.asarray(np.linalg.inv(np.eye(len(kept)) - self.matrix[np.ix_(kept, kept)]), dtype=float)

    def probability_of(self, state: str) -> Array:
        """Probability that a state is ever reached, from each state."""
        goal = self.index(state)
        able = nx.ancestors(self.graph, state)
        kept = [place for place, name in enumerate(self.states) if name in able]
        found = np.zeros(len(self.states))
        found[goal] = 1.0
        inner = np.eye(len(kept)) - self.matrix[np.ix_(kept, kept)]
        found[kept] = np.linalg.solve(inner, self.matrix[kept, goal])
        return found


def shares(counts: Array) -> Array:
    """Probabilities from counts of what came next; a state that was never seen is not left.

    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]])).tolist()
    [[0.25, 0.75], [0.0, 1.0]]
    """
    totals = counts.sum(axis=1, keepdims=True)
    seen = totals > 0
    return np.where(seen, counts / np.where(seen, totals, 1), np.eye(len(counts)))
