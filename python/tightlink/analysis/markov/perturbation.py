"""Transitions made less likely, from not at all to never: how far a goal is still reached.

Example:
    >>> from tightlink.analysis.markov.chain import Chain
    >>> chain = Chain(("open", "done", "lost"), np.array([[0.5, 0.4, 0.1], [0, 1, 0], [0, 0, 1]]))
    >>> degraded(chain, [("open", "done")], 0.5).matrix[0].round(3).tolist()
    [0.667, 0.2, 0.133]
    >>> degraded(chain, [("open", "done")], 0.5, to="lost").matrix[0].round(3).tolist()
    [0.5, 0.2, 0.3]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from tightlink.analysis.markov.chain import Chain, Transition
from tightlink.analysis.markov.piecewise import PiecewiseChain
from tightlink.lazy import Array, np, pl

#: What is taken away, from nothing to all: in small steps near the end, where rows that can wait give way at once.
SHARES: Final = tuple(1 - (1 - place / 20) ** 2 for place in range(21))


def named(transition: Transition) -> str:
    """How a transition is written: from → to."""
    return f"{transition[0]} → {transition[1]}"


def degraded(chain: Chain, transitions: Iterable[Transition], share: float, to: str | None = None) -> Chain:
    """The chain with a share of the probability of some transitions taken away.

    It goes to one other state, or to all others of the row in proportion to what they have; where there is none, to
    staying.
    """
    matrix = chain.matrix.copy()
    for row, direction in _directions(chain, list(transitions), to).items():
        matrix[row] += share * direction
    return Chain(chain.states, np.clip(matrix, 0, 1))


def direction(chain: Chain, transition: Transition) -> Array:
    """The change of the matrix for all of a transition's probability taken away, to the others of its row."""
    change = np.zeros_like(chain.matrix)
    for row, values in _directions(chain, [transition], None).items():
        change[row] = values
    return change


def _directions(chain: Chain, transitions: Sequence[Transition], to: str | None) -> dict[int, Array]:
    """By row: what is added to it where everything is taken away."""
    lost: dict[int, list[int]] = {}
    for start, end in transitions:
        lost.setdefault(chain.index(start), []).append(chain.index(end))
    found = {}
    for row, columns in lost.items():
        others = chain.matrix[row].copy()
        others[columns] = 0.0
        if to is not None:
            others = np.eye(len(chain.states))[chain.index(to)]
        elif others.sum() == 0:
            others = np.eye(len(chain.states))[row]
        change = others / others.sum() * chain.matrix[row, columns].sum()
        change[columns] -= chain.matrix[row, columns]
        found[row] = change
    return found


def perturbed(
    chains: PiecewiseChain,
    goal: str,
    sets: Sequence[Sequence[Transition]] | None = None,
    shares: Sequence[float] = SHARES,
    to: str | None = None,
) -> pl.DataFrame:
    """How often the goal is reached with transitions degraded in all pieces.

    Args:
        chains: Chains and their beginning.
        goal: State that is to be reached.
        sets: Transitions that are degraded together (default: each by itself).
        shares: What is taken away of their probability.
        to: State that gets it (default: the others of the row).

    Returns:
        transition (the set in words), share, arrivals (of an entity, from beginning to end), remaining (over those with
        nothing taken away).
    """
    whole = chains.arrivals(goal)
    rows = []
    for chosen in sets if sets is not None else [(transition,) for transition in chains.transitions]:
        words = ", ".join(map(named, chosen))
        for share in shares:
            left = chains.changed(partial(degraded, transitions=chosen, share=share, to=to)).arrivals(goal)
            rows.append((words, share, left, left / whole if whole else float("nan")))
    return pl.DataFrame(rows, ["transition", "share", "arrivals", "remaining"], orient="row")
