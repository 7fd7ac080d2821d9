"""Markov chains of users of runs: counted by conservation, beside the simulation, the command, figures."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink import cli, plots
from tightlink.analysis.markov import from_users, perturbed, ranked
from tightlink.analysis.markov.users import by_counts
from tightlink.run import Framed


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
