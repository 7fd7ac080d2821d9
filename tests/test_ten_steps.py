"""The ten steps: the handbook's three examples, least squares, and properties."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import halfnorm
from scipy.stats import t as student

from tightlink.analysis.effects.ten_steps import Steps, steps
from tightlink.analysis.measurements import MeasurementError

HANDBOOK: Final = Path(__file__).parent / "data" / "handbook"
SPRINGS: Final = pl.read_csv(HANDBOOK / "springs.csv", comment_prefix="#")
EDDY: Final = pl.read_csv(HANDBOOK / "eddy_current.csv", comment_prefix="#")
LIGHT: Final = pl.read_csv(HANDBOOK / "sonoluminescence.csv", comment_prefix="#")
LIGHTS: Final = [f"X{place}" for place in range(1, 8)]


def _springs() -> Steps:
    return steps(SPRINGS, "acceptable", ["oven", "carbon", "quench"])


def _light() -> Steps:
    return steps(LIGHT, "intensity", LIGHTS)


def test_the_handbook_s_table_of_the_eddy_current_probe() -> None:
    # 5.6.1.5: effects, and the residual standard deviation of the mean and all terms so far.
    expected = [
        ("mean", 2.65875, 1.74106), ("turns", 3.10250, 0.57272), ("distance", -0.86750, 0.30429),
        ("distance × gauge", 0.29750, 0.26737), ("turns × gauge", 0.24750, 0.23341), ("gauge", 0.21250, 0.19121),
        ("turns × distance × gauge", 0.14250, 0.18031), ("turns × distance", 0.12750, 0.0),
    ]  # fmt: skip
    found = steps(EDDY, "impedance", ["turns", "distance", "gauge"])
    assert found.mean == pytest.approx(2.65875)
    assert found.effects["term"].to_list() == [term for term, _, _ in expected[1:]]
    assert found.effects["effect"].to_list() == pytest.approx([effect for _, effect, _ in expected[1:]])
    assert found.residual_sd["term"].to_list() == [term for term, _, _ in expected]
    assert found.residual_sd["residual_sd"].to_list() == pytest.approx([left for _, _, left in expected], abs=5e-6)
    assert set(found.effects["aliases"]) == {""}


def test_the_handbook_s_defective_springs() -> None:
    found = _springs()
    # 5.5.9.10: the ranked list; equal effects, single factors first.
    assert found.effects.select("term", "effect").rows() == [
        ("oven", 23.0), ("oven × quench", 10.0), ("carbon", -5.0), ("quench", 1.5), ("oven × carbon", 1.5),
        ("oven × carbon × quench", 0.5), ("carbon × quench", 0.0),
    ]  # fmt: skip
    # 5.5.9.9: 13.7 with the mean alone, 6.6 with the oven, 1.54 with four terms.
    left = dict(found.residual_sd.select("term", "residual_sd").rows())
    assert [round(left[term], 1) for term in ("mean", "oven", "quench")] == [13.7, 6.6, 1.3]
    assert round(left["carbon"], 2) == 1.54
    # The contour plot is over oven and quench, as their interaction comes before carbon.
    assert found.surface is not None
    assert (found.surface.across, found.surface.up) == ("oven", "quench")
    assert (found.surface.mean, found.surface.slopes, found.surface.twist) == (71.25, (11.5, 0.75), 5.0)
    assert found.surface.highest == (1, 1)
    assert found.ordered["value"].to_list() == [52, 59, 61, 67, 75, 79, 87, 90]
    assert found.ordered.row(-1) == (8, 90.0, "+", "−", "+")


def test_the_handbook_s_blocks() -> None:
    found = _springs().blocks
    assert found.filter(factor="oven").select("block", "effect").rows() == [
        ("carbon −, quench −", 12.0), ("carbon −, quench +", 31.0),
        ("carbon +, quench −", 14.0), ("carbon +, quench +", 35.0),
    ]  # fmt: skip
    # Carbon lowers it in every block.
    assert found.filter(factor="carbon")["effect"].to_list() == [-6.0, -7.0, -4.0, -3.0]


def test_the_handbook_s_fraction() -> None:
    found = _light()
    # 5.6.2: which effects are called important, with what they are confounded with.
    names = [
        ("X2", ""), ("X7", ""), ("X1 × X3", "X2 × X7, X4 × X6"), ("X1", ""), ("X3", ""),
        ("X1 × X7", "X2 × X3, X4 × X5"), ("X1 × X2", "X3 × X7, X5 × X6"),
    ]  # fmt: skip
    assert found.effects.select("term", "aliases").rows()[:7] == names
    assert found.half_normal.standing_out == [name for name, _ in names]
    assert found.effects["order"].to_list().count(3) == 1
    assert found.effects.height == 15
    left = found.residual_sd["residual_sd"].to_list()
    assert (round(left[0]), round(left[7])) == (95, 17)
    assert left[-1] == 0
    # As many factors as leave both levels of the seventh in each block.
    of_last = found.blocks.filter(factor="X7")
    assert of_last.height == 8
    assert of_last["effect"].mean() == pytest.approx(found.means["effect"][-1])


@settings(deadline=None, max_examples=40)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=16, max_size=16, unique=True))
def test_blocks_share_out_the_main_effect(values: list[float]) -> None:
    frame = LIGHT.with_columns(intensity=pl.Series(values))
    found = steps(frame, "intensity", LIGHTS)
    mean = found.blocks.group_by("factor", maintain_order=True).agg(pl.col("effect").mean())
    assert mean["effect"].to_list() == pytest.approx(found.means["effect"].to_list(), abs=1e-6)


def _tables() -> st.SearchStrategy[tuple[list[int], list[float]]]:
    full = list(range(16))
    kept = st.lists(st.sampled_from(full), min_size=5, max_size=16, unique=True)
    values = st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=16, max_size=16)
    return st.tuples(kept, values)


@settings(deadline=None)
@given(table=_tables())
def test_residuals_are_those_of_least_squares(table: tuple[list[int], list[float]]) -> None:
    # Of any part of a design, also where effects overlap.
    rows = np.array(list(itertools.product((-1, 1), repeat=4)))[table[0]]
    values = np.array(table[1])[: len(rows)]
    names = [f"f{place}" for place in range(4)]
    varied = [name for place, name in enumerate(names) if len({*rows[:, place]}) == 2]
    if not varied or not np.ptp(values):
        return
    frame = pl.DataFrame(rows, schema=names, orient="row").with_columns(y=values)
    found = steps(frame, "y", varied)
    columns = [np.ones(len(rows))]
    for term, terms, left in found.residual_sd.rows():
        if term != "mean":
            columns.append(np.prod([frame[name].to_numpy() for name in term.split(" × ")], axis=0))
        matrix = np.column_stack(columns)
        assert np.linalg.matrix_rank(matrix) == terms == len(columns)
        rest = values - matrix @ np.linalg.lstsq(matrix, values, rcond=None)[0]
        freedom = len(values) - terms
        expected = math.sqrt(rest @ rest / freedom) if freedom else 0.0
        assert left == pytest.approx(expected, abs=1e-6)
    # Every set of runs is explained by its own terms, or has more runs than terms.
    assert found.effects["effect"].abs().round(6).is_sorted(descending=True)


def test_half_normal_medians() -> None:
    points = _light().half_normal.points
    # Each is the median of the i-th of 15 ordered half-normal values: as many draws lie below as above.
    draws = np.sort(np.abs(np.random.default_rng(1).normal(size=(20_000, 15))), axis=1)
    below = (draws < points["quantile"].to_numpy()).mean(axis=0)
    assert below == pytest.approx(np.full(15, 0.5), abs=0.015)
    assert points["quantile"].to_list()[7] == pytest.approx(halfnorm.ppf(0.5))


def test_lenth_s_margin() -> None:
    # By hand for the springs: 1.5 · median(0, 0.5, 1.5, 1.5, 5, 10, 23) = 2.25; below 5.625 the median is 1.5.
    found = _springs().half_normal
    assert found.error == pytest.approx(1.5 * 1.5)
    # Student's t with 7/3 degrees of freedom at 0.975 is 3.764 (Lenth, 1989, table 1).
    assert found.margin == pytest.approx(3.764 * 2.25, rel=1e-3)
    assert found.margin_of_all == pytest.approx(9.008 * 2.25, rel=1e-3)
    assert found.standing_out == ["oven", "oven × quench"]


def test_effects_are_held_against_replications() -> None:
    random = np.random.default_rng(8)
    frame = pl.DataFrame(list(itertools.product((0, 1), repeat=2)) * 6, schema=["a", "b"], orient="row")
    frame = frame.with_columns(y=3 * pl.col("a") + pl.Series(random.normal(size=24)))
    found = steps(frame, "y", ["a", "b"]).half_normal
    assert (found.test, found.freedom) == ("replications", 20)
    assert found.standing_out[0] == "a"
    # The margin is half the confidence interval of the difference in a model of all effects.
    matrix = np.array([[1, x, y, x * y] for x, y in (2 * frame.select("a", "b").to_numpy() - 1).tolist()])
    rest = frame["y"].to_numpy() - matrix @ np.linalg.lstsq(matrix, frame["y"].to_numpy(), rcond=None)[0]
    error = 2 * math.sqrt(rest @ rest / 20 * np.linalg.inv(matrix.T @ matrix)[1, 1])
    assert found.error == pytest.approx(error)
    assert found.margin == pytest.approx(student.ppf(0.975, 20) * error)
    # Copies are no replications.
    copies = pl.concat([frame[:4]] * 3)
    assert steps(copies, "y", ["a", "b"]).half_normal.test == "Lenth"
    assert steps(pl.concat([SPRINGS] * 2), "acceptable", ["oven", "carbon", "quench"]).half_normal.test == "Lenth"


def test_noise_seldom_stands_out() -> None:
    random = np.random.default_rng(5)
    frame = pl.DataFrame(list(itertools.product((0, 1), repeat=4)), schema=list("abcd"), orient="row")
    found = [
        steps(frame.with_columns(y=random.normal(size=16)), "y", list("abcd")).half_normal.points["stands_out"].mean()
        for _ in range(60)
    ]
    # Lenth's margin is that of 5 %; his estimate makes it a little less in designs of 16 runs.
    assert 0.02 < np.mean([float(str(share)) for share in found]) < 0.08


def test_one_factor_among_none() -> None:
    frame = pl.DataFrame(list(itertools.product((0, 1), repeat=3)), schema=list("abc"), orient="row")
    found = steps(frame.with_columns(y=0.1 + 0.2 * pl.col("b")), "y", list("abc"))
    assert found.half_normal.standing_out == ["b"]
    assert found.residual_sd["residual_sd"].to_list()[1:] == pytest.approx([0] * 7, abs=1e-12)


def test_replications_and_lost_runs() -> None:
    twice = pl.concat([SPRINGS, SPRINGS.with_columns(pl.col("acceptable") + 2)])
    found = steps(twice, "acceptable", ["oven", "carbon", "quench"])
    assert found.effects.select("term", "effect").rows() == _springs().effects.select("term", "effect").rows()
    # What replications differ by is never explained.
    assert found.residual_sd["residual_sd"][-1] == pytest.approx(math.sqrt(16 / 8))
    lost = SPRINGS.with_columns(acceptable=pl.when(pl.col("acceptable") > 52).then("acceptable"))
    found = steps(lost, "acceptable", ["oven", "carbon", "quench"])
    assert found.ordered.height == 7
    assert not found.design.orthogonal
    assert found.surface is not None
    # Through the means at the corners, whatever is missing.
    assert found.surface.at(-1, 1) == pytest.approx(59)


def test_a_corner_without_runs() -> None:
    frame = pl.DataFrame({"a": [0, 0, 1, 1, 0], "b": [0, 0, 1, 1, 1], "y": [1.0, 2.0, 3.0, 4.0, 5.0]})
    assert steps(frame, "y", ["a", "b"]).surface is None
    assert steps(frame, "y", ["a"]).surface is None


@pytest.mark.parametrize(
    ("table", "factors", "message"),
    [
        ({"a": [0, 1, 0], "y": [1.0, 2.0, 3.0]}, ["a"], "y: expected at least 4 runs with it, and there are 3"),
        ({"a": [0, 1] * 2, "y": [0.5] * 4}, ["a"], "y: expected a response that varies, and it is 0.5 in every run"),
        ({"a": [0, 1] * 2, "y": [1.0] * 4}, ["a", "y"], "y: expected a response that is not a factor"),
        (
            {"a": [0, 0, 0, 0, 1], "y": [1.0, 2.0, 3.0, 4.0, None]},
            ["a"],
            "a: expected two levels, and there is one: 0",
        ),
    ],
)
def test_wrong_tables(table: dict[str, Any], factors: list[str], message: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        steps(pl.DataFrame(table), "y", factors)
    assert str(caught.value) == message
