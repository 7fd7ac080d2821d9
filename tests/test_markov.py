"""Markov chains: textbook answers, derivatives against differences, cut sets, what is no chain."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink.analysis.markov import Chain, Piece, PiecewiseChain, degraded, minimal_cut_sets, perturbed, ranked
from tightlink.analysis.markov.sensitivity import (
    arrivals_derivative,
    long_run,
    long_run_elasticity,
    slowest,
    slowest_derivative,
)

#: J. G. Kemeny, J. L. Snell, Finite Markov Chains, 1960: the weather in the Land of Oz.
OZ = Chain(("rain", "nice", "snow"), np.array([[2, 1, 1], [2, 0, 2], [1, 1, 2]]) / 4)


def ruin(stake: int, win: float) -> Chain:
    """A gambler with 0 to ``stake`` units, who plays for one each time."""
    matrix = np.zeros((stake + 1, stake + 1))
    matrix[0, 0] = matrix[-1, -1] = 1
    for place in range(1, stake):
        matrix[place, place + 1], matrix[place, place - 1] = win, 1 - win
    return Chain(tuple(map(str, range(stake + 1))), matrix)


def piecewise(*chains: Chain, steps: int = 10, begin: int = 0) -> PiecewiseChain:
    size = len(chains[0].states)
    pieces = tuple(
        Piece(str(place), place * steps, (place + 1) * steps, chain, np.zeros((size, size)))
        for place, chain in enumerate(chains)
    )
    observed = pl.DataFrame({"time_s": np.arange(len(chains) * steps + 1.0)} | dict.fromkeys(chains[0].states, 0.0))
    nothing = dict.fromkeys(chains[0].states, np.zeros(len(chains) * steps))
    return PiecewiseChain(1.0, 100, np.eye(size)[begin], pieces, observed, nothing)


@st.composite
def chains(draw: Callable[..., Any], *, absorbing: bool = False) -> Chain:
    size = draw(st.integers(3, 5))
    cells = st.lists(st.floats(0.05, 1), min_size=size, max_size=size)
    matrix = np.array([draw(cells) for _ in range(size)])
    if absorbing:
        matrix[-2:] = np.eye(size)[-2:]
    return Chain(tuple("abcde"[:size]), matrix / matrix.sum(axis=1, keepdims=True))


def test_the_land_of_oz() -> None:
    np.testing.assert_allclose(OZ.stationary(), [0.4, 0.2, 0.4])
    np.testing.assert_allclose(
        OZ.fundamental() * 75, np.array([[86.0, 3.0, -14.0], [6.0, 63.0, 6.0], [-14.0, 3.0, 86.0]])
    )
    # Its eigenvalues are 1, 1/4 and −1/4.
    assert abs(slowest(OZ)) == pytest.approx(0.25)


def test_a_walk_between_two_ends() -> None:
    """The same book's first absorbing chain: five places, both ends kept."""
    walk = ruin(4, 0.5)
    kept, visits = walk.visits()
    assert kept == [1, 2, 3]
    np.testing.assert_allclose(visits, [[1.5, 1.0, 0.5], [1.0, 2.0, 1.0], [0.5, 1.0, 1.5]])
    assert walk.recurrent == (("0",), ("4",))
    np.testing.assert_allclose(walk.probability_of("4"), [0, 0.25, 0.5, 0.75, 1])
    assert visits.sum(axis=1).tolist() == pytest.approx([3, 4, 3])
    with pytest.raises(tl.TightlinkError, match=r"2 classes of states are never left \(0; 4\): expected one"):
        walk.stationary()


@pytest.mark.parametrize("win", [0.3, 0.55])
def test_the_gamblers_ruin(win: float) -> None:
    stake, odds = 8, (1 - win) / win
    chain = ruin(stake, win)
    for begin in range(1, stake):
        reached = (1 - odds**begin) / (1 - odds**stake)
        assert chain.probability_of(str(stake))[begin] == pytest.approx(reached)
        assert long_run(chain, str(begin), str(stake)) == pytest.approx(reached)
        duration = (begin - stake * reached) / (1 - 2 * win)
        kept, visits = chain.visits()
        assert visits[kept.index(begin)].sum() == pytest.approx(duration)
        assert piecewise(chain, steps=2000, begin=begin).arrivals(str(stake)) == pytest.approx(reached)


