"""What decides a claim of the study of Internet-like networks, and what leaves it open."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tightlink.analysis.responses.ranks import ranks
from tightlink.studies import congestion_control
from tightlink.studies.claims_table import ClaimsTable
from tightlink.studies.congestion_control.observe import homogeneous, mixed, one_link, sensitivity
from tightlink.studies.congestion_control.observe.evidence import stored
from tightlink.studies.congestion_control.observe.ratios import of_ratios
from tightlink.studies.congestion_control.setup import document
from tightlink.studies.congestion_control.setup.experiment import heavier


def test_a_share_of_few_conditions_has_an_interval() -> None:
    table = congestion_control.STUDY.table()
    text = next(each for each in table.statements if each.id == "1b.fast-apart")

    def holds(apart: int) -> bool | None:
        return text.judged({"experiment-1b": homogeneous.set_apart(apart, 10)}).holds

    assert [holds(apart) for apart in (0, 1, 5, 8, 9, 10)] == [False, False, None, None, True, True]


def test_groups_that_were_read_by_eye_are_open() -> None:
    (text,) = (each for each in congestion_control.STUDY.table().statements if each.id == "sensitivity.dimensions")
    observed = {"sensitivity": {"runs": 64, "dimensions.alone": 5}}
    assert [text.judged(observed | {"sensitivity.dimensions": groups}).holds for groups in (6, 7)] == [None, None]


def test_claims_have_every_effect_of_the_document() -> None:
    table = ClaimsTable.read(Path(sensitivity.__file__).parents[1] / "claims.toml").of(["sensitivity"])
    claimed = {each.id.partition(".")[2]: each.holds for each in table.statements}
    for number, marks in document.effects().items():
        for parameter, (sign, strong) in marks.items():
            assert (f".sign == '{sign}'" in claimed.get(f"{number}.{parameter}", "")) is strong


def test_places_by_ranks_that_are_alike_decide_nothing() -> None:
    def open_(values: list[list[float]]) -> str:
        rows = [
            (str(cell), name, value) for cell, row in enumerate(values) for name, value in zip("abc", row, strict=True)
        ]
        table = pl.DataFrame(rows, schema=["condition", "algorithm", "value"], orient="row")
        table = table.with_columns(response=pl.lit("file"))
        return mixed._alike(ranks(table, condition="condition", algorithm="algorithm"), "what they get")

    assert not open_([[1.0, 2.0, 3.0]] * 8)
    assert "cannot be told apart" in open_([[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 3.0, 1.0]])


def test_medians_have_an_interval_by_the_sign_test() -> None:
    found = of_ratios("loss", np.array([1.2, 0.9, 1.4, 1.1, 1.3, 1.6]))
    # Six of six on one side happen in 2 of 64 cases.
    assert (found["loss.low"], found["loss.high"], found["loss.ratio"]) == (0.9, 1.6, pytest.approx(1.25))
    few = of_ratios("loss", np.array([1.2, 1.4, 1.1, 1.3, 1.6]))
    assert (few["loss.low"], few["loss.high"]) == (0.0, np.inf)


@pytest.mark.parametrize(
    ("ratios", "open_claims"),
    [
        ([1.2, 1.3, 1.4, 1.1, 1.3, 1.6], ["alike"]),
        ([1.2, 1.3, 1.4, 1.15, 1.3, 1.6], []),
        # An effect that may be there and is small is not contradicted.
        ([0.95, 1.0, 1.01, 1.02, 1.03, 1.05], ["side"]),
        ([0.95, 0.96, 0.97, 0.98, 0.98, 0.99], []),
        ([0.7, 0.8, 0.8, 0.8, 0.8, 0.95], ["alike"]),
        ([0.7, 1.0, 1.0, 1.0, 1.0, 1.3], ["side", "alike"]),
        ([1.2, 1.4, 1.1], ["side", "alike"]),
        ([], ["side", "alike"]),
    ],
)
def test_what_an_interval_leaves_open(ratios: list[float], open_claims: list[str]) -> None:
    found = of_ratios("loss", np.array(ratios))
    assert [claim for claim in ("side", "alike") if found[f"loss.open_{claim}"]] == open_claims


def test_runs_that_are_copies_of_each_other_are_one() -> None:
    """Where slow start ends below both thresholds, two settings are the same run."""
    rows = [
        {
            "delay": "20 ms",
            "arrives_s": arrives,
            "initial_ssthresh": threshold,
            "control": control,
            "goodput_bps": goodput,
        }
        for arrives, fast, same in ((20, 3.0, True), (23, 4.0, False))
        for threshold in ("100 packets", "unlimited")
        for control, goodput in (("reno", 2.0), ("fast", fast if same or threshold == "unlimited" else 8.0))
    ]
    assert sorted(one_link._over(pl.DataFrame(rows), "goodput_bps", "fast", ["reno"])) == [1.5, 2.0, 4.0]


def _judged(name: str, observed: dict[str, Any]) -> bool | None:
    """The verdict on a claim of the table with what was observed."""
    table = ClaimsTable.read(Path(sensitivity.__file__).parents[1] / "claims.toml")
    (text,) = (each for each in table.statements if each.id == name)
    return text.judged(observed).holds


@pytest.mark.parametrize(("low", "high", "holds"), [(0.5, 0.9, True), (0.8, 1.3, None), (2.1, 4.1, None)])
def test_what_can_happen_is_not_contradicted_where_it_does_not(low: float, high: float, *, holds: bool | None) -> None:
    found = {"ratio": (low + high) / 2, "low": low, "high": high, "conditions": 12}
    for claim, place in (("bic-below-standard", "bic.extreme"), ("htcp-below-others", "htcp.others")):
        observed = {f"increase.{place}.{name}": value for name, value in found.items()}
        assert _judged(f"increase.{claim}", observed) is holds


@pytest.mark.parametrize(("psi", "holds"), [(0.0, True), (0.05, None)])
def test_no_effect_is_the_documents_own_measure(psi: float, *, holds: bool | None) -> None:
    """Where levels are ours, what they move contradicts nothing; that losses could be moved by more is no effect."""
    found = {"psi": psi, "open": "Ours." if psi else "", "where": "loss", "responses": 18, "largest": 2.0, "surely": ""}
    observed = {f"sensitivity.without-effect.X8.{name}": value for name, value in found.items()}
    assert _judged("sensitivity.without-effect.X8", observed) is holds


def test_an_effect_that_the_joint_model_alone_sees_has_no_verdict() -> None:
    """It sees the crowd before there is one, by products of three parameters; Lenth's test hardly does."""
    effects = sensitivity.Sensitivity(stored(heavier("sensitivity")[0]), {}).effects
    crowd = effects.filter(pl.col("factor") == "crowd", pl.col("row") == "before").to_dicts()
    by_model = [own for own in crowd if own["p_joint"] < document.STRONG]
    by_both = [own for own in crowd if sensitivity._seen(own)]
    assert len(by_model) > len(crowd) / 3
    assert len(by_both) < len(crowd) / 5
    assert all(sensitivity._unseen(own) for own in by_model if own not in by_both)


