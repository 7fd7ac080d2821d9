"""The tables behind the page of runs to explore."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tightlink import cli
from tightlink.analysis.effects import designed
from tightlink.analysis.measurements import MeasurementError
from tightlink.report import charts
from tightlink.report.charts.explored import explored

COMPARED = Path(__file__).parent.parent / "examples" / "controls-compared.csv"


def _table() -> designed.Designed:
    frame = pl.DataFrame({
        "queue": ["20 packets", "5 packets"] * 2, "tcp": ["reno", "reno", "fast", "fast"],
        "rtt_s": [0.01, 0.02, None, 0.05], "loss": [0.0, 0.0, 0.0, 0.0],
    })  # fmt: skip
    return designed.designed(frame)


def test_every_run_has_a_place_on_every_axis() -> None:
    found = explored(_table(), "tcp")
    assert found.axes == ["queue", "tcp", "round-trip time (ms)", "loss (%)"]
    assert found.rows.height == 4 * 4
    # Levels are in the order of their numbers, responses from their least to their greatest.
    assert found.rows.filter(axis="queue")["scaled"].to_list() == [1, 0, 1, 0]
    rtt = found.rows.filter(axis=found.responses[0])
    assert rtt["scaled"].to_list() == [0, pytest.approx(0.25), None, 1]
    assert rtt["value"].to_list() == [10, 20, None, 50]
    assert found.rows.filter(axis=found.responses[1])["scaled"].to_list() == [0.5] * 4
    assert found.choices["choice"].to_list() == [
        "queue = 5 packets", "queue = 20 packets", "tcp = reno", "tcp = fast",
    ]  # fmt: skip


def test_levels_are_written_as_in_tables() -> None:
    """What is true or false, too, where algorithms are told apart by it."""
    runs = _table().runs.with_columns(
        pl.col("tcp") == "reno", pl.col("rtt_s").fill_null(0.03), loss=pl.Series([1, 2, 3, 5])
    )
    found = explored(designed.designed(runs), "tcp")
    assert found.choices.filter(axis="tcp")["choice"].to_list() == ["tcp = true", "tcp = false"]
    assert set(found.rows["algorithm"]) == {"true", "false"}
    assert found.cells is not None
    assert set(found.rows["group"]) == set(found.cells["group"])


def test_runs_know_their_cluster() -> None:
    table = designed.read(COMPARED, factors=["rate", "delay", "queue", "flows", "congestion"])
    found = explored(table, "congestion")
    assert found.cells is not None
    assert found.cells.height == 128
    sizes = found.rows.filter(axis="rate").group_by("group").len()
    together = found.cells.filter(pl.col("cluster") > 0).group_by("group").len()
    assert dict(sizes.rows()).items() >= dict(together.rows()).items()
    alone = found.cells.filter(cluster=0)
    assert alone["members"].to_list() == alone["algorithm"].to_list()


def test_tables_that_cannot_be_explored() -> None:
    with pytest.raises(MeasurementError, match="4 runs with 1 responses: expected runs with at least two"):
        charts.explore(designed.designed(_table().runs, responses=["loss"]))
    many = pl.DataFrame({f"y{place}": range(7000) for place in range(3)})
    with pytest.raises(MeasurementError, match="7000 runs with 3 factors and responses are too many for one page"):
        charts.explore(designed.designed(many))


def test_what_did_not_vary_is_left_out_with_a_word(tmp_path: Path) -> None:
    """Of runs of one flow nobody has a Jain's index, and an axis without a line."""
    table = tmp_path / "runs.csv"
    table.write_text("queue,loss,rtt_s,jain,marks\n5 packets,0.2,0.02,,0\n9 packets,0.1,0.03,,0\n")
    page = tmp_path / "explore.html"
    assert cli.main(["analyze", "explore", str(table), "--factors", "queue", "-o", str(page)]) == 0
    assert "Not drawn, as they did not vary: jain, marks." in page.read_text()
    wanted = ["--factors", "queue", "--responses", "loss,marks", "-o", str(tmp_path / "all.html")]
    assert cli.main(["analyze", "explore", str(table), *wanted]) == 0
    assert "did not vary" not in (tmp_path / "all.html").read_text()


def test_texts_of_many_coordinates_stand_upright() -> None:
    def angles(count: int) -> list[Any]:
        many = pl.DataFrame({f"y{place}": [1234.0, 2345.0, 5678.0] for place in range(count)})
        layers = charts.explore(designed.designed(many)).to_dict()["vconcat"][0]["layer"]
        return [layer["mark"].get("angle") for layer in layers if layer["mark"]["type"] == "text"]

    assert set(angles(4)) == {None}
    assert set(angles(40)) == {270}


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert cli.main(["analyze", "explore", str(COMPARED), "--algorithm", "congestion"]) == 0
    assert capsys.readouterr().out == "explore.html\n"
    text = (tmp_path / "explore.html").read_text()
    assert "128 runs of controls-compared.csv" in text
    (tmp_path / "notes.html").write_text("mine")
    assert cli.main(["analyze", "explore", str(COMPARED), "-o", "notes.html"]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    assert cli.main(["analyze", "explore", str(COMPARED), "--algorithm", "tcp"]) == 2
    assert "no column tcp" in capsys.readouterr().err
