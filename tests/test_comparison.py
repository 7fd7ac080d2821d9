"""Two runs side by side: what is paired, what is listed, how well they agree."""

from __future__ import annotations

import itertools
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink import cli
from tightlink.analysis.compare import words
from tightlink.analysis.compare.comparison import _paired_by_seed, compare
from tightlink.analysis.compare.sweeps import COPIED
from tightlink.analysis.path import residuals
from tightlink.experiment.fairness import sets_of_competitors
from tightlink.experiment.metrics import metrics
from tightlink.experiment.precision import half_width
from tightlink.reduce import jain
from tightlink.report.side_by_side import write_comparison
from tightlink.run import CAPTURE, MEASUREMENT, Framed, Run

if TYPE_CHECKING:
    from pathlib import Path

BASE = """
profile = "ns2"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "10 packets" }
traffic.ftp = { kind = "bulk", flows = 4, from = "a", to = "b", start = { first = "0 s", every = "100 ms" } }
observe.interval = "100 ms"
"""


@pytest.fixture(scope="module")
def base() -> Run:
    return tl.simulate(tl.loads(BASE))


def measurement(flows: pl.DataFrame, **tables: pl.DataFrame) -> Run:
    return Run(None, {"source": MEASUREMENT, "identity": "x", "warnings": []}, Framed({"flows": flows, **tables}))


def test_a_run_agrees_with_itself(base: Run) -> None:
    found = compare(base, base)
    assert found.titles == ("first", "second")
    assert set(found.values["change"]) == {0.0}
    assert set(found.summary["verdict"]) == {"same"}
    assert found.alone.is_empty()
    assert found.differences.is_empty()
    # How well a simulation predicts a measurement is nothing that two simulations have.
    assert found.agreements == {}
    goodput = compare(measurement(base.flows), base).agreements["flows.goodput_bps"]
    assert (goodput.points, goodput.slope, goodput.within) == (4, 1.0, 1.0)
    assert goodput.origin is not None
    assert goodput.origin.value == 1.0


def test_changes_are_relative_to_the_first(base: Run) -> None:
    observed = measurement(base.flows.with_columns(pl.col("goodput_bps") * 1.25, timeouts=pl.lit(0, pl.Int64)))
    found = compare(observed, base)
    assert found.titles == ("measured", "simulated")
    rows = found.values.filter((pl.col("table") == "flows") & (pl.col("metric") == "goodput_bps"))
    # The simulation has a fifth less.
    assert rows["change"].to_list() == pytest.approx([-0.2] * 4)
    assert found.agreements["flows.goodput_bps"].within == 0
    # Nothing measured and something simulated: no change, but the values are there.
    timeouts = found.values.filter((pl.col("table") == "flows") & (pl.col("metric") == "timeouts"))
    for _, _, _, before, after, change in timeouts.rows():
        assert change == (0.0 if before == after else None)
    # What was measured has no links, no nodes and no scenario.
    assert set(found.alone["table"]) == {"links", "nodes", "series"}
    assert set(found.alone["side"]) == {"second"}
    assert found.differences.is_empty()


LINE = """
duration = "9 s"
link.wire = { ends = ["a", "b"], rate = "5 Mbit/s", delay = "5 ms", queue = "20 packets", reverse.rate = "1 Mbit/s" }
"""


def test_flows_after_each_other_have_no_more_than_the_link_together() -> None:
    times = ('stop = "3 s"', 'start = "3 s", stop = "6 s"', 'start = "6 s"')
    flows = [f'traffic.f{n} = {{ kind = "bulk", from = "a", to = "b", {time} }}' for n, time in enumerate(times)]
    run = tl.simulate(tl.loads(LINE + "\n".join(flows)))
    found = metrics(run)
    (goodput,) = compare(run, run).summary.filter(metric="goodput_bps")["first"]
    # Each is over 3 s and what its queue takes to empty, in which the next one has begun.
    assert goodput == found["goodput_bps"] == pytest.approx(run.flows["goodput_bps"].mean(), rel=0.02)
    assert goodput > 1.001 * sum(run.flows["goodput_bps"]) / 3
    assert found["throughput_bps"] < 5e6
    assert found["f1.share"] == pytest.approx(1 / 3, rel=0.01)
    # They do not compete, either: none is there while another is.
    assert math.isnan(found["jain"])