@pytest.mark.parametrize(("leave", "back"), [(0.1, 0.3), (0.9, 0.8)])
def test_two_states(leave: float, back: float) -> None:
    chain = Chain(("up", "down"), np.array([[1 - leave, leave], [back, 1 - back]]))
    mode = 1 - leave - back
    assert chain.stationary()[1] == pytest.approx(leave / (leave + back))
    assert slowest(chain) == pytest.approx(mode)
    chains = piecewise(chain, steps=12)
    down = [leave / (leave + back) * (1 - mode**step) for step in range(13)]
    table = chains.evolution().filter(pl.col("state") == "down")
    assert table["share"].to_list() == pytest.approx(down)
    assert table["high"][5] - table["low"][5] == pytest.approx(2 * 1.959964 * np.sqrt(down[5] * (1 - down[5]) / 100))
    # Falls in a step: leave × share of up, at the step's beginning.
    falls = chains.arrivals_over_time("down")["arrivals"].to_list()
    assert falls == pytest.approx([100 * leave * (1 - share) for share in down[:-1]])
    assert chains.arrivals("down") == pytest.approx(sum(falls) / 100)
    # |1 − leave (1 − x) − back| at x = 0.
    assert slowest_derivative(chain, ("up", "down")) == pytest.approx(np.sign(mode) * leave)
    assert long_run_elasticity(chain, "up", "down", ("up", "down")) == pytest.approx(back / (leave + back))


def test_nothing_is_said_of_the_long_run_of_a_goal_that_some_come_back_to_and_others_never_reach() -> None:
    rows = [[0, 0.3, 0.3, 0.4], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 1]]
    chain = Chain(("start", "near", "goal", "lost"), np.array(rows))
    assert np.isnan(long_run(chain, "start", "goal"))
    assert np.isnan(long_run_elasticity(chain, "start", "goal", ("start", "goal")))
    # What is reached in any case is reached as often, but for rounding.
    sure = Chain(("start", "goal"), np.array([[0.7, 0.3], [0, 1]]))
    assert long_run_elasticity(sure, "start", "goal", ("start", "goal")) == 0


def test_in_a_circle_a_step_counts_as_much_as_the_time_before_it() -> None:
    leave = np.array([0.1, 0.4, 0.02, 0.3])
    circle = Chain(tuple("abcd"), np.diag(1 - leave) + np.roll(np.diag(leave), 1, axis=1))
    shares = (1 / leave) / (1 / leave).sum()
    found = [long_run_elasticity(circle, "a", "d", ("abcd"[place], "bcda"[place])) for place in range(4)]
    assert found == pytest.approx(shares.tolist())
    table = ranked(piecewise(circle, steps=4000), "a", "d")
    assert table["transition"].to_list() == ["c → d", "a → b", "d → a", "b → c"]
    assert table["elasticity"].to_list() == pytest.approx(sorted(shares, reverse=True), rel=0.02)
    assert dict(table.select("transition", "cut").iter_rows()) == {"c → d": 1, "a → b": 1, "d → a": None, "b → c": 1}
    # Without the way on from the goal, once is all.
    assert table.filter(pl.col("transition") == "d → a")["remaining"][0] == pytest.approx(
        1 / piecewise(circle, steps=4000).arrivals("d"), rel=1e-6
    )


def slope(of: Callable[[float], float]) -> float:
    """A central difference of second order."""
    step = 1e-5
    return (of(step) - of(-step)) / (2 * step)


def stretched(chain: Chain, transition: tuple[str, str], share: float) -> Chain:
    """Degraded by a share, which may be below zero for a difference on both sides."""
    if share >= 0:
        return degraded(chain, [transition], share)
    matrix = 2 * chain.matrix - degraded(chain, [transition], -share).matrix
    return Chain(chain.states, matrix)


