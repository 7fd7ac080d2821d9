"""Runs: their tables, and the folders that keep them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from processes import processors
from tightlink import _core
from tightlink.run import Framed
from tightlink.tables import TABLES

_TYPES = {"text": pl.String, "integer": pl.Int64, "number": pl.Float64}


_FLOWS = ["flows", "links", "nodes", "series"]
_USERS = ["links", "users", "user_paths", "transfers", "long_lived"]
_TRANSFERS = ["completions", "completion_times"]
_OF_CAPTURES = ["connections", "interfaces", "protocols", "packet_sizes", "findings"]
_OF_LINKS_IN_REAL_TIME = ["deliveries"]


@pytest.fixture(scope="module")
def run(mixed: str) -> tl.Run:
    return tl.simulate(tl.loads(mixed), trace=True)


@pytest.fixture(scope="module")
def run_with_users(small_users: str) -> tl.Run:
    return tl.simulate(tl.loads(small_users))


def _promised(run: tl.Run, names: list[str]) -> None:
    assert run.tables == names
    for name in names:
        frame = run.table(name)
        assert frame.columns == [column.name for column in TABLES[name]]
        assert frame.dtypes == [_TYPES[column.type] for column in TABLES[name]]
        assert frame.height > 0


def test_tables_have_the_columns_that_are_promised(run: tl.Run, run_with_users: tl.Run) -> None:
    _promised(run, [*_FLOWS, *_TRANSFERS, "packets"])
    _promised(run_with_users, _USERS)
    scattered = tl.loads("""\
    duration = "2 s"
    link.wire = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "2 ms" }
    traffic.calls = { kind = "scatter", at = ["a", "b"], rate = "100 packets/s" }
    observe.delays = true
    """)
    _promised(tl.simulate(scattered), ["links", "delays", "scatter"])
    transfers = tl.loads("""\
    duration = "2 s"
    link.wire = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "2 ms" }
    traffic.web = { kind = "transfers", from = "a", to = "b", times = ["0 s"], size = "10 kB" }
    """)
    _promised(tl.simulate(transfers), ["flows", "links", "nodes", *_TRANSFERS])
    assert set(TABLES) == {
        *_FLOWS,
        *_USERS,
        *_TRANSFERS,
        "packets",
        "delays",
        "scatter",
        *_OF_CAPTURES,
        "quic",
        "tunnels",
        *_OF_LINKS_IN_REAL_TIME,
    }


def test_tables_without_rows_have_their_types(run_with_users: tl.Run) -> None:
    alone = tl.simulate(run_with_users.scenario.set("traffic.web.long_lived", None))
    assert alone.long_lived.schema == run_with_users.long_lived.schema
    assert alone.long_lived.height == 0
    named = [run_with_users.users, run_with_users.user_paths, run_with_users.transfers]
    assert [frame["label"].unique().to_list() for frame in named] == [["web"]] * 3


def test_the_manifest_says_what_ran(run: tl.Run) -> None:
    keys = {"scenario", "seed", "version", "engine_behaviour", "digest", "packet_hops", "events", "random_draws"}
    assert keys | {"warnings", "timing", "identity", "source"} == set(run.manifest)
    assert set(run.manifest["timing"]) == {"wall_s", "threads", "packet_hops_per_s", "peak_rss_bytes"}
    assert run.manifest["seed"] == 7
    assert run.manifest["version"] == tl.__version__
    assert tl.Scenario.from_dict(run.manifest["scenario"]).resolve() == run.scenario.resolve()


def test_no_row_has_a_number_that_is_none(run: tl.Run) -> None:
    for name in run.tables:
        floats = run.table(name).select(pl.col(pl.Float64))
        assert not any(column.is_nan().any() for column in floats.iter_columns())
    assert run.flows.filter(pl.col("transport") == "udp")["rtt_mean_s"].is_null().all()


def test_shares_of_time_sum_to_one(run: tl.Run) -> None:
    shares = run.flows.select(pl.sum_horizontal(pl.selectors.starts_with("limited_by_"))).to_series()
    assert ((shares - 1.0).abs() < 1e-9).all()


def test_the_one_flow_study_in_brief(one_flow: str) -> None:
    flow = tl.simulate(tl.loads(one_flow)).flows.row(0, named=True)
    assert (flow["packets_sent"], flow["packets_dropped"]) == (2385, 0)


def test_a_saved_run_is_the_same(run: tl.Run, tmp_path: Path) -> None:
    folder = run.save(tmp_path / "deep" / "run")
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        ["manifest.json", "scenario.toml", *(f"{name}.parquet" for name in run.tables)]
    )
    saved = tl.open_run(folder)
    assert saved.tables == run.tables
    assert saved.scenario == run.scenario
    assert saved.manifest == run.manifest
    for name in run.tables:
        assert saved.table(name).equals(run.table(name))
    again = saved.save(tmp_path / "copy")
    assert tl.open_run(again).flows.equals(run.flows)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []


def test_saving_twice_changes_nothing_and_another_run_is_refused(run: tl.Run, mixed: str, tmp_path: Path) -> None:
    folder = run.save(tmp_path / "run")
    before = {file: file.stat().st_mtime_ns for file in folder.iterdir()}
    assert run.save(folder) == folder
    other = tl.simulate(tl.loads(mixed).set("duration", "1 s"))
    with pytest.raises(tl.TightlinkError, match="the run there is of another scenario; choose another folder"):
        other.save(folder)
    reseeded = tl.simulate(tl.loads(mixed), seed=8)
    with pytest.raises(tl.TightlinkError, match="the run there has seed 7 instead of 8"):
        reseeded.save(folder)
    part = {**run.manifest, "identity": "a part", "part_until_s": 10.120934079925679}
    tl.Run(run.scenario, part, Framed({name: run.table(name) for name in run.tables})).save(tmp_path / "part")
    with pytest.raises(tl.TightlinkError, match=r"a part of a run only, until 10\.12 s; choose another"):
        run.save(tmp_path / "part")
    shutil.rmtree(tmp_path / "part")
    assert {file: file.stat().st_mtime_ns for file in folder.iterdir()} == before
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_a_trace_is_added_to_a_run_without(run: tl.Run, mixed: str, tmp_path: Path) -> None:
    folder = tl.simulate(tl.loads(mixed)).save(tmp_path / "run")
    assert "packets" not in tl.open_run(folder).tables
    run.save(folder)
    assert tl.open_run(folder).packets.equals(run.packets)
    assert [file.name for file in tmp_path.iterdir()] == ["run"]


def test_other_folders_are_left_alone(run: tl.Run, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(tl.TightlinkError, match="is not empty and holds no run"):
        run.save(tmp_path)
    with pytest.raises(tl.TightlinkError, match="expected a folder"):
        run.save(tmp_path / "notes.txt")
    with pytest.raises(tl.TightlinkError, match=r"no run is there \(no manifest.json\)$"):
        tl.open_run(tmp_path)
    (tmp_path / "runs.parquet").touch()
    with pytest.raises(tl.TightlinkError, match=r"but that of many: tightlink\.experiment\.open opens it"):
        tl.open_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(tl.TightlinkError, match=r"manifest\.json: damaged: it is not valid JSON"):
        tl.open_run(tmp_path)
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(tl.TightlinkError, match=r"manifest\.json: damaged: it has no checksum"):
        tl.open_run(tmp_path)
    (tmp_path / "empty").mkdir()
    assert tl.open_run(run.save(tmp_path / "empty")).flows.equals(run.flows)


def test_a_folder_that_is_a_link(run: tl.Run, tmp_path: Path) -> None:
    """Results often are on another disk; what has no manifest yet may be there when a process was killed."""
    (tmp_path / "disk" / "results").mkdir(parents=True)
    (tmp_path / "disk" / "results" / ".link.0.tmp").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "disk" / "results")
    for _ in range(2):
        run.save(link)
        assert tl.open_run(link).flows.equals(run.flows)
    assert link.is_symlink()
    assert [each.name for each in (tmp_path / "disk").iterdir()] == ["results"]
    link.unlink()
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(tl.TightlinkError, match="expected a folder, and it is a link to one that is not there"):
        run.save(link)


def test_what_a_run_lacks_is_explained(one_flow: str) -> None:
    run = tl.simulate(tl.loads(one_flow))
    with pytest.raises(tl.TightlinkError, match=r"no table series: set observe\.interval"):
        _ = run.series
    with pytest.raises(tl.TightlinkError, match="no table packets: simulate with trace=True"):
        _ = run.packets
    with pytest.raises(tl.TightlinkError, match='no table is called "flow"'):
        run.table("flow")


def test_equal_seeds_give_equal_digests_in_any_process(mixed: str) -> None:
    here = [tl.simulate(tl.loads(mixed), seed=seed).manifest["digest"] for seed in (7, 7, 8)]
    assert here[0] == here[1] != here[2]
    program = f"import tightlink as tl; print(tl.simulate(tl.loads({mixed!r})).manifest['digest'])"
    there = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert there.strip() == here[0]


def test_traces_in_the_format_of_ns2(one_flow: str, tmp_path: Path) -> None:
    file = tmp_path / "out.tr"
    run = tl.simulate(tl.loads(one_flow), tr=file, trace=True)
    lines = file.read_text().splitlines()
    assert len(lines) == run.packets.height
    assert {len(line.split()) for line in lines} == {12}
    with pytest.raises(tl.TightlinkError, match="is there already, and nothing is overwritten"):
        tl.simulate(tl.loads(one_flow), tr=file)
    with pytest.raises(tl.TightlinkError, match="there is no folder"):
        tl.simulate(tl.loads(one_flow), tr=tmp_path / "none" / "out.tr")
    assert [path.name for path in tmp_path.iterdir()] == ["out.tr"]


def test_threads(one_flow: str) -> None:
    with pytest.raises(tl.TightlinkError, match="from 1 to 1024"):
        tl.simulate(tl.loads(one_flow), threads=0)
    alone, several = (tl.simulate(tl.loads(one_flow), threads=threads) for threads in (1, 3))
    assert alone.manifest["digest"] == several.manifest["digest"]


def test_series_are_the_same_on_several_threads(one_flow: str) -> None:
    scenario = tl.loads(one_flow + 'observe = { interval = "100 ms", transport = true }')
    one, two = (tl.simulate(scenario, threads=threads) for threads in (1, 2))
    assert one.manifest["digest"] == two.manifest["digest"]
    assert one.series.equals(two.series)
    assert one.series["time_s"].n_unique() == 99


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            'node.receiver.processor = { per_packet = "1 us", input_ring = "75 packets" }',
            "expected no processor of a host",
        ),
        (
            'traffic.all = { kind = "saturate", from = "sender", to = "receiver", udp = { payload = "1000 B" } }',
            "waits",
        ),
    ],
)
def test_what_cannot_be_on_several_threads_is_named(one_flow: str, more: str, expected: str) -> None:
    with pytest.raises(tl.ScenarioError, match=f"threads = 2: .*{expected}"):
        tl.simulate(tl.loads(one_flow + more + "\n"), threads=2)


def test_traces_and_captures_are_the_same_on_several_threads(tmp_path: Path) -> None:
    # Loss, so that there are SACK blocks.
    scenario = tl.load("examples/dumbbell.toml").set_all(
        {
            "duration": "300 ms",
            "topology.net.bottleneck.loss": 0.001,
            "traffic.bulk.start": "1 ms",
            "traffic.bulk.tcp.recovery": "sack",
        }
    )
    runs, texts = [], []
    for threads in (1, 2):
        tr, pcap = tmp_path / f"{threads}.tr", tmp_path / f"{threads}.pcapng"
        runs.append(tl.simulate(scenario, trace=True, tr=tr, pcap=pcap, threads=threads))
        texts.append((tr.read_bytes(), pcap.read_bytes()))
    assert [run.manifest["timing"]["threads"] for run in runs] == [1, min(2, processors())]
    assert runs[0].packets.equals(runs[1].packets)
    assert runs[0].packets.height > 10_000
    assert texts[0] == texts[1]


def test_the_engine_and_the_model_speak_of_the_same_things() -> None:
    assert [name for name, _ in _core.recoveries()] == ["tahoe", "reno", "newreno", "sack", "rack"]
    assert "drop-tail" in [name for name, _ in _core.queues()]
    with pytest.raises(_core.ScenarioError):
        _core.simulate(json.dumps({"profile": "ns2"}))


def test_notebooks_get_html(run: tl.Run) -> None:
    text = run._repr_html_()
    assert "simulation, 2 s, seed 7" in text
    assert "<table" in text
    # What a report says, in words and units, in place of all columns by their names.
    assert "Goodput " in text
    assert "goodput (" in text
    assert "goodput_bps" not in text
    assert (
        repr(run)
        == "<Run (simulation, 2 s, seed 7): flows, links, nodes, series, completions, completion_times, packets>"
    )


def test_what_was_captured_has_no_scenario(tmp_path: Path) -> None:
    frames = {"links": pl.DataFrame({"link": ["wire"], "packets_in": [3]})}
    captured = tl.Run(None, {"source": "capture", "identity": "a file"}, Framed(frames))
    with pytest.raises(tl.TightlinkError, match="this run is a capture, not of a scenario"):
        _ = captured.scenario
    saved = tl.open_run(captured.save(tmp_path / "capture"))
    assert saved.tables == ["links"]
    assert saved.links.equals(frames["links"])
    assert repr(saved) == "<Run (capture): links>"
    assert not (tmp_path / "capture" / "scenario.toml").exists()
    other = tl.Run(None, {"source": "capture", "identity": "another file"}, Framed(frames))
    with pytest.raises(tl.TightlinkError, match="there is another capture; choose another folder"):
        other.save(tmp_path / "capture")


def test_no_rate_exceeds_the_link_where_a_queue_empties_after_the_stop() -> None:
    """A second of 40 Mbit/s leaves for four over 10: over the second alone it would be 39."""
    flows = tl.simulate(
        tl.loads("""
            duration = "20 s"
            link.l = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "unlimited" }
            traffic.t = { kind = "cbr", from = "a", to = "b", rate = "40 Mbit/s", stop = "1 s" }
            traffic.u = { kind = "bulk", from = "b", to = "a", stop = "2 s" }
        """)
    ).flows
    rates = flows["throughput_bps"].to_list()
    assert max(rates) <= 10e6
    assert rates[0] > 9.9e6
