"""Markov chains of logs: estimates against the truth, logs that are none, the command."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink import cli
from tightlink.analysis.markov import Chain, from_log


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