def test_the_documents_seven_controls() -> None:
    """Its slides on what sets controls apart have no FAST-AT, beside which FAST would not be alone."""
    one = homogeneous.Homogeneous(stored(heavier("1b")[0]))
    assert set(one.of_seven["algorithm"]) == set(one.table["algorithm"]) - {"fast-at"}
    assert {tree.apart for tree in one.dendrograms} <= {None, *one.of_seven["algorithm"]}
    assert "fast-at" not in set(one.components.scores["algorithm"])
    assert one.components.responses == tuple(homogeneous.THROUGHPUTS)


def test_origins_and_places() -> None:
    """What the document does not say is not its claim, and what it says has the slide that says so."""
    table = ClaimsTable.read(Path(sensitivity.__file__).parents[1] / "claims.toml")
    known = {each.id: each for each in table.statements}
    ours = {"window.gain-grows", "2b.only-uncongested", "1b.bic.recovers"}
    assert {known[name].origin for name in ours} == {"ours"}
    assert known["oscillation.boundary"].origin == "theory"
    # With a high initial threshold it has no gain.
    assert not {"2a.gain.service-pack", "2c.gain.movie"} & known.keys()
    places = {
        "1b.conditions-separate": "3 primary principal components plots", "2a.movies-first": "5 biplots",
        "2b.movies-first": "6 colored bar graphs", "2b.compound-ranks-high": "7 rank analyses",
    }  # fmt: skip
    assert {name: known[name].source.partition(", slides, ")[2] for name in places} == places


def test_what_a_window_keeps_is_told_at_losses_only() -> None:
    """A delay makes it smaller, too; a loss sets the threshold; the first of them ends slow start."""
    window = np.array([8.0, 16, 4, 6, 8, 10, 7, 7, 8, 10, 5, 5.5, 6, 7, 8, 9, 10])
    threshold = np.array([np.inf, np.inf, *[8.0] * 8, *[5.0] * 7])
    assert one_link.kept_after_losses(window, threshold, 2) == 0.5
    # A threshold that goes with a window that shrinks is no loss.
    shrinks = np.array([10.0, 9.9, 9.8, 9.7, 9.6, 9.5, 9.4, 9.3])
    assert math.isnan(one_link.kept_after_losses(shrinks, shrinks, 2))
    assert math.isnan(one_link.kept_after_losses(window[:6], threshold[:6], 2))


def test_what_smaller_runs_make_of_effects() -> None:
    found = sensitivity.Sensitivity(stored(heavier("sensitivity")[0]), {})
    assert found.beside_smaller is None
    turned = sensitivity.Sensitivity(found.found, {})
    of_speed = pl.col("factor") == "network_speed"
    other = pl.when(of_speed).then(pl.col("sign").replace({"+": "−", "−": "+"})).otherwise("sign")
    turned.__dict__["effects"] = found.effects.with_columns(sign=other)
    same, differ = (replace(found, smaller=each).beside_smaller for each in (found, turned))
    assert same is not None
    assert differ is not None
    assert sum(same["effects"].to_list()) > 100
    assert same["same_sign"].equals(same["effects"])
    assert same["seen"].equals(same["effects"])
    speed = found.effects.filter(of_speed, pl.col("row") == "congestion", pl.col("p_joint") < document.STRONG)
    assert sum(same["seen"].to_list()) - sum(differ["seen"].to_list()) == speed.height
