"""Two sweeps side by side: paired by what was varied, and by seeds, with intervals of their changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from compared import BASE, NOISY
from tightlink.analysis.compare import words
from tightlink.analysis.compare.comparison import _paired_by_seed, compare
from tightlink.analysis.compare.sweeps import COPIED
from tightlink.experiment.precision import half_width
from tightlink.report.side_by_side import write_comparison

if TYPE_CHECKING:
    from pathlib import Path


def test_sweeps_are_paired_by_what_was_varied(tmp_path: Path) -> None:
    base = tl.loads(BASE + 'traffic.call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s" }')
    queues = ["5 packets", "10 packets", "20 packets", "40 packets"]
    first = tl.sweep(base, {"link.wire.queue": queues}, output=tmp_path / "first")
    second = tl.sweep(
        base.set("link.wire.delay", "20 ms"), {"link.wire.queue": queues[::-1][:3]}, output=tmp_path / "second"
    )
    found = tl.compare(first, tmp_path / "second")
    goodput = found.of("runs", "goodput_bps")
    assert goodput["entity"].to_list() == [f"link.wire.queue = {queue}" for queue in queues[1:]]
    runs = [side.runs.collect() for side in (first, second)]
    assert goodput["first"].to_list() == runs[0]["goodput_bps"].to_list()[1:]
    assert goodput["second"].to_list() == runs[1]["goodput_bps"].to_list()[::-1]
    assert set(found.alone["entity"]) == {"link.wire.queue = 5 packets"}
    assert found.titles == ("first", "second")
    assert found.agreements == {}
    assert found.differences.rows() == [("link.wire.delay", "10 ms", "20 ms")]
    assert "fairness (Jain's index)" in repr(found)
    # A folder of which nothing says what was varied: metrics of groups have dots, too.
    (tmp_path / "second" / "sweep.json").unlink()
    (tmp_path / "first" / "sweep.json").unlink()
    again = compare(tmp_path / "first", tmp_path / "second")
    assert again.of("runs", "ftp.goodput_bps")["entity"].to_list() == goodput["entity"].to_list()
    with pytest.raises(tl.TightlinkError, match="first: delay: expected one of run"):
        compare(tmp_path / "first", tmp_path / "second", by=["delay"])
    with pytest.raises(tl.TightlinkError, match="the first is a folder of runs and the second a run"):
        compare(first, tl.simulate(base))


def test_means_over_replications_have_intervals(tmp_path: Path) -> None:
    levels = {"link.wire.queue": ["10 packets"]}
    for name in ("first", "second"):
        tl.sweep(tl.loads(NOISY), levels, replications=3, output=tmp_path / name)
    found = compare(tmp_path / "first", tmp_path / "second")
    (row,) = found.values.filter(metric="goodput_bps").to_dicts()
    summary = tl.experiment.open(tmp_path / "first").summary
    assert (
        row["first_half_width"] == row["second_half_width"] == pytest.approx(summary["goodput_half_width_bps"].item())
    )
    assert " ± " in repr(found)


def test_replications_of_one_scenario_beside_those_of_another(tmp_path: Path) -> None:
    """Nothing is varied but the seed, as where the guide asks for replications of both."""
    base = tl.loads(NOISY)
    first = tl.sweep(base, replications=3, output=tmp_path / "first")
    second = tl.sweep(base.set("link.wire.delay", "20 ms"), replications=3, output=tmp_path / "second")
    found = tl.compare(first, second)
    (row,) = found.values.filter(metric="goodput_bps").to_dicts()
    assert row["entity"] == "any seed"
    for name, side in (("first", first), ("second", second)):
        mean = side.summary.select("goodput_bps", "goodput_half_width_bps").row(0)
        assert (row[name], row[f"{name}_half_width"]) == pytest.approx(mean)
    assert row["difference_half_width"] > 0
    assert found.differences.rows() == [("link.wire.delay", "10 ms", "20 ms")]
    # What one of them alone writes has its default in the other.
    cubic = tl.sweep(base.set("traffic.ftp.tcp.congestion", "cubic"), replications=2, output=tmp_path / "cubic")
    assert tl.compare(first, cubic).differences.rows() == [("traffic.ftp.tcp.congestion", "reno", "cubic")]
    # Of one of the levels the other has the value; otherwise each is held against it.
    queues = ["5 packets", "10 packets"]
    levels = tl.compare(first, tl.sweep(base, {"link.wire.queue": queues}, replications=3, output=tmp_path / "third"))
    assert levels.of("runs", "goodput_bps")["entity"].to_list() == ["link.wire.queue = 10 packets"]
    delays = tl.sweep(base, {"link.wire.delay": ["5 ms", "6 ms"]}, replications=3, output=tmp_path / "fourth")
    assert tl.compare(delays, first).of("runs", "goodput_bps")["entity"].to_list() == [
        "link.wire.delay = 5 ms",
        "link.wire.delay = 6 ms",
    ]
    with pytest.raises(tl.TightlinkError, match=r"nothing in common .*: expected by or --by"):
        tl.compare(delays, tmp_path / "third")


def test_seeds_of_one_scenario_differ_in_loss_as_seldom_as_an_interval_says() -> None:
    base = tl.loads(BASE + 'traffic.call = { kind = "cbr", from = "a", to = "b", rate = "500 kbit/s" }')
    base = base.set_all({"link.wire.loss": "5 %", "link.wire.queue": "1000 packets"})
    runs = [tl.simulate(base.set("seed", seed)) for seed in range(1, 41)]
    verdicts = [
        tl.compare(*pair).summary.filter(metric="loss", of="all flows")["verdict"].item()
        for pair in zip(runs[::2], runs[1::2], strict=True)
    ]
    # Of 20 pairs one in the mean, and with one standard error in place of two six.
    assert sum(verdict != "same" for verdict in verdicts) <= 3


def test_differences_over_seeds_leave_out_what_chance_does_to_both(tmp_path: Path) -> None:
    """Sent at the same random times over a line that is 1 ms longer, each packet comes 1 ms later."""
    text = """
        duration = "5 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "unlimited" }
        traffic.voice = { kind = "cbr", from = "a", to = "b", rate = "8 Mbit/s", random = "exponential" }
    """
    for delay in ("10 ms", "11 ms"):
        scenario = tl.loads(text).set("link.wire.delay", delay)
        tl.sweep(scenario, {"link.wire.queue": ["unlimited"]}, replications=4, output=tmp_path / delay)
    found = compare(tmp_path / "10 ms", tmp_path / "11 ms")
    (row,) = found.values.filter(metric="one_way_delay_mean_s").to_dicts()
    assert row["second"] - row["first"] == pytest.approx(1e-3, rel=1e-2)
    assert row["difference_half_width"] < 1e-5
    assert row["first_half_width"] > 1e-4


def test_intervals_of_changes_hold_the_change_as_often_as_they_say() -> None:
    """Of a mean that is three times another one, with chance in both: that in the first counts three times."""
    random = np.random.default_rng(4)
    held = []
    for number in range(400):
        sides = [
            pl.DataFrame({"entity": "a", "seed": range(5), "repeat": 0, COPIED: False, "rtt_s": values})
            for values in (random.normal(1, 0.15, 5), random.normal(3, 0.15, 5))
        ]
        means = [float(side["rtt_s"].to_numpy().mean()) for side in sides]
        values = pl.DataFrame({"entity": "a", "metric": "rtt_s", "first": means[0], "second": means[1]})
        row = _paired_by_seed(values, sides).row(0, named=True)
        assert row["change"] == pytest.approx(means[1] / means[0] - 1)
        held.append(abs(row["change"] - 2) <= row["change_half_width"])
        assert number or row["change_half_width"] > row["difference_half_width"] / means[0]
    assert 0.92 <= np.mean(held) <= 0.98


def _unlike(folder: Path) -> tuple[tl.experiment.Experiment, pl.DataFrame, pl.DataFrame]:
    """A sweep of delay and queue, its runs, and those of a sweep of the delay alone in a folder beside it."""
    keys = {"link.wire.delay": ["10 ms", "20 ms"], "link.wire.queue": ["5 packets", "10 packets", "40 packets"]}
    first = tl.sweep(tl.loads(NOISY), keys, replications=3, output=folder / "first")
    second = tl.sweep(
        tl.loads(NOISY).set("link.wire.queue", {"kind": "codel"}),
        {"link.wire.delay": keys["link.wire.delay"]},
        replications=3,
        output=folder / "second",
    )
    return first, first.runs.collect(), second.runs.collect()


def test_levels_of_a_sweep_are_no_replications_of_another(tmp_path: Path) -> None:
    first, runs, others = _unlike(tmp_path)
    metric = "queueing_delay_p95_s"
    found = compare(tmp_path / "first", tmp_path / "second")
    assert found.notes == (
        "link.wire.queue: each level of first (5 packets, 10 packets, 40 packets) is held against second, which has codel",
    )
    rows = found.values.filter(metric=metric)
    assert rows.height == 6
    # Each combination has the mean and the interval that its sweep has, and stands beside one combination of the other.
    summary = first.summary
    assert rows["first"].to_list() == pytest.approx(summary[metric].to_list())
    assert rows["first_half_width"].to_list() == pytest.approx(summary["queueing_delay_p95_half_width_s"].to_list())
    means = dict(others.group_by("link.wire.delay").agg(pl.col(metric).mean()).rows())
    assert rows["second"].to_list() == pytest.approx([means[delay] for delay in summary["link.wire.delay"]])
    assert rows["entity"][1] == "link.wire.delay = 10 ms, link.wire.queue = 10 packets"
    assert found.alone.is_empty()
    # The scenario's own queue is that of no run.
    keys = found.differences.select("key", "first").rows()
    assert keys[0] == ("link.wire.queue", "5 packets, 10 packets, 40 packets")
    # Over the levels: their mean with each seed, then over seeds.
    over = compare(tmp_path / "first", tmp_path / "second", by=["link.wire.delay"])
    assert over.notes == (
        "link.wire.queue: values of first are means over its levels 5 packets, 10 packets, 40 packets",
    )
    row = over.values.filter(metric=metric).row(0, named=True)
    by_seed = runs.filter(pl.col("link.wire.delay") == "10 ms").group_by("seed").agg(pl.col(metric).mean())
    assert row["first"] == pytest.approx(by_seed[metric].mean())
    assert row["first_half_width"] == pytest.approx(half_width(by_seed[metric].to_list()))
    apart = by_seed.join(others.filter(pl.col("link.wire.delay") == "10 ms"), on="seed")
    expected = half_width((apart[f"{metric}_right"] - apart[metric]).to_list())
    assert row["difference_half_width"] == pytest.approx(expected)
    # The report says it, too.
    page = write_comparison(found, tmp_path, ("first", "second")).read_text(encoding="utf-8")
    assert "is held against second, which has codel" in page
    assert found.notes[0] in repr(found)


def test_a_level_that_the_other_sweep_has_throughout(tmp_path: Path) -> None:
    _unlike(tmp_path)
    tl.sweep(
        tl.loads(NOISY),
        {"link.wire.delay": ["10 ms", "20 ms"], "traffic.ftp.flows": [2, 4]},
        replications=2,
        output=tmp_path / "third",
    )
    found = compare(tmp_path / "first", tmp_path / "third")
    goodput = found.of("runs", "goodput_bps")
    both = "link.wire.queue = 10 packets, traffic.ftp.flows = 4"
    assert goodput["entity"].to_list() == [f"link.wire.delay = {delay}, {both}" for delay in ("10 ms", "20 ms")]
    assert all(abs(change) < 0.05 for change in goodput["change"].to_list())
    assert found.notes == (
        "link.wire.queue: first has 5 packets, 10 packets, 40 packets, and third has 10 packets alone",
        "traffic.ftp.flows: third has 2, 4, and first has 4 alone",
        "changes are over the seeds that both have; the means of first are over more",
    )
    assert found.alone.filter(side="first")["entity"].n_unique() == 4
    # Neither has a value of what the other varied.
    with_codel = compare(tmp_path / "second", tmp_path / "third").of("runs", "goodput_bps")["entity"].to_list()
    assert with_codel == [f"link.wire.delay = {delay}, traffic.ftp.flows = 4" for delay in ("10 ms", "20 ms")]


def test_both_sweeps_may_vary_what_the_other_lacks(tmp_path: Path) -> None:
    others: dict[str, dict[str, list[Any]]] = {
        "first": {"link.wire.queue": ["5 packets", "20 packets"]},
        "second": {"traffic.ftp.flows": [1, 2]},
    }
    for name, more in others.items():
        tl.sweep(tl.loads(BASE), {"link.wire.delay": ["10 ms"], **more}, output=tmp_path / name)
    found = compare(tmp_path / "first", tmp_path / "second").of("runs", "goodput_bps")["entity"].to_list()
    assert found == [
        f"link.wire.delay = 10 ms, link.wire.queue = {queue} against traffic.ftp.flows = {flows}"
        for queue in ("5 packets", "20 packets")
        for flows in (1, 2)
    ]


def test_other_seeds_of_one_sweep_change_nothing(tmp_path: Path) -> None:
    for name, replications in (("five", 5), ("three", 3), ("alone", 1)):
        tl.sweep(tl.loads(NOISY), {"link.wire.queue": ["5 packets"]}, replications=replications, output=tmp_path / name)
    for other in ("three", "alone"):
        found = compare(tmp_path / "five", tmp_path / other)
        row = found.values.filter(metric="goodput_bps").row(0, named=True)
        # The means are of other runs; every run of the second is one of the first.
        assert row["first"] != row["second"]
        assert (row["difference"], row["change"]) == (0.0, 0.0)
        assert set(found.values["change"].drop_nulls()) == {0.0}
        assert found.notes == ("changes are over the seeds that both have; the means of five are over more",)
    assert compare(tmp_path / "five", tmp_path / "five").notes == ()


def test_shares_that_vary_have_an_interval_of_their_change() -> None:
    rows = pl.DataFrame(
        {
            "entity": "a",
            "metric": ["utilization", "limited_by_network", "loss"],
            "first": [0.9713, 0.083, 0.0],
            "second": [0.9933, 0.0042, 0.004],
            "change": [0.02265, -0.95, None],
            "first_half_width": [0.0097, 0.027, 0.0],
            "second_half_width": [0.001, 0.0, 0.009],
            "difference": [0.022, -0.0788, 0.004],
            "difference_half_width": [0.0098, 0.027, 0.009],
            "change_half_width": [0.01, 0.01, None],
        }
    )
    # One that was without losses throughout cannot have had fewer.
    assert words.written(rows)["change"].to_list() == ["+2.2 ± 1.0 points", "−7.9 ± 2.7 points", "+0.4 ± ? points"]
