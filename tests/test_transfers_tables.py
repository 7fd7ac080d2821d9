"""Tables of open-loop transfers: rows, sums by size, percentiles, what is printed, drawn and swept."""

from __future__ import annotations

import json
import math
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from tightlink import experiment
from tightlink.cli import main
from tightlink.experiment.metrics import metrics
from tightlink.plots import paper
from tightlink.report.blocks import Chart, Table
from tightlink.report.transfers import sections
from transfer_scenarios import ALONE, TREE, flows_of


def test_a_group_of_transfers_has_one_row_of_flows_and_no_series_of_its_own() -> None:
    bulk = '\n[traffic.ftp]\nkind = "bulk"\nfrom = "net.host[0]"\nto = "net.host[9]"\n'
    scenario = tl.loads(TREE + bulk).set("observe", {"interval": "10 ms"})
    run = tl.simulate(scenario)
    # Other flows come first, whatever the order in the file.
    assert run.flows["label"].to_list() == ["ftp", "web"]
    assert run.flows["packets_sent"][1] > 0
    flows = {name for name in run.series["entity"].unique() if name.startswith(("ftp", "web"))}
    assert flows == {"ftp"}
    total = sum(flow["traffic"]["bytes"] or 0 for flow in flows_of(scenario))
    assert run.completions["bytes"].sum() == total


