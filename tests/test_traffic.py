"""What traffic looks like, held against processes of which the answer is known."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tightlink as tl
from tightlink import cli, plots
from tightlink.analysis.traffic.arrivals import interarrivals
from tightlink.analysis.traffic.burstiness import burstiness, hurst
from tightlink.analysis.traffic.cross_correlation import lag
from tightlink.analysis.traffic.cycles import PERIODS, cycles
from tightlink.analysis.traffic.sizes import tail
from tightlink.analysis.traffic.spikes import spikes
from tightlink.console import print_table
from tightlink.units import format_time

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def fractional_noise(h: float, n: int, seed: int) -> Array:
    """Fractional Gaussian noise with exactly this Hurst parameter (Davies, Harte 1987)."""
    lags = np.arange(n + 1)
    covariance = 0.5 * (np.abs(lags + 1) ** (2 * h) - 2 * lags ** (2 * h) + np.abs(lags - 1) ** (2 * h))
    spectrum = np.fft.fft(np.concatenate([covariance, covariance[-2:0:-1]])).real
    assert spectrum.min() > -1e-9
    rng = np.random.default_rng(seed)
    size = 2 * n
    half = rng.normal(size=n - 1) + 1j * rng.normal(size=n - 1)
    amplitudes = np.concatenate([rng.normal(size=1) * 2**0.5, half, rng.normal(size=1) * 2**0.5, np.conj(half[::-1])])
    made: Array = np.fft.fft(np.sqrt(spectrum.clip(0) / (2 * size)) * amplitudes).real[:n]
    return made


@pytest.mark.parametrize("h", [0.3, 0.5, 0.7, 0.9])
def test_the_hurst_parameter_of_fractional_noise(h: float) -> None:
    found = [hurst(fractional_noise(h, 4096, seed)) for seed in range(40)]
    values = np.array([each.value for each in found])
    width = found[0].high - found[0].low
    assert values.mean() == pytest.approx(h, abs=0.02)
    # The interval is as wide as estimates scatter, and holds the truth about as often as it says.
    assert 2 * 1.96 * values.std() == pytest.approx(width, rel=0.35)
    assert sum(h in each for each in found) >= 34


@pytest.mark.parametrize("power", [0.65, 0.4])
def test_the_interval_of_the_hurst_parameter_holds_where_frequencies_are_few(power: float) -> None:
    rng, series = np.random.default_rng(15), 400
    held = sum(0.5 in hurst(rng.normal(size=256), power) for _ in range(series))
    # Within three standard errors.
    assert abs(held / series - 0.95) <= 3 * (0.95 * 0.05 / series) ** 0.5
    # One wave alone says nothing of a slope.
    wave = hurst(np.sin(2 * np.pi * np.arange(1024) / 256), power)
    assert (wave.low, wave.high) == (0.001, 1.5)


def test_the_variance_time_plot() -> None:
    noise = [fractional_noise(0.8, 1 << 14, seed) for seed in range(8)]
    found = [burstiness(1000 + 10 * each, 0.01) for each in noise]
    assert np.mean([each.hurst_variance for each in found]) == pytest.approx(0.8, abs=0.05)
    assert all(each.bursty for each in found)
    plain = burstiness(np.random.default_rng(3).poisson(50, 1 << 14).astype(float), 0.01)
    assert plain.hurst_variance == pytest.approx(0.5, abs=0.07)
    # Variance over mean of a Poisson process is 1 at all scales.
    assert plain.dispersion == pytest.approx(1, abs=0.05)
    assert plain.scales["dispersion"].to_list() == pytest.approx([1.0] * plain.scales.height, abs=0.45)
    assert plain.scales["scale_s"][0] == 0.01
    rng = np.random.default_rng(4)
    # By chance, 2.5 % are.
    assert sum(burstiness(rng.poisson(50, 4096).astype(float), 0.01).bursty for _ in range(40)) <= 4


def test_a_trend_is_not_taken_for_bursts() -> None:
    values = np.linspace(0, 1000, 4096) + np.random.default_rng(1).poisson(100, 4096)
    assert burstiness(values, 1.0).sentence().startswith("a trend or a shift")
    alternating = np.tile([1.0, 2.0], 512) + np.random.default_rng(1).normal(size=1024) * 0.01
    assert burstiness(alternating, 1.0).hurst.value < 0.7


def test_what_burstiness_cannot_be_told_of() -> None:
    with pytest.raises(tl.TightlinkError, match="100 values: expected at least 256"):
        burstiness(np.ones(100), 1.0)
    with pytest.raises(tl.TightlinkError, match="do not vary"):
        burstiness(np.ones(1000), 1.0)
    # What repeats has nothing at low frequencies but what rounding leaves, which says nothing.
    for period in (2, 5):
        found = burstiness(np.arange(400.0) % period, 1.0)
        assert (round(found.hurst.value, 2), found.bursty) == (0.0, False)
        assert found.sentence().startswith("smoother than chance at long time scales: H = 0.00 (0.00 to 0.00;")
    # Of a prime number of values the last one is in no mean.
    with pytest.raises(tl.TightlinkError, match="the values vary at their end alone"):
        burstiness([*np.ones(256), 5.0], 1.0)


_ANALYSES: dict[str, Callable[..., object]] = {
    "hurst": lambda values, _: tl.analyze.hurst(values),
    "burstiness": tl.analyze.burstiness,
    "cycles": lambda values, interval_s: tl.analyze.cycles(values, 3600 * interval_s),
    "spikes": tl.analyze.spikes,
    "oscillation": tl.analyze.oscillation,
    "cross_correlation": lambda values, interval_s: tl.analyze.cross_correlation(values, values, interval_s),
    "interarrivals": lambda values, _: tl.analyze.interarrivals(values),
    "tail": lambda values, _: tl.analyze.tail(values),
}


@pytest.mark.parametrize("name", _ANALYSES)
def test_values_that_are_none_are_refused_in_a_sentence(name: str) -> None:
    good = np.random.default_rng(2).poisson(50, 1024).tolist()
    too_large, too_small = (scale * np.array(good, dtype=float) for scale in (1e300, 1e-300))
    for bad in ([], [*good, np.nan], [*good, np.inf], [*good, None], ["a"] * 1024, [good, good], too_large, too_small):
        with pytest.raises(tl.TightlinkError, match="expected"):
            _ANALYSES[name](bad, 1.0)
    if name not in {"hurst", "interarrivals", "tail"}:
        for interval_s in (0, -0.1, np.nan, np.inf):
            with pytest.raises(tl.TightlinkError, match=r"interval_s = .*: expected a number above zero"):
                _ANALYSES[name](good, interval_s)
    if name not in {"spikes", "oscillation"}:
        # These two say of constants that there is none.
        with pytest.raises(tl.TightlinkError, match=r"not vary|at one time|all alike"):
            _ANALYSES[name]([7.0] * 1024, 1.0)


def test_poisson_arrivals_pass_in_95_of_100_cases() -> None:
    rng = np.random.default_rng(5)
    found = [interarrivals(np.cumsum(rng.exponential(0.1, 400))) for _ in range(400)]
    assert 0.91 <= np.mean([each.poisson for each in found]) <= 0.98
    # Each of the two tests alone: 97.5 %.
    assert 0.95 <= np.mean([each.exponential for each in found]) <= 0.995
    assert 0.95 <= np.mean([each.independent for each in found]) <= 0.995


def test_arrivals_that_are_no_poisson_process() -> None:
    rng = np.random.default_rng(6)
    regular = interarrivals(np.arange(1000) * 0.01 + rng.uniform(0, 0.001, 1000))
    assert not regular.exponential
    assert regular.variation < 0.1
    assert "times vary less than exponential ones" in regular.sentence()
    heavy = interarrivals(np.cumsum(rng.pareto(1.5, 2000)))
    assert not heavy.exponential
    assert heavy.variation > 1
    # Exponential times in which a long one follows a long one.
    order = stats.expon.ppf(stats.norm.cdf(_autoregressive(0.5, 2000, rng)))
    dependent = interarrivals(np.cumsum(order))
    assert not dependent.independent
    assert dependent.correlation == pytest.approx(0.45, abs=0.08)
    assert "they depend on each other" in dependent.sentence()
    with pytest.raises(tl.TightlinkError, match="all arrivals are at one time"):
        interarrivals(np.ones(100))


@pytest.mark.parametrize(("tick", "count"), [(1e-3, 400), (1e-2, 400), (1e-1, 400), (1e-4, 4000)])
def test_poisson_arrivals_by_a_clock_that_ticks_pass_as_others_do(tick: float, count: int) -> None:
    rng = np.random.default_rng(8)
    found = [interarrivals(np.round(np.cumsum(rng.exponential(0.1, count)) / tick) * tick) for _ in range(200)]
    assert 0.9 <= np.mean([each.poisson for each in found]) <= 0.99
    assert all(each.tick_s in {0.0, tick} for each in found)
    assert f"in steps of {format_time(tick)}, and were spread" in next(each for each in found if each.tick_s).sentence()


def test_arrivals_in_step_are_not_spread() -> None:
    rng = np.random.default_rng(9)
    bursts = np.repeat(np.cumsum(rng.integers(1, 20000, 300)), 5) * 1e-6
    regular = np.arange(1000) * 0.01
    # Sources that are simulated in step share each time, and what is spread over its steps would pass.
    for times in (bursts, regular, np.repeat(regular, 2), np.repeat(regular, 10)):
        assert interarrivals(times).tick_s == 0
        assert not interarrivals(times).exponential
    # Doubles are hardly exact enough for microseconds since 1970.
    since_1970 = 1_700_000_000 + np.cumsum(rng.exponential(20e-6, 4000)).round(6)
    assert interarrivals(since_1970).tick_s == 1e-6
    assert interarrivals(since_1970).statistic < 3


def _autoregressive(correlation: float, n: int, rng: np.random.Generator) -> Array:
    values = np.empty(n)
    last = rng.normal()
    for place in range(n):
        last = correlation * last + (1 - correlation**2) ** 0.5 * rng.normal()
        values[place] = last
    return values


@pytest.mark.parametrize("alpha", [0.9, 1.2, 2.5])
def test_the_tail_of_pareto_sizes(alpha: float) -> None:
    rng = np.random.default_rng(7)
    found = [tail(1000 * (1 - rng.random(2000)) ** (-1 / alpha)) for _ in range(30)]
    assert np.mean([each.alpha.value for each in found]) == pytest.approx(alpha, rel=0.04)
    # 95 %, less three standard errors.
    assert sum(alpha in each.alpha for each in found) >= 25
    assert all(each.heavy for each in found)


def test_the_interval_of_a_tail_counts_that_its_beginning_is_searched_for() -> None:
    """Of Lomax's sizes, whose tail only comes near a power law: were the beginning known, it would hold 40 %."""
    rng, samples = np.random.default_rng(16), 40
    held = sum(1.2 in tail((1 - rng.random(500)) ** (-1 / 1.2) - 1).alpha for _ in range(samples))
    assert held / samples >= 0.7 - 3 * (0.7 * 0.3 / samples) ** 0.5
    # Sizes of two kinds, of which a resample may lack the rarer.
    two = tail(np.concatenate([np.full(98, 1.0), [49.0, 49.0]])).alpha
    assert two.low < two.value < two.high


