"""What a sweep says: traffic groups, what changed most, copies; in its table of runs, on the terminal, in its report."""

from __future__ import annotations

import html
import json
import math
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tightlink as tl
from tightlink import cli, experiment, report
from tightlink.analysis.effects.opposite import Opposite, opposite
from tightlink.experiment.metrics import listed, metrics
from tightlink.experiment.summary import summary
from tightlink.plots import palette
from tightlink.report import ranks
from tightlink.report.changes import changes, sentence, told
from tightlink.report.sweep import Found
from tightlink.report.sweep_opposite import headline, opposites

COMPETING = """
profile = "rfc"
duration = "5 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "20 packets" }
traffic.old = { kind = "bulk", from = "a", to = "b", flows = 2 }
traffic.new = { kind = "bulk", from = "a", to = "b", tcp = { congestion = "bbr" } }
"""


def test_replications_that_are_copies_are_named_cell_by_cell(
    one_flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "flow.toml", tmp_path / "out"
    file.write_text(one_flow)
    # Packets are lost at random in the second combination, and nothing else is random.
    varied = ["--vary", "link.bottleneck.loss=0,0.01", "--vary", "traffic.ftp.tcp.window=4 packets,20 packets"]
    assert cli.main(["sweep", str(file), *varied, "--replications", "3", "-o", str(out)]) == 0
    printed = capsys.readouterr()
    copies = (
        "nothing random changes combinations 0, 1: their replications are copies, without confidence intervals; starts "
        'such as { within = "1 s" } are others with each seed'
    )
    assert copies in printed.err
    rows = printed.out.splitlines()[1:5]
    assert ["±" in row for row in rows] == [False, False, True, True]
    page = (out / "report.html").read_text()
    assert f"N{copies[1:]}." in html.unescape(page)
    assert page.count("<td>3 copies</td>") == 2
    assert "Percentiles of one-way delays and round trips are means of those that flows have." in page
    # Copies are no replications: as such they would make every difference significant.
    assert "8 runs of all 4 combinations" in page


def test_notes_in_the_table_of_runs_are_no_metrics(
    one_flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = tmp_path / "flow.toml", tmp_path / "out"
    file.write_text(one_flow)
    assert cli.main(["sweep", str(file), "--vary", "traffic.ftp.tcp.window=4 packets,20 packets", "-o", str(out)]) == 0
    metrics_before = experiment.open(out).summary.columns
    runs = pl.read_parquet(out / "runs.parquet")
    runs.with_columns(pl.lit("checked").alias("note")).write_parquet(out / "runs.parquet")
    (out / "report.html").unlink()
    for words in (["report", str(out)], ["plot", str(out)], ["compare", str(out), str(out)]):
        capsys.readouterr()
        assert cli.main(words) == 0, capsys.readouterr().err
    assert experiment.open(out).summary.columns == metrics_before


def test_what_is_of_links_is_the_largest_of_all() -> None:
    """Of the busiest link it would be of another link in the next run, where that one is busier."""
    run = tl.simulate(
        tl.loads("""
        duration = "5 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", reverse.rate = "1 Mbit/s" }
        traffic.down = { kind = "cbr", from = "a", to = "b", rate = "9 Mbit/s" }
        traffic.up = { kind = "bulk", from = "b", to = "a", bytes = "300 kB" }
    """)
    )
    busiest = run.links.sort("utilization")["link"][-1]
    longest = run.links.sort("queueing_delay_p95_s")["link"][-1]
    assert (busiest, longest) == ("wire", "wire.reverse")
    found = metrics(run)
    for name in ("utilization", "queue_mean_packets", "queueing_delay_p95_s"):
        assert found[name] == run.links[name].max()


def test_traffic_groups_have_metrics_of_their_own(tmp_path: Path) -> None:
    scenario = tl.loads(COMPETING)
    found = tl.sweep(scenario, {"link.wire.queue": ["10 packets", "40 packets"]}, output=tmp_path / "sweep")
    runs = found.runs.collect()
    for row in runs.iter_rows(named=True):
        flows = found.run(row["run"]).flows
        old = flows.filter(pl.col("label").str.starts_with("old["))
        assert old.height == 2
        assert row["old.goodput_bps"] == pytest.approx(old["goodput_bps"].sum())
        assert row["old.goodput_bps"] + row["new.goodput_bps"] == pytest.approx(row["goodput_bps"])
        assert row["old.share"] + row["new.share"] == pytest.approx(1)
        shares = flows["goodput_bps"].to_list()
        assert row["jain"] == pytest.approx(sum(shares) ** 2 / 3 / sum(share**2 for share in shares))
        assert row["new.jain"] is None
    named = {name for name, _ in listed()}
    for column in runs.columns[5:-1]:
        group, _, metric = column.rpartition(".")
        assert (f"GROUP.{metric}" if group else metric) in named
    grouped, each = (tl.simulate(scenario.set("observe.flows", rows)) for rows in ("group", "each"))
    assert grouped.flows["label"].to_list() == ["old", "new"]
    assert math.isnan(metrics(grouped)["jain"])
    assert metrics(grouped)["old.share"] == pytest.approx(metrics(each)["old.share"])


def test_goodput_of_each_group_over_the_varied_key_is_one_chart(tmp_path: Path) -> None:
    levels = ["5 packets", "10 packets", "20 packets", "40 packets"]
    tl.sweep(tl.loads(COMPETING), {"link.wire.queue": levels}, output=tmp_path / "sweep")
    page = report.run_report(tmp_path / "sweep").read_text()
    specs = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page)]
    first = specs[0]["layer"][0]["encoding"]
    assert first["x"]["scale"]["type"] == "log"
    assert first["x"]["axis"]["values"] == [5, 10, 20, 40]
    assert first["color"]["scale"]["domain"] == ["old", "new"]
    assert first["y"]["title"] == "goodput (Mbit/s)"
    assert specs[1]["layer"][0]["encoding"]["x"]["title"] == "p95 queueing delay (ms)"
    assert specs[1]["layer"][0]["encoding"]["y"]["title"] == "throughput (Mbit/s)"
    # A colour means one thing on the page: levels have none of a flow's, nor has what is of all flows.
    shades = specs[1]["layer"][0]["encoding"]["color"]["scale"]["range"]
    assert shades == list(palette.shades(levels).values())
    charts = [spec["layer"][0]["encoding"] for spec in specs]
    alone = {chart["color"]["value"] for chart in charts if "value" in chart["color"]}
    assert alone == {palette.NEUTRAL}
    assert not {*shades, *alone} & set(first["color"]["scale"]["range"])
    # Delays stand beside each other: their axes are of one kind.
    kinds = {chart["y"]["scale"]["type"] for chart in charts[2:] if chart["y"]["title"].startswith("p95 ")}
    assert len(kinds) == 1


