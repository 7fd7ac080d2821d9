"""Oscillation: rare in noise without a period, found in limit cycles; FAST beside Reno, and what users see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import signal, stats

import tightlink as tl
from tightlink import cli, plots
from tightlink.analysis.traffic.oscillation import oscillation
from tightlink.analysis.traffic.oscillations import each, of_run, summary
from tightlink.analysis.traffic.red_noise import Candidates, Spectrum, largest_ratios

BOTTLENECK = """\
profile = "linux"
duration = "30 s"

[link.bottleneck]
ends = ["east", "west"]
rate = "20 Mbit/s"
delay = "20 ms"
queue = "50 packets"

[traffic.bulk]
kind = "bulk"
flows = 4
from = "east"
to = "west"
start = { first = "0 s", every = "500 ms" }
tcp.congestion = { kind = "fast", alpha = "50 packets" }

[observe]
interval = "10 ms"
"""


def _first_order(correlation: float, shape: tuple[int, int]) -> Any:
    """Rows of noise of first order, with variance 1 from the first number on."""
    steps = np.random.default_rng(17).standard_normal(shape) * np.sqrt(1 - correlation**2)
    steps[:, 0] /= np.sqrt(1 - correlation**2)
    return signal.lfilter([1.0], [1.0, -correlation], steps, axis=-1)


def _measured(correlation: float, shape: tuple[int, int]) -> Any:
    """The same with as much white noise."""
    return _first_order(correlation, shape) + np.random.default_rng(18).standard_normal(shape)


def _second_order(_: float, shape: tuple[int, int]) -> Any:
    """What a mean with a memory shows of noise that has one, too."""
    rows, count = shape
    steps = np.random.default_rng(19).standard_normal((rows, count + 200))
    return signal.lfilter([1.0], np.convolve([1, -0.9], [1, -0.7]), steps, axis=-1)[:, 200:]


NOISES = [
    *((_first_order, correlation, 200) for correlation in (-0.4, 0.0, 0.6, 0.95, 0.999)),
    (_measured, 0.95, 600),
    (_measured, 0.99, 200),
    (_second_order, 0.9, 600),
]


@pytest.mark.parametrize(("noise", "correlation", "count"), NOISES)
def test_noise_without_a_period_is_called_oscillation_as_often_as_the_level_says(
    noise: Any, correlation: float, count: int
) -> None:
    tests = 300
    p = [oscillation(row, 0.1, simulations=199).p for row in 7 + noise(correlation, (tests, count))]
    for level in (0.01, 0.05):
        alarms = int(sum(one <= level for one in p))
        # So many alarms or more come once in a thousand times.
        assert stats.binom.sf(alarms - 1, tests, level) > 1e-3, (level, alarms)
    # Nor is the test one that never fires.
    assert 0.4 < np.mean(p) < 0.6


@pytest.mark.parametrize("count", [200, 600])
def test_running_means_of_noise_are_called_oscillation_as_often_as_the_level_says(count: int) -> None:
    """E. Slutzky, 1937: a mean over some values makes waves of white noise, which have no period."""
    random = np.random.default_rng(20)
    p = []
    for length in range(3, 51):
        steps = random.standard_normal((8, count + length - 1))
        means = np.lib.stride_tricks.sliding_window_view(steps, length, axis=-1).mean(axis=-1)
        p += [oscillation(7 + row, 0.1, simulations=199).p for row in means]
    for level in (0.01, 0.05):
        alarms = int(sum(one <= level for one in p))
        assert stats.binom.sf(alarms - 1, len(p), level) > 1e-3, (level, alarms)
    assert 0.4 < np.mean(p) < 0.6


@pytest.mark.parametrize("length", [3, 10, 30])
def test_an_oscillation_is_found_in_running_means(length: int) -> None:
    """What a filter leaves of a sine is narrower than the filter's humps."""
    times = np.arange(1200) / 10
    noise = np.random.default_rng(21).normal(size=len(times))
    values = 50 + 10 * np.sin(2 * np.pi * times / 5.3) + 10 * noise
    found = oscillation(np.convolve(values, np.ones(length) / length, "valid"), 0.1)
    assert found.p == 1 / 1000
    assert found.period_s == pytest.approx(5.3, rel=5.3 / 120)


