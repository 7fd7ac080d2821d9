"""Effects, influence, interactions and designs: the handbook's examples, SciPy's test, and properties."""

from __future__ import annotations

import itertools
import math
from datetime import date
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_ind

from tightlink.analysis.effects.factors import levels
from tightlink.analysis.effects.influence import influence
from tightlink.analysis.effects.interactions import interactions
from tightlink.analysis.effects.main import held_against, main_effects
from tightlink.analysis.effects.ten_steps import steps
from tightlink.analysis.effects.two_level import two_level
from tightlink.analysis.measurements import MeasurementError
from tightlink.experiment.fractional import fraction

HANDBOOK: Final = Path(__file__).parent / "data" / "handbook"
EDDY: Final = pl.read_csv(HANDBOOK / "eddy_current.csv", comment_prefix="#")
LIGHT: Final = pl.read_csv(HANDBOOK / "sonoluminescence.csv", comment_prefix="#")
LIGHTS: Final = [f"X{place}" for place in range(1, 8)]


def _full(factors: int, replications: int = 1) -> pl.DataFrame:
    rows = list(itertools.product((-1, 1), repeat=factors)) * replications
    return pl.DataFrame(rows, schema=[f"f{place}" for place in range(factors)], orient="row")


def _effects(frame: pl.DataFrame, *keys: str) -> dict[Any, float]:
    return {row[:-1] if len(keys) > 1 else row[0]: row[-1] for row in frame.select(*keys, "effect").rows()}


def test_the_handbook_s_full_design() -> None:
    factors = ["turns", "distance", "gauge"]
    found = main_effects(EDDY, factors, ["impedance"])
    assert _effects(found, "factor") == pytest.approx({"turns": 3.1025, "distance": -0.8675, "gauge": 0.2125})
    assert found["mean_low"][0] == pytest.approx(2.65875 - 3.1025 / 2)
    assert found["relative_effect"][0] == pytest.approx(3.1025 / 2.65875)
    assert found["low"].to_list() == ["90", "0.38", "40"]
    pairs = interactions(EDDY, factors, ["impedance"])
    expected = {("turns", "distance"): 0.1275, ("turns", "gauge"): 0.2475, ("distance", "gauge"): 0.2975}
    assert _effects(pairs, "factor", "other") == pytest.approx(expected)
    assert set(pairs["aliases"]) == {""}
    assert two_level(EDDY, factors).sentence() == "8 runs of all 8 combinations: orthogonal"


def test_the_handbook_s_fractional_design() -> None:
    found = main_effects(LIGHT, LIGHTS, ["intensity"])
    # Twice the coefficients that the handbook gives for 5.6.2.
    coefficients = [33.10625, -39.30625, 31.90625, 1.85625, 3.74375, -4.51875, -39.05625]
    assert found["effect"].to_list() == pytest.approx([2 * value for value in coefficients])
    pairs = interactions(LIGHT, LIGHTS, ["intensity"])
    effects = _effects(pairs, "factor", "other")
    for others, coefficient, aliases in (
        (("X1", "X3"), 35.00625, "X2 × X7, X4 × X6"),
        (("X1", "X7"), -31.73125, "X2 × X3, X4 × X5"),
        (("X1", "X2"), -29.78125, "X3 × X7, X5 × X6"),
        (("X1", "X6"), -8.16875, "X2 × X5, X3 × X4"),
        (("X2", "X4"), 0.84375, "X3 × X5, X6 × X7"),
    ):
        assert effects[others] == pytest.approx(2 * coefficient)
        row = pairs.filter(factor=others[0], other=others[1])
        assert row["aliases"].item() == aliases
    assert two_level(LIGHT, LIGHTS).sentence() == "16 runs of 16 of 128 combinations: resolution 4, orthogonal"


def _replicated() -> pl.DataFrame:
    """Three factors of which all that they do together is as large as what each does: as rate, queue and delay are."""
    random = np.random.default_rng(3)
    frame = _full(3, 3)
    signs = frame.to_numpy()
    effects = 52 * signs[:, 0] + 15 * (
        signs[:, 1] - signs[:, 2] + signs[:, 0] * signs[:, 1] + signs[:, 1] * signs[:, 2]
    )
    return frame.with_columns(y=pl.Series(effects + 2.4 * random.normal(size=24)))