def test_a_tail_above_a_body_and_a_light_one() -> None:
    rng = np.random.default_rng(8)
    body, above = rng.uniform(1, 1000, 8000), 1000 * (1 - rng.random(2000)) ** (-1 / 1.3)
    found = tail(np.concatenate([body, above]))
    assert found.alpha.value == pytest.approx(1.3, abs=0.1)
    assert 900 <= found.begin <= 4000
    light = tail(rng.exponential(1000, 5000))
    assert not light.heavy
    assert light.sentence().startswith("no power law that is told from an exponential tail")


def test_what_elephants_carry() -> None:
    # 98 mice of 1 and 2 elephants of 49 each: together as much as all mice.
    found = tail(np.concatenate([np.full(98, 1.0), [49.0, 49.0]]))
    assert dict(found.carried.rows())[0.01] == pytest.approx(49 / 196)
    assert found.half == pytest.approx(0.02)
    with pytest.raises(tl.TightlinkError, match="5 sizes above zero: expected at least 100"):
        tail(np.array([0.0, 1, 2, 3, 4, 5]))


def test_cycles_of_a_day_and_a_week() -> None:
    rng = np.random.default_rng(9)
    hours = np.arange(6 * 7 * 24)
    day, week = 2 * np.pi * hours / 24, 2 * np.pi * hours / 168
    values = 500 + 100 * np.cos(day - 2 * np.pi * 15 / 24) + 40 * np.cos(week) + 0.1 * hours
    found = {each.name: each for each in cycles(values + 20 * rng.normal(size=len(hours)), 3600.0)}
    assert list(found) == list(PERIODS)
    assert [name for name, each in found.items() if each.there] == ["week", "day"]
    assert found["day"].amplitude == pytest.approx(100, abs=3)
    assert found["day"].peak_s / 3600 == pytest.approx(15, abs=0.2)
    assert found["week"].relative_amplitude == pytest.approx(40 / values.mean(), rel=0.1)
    with pytest.raises(tl.TightlinkError, match=r"0.0417 days at intervals of 1 s: expected two periods"):
        cycles(rng.normal(size=3600), 1.0)


