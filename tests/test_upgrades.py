"""What older and newer versions wrote: used where it means the same, else told in a sentence, and never mixed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import tightlink as tl
from tightlink import plots
from tightlink.checksums import DamagedError, of_text, read_json, read_parquet, write_json, write_table
from tightlink.errors import TightlinkError
from tightlink.experiment.stored import table_of
from tightlink.lazy import _core
from tightlink.report import charts
from tightlink.run import Framed, Run
from tightlink.simulate import Prepared

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Said = Callable[..., tuple[int, str, str]]

NOW = _core.engine_behaviour
BEFORE = NOW - 1
VARIED = {"link.bottleneck.queue": ["5 packets", "20 packets"]}
VARY = "link.bottleneck.queue=5 packets,20 packets"


@pytest.fixture
def before(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Any]:
    """Does something as a version did whose engine had the behaviour before."""

    def as_before(work: Callable[[], Any]) -> Any:
        manifest = Prepared.manifest
        with monkeypatch.context() as patched:
            patched.setattr(_core, "engine_behaviour", BEFORE)
            patched.setattr(Prepared, "manifest", lambda *of: {**manifest(*of), "engine_behaviour": BEFORE})
            return work()

    return as_before


@pytest.fixture
def folder(scenario: tl.Scenario, before: Callable[..., Any], tmp_path: Path) -> Path:
    """A sweep that the version before finished."""
    found: Path = before(lambda: tl.sweep(scenario, VARIED, output=tmp_path / "sweep")).folder
    return found


def test_runs_of_two_engines_are_not_compared_unsaid(
    scenario: tl.Scenario, before: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    run: Run = before(lambda: tl.simulate(scenario))
    told = f"engine behaviour {BEFORE}, the second by {NOW}"
    assert told in "".join(tl.compare(run, tl.simulate(scenario)).warnings)
    assert not tl.compare(run, run).warnings
    later = tl.sweep(scenario, VARIED, output=tmp_path / "later")
    assert (tl.experiment.open(folder).engine_behaviour, later.engine_behaviour) == (BEFORE, NOW)
    assert told in "".join(tl.compare(folder, later).warnings)
    assert not tl.compare(later, later).warnings


def test_a_report_says_whose_engine_made_the_runs(
    scenario: tl.Scenario, before: Callable[..., Any], folder: Path, tmp_path: Path
) -> None:
    run: Run = before(lambda: tl.simulate(scenario))
    for report in (run.report(tmp_path / "run.html"), tl.experiment.open(folder).report(tmp_path / "sweep.html")):
        text = "".join(report.read_text(encoding="utf-8").split())
        assert f"<dt>enginebehaviour</dt><dd>{BEFORE}</dd>" in text


def test_a_sweep_that_is_resumed_says_what_it_simulates_again(
    scenario: tl.Scenario, folder: Path, tmp_path: Path, said: Said
) -> None:
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    outdated = f"kept there, and not used: 2 runs of engine behaviour {BEFORE}; what of them is needed is simulated"
    (folder / "runs.parquet").unlink()
    with pytest.raises(TightlinkError, match=outdated):
        tl.experiment.open(folder)
    code, _, told = said("sweep", str(file), "--vary", VARY, "-o", str(folder))
    assert code == 0
    assert outdated in told
    assert "already" not in told
    assert "of other levels" not in told
    found = tl.experiment.open(folder)
    assert found.engine_behaviour == NOW
    assert found.flows.collect().height == len(found.connect(["flows"]).sql("from flows").fetchall()) == 2
    with pytest.warns(tl.TightlinkWarning, match=outdated):
        tl.sweep(scenario, VARIED, output=folder)


def test_a_sweep_of_a_version_with_other_defaults_continues(scenario: tl.Scenario, tmp_path: Path, said: Said) -> None:
    folder = tl.sweep(scenario, VARIED, output=tmp_path / "sweep").folder
    marker = folder / "sweep.json"
    now = read_json(marker)["identity"]
    write_json(marker, {**read_json(marker), "identity": "0" * 64})
    file = tmp_path / "scenario.toml"
    file.write_text(scenario.to_toml(), encoding="utf-8")
    code, _, told = said("sweep", str(file), "--vary", VARY, "-o", str(folder))
    assert (code, read_json(marker)["identity"]) == (0, now)
    assert "2 of 2 runs were there already" in told
    code, _, told = said("sweep", str(file), "--set", "duration=2 s", "--vary", VARY, "-o", str(folder))
    assert (code, "holds the sweep of another scenario" in told) == (2, True)


def test_runs_of_two_versions_in_one_store_are_told_apart(scenario: tl.Scenario, folder: Path, tmp_path: Path) -> None:
    later = tl.sweep(scenario.set("observe.interval", "100 ms"), VARIED, output=tmp_path / "later")
    for file in later.store.files():
        shutil.copyfile(file, folder / "runs" / file.name)
    found = tl.experiment.open(folder)
    assert found.store.count() == 4
    assert "series" not in found.tables
    assert found.connect().sql("select count(*) from flows").fetchall() == [(2,)]


@pytest.mark.parametrize(
    "ask", ["runs", "flows", "series", "summary", "own", "tables", "failures", "warnings", "connect", "run"]
)
def test_a_folder_that_was_moved_is_told(scenario: tl.Scenario, tmp_path: Path, ask: str) -> None:
    found = tl.sweep(scenario, {"seed": [1]}, output=tmp_path / "sweep")
    found.runs.collect()
    found.folder.rename(tmp_path / "moved")
    with pytest.raises(TightlinkError, match=r"sweep: was moved or removed since it was opened; open it where it is"):
        _ = found.run("0/0") if ask == "run" else found.connect() if ask == "connect" else getattr(found, ask)
    run = tl.experiment.open(tmp_path / "moved").run("0/0")
    shutil.rmtree(tmp_path / "moved")
    with pytest.raises(TightlinkError, match="is not there any more, since the run was opened"):
        run.table("flows")


def test_columns_that_an_older_version_did_not_write_are_empty(scenario: tl.Scenario, tmp_path: Path) -> None:
    found = tl.simulate(scenario)
    folder = found.save(tmp_path / "run")
    own = found.flows.drop("rtt_p95_s", "queueing_delay_p95_s", "latency_max_s")
    write_table(folder / "flows.parquet", own.with_columns(warp_factor=pl.lit(9.0)))
    run = tl.open_run(folder)
    assert run.flows.columns == [*found.flows.columns, "warp_factor"]
    assert run.flows["rtt_p95_s"].to_list() == [None]
    assert run.report(tmp_path / "report.html").exists()
    assert run.why().diagnoses
    assert repr(tl.compare(found, run))
    write_table(folder / "flows.parquet", own.drop("goodput_bps"))
    with pytest.raises(DamagedError, match=r"no column goodput_bps, as what older versions .* make the run again"):
        _ = tl.open_run(folder).flows
    write_table(folder / "flows.parquet", own.with_columns(pl.col("goodput_bps").cast(pl.String)))
    with pytest.raises(DamagedError, match="column goodput_bps is String, where Float64 was expected"):
        _ = tl.open_run(folder).flows


def test_captures_of_another_version_have_its_columns_filled_in(scenario: tl.Scenario, tmp_path: Path) -> None:
    columns = tl.simulate(scenario).links.columns
    links = pl.DataFrame({
        "link": ["wire"], "from": ["a"], "to": ["b"], "packets_in": [3], "packets_out": [3], "bytes_out": [99],
        "utilization": [0.5],
    })  # fmt: skip
    for version, there in ((tl.__version__, links.columns), ("0.0.1", columns)):
        manifest = {"source": "capture", "identity": "a file", "version": version}
        folder = Run(None, manifest, Framed({"links": links})).save(tmp_path / version)
        assert tl.open_run(folder).links.columns == there


def test_tables_of_all_runs_of_an_older_version_have_empty_columns(folder: Path) -> None:
    table = folder / "tables" / "flows.parquet"
    columns = read_parquet(table).columns
    write_table(table, read_parquet(table).drop("rtt_p95_s"))
    flows = tl.experiment.open(folder).flows.collect()
    assert (flows.columns, flows["rtt_p95_s"].to_list()) == (columns, [None, None])


def test_runs_in_one_store_may_have_other_columns(scenario: tl.Scenario, tmp_path: Path) -> None:
    written = []
    for number, file in enumerate(tl.sweep(scenario, VARIED, output=tmp_path / "sweep").store.files()):
        run = pl.read_parquet(file)
        if number:
            flows = run["flows"][0].struct.unnest().drop("rtt_p95_s").with_columns(warp_factor=pl.lit(9.0))
            run = run.with_columns(flows=pl.Series([flows.to_struct("flows")]))
        written.append(tmp_path / file.name)
        run.write_parquet(written[-1])
    flows = table_of(written, "flows").collect()
    assert flows["rtt_p95_s"].is_null().to_list() == [False, True]
    assert "warp_factor" not in flows.columns


def test_keys_of_a_newer_version_are_told_with_it(scenario: tl.Scenario, tmp_path: Path) -> None:
    folder = tl.simulate(scenario).save(tmp_path / "run")
    text = scenario.to_toml() + "warp = 9\n"
    (folder / "scenario.toml").write_text(text, encoding="utf-8")
    newer = {"version": "99.0.0", "scenario_checksum": of_text(text)}
    write_json(folder / "manifest.json", read_json(folder / "manifest.json") | newer)
    with pytest.raises(
        TightlinkError, match=f"unknown key.*; Tightlink 99.0.0 wrote it, and this is {tl.__version__}$"
    ):
        tl.open_run(folder)


def test_figures_that_are_charts_now_say_where_they_are() -> None:
    for old, chart in {"scree": "scree", "component_biplot": "component_scores"}.items():
        assert hasattr(charts, chart)
        told = rf"no attribute '{old}'; it is charts\.{chart} now \(from tightlink\.report import charts\)$"
        with pytest.raises(AttributeError, match=told):
            getattr(tl.plots, old)
    assert all(hasattr(charts, name) for name in plots._CHARTS)
    unknown = "throughput_over_sizes"
    with pytest.raises(AttributeError, match="did you mean throughput_over_size"):
        getattr(tl.plots, unknown)