@pytest.mark.parametrize(
    ("more", "competing"),
    [
        ('traffic.up = { kind = "bulk", from = "b", to = "a" }', []),
        ('traffic.up = { kind = "bulk", from = "b", to = "a", flows = 2 }', [["up[0]", "up[1]"]]),
        ('traffic.call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s" }', []),
        ('traffic.other = { kind = "bulk", from = "a", to = "b", start = "8 s" }', [["down", "other"]]),
        # Neither is held back where they meet.
        (
            'link.up = { ends = ["s", "a"], rate = "100 Mbit/s" }\nlink.next = { ends = ["a", "c"], rate = "2 Mbit/s" }\n'
            'traffic.far = { kind = "bulk", from = "s", to = "c" }\ntraffic.near = { kind = "bulk", from = "s", to = "b" }',
            [["down", "near"]],
        ),
    ],
)
def test_flows_compete_where_they_are_held_back_together(more: str, competing: list[list[str]]) -> None:
    run = tl.simulate(tl.loads(f'{LINE}traffic.down = {{ kind = "bulk", from = "a", to = "b" }}\n{more}'))
    found = sets_of_competitors(run.flows, run)
    assert [each["label"].to_list() for each in found] == competing
    rows = {row["metric"]: row["first"] for row in compare(run, run).summary.to_dicts()}
    if competing:
        assert rows["jain"] == metrics(run)["jain"] == pytest.approx(jain(found[0]["goodput_bps"].to_list()))
    else:
        assert "jain" not in rows
        assert math.isnan(metrics(run)["jain"])


def test_what_one_side_does_not_know_is_listed(base: Run) -> None:
    flows = base.flows.with_columns(one_way_delay_mean_s=pl.lit(None, pl.Float64)).filter(pl.col("label") != "ftp[3]")
    extra = flows.head(1).with_columns(label=pl.lit("other"))
    found = compare(measurement(pl.concat([flows, extra])), base)
    alone = found.alone.filter(pl.col("table") == "flows")
    lost = alone.filter((pl.col("metric") == "one_way_delay_mean_s") & (pl.col("side") == "second"))
    assert lost["entity"].to_list() == [f"ftp[{place}]" for place in range(4)]
    assert set(alone.filter(pl.col("side") == "first")["entity"]) == {"other"}
    of_last = alone.filter((pl.col("entity") == "ftp[3]") & (pl.col("metric") == "goodput_bps"))
    assert of_last["value"].to_list() == base.flows["goodput_bps"].to_list()[3:]
    both = set(found.values.filter(pl.col("table") == "flows")["entity"])
    assert both == {"ftp[0]", "ftp[1]", "ftp[2]"}


def test_flows_of_one_name_are_paired_in_order(base: Run) -> None:
    twice = base.flows.head(2).with_columns(label=pl.lit("10.0.0.1:61000-10.0.0.2:5201"))
    found = compare(measurement(twice), measurement(twice))
    goodput = found.of("flows", "goodput_bps")
    assert goodput["entity"].to_list() == [twice["label"][0], f"{twice['label'][0]} #2"]
    assert goodput["first"].to_list() == twice["goodput_bps"].to_list()


def test_names_that_differ_are_paired_by_hand(base: Run) -> None:
    label = "10.0.0.1:61000-10.0.0.2:5201"
    captured = measurement(base.flows.head(1).with_columns(label=pl.lit(label)))
    assert compare(captured, base).nothing()
    found = compare(captured, base, pairs={label: "ftp[0]"})
    assert found.of("flows", "goodput_bps").rows() == [("ftp[0]", *base.flows["goodput_bps"].to_list()[:1] * 2, 0.0)]
    with pytest.raises(tl.TightlinkError, match=r"10.0.0.9 is nothing of the first, which has 10.0.0.1:61000"):
        compare(captured, base, pairs={"10.0.0.9": "ftp[0]"})
    with pytest.raises(tl.TightlinkError, match="ftp is nothing of the second"):
        compare(captured, base, pairs={label: "ftp"})
    with pytest.raises(tl.TightlinkError, match=r"the first has ftp\[1\], too"):
        compare(base, base, pairs={"ftp[0]": "ftp[1]"})