def test_cycles_around_zero_and_those_that_rounding_leaves() -> None:
    hours = np.arange(24.0 * 7 * 3)
    wave = 20 * np.cos(2 * np.pi * (hours - 14) / 24)
    day = next(each for each in cycles(wave, 3600.0) if each.name == "day")
    assert day.sentence().startswith("day: ±20 around zero, highest 14.0 h into it, p = ")
    assert not any(each.there for each in cycles(hours, 3600.0))
    assert "an amplitude of 20 around zero" in tl.analyze.oscillation(wave, 3600.0).sentence()
    # What is left of a square wave without its day is lines of the spectrum, of which H cannot be told.
    square = burstiness((hours % 24 < 12) - wave / 31.4, 3600.0)
    assert square.hurst.low < 0.5
    assert not square.sentence().startswith("a trend or a shift")


def test_bursts_of_traffic_with_a_day_are_those_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hours = np.arange(28 * 24)
    noise = 30 * np.random.default_rng(3).normal(size=len(hours))
    day = 200 * np.cos(2 * np.pi * (hours - 15) / 24)
    for name, values in (("flat", 1000 + noise), ("daily", 1000 + day + noise)):
        pl.DataFrame({"time_s": hours * 3600.0, "packets": values}).write_csv(tmp_path / f"{name}.csv")
        assert cli.main(["analyze", "traffic", str(tmp_path / f"{name}.csv")]) == 0
    flat, *_, daily, _, _, _, found, _ = capsys.readouterr().out.splitlines()
    assert "no bursts beyond chance" in flat
    assert "day: ±20" in found
    # As of the noise alone, and not smoother than chance.
    assert daily.startswith("packets: without its cycles (day): no bursts beyond chance at long time scales: H = 0.")


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.97])
def test_noise_has_cycles_as_often_as_the_level_says(correlation: float) -> None:
    """Also red noise, in which frequencies below that of a week are stronger than those above."""
    rng, series = np.random.default_rng(10), 200
    found = [cycles(_autoregressive(correlation, 21 * 24, rng), 3600.0) for _ in range(series)]
    for place in range(len(PERIODS)):
        p = np.array([each[place].p for each in found])
        assert stats.binom.sf((p <= 0.01).sum() - 1, series, 0.01) > 1e-3
        assert stats.binom.sf((p <= 0.1).sum() - 1, series, 0.1) > 1e-3