def test_levels_that_are_words_have_charts_too(tmp_path: Path) -> None:
    tl.sweep(tl.loads(COMPETING), {"traffic.old.tcp.congestion": ["cubic", "reno"]}, output=tmp_path / "sweep")
    page = report.run_report(tmp_path / "sweep").read_text()
    first = json.loads(re.findall(r'<script type="application/json">(.*?)</script>', page)[0])["layer"]
    assert [layer["mark"]["type"] for layer in first] == ["point"]
    assert first[0]["encoding"]["x"]["type"] == "nominal"
    assert first[0]["encoding"]["x"]["sort"] == ["cubic", "reno"]


def _levels(**columns: list[float]) -> dict[str, pl.DataFrame]:
    return {"link.wire.queue": pl.DataFrame({"link.wire.queue": ["10 packets", "80 packets"], **columns})}


def test_the_first_sentence_is_about_what_changed_most() -> None:
    moved = _levels(goodput_bps=[9.1e6, 9.4e6], loss=[0.05, 0.01], rtt_p95_s=[0.03, 0.12], jain=[0.98, 0.981])
    order = [change.response for change in changes(moved, ["goodput_bps", "loss", "rtt_p95_s", "jain"])]
    assert order == ["rtt_p95_s", "loss", "goodput_bps", "jain"]
    assert sentence(moved, order) == (
        "The flows' mean p95 RTT goes from 30 to 120 ms as link.wire.queue goes from 10 to 80 packets; loss 5.00 → 1.00 %; "
        "goodput 9.10 → 9.40 Mbit/s."
    )


