"""A Dask cluster over TCP: a real scheduler and two worker processes, of which one is killed half way."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import tightlink as tl
from ports import unused_port
from scenario_texts import NOISE
from tightlink import cli
from tightlink.experiment import cluster
from tightlink.experiment.execute import execute
from tightlink.experiment.plan import Plan
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.running import run
from tightlink.experiment.store import Store
from tightlink.studies.congestion_control.setup.experiment import Size, experiment
from waiting import soon

distributed = pytest.importorskip("distributed")


@contextlib.contextmanager
def _process(name: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options, "--no-dashboard"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


@contextlib.contextmanager
def _worker(address: str) -> Iterator[subprocess.Popen[bytes]]:
    with _process("worker", address, "--nthreads", "1", "--no-nanny") as process:
        yield process


@contextlib.contextmanager
def _begun() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A scheduler that listens, however long a busy machine takes to load it, and its process."""
    port = unused_port()

    def listens() -> bool:
        with socket.socket() as visitor:
            return visitor.connect_ex(("127.0.0.1", port)) == 0

    with _process("scheduler", "--host", "127.0.0.1", "--port", str(port)) as process:
        assert soon(listens)
        yield f"tcp://127.0.0.1:{port}", process


@contextlib.contextmanager
def _scheduler() -> Iterator[str]:
    with _begun() as (address, _):
        yield address


@pytest.fixture
def scheduler() -> Iterator[str]:
    with _scheduler() as address:
        yield address


@pytest.fixture(scope="module")
def unharmed() -> Iterator[str]:
    """A scheduler with two workers, of which no test kills any: each process loads its libraries for a second."""
    with _scheduler() as address, _worker(address), _worker(address):
        yield address


