"""Regions of a router: onsets between probes, and the answer right on data of every law."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlink.analysis.estimates import Bracket
from tightlink.analysis.limits import governing, piecewise, regimes
from tightlink.analysis.measurements import MeasurementError

#: The grid of Paredes-Farrera (2006): times between packets in ms, and lengths in bytes.
TIMES_MS = [*(step / 10 for step in range(1, 10)), *range(1, 10), *range(10, 100, 10), 100]
LENGTHS = (65, 90, 130, 1200, 1500)
RATES = [1000 / time for time in TIMES_MS]


def router(  # noqa: PLR0913
    per_packet: float, per_byte: float, *, noise: float = 0.005, rates: list[float] = RATES,
    lengths: tuple[int, ...] = LENGTHS, seed: int = 0, reads: float = 0.75, falls: bool = True,
) -> pl.DataFrame:  # fmt: skip
    """Loads of a router whose meter reads up to a level, and falls where its process starves."""
    errors = noise * np.random.default_rng(seed).standard_normal(len(rates) * len(lengths))
    rows: list[tuple[int, float, float, float]] = []
    for length in lengths:
        for rate in rates:
            achieved = min(rate, 100e6 / 8 / (length + 24))
            busy = achieved * (per_packet + per_byte * length)
            load = 0.02 + min(busy, reads) - (0.25 * max(busy - 1.2, 0.0) if falls else 0)
            bps = achieved * length * 8
            value = float(np.clip(load + errors[len(rows)], 0, 1))
            rows.append((length, achieved, value, max(0.0, 1 - 2e6 / bps)))
    return pl.DataFrame(rows, schema=["packet_bytes", "packets_per_s", "load", "loss"], orient="row")


@pytest.mark.parametrize("seed", range(3))
def test_a_router_governed_by_packets(seed: int) -> None:
    found = regimes.find(router(187e-6, 0, seed=seed), resamples=100, seed=seed)
    assert found.governs == "packets_per_s"
    # 0.75 / 187 µs is 4,011: between two probes, and no finer.
    assert [str(length.onset) for length in found.lengths] == ["between 3,333 and 5,000"] * 5
    assert found.onset is not None
    assert str(found.onset) == "between 3,333 and 5,000"
    assert found.explained.r2["packets_per_s"].value > 0.99 > found.explained.r2["throughput_bps"].high
    assert found.spreads["packets_per_s"].variation < 0.01 < found.spreads["throughput_bps"].variation


@pytest.mark.parametrize("seed", range(3))
def test_a_router_governed_by_bytes(seed: int) -> None:
    found = regimes.find(router(0, 1e-6, seed=seed), resamples=100, seed=seed)
    assert found.governs == "throughput_bps"
    assert found.spreads["throughput_bps"].variation < found.spreads["packets_per_s"].variation
    assert "the bit rate governs" in found.sentence()
    onset = found.onset
    assert onset is not None
    assert onset.low is not None
    assert onset.high is not None
    assert onset.low <= 0.75 * 8e6 <= onset.high


@pytest.mark.parametrize("seed", range(3))
def test_a_router_governed_by_both(seed: int) -> None:
    found = regimes.find(router(50e-6, 100e-9, seed=seed), resamples=100, seed=seed)
    assert found.governs is None
    assert found.decided
    assert "neither packet rate nor bit rate governs alone" in found.sentence()


@pytest.mark.parametrize(("per_packet", "per_byte"), [(187e-6, 0.0), (0.0, 1e-6), (50e-6, 100e-9)])
def test_costs_are_covered_about_as_often_as_intervals_say(per_packet: float, per_byte: float) -> None:
    """Of 60 tables, a 95 % interval misses more than 9 with a probability of 0.002."""
    missed = 0
    for seed in range(60):
        table = router(per_packet, per_byte, rates=[rate for rate in RATES if rate < 500], seed=1000 + seed)
        columns = (table[name].to_numpy().astype(float) for name in ("packet_bytes", "packets_per_s", "load"))
        found = governing.explain(*columns, resamples=200, seed=seed)
        missed += per_packet not in found.per_packet_s or per_byte not in found.per_byte_s
    # Two intervals for each table.
    assert missed <= 12


def test_a_cost_per_byte_that_does_not_matter() -> None:
    """187 µs and 5 ns a byte: 4 % more for the longest packets, as the document's onsets differ."""
    assert regimes.find(router(187e-6, 5e-9), resamples=100).governs == "packets_per_s"