def test_sums_by_size_are_those_of_the_transfers() -> None:
    run = tl.simulate(tl.loads(TREE).set("traffic.web.size_classes", ["100 kB", "300 kB"]))
    each, classes = run.completions, run.completion_times
    assert classes["size_class"].to_list() == ["all", "up to 100 kB", "up to 300 kB", "over 300 kB"]
    assert classes["transfers"][0] == classes["transfers"][1:].sum() == each.height
    small = each.filter((pl.col("bytes") > 100_000) & (pl.col("bytes") <= 300_000))
    slowdown = small["slowdown"].sort(nulls_last=True)
    row = classes.row(2, named=True)
    assert row["unfinished"] == slowdown.null_count()
    assert row["slowdown_mean"] == pytest.approx(slowdown.mean())
    assert row["slowdown_p50"] == slowdown[-(-small.height // 2) - 1]
    assert row["completion_max_s"] == (None if slowdown.null_count() else small["completion_s"].max())


def test_transfers_that_are_not_complete_are_counted_and_said() -> None:
    run = tl.simulate(tl.loads(ALONE).set("traffic.web.times", ["1 s", "99.99 s"]))
    assert run.completions["completion_s"].is_null().to_list() == [False, True]
    assert run.completion_times["unfinished"][0] == 1
    assert run.warnings == [
        "1 of 2 transfers of web were not complete at the end: they are in no mean, and above every percentile; a longer "
        "duration, or an earlier stop, tells more"
    ]


def test_what_a_run_prints_and_what_a_sweep_compares(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    # Arrivals end long before the run, as nothing is known of a percentile above which there are others.
    file.write_text(TREE.replace("100 ms", "2 s") + 'stop = "60 ms"\n')
    main(["run", str(file)])
    text = capsys.readouterr().out
    assert "transfers by size" in text
    assert "slowdown p99" in text
    main(["run", str(file), "--json"])
    said = json.loads(capsys.readouterr().out)
    run = tl.simulate(tl.load(file))
    assert said["completion_times"] == run.completion_times.to_dicts()
    assert "completions" not in said
    found = metrics(run)
    assert found["slowdown_p99"] == run.completion_times["slowdown_p99"][0]
    assert found["up-to-1-MB.slowdown_p99"] == run.completion_times.row(3, named=True)["slowdown_p99"]
    swept = tl.sweep(tl.load(file), {"traffic.web.load": [0.1, 0.3]}, output=tmp_path / "sweep")
    assert swept.runs.collect()["slowdown_p99"][1] == found["slowdown_p99"]


@pytest.mark.parametrize("options", [[], ["--set", "observe.flows=none"]])
def test_no_table_is_printed_without_rows(
    options: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "a.toml"
    file.write_text(ALONE if not options else tl.network("dsl").set("duration", "1 s").to_toml())
    assert main(["run", str(file), *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [place for place, line in enumerate(lines) if line.startswith(("flow ", "transfers by size ", "link "))]
    assert all(lines[place + 1] for place in heads)
    assert lines[heads[-1]].startswith("link ")
    # One transfer alone has its row.
    assert [any(line.startswith(head) for line in lines) for head in ("transfers by size ", "flow ")] == [
        not options,
        not options,
    ]


def test_a_distribution_has_the_words_of_the_table_below_it() -> None:
    ended = {"duration": "2 s", "traffic.web.stop": "60 ms"}
    run = tl.simulate(tl.loads(TREE).set_all({"traffic.web.size_classes": ["100 kB", "200 kB"], **ended}))
    (section,) = sections(run)
    *_, cdf, table = section.blocks
    assert isinstance(cdf, Chart)
    assert isinstance(table, Table)
    drawn = paper.spec_of(cdf.chart)
    legend = drawn["encoding"]["color"]["scale"]["domain"]
    assert legend == table.frame["size_class"].to_list()[1:] == ["up to 100 kB", "up to 200 kB", "over 200 kB"]
    # Each line ends where the longest transfer of its class did.
    rows = [row for data in drawn["datasets"].values() for row in data]
    unit = max(row["completion_s"] for row in rows) / run.completions["completion_s"].max()
    for name, longest in run.completion_times.select("size_class", "completion_max_s").rows()[1:]:
        assert max(row["completion_s"] for row in rows if row["sizes"] == name) == pytest.approx(longest * unit)


def test_slowdowns_are_drawn_from_one_on() -> None:
    """Alone a transfer has a slowdown of one, of which rounding leaves a little less: a logarithmic axis would go to 0.1."""
    run = tl.simulate(
        tl.loads(TREE).set_all({"traffic.web.load": "2 %", "duration": "2 s", "traffic.web.stop": "1.5 s"})
    )
    assert run.completions.filter(pl.col("slowdown") < 1).height
    (section,) = sections(run)
    over_size = next(block for block in section.blocks if isinstance(block, Chart))
    rows = [row for data in paper.spec_of(over_size.chart)["datasets"].values() for row in data]
    assert min(row["slowdown"] for row in rows if "slowdown" in row) == 1


def test_a_saved_run_has_its_transfers(tmp_path: Path) -> None:
    run = tl.simulate(tl.loads(TREE))
    again = tl.open_run(run.save(tmp_path / "run"))
    assert again.completions.equals(run.completions)
    assert again.completion_times.equals(run.completion_times)
    with pytest.raises(
        tl.TightlinkError, match='its scenario has no traffic of kind "transfers", and no "bulk" with bytes'
    ):
        _ = tl.simulate(tl.loads(TREE.partition("[traffic")[0] + 'traffic.f = { kind = "bulk", from = "net.host[0]", '
                                 'to = "net.host[1]" }')).completions  # fmt: skip


def test_a_group_of_one_transfer_has_its_row(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(ALONE)
    main(["run", str(file)])
    said = capsys.readouterr().out
    assert "1 of 1 transfer was complete at the end; it took 1.9 times as long as" in said
    rows = [line.split() for line in said.partition("transfers by size")[2].splitlines() if line.startswith("all")]
    assert [row[1] for row in rows] == ["1"]


def test_percentiles_fall_on_what_was_not_complete() -> None:
    """Of ten transfers three are not complete: the median is that of ten, and of the slowest none is known."""
    arrivals = [f"{at} s" for at in (1, 2, 3, 4, 5, 6, 7)] + ["99.99 s"] * 3
    run = tl.simulate(tl.loads(ALONE).set("traffic.web.times", arrivals))
    row, done = run.completion_times.row(0, named=True), run.completions["completion_s"].drop_nulls().sort()
    assert (row["transfers"], row["unfinished"]) == (10, 3)
    assert row["completion_p50_s"] == done[4]
    assert [row[f"completion_{name}_s"] for name in ("p95", "p99", "max")] == [None] * 3
    assert row["completion_mean_s"] == pytest.approx(done.mean())
    assert [row[f"slowdown_{name}"] for name in ("p95", "p99", "max")] == [None] * 3
    assert "at 99 %" not in run.why().sentence
    assert run.why().sentence.startswith("web: 7 of 10 transfers were complete at the end; they took 1.9 times as long")
    assert math.isnan(metrics(run)["slowdown_p99"])
    congested = tl.compare(tl.simulate(tl.loads(ALONE).set("traffic.web.times", arrivals[:7])), run).summary
    assert congested.filter(metric="unfinished")["verdict"].to_list() == ["worse"]
    assert congested.filter(pl.col("metric").is_in(["completion_p95_s", "completion_p99_s"])).is_empty()


def test_sweeps_have_no_mean_of_percentiles_that_some_replications_lack(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those that lack one are the slow ones: the mean of the others would be too small."""
    path, folder = tmp_path / "web.toml", tmp_path / "sweep"
    path.write_text("""
    duration = "4 s"
    link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "50 packets" }
    [traffic.web]
    kind = "transfers"
    from = "a"
    to = "b"
    load = "70 %"
    of = "wire"
    size = { distribution = "pareto", mean = "100 kB" }
    stop = "3.9 s"
    """)
    vary = ["--vary", "link.wire.queue=50 packets,60 packets", "--replications", "4", "-o", str(folder)]
    assert main(["sweep", str(path), *vary, "--wide"]) == 0
    printed = capsys.readouterr()
    found = experiment.open(folder)
    assert 0 < found.runs.collect()["completion_p99_s"].null_count() < 8
    assert found.summary["completion_p99_s"].null_count() == found.summary["completion_p99_half_width_s"].null_count()
    assert found.summary["completion_p99_s"].null_count() > 0
    assert found.summary["completion_p50_s"].null_count() == 0
    assert "percentiles of transfer times have no mean where, in some replication, they fall on" in printed.err
    assert "Percentiles of transfer times have no mean" in (folder / "report.html").read_text()
    # Nor does a comparison have one, or effects.
    same = tl.compare(folder, folder).values.filter(metric="completion_p99_s")
    assert same.height == 2 - found.summary["completion_p99_s"].null_count()
    assert tl.analyze.read_runs(folder).runs["completion_p99_s"].null_count() == 8
