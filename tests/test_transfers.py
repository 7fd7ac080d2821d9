"""Open-loop transfers: what arrives, how long it takes, and what is said of it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tightlink as tl
from tightlink import experiment
from tightlink.cli import main
from tightlink.diagnosis.completions import with_completions
from tightlink.experiment.metrics import metrics
from tightlink.plots import paper
from tightlink.report.blocks import Chart, Table
from tightlink.report.transfers import sections

#: One link, on which nothing but the transfers' own packets is in the way.
ALONE = """
profile = "ns2"
duration = "100 s"
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms", queue = "unlimited" }

[traffic.web]
kind = "transfers"
from = "a"
to = "b"
times = ["1 s"]
size = "30 kB"
tcp = { payload = "1000 B", window = "1000 packets", initial_window = "2 packets" }
"""
TREE = """
profile = "linux"
duration = "100 ms"
topology.net = { kind = "fat-tree", k = 4, link = { rate = "1 Gbit/s", delay = "5 us", queue = "100 packets" } }

[traffic.web]
kind = "transfers"
from = "net.host[*]"
to = "net.host[*]"
load = 0.3
of = "net.host_link[*]"
size = { distribution = "pareto", mean = "200 kB" }
"""
#: 1000 B of payload and 40 B of headers at 10 Mbit/s, ACKs of 40 B, and the way there and back.
DATA_S = 1040 * 8 / 1e7
ROUND_TRIP_S = DATA_S + 40 * 8 / 1e7 + 0.02
HANDSHAKE_S = 2 * 40 * 8 / 1e7 + 0.02


def _flows(scenario: tl.Scenario) -> list[dict[str, Any]]:
    flows: list[dict[str, Any]] = scenario.resolve()["flows"]
    return flows


def test_a_transfer_alone_takes_what_slow_start_takes() -> None:
    """30 packets in windows of 2, 4, 8 and 16, of which none fills the pipe of 25: after the handshake three round trips,
    then 16 packets back to back, one way."""
    row = tl.simulate(tl.loads(ALONE)).completions.row(0, named=True)
    assert row["completion_s"] == pytest.approx(HANDSHAKE_S + 3 * ROUND_TRIP_S + 16 * DATA_S + 0.01, rel=1e-12)
    assert row["ideal_s"] == pytest.approx(HANDSHAKE_S + 30 * DATA_S + 0.01, rel=1e-12)
    assert row["slowdown"] == pytest.approx(row["completion_s"] / row["ideal_s"], rel=1e-12)


def test_flows_with_bytes_are_timed_as_transfers_are(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A flow takes as long as the transfer of its size; one that has no end is in no table, one that has not ended counts."""
    kept = ALONE.partition("[traffic")[0]
    tcp = 'tcp = { payload = "1000 B", window = "1000 packets", initial_window = "2 packets" }'
    ends = f'kind = "bulk", from = "a", to = "b", {tcp}'
    one = f'traffic.get = {{ {ends}, start = "1 s", bytes = "30 kB" }}\n'
    found = tl.simulate(tl.loads(kept + one))
    columns = ["bytes", "start_s", "completion_s", "ideal_s", "slowdown", "packets_retransmitted", "timeouts"]
    assert found.completions.select(columns).equals(tl.simulate(tl.loads(ALONE)).completions.select(columns))
    assert metrics(found)["completion_p95_s"] == found.completions["completion_s"][0]
    assert found.why().sentence.startswith("get: took 106 ms, 1.9 times as long as on an empty path; ")
    of_one = tl.simulate(tl.loads(kept + one).set("traffic.get.flows", 1))
    assert of_one.why().sentence.startswith("get[0]: took 106 ms, 1.9 times as long as on an empty path; ")
    assert with_completions(of_one)["completion_s"].to_list() == with_completions(found)["completion_s"].to_list()
    start = '{ first = "0 s", every = "49.9 s" }'
    others = (
        f'traffic.endless = {{ {ends} }}\ntraffic.many = {{ {ends}, flows = 3, bytes = "1 MB", start = {start} }}\n'
    )
    several = tl.simulate(tl.loads(kept + one + others))
    assert several.completion_times.select("label", "size_class", "transfers", "unfinished").rows() == [
        ("get", "all", 1, 0),
        ("many", "all", 3, 1),
    ]
    assert several.completions.select("label", "transfer").rows() == [("get", 0), ("many", 0), ("many", 1), ("many", 2)]
    assert with_completions(several)["completion_s"].is_null().to_list() == [False, True, False, False, True]
    file = tmp_path / "a.toml"
    file.write_text(kept + one)
    for more in ([], ["--set", "traffic.get.flows=1"]):
        main(["run", str(file), *more])
        said = capsys.readouterr().out
        assert "106 ms" in said
        assert "transfers by size" not in said
    before, after = (
        tl.simulate(tl.loads(kept + one).set("link.wire.rate", rate)) for rate in ("10 Mbit/s", "5 Mbit/s")
    )
    assert tl.compare(before, after).summary.row(0)[:2] == ("completion_p50_s", "get")