def test_an_idle_router() -> None:
    found = regimes.find(router(5e-6, 0, noise=0.02), resamples=200)
    assert not found.decided
    assert found.governs is None
    assert found.sentence().startswith("no saturation seen up to 10,000 packets/s; what governs cannot be told")


def test_nothing_governs_a_load_that_does_not_vary() -> None:
    found = regimes.find(router(0, 0, noise=0), resamples=50)
    assert found.governs is None
    assert "neither packet rate nor bit rate governs alone" in found.sentence()


def test_no_saturation_and_still_an_answer() -> None:
    found = regimes.find(router(20e-6, 0), resamples=100)
    assert [length.onset for length in found.lengths] == [None] * 5
    assert found.spreads == {}
    assert found.sentence().startswith("no saturation seen up to 10,000 packets/s; the packet rate governs")
    assert all((length.points["region"] == "stable").all() for length in found.lengths)


def test_breaks_are_seldom_found_in_noise() -> None:
    """In fewer than 1 of 20 loads that have none."""
    rates = np.array(sorted(RATES))
    loads = 0.02 + 2e-5 * rates + 0.01 * np.random.default_rng(1).standard_normal((400, len(rates)))
    assert piecewise.best(rates, loads).shape.count("line") > 380


def test_regions_on_a_fine_grid() -> None:
    rates = [250.0 * step for step in range(1, 41)]
    found = regimes.find(router(187e-6, 0, rates=rates, noise=0.003, lengths=(65, 130)), resamples=100)
    for length in found.lengths:
        assert length.onset is not None
        assert length.onset.low is not None
        assert length.onset.high is not None
        assert length.onset.low <= 4011 <= length.onset.high <= length.onset.low + 750
        assert length.decline is not None
        assert length.decline.low is not None
        # The load leaves its level by 5 % where 0.25 · (f · 187 µs − 1.2) is 0.0385.
        assert length.decline.low <= 7240 <= (length.decline.high or 0)
        assert length.level is not None
        assert length.level.value == pytest.approx(0.77, abs=0.01)
        regions = length.points["region"].to_list()
        assert regions == sorted(regions, key=["stable", "unstable", "highly unstable"].index)
        assert length.sure > 0.95


def test_without_a_decline() -> None:
    rates = [250.0 * step for step in range(1, 41)]
    found = regimes.find(router(187e-6, 0, rates=rates, noise=0.003, lengths=(65, 130), falls=False), resamples=50)
    assert all(length.decline is None and length.shape == "flat" for length in found.lengths)


def test_loss_begins_between_two_probes() -> None:
    found = regimes.find(router(187e-6, 0), resamples=20)
    for length in found.lengths:
        onset = length.loss_onset_bps
        assert onset is not None
        assert onset.low is not None
        assert onset.high is not None
        assert onset.low <= 2e6 < onset.high
    none = router(187e-6, 0).drop("loss")
    assert regimes.find(none, resamples=20).lengths[0].loss_onset is None
    all_lost = router(187e-6, 0).with_columns(loss=pl.lit(0.5))
    assert regimes.find(all_lost, resamples=20).lengths[0].loss_onset == Bracket(None, 10.0)
    # Of two probes at the highest rate one lost nothing.
    top = router(187e-6, 0).filter(pl.col("packets_per_s") == pl.col("packets_per_s").max().over("packet_bytes"))
    again = pl.concat([router(187e-6, 0), top.with_columns(loss=pl.lit(0.0))])
    once = [length.loss_onset for length in found.lengths]
    assert [length.loss_onset for length in regimes.find(again, resamples=20).lengths] == once