def test_p_is_that_of_a_model_of_all_effects() -> None:
    frame = _replicated()
    signs = frame.drop("y").to_numpy()
    products = [
        signs[:, list(each)].prod(axis=1) for count in range(4) for each in itertools.combinations(range(3), count)
    ]
    matrix = np.column_stack(products) / 2
    matrix[:, 0] = 1
    values = frame["y"].to_numpy()
    fitted = np.linalg.lstsq(matrix, values, rcond=None)[0]
    rest = values - matrix @ fitted
    errors = np.sqrt(np.diag(np.linalg.inv(matrix.T @ matrix)) * (rest @ rest) / 16)
    expected = 2 * student.sf(np.abs(fitted / errors), 16)
    singles = main_effects(frame, ["f0", "f1", "f2"], ["y"])
    pairs = interactions(frame, ["f0", "f1", "f2"], ["y"])
    for found, places in ((singles, (1, 2, 3)), (pairs, (4, 5, 6))):
        assert found["effect"].to_list() == pytest.approx(fitted[list(places)])
        assert found["error"].to_list() == pytest.approx(errors[list(places)])
        assert found["p"].to_list() == pytest.approx(expected[list(places)])
        assert set(found["test"]) == {"replications"}
        assert set(found["freedom"]) == {16.0}
    for row in (*singles.iter_rows(named=True), *pairs.iter_rows(named=True)):
        assert row["mark"] == ("**" if row["p"] < 0.01 else "*" if row["p"] < 0.05 else "")
        assert row["sign"] == ("+" if row["effect"] > 0 else "−")


def test_effects_beside_large_ones_are_found() -> None:
    # Each is 14 standard errors and more; by the runs at both levels, and by Lenth's method, all but one were missed.
    frame = _replicated()
    factors = ["f0", "f1", "f2"]
    assert main_effects(frame, factors, ["y"])["mark"].to_list() == ["**"] * 3
    pairs = interactions(frame, factors, ["y"])
    assert pairs["mark"].to_list() == ["**", "", "**"]
    # The ten steps say the same of each.
    found = steps(frame, "y", factors)
    both = [*main_effects(frame, factors, ["y"]).select("factor", "p").rows()]
    both += [(f"{one} × {other}", p) for one, other, p in pairs.select("factor", "other", "p").rows()]
    assert dict(found.effects.filter(pl.col("order") < 3).select("term", "p").rows()) == pytest.approx(dict(both))
    assert set(found.half_normal.standing_out) == {term for term, p in both if p < 0.05}
    # Without replications it is Lenth's, in both.
    once = frame.head(8)
    lone = main_effects(once, factors, ["y"])
    assert set(lone["test"]) == {"Lenth"}
    found = steps(once, "y", factors)
    singles = found.effects.filter(order=1).select("term", "p").rows()
    assert dict(singles) == pytest.approx(dict(lone.select("factor", "p").rows()))


def test_one_factor_alone_has_the_two_sample_test() -> None:
    random = np.random.default_rng(5)
    frame = pl.DataFrame({"f": [0] * 5 + [1] * 9, "y": random.normal(size=14)})
    halves = [frame.filter(f=level)["y"].to_numpy() for level in (0, 1)]
    assert main_effects(frame, ["f"], ["y"])["p"].item() == pytest.approx(ttest_ind(*halves).pvalue)