def test_windows_that_fall_at_random_times_do_not_oscillate() -> None:
    """AIMD with losses of a Poisson process: windows go up and down as far as in a sawtooth, but without a period."""
    random = np.random.default_rng(3)
    alarms = 0
    for _ in range(100):
        lost = random.random(1000) < 1 / 40
        window, windows = 20.0, []
        for loss in lost:
            window = window / 2 if loss else window + 0.3
            windows.append(window)
        alarms += oscillation(np.array(windows), 0.1, simulations=99).significant
    assert stats.binom.sf(alarms - 1, 100, 0.01) > 1e-3


def test_heavy_tails_do_not_oscillate() -> None:
    bursts = np.random.default_rng(4).lognormal(0, 2, (100, 400))
    alarms = sum(oscillation(row, 1.0, simulations=99).significant for row in bursts)
    assert stats.binom.sf(alarms - 1, 100, 0.01) > 1e-3


def test_the_largest_of_white_noise_is_fishers() -> None:
    """R. A. Fisher, 1929: of m frequencies, the largest exceeds z = g m of their mean with a known probability."""
    count, level = 201, 0.05
    power = Spectrum.of(Candidates.of(count).series(0, 4000, np.random.default_rng(5))).power
    frequencies = (count - 1) // 2 - 2
    # Bonferroni's bound is nearly exact so far out: m (1 − z / m)^(m − 1).
    z = frequencies * (1 - (level / frequencies) ** (1 / (frequencies - 1)))
    assert float(np.mean(power.max(axis=-1) >= z * power.mean(axis=-1))) == pytest.approx(level, abs=0.015)
    # Who has to find out that noise is white sees larger ones.
    assert float(np.mean(largest_ratios(0, count, 4000, 5) >= z)) > level - 0.015


def test_the_noise_has_the_spectrum_that_was_fitted() -> None:
    """And what was fitted to noise of known kinds is near these."""
    candidates = Candidates.of(600)
    for noise in (_first_order, _measured, _second_order):
        rows = noise(0.9, (400, 600))
        power = Spectrum.of(rows).power
        # The row that fits all series at once.
        mean = np.concatenate([np.zeros(2), power.mean(axis=0)])
        mean[:2] = mean[2]
        row = int(candidates.best(mean))
        made = Spectrum.of(candidates.series(row, 400, np.random.default_rng(3)))
        share = (
            made.power.mean(axis=0) / made.power.mean(axis=0).sum() / (power.mean(axis=0) / power.mean(axis=0).sum())
        )
        # A mean of 400 exponential numbers has a deviation of 5 %, and the times of candidates are a factor 1.3 apart.
        assert np.abs(np.log(share)).mean() < 0.2, noise


def test_power_is_variance() -> None:
    values = np.random.default_rng(1).normal(size=301)
    spectrum = Spectrum.of(values)
    frequency, density = signal.periodogram(values, detrend="linear")
    np.testing.assert_allclose(spectrum.frequency_hz, frequency[3:])
    np.testing.assert_allclose(spectrum.power, density[3:] / 301)


def _sawtooth(times: Any) -> Any:
    return 60 + 20 * signal.sawtooth(2 * np.pi * times / 6)


@pytest.mark.parametrize(
    ("shape", "period", "amplitude"),
    [
        (lambda t: 50 + 10 * np.sin(2 * np.pi * t / 1.7), 1.7, 10.0),
        # The first of a square wave's sines is 4/π of it, a sawtooth's 2/π.
        (lambda t: 30 + 10 * signal.square(2 * np.pi * t / 1.7), 1.7, 12.7),
        (_sawtooth, 6.0, 12.7),
        # Losses in bursts: every second tenth of a period.
        (lambda t: np.where((t % 2.5) < 0.25, 40.0, 0.0), 2.5, None),
    ],
    ids=["sine", "square", "sawtooth", "bursts"],
)
def test_limit_cycles(shape: Any, period: float, amplitude: float | None) -> None:
    times = np.arange(1200) / 10
    noise = np.random.default_rng(9).normal(size=len(times))
    found = oscillation(shape(times) + noise, 0.1, round_trip_s=0.5)
    assert found.oscillates
    assert found.p == 1 / 1000
    assert found.period_s == pytest.approx(period, rel=period / 120)
    assert found.period_round_trips == pytest.approx(2 * found.period_s)
    if amplitude is not None:
        assert found.amplitude == pytest.approx(amplitude, rel=0.1)
        assert found.relative_amplitude == pytest.approx(found.amplitude / found.mean)


