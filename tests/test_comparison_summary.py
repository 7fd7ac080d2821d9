"""The summary of a comparison: what got better and what worse, for all flows and for those that compete."""

from __future__ import annotations

import math
from collections.abc import Mapping

import polars as pl
import pytest

import tightlink as tl
from compared import BASE, measurement
from tightlink.analysis.compare.comparison import compare
from tightlink.experiment.fairness import sets_of_competitors
from tightlink.experiment.metrics import metrics
from tightlink.reduce import jain
from tightlink.run import Framed, Run

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


@pytest.mark.parametrize(("more", "verdict"), [(1, "same"), (30, "worse")])
def test_a_loss_more_is_no_news(four_flows: Run, more: int, verdict: str) -> None:
    """Of some losses one more is beyond a per cent, and within what chance does."""
    dropped = pl.when(flow=0).then(50 + pl.lit(more) * pl.col("after")).otherwise(0)

    def run(after: int) -> Run:
        flows = four_flows.flows.with_columns(after=pl.lit(after)).with_columns(packets_dropped=dropped).drop("after")
        return Run(four_flows.scenario, four_flows.manifest, Framed({"flows": flows, "links": four_flows.links}))

    rows = {row["metric"]: row for row in compare(run(0), run(1)).summary.to_dicts()}
    assert rows["loss"]["change"] > 0.01
    assert rows["loss"]["verdict"] == verdict


def test_the_summary_says_what_got_better_and_what_worse(four_flows: Run) -> None:
    after = tl.simulate(tl.loads(BASE).set("link.wire.queue", "100 packets"))
    found = compare(four_flows, after)
    rows = {row["metric"]: row for row in found.summary.to_dicts()}
    assert [row["of"] for row in rows.values()][-1] == "wire"
    goodput, delay, loss, fairness, queue = rows.values()
    # Of what all delivered in 3 s: the second flow begins 100 ms later than the first.
    assert goodput["first"] == pytest.approx(
        (four_flows.flows["goodput_bps"] * (3 - four_flows.flows["start_s"])).sum() / 3
    )
    assert (delay["verdict"], queue["verdict"], loss["verdict"]) == ("worse", "worse", "better")
    assert delay["change"] == pytest.approx(delay["second"] / delay["first"] - 1)
    assert delay["change"] > 0 > loss["change"]
    assert loss["first"] == float(four_flows.flows["packets_dropped"].sum()) / float(
        four_flows.flows["packets_sent"].sum()
    )
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


def test_the_summary_says_which_transfers_changed_most(four_flows: Run) -> None:
    """Times of all are those of the large ones, which hardly tell what becomes of small ones."""
    before = {"all": (2.8, 12.0, 17.0), "up to 10 kB": (4.0, 9.0, 12.0), "over 10 MB": (1.7, 2.0, 2.4)}
    after = {"all": (3.2, 11.9, 100.0), "up to 10 kB": (8.0, 40.0, 360.0), "over 10 MB": (1.6, 2.0, 2400.0)}
    runs = [measurement(four_flows.flows, completion_times=_transfers(each)) for each in (before, after)]
    rows = compare(*runs).summary.filter(pl.col("of").str.starts_with("web"))
    # The last of twelve transfers says nothing of the hundredth part of them.
    assert rows.select("metric", "of", "verdict").rows() == [
        ("completion_p99_s", "web: up to 10 kB", "worse"),
        ("completion_p50_s", "web: over 10 MB", "better"),
    ]
    assert compare(*runs).summary.row(0, named=True)["change"] == pytest.approx(29)
    # What is much the same has a line, too; a quantile that falls on transfers that did not end is not compared.
    same = {name: (p50, p95, None) for name, (p50, p95, _) in before.items()}
    lost = measurement(four_flows.flows, completion_times=_transfers(same, unfinished=3))
    rows = compare(runs[0], lost).summary.filter(pl.col("of").str.starts_with("web"))
    assert rows.select("metric", "first", "second", "verdict").rows() == [
        ("unfinished", 0.0, 3.0, "worse"),
        ("completion_p50_s", 0.0028, 0.0028, "same"),
    ]
    none = dict.fromkeys(before, (None, None, None))
    lost = measurement(four_flows.flows, completion_times=_transfers(none, unfinished=110))
    for pair, verdict in (((runs[0], lost), "worse"), ((lost, runs[0]), "better")):
        rows = compare(*pair).summary.filter(pl.col("of").str.starts_with("web"))
        assert rows.select("metric", "verdict").rows() == [("unfinished", verdict)]


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


@pytest.mark.parametrize(("second", "said"), [
    (0.00999, "+899.0 %"), (0.01, "× 10"), (3.983, "× 3,980"), (0.0005, "−50.0 %"),
])  # fmt: skip
def test_ten_times_as_much_is_said_as_that(second: float, said: str, four_flows: Run) -> None:
    """In per cent nobody reads how much that is."""
    delayed = [four_flows.flows.with_columns(one_way_delay_p95_s=pl.lit(delay_s)) for delay_s in (0.001, second)]
    runs = [Run(four_flows.scenario, four_flows.manifest, Framed({"flows": flows})) for flows in delayed]
    (line,) = [line for line in str(compare(*runs)).splitlines() if line.startswith("one-way delay p95, worst")]
    assert f"  {said}  " in line