def test_captures_are_paired_by_services(base: Run) -> None:
    """Clients take other ports; the first connection, which controls the others, carries next to nothing."""

    def captured(client: int, control: int) -> Run:
        labels = [f"10.0.0.1:{client + place}-10.0.0.2:5201" for place in (3, 1, 2)]
        flows = base.flows.head(3).with_columns(
            label=pl.Series(labels), start_s=pl.Series([0.0, 0.2, 0.1]), bytes_sent=pl.Series([control, 10**6, 10**6])
        )
        series = pl.DataFrame({"time_s": [1.0], "entity": labels[:1], "metric": ["rtt_s"], "value": [0.1]})
        manifest = {"source": CAPTURE, "identity": "x", "warnings": []}
        return Run(None, manifest, Framed({"flows": flows, "series": series}))

    found = compare(captured(40_000, 700), captured(50_000, 700))
    names = [f"10.0.0.1:*-10.0.0.2:5201{number}" for number in ("", " #2", " #3")]
    assert found.of("flows", "start_s").select("entity", "first", "second").rows() == [
        (names[0], 0.0, 0.0), (names[2], 0.2, 0.2), (names[1], 0.1, 0.1)
    ]  # fmt: skip
    assert found.alone.is_empty()
    assert found.values.filter(table="series")["entity"].to_list() == names[:1]
    control = base.flows["goodput_bps"].head(3)
    fair = found.summary.filter(metric="jain").row(0, named=True)["first"]
    assert fair == pytest.approx(jain(control[1:].to_list()))
    by_hand = {"10.0.0.1:40003-10.0.0.2:5201": "10.0.0.1:50001-10.0.0.2:5201"}
    kept = compare(captured(40_000, 700), captured(50_000, 700), pairs=by_hand).of("flows", "start_s")
    assert kept.select("entity", "first", "second").rows()[0] == ("10.0.0.1:50001-10.0.0.2:5201", 0.0, 0.2)


def test_series_are_compared_over_the_time_that_both_have(base: Run) -> None:
    late = pl.DataFrame(
        {
            "time_s": [2.0, 2.5, 3.5],
            "entity": ["wire"] * 3,
            "metric": ["queue_packets"] * 3,
            "value": [4.0, 6.0, 100.0],
        }
    )
    found = compare(measurement(base.flows, series=late), base)
    row = found.values.filter((pl.col("table") == "series") & (pl.col("entity") == "wire")).row(0, named=True)
    queue = base.series.filter((pl.col("entity") == "wire") & (pl.col("metric") == "queue_packets"))
    assert row["first"] == 5.0
    assert row["second"] == queue.filter(pl.col("time_s") >= 2)["value"].mean()
    assert found.series.filter(pl.col("side") == "first")["time_s"].to_list() == [2.0, 2.5]
    assert set(found.series["entity"]) == {"wire"}


def test_agreement_of_any_columns() -> None:
    rng = np.random.default_rng(3)
    s = rng.uniform(1, 10, 40)
    frame = pl.DataFrame({"o": 2 * s * rng.uniform(0.95, 1.05, 40), "s": s})
    found = residuals.agreement(frame, ("o", "s"))
    assert found.slope == pytest.approx(2, abs=0.05)
    assert found.origin is not None
    assert found.origin.value > 0.98
    assert found.within == 0
    halved = residuals.agreement(frame.with_columns(pl.col("s") * 2), ("o", "s"))
    assert (halved.within, halved.origin) == (1.0, found.origin)


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
    noise = 'traffic.noise = { kind = "on-off", from = "a", to = "b", rate = "1 Mbit/s", on = "50 ms", off = "50 ms" }'
    levels = {"link.wire.queue": ["10 packets"]}
    for name in ("first", "second"):
        tl.sweep(tl.loads(BASE + noise), levels, replications=3, output=tmp_path / name)
    found = compare(tmp_path / "first", tmp_path / "second")
    (row,) = found.values.filter(metric="goodput_bps").to_dicts()
    summary = tl.experiment.open(tmp_path / "first").summary
    assert (
        row["first_half_width"] == row["second_half_width"] == pytest.approx(summary["goodput_half_width_bps"].item())
    )
    assert " ± " in repr(found)


