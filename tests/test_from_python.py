"""What is there in Python works: values of other libraries, levels, folders, other processes, temporary folders."""

from __future__ import annotations

import atexit
import sys
import tempfile
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import tightlink as tl

if TYPE_CHECKING:
    from collections.abc import Callable


#: The package without its types, of which the tests are that values of other types are taken or refused in a sentence.
untyped: Any = tl


@pytest.mark.parametrize("count", [np.int64(2), np.uint8(2)])
def test_numbers_of_numpy_are_numbers(scenario: tl.Scenario, count: Any) -> None:
    link = untyped.Link(ends=np.array(["a", "b"]), rate="2 Mbit/s", loss=np.float32(0.5))
    assert repr(link) == "Link(ends=('a', 'b'), rate='2 Mbit/s', loss=0.5)"
    assert repr(tl.Bulk(from_="a", to="b", flows=count)) == "Bulk(from_='a', to='b', flows=2)"
    assert untyped.LossPattern(packets=np.arange(3, 5)).packets == [3, 4]
    assert tl.simulate(scenario, seed=count).manifest["seed"] == 2
    changed = scenario.set("traffic.ftp.flows", count)
    assert "flows = 2" in changed.to_toml()
    with pytest.raises(tl.ScenarioError, match='did you mean "2 packets"'):
        scenario.set("link.bottleneck.queue", count)


def test_what_is_a_time_or_a_number_for_others_is_taken(scenario: tl.Scenario) -> None:
    class Timedelta(timedelta):
        """As pandas has it."""

        nanoseconds = 5

    times: list[Any] = [timedelta(milliseconds=20), np.timedelta64(20, "ms"), np.timedelta64(20_000_000, "ns")]
    for given in times:
        assert scenario.set("link.bottleneck.delay", given).link["bottleneck"].delay == "20 ms"
        assert tl.units.time(given) == 0.02
    assert untyped.Link(ends=("a", "b"), rate="1 Mbit/s", delay=Timedelta(microseconds=1)).delay == "1005 ns"
    assert scenario.set("duration", timedelta(days=1)).duration == "86400 s"
    found = tl.sweep(scenario, {"link.bottleneck.delay": np.array([1000, 1001], "timedelta64[us]")})
    assert found.runs.collect()["link.bottleneck.delay"].to_list() == ["1 ms", "1001 us"]
    for number in (Decimal("0.01"), Fraction(1, 100)):
        assert scenario.set("link.bottleneck.loss", number).link["bottleneck"].loss == 0.01
        assert tl.units.fraction(number) == 0.01
    assert scenario.set("seed", Decimal(7)).seed == 7
    with pytest.raises(tl.ScenarioError, match=r'delay = 0.01: expected a unit, too: .*; did you mean "0.01 '):
        scenario.set("link.bottleneck.delay", Decimal("0.01"))
    with pytest.raises(tl.ScenarioError, match=r"rate = \"20 ms\": expected a rate"):
        scenario.set("link.bottleneck.rate", timedelta(milliseconds=20))
    with pytest.raises(tl.ScenarioError, match=r"queue = Codel: .* not the class; did you mean Codel\(…\)\?$"):
        scenario.set("link.bottleneck.queue", tl.Codel)


def test_warnings_are_of_the_line_that_calls(scenario: tl.Scenario) -> None:
    with pytest.warns(tl.TightlinkWarning) as warned:
        tl.sweep(scenario, {"traffic.ftp.start": ["0.1 s", "2 s"]})
    assert {warning.filename for warning in warned} == {__file__}
    assert len(warned) == 2


def test_a_diagnosis_says_that_it_is_of_a_part(scenario: tl.Scenario) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    run = tl.simulate(scenario.set("duration", "10 h"), part=True, watch=interrupt)
    assert run.part is not None
    assert run.part.endswith(" s of 10 h")
    said = f"Of a part of the run only: it was interrupted after {run.part}."
    assert str(run.why()).splitlines()[-1] == said
    assert said in run.why("ftp")._repr_html_()
    assert run.why().to_dict()["part"] == run.part
    assert (tl.simulate(scenario).part, tl.simulate(scenario).why().part) == (None, None)