def test_spikes_are_found_where_they_are() -> None:
    rng = np.random.default_rng(11)
    hours = np.arange(2000)
    usual = 1000 + 500 * np.sin(2 * np.pi * hours / 500)
    values = rng.poisson(usual).astype(float)
    assert spikes(values, 60.0).spikes.is_empty()
    values[[300, 301, 302]] += 800
    values[1200] += 1500
    found = spikes(values, 60.0, begin_s=30.0)
    assert found.spikes.select("begin_s", "duration_s").rows() == [(300 * 60 + 30.0, 180.0), (1200 * 60 + 30.0, 60.0)]
    assert found.spikes["volume"].sum() == pytest.approx(3900, rel=0.1)
    assert found.volume_share == pytest.approx(3900 / values.sum(), rel=0.1)
    assert found.time_share == pytest.approx(4 / 2000)
    quiet = np.zeros(200)
    quiet[50] = 5
    assert spikes(quiet, 1.0).spikes["peak"].to_list() == [5.0]
    assert spikes(quiet, 1.0).sentence() == "1 spike: 0.5 % of the time, 100 % of the volume above what is usual"


@pytest.mark.parametrize("mean", [0.05, 0.2, 0.5, 1, 2, 5, 8, 15, 50])
def test_counts_of_poisson_arrivals_have_no_spikes(mean: float) -> None:
    """However few they are: the median distance of small counts from their median is no measure of their deviation."""
    rng = np.random.default_rng(15)
    found = [spikes(rng.poisson(mean, 1000).astype(float), 1.0).spikes.height for _ in range(40)]
    assert np.mean(found) <= 0.1
    counts = rng.poisson(mean, 1000).astype(float)
    counts[500] += 12 + 8 * mean**0.5
    assert spikes(counts, 1.0).spikes["begin_s"].to_list() == [500.0]