def test_replications_of_one_scenario_beside_those_of_another(tmp_path: Path) -> None:
    """Nothing is varied but the seed, as where the guide asks for replications of both."""
    noise = 'traffic.noise = { kind = "on-off", from = "a", to = "b", rate = "1 Mbit/s", on = "50 ms", off = "50 ms" }'
    base = tl.loads(BASE + noise)
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


NOISY = (
    BASE + 'traffic.noise = { kind = "on-off", from = "a", to = "b", rate = "1 Mbit/s", on = "50 ms", off = "50 ms" }'
)


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


def test_of_many_links_those_that_changed_most_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hops = [f"r{place}" for place in range(13)]
    links = "".join(
        f'link.l{place} = {{ ends = ["{one}", "{other}"], rate = "{10 if place == 7 else 20} Mbit/s", delay = "1 ms" }}\n'
        for place, (one, other) in enumerate(itertools.pairwise(hops))
    )
    traffic = f'traffic.get = {{ kind = "bulk", from = "{hops[0]}", to = "{hops[-1]}" }}\n'
    base = tl.loads(f'duration = "1 s"\n{links}{traffic}')
    folders = [str(tmp_path / name) for name in ("first", "second", "third")]
    tl.simulate(base).save(folders[0])
    tl.simulate(base.set("link.l3.rate", "5 Mbit/s")).save(folders[1])
    tl.simulate(base).save(folders[2])
    assert cli.main(["compare", *folders[:2]]) == 0
    printed = capsys.readouterr().out
    rows = [line.split()[0] for line in printed.splitlines() if " utilization " in line]
    assert len(rows) == 10
    # The bottleneck that came, then the one that was.
    assert rows[:2] == ["l3", "l7"]
    assert "The 10 that changed most of 24 links (--wide shows all)." in printed
    assert cli.main(["compare", *folders[:2], "--wide"]) == 0
    printed = capsys.readouterr().out
    assert sum(" utilization " in line for line in printed.splitlines()) == 24
    assert "changed most" not in printed
    assert cli.main(["compare", folders[0], folders[2]]) == 0
    assert "None of 24 links changed (--wide shows all)." in capsys.readouterr().out


def test_wrong_folders(base: Run, tmp_path: Path) -> None:
    with pytest.raises(tl.TightlinkError, match=r"none: there is no such folder; expected the folder of a run"):
        compare(tmp_path / "none", base)
    with pytest.raises(tl.TightlinkError, match="nothing to compare is there"):
        compare(tmp_path, base)
    (tmp_path / "file").touch()
    with pytest.raises(tl.TightlinkError, match="file: it is a file; expected the folder of a run"):
        compare(tmp_path / "file", base)
    with pytest.raises(tl.TightlinkError, match="by label: two runs are paired by the names"):
        compare(base, base, by=["label"])


def test_nothing_in_common_is_said(base: Run) -> None:
    captured = Run(
        None,
        {"source": CAPTURE, "identity": "x", "warnings": ["the file ends early"]},
        Framed({"flows": base.flows.with_columns(label=pl.lit("10.0.0.1:61000-10.0.0.2:5201")).head(1)}),
    )
    found = compare(captured, base)
    assert found.nothing()
    assert found.warnings == ("first: the file ends early", "the two have no flow, link or node in common")
    # The other way round, changes are relative to the simulation.
    assert "changes are relative to the first" in compare(base, captured).warnings[1]


def test_a_captured_flow_that_lasts_longer_is_said(base: Run) -> None:
    longer = base.flows.with_columns(stop_s=pl.col("start_s") + 1.2 * (pl.col("stop_s") - pl.col("start_s")))
    captured = Run(None, {"source": "capture", "warnings": []}, Framed({"flows": longer, "links": base.links}))
    said = compare(captured, base).warnings
    assert any(text.endswith("compare its rates and shares, not its numbers of packets") for text in said)
    same = Run(None, {"source": "capture", "warnings": []}, Framed({"flows": base.flows, "links": base.links}))
    assert compare(same, base).warnings == ()