def _bytes(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def test_a_worker_is_killed_half_way(one_flow: str, tmp_path: Path, scheduler: str) -> None:
    """Its runs go to the other one, and everything is the same, byte by byte, as without a cluster."""
    base = tl.loads(one_flow + NOISE).set("duration", "200 s")
    plan = Plan.of(base, {"link.bottleneck.queue": ["5 packets", "20 packets"]}, replications=20)
    with _worker(scheduler), _worker(scheduler) as second:

        def watch(now: ExperimentProgress) -> None:
            if now.done >= now.total // 2 and second.poll() is None:
                os.kill(second.pid, signal.SIGKILL)
                second.wait(10)

        run(plan, tmp_path / "cluster", cluster=scheduler, watch=watch)
        assert second.returncode == -signal.SIGKILL
    # Which is the same for any number of jobs (`tests/test_sweep.py`).
    run(plan, tmp_path / "alone", jobs=2)
    assert _bytes(tmp_path / "cluster") == _bytes(tmp_path / "alone")


def test_networks_of_users(tmp_path: Path, unharmed: str) -> None:
    """Runs of a study in the four-tier network, spread over two workers, are those of this process."""
    tasks = experiment("1b").tasks(Size(Fraction(1, 50), "10 s", routers=Fraction(1, 6)))[:2]
    spread = execute(tasks, Store(tmp_path / "cluster"), cluster=unharmed)
    execute(tasks, Store(tmp_path / "alone"))
    assert list(spread) == [task.name for task in tasks]
    assert all(run.transfers.height for run in spread.values())
    there, here = _bytes(tmp_path / "cluster"), _bytes(tmp_path / "alone")
    assert there == here


def test_the_scheduler_does_not_load_tightlink(one_flow: str, tmp_path: Path, unharmed: str) -> None:
    """It hands runs on as they are."""
    plan = Plan.of(tl.loads(one_flow), {"duration": ["1 s", "2 s"]})
    assert run(plan, tmp_path / "out", cluster=unharmed).flows.collect().height == 2
    with distributed.Client(unharmed, set_as_default=False) as client:
        # A function of a separate module would be loaded there with it.
        assert client.run_on_scheduler(eval, "'tightlink' in __import__('sys').modules") is False


def test_a_failed_run_stays_alone(one_flow: str, tmp_path: Path, unharmed: str) -> None:
    plan = Plan.of(tl.loads(one_flow), {"traffic.ftp.to": ["receiver", "nowhere"], "duration": ["1 s", "2 s"]})
    found = run(plan, tmp_path / "out", cluster=unharmed)
    assert list(found.failures) == ["2/0", "3/0"]
    assert found.flows.collect().height == 2


def test_no_scheduler(
    one_flow: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_REACHED_WITHIN_S", 1)
    file = tmp_path / "base.toml"
    file.write_text(one_flow)
    address = f"tcp://127.0.0.1:{unused_port()}"
    command = ["sweep", str(file), "--vary", "duration=1 s,2 s", "--cluster", address, "-o", str(tmp_path / "out")]
    assert cli.main(command) == 2
    said = capfd.readouterr().err
    assert re.fullmatch(rf"tightlink: {address}: no Dask scheduler answers there within 1 s: .*\n", said)


def test_the_scheduler_goes(one_flow: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What is finished is kept, and the same command continues from there."""
    base = tl.loads(one_flow + NOISE).set("duration", "200 s")
    # More than go to the worker at a time.
    plan = Plan.of(base, replications=100, vary={"link.bottleneck.queue": ["5 packets"]})
    told: list[ExperimentProgress] = []
    with _begun() as (address, process), _worker(address):

        def watch(now: ExperimentProgress) -> None:
            told.append(now)
            if now.done >= 3:
                process.kill()

        begin = time.monotonic()
        with pytest.raises(tl.TightlinkError, match="the scheduler is gone; what is finished is kept"):
            run(plan, tmp_path / "out", cluster=address, watch=watch)
        assert time.monotonic() - begin < 90
    run(plan, tmp_path / "out", jobs=2, watch=told.append)
    assert told[-1].found >= 3
    assert "Traceback" not in capfd.readouterr().err


def test_the_recipe_for_slurm(one_flow: str, tmp_path: Path) -> None:
    """The job of the guide, with an srun that starts two tasks here."""
    guide = (Path(__file__).parent.parent / "docs/guides/experiments.md").read_text(encoding="utf-8")
    (job,) = re.findall(r"```text\n(#!/bin/bash\n#SBATCH.*?)```", guide, re.DOTALL)
    (tmp_path / "dumbbell.toml").write_text(one_flow.replace("traffic.ftp", "traffic.bulk"))
    (tmp_path / "job.sh").write_text(job)
    tools = tmp_path / "bin"
    tools.mkdir()
    commands = {
        "srun": 'trap "kill \\$(jobs -p)" TERM EXIT\n"$@" &\n"$@" &\nwait\n',
        "hostname": "echo 127.0.0.1\n",
        "tightlink": f'exec {sys.executable} -m tightlink "$@"\n',
        "dask": f'name=$1; shift; exec {sys.executable} -m distributed.cli.dask_$name "$@"\n',
    }
    for name, text in commands.items():
        (tools / name).write_text(f"#!/bin/bash\n{text}")
        (tools / name).chmod(0o755)
    changed = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PORT": str(unused_port())}
    # Into a file: workers that take their time to end would keep a pipe open beyond the end of the job.
    with (tmp_path / "out.txt").open("w") as out:
        process = subprocess.Popen(
            ["bash", "job.sh"], cwd=tmp_path, env=changed, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True
        )
    try:
        process.wait(timeout=120)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0
    assert "report: results/slurm/report.html" in (tmp_path / "out.txt").read_text()
    command = json.loads((tmp_path / "results/slurm/sweep.json").read_bytes())["command"]
    assert command.startswith("tightlink sweep ")
    plan = Plan.of(tl.load(tmp_path / "dumbbell.toml"), {"traffic.bulk.flows": range(1, 5)})
    run(plan, tmp_path / "here", command=command)
    report = tmp_path / "results/slurm/report.html"
    report.unlink()
    assert _bytes(tmp_path / "results/slurm") == _bytes(tmp_path / "here")