def test_offered_rates_are_taken_where_they_are_given() -> None:
    table = router(187e-6, 0)
    apart = table.select("packet_bytes", "load", offered_packets_per_s="packets_per_s",
                         packets_per_s=pl.col("packets_per_s").clip(0, 2000))  # fmt: skip
    one, other = (regimes.find(frame, resamples=20).lengths[0].onset for frame in (table.drop("loss"), apart))
    assert one == other


def test_routers_are_told_apart() -> None:
    both = pl.concat(
        [router(187e-6, 0).with_columns(router=pl.lit("A")), router(0, 1e-6).with_columns(router=pl.lit("B"))]
    )
    found = regimes.each(both)
    assert {name: one.governs for name, one in found.items()} == {"A": "packets_per_s", "B": "throughput_bps"}
    assert list(regimes.each(router(187e-6, 0))) == [""]
    short = both.filter((pl.col("router") == "A") | (pl.col("packet_bytes") == 65))
    with pytest.raises(MeasurementError, match="router B: 1 packet length, 65 B: expected at least 2"):
        regimes.each(short)


def test_repeated_probes_are_one_probe() -> None:
    table = router(187e-6, 0)
    again = pl.concat([table, table.with_columns(pl.col("packets_per_s") * 1.001)])
    found = regimes.find(again, resamples=50)
    assert found.governs == "packets_per_s"
    onset = found.lengths[0].onset
    assert onset is not None
    assert onset.low == pytest.approx(3333.3, rel=0.01)
    assert onset.high == pytest.approx(5000, rel=0.01)


@given(unit=st.floats(0.1, 10))
@settings(max_examples=3, deadline=None)
def test_another_unit_of_rate_scales_the_onsets(unit: float) -> None:
    base, scaled = (
        regimes.find(table, resamples=20)
        for table in (router(187e-6, 0), router(187e-6, 0).with_columns(pl.col("packets_per_s") * unit))
    )
    assert base.governs == scaled.governs
    for one, other in zip(base.lengths, scaled.lengths, strict=True):
        assert one.onset is not None
        assert other.onset is not None
        assert other.onset.low == pytest.approx(unit * (one.onset.low or 0))


def test_relative_importance_shares_out_r2() -> None:
    table = router(50e-6, 100e-9, rates=[100.0, 200, 400, 800, 1600])
    columns = [table[name].to_numpy().astype(float) for name in ("packet_bytes", "packets_per_s", "load")]
    found = governing.explain(*columns, resamples=50)
    metrics = np.array([columns[1], columns[0] * columns[1] * 8, columns[0]])

    def r2(own: tuple[int, ...]) -> float:
        if not own:
            return 0.0
        design = np.column_stack([np.ones(len(columns[2])), *(metrics[place] / metrics[place].max() for place in own)])
        rest = columns[2] - design @ np.linalg.lstsq(design, columns[2])[0]
        return float(1 - (rest**2).sum() / ((columns[2] - columns[2].mean()) ** 2).sum())

    orders = list(permutations(range(3)))
    for place, metric in enumerate(governing.METRICS):
        gains = [r2(order[: order.index(place) + 1]) - r2(order[: order.index(place)]) for order in orders]
        assert found.importance[metric].value == pytest.approx(np.mean(gains), abs=1e-9)
        assert found.r2[metric].value == pytest.approx(r2((place,)), abs=1e-9)
    total = sum(found.importance[metric].value for metric in governing.METRICS)
    assert total == pytest.approx(r2((0, 1, 2)))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (router(187e-6, 0, lengths=(65,)), "1 packet length, 65 B: expected at least 2"),
        (router(187e-6, 0, rates=[100, 200, 300]), "too few points: 3 packet rates at 65 B: expected at least 6"),
        (router(187e-6, 0).drop("load"), "no column load among"),
        (router(187e-6, 0).with_columns(load=72.0), "did you mean load_percent"),
        (router(187e-6, 0).with_columns(packets_per_s=pl.col("packets_per_s") - 10), "expected rates above 0"),
    ],
)
def test_wrong_tables(table: pl.DataFrame, message: str) -> None:
    with pytest.raises(MeasurementError, match=message):
        regimes.find(table, resamples=5)