def test_what_effects_were_held_against() -> None:
    frame = _full(2, 2).with_columns(
        y=pl.Series([1.0, 2.0, 3.0, 5.0, 1.1, 2.1, 3.2, 5.1]), z=pl.col("f0") + pl.col("f1")
    )
    assert held_against(main_effects(frame, ["f0", "f1"], ["y", "z"])) == (
        "* p < 0.05, ** p < 0.01: Student's t against what replications differ by, 4 degrees of freedom (y); "
        "against the small ones of all effects (Lenth's), as no replications differ, 1 degree of freedom (z)"
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["20 packets", "5 packets"], ("5 packets", "20 packets")),
        (["1 Gbit/s", "900 Mbit/s"], ("900 Mbit/s", "1 Gbit/s")),
        ([20.0, 5.0], (5.0, 20.0)),
        ([True, False], (False, True)),
        (["sack", "reno"], ("sack", "reno")),
        (["20 ms", "5 packets"], ("20 ms", "5 packets")),
        (["", "5 packets"], ("", "5 packets")),
        ([date(2026, 1, 2), date(2026, 1, 1)], (date(2026, 1, 2), date(2026, 1, 1))),
    ],
)
def test_low_comes_before_high(values: list[Any], expected: tuple[Any, Any]) -> None:
    frame = pl.DataFrame({"factor": [*values, values[0]], "y": [0.0, 1.0, 0.0]})
    assert levels(frame, "factor") == expected
    high = 1.0 if expected[1] == values[1] else -1.0
    assert main_effects(frame, ["factor"], ["y"])["effect"].item() == high


def test_what_has_no_answer_is_nan() -> None:
    frame = pl.DataFrame(
        {
            "f": [1, 1, 2, 2],
            "same": [0.1, 0.1, 0.1, 0.1],
            "steps": [0.1, 0.1, 0.3, 0.3],
            "missing": [None, None, 1.0, 2.0],
            "few": [1.0, None, math.nan, 3.0],
            "mean_is_zero": [-0.1, -0.2, 0.3, 0.0],
        }
    )
    found = {row["response"]: row for row in main_effects(frame, ["f"], frame.columns[1:]).iter_rows(named=True)}
    assert math.isnan(found["same"]["p"])
    assert (found["same"]["effect"], found["same"]["sign"]) == (0.0, "")
    assert (found["steps"]["p"], found["steps"]["mark"]) == (0.0, "**")
    assert math.isnan(found["missing"]["effect"])
    assert found["missing"]["mark"] == found["missing"]["sign"] == ""
    assert found["few"]["effect"] == 2.0
    assert math.isnan(found["few"]["p"])
    assert math.isnan(found["mean_is_zero"]["relative_effect"])


def test_apart_by_a_column() -> None:
    one, two = (_full(2, 2).with_columns(y=pl.col("f0") * size, period=pl.lit(size)) for size in (1, 3))
    found = main_effects(pl.concat([one, two]), ["f0", "f1"], ["y"], by=["period"])
    assert found.columns[:3] == ["period", "factor", "response"]
    assert _effects(found, "period", "factor") == {
        ("1", "f0"): 2.0, ("1", "f1"): 0.0, ("3", "f0"): 6.0, ("3", "f1"): 0.0,
    }  # fmt: skip
    assert influence(found, by=["period"]).rows() == [
        ("1", "f0", 1.0, 1), ("1", "f1", 0.0, 1), ("3", "f0", 1.0, 1), ("3", "f1", 0.0, 1),
    ]  # fmt: skip
    assert influence(found).rows() == [("f0", 1.0, 2), ("f1", 0.0, 2)]
    # A factor that does not move within a part has no effect there, and no error.
    fixed = main_effects(pl.concat([one, two]), ["period"], ["y"], by=["period"])
    assert fixed["effect"].is_nan().all()
    pairs = interactions(pl.concat([one, two]), ["period", "f0"], ["y"], by=["period"])
    assert pairs["aliases"].to_list() == ["−f0", "f0"]


def test_influence_counts_the_limits() -> None:
    p = [0.0, 0.009999, 0.01, 0.049999, 0.05, math.nan, 1.0, 0.5]
    effects = pl.DataFrame({"factor": "speed", "response": [str(place) for place in range(8)], "p": p})
    assert influence(effects).rows() == [("speed", (2 + 0.5 * 2) / 8, 8)]