def test_the_first_sentence_leaves_out_nothing_that_changes_as_much() -> None:
    queue = {"queue": [1, 4, 16], "rtt_p95_s": [0.1, 0.2, 0.9], "jain": [0.5, 0.9, 0.5]}
    delay = {"delay": ["5 ms", "80 ms"], "rtt_p95_s": [0.4, 0.42], "jain": [0.4, 0.8]}
    seed = {"seed": [1, 2], "rtt_p95_s": [0.1, 0.9], "jain": [0.1, 0.9]}
    levels = {"queue": pl.DataFrame(queue), "delay": pl.DataFrame(delay), "seed": pl.DataFrame(seed)}
    # What comes back has its own levels; another factor is told where it does as much.
    assert sentence(levels, ["rtt_p95_s", "jain"]) == (
        "The flows' mean p95 RTT goes from 100 to 900 ms as queue goes from 1 to 16; Jain's index 0.500 → 0.900 from 1 to "
        "4. As delay goes from 5 to 80 ms: Jain's index 0.400 → 0.800."
    )
    assert [change.response for change in told(levels, ["rtt_p95_s", "jain"])] == ["rtt_p95_s", "jain"]
    little = {"delay": ["5 ms", "80 ms"], "rtt_p95_s": [0.4, 0.42], "jain": [0.4, 0.45]}
    assert "delay" not in sentence(levels | {"delay": pl.DataFrame(little)}, ["rtt_p95_s", "jain"])


def _crossed(values: dict[tuple[str, str], list[float]]) -> pl.DataFrame:
    rows = [
        {
            "run": f"{cell}/{number}",
            "status": "done",
            "replication": number,
            "queue": queue,
            "delay": delay,
            "jain": value,
        }
        for cell, ((queue, delay), each) in enumerate(values.items())
        for number, value in enumerate(each)
    ]
    return pl.DataFrame(rows)


def test_effects_that_are_opposite_at_two_levels() -> None:
    means = {("5", "1 ms"): [0.9], ("20", "1 ms"): [0.5], ("5", "9 ms"): [0.5], ("20", "9 ms"): [0.8]}
    found = opposite(_crossed(means), "queue", "delay", "jain")
    assert found is not None
    assert (found.falls, found.rises) == (("1 ms", 0.9, 0.5), ("9 ms", 0.5, 0.8))
    assert found.size == pytest.approx(0.75)
    # Seen from the other factor it is the same.
    assert opposite(_crossed(means), "delay", "queue", "jain") is not None
    # The same way, though not as far; a combination that nothing is known of; and what replications differ by.
    for changed in ([0.55], [math.nan]):
        assert opposite(_crossed(means | {("20", "9 ms"): changed}), "queue", "delay", "jain") is None
    noisy = {
        levels: [value + 0.3, value, value - 0.3][:: 1 if levels[0] == "5" else -1]
        for levels, (value,) in means.items()
    }
    assert opposite(_crossed(noisy), "queue", "delay", "jain") is None


