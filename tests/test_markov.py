"""Markov chains: textbook answers, derivatives against differences, estimates against the truth, runs."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink import cli, plots
from tightlink.analysis.markov import (
    Chain,
    Piece,
    PiecewiseChain,
    degraded,
    from_log,
    from_users,
    minimal_cut_sets,
    perturbed,
    ranked,
)
from tightlink.analysis.markov.sensitivity import (
    arrivals_derivative,
    long_run,
    long_run_elasticity,
    slowest,
    slowest_derivative,
)
from tightlink.analysis.markov.users import by_counts
from tightlink.run import Framed

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


def walks(chain: Chain, entities: int, steps: int, seed: int) -> pl.DataFrame:
    """A log of so many entities, all in the first state at time 0."""
    random = np.random.default_rng(seed)
    edges = chain.matrix.cumsum(axis=1)
    state = np.zeros(entities, dtype=int)
    rows = [(entity, 0.0, chain.states[0]) for entity in range(entities)]
    for step in range(1, steps + 1):
        after = np.minimum((random.random(entities)[:, None] > edges[state]).sum(axis=1), len(edges) - 1)
        rows += [(int(e), 0.5 * step, chain.states[after[e]]) for e in np.flatnonzero(after != state)]
        state = after
    return pl.DataFrame(rows, ["entity", "time_s", "state"], orient="row")


def test_an_estimated_chain_comes_to_the_true_one() -> None:
    true = Chain(
        ("waiting", "working", "completed", "failed"),
        np.array([[0.7, 0.3, 0, 0], [0.05, 0.8, 0.12, 0.03], [0, 0, 1, 0], [0, 0, 0, 1]]),
    )
    errors = []
    for entities in (50, 5000):
        chains = from_log(walks(true, entities, 30, seed=3), step_s=0.5)
        assert (chains.entities, chains.skipped) == (entities, 0)
        order = [chains.states.index(state) for state in true.states]
        found = chains.pieces[0].chain.matrix[np.ix_(order, order)]
        errors.append(np.abs(found - true.matrix).max())
    assert errors[1] < 0.005 < errors[0]
    # Nine in ten of the intervals at the least hold the truth, and they are 95 % ones.
    hits = []
    for seed in range(25):
        table = from_log(walks(true, 100, 30, seed), step_s=0.5).pieces[0].table()
        hits += [
            row["low"] <= true.probability((row["from"], row["to"])) <= row["high"]
            for row in table.iter_rows(named=True)
        ]
    assert 0.9 < np.mean(hits) < 0.99
    agreement = chains.agreement()
    assert (agreement["within"] > 0.9).all()
    assert chains.arrivals("completed") == pytest.approx(float(chains.observed["completed"][-1]), abs=0.01)


def test_pieces_of_a_log_have_chains_of_their_own() -> None:
    calm = Chain(("busy", "completed"), np.array([[0.95, 0.05], [0.0, 1.0]]))
    log = walks(calm, 2000, 20, seed=1)
    # From 10 s on nothing is completed any more.
    chains = from_log(log.vstack(pl.DataFrame({"entity": [0], "time_s": [20.0], "state": ["completed"]})), 0.5,
                    {"work": (0.0, 10.0)})  # fmt: skip
    assert [(piece.name, piece.begin_s, piece.end_s) for piece in chains.pieces] == [
        ("work", 0.0, 10.0), ("after work", 10.0, 20.0),
    ]  # fmt: skip
    work, after = (piece.chain.matrix[0, 1] for piece in chains.pieces)
    assert work == pytest.approx(0.05, abs=0.005)
    assert after < 0.001
    assert chains.steps(chains.pieces[0]) == 20
    with pytest.raises(tl.TightlinkError, match="period b begins before a ends"):
        from_log(log, 0.5, {"a": (0.0, 5.0), "b": (4.0, 6.0)})


def test_who_enters_the_state_that_it_is_in_stays() -> None:
    log = pl.DataFrame({"entity": [1] * 3, "time_s": [0, 1, 2], "state": ["a", "a", "b"]})
    chains = from_log(log, 1.0)
    assert chains.pieces[0].counts.tolist() == [[1, 1], [0, 0]]
    assert {state: counts.tolist() for state, counts in chains.arrivals_observed.items()} == {"a": [0, 0], "b": [0, 1]}


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 4), st.floats(0, 20), st.sampled_from("xyz")), min_size=2, max_size=30),
    st.floats(0.3, 3),
)
def test_nothing_of_a_log_is_lost(rows: list[tuple[int, float, str]], step: float) -> None:
    log = pl.DataFrame(rows, ["entity", "time_s", "state"], orient="row")
    if float(log["time_s"].max()) - float(log["time_s"].min()) < 1e-3:  # type: ignore[arg-type]
        return
    chains = from_log(log, step, {"middle": (5.0, 12.0)})
    assert chains.entities == log["entity"].n_unique()
    np.testing.assert_allclose(chains.observed.select(chains.states).to_numpy().sum(axis=1), 1)
    times = chains.observed["time_s"]
    assert chains.pieces[-1].end_s == times[-1]
    for piece in chains.pieces:
        np.testing.assert_allclose(piece.chain.matrix.sum(axis=1), 1)
        assert piece.counts.sum() == chains.entities * chains.steps(piece)
    # Looked at by hand: the last state entered until each time.
    for entity in log["entity"].unique():
        own = log.filter(pl.col("entity") == entity).sort("time_s", maintain_order=True)
        for time in times:
            seen = own.filter(pl.col("time_s") <= time + 1e-9 * step)
            state = seen["state"][-1] if seen.height else "not begun"
            assert state in chains.states
            assert chains.observed.filter(pl.col("time_s") == time)[state][0] > 0


@pytest.mark.parametrize(
    ("log", "step", "wrong"),
    [
        ({"entity": [], "time_s": [], "state": []}, 1.0, "no rows: expected one for each state that is entered"),
        ({"entity": [1], "state": ["a"]}, 1.0, "no column time_s among entity, state"),
        (
            {"entity": [1, 1], "time_s": [0.0, None], "state": ["a", "b"]},
            1.0,
            "row 2: time_s: expected a number in each row",
        ),
        (
            {"entity": [1, 1], "time_s": [0.0, 1.0], "state": ["a", None]},
            1.0,
            "row 2: state: expected a value in each row",
        ),
        ({"entity": [1, 1], "time_s": [0.0, 1.0], "state": ["a", "b"]}, 0.0, "a step of 0 s: expected one above zero"),
        ({"entity": [1, 1], "time_s": [0.0, 1.0], "state": ["a", "b"]}, math.nan, "a step of nan s"),
        ({"entity": [1, 2], "time_s": [3.0, 3.0], "state": ["a", "b"]}, 1.0, "0 steps of 1 s in the log"),
        ({"entity": [1, 1], "time_s": [0.0, 1.0], "state": ["a", "b"]}, 1e-9, "1,000,000,000 steps of 1e-09 s"),
        (
            {"entity": list(range(60)), "time_s": list(range(60)), "state": [str(n) for n in range(60)]},
            1.0,
            "61 states: expected at most 50",
        ),
    ],
)
def test_logs_that_are_none(log: dict[str, list[Any]], step: float, wrong: str) -> None:
    with pytest.raises(tl.TightlinkError, match=wrong):
        from_log(pl.DataFrame(log), step)


def test_bad_chains() -> None:
    with pytest.raises(tl.TightlinkError, match="row b: expected probabilities that sum to 1"):
        Chain(("a", "b"), np.array([[1.0, 0.0], [0.5, 0.6]]))
    with pytest.raises(tl.TightlinkError, match="a matrix of 1 × 2: expected 2 × 2"):
        Chain(("a", "b"), np.array([[1.0, 0.0]]))
    with pytest.raises(tl.TightlinkError, match='no state "sun": expected one of rain, nice, snow'):
        OZ.probability_of("sun")


def users(**columns: list[int]) -> pl.DataFrame:
    count = len(columns["sources_thinking"])
    counts = dict.fromkeys(("transfers_completed", "connections_failed", "transfers_abandoned"), [0] * count)
    return pl.DataFrame({"time_s": [2.0 * (place + 1) for place in range(count)]} | counts | columns)


def test_sources_by_conservation() -> None:
    """Ten sources, two intervals, in which every move can be told by hand."""
    chains = by_counts(
        users(
            sources_thinking=[5, 6], sources_connecting=[2, 1], sources_transmitting=[3, 3],
            transfers_completed=[1, 2], connections_failed=[0, 1],
        ),
        {},
    )  # fmt: skip
    assert chains.states == ("thinking", "connecting", "transmitting", "completed", "failed")
    arrived = {state: chains.arrivals_observed[state].tolist() for state in chains.states}
    # Five think less and one came back: six began. Then one thinks more, and three came back: two began.
    assert arrived == {
        "thinking": [1, 3], "connecting": [6, 2], "transmitting": [4, 2], "completed": [1, 2], "failed": [0, 1],
    }  # fmt: skip
    (piece,) = chains.pieces
    per_interval = round(2.0 / chains.step_s)
    # Connecting holds 1 and then 1.5 sources on average, of which seven leave: no more than half of them in a step.
    assert per_interval == 6
    assert piece.chain.probability(("connecting", "transmitting")) == pytest.approx(6 / (2.5 * per_interval))
    assert piece.chain.probability(("connecting", "failed")) == pytest.approx(1 / (2.5 * per_interval))
    assert piece.chain.probability(("transmitting", "completed")) == pytest.approx(3 / (4.5 * per_interval))
    assert piece.chain.probability(("thinking", "connecting")) == pytest.approx(8 / (13 * per_interval - 4))
    np.testing.assert_allclose(chains.observed.select(chains.states).to_numpy().sum(axis=1), 1)


def test_users_that_cannot_be_told() -> None:
    with pytest.raises(tl.TightlinkError, match="1 intervals: expected at least two"):
        by_counts(users(sources_thinking=[5], sources_connecting=[2], sources_transmitting=[3]), {})


def _crowded(seed: int) -> tl.Run:
    crowded = tl.FourTier(
        duration="60 s", scale=0.01, network_speed="1500 packets/ms", sources="high", patience="high", crowd="high"
    )
    return tl.simulate(crowded.scenario(), seed=seed)


@pytest.fixture(scope="module")
def run() -> tl.Run:
    return _crowded(1)


def test_a_chain_stays_with_the_simulation(run: tl.Run) -> None:
    """Behind the first moments, in which no source is in the middle of anything: 19 in 20 within the band.

    Six runs: what one of them does at a time depends on what it did some seconds before.
    """
    shares = []
    for each in (run, *map(_crowded, range(2, 7))):
        late = from_users(each).evolution().filter(pl.col("time_s") > 15)
        within = (pl.col("observed") >= pl.col("low")) & (pl.col("observed") <= pl.col("high"))
        shares.append(late.group_by("state").agg(within=within.mean()))
    for state, share in pl.concat(shares).group_by("state").agg(pl.col("within").mean()).iter_rows():
        assert share > 0.85, (state, share)


def test_a_chain_goes_the_way_of_the_simulation(run: tl.Run) -> None:
    chains = from_users(run)
    assert [piece.name for piece in chains.pieces] == ["until before", "before", "congestion", "after"]
    assert chains.entities == 1746
    completed = chains.arrivals_over_time("completed")
    assert completed["arrivals"].sum() == pytest.approx(float(run.users["transfers_completed"].sum()), rel=0.01)
    within = (completed["observed"] >= completed["low"]) & (completed["observed"] <= completed["high"])
    assert within.mean() > 0.9  # type: ignore[operator]
    # And not because the band holds anything: the chain of an idle network is far outside of it.
    idle = from_users(tl.simulate(tl.FourTier(duration="30 s", scale=0.01, sources="high").scenario()))
    assert idle.states[:4] == chains.states[:4]
    thinking, busy = (
        one.evolution().filter(pl.col("state") == "thinking")[-1].row(0, named=True) for one in (idle, chains)
    )
    assert thinking["low"] > busy["observed"]


def test_several_users_are_told_apart(run: tl.Run) -> None:
    both = pl.concat([run.users, run.users.with_columns(label=pl.lit("others"))])
    two = tl.Run(run.scenario, run.manifest, Framed({"users": both}))
    with pytest.raises(tl.TightlinkError, match="users users, others: expected a label, one of users, others"):
        from_users(two)
    one = from_users(run)
    for label in ("users", "others"):
        np.testing.assert_array_equal(from_users(two, label).pieces[0].counts, one.pieces[0].counts)
    with pytest.raises(tl.TightlinkError, match='no users "web": expected one of users, others'):
        from_users(two, "web")


def test_what_completions_hang_on(run: tl.Run) -> None:
    chains = from_users(run)
    table = ranked(chains, "thinking", "completed")
    # Most sources transmit: there is most to lose.
    assert table["transition"][0] == "transmitting → completed"
    cut = table.filter(pl.col("cut") == 1)
    assert set(cut["transition"]) == {"thinking → connecting", "connecting → transmitting", "transmitting → completed"}
    assert cut["remaining"].to_list() == pytest.approx([0, 0, 0], abs=1e-12)
    shares = {row["state"]: row["share"] for row in chains.agreement().iter_rows(named=True)}
    for start, elasticity in cut.select("from", "long_run").iter_rows():
        assert elasticity == pytest.approx(shares[start], abs=0.05)
    # Fewer failures are more completions.
    failed = table.filter(pl.col("transition") == "connecting → failed")
    assert failed["elasticity"][0] < 0


def test_run_on_the_command_line(run: tl.Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run.save(tmp_path / "run")
    command = ["analyze", "markov", str(tmp_path / "run")]
    assert cli.main([*command, "-o", str(tmp_path / "chain.png")]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("1,746 state sequences in steps of 0.2 s; completed ")
    assert "minimal cut sets: thinking → connecting; connecting → transmitting; transmitting → completed" in out
    assert err == ""
    assert (tmp_path / "chain.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main([*command, "--cut", "30 s", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [piece["period"] for piece in found["pieces"]] == ["0 to 30 s", "30 to 60 s"]
    assert found["ranked"][0]["transition"] == "transmitting → completed"
    for words, wrong in {
        ("--step", "1 s"): "--step is for logs",
        ("--target", "complete"): 'no state "complete"',
        ("--label", "web"): 'no users "web": expected users',
        ("--cut", "soon"): '--cut = "soon": expected a time',
        ("--cut", "2000 s"): "--cut 2000 s: expected a time between 0 s and 60 s",
    }.items():
        assert cli.main([*command, *words]) == 2
        assert wrong in capsys.readouterr().err


def test_log_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chain = Chain(("open", "held", "done"), np.array([[0.7, 0.2, 0.1], [0.3, 0.7, 0.0], [0.0, 0.0, 1.0]]))
    walks(chain, 300, 40, seed=2).write_csv(tmp_path / "log.csv")
    command = ["analyze", "markov", str(tmp_path / "log.csv")]
    assert cli.main([*command, "--step", "500 ms", "--target", "done", "--cut", "5 s"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("300 state sequences in steps of 0.5 s; done 0.9")
    assert "minimal cut sets: open → done" in out
    assert cli.main([*command, "--step", "1.5 s", "--target", "done"]) == 0
    assert "states were entered and left within one step, and not seen" in capsys.readouterr().err
    assert out.splitlines()[2].split() == ["transition", "0", "to", "5", "s", "5", "to", "20", "s"]
    for words, wrong in {
        (): 'expected --step with the step of the chain, such as --step "1 s"',
        ("--step", "1 s"): "no state completed: expected --target with one of open, ",
        ("--step", "1 s", "--label", "web"): "--label is for runs with users",
    }.items():
        assert cli.main([*command, *words]) == 2
        assert wrong in capsys.readouterr().err
    assert cli.main(["analyze", "markov", str(tmp_path), "--step", "1 s"]) == 2
    assert "expected the folder of a run with users" in capsys.readouterr().err


def test_figures(run: tl.Run) -> None:
    chains = from_users(run)
    evolution = plots.chain_evolution(chains)
    labels = [text.get_text() for text in evolution.get_legend().get_texts()]  # type: ignore[union-attr]
    assert labels == ["thinking", "connecting", "transmitting", "completed"]
    seen = np.asarray(evolution.lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(seen, 100 * chains.observed["thinking"].to_numpy())
    arrivals = plots.chain_arrivals(chains, "completed")
    assert arrivals.get_ylabel() == "completed per second"
    seen = np.asarray(arrivals.lines[0].get_ydata(), dtype=float)
    np.testing.assert_allclose(seen, run.users["transfers_completed"].to_numpy() / 0.2)
    curves = plots.chain_perturbation(perturbed(chains, "completed"))
    assert curves.lines[0].get_label() == "transmitting → completed"
    bars = plots.chain_sensitivity(ranked(chains, "thinking", "completed"))
    assert bars.texts[0].get_text() == "transmitting → completed [1]"
    assert len(bars.patches) == 8