@pytest.mark.parametrize(("more", "verdict"), [(1, "same"), (30, "worse")])
def test_a_loss_more_is_no_news(base: Run, more: int, verdict: str) -> None:
    """Of some losses one more is beyond a per cent, and within what chance does."""
    dropped = pl.when(flow=0).then(50 + pl.lit(more) * pl.col("after")).otherwise(0)

    def run(after: int) -> Run:
        flows = base.flows.with_columns(after=pl.lit(after)).with_columns(packets_dropped=dropped).drop("after")
        return Run(base.scenario, base.manifest, Framed({"flows": flows, "links": base.links}))

    rows = {row["metric"]: row for row in compare(run(0), run(1)).summary.to_dicts()}
    assert rows["loss"]["change"] > 0.01
    assert rows["loss"]["verdict"] == verdict


def test_the_summary_says_what_got_better_and_what_worse(base: Run) -> None:
    after = tl.simulate(tl.loads(BASE).set("link.wire.queue", "100 packets"))
    found = compare(base, after)
    rows = {row["metric"]: row for row in found.summary.to_dicts()}
    assert [row["of"] for row in rows.values()][-1] == "wire"
    goodput, delay, loss, fairness, queue = rows.values()
    # Of what all delivered in 3 s: the second flow begins 100 ms later than the first.
    assert goodput["first"] == pytest.approx((base.flows["goodput_bps"] * (3 - base.flows["start_s"])).sum() / 3)
    assert (delay["verdict"], queue["verdict"], loss["verdict"]) == ("worse", "worse", "better")
    assert delay["change"] == pytest.approx(delay["second"] / delay["first"] - 1)
    assert delay["change"] > 0 > loss["change"]
    assert loss["first"] == float(base.flows["packets_dropped"].sum()) / float(base.flows["packets_sent"].sum())
    assert fairness["metric"] == "jain"
    assert fairness["verdict"] == ("better" if fairness["second"] > fairness["first"] else "worse")
    assert queue["second"] == after.links.filter(link="wire")[queue["metric"]].item()


def _transfers(times: Mapping[str, tuple[float | None, ...]], *, unfinished: int = 0) -> pl.DataFrame:
    """Completion times of a group at 50, 95 and 99 %, in ms, by size; none where they fall on those unfinished."""
    rows = [
        {"label": "web", "size_class": size, "transfers": 200 if size != "over 10 MB" else 12, "unfinished": unfinished}
        | {
            f"completion_{name}_s": value and value / 1e3
            for name, value in zip(("p50", "p95", "p99"), each, strict=True)
        }
        for size, each in times.items()
    ]
    return pl.DataFrame(rows)


def test_the_summary_says_which_transfers_changed_most(base: Run) -> None:
    """Times of all are those of the large ones, which hardly tell what becomes of small ones."""
    before = {"all": (2.8, 12.0, 17.0), "up to 10 kB": (4.0, 9.0, 12.0), "over 10 MB": (1.7, 2.0, 2.4)}
    after = {"all": (3.2, 11.9, 100.0), "up to 10 kB": (8.0, 40.0, 360.0), "over 10 MB": (1.6, 2.0, 2400.0)}
    runs = [measurement(base.flows, completion_times=_transfers(each)) for each in (before, after)]
    rows = compare(*runs).summary.filter(pl.col("of").str.starts_with("web"))
    # The last of twelve transfers says nothing of the hundredth part of them.
    assert rows.select("metric", "of", "verdict").rows() == [
        ("completion_p99_s", "web: up to 10 kB", "worse"),
        ("completion_p50_s", "web: over 10 MB", "better"),
    ]
    assert compare(*runs).summary.row(0, named=True)["change"] == pytest.approx(29)
    # What is much the same has a line, too; a quantile that falls on transfers that did not end is not compared.
    same = {name: (p50, p95, None) for name, (p50, p95, _) in before.items()}
    lost = measurement(base.flows, completion_times=_transfers(same, unfinished=3))
    rows = compare(runs[0], lost).summary.filter(pl.col("of").str.starts_with("web"))
    assert rows.select("metric", "first", "second", "verdict").rows() == [
        ("unfinished", 0.0, 3.0, "worse"),
        ("completion_p50_s", 0.0028, 0.0028, "same"),
    ]
    none = dict.fromkeys(before, (None, None, None))
    lost = measurement(base.flows, completion_times=_transfers(none, unfinished=110))
    for pair, verdict in (((runs[0], lost), "worse"), ((lost, runs[0]), "better")):
        rows = compare(*pair).summary.filter(pl.col("of").str.starts_with("web"))
        assert rows.select("metric", "verdict").rows() == [("unfinished", verdict)]