def test_the_lag_between_two_links() -> None:
    rng = np.random.default_rng(12)
    source = _autoregressive(0.8, 3000, rng)
    first, second = source[50:], source[:-50] + rng.normal(size=2950)
    found = lag(first, second, 0.1)
    assert found.together
    assert found.lag_s == pytest.approx(5)
    assert lag(second, first, 0.1).lag_s == pytest.approx(-5)
    assert found.sentence("a", "b").startswith("b follows a by 5 s")
    assert found.correlations.filter(pl.col("lag_s") == found.lag_s)["correlation"].item() == found.correlation
    assert lag(first, first, 0.1).correlation == pytest.approx(1)
    assert lag(first, second, 0.1, longest_s=2.0).correlations.height == 41


@pytest.mark.parametrize("correlation", [0.5, 0.9, 0.98, 1.0])
def test_unrelated_series_go_together_as_often_as_the_level_says(correlation: float) -> None:
    """Also random walks, whose every pair looks alike."""
    rng = np.random.default_rng(13)

    def one() -> Array:
        return _autoregressive(correlation, 300, rng) if correlation < 1 else rng.normal(size=300).cumsum()

    found = [lag(one(), one(), 1.0) for _ in range(100)]
    p = np.array([each.p for each in found])
    assert stats.binom.sf((p <= 0.01).sum() - 1, 100, 0.01) > 1e-3
    assert stats.binom.sf((p <= 0.05).sum() - 1, 100, 0.05) > 1e-3
    # Nor is the test one that never fires.
    assert 0.4 < p.mean() < 0.6
    # At one lag, 95 % of the time.
    assert np.mean([abs(each.at_once) <= each.limit for each in found]) == pytest.approx(0.95, abs=0.07)


