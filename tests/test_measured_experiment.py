"""Grids of measurements: shuffled, repeated until they have converged, resumed, and tables in the end. Nothing is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from tightlink.errors import TightlinkError
from tightlink.experiment import open as open_folder
from tightlink.experiment.measured import Finished, Grid, Measured, Repeats, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


def counted(calls: list[dict[str, Any]], spread: float = 0.0) -> Callable[[Mapping[str, Any]], Measured]:
    def measure(values: Mapping[str, Any]) -> Measured:
        calls.append(dict(values))
        times = sum(call == values for call in calls)
        off = {1: spread, 2: -spread}.get(times, 0.0)
        return Measured({"goodput_bps": 1e6 * values["flows"] * (1 + off)}, [{"flow": 0, "label": "x"}])

    return measure


GRID = Grid({"host": "10.0.0.2", "seconds": 1}, {"window_bytes": [8192, 65536], "flows": [1, 4]})


def test_a_grid_is_measured_in_shuffled_order_and_becomes_tables(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    found = run(GRID, tmp_path, counted(calls), repeats=Repeats(least=3, seed=4))
    assert (found.measured, len(calls)) == (12, 12)
    rounds = [calls[:4], calls[4:8], calls[8:]]
    expected = [GRID.values(cell) for cell in GRID.cells]
    assert all(sorted(map(str, each)) == sorted(map(str, expected)) for each in rounds)
    assert any(each != expected for each in rounds)
    experiment = open_folder(tmp_path)
    runs = experiment.runs.collect()
    assert runs["run"].to_list() == [f"{cell}/{replication}" for cell in range(4) for replication in range(3)]
    assert runs.select("window_bytes", "flows", "goodput_bps").unique(maintain_order=True).rows() == [
        (8192, 1, 1e6), (8192, 4, 4e6), (65536, 1, 1e6), (65536, 4, 4e6),
    ]  # fmt: skip
    assert experiment.flows.select("run", "label").collect().height == 12
    again = run(GRID, tmp_path, counted(calls), repeats=Repeats(least=3, seed=4))
    assert (again.measured, len(calls)) == (0, 12)
    assert open_folder(tmp_path).runs.collect().equals(runs)


def test_an_interrupted_grid_keeps_what_is_finished_and_goes_on(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    measure = counted(calls)

    def interrupted(values: Mapping[str, Any]) -> Measured:
        if len(calls) == 5:
            raise KeyboardInterrupt
        return measure(values)

    with pytest.raises(KeyboardInterrupt):
        run(GRID, tmp_path, interrupted)
    assert open_folder(tmp_path).runs.collect().height == 5
    # A file that was cut off, as by a full disk, is measured again.
    file = next((tmp_path / "measurements").glob("*.json"))
    file.write_text(file.read_text()[:40])
    found = run(GRID, tmp_path, measure)
    assert (found.measured, len(calls)) == (8, 13)
    assert open_folder(tmp_path).runs.collect().height == 12


def test_cells_are_measured_until_their_medians_are_firm(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    steady = run(
        GRID, tmp_path / "a", counted(calls), repeats=Repeats(least=2, most=9, precision=("goodput_bps", 0.01))
    )
    # Two agree by chance.
    assert (len(calls), steady.not_converged) == (12, [])
    calls.clear()
    precision = Repeats(least=2, most=9, precision=("goodput_bps", 0.4))
    # 1.3, 0.7, 1, 1, 1: half widths 0.93, 0.49, 0.33.
    restless = run(GRID, tmp_path / "b", counted(calls, 0.3), repeats=precision)
    assert (len(calls), restless.not_converged) == (20, [])
    never = run(
        GRID, tmp_path / "c", counted([], 0.3), repeats=Repeats(least=2, most=3, precision=("goodput_bps", 1e-6))
    )
    assert len(never.not_converged) == 4
    assert open_folder(tmp_path / "c").description["not_precise"] == ["0", "1", "2", "3"]


def test_a_cell_that_fails_is_told_and_measured_again_next_time(tmp_path: Path) -> None:
    calls: list[dict[str, Any]] = []
    measure, failing = counted(calls), True
    second = GRID.values([cell for cell, _ in GRID.round(0, seed=4)][1])

    def shaky(values: Mapping[str, Any]) -> Measured:
        if failing and values == second:
            raise TightlinkError("the server hangs")
        return measure(values)

    found = run(GRID, tmp_path, shaky, repeats=Repeats(least=1, seed=4))
    assert list(found.failures.values()) == ["the server hangs"]
    assert open_folder(tmp_path).runs.collect().height == 3
    assert [entry["error"] for entry in open_folder(tmp_path).failures.values()] == ["the server hangs"]
    assert open_folder(tmp_path).warnings[0].startswith("1 of 4 runs failed")
    failing = False
    assert run(GRID, tmp_path, shaky, repeats=Repeats(least=1, seed=4)).measured == 1
    assert open_folder(tmp_path).failures == {}


def test_nothing_is_tried_for_long_where_nothing_works(tmp_path: Path) -> None:
    def dead(_: Mapping[str, Any]) -> Measured:
        raise TightlinkError("connection refused")

    with pytest.raises(TightlinkError, match="connection refused"):
        run(GRID, tmp_path, dead)
    sweep = tmp_path / "sweep"
    sweep.mkdir()
    (sweep / "sweep.json").write_text('{"format": 1, "identity": ""}')
    with pytest.raises(TightlinkError, match="holds a sweep of simulations"):
        run(GRID, sweep, dead)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    with pytest.raises(TightlinkError, match="the folder is not empty"):
        run(GRID, tmp_path / "full", dead)


def test_what_is_finished_knows_its_medians() -> None:
    finished = Finished(Grid({}, {"flows": [1]}))
    for replication, goodput in enumerate([1.0, 9.0, 2.0]):
        finished.done[(1,), replication] = {"metrics": {"goodput_bps": goodput}}
    assert finished.medians("goodput_bps") == {(1,): 2.0}


def test_damaged_measurements_are_named_and_made_again(tmp_path: Path) -> None:
    def measure(values: Mapping[str, Any]) -> Measured:
        return Measured({"goodput_bps": 1e6 * values["flows"]}, [])

    assert run(GRID, tmp_path, measure, repeats=Repeats(least=1)).damaged == []
    first, *_ = files = sorted((tmp_path / "measurements").glob("*.json"))
    first.write_text(first.read_text().replace('"goodput_bps": ', '"goodput_bps": 1'))
    (tmp_path / "sweep.json").write_text("{")
    again = run(GRID, tmp_path, measure, repeats=Repeats(least=1))
    assert (again.measured, [error.path for error in again.damaged]) == (1, [tmp_path / "sweep.json", first])
    assert len(files) == len(GRID.cells)
    assert open_folder(tmp_path).runs.collect().filter(pl.col("goodput_bps") > 1e8).is_empty()
