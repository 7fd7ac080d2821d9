"""Which transition, degraded, brings a goal down: derivatives of what is reached with respect to each one.

Three views. Over the time of the pieces, arrivals are a product of matrices, whose derivative is exact. In the long
run, they follow from the eigenvector of the eigenvalue 1 (the shares of states), or of an absorbing goal from how
often transient states are seen; its derivative is P. J. Schweitzer's (Perturbation Theory and Finite Markov Chains,
Journal of Applied Probability 5(2), 1968). How fast a chain forgets its beginning is the largest other eigenvalue,
whose derivative is that of the spectral expansion Pᵗ = Σ λᵗ x y.

All are derivatives along a degradation: a share of one transition's probability goes to the others of its row.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Final

from tightlink.analysis.markov.chain import Chain, Transition
from tightlink.analysis.markov.cuts import minimal_cut_sets
from tightlink.analysis.markov.perturbation import degraded, direction, named
from tightlink.analysis.markov.piecewise import PiecewiseChain, counting
from tightlink.lazy import Array, np, pl

#: Eigenvalues this near to 1 belong to states that are never left.
_ONE: Final = 1e-9
#: An elasticity that is this small is none: sums of terms that cancel.
_ROUNDING: Final = 1e-12


def ranked(chains: PiecewiseChain, start: str, goal: str) -> pl.DataFrame:
    """A row for each transition between where entities start and their goal, those first whose loss costs most.

    Columns: ``transition``, ``from``, ``to``, ``probability`` (mean over all steps), ``elasticity`` (by how many
    percent arrivals at the goal fall for one percent of the transition degraded, in all pieces), ``remaining`` (share
    of the arrivals that is left where it never happens), ``long_run`` (the elasticity if the last piece went on for
    ever), ``slowest`` (change of the largest eigenvalue below 1 of the last piece, for all of the transition degraded
    at that rate), ``cut`` (size of the smallest minimal cut set that it is in; null where in none that is looked for).
    """
    whole = chains.arrivals(goal)
    steps = np.array([chains.steps(piece) for piece in chains.pieces])
    last = chains.pieces[-1].chain.reachable(start)
    sizes: dict[Transition, int] = {}
    for piece in chains.pieces:
        for cut in minimal_cut_sets(piece.chain, start, goal):
            for transition in cut:
                sizes[transition] = min(sizes.get(transition, len(cut)), len(cut))
    rows = []
    for transition in chains.transitions:
        slope = arrivals_derivative(chains, goal, transition)
        gone = chains.changed(partial(degraded, transitions=[transition], share=1.0)).arrivals(goal)
        probabilities = [piece.chain.probability(transition) for piece in chains.pieces]
        fallen = (-slope / whole, gone / whole) if whole else (math.nan, math.nan)
        at_last = long_run_elasticity(last, start, goal, transition) if goal in last.states else math.nan
        rows.append((
            named(transition), *transition, float(np.average(probabilities, weights=steps)), *fallen, at_last,
            slowest_derivative(last, transition), sizes.get(transition),
        ))  # fmt: skip
    floats = dict.fromkeys(("probability", "elasticity", "remaining", "long_run", "slowest"), pl.Float64)
    schema = {"transition": pl.String, "from": pl.String, "to": pl.String, **floats, "cut": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row").sort(
        "elasticity", descending=True, nulls_last=True, maintain_order=True
    )


def arrivals_derivative(chains: PiecewiseChain, goal: str, transition: Transition) -> float:
    """Derivative of `PiecewiseChain.arrivals` by the share of a transition that is taken away in all pieces."""
    size = len(chains.states) + 1
    state = np.concatenate([chains.initial, np.zeros(size + 1)])
    for piece in chains.pieces:
        change = np.zeros((size, size))
        moved = direction(piece.chain, transition)
        change[:-1, :-1] = moved
        place = piece.chain.index(goal)
        change[:-1, -1] = moved[:, place]
        change[place, -1] = 0.0
        matrix = counting(piece.chain, goal)
        # Powers of a matrix of blocks have the derivative beside the power.
        both = np.block([[matrix, change], [np.zeros((size, size)), matrix]])
        state = state @ np.linalg.matrix_power(both, chains.steps(piece))
    return float(state[-1])


def long_run(chain: Chain, start: str, goal: str) -> float:
    """Arrivals at a goal in a step, in the long run; where the goal is left for ever or never, arrivals in all.

    NaN where some come back to the goal again and again, and others never reach it.
    """
    place = chain.index(goal)
    if not _returns(chain, goal) and any(goal in each for each in chain.recurrent if len(each) > 1):
        return math.nan
    gain = chain.matrix[:, place].copy()
    gain[place] = 0.0
    if _returns(chain, goal):
        return float(chain.stationary() @ gain)
    kept, visits = chain.visits()
    return float(visits[kept.index(chain.index(start))] @ gain[kept]) if chain.index(start) in kept else 0.0


def long_run_elasticity(chain: Chain, start: str, goal: str, transition: Transition) -> float:
    """By how many percent `long_run` falls for one percent of a transition degraded; NaN where there is nothing."""
    whole = long_run(chain, start, goal)
    if not whole > 0:
        return math.nan
    if transition not in chain.transitions:
        return 0.0
    place, first = chain.index(goal), chain.index(start)
    moved = direction(chain, transition)
    gain, gained = chain.matrix[:, place].copy(), moved[:, place].copy()
    gain[place] = gained[place] = 0.0
    if _returns(chain, goal):
        shares = chain.stationary()
        slope = float(shares @ moved @ chain.fundamental() @ gain + shares @ gained)
    else:
        kept, visits = chain.visits()
        row = visits[kept.index(first)]
        slope = float(row @ moved[np.ix_(kept, kept)] @ visits @ gain[kept] + row @ gained[kept])
    found = -slope / whole
    return found if abs(found) > _ROUNDING else 0.0


def slowest(chain: Chain) -> complex:
    """The eigenvalue of largest size below 1: how much of the beginning is left after a step."""
    values = np.linalg.eigvals(chain.matrix)
    other = values[np.abs(values - 1) > _ONE]
    return complex(other[np.abs(other).argmax()]) if len(other) else 0j


def slowest_derivative(chain: Chain, transition: Transition) -> float:
    """Derivative of the size of `slowest` along a degradation; NaN where it is one of several that are equal."""
    from scipy import linalg

    if transition not in chain.transitions:
        return 0.0
    values, left, right = linalg.eig(chain.matrix, left=True, right=True)
    slow = slowest(chain)
    place = int(np.abs(values - slow).argmin())
    if np.sum(np.abs(values - slow) <= _ONE) != 1 or abs(slow) <= _ONE:
        return math.nan
    y, x = left[:, place].conj(), right[:, place]
    moved: Array = direction(chain, transition)
    change = complex(y @ moved @ x / (y @ x))
    return float((change * slow.conjugate()).real / abs(slow))


def _returns(chain: Chain, goal: str) -> bool:
    """Whether a goal is reached again and again, wherever it began."""
    return len(chain.recurrent) == 1 and len(chain.recurrent[0]) > 1 and goal in chain.recurrent[0]