def test_a_queue_follows_the_window_that_fills_it() -> None:
    """Of a sawtooth, too, which is alike to any other of its period."""
    scenario = tl.loads("""
        duration = "60 s"
        link.wire = { ends = ["a", "b"], rate = "8 Mbit/s", delay = "20 ms", queue = "30 packets" }
        traffic.bulk = { kind = "bulk", flows = 2, from = "a", to = "b", start = { first = "0 s", every = "0.3 s" } }
        observe.interval = "100 ms"
        """)
    series = tl.simulate(scenario).series.filter(pl.col("time_s") > 5)
    window = series.filter(pl.col("metric") == "cwnd_packets").group_by("time_s", maintain_order=True)
    queue = series.filter((pl.col("metric") == "queue_packets") & (pl.col("entity") == "wire"))["value"]
    found = lag(window.agg(pl.col("value").sum())["value"].to_numpy(), queue.to_numpy(), 0.1)
    assert found.together
    assert abs(found.lag_s) <= 0.1
    other = np.cumsum(np.random.default_rng(2).normal(size=len(queue)))
    apart = lag(other, queue.to_numpy(), 0.1)
    assert not apart.together
    assert f"; 1 % of unrelated series that vary as these do reach {apart.critical:.2f}" in apart.sentence()


def test_a_source_that_is_on_and_off_with_heavy_tails_is_bursty() -> None:
    """Willinger, Taqqu, Sherman, Wilson 1997: many sources with on-times of shape α make H = (3 − α)/2."""
    scenario = tl.loads("""
        duration = "200 s"
        link.wire = { ends = ["a", "b"], rate = "1 Gbit/s", delay = "1 ms" }
        traffic.web = { kind = "on-off", flows = 50, from = "a", to = "b", interval = "20 ms", on = "200 ms", off = "200 ms", distribution = "pareto", shape = 1.4 }
        observe = { interval = "100 ms", flows = "each" }
        """)
    series = tl.simulate(scenario).series.filter(pl.col("metric") == "throughput_bps")
    total = series.group_by("time_s").agg(pl.col("value").sum()).sort("time_s")["value"].to_numpy()
    found = burstiness(total, 0.1)
    assert found.bursty
    assert 0.65 < found.hurst.value < 0.99


def test_figures() -> None:
    rng = np.random.default_rng(14)
    values = rng.poisson(100, 500).astype(float)
    values[100] += 500
    assert plots.variance_time(burstiness(values, 1.0)).get_xlabel() == "time scale (s)"
    assert len(plots.spikes_over_time(spikes(values, 1.0), column="packets_sent").collections) == 1
    assert plots.interarrival_times(interarrivals(np.cumsum(rng.exponential(0.001, 100)))).get_xlabel().endswith("(ms)")
    assert plots.size_tail(tail(rng.pareto(1.2, 500) + 1), column="bytes").get_xlabel() == "bytes"
    assert len(plots.correlation_over_lag(lag(values, np.roll(values, 3), 1.0)).lines) == 4


