"""Runs in a folder: found again, whole, and equal whatever the number of jobs."""

from __future__ import annotations

import time
from pathlib import Path

import polars as pl
import pytest

import tightlink as tl
from stores import run_in
from tightlink.checksums import write_table
from tightlink.experiment.execute import Task, execute
from tightlink.experiment.metrics import metrics
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.results import differing, results
from tightlink.experiment.store import Store


@pytest.fixture
def tasks(one_flow: str) -> list[Task]:
    base = tl.loads(one_flow).set("duration", "1 s")
    queues = ("3 packets", "5 packets", "20 packets")
    return [Task(f"queue/{queue}", base.set("link.bottleneck.queue", queue), trace=True) for queue in queues]


def _bytes(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_equal_files_for_any_number_of_jobs(tasks: list[Task], tmp_path: Path) -> None:
    told: list[ExperimentProgress] = []
    execute(tasks, Store(tmp_path / "one"), jobs=1, watch=told.append)
    execute(tasks, Store(tmp_path / "two"), jobs=2)
    assert _bytes(tmp_path / "one") == _bytes(tmp_path / "two")
    assert [(now.done, now.total, now.failed) for now in told] == [(1, 3, 0), (2, 3, 0), (3, 3, 0)]
    assert told[-1].packet_hops > 0
    assert told[-1].timed_share == 1


def test_what_is_there_is_not_simulated_again(tasks: list[Task], tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = execute(tasks[:2], store)
    again = Store(tmp_path)
    runs = execute(tasks, again)
    assert (store.simulated, again.simulated, again.count()) == (2, 1, 3)
    assert list(runs) == [task.name for task in tasks]
    for name, run in first.items():
        assert run.packets.equals(runs[name].packets)
        assert run.manifest == runs[name].manifest
        assert "timing" not in run.manifest


def test_a_run_without_the_trace_that_is_needed_is_made_again(tasks: list[Task], tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert "packets" not in run_in(store, tasks[0].scenario).tables
    assert "packets" in run_in(store, tasks[0].scenario, trace=True).tables
    assert "packets" in run_in(store, tasks[0].scenario).tables
    assert (store.simulated, store.count()) == (2, 1)


def test_a_damaged_file_is_replaced(tasks: list[Task], tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_in(store, tasks[0].scenario)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"no Parquet at all"):
        file.write_bytes(damaged)
        run_in(store, tasks[0].scenario)
        assert file.read_bytes() == whole


def test_another_seed_is_another_run(tasks: list[Task], tmp_path: Path) -> None:
    store = Store(tmp_path)
    for seed in (1, 2, 1):
        run_in(store, tasks[0].scenario.set("seed", seed))
    assert store.count() == 2


def test_a_stored_run_can_be_saved(tasks: list[Task], tmp_path: Path) -> None:
    run = run_in(Store(tmp_path / "runs"), tasks[0].scenario)
    assert tl.open_run(run.save(tmp_path / "saved")).flows.equals(run.flows)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_fails_takes_no_other_with_it(tasks: list[Task], tmp_path: Path, jobs: int) -> None:
    wrong = Task("wrong", tasks[0].scenario.set("traffic.ftp.to", "nowhere"))
    told: list[ExperimentProgress] = []
    with pytest.raises(tl.TightlinkError, match=r'1 of 4 runs failed(.|\n)*wrong: .*"nowhere"'):
        execute([wrong, *tasks], Store(tmp_path), jobs=jobs, watch=told.append)
    assert Store(tmp_path).count() == 3
    assert (told[-1].done, told[-1].failed) == (4, 1)


def test_two_tasks_of_one_name_are_refused(tasks: list[Task], tmp_path: Path) -> None:
    with pytest.raises(tl.TightlinkError, match=r"^task 'a': expected a name for each task that no other one has$"):
        execute([Task("a", tasks[0].scenario), Task("a", tasks[1].scenario)], Store(tmp_path))


def test_equal_scenarios_are_simulated_once(tasks: list[Task], tmp_path: Path) -> None:
    store = Store(tmp_path)
    runs = execute([tasks[0], Task("again", tasks[0].scenario, trace=True)], store, jobs=2)
    assert store.simulated == 1
    assert runs["again"].flows.equals(runs[tasks[0].name].flows)


def test_an_error_ends_what_is_running(tasks: list[Task], tmp_path: Path) -> None:
    """As Ctrl-C does: the runs on other threads end at once, and what was finished is kept."""
    long = [Task(f"{seed}", tasks[0].scenario.set_all({"duration": "1000000 s", "seed": seed})) for seed in (1, 2)]

    def stop(_: ExperimentProgress) -> None:
        raise KeyboardInterrupt

    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        execute([tasks[0], *long], Store(tmp_path), jobs=2, watch=stop)
    assert time.monotonic() - begin < 20
    assert Store(tmp_path).count() == 1
    assert execute(tasks, Store(tmp_path), jobs=2)


def test_a_run_of_a_newer_version(tasks: list[Task], tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_in(store, tasks[0].scenario)
    (file,) = store.files()
    write_table(file, pl.read_parquet(file).with_columns(format=pl.lit("3")))
    with pytest.raises(tl.TightlinkError, match="written by a newer version of Tightlink"):
        run_in(store, tasks[0].scenario)


def test_the_table_of_results(tasks: list[Task], tmp_path: Path) -> None:
    scenarios = {task.name: task.scenario for task in tasks}
    scenarios["again"] = tasks[0].scenario.set("seed", 7)
    named = [Task(name, scenario) for name, scenario in scenarios.items()]
    runs = execute(named, Store(tmp_path))
    table = results(scenarios, runs)
    assert table["run"] == list(scenarios)
    assert table["replication"] == [0, 0, 0, 1]
    assert table["seed"] == [1, 1, 1, 7]
    assert set(table["status"]) == {"done"}
    assert table["link.bottleneck.queue"] == ["3 packets", "5 packets", "20 packets", "3 packets"]
    assert "link.bottleneck.rate" not in table
    row = metrics(runs[tasks[0].name])
    flow = runs[tasks[0].name].flows.row(0, named=True)
    assert row["loss"] == flow["packets_dropped"] / flow["packets_sent"]
    assert table["goodput_bps"][0] == flow["goodput_bps"]


def test_keys_that_some_scenarios_lack(one_flow: str) -> None:
    base = tl.loads(one_flow)
    lossy = base.set("link.bottleneck.loss", 0.01)
    other = tl.loads(
        'profile = "ns2"\nduration = "1 s"\nlink.wire = { ends = ["a", "b"], rate = "1 Mbit/s" }\n'
        'traffic.voice = { kind = "cbr", from = "a", to = "b", interval = "20 ms" }'
    )
    found = differing([scenario.explicit().written() for scenario in (base, lossy, other)])
    assert found["link.bottleneck.loss"] == [0.0, 0.01, None]
    assert found["duration"] == ["10 s", "10 s", "1 s"]
    assert "link.wire.rate" not in found
