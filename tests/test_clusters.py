"""Clusters of algorithms: average linkage by hand, SciPy's, the document's formulas."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.responses.clusters import clusters, dendrogram
from tightlink.analysis.responses.compared import compared, labels

#: Distances of five bacteria in 5S ribosomal RNA, the usual worked example of average linkage (UPGMA).
BACTERIA = np.array([
    [0, 17, 21, 31, 23],
    [17, 0, 30, 34, 21],
    [21, 30, 0, 28, 39],
    [31, 34, 28, 0, 43],
    [23, 21, 39, 43, 0],
], dtype=float)  # fmt: skip


def test_average_linkage_by_hand() -> None:
    found = dendrogram(["a", "b", "c", "d", "e"], BACTERIA)
    # (a, b) at 17; e joins at (23 + 21) / 2 = 22; (c, d) at 28; all at (21 + 31 + 30 + 34 + 39 + 43) / 6 = 33.
    assert [(set(join.members), join.height) for join in found.joins] == [
        ({"a", "b"}, 17), ({"a", "b", "e"}, 22), ({"c", "d"}, 28), ({"a", "b", "c", "d", "e"}, 33),
    ]  # fmt: skip
    # 70 % of 33 is 23.1: (c, d) is not coloured.
    assert found.cut == pytest.approx(23.1)
    assert [set(group) for group in found.clusters] == [{"a", "b", "e"}]
    assert [join.cluster for join in found.joins] == [1, 1, None, None]
    assert found.apart is None


def test_joins_stand_over_what_they_join() -> None:
    found = dendrogram(["a", "b", "c", "d", "e"], BACTERIA)
    places = {name: place for place, name in enumerate(found.order)}
    middles = {frozenset([name]): float(place) for name, place in places.items()}
    for join in found.joins:
        left, right = (
            next(part for part, middle in middles.items() if middle == leg) for leg in (join.left, join.right)
        )
        assert (left, right) == tuple(map(frozenset, join.joined))
        assert join.left_height <= join.height
        assert join.right_height <= join.height
        middles = {part: middle for part, middle in middles.items() if part not in (left, right)}
        middles[left | right] = (join.left + join.right) / 2
    assert list(middles) == [frozenset("abcde")]


def test_distances_are_standardised() -> None:
    runs = pl.DataFrame({
        "load": ["x"] * 3, "tcp": ["a", "b", "c"], "loss": [0.1, 0.2, 0.6], "rate_bps": [1e6, 5e6, 3e6],
    })  # fmt: skip
    (found,) = clusters(runs, condition="load", algorithm="tcp")
    sigma = np.std([0.1, 0.2, 0.6], ddof=1), np.std([1e6, 5e6, 3e6], ddof=1)
    expected = np.hypot(0.1 / sigma[0], 4e6 / sigma[1])
    assert found.distances.filter(first="a", second="b")["distance"].item() == pytest.approx(expected)
    assert found.responses == 2


def _runs() -> pl.DataFrame:
    """Heavy load sets FAST apart, light load hardly tells anybody from anybody, no load nobody."""
    away = {"none": 0.0, "light": 0.01, "heavy": 1.0}
    rows = [
        (
            load,
            tcp,
            seed,
            1.0 + size * (0.1 * place + 5 * (tcp == "fast")),
            2.0 + size * (0.05 * (place % 2) + 3 * (tcp == "fast")),
        )
        for (load, size), (place, tcp), seed in product(
            away.items(), enumerate(["bic", "fast", "htcp", "reno"]), (1, 2)
        )
    ]
    return pl.DataFrame(rows, schema=["load", "tcp", "seed", "loss", "timeouts"], orient="row")


def test_a_dendrogram_for_each_condition() -> None:
    found = {each.condition: each for each in clusters(_runs(), condition="load", algorithm="tcp")}
    assert list(found) == ["none", "light", "heavy"]
    assert found["none"].identical
    assert found["none"].clusters == ()
    assert found["heavy"].apart == "fast"
    # By its own deviations, light load looks like heavy load; by those of all conditions, it is flat.
    assert found["light"].height == pytest.approx(found["heavy"].height)
    over_all = {each.condition: each for each in clusters(_runs(), condition="load", algorithm="tcp", spread="all")}
    assert over_all["light"].height == pytest.approx(over_all["heavy"].height / 100)


def test_long_tables_give_the_same_as_wide_ones() -> None:
    wide = _runs()
    long = wide.unpivot(["loss", "timeouts"], index=["load", "tcp", "seed"], variable_name="response")
    for one, other in zip(*(clusters(runs, condition="load", algorithm="tcp") for runs in (wide, long)), strict=True):
        assert one.distances.equals(other.distances)
        assert one.joins == other.joins


def test_responses_that_some_algorithm_lacks_are_left_out() -> None:
    runs = pl.DataFrame({"load": ["x"] * 3, "tcp": ["a", "b", "c"], "loss": [0.1, 0.2, 0.6], "rtt_s": [1.0, None, 3.0]})
    (found,) = clusters(runs, condition="load", algorithm="tcp")
    assert found.responses == 1
    with pytest.raises(MeasurementError, match="x: no response has a value for every algorithm"):
        clusters(runs, condition="load", algorithm="tcp", responses=["rtt_s"])


def test_rounding_is_no_difference() -> None:
    runs = pl.DataFrame({"load": ["x"] * 3, "tcp": ["a", "b", "b"], "loss": [0.3, 0.1 + 0.2, 0.3]})
    (found,) = clusters(runs, condition="load", algorithm="tcp")
    assert found.identical


def test_wrong_tables() -> None:
    with pytest.raises(MeasurementError, match=r"no column lod: .*; did you mean load"):
        clusters(_runs(), condition="lod", algorithm="tcp")
    with pytest.raises(MeasurementError, match="none: only bic was run"):
        clusters(_runs().filter(tcp="bic"), condition="load", algorithm="tcp")
    with pytest.raises(MeasurementError, match="the table has none"):
        clusters(_runs().clear(), condition="load", algorithm="tcp")
    with pytest.raises(MeasurementError, match="too few responses: none"):
        clusters(_runs().select("load", "tcp"), condition="load", algorithm="tcp")


def test_conditions_of_several_columns_and_the_documents_numbers() -> None:
    runs = _runs().with_columns(pl.lit(16).alias("traffic.web.flows"))
    assert list(compared(runs, ["load", "traffic.web.flows"], "tcp")) == [
        "none, flows 16",
        "light, flows 16",
        "heavy, flows 16",
    ]
    assert labels(["bic", "compound", "fast", "highspeed", "htcp", "scalable", "reno", "fast-at"]) == dict(
        zip(["bic", "compound", "fast", "highspeed", "htcp", "scalable", "reno", "fast-at"], "12345678", strict=True)
    )
    assert labels(["bic", "bbr"]) == {"bic": "bic", "bbr": "bbr"}


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 9), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_linkage_is_the_mean_over_all_pairs_across(count: int, responses: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    names = [f"c{place}" for place in range(count)]
    values = random.normal(size=(count, responses))
    runs = pl.DataFrame({"load": ["x"] * count, "tcp": names}).hstack(
        pl.DataFrame(values, schema=[f"y{place}" for place in range(responses)])
    )
    (found,) = clusters(runs, condition="load", algorithm="tcp")
    scaled = values / values.std(axis=0, ddof=1)
    apart = dict(
        zip(product(names, names), np.linalg.norm(scaled[:, None] - scaled[None], axis=2).ravel(), strict=True)
    )
    parts = [frozenset([name]) for name in names]
    for join in found.joins:
        ends = [part for part in parts if part <= set(join.members)]
        assert len(ends) == 2
        across = [apart[pair] for pair in product(ends[0], ends[1])]
        assert join.height == pytest.approx(np.mean(across))
        # Nothing nearer was left.
        for one, other in product(parts, parts):
            if one != other:
                assert np.mean([apart[pair] for pair in product(one, other)]) >= join.height - 1e-9
        parts = [part for part in parts if part not in ends] + [ends[0] | ends[1]]
        assert (join.cluster is not None) == (join.height < found.cut)