RUN = """
duration = "30 s"
link.first = { ends = ["a", "r"], rate = "10 Mbit/s", delay = "1 ms" }
link.second = { ends = ["r", "b"], rate = "10 Mbit/s", delay = "300 ms" }
traffic.web = { kind = "on-off", flows = 3, from = "a", to = "b", interval = "5 ms", on = "100 ms", off = "200 ms" }
observe.interval = "100 ms"
"""


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def analyze(*words: str, code: int = 0) -> Any:
        assert cli.main(["analyze", *words]) == code
        said = capsys.readouterr()
        return said.out if code == 0 else said.err

    tl.simulate(tl.loads(RUN), trace=True).save(tmp_path / "run")
    run = str(tmp_path / "run")
    said = analyze("traffic", run, "-o", str(tmp_path / "traffic.png"))
    assert [line.split(": ")[0] for line in said.splitlines()] == [
        f"web[{flow}] throughput_bps" for flow in (0, 0, 1, 1, 2, 2)
    ]
    assert (tmp_path / "traffic.png").stat().st_size > 10_000
    found = json.loads(analyze("traffic", run, "--column", "utilization", "--json"))
    assert found["first utilization"]["burstiness"]["samples"] == 299
    said = analyze("traffic", run, "--column", "utilization")
    assert said.splitlines()[-1] == "do not vary: first.reverse utilization, second.reverse utilization"
    said = analyze("arrivals", run)
    assert said.startswith("a to r: not a Poisson process: of ")
    assert "r to b: " in said
    follows = analyze("lags", run, "first utilization", "second utilization", "--longest", "2 s")
    assert follows.startswith("first utilization and second utilization go together without lag: correlation 1.00")
    table = tmp_path / "flows.csv"
    sizes = 1000 * (1 - np.random.default_rng(1).random(500)) ** (-1 / 1.2)
    table.write_text("bytes_delivered\n" + "\n".join(f"{size:.0f}" for size in sizes))
    assert analyze("sizes", str(table)).startswith("the tail falls as x^-1.")
    assert json.loads(analyze("sizes", str(table), "--json"))["flows"] == 500
    wrong = {
        ("sizes", str(table), "--column", "bytes"): "no such column: expected bytes_delivered",
        ("sizes", run): "3 sizes above zero: expected at least 100",
        ("arrivals", run, "--of", "flows"): "time_s: no such column: expected one of flow",
        ("lags", run, "first utilization", "third utilization"): "no series third utilization: expected one of",
        ("traffic", str(table)): "expected --column with bytes_delivered",
        ("traffic", run, "--end", "1 s"): "10 values: expected at least 256",
    }
    for words, expected in wrong.items():
        assert expected in analyze(*words, code=2)


def test_sizes_of_transfers_are_those_of_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are one row in the table of flows."""
    tl.simulate(tl.loads("""
        profile = "linux"
        duration = "10 s"
        link.wire = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "1 ms", queue = "1000 packets" }
        traffic.web = { kind = "transfers", from = "a", to = "b", load = "30 %", of = "wire", size = { distribution = "pareto", mean = "60 kB" } }
    """)).save(tmp_path / "run")  # fmt: skip
    assert cli.main(["analyze", "sizes", str(tmp_path / "run"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    completions = tl.open_run(tmp_path / "run").completions
    assert (found["flows"], found["mean"]) == (completions.height, pytest.approx(completions["bytes"].mean()))
    assert found["alpha"]["low"] < 1.5 < found["alpha"]["high"]
    assert cli.main(["analyze", "sizes", str(tmp_path / "run"), "--of", "flows"]) == 2
    assert "1 sizes above zero" in capsys.readouterr().err


def test_what_is_below_zero_has_a_minus_sign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hours = np.arange(400)
    wave = 100 + 50 * np.cos(2 * np.pi * hours / 40)
    pl.DataFrame({"time_s": hours * 1.0, "first": wave, "second": 200 - wave}).write_csv(tmp_path / "waves.csv")
    assert cli.main(["analyze", "lags", str(tmp_path / "waves.csv"), "first", "second", "--longest", "5 s"]) == 0
    assert "correlation −1.00" in capsys.readouterr().out
    noisy = 1000 + 200 * np.cos(2 * np.pi * np.arange(672) / 24) + 30 * np.random.default_rng(2).normal(size=672)
    assert ", −0." in burstiness(noisy, 1.0).sentence()
    effects = [(level, other, -level * other - 1.0) for level in (0, 1) for other in (0, 1)]
    pl.DataFrame(effects, ["a", "b", "y"], orient="row").write_csv(tmp_path / "effects.csv")
    assert cli.main(["analyze", "ten-steps", str(tmp_path / "effects.csv"), "--response", "y"]) == 0
    said = capsys.readouterr().out
    assert "y: mean −1.25" in said
    assert "lowest at a = 1, b = 1: −2" in said
    print_table(["transition", "slowest mode"], [["looking", "-9.605e-05"], ["refused", "-0.25"]])
    assert capsys.readouterr().out.split()[-3::2] == ["−9.605e-05", "−0.25"]