@pytest.mark.parametrize("period", [45, 61, 90, 180, 187])
@pytest.mark.parametrize("jitter", [0.0, 0.02])
def test_losses_once_in_a_period_are_as_strong_at_each_multiple(period: int, jitter: float) -> None:
    """Flows that lose a packet at the top of each sawtooth: the strongest of so many peaks is any of them."""
    random = np.random.default_rng(period)
    values = np.zeros(2800)
    times = np.cumsum(period * (1 + jitter * random.normal(size=2800 // period)))
    values[times[times < 2799].round().astype(int)] = 1
    found = oscillation(values, 0.05)
    assert found.significant
    assert found.period_s == pytest.approx(0.05 * period, rel=0.02)


def test_a_period_lies_between_those_that_the_spectrum_has() -> None:
    random = np.random.default_rng(4)
    for period in random.uniform(20, 60, 20):
        values = 5 + np.sin(2 * np.pi * np.arange(600) / period) + 0.1 * random.normal(size=600)
        # At 30 periods in the series its spectrum has some that are 3 % apart.
        assert oscillation(values, 1.0, simulations=99, level=0.05).period_s == pytest.approx(period, rel=0.004)


def test_a_feedback_that_comes_too_late() -> None:
    """x' = −x(t − τ): beyond τ = π/2 it oscillates, with a period near 4 τ; below, noise is damped (Hayes, 1950)."""
    random = np.random.default_rng(6)
    periods = {}
    for delay in (20, 180):
        step, values = 0.01, [0.0] * (delay + 1)
        for _ in range(60_000):
            pull = -np.tanh(values[-1 - delay])
            values.append(values[-1] + step * float(pull) + 0.02 * float(random.normal()))
        found = oscillation(10 + np.array(values[10_000::20]), 0.2, simulations=299)
        periods[delay] = found.period_s if found.significant else None
    assert periods[20] is None
    assert periods[180] == pytest.approx(4 * 1.8, rel=0.1)


def test_a_small_period_does_not_count() -> None:
    values = 100 + 0.05 * np.sin(np.arange(400)) + np.random.default_rng(1).normal(scale=0.01, size=400)
    found = oscillation(values, 1.0)
    assert (found.significant, found.oscillates) == (True, False)
    assert found.sentence().startswith("no oscillation that counts: a period of 6.28 s, but an amplitude of 0.05 % of")


def test_what_does_not_vary() -> None:
    found = oscillation(np.full(100, 7.3), 1.0)
    assert (found.p, found.amplitude, found.oscillates) == (1.0, 0.0, False)
    assert found.sentence() == "no oscillation: the values do not vary"
    assert plots.oscillation_spectrum(found).texts[0].get_text() == "nothing varies"


@pytest.mark.parametrize("step", [1.0, 0.1, -1e9])
def test_what_rises_along_a_line(step: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As counts of all packets so far do: what rounding leaves beside the trend is no oscillation."""
    found = oscillation(3.0 + step * np.arange(100), 1.0)
    assert (found.p, found.amplitude, found.oscillates) == (1.0, 0.0, False)
    assert found.sentence() == "no oscillation: the values lie on a straight line"
    pl.DataFrame({"time_s": np.arange(100.0), "sent": found.series["value"], "lost": 0.0}).write_csv(tmp_path / "a.csv")
    assert cli.main(["analyze", "oscillation", str(tmp_path / "a.csv"), "--column", "sent,lost"]) == 0
    assert capsys.readouterr().out == f"sent: {found.sentence()}\ndo not vary: lost\n"


@settings(max_examples=20, deadline=None)
@given(st.floats(1e-3, 1e3), st.floats(-50, 50), st.integers(0, 100))
def test_units_and_trends_change_nothing(scale: float, slope: float, seed: int) -> None:
    values = _first_order(0.7, (101, 128))[seed]
    one = oscillation(values, 1.0, simulations=39)
    two = oscillation(scale * values + slope * np.arange(128.0), 1.0, simulations=39)
    assert two.ratio == pytest.approx(one.ratio, rel=1e-6)
    assert two.p == one.p
    assert two.amplitude == pytest.approx(scale * one.amplitude, rel=1e-6)


@pytest.fixture(scope="module")
def runs() -> dict[str, tl.Run]:
    fast = tl.loads(BOTTLENECK)
    scenarios = {
        "fast, small": fast,
        "fast, large": fast.set("link.bottleneck.queue", "400 packets"),
        # Flows that begin together are cut together, so that their sawteeth have a period.
        "reno, small": fast.set_all({"traffic.bulk.tcp.congestion": "reno", "traffic.bulk.start": "0 s"}),
    }
    return {name: tl.simulate(scenario) for name, scenario in scenarios.items()}


def test_fast_oscillates_where_the_buffer_is_smaller_than_what_its_flows_keep_there(runs: dict[str, tl.Run]) -> None:
    small, large, reno = (
        of_run(runs[name], begin_s=8, simulations=299) for name in ("fast, small", "fast, large", "reno, small")
    )
    windows = [name for name in small if name[1] == "cwnd_packets"]
    assert len(windows) == 4
    for name in windows:
        assert small[name].oscillates
        assert small[name].relative_amplitude > 0.25
        # Fast: in a few round trips, where Reno's sawtooth takes many.
        assert 3 < small[name].period_round_trips < 4.5
        assert not large[name].oscillates
        assert large[name].relative_amplitude < 0.01
        if reno[name].significant:
            assert reno[name].period_round_trips > 10
            assert reno[name].relative_amplitude < small[name].relative_amplitude
    assert any(reno[name].oscillates for name in windows)
    losses = ("bottleneck", "packets_dropped")
    assert small[losses].oscillates
    assert small[losses].period_s == pytest.approx(small[windows[0]].period_s, rel=0.1)
    assert small[losses].mean > 10 * reno[losses].mean
    assert large[losses].mean == 0


def test_users_behind_one_router_oscillate_together_and_in_a_large_network_not() -> None:
    four_tier = tl.FourTier(duration="25 s", scale=0.01, congestion="fast", measurement_interval="20 ms")
    run = tl.simulate(four_tier.scenario())
    found = of_run(run, begin_s=10, simulations=299)
    assert list(found) == [("users", "cwnd_mean_packets"), ("users", "packets_retransmitted")]
    # Many short transfers, each at its own time: what each does is not seen in their mean.
    assert not any(one.oscillates for one in found.values())
    one = tl.loads("""\
    profile = "linux"
    duration = "25 s"
    link.east = { ends = ["core", "a"], rate = "20 Mbit/s", delay = "10 ms", queue = "50 packets" }
    link.west = { ends = ["core", "b"], rate = "200 Mbit/s", delay = "10 ms", queue = "unlimited" }
    [traffic.downloads]
    kind = "users"
    think = "0.1 s"
    places.near = { at = "a", receivers = 4 }
    places.far = { at = "b", sources = 4 }
    interfaces.ethernet = { rate = "1 Gbit/s", delay = "0.1 ms" }
    files.film = { mean = "100000 packets" }
    tcp.congestion = { kind = "fast", alpha = "50 packets" }
    [observe]
    interval = "10 ms"
    """)
    found = of_run(tl.simulate(one), begin_s=5, simulations=299)
    lost = found["downloads", "packets_retransmitted"]
    assert lost.oscillates
    assert 2 < lost.period_round_trips < 6


def test_tables_of_any_origin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    times = np.arange(1, 301) / 5
    wave = 10 + 5 * np.sin(2 * np.pi * times / 3) + np.random.default_rng(1).normal(size=300)
    pl.DataFrame({"time_s": times.round(3), "link": "a", "queue": wave.round(3)}).write_csv(tmp_path / "queue.csv")
    command = ["analyze", "oscillation", str(tmp_path / "queue.csv")]
    assert cli.main([*command, "--column", "queue", "-o", str(tmp_path / "queue.png")]) == 0
    assert capsys.readouterr().out == (
        "a queue: oscillates with a period of 3 s and an amplitude of 51 % of the mean, p = 0.001\n"
    )
    assert (tmp_path / "queue.png").read_bytes().startswith(b"\x89PNG")
    assert cli.main([*command, "--column", "queue", "--begin", "30 s", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["series"], row["samples"], row["period_round_trips"]) == ("a queue", 151, None)
    for words, wrong in {
        (): "expected --column with one of time_s, link, queue",
        ("--column", "queues"): "no column queues: expected one of time_s, link, queue; did you mean queue?",
        ("--column", "link"): "a link: at 0.2 s: expected a number at every time",
        ("--column", "queue", "--begin", "55 s"): "a queue: 26 values: expected at least 32",
        ("--column", "queue", "--begin", "2 m"): '--begin = "2 m": expected a time',
        ("--column", "queue", "--begin", "100 s"): "nothing between 100 s and inf s: expected values over time there",
    }.items():
        assert cli.main([*command, *words]) == 2
        assert wrong in capsys.readouterr().err


@pytest.mark.parametrize("values", [np.arange(31.0), np.full(40, np.nan)])
def test_values_must_be_many_and_finite(values: Any) -> None:
    with pytest.raises(tl.TightlinkError, match="values: expected at least 32, all of them finite"):
        oscillation(values, 1.0)


def test_times_must_be_even() -> None:
    times = np.arange(1.0, 51.0)
    values = np.random.default_rng(1).normal(size=50)
    table = pl.DataFrame({"time_s": [*times, 50.4], "x": [*values, 0.0]})
    # A last interval that was cut short does not count.
    assert each(table, ["x"], simulations=19)["x",].samples == 50
    with pytest.raises(tl.TightlinkError, match="x: time_s = 21: expected times at equal intervals, here of 1 s"):
        each(table.filter(pl.col("time_s") != 20), ["x"])
    with pytest.raises(tl.TightlinkError, match="no column time_s among x"):
        each(table.select("x"), ["x"])


def test_runs_and_sweeps_from_the_command(
    runs: dict[str, tl.Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs["fast, small"].save(tmp_path / "run")
    assert cli.main(["analyze", "oscillation", str(tmp_path / "run"), "--begin", "15 s"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(
        "bulk[0] cwnd_packets: oscillates with a period of 0.196 s (3.16 round trips) and an amp"
    )
    assert "amplitude of 30 % of the mean" in lines[0]
    assert lines[-1] == "do not vary: bottleneck.reverse packets_dropped"
    assert cli.main(["analyze", "oscillation", str(tmp_path)]) == 2
    assert "expected the folder of a finished sweep or study" in capsys.readouterr().err


def test_a_sweep_has_a_row_for_each_series_of_each_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tl.loads(BOTTLENECK).set("duration", "20 s")
    tl.sweep(scenario, {"link.bottleneck.queue": ["50 packets", "400 packets"]}, output=tmp_path / "sweep")
    command = ["analyze", "oscillation", str(tmp_path / "sweep"), "--column", "cwnd_packets", "--begin", "8 s"]
    assert cli.main([*command, "--json"]) == 0
    rows = {row["series"]: row for row in json.loads(capsys.readouterr().out)}
    assert len(rows) == 8
    runs = [name.split()[0] for name in rows]
    assert len(dict.fromkeys(runs)) == 2
    for name, row in rows.items():
        assert row["oscillates"] is (name.split()[0] == runs[0])
        # Each flow's own round trip, of its own run.
        trip = row["period_s"] / row["period_round_trips"]
        assert 0.05 < trip < 0.07 if row["oscillates"] else trip > 0.15


def test_figures(runs: dict[str, tl.Run]) -> None:
    found = of_run(runs["fast, small"], ["cwnd_packets"], begin_s=8, simulations=99)["bulk[0]", "cwnd_packets"]
    ax = plots.oscillation_series(found, column="cwnd_packets")
    assert ax.get_ylabel() == "congestion window (packets)"
    drawn = np.asarray(ax.lines[0].get_xdata(), dtype=float)
    assert np.ptp(drawn) == pytest.approx(20 * found.period_s, abs=0.03)
    spectrum = plots.oscillation_spectrum(found)
    assert [line.get_label() for line in spectrum.lines] == [
        "spectrum", "noise without a period", "its peaks exceed this in 1 %", f"period {found.period_s:.3g} s",
    ]  # fmt: skip
    assert (spectrum.get_xscale(), spectrum.get_yscale()) == ("log", "log")
    table = summary({("bulk[0]", "cwnd_packets"): found})
    assert table.row(0, named=True)["oscillates"] is True