class Halving(tl.CongestionControl):
    """A control that is a level."""

    def on_loss(self, loss: tl.Loss) -> float:
        return loss.in_use / 2


@pytest.mark.parametrize(
    ("key", "levels", "stored"),
    [
        ("traffic.ftp.flows", np.arange(1, 3), [1, 2]),
        ("traffic.ftp.flows", pl.Series([1, 2]), [1, 2]),
        ("traffic.ftp.tcp.congestion", [Halving, "cubic"], ["halving", "cubic"]),
        ("link.bottleneck.queue", [tl.DropTail(limit="9 packets")], ['{ kind = "drop-tail", limit = "9 packets" }']),
    ],
    ids=["numpy", "polars", "controls", "tables"],
)
def test_levels_are_stored_as_a_file_has_them(scenario: tl.Scenario, key: str, levels: Any, stored: list[Any]) -> None:
    found = untyped.sweep(scenario, {key: levels}, replications=np.int64(1))
    assert found.runs.collect()[key].to_list() == stored


def test_a_class_of_a_control_is_its_name() -> None:
    assert tl.Tcp(congestion=Halving) == tl.Tcp(congestion="halving")


def test_results_are_found_wherever_python_works(
    scenario: tl.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    tl.simulate(scenario).save("run")
    run = tl.open_run("run")
    found = tl.sweep(scenario, {"traffic.ftp.flows": [1, 2]}, output="sweep")
    again = tl.experiment.open("sweep")
    monkeypatch.chdir("elsewhere")
    assert run.flows.height == 1
    for each in (found, again):
        assert each.run("1/0").flows.height == 2
        assert each.flows.collect().height == 3
        assert repr(each) == "<Experiment in sweep: 2 runs over traffic.ftp.flows>"


def test_a_sweep_has_means_with_intervals_and_writes_its_report(scenario: tl.Scenario, tmp_path: Path) -> None:
    noisy = scenario.set("link.bottleneck.loss", "1 %")
    found = tl.sweep(noisy, {"link.bottleneck.delay": ["10 ms", "20 ms"]}, replications=3)
    columns = ["cell", "link.bottleneck.delay", "runs", "goodput_bps"]
    assert found.summary.select("cell", *found.varied, "runs").rows() == [("0", "10 ms", 3), ("1", "20 ms", 3)]
    first = found.runs.collect().filter(pl.col("run").str.starts_with("0/"))["goodput_bps"]
    # Student's t of two degrees of freedom.
    half_width = 4.302653 * float(np.std(first.to_numpy(), ddof=1)) / 3**0.5
    row = found.summary.row(0, named=True)
    assert [row[name] for name in columns[2:]] == [3, pytest.approx(first.mean())]
    assert row["goodput_half_width_bps"] == pytest.approx(half_width)
    page = found.report(tmp_path / "delays.html").read_text(encoding="utf-8")
    assert "<title>Sweep delays" in page
    copies = tl.sweep(scenario, {"link.bottleneck.delay": ["10 ms"]}, replications=2).summary
    assert copies["goodput_half_width_bps"].to_list() == [None]


def test_arguments_may_be_numbers_of_numpy(scenario: tl.Scenario, tmp_path: Path) -> None:
    run = untyped.simulate(scenario, threads=np.int64(1), trace=np.True_, pcap=tmp_path / "run.pcap")
    assert "packets" in run.tables
    assert "packets" in untyped.capture(tmp_path / "run.pcap", connections=np.int64(5), packets=np.True_).tables
    found = untyped.sweep(scenario, {"traffic.ftp.flows": [1, 2]}, jobs=np.int64(2), replications=np.int64(1))
    assert found.runs.collect().height == 2


def test_flows_links_and_nodes_in_one_table_have_names_that_differ(scenario: tl.Scenario) -> None:
    data = scenario.written()
    twice = tl.Scenario.from_dict(data | {"traffic": {"bottleneck": data["traffic"]["ftp"]}})
    said = (
        r"traffic\.bottleneck: link\.bottleneck has the same name, by which the table delays tells them apart: name one"
    )
    with pytest.raises(tl.ScenarioError, match=said):
        twice.set("observe", {"delays": True})
    run = tl.simulate(twice)
    with pytest.raises(tl.TightlinkError, match="this run has no table delays"):
        tl.plots.delays(run)
    routed = tl.Scenario.from_dict(data | {"node": {"bottleneck": {"processor": {"per_packet": "1 us"}}}})
    with pytest.raises(tl.ScenarioError, match=r"node\.bottleneck: .* the table series tells them apart"):
        routed.set("observe.interval", "1 s")


def test_a_run_whose_folder_is_gone_says_so(scenario: tl.Scenario, tmp_path: Path) -> None:
    run = tl.open_run(tl.simulate(scenario).save(tmp_path / "run"))
    (tmp_path / "run").rename(tmp_path / "elsewhere")
    with pytest.raises(tl.TightlinkError, match=r"flows\.parquet: is not there any more"):
        _ = run.flows
    with pytest.raises(tl.TightlinkError, match=r"; it holds a run, which tl.open_run opens$"):
        tl.experiment.open(tmp_path / "elsewhere")


def test_copies_have_no_interval_in_comparisons(scenario: tl.Scenario) -> None:
    vary = {"link.bottleneck.delay": ["10 ms", "20 ms"]}
    copies = tl.sweep(scenario, vary, replications=2)
    noisy = tl.sweep(scenario.set("link.bottleneck.loss", "1 %"), vary, replications=2)
    widths = ["first_half_width", "second_half_width", "difference_half_width"]
    same = tl.compare(copies, copies)
    assert same.values.select(widths).null_count().row(0) == (same.values.height,) * 3
    assert same.notes[0].startswith("first: nothing random changes any combination: their replications are copies")
    found = tl.compare(copies, noisy).of("runs", "goodput_bps")
    beside = tl.compare(copies, noisy).values.filter(metric="goodput_bps")
    assert found.height == 2
    assert beside.select(widths).null_count().row(0) == (2, 0, 0)


def test_classes_are_written_as_tables_with_what_was_set(scenario: tl.Scenario) -> None:
    found = tl.sweep(scenario, {"link.bottleneck.queue": [tl.Codel(), tl.Codel(target="4 ms")]})
    levels = found.runs.collect()["link.bottleneck.queue"].to_list()
    assert levels == ['{ kind = "codel" }', '{ kind = "codel", target = "4 ms" }']
    with pytest.raises(tl.ScenarioError, match="expected levels that differ"):
        tl.sweep(scenario, {"link.bottleneck.queue": [tl.Codel(), {"kind": "codel"}]})
    queues = tl.studies.evaluation.setup.subjects.subjects([tl.Codel(target="4 ms")], "queue")
    assert [each.label for each in queues] == ["codel:target=4 ms"]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc can be written to elsewhere, or is not there")
def test_a_folder_that_cannot_be_written_is_named(scenario: tl.Scenario) -> None:
    with pytest.raises(OSError, match=r"'/proc/run'$"):
        tl.simulate(scenario).save("/proc/run")


def test_a_temporary_folder_goes_with_python_and_is_not_said_to_be_kept(
    scenario: tl.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    taken: list[Callable[[], object]] = []
    monkeypatch.setattr(atexit, "register", lambda *given, **named: taken.append(partial(*given, **named)))

    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    for output, said in ((None, ""), (tmp_path / "kept", "the same command, or call, continues")):
        with pytest.raises(KeyboardInterrupt) as caught:
            tl.sweep(scenario, {"traffic.ftp.flows": [1, 2]}, output=output, watch=interrupt)
        assert said in str(caught.value)
        assert bool(said) is bool(str(caught.value))
    for take in taken:
        take()
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]