@settings(deadline=None)
@given(
    # Where all values are below 1e-140 no effects are computed.
    coefficients=st.lists(
        st.floats(-1e3, 1e3).filter(lambda value: value == 0 or abs(value) > 1e-100), min_size=7, max_size=7
    ),
    mean=st.floats(-1e3, 1e3),
    order=st.permutations(range(8)),
)
def test_effects_of_a_linear_law_are_found(coefficients: list[float], mean: float, order: list[int]) -> None:
    frame = _full(3)
    design = two_level(frame, frame.columns)
    terms = design.terms()
    y = mean + np.array(coefficients) @ np.array([term.signs for term in terms])
    shuffled = frame.with_columns(y=y)[order]
    singles = main_effects(shuffled, frame.columns, ["y"])["effect"].to_list()
    pairs = interactions(shuffled, frame.columns, ["y"])["effect"].to_list()
    assert [*singles, *pairs] == pytest.approx([2 * half for half in coefficients[:6]], abs=1e-9)


@settings(deadline=None, max_examples=50)
@given(factors=st.integers(3, 9), resolution=st.integers(3, 5), replications=st.integers(1, 2), data=st.data())
def test_designs_are_found_again(factors: int, resolution: int, replications: int, data: st.DataObject) -> None:
    made = fraction(factors, min(resolution, factors))
    names = [f"f{place}" for place in range(factors)]
    rows = data.draw(st.permutations(made.signs.tolist() * replications))
    design = two_level(pl.DataFrame(rows, schema=names, orient="row"), names)
    assert design.regular
    assert design.orthogonal
    assert design.fraction.resolution == made.resolution
    terms = design.terms()
    assert len(terms) == len(made.signs) - 1
    # Orthogonal to the mean and to one another.
    columns = np.column_stack([term.signs for term in terms])
    assert (columns.T @ columns == len(rows) * np.eye(len(terms))).all()
    assert not columns.sum(axis=0).any()
    # Aliases have the same column, or the opposite.
    for term in terms:
        for alias in term.aliases:
            sign = -1 if alias.startswith("−") else 1
            places = [names.index(name) for name in alias.removeprefix("−").split(" × ")]
            assert (design.column(places) * sign == term.signs).all()
    simple = [group for group in made.aliases(names) if len(group) > 1]
    assert sorted(sorted(group) for group in simple) == sorted(
        sorted([term.name, *(alias.removeprefix("−") for alias in term.aliases)]) for term in terms if term.aliases
    )


def test_the_sign_of_an_alias() -> None:
    # c = −a·b: the other half of the 2³ design.
    frame = pl.DataFrame({"a": [0, 1, 0, 1], "b": [0, 0, 1, 1], "c": [0, 1, 1, 0]})
    assert two_level(frame, ["a", "b", "c"]).aliases((2,)) == ("−a × b",)


def test_a_plackett_burman_design_is_orthogonal_but_mixed() -> None:
    row = [1, 1, -1, 1, 1, 1, -1, -1, -1, 1, -1]
    rows = [row[-place:] + row[:-place] for place in range(11)] + [[-1] * 11]
    frame = pl.DataFrame(rows, schema=[f"f{place}" for place in range(11)], orient="row")
    design = two_level(frame, frame.columns)
    assert (design.orthogonal, design.regular) == (True, False)
    assert design.sentence() == (
        "12 runs of 12 of 2048 combinations: orthogonal, but no fraction by products: these overlap with single factors"
    )
    # Eleven columns beside the mean are all that twelve runs have.
    assert [term.name for term in design.terms()] == frame.columns