@pytest.mark.parametrize("size", ["1 B", "1 kB", "2500 B", "1 MB"])
@pytest.mark.parametrize("hops", [("10 Mbit/s", "3 Mbit/s", "8 Mbit/s"), ("3 Mbit/s", "10 Mbit/s", "5 Mbit/s")])
@pytest.mark.parametrize("profile", ["ns2", "rfc", "linux"])
def test_a_transfer_alone_has_slowdown_one_where_its_window_is_open(
    size: str, hops: tuple[str, ...], profile: str
) -> None:
    """Over links of several rates; with profiles rfc and linux the last packet is shorter."""
    links = "".join(
        f'link.l{i} = {{ ends = ["n{i}", "n{i + 1}"], rate = "{rate}", delay = "2 ms", queue = "unlimited" }}\n'
        for i, rate in enumerate(hops)
    )
    text = f"""
profile = "{profile}"
duration = "100 s"
{links}
[traffic.web]
kind = "transfers"
from = "n0"
to = "n3"
times = ["0 s"]
size = "{size}"
tcp = {{ window = "2000 packets", initial_window = "2000 packets", initial_ssthresh = "unlimited" }}
"""
    run = tl.simulate(tl.loads(text))
    row = run.completions.row(0, named=True)
    assert row["slowdown"] == pytest.approx(1, rel=1e-9)


def test_transfers_at_an_ideal_fair_link_are_slowed_down_as_by_processor_sharing() -> None:
    """M/G/1-PS: a transfer of any size takes 1 / (1 − ρ) times as long in the mean (Kleinrock 1976, volume 2, § 4.4).

    Within 10 %, set before it was run: of 4,000 transfers the mean is known within about 3 % (a standard deviation of about
    0.8, and busy periods that several share), and the link serves packets in turn, not infinitesimally.
    """
    text = """
profile = "ns2"
duration = "400 s"
seed = 5
link.wire = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "100 us", queue = { kind = "fq-codel", limit = "100000 packets", target = "90 s", interval = "100 s" } }

[traffic.web]
kind = "transfers"
from = "a"
to = "b"
load = 0.4
of = "wire"
size = { distribution = "exponential", mean = "50 kB" }
tcp = { payload = "1000 B", window = "64 packets", initial_window = "64 packets" }
"""
    run = tl.simulate(tl.loads(text))
    whole = run.completion_times.row(0, named=True)
    load = run.links.row(0, named=True)["utilization"]
    assert whole["transfers"] == pytest.approx(4000, abs=4 * 4000**0.5)
    assert whole["unfinished"] <= 5
    assert whole["slowdown_mean"] == pytest.approx(1 / (1 - load), rel=0.1)


@settings(max_examples=12, deadline=None)
@given(
    load=st.floats(0.05, 1.5),
    size=st.sampled_from(['"20 kB"', '{ distribution = "exponential", mean = "20 kB" }',
                          '{ points = [["10 kB", 0.5], ["10 kB", 0.6], ["50 kB", 1.0]] }']),
    spacing=st.sampled_from(["poisson", "fixed"]),
    seed=st.integers(0, 2**40),
)  # fmt: skip
def test_the_load_that_arrives_is_the_load_asked_for(load: float, size: str, spacing: str, seed: int) -> None:
    """Within five standard deviations: N transfers at random have a total of variance N E[X²], which is at most 2 N E[X]²
    here (the exponential's)."""
    text = TREE.replace('{ distribution = "pareto", mean = "200 kB" }', size).replace("load = 0.3", f"load = {load!r}")
    scenario = tl.loads(text).set("traffic.web.spacing", spacing).set("seed", seed)
    flows = _flows(scenario)
    offered = sum(flow["traffic"]["bytes"] for flow in flows) * 8 / (16 * 0.1 * 1e9)
    assert abs(offered / load - 1) < 5 * (2 / len(flows)) ** 0.5


def test_nobody_sends_to_itself_and_ends_are_within_the_groups() -> None:
    flows = _flows(tl.loads(TREE))
    assert flows
    assert all(flow["from"] != flow["to"] for flow in flows)
    assert {flow["label"] for flow in flows} == {f"web[{index}]" for index in range(len(flows))}


