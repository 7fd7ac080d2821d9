"""The tables of all runs of a sweep: frames, SQL, a grid of xarray."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from sweeps import QUEUE, WINDOW
from tightlink import cli, experiment


def test_a_sweep_is_a_grid_of_xarray(noisy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    levels = {QUEUE: ["5 packets", "20 packets"], ("duration", WINDOW): [("1 s", "4 packets"), ("2 s", "8 packets")]}
    found = tl.sweep(tl.load(noisy), levels, replications=2)
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "xarray", None)
        with pytest.raises(tl.TightlinkError, match="xarray is needed here and is not installed: pip install"):
            found.to_xarray()
    pytest.importorskip("xarray", reason="xarray is not installed (pip install xarray)")
    grid = found.to_xarray()
    assert dict(grid.sizes) == {QUEUE: 2, "duration": 2, "replication": 2}
    assert grid[WINDOW].dims == ("duration",)
    for row in found.runs.collect().iter_rows(named=True):
        cell = grid.sel({name: row[name] for name in (QUEUE, "duration", "replication")})
        assert (cell[WINDOW], cell["goodput_bps"]) == (row[WINDOW], row["goodput_bps"])


def test_tables_of_all_runs(file: Path, tmp_path: Path) -> None:
    base = tl.load(file, set={"observe.interval": "1 s"})
    found = tl.sweep(base, {WINDOW: ["2 packets", "20 packets"]}, output=tmp_path / "out")
    flows = found.flows.collect()
    assert flows["run"].to_list() == ["0/0", "1/0"]
    assert flows.drop("run").row(1) == found.run("1/0").flows.row(0)
    assert found.links.collect().height == 4
    assert found.series.filter(pl.col("metric") == "queue_packets").collect().height == 36
    connection = found.connect()
    rows = connection.sql(
        f"select \"{WINDOW}\", l.utilization from links l join runs using (run) where link = 'bottleneck' order by run"
    )
    assert (
        rows.fetchall()
        == found.links.join(found.runs, on="run")
        .filter(pl.col("link") == "bottleneck")
        .sort("run")
        .select(WINDOW, "utilization")
        .collect()
        .rows()
    )
    # The same from the files of the runs, as in the folder of a study.
    for path in (tmp_path / "out" / "tables").iterdir():
        path.unlink()
    again = experiment.open(tmp_path / "out")
    assert again.flows.collect().equals(flows)
    assert again.connect().sql("select * from flows order by run").fetchall() == flows.rows()
    assert again.connect().sql("select count(*) from packets").fetchall() == [(0,)]
    with pytest.raises(tl.TightlinkError, match='no table is called "flow"'):
        again.table("flow")


def test_sql(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    tl.sweep(tl.load(file), {WINDOW: ["2 packets", "20 packets"]}, output=out)
    assert cli.main(["query", str(out), "select run, packets_sent from runs order by run desc"]) == 0
    assert capsys.readouterr().out.split() == ["run", "packets_sent", "1/0", "2385", "0/0", "815"]
    assert cli.main(["query", str(out), "select count(*) as n from flows", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"n": 2}]
    assert cli.main(["query", str(out), "select nothing from runs"]) == 2
    assert '"nothing" not found' in capsys.readouterr().err
    assert cli.main(["query", str(out), "select avg(bulk.share) from runs"]) == 2
    assert capsys.readouterr().err.endswith('stands in double quotes: "bulk.share"\n')
    assert cli.main(["query", str(tmp_path), "select 1"]) == 2
    assert "or of a finished sweep or study" in capsys.readouterr().err