def test_lost_runs_are_seen() -> None:
    terms = two_level(LIGHT[:13], LIGHTS).terms()
    columns = np.column_stack([np.ones(13), *(term.signs for term in terms)])
    assert np.linalg.matrix_rank(columns) == columns.shape[1] == 13
    frame = _full(2)[:3]
    design = two_level(frame, frame.columns)
    assert not design.orthogonal
    assert design.sentence().startswith(
        "3 runs of 3 of 4 combinations: not orthogonal, so that effects are those of least squares: f"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"f0": pl.lit(1)}, "f0: expected two levels, and there is one: 1"),
        ({"f0": pl.int_range(4)}, "f0: expected two levels, and there are 4"),
        ({"f0": pl.when(pl.col("f1") > 0).then("f0")}, "f0: expected a level in every run, and one has none"),
        ({"y": pl.lit("low")}, "y: expected a column of numbers"),
        ({"f": pl.col("f0"), "f0": None}, "no column f0: expected one of f1, y, f; did you mean f?"),
    ],
)
def test_wrong_tables(change: dict[str, Any], message: str) -> None:
    frame = (
        _full(2)
        .with_columns(y=pl.Series([1.0, 2.0, 3.0, 4.0]))
        .with_columns(**{k: v for k, v in change.items() if v is not None})
    )
    frame = frame.drop(name for name, value in change.items() if value is None)
    with pytest.raises(MeasurementError) as caught:
        main_effects(frame, ["f0", "f1"], ["y"])
    assert str(caught.value) == message


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_responses_of_which_squares_are_not_computed(scale: float) -> None:
    runs = pl.DataFrame({"a": [1, 2, 1, 2], "y": [scale, 2 * scale, scale, 3 * scale]})
    with pytest.raises(MeasurementError, match=r"y: the largest is 3e.300 in size: expected 1e-140 to 1e\+140"):
        main_effects(runs, ["a"], ["y"])


def test_nothing_asked_is_nothing_found() -> None:
    with pytest.raises(MeasurementError, match="too few responses"):
        main_effects(EDDY, ["turns"], [])
    assert interactions(EDDY, ["turns"], ["impedance"]).is_empty()
    assert influence(main_effects(EDDY, [], ["impedance"])).is_empty()


def test_large_designs_have_the_effects_that_can_be_looked_at() -> None:
    terms = two_level(_full(11), [f"f{place}" for place in range(11)]).terms()
    assert len(terms) == 11 + 11 * 10 // 2
    assert len(two_level(_full(10), [f"f{place}" for place in range(10)]).terms()) == 1023


def test_no_factor() -> None:
    with pytest.raises(MeasurementError, match="at least one factor"):
        two_level(EDDY, [])


def test_parts_have_names_that_results_have_not() -> None:
    runs = pl.DataFrame({"a": [0, 1] * 2, "b": [0, 0, 1, 1], "effect": ["x", "x", "y", "y"], "y": [1.0, 2.0, 3.0, 5.0]})
    for of in (main_effects, interactions):
        with pytest.raises(MeasurementError, match=r"^by effect: expected a column of another name"):
            of(runs, ["a", "b"], ["y"], by=["effect"])
    named = runs.rename({"effect": "part"})
    found = main_effects(named, ["a"], ["y"], by="part")
    assert found.select("part", "effect").rows() == [("x", 1.0), ("y", 2.0)]


def test_what_a_factor_left_out_moves_is_no_noise_of_replications() -> None:
    random = np.random.default_rng(3)
    levels_ = [(queue, control) for queue in (10, 40) for control in ("reno", "cubic", "bbr", "vegas")]
    rows = [
        {"run": f"{cell}/{number}", "replication": number, "queue": queue, "control": control}
        for cell, (queue, control) in enumerate(levels_)
        for number in range(3)
    ]
    frame = pl.DataFrame(rows)
    moved = frame["control"].replace_strict({"reno": 0.0, "cubic": 9.0, "bbr": -20.0, "vegas": 4.0})
    frame = frame.with_columns(y=moved + 0.1 * frame["queue"] + pl.Series(random.normal(size=frame.height)))
    found = main_effects(frame, ["queue"], ["y"]).row(0, named=True)
    # Pure error, within each of the eight combinations, less what a replication has in all of them.
    table = frame["y"].to_numpy().reshape(8, 3)
    rest = table - table.mean(axis=1, keepdims=True) - table.mean(axis=0) + table.mean()
    pooled = math.sqrt((rest**2).sum() / 14)
    assert (found["test"], found["freedom"]) == ("replications", 14)
    assert found["error"] == pytest.approx(pooled * math.sqrt(1 / 12 + 1 / 12))
    assert found["mark"] == "**"
    assert steps(frame, "y", ["queue"]).half_normal.error == pytest.approx(found["error"])
    # Of single runs the factor that is left out is all that there is, and it is said.
    once = main_effects(frame.filter(replication=0), ["queue"], ["y"])
    assert once["freedom"].to_list() == [6]
    assert "runs of equal levels differ by: factors that are left out" in held_against(once)