@pytest.mark.parametrize("pairs", ["random", "permutation", "incast"])
def test_tables_do_not_depend_on_threads(pairs: str) -> None:
    scenario = tl.loads(TREE).set("traffic.web.pairs", pairs)
    one, two = (tl.simulate(scenario, threads=threads) for threads in (1, 2))
    assert one.manifest["digest"] == two.manifest["digest"]
    assert one.completions.equals(two.completions)


def test_a_permutation_together_starts_each_pair_at_each_time() -> None:
    scenario = tl.loads(TREE).set_all({
        "traffic.web.load": None, "traffic.web.of": None, "traffic.web.times": ["1 ms", "5 ms"],
        "traffic.web.pairs": "permutation", "traffic.web.together": True,
    })  # fmt: skip
    flows = _flows(scenario)
    assert [flow["start_s"] for flow in flows] == [0.001] * 16 + [0.005] * 16
    first, second = ([(flow["from"], flow["to"]) for flow in flows[part]] for part in (slice(16), slice(16, None)))
    assert first == second
    assert len({target for _, target in first}) == 16


def test_a_group_of_transfers_has_one_row_of_flows_and_no_series_of_its_own() -> None:
    bulk = '\n[traffic.ftp]\nkind = "bulk"\nfrom = "net.host[0]"\nto = "net.host[9]"\n'
    scenario = tl.loads(TREE + bulk).set("observe", {"interval": "10 ms"})
    run = tl.simulate(scenario)
    # Other flows come first, whatever the order in the file.
    assert run.flows["label"].to_list() == ["ftp", "web"]
    assert run.flows["packets_sent"][1] > 0
    flows = {name for name in run.series["entity"].unique() if name.startswith(("ftp", "web"))}
    assert flows == {"ftp"}
    total = sum(flow["traffic"]["bytes"] or 0 for flow in _flows(scenario))
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