def test_a_measurement_has_how_near_the_simulation_comes(base: Run, tmp_path: Path) -> None:
    measured = measurement(base.flows.with_columns(pl.col("goodput_bps") * 1.25))
    found = compare(measured, base)
    assert ">Agreement<" in write_comparison(found, tmp_path, ("lab", "model")).read_text()
    again = compare(base, tl.simulate(tl.loads(BASE), seed=2))
    assert ">Agreement<" not in write_comparison(again, tmp_path, ("before", "after")).read_text()


def test_nearly_equal_values_have_no_line(base: Run) -> None:
    first, second = (
        measurement(base.flows.with_columns(packets_sent=pl.Series(sent), one_way_delay_max_s=pl.Series(delays)))
        for sent, delays in (([100, 101, 102, 101], [0.1, 0.2, 0.3, 0.2]), ([102, 101, 100, 101], [0.3, 0.2, 0.1, 0.2]))
    )
    simulated = tl.Run(base.scenario, base.manifest, Framed({"flows": second.flows}))
    found = compare(first, simulated).agreements
    assert (found["flows.packets_sent"].origin, found["flows.packets_sent"].free) == (None, None)
    assert (found["flows.packets_sent"].points, found["flows.packets_sent"].within) == (4, 1.0)
    assert found["flows.one_way_delay_max_s"].origin is not None
    assert found["flows.one_way_delay_max_s"].origin.value < 0