def test_factors_varied_one_at_a_time_do_not_lend_each_other_their_effects() -> None:
    # The mean of all runs at the high level of one less that of the others has a third of what the other factors do.
    cells = pl.DataFrame({"a": [0, 1, 0, 0], "b": [0, 0, 1, 0], "c": [0, 0, 0, 1], "y": [9.2, 4.6, 9.5, 9.6]})
    chance = pl.Series([-0.1, 0.1] * 4)
    frame = pl.concat([cells, cells]).sort("a", "b", "c").with_columns(pl.col("y") + chance)
    found = main_effects(frame, ["a", "b", "c"], ["y"])
    assert found["effect"].to_list() == pytest.approx([-4.6, 0.3, 0.4])
    # Each is the difference of two means of two runs.
    assert found["error"].to_list() == pytest.approx([math.sqrt(0.02)] * 3)
    assert found["mark"].to_list() == ["**", "", "*"]
    # Four combinations tell nothing more than three effects and the mean.
    assert interactions(frame, ["a", "b", "c"], ["y"])["effect"].is_nan().all()
    assert steps(frame, "y", ["a", "b", "c"]).effects["effect"].to_list() == pytest.approx([-4.6, 0.4, 0.3])


@settings(max_examples=30)
@given(st.sets(st.integers(0, 15), max_size=10))
@example({0, 1, 2, 4, 7, 9, 10, 12, 15})  # What is left is half a design, in which products are single factors.
def test_lost_runs_do_not_change_what_effects_are(lost: set[int]) -> None:
    frame = _full(3, 2).with_columns(y=5 + 4 * pl.col("f0") - 1.5 * pl.col("f1"), place=pl.int_range(16))
    kept = frame.filter(~pl.col("place").is_in(list(lost)))
    factors = ["f0", "f1", "f2"]
    model = kept.select(pl.lit(1), *factors).to_numpy()
    if all(kept[name].n_unique() == 2 for name in factors) and np.linalg.matrix_rank(model) == 4:
        found = main_effects(kept, factors, ["y"])
        assert found["effect"].to_list() == pytest.approx([8, -3, 0], abs=1e-9)
        products = interactions(kept, factors, ["y"]).filter(aliases="")["effect"].fill_nan(0).to_list()
        assert products == pytest.approx([0] * len(products), abs=1e-9)


def test_what_a_seed_does_to_all_combinations_is_no_noise() -> None:
    """Replications of a sweep have the same seeds in every combination: effects are differences between these."""
    random = np.random.default_rng(10)
    frame = _full(2, 5).with_columns(
        run=pl.Series([f"{cell}/{seed}" for seed in range(5) for cell in range(4)]),
        replication=pl.Series([seed for seed in range(5) for _ in range(4)]),
        y=pl.Series(np.repeat(random.normal(0, 30, 5), 4) + random.normal(size=20)) + pl.col("f0") * 1.5,
    )
    # As of a model with the seeds in it.
    blocks = [(frame["replication"] == seed).cast(pl.Float64) for seed in range(5)]
    products = [frame["f0"] / 2, frame["f1"] / 2, frame["f0"] * frame["f1"] / 2]
    model, values = np.column_stack([*blocks, *products]), frame["y"].to_numpy()
    fitted, squares, *_ = np.linalg.lstsq(model, values, rcond=None)
    found = main_effects(frame, ["f0", "f1"], ["y"])
    assert found["effect"].to_list() == pytest.approx(fitted[5:7])
    assert found["freedom"].to_list() == [12, 12]
    assert found["error"].to_list() == pytest.approx([math.sqrt(squares[0] / 12 * 4 / 20)] * 2)
    assert found["mark"].to_list() == ["**", ""]
    # Without names of runs of a sweep nothing says that replications have anything in common.
    assert main_effects(frame.drop("run"), ["f0", "f1"], ["y"])["mark"].to_list() == ["", ""]