def test_sizes_come_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("# measured\nbytes,cumulative_share\n1000,0.5\n\n9000,1\n", encoding="utf-8")
    file = tmp_path / "a.toml"
    file.write_text(TREE.replace('{ distribution = "pareto", mean = "200 kB" }', '{ file = "sizes.csv" }'))
    scenario = tl.load(file).set("traffic.web.load", 0.01)
    sizes = [flow["traffic"]["bytes"] for flow in _flows(scenario)]
    assert min(sizes) == 1000
    assert max(sizes) <= 9000
    # What is stored needs no other file.
    again = tl.loads(scenario.to_toml())
    assert "sizes.csv" not in scenario.to_toml()
    assert tl.simulate(again).manifest["digest"] == tl.simulate(scenario).manifest["digest"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("1000,0.5\nx,1\n", "a whole number of bytes and a share from 0 to 1, not 'x,1' in line 2"),
        ("1000,0.5\n2000\n", "a whole number of bytes and a share from 0 to 1, not '2000' in line 2"),
        ("1000,0.5\n2000,1.5\n", "a whole number of bytes and a share from 0 to 1, not '2000,1.5' in line 2"),
        ("1e5000,1\n", "a whole number of bytes and a share from 0 to 1, not '1e5000,1' in line 1"),
        ("1000,1e-999999999\n", "a whole number of bytes and a share from 0 to 1, not '1000,1e-999999999' in line 1"),
        ("", "lines such as 1000,0.5 of bytes and cumulative share, of which there is none"),
        ("1000,0.5\n", "a last share of 1, not 0.5 in the file"),
        ("1000,0.5\n500,1\n", "sizes and shares that do not fall: 500 B and 1 come after a share of 0.5 in the file"),
    ],
)
def test_a_bad_file_of_sizes_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    (tmp_path / "sizes.csv").write_text(content, encoding="utf-8")
    file = tmp_path / "a.toml"
    file.write_text(TREE.replace('{ distribution = "pareto", mean = "200 kB" }', '{ file = "sizes.csv" }'))
    assert main(["run", str(file)]) == 2
    assert capsys.readouterr().err == f'tightlink: {file}: traffic.web.size.file = "sizes.csv": expected {said}\n'


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("load", 0, 'a share above 0 and up to 2, or per cent up to "10000 %"'),
        ("load", 60, 'per cent up to "10000 %"; did you mean "60 %"?'),
        ("load", "60", 'did you mean "60 %"?'),
        ("load", "9000 %", "at most 200000 transfers, not about 180000"),
        ("of", "net.hostlink[*]", "the name of a link"),
        ("of", None, "the link of whose rate load is a share"),
        ("arrivals", "5 transfers/s", "either load or arrivals, not both"),
        ("times", ["1 ms"], "either load or times, not both"),
        ("pairs", "incst", "one of random, permutation, matched, incast"),
        ("pairs", "matched", "another node than net.host[0], which sends to its match"),
        ("together", True, 'nothing here with pairs = "random"'),
        ("senders", 4, 'nothing here without pairs = "incast"'),
        ("size", "0 B", "a size above zero"),
        ("size", {"mean": "1 kB"}, "a distribution with its mean, points, or a file"),
        ("size", {"distribution": "pareto"}, "a mean size"),
        ("size", {"distribution": "exponential", "mean": "1 kB", "shape": 2}, "nothing here: shape has an effect"),
        ("size", {"points": [["1 kB", 0.5]]}, "a last share of 1, not 0.5"),
        ("size", {"points": [["1 kB"]]}, "a size and the share of transfers up to it"),
        ("size", {"file": "none.csv"}, "a file that can be read: no such file or directory"),
        ("size_classes", ["1 MB", "1 kB"], "sizes that rise: 1 kB comes after 1 MB"),
        ("size_classes", ["1 MB", "1000 kB"], "sizes that differ"),
        ("start", "100 ms", "a time before the stop, which is 100 ms"),
        ("stop", "1 s", "a time not after the duration, which is 100 ms"),
        ("from", ["net.host[1]", "net.host[1]"], "nodes that stand once"),
        ("flows", 3, "unknown key"),
    ],
)
def test_bad_input_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, key: str, value: Any, said: str
) -> None:
    if (key, value) == ("load", "9000 %"):
        said = "at most 200000 transfers, not about"
    file = tmp_path / "a.toml"
    base = tl.loads(TREE).written()
    web = base["traffic"]["web"] | {key: value}
    if value is None:
        del web[key]
    from tightlink.scenario import toml

    file.write_text(toml.dump(base | {"duration": "1 s" if key == "load" else "100 ms", "traffic": {"web": web}}))
    assert main(["run", str(file)]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert said in printed.err
    assert len(printed.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pairs": "incast", "senders": 16}, "at most 15, all that can send"),
        ({"pairs": "permutation", "to": ["net.host[1]", "net.host[2]"]}, "as many nodes as from, which are 16, not 2"),
        ({"from": "net.host[1]", "to": "net.host[1]"}, "another node than from, to which it sends"),
        ({"load": None, "of": None, "times": ["1 s"]}, "times before the duration, which is 100 ms"),
        ({"load": None, "of": None, "times": ["2 ms", "1 ms"]}, "times that do not fall: 1 ms comes after 2 ms"),
        ({"load": None, "of": None, "times": ["1 ms"], "spacing": "fixed"}, "nothing here, as times says"),
        ({"load": None, "of": None, "arrivals": "5 packets/s"}, 'a rate of arrivals such as "100 transfers/s"'),
        ({"load": 1e-9}, "no transfer starts before its stop"),
    ],
)
def test_what_does_not_fit_together_is_an_error(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(tl.ScenarioError, match=said):
        tl.loads(TREE).set_all({f"traffic.web.{key}": value for key, value in changes.items()}).resolve()


def test_a_load_of_several_times_the_rate_is_in_per_cent_and_stays_so() -> None:
    scenario = tl.loads(TREE).set("traffic.web.load", "300 %")
    assert scenario.traffic["web"].written()["load"] == "300 %"
    again = tl.loads(scenario.explicit().to_toml())
    assert again.resolve() == scenario.resolve()
    assert tl.loads(TREE).set("traffic.web.load", "90 %").traffic["web"].written()["load"] == pytest.approx(0.9)


def test_nodes_without_a_way_to_each_other_are_an_error() -> None:
    text = ALONE.replace('to = "b"', 'to = "c"') + '\n[link.apart]\nends = ["c", "d"]\nrate = "1 Mbit/s"\n'
    with pytest.raises(tl.ScenarioError, match='no path from "a" to "c"'):
        tl.simulate(tl.loads(text))


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


def test_arrivals_in_microseconds() -> None:
    assert tl.units.arrival_rate("0.5 transfer/us") == 500_000
    assert len(_flows(tl.loads(TREE).set_all({
        "duration": "1 ms", "traffic.web.load": None, "traffic.web.of": None, "traffic.web.arrivals": "0.1 transfers/us",
        "traffic.web.spacing": "fixed",
    }))) == 100  # fmt: skip


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