def test_opposite_effects_are_looked_for_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of the factor that changes most, of which the report says something at its beginning, too."""
    asked: list[tuple[object, ...]] = []

    def counting(runs: pl.DataFrame, *of: str) -> Opposite | None:
        asked.append(of)
        return opposite(runs, *of)

    monkeypatch.setattr("tightlink.report.sweep_opposite.opposite", counting)
    levels = {"link.wire.queue": ["5 packets", "40 packets"], "link.wire.delay": ["5 ms", "40 ms"]}
    tl.sweep(tl.loads(COMPETING).set("duration", "2 s"), levels, output=tmp_path / "out")
    report.run_report(tmp_path / "out")
    assert {of[0] for of in asked} == {"link.wire.queue", "link.wire.delay"}
    assert len(asked) == len(set(asked))


def test_a_report_says_what_its_means_hide(tmp_path: Path) -> None:
    """Over a short path a longer queue parts BBR and CUBIC, over a long one it brings them together."""
    base = tl.loads(COMPETING.replace("flows = 2", 'start = "0.1 s", tcp.congestion = "cubic"')).set("duration", "10 s")
    base = base.set_all({"link.wire.rate": "5 Mbit/s", "traffic[*].tcp.recovery": "rack"})
    levels = {"link.wire.queue": ["10 packets", "40 packets"], "link.wire.delay": ["5 ms", "40 ms"]}
    found = Found(tl.sweep(base, levels, output=tmp_path / "crossed"))
    (one,) = opposites(found, "link.wire.queue")
    assert (one.response, one.other, one.levels) == ("jain", "link.wire.delay", ("10 packets", "40 packets"))
    assert (one.falls[0], one.rises[0]) == ("5 ms", "40 ms")
    assert not headline(found, "link.wire.queue", {"loss"})
    assert headline(found, "link.wire.queue", {"loss", "jain"}).startswith(" But Jain's index 0.")
    page = report.run_report(tmp_path / "crossed").read_text()
    assert re.search(
        r"These means hide opposite effects:</strong> Jain's index [0-9.]+ → [0-9.]+ as queue goes from 10 to 40 packets "
        r"where delay is 5 ms, and [0-9.]+ → [0-9.]+ where it is 40 ms\.",
        page,
    )
    specs = map(json.loads, re.findall(r'<script type="application/json">(.*?)</script>', page))
    colors = [spec["layer"][0]["encoding"].get("color", {}).get("scale", {}) for spec in specs if "layer" in spec]
    (own,) = [color["range"] for color in colors if color.get("domain") == ["delay 5 ms", "delay 40 ms"]]
    assert own == list(palette.shades(["delay 5 ms", "delay 40 ms"]).values())
    # Of one factor, and of factors that are varied one at a time, there is no mean over others.
    tl.sweep(base, levels, design="one-at-a-time", output=tmp_path / "apart")
    assert "opposite effects" not in report.run_report(tmp_path / "apart").read_text()


def test_what_is_within_its_intervals_did_not_change() -> None:
    noisy = _levels(goodput_bps=[5e6, 9e6], goodput_half_width_bps=[2e6, 2.5e6])
    assert changes(noisy, ["goodput_bps"]) == []
    assert sentence(noisy, ["goodput_bps"]).startswith("Goodput changed little")
    surer = _levels(goodput_bps=[5e6, 9e6], goodput_half_width_bps=[1e6, 1e6])
    assert [change.means for change in changes(surer, ["goodput_bps"])] == [(5e6, 9e6)]


def test_the_deviation_of_equal_numbers_is_no_interval() -> None:
    # As floats these add up to other means than themselves.
    equal = [0.1 + 0.2 * 3, 0.7000000000000001, 0.1 * 7]
    runs = pl.DataFrame(
        {"run": ["0/0", "0/1", "0/2"], "status": ["done"] * 3, "queue": ["5 packets"] * 3, "load": equal}
    )
    assert summary(runs, ["queue"])["load_half_width"].to_list() == [0.0]
    spread = runs.with_columns(load=pl.Series([0.7, 0.8, 0.9]))
    assert summary(spread, ["queue"])["load_half_width"][0] == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-3)


def test_combinations_with_the_same_seeds_are_no_more_runs() -> None:
    """Four delays that change nothing: the mean over them is known as well as that of one."""
    from tightlink.analysis.effects.levels import over_levels

    goodputs = [812.0, 504.0, 792.0, 820.0, 848.0]
    rows = [
        {"run": f"{cell}/{number}", "status": "done", "replication": number, "delay": cell, "rate": 1, "goodput": value}
        for cell in range(4)
        for number, value in enumerate(goodputs)
    ]
    runs = pl.DataFrame(rows)
    alone = over_levels(runs.filter(pl.col("delay") == 0), "rate", ["goodput"])
    assert over_levels(runs, "rate", ["goodput"]).drop("runs").equals(alone.drop("runs"))
    assert round(alone["goodput_half_width"][0], 1) == 176.1


def test_without_chance_no_factor_is_said_not_to_matter(one_flow: str, tmp_path: Path) -> None:
    keys = {"link.bottleneck.queue": ["5 packets", "10 packets"], "link.bottleneck.delay": ["10 ms", "40 ms"]}
    tl.sweep(tl.loads(one_flow).set("duration", "2 s"), keys, output=tmp_path / "sweep")
    page = report.run_report(tmp_path / "sweep").read_text()
    assert "No factor moves any response significantly" not in page
    assert "No replications differ, so that effects are held against each other, and none stands out" in page


def _found(folder: Path) -> Found:
    return Found(experiment.open(folder))


def test_a_latin_hypercube_with_whole_numbers_is_told_by_ranks(tmp_path: Path) -> None:
    base = tl.loads("""
        duration = "1 s"
        link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms" }
        traffic.call = { kind = "cbr", from = "a", to = "b", rate = "1 Mbit/s" }
    """)
    keys = {"link.wire.loss": "0..0.002", "link.wire.delay": "1 ms..90 ms", "traffic.call.flows": [1, 2, 3]}
    tl.sweep(base, keys, design="latin-hypercube", runs=9, output=tmp_path / "nine")
    # The delay is what moves delays, whichever factor stands first, and whatever levels another one repeats.
    assert "one-way delay rises as link.wire.delay rises" in _found(tmp_path / "nine").sentence
    tl.sweep(base, keys, design="latin-hypercube", runs=3, output=tmp_path / "three")
    assert _found(tmp_path / "three").sentence.startswith("No response goes with a factor beyond chance")


def test_chance_goes_with_a_factor_as_seldom_as_the_level_says() -> None:
    """However many responses there are, and however few combinations."""
    random, told = np.random.default_rng(1), 0
    factors, responses = ["rate", "delay", "queue"], [f"response_{place}" for place in range(10)]
    for _ in range(60):
        cells = pl.DataFrame({name: random.random(8) for name in (*factors, *responses)})
        told += not ranks.sentence(cells, factors, responses).startswith("No response goes with a factor beyond chance")
    # 5 %, and three standard errors.
    assert told <= 8


def test_keys_that_are_tied_are_named(one_flow: str, tmp_path: Path) -> None:
    keys = {
        ("link.bottleneck.rate", "link.bottleneck.delay"): [("1 Mbit/s", "20 ms"), ("4 Mbit/s", "5 ms")],
        "traffic.ftp.tcp.window": ["10 packets", "20 packets"],
    }
    tl.sweep(tl.loads(one_flow).set("duration", "2 s"), keys, output=tmp_path / "tied")
    found = _found(tmp_path / "tied")
    assert found.sentence.endswith(" rate does not change alone: link.bottleneck.delay changes with it.")
    page = report.run_report(tmp_path / "tied").read_text()
    assert "2 levels of <code>link.bottleneck.rate</code> &amp; <code>link.bottleneck.delay</code>" in page
    effect = page[page.index("Means over all combinations that have the level.") :].partition("</table>")[0]
    assert re.search(r"<th[^>]*>rate</th><th[^>]*>delay</th>", effect)
    assert re.search(r">1 Mbit/s</th><td[^>]*>20 ms</td>", effect)