@settings(max_examples=25, deadline=None)
@given(chains(), chains(absorbing=True), st.integers(0, 3))
def test_derivatives_are_the_limits_of_differences(returning: Chain, absorbing: Chain, which: int) -> None:
    for chain, goal in ((returning, "b"), (absorbing, absorbing.states[-1])):
        transition = chain.transitions[which % len(chain.transitions)]
        change = partial(stretched, chain, transition)
        chains = piecewise(chain, degraded(chain, [chain.transitions[0]], 0.3), steps=7)

        def arrivals(
            share: float, chains: PiecewiseChain = chains, transition: Any = transition, goal: str = goal
        ) -> float:
            return chains.changed(lambda one: stretched(one, transition, share)).arrivals(goal)

        assert arrivals_derivative(chains, goal, transition) == pytest.approx(slope(arrivals), rel=1e-5, abs=1e-8)
        reached = long_run(chain, "a", goal)
        expected = -slope(lambda share, goal=goal, change=change: long_run(change(share), "a", goal)) / reached  # type: ignore[misc]
        assert long_run_elasticity(chain, "a", goal, transition) == pytest.approx(expected, rel=1e-4, abs=1e-7)
        values = np.sort(np.abs(np.linalg.eigvals(chain.matrix)))[::-1]
        others = values[values < 1 - 1e-9]
        # Where two modes are nearly as slow as each other, which one is the slowest changes within the difference.
        if others[0] > 0.02 and (len(others) < 2 or others[0] - others[1] > 0.02):
            expected = slope(lambda share, change=change: abs(slowest(change(share))))  # type: ignore[misc]
            assert slowest_derivative(chain, transition) == pytest.approx(expected, rel=1e-4, abs=1e-7)


@settings(max_examples=40, deadline=None)
@given(chains(), st.floats(0, 1), st.data())
def test_degraded_rows_still_add_to_one(chain: Chain, share: float, data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(chain.transitions), min_size=1, max_size=4, unique=True))
    to = data.draw(st.sampled_from([None, *chain.states]))
    found = degraded(chain, chosen, share, to)
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1)
    for transition in chosen:
        if to != transition[1]:
            assert found.probability(transition) == pytest.approx((1 - share) * chain.probability(transition))


def test_a_row_without_others_stays() -> None:
    chain = Chain(("a", "b"), np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert degraded(chain, [("a", "b")], 0.25).matrix[0].tolist() == [0.25, 0.75]


def test_perturbation_from_nothing_to_all() -> None:
    chain = ruin(4, 0.5)
    chains = piecewise(chain, steps=500, begin=2)
    curves = perturbed(chains, "4")
    assert curves["transition"].n_unique() == len(chain.transitions) == 6
    last = curves.filter(pl.col("transition") == "3 → 4")
    assert last["remaining"][0] == 1
    assert last["remaining"][-1] == pytest.approx(0, abs=1e-12)
    assert last["remaining"].is_sorted(descending=True)
    # From 3, the rest goes back to 2: a step up and half of a step up from there.
    half = perturbed(chains, "4", [[("3", "4")]], [0.5])
    assert half["arrivals"].to_list() == pytest.approx([1 / 3])
    both = perturbed(chains, "4", [[("1", "2"), ("2", "3")]], [1.0])
    assert both["transition"].to_list() == ["1 → 2, 2 → 3"]
    assert both["arrivals"][0] == pytest.approx(0, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=4, max_size=11))
def test_cut_sets_are_all_and_minimal(edges: set[tuple[int, int]]) -> None:
    matrix = np.eye(5)
    for start, end in edges:
        matrix[start, end] = 1
    chain = Chain(tuple("stuvw"), matrix / matrix.sum(axis=1, keepdims=True))
    graph = nx.DiGraph(chain.transitions)
    graph.add_nodes_from(chain.states)

    def separates(removed: tuple[tuple[str, str], ...]) -> bool:
        left = graph.copy()
        left.remove_edges_from(removed)
        return not nx.has_path(left, "s", "w")

    found = minimal_cut_sets(chain, "s", "w", largest=3)
    if separates(()):
        assert found == []
        return
    expected: set[tuple[tuple[str, str], ...]] = set()
    for size in (1, 2, 3):
        for one in combinations(chain.transitions, size):
            if separates(one) and not any(set(smaller) < set(one) for smaller in expected):
                expected.add(one)
    assert set(found) == expected
    smallest = len(nx.minimum_edge_cut(graph, "s", "w"))
    assert min(map(len, found), default=4) == smallest or smallest > 3


def test_bad_chains() -> None:
    with pytest.raises(tl.TightlinkError, match="row b: expected probabilities that sum to 1"):
        Chain(("a", "b"), np.array([[1.0, 0.0], [0.5, 0.6]]))
    with pytest.raises(tl.TightlinkError, match="a matrix of 1 × 2: expected 2 × 2"):
        Chain(("a", "b"), np.array([[1.0, 0.0]]))
    with pytest.raises(tl.TightlinkError, match='no state "sun": expected one of rain, nice, snow'):
        OZ.probability_of("sun")