def test_a_report_draws_over_time_what_was_simulated_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tl.loads(BASE.replace("observe.interval", "# "))
    folders = [
        str(tl.simulate(scenario.set("link.wire.queue", queue)).save(tmp_path / queue))
        for queue in ("10 packets", "20 packets")
    ]
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "drawn")]) == 0
    assert "mean of series" not in capsys.readouterr().out
    assert ">Over time<" in (tmp_path / "drawn" / "report.html").read_text()
    assert (tmp_path / "drawn" / "figures" / "series.svg").exists()


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "base.toml"
    file.write_text(BASE)
    names = {"first": "10 packets", "second": "20 packets"}
    for name, queue in names.items():
        assert cli.main(["run", str(file), "--set", f'link.wire.queue="{queue}"', "-o", str(tmp_path / name)]) == 0
    capsys.readouterr()
    folders = [str(tmp_path / name) for name in names]
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    lines = [line.split() for line in printed.splitlines()]
    assert ["link.wire.queue", "10", "packets", "20", "packets"] in lines
    assert ["flow", "metric", "first", "second", "change"] in lines
    assert sum(line[:2] == ["ftp[0]", "goodput"] for line in lines) == 2  # the total, and the mean of its series
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "report.html",
        "comparison.parquet",
        "alone.parquet",
        "figures",
    }
    report = (tmp_path / "out" / "report.html").read_text()
    for title in ("Better and worse", "Where the scenarios differ", "Flows", "Links", "Over time"):
        assert f">{title}<" in report
    assert {path.name for path in (tmp_path / "out" / "figures").iterdir()} == {"series.svg"}
    assert cli.main(["compare", *folders, "-o", str(tmp_path / "out")]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert cli.main(["compare", *folders, "--pair", "ftp[0]"]) == 2
    assert '--pair = "ftp[0]": expected FIRST=SECOND, two names' in capsys.readouterr().err
    assert cli.main(["compare", *folders, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["titles"] == ["first", "second"]
    assert found["agreements"] == {}
    assert {row["table"] for row in found["values"]} == {"flows", "links", "nodes", "series"}


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


def test_marks_are_compared_where_there_are_any(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With ECN a queue's signals are marks: "packets dropped" of 0 and 0 says nothing of them."""
    scenario = tl.loads("""
        duration = "5 s"
        link.w = { ends = ["s", "r"], rate = "20 Mbit/s", delay = "20 ms" }
        traffic.f = { kind = "bulk", from = "s", to = "r", tcp = { congestion = "cubic", ecn = true } }
    """)
    for kind in ("codel", "pie"):
        marking = scenario.set("link.w.queue", {"kind": kind, "ecn": True})
        tl.simulate(marking).save(tmp_path / kind)
        dropping = marking.set_all({"link.w.queue.ecn": False, "traffic.f.tcp.ecn": False})
        tl.simulate(dropping).save(tmp_path / f"{kind}-drops")
    assert cli.main(["compare", str(tmp_path / "codel"), str(tmp_path / "pie")]) == 0
    marked = [line.split() for line in capsys.readouterr().out.splitlines() if "packets marked" in line]
    assert [line[0] for line in marked] == ["f", "w"]
    assert all(int(line[3]) > 0 for line in marked)
    assert cli.main(["compare", str(tmp_path / "codel-drops"), str(tmp_path / "pie-drops")]) == 0
    assert "packets marked" not in capsys.readouterr().out


def test_a_call_that_gains_where_a_file_waits_longer_is_in_the_summary() -> None:
    """The worst flow is the file in both, and would be all that is said of a strict queue."""
    plain = tl.loads("""
duration = "10 s"
link.site = { ends = ["a", "b"], rate = "5 Mbit/s", delay = "10 ms", queue = "60 packets" }
traffic.call = { kind = "cbr", from = "a", to = "b", rate = "100 kbit/s", udp.payload = "160 B", dscp = "EF" }
traffic.film = { kind = "cbr", from = "a", to = "b", rate = "4.6 Mbit/s", random = "exponential" }
traffic.file = { kind = "bulk", from = "a", to = "b", start = "1 s" }
""")
    strict = {"kind": "strict", "limit": "60 packets", "order": ["EF"]}
    before, after = (tl.simulate(each) for each in (plain, plain.set("link.site.queue", strict)))
    found = tl.compare(before, after).summary
    delays = found.filter(metric="one_way_delay_p95_s")
    assert dict(delays.select("of", "verdict").rows())["call"] == "better"
    assert "worse" in delays["verdict"].to_list()
    assert found.filter(metric="loss")["of"].to_list() == ["all flows", "datagrams"]


def test_the_report_is_there_when_nobody_reads_the_tables(
    base: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with ``compare … -o DIR | head -1``."""
    folder = base.save(tmp_path / "run")

    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("tightlink.commands.compare._print", closed)
    monkeypatch.setattr("sys.stdout", sys.stdout)
    assert cli.main(["compare", str(folder), str(folder), "-o", str(tmp_path / "out")]) == 1
    assert (tmp_path / "out/report.html").is_file()


def test_a_comparison_in_a_notebook_is_tables(one_flow: str) -> None:
    base = tl.loads(one_flow).set("duration", "2 s")
    found = tl.compare(tl.simulate(base), tl.simulate(base.set("link.bottleneck.queue", "5 packets")))
    shown = found._repr_html_()
    assert shown.startswith("<p><b>Comparison</b>: second against first</p><table>")
    assert '<td style="text-align:left">link.bottleneck.queue</td><td style="text-align:left">20 packets</td>' in shown
    assert re.search(r'>goodput, all flows</td><td style="text-align:right">[0-9.]+ Mbit/s</td>', shown)
    assert shown.count("<table>") == shown.count("</table>") == 2
    # Names are of others.
    marked = replace(found, titles=("<b>", "a&b"), warnings=("<i>",), notes=("<u>",))._repr_html_()
    assert "a&amp;b against &lt;b&gt;" in marked
    assert "<p><b>Warning:</b> &lt;i&gt;</p>" in marked
    assert "<p>&lt;u&gt;</p>" in marked
    assert "<p>nothing in common</p>" in replace(found, values=found.values.clear(), summary=found.summary.clear(),
                                                differences=found.differences.clear())._repr_html_()  # fmt: skip
