"""Large runs, of users and of flows: on several threads, watched, and interrupted."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import tightlink as tl
from tightlink import _core
from tightlink.simulate import SimulationProgress

if TYPE_CHECKING:
    from pathlib import Path

SMALL: dict[str, Any] = {"scale": 0.01, "duration": "3 s"}
LONG: dict[str, Any] = {"scale": 0.02, "duration": "25 min"}


def test_threads_do_not_change_the_tables() -> None:
    scenario = tl.FourTier(**SMALL).scenario()
    one, two = (tl.simulate(scenario, threads=threads) for threads in (1, 2))
    # As the estimate says, which is for two where the machine has as many processors.
    used = [run.manifest["timing"]["threads"] for run in (one, two)]
    assert used == [1, _core.threads(json.dumps(scenario.resolve()), 2)[0]] == [1, min(2, os.cpu_count() or 1)]
    assert one.manifest["digest"] == two.manifest["digest"]
    assert one.manifest["packet_hops"] == two.manifest["packet_hops"] > 0


def test_by_default_the_tables_are_the_same() -> None:
    scenario = tl.FourTier(**SMALL).scenario()
    assert tl.simulate(scenario).manifest["digest"] == tl.simulate(scenario, threads=1).manifest["digest"]


def _flows(duration: str) -> tl.Scenario:
    dumbbell = tl.load("examples/dumbbell.toml")
    return dumbbell.set("duration", duration)


def test_threads_do_not_change_the_tables_of_flows() -> None:
    # Longer than the loop over events has before several threads are tried.
    scenario = _flows("60 s")
    one, two = (tl.simulate(scenario, threads=threads) for threads in (1, 2))
    assert one.manifest["digest"] == two.manifest["digest"]
    assert one.manifest["packet_hops"] == two.manifest["packet_hops"]
    assert one.manifest["random_draws"] == two.manifest["random_draws"]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_of_flows_is_watched_and_kept_as_far_as_it_came(threads: int) -> None:
    heard: list[SimulationProgress] = []

    def interrupt(now: SimulationProgress) -> None:
        heard.append(now)
        if len(heard) > 1:
            raise KeyboardInterrupt

    scenario = _flows("30 min")
    part = tl.simulate(scenario, watch=interrupt, part=True, threads=threads)
    until = part.manifest["part_until_s"]
    assert 0 < heard[0].simulated_s <= until < 1800
    assert (heard[0].packet_hops or 0) > 0
    assert "M packet-hops/s" in str(heard[0])
    assert part.flows["stop_s"].to_list() == pytest.approx([until] * part.flows.height)
    # It is the beginning of the run, but for what was granted and not done at its end.
    whole = tl.simulate(scenario.set("duration", f"{until!r} s"))
    goodput = part.flows["goodput_bps"].sum()
    assert goodput == pytest.approx(whole.flows["goodput_bps"].sum(), rel=0.02)
    assert max(part.links["utilization"].to_list()) <= 1


def test_a_run_says_how_far_it_is() -> None:
    heard: list[SimulationProgress] = []
    tl.simulate(tl.FourTier(**LONG).scenario().set("duration", "25 s").set("observe.periods", None), watch=heard.append)
    assert [now.simulated_s for now in heard] == sorted(now.simulated_s for now in heard)
    assert heard
    last = heard[-1]
    assert 0 < last.simulated_s <= last.duration_s == 25
    assert last.share == last.simulated_s / 25
    assert (last.packet_hops or 0) > 0
    assert "sources sending" in str(last)


@pytest.fixture
def long_run(tmp_path: Path) -> Path:
    file = tmp_path / "long.toml"
    file.write_text(tl.FourTier(**LONG).scenario().to_toml(), encoding="utf-8")
    return file


def _interrupt(arguments: list[str], stderr: int = subprocess.PIPE) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tightlink", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as run:
        time.sleep(5)
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=60)
    return subprocess.CompletedProcess(command, run.returncode, out, err)


def test_what_was_measured_until_ctrl_c_is_kept_and_marked(long_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = _interrupt(["run", str(long_run), "-o", str(folder)])
    assert done.returncode == 3, done.stderr
    assert "interrupted: a part of the run only, until " in done.stderr
    assert "users" in done.stdout
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    until = manifest["part_until_s"]
    assert 0 < until < 1500
    assert manifest["warnings"]
    users = tl.open_run(folder).users
    assert users["time_s"].max() == pytest.approx(until)
    assert users["packets_sent"].sum() > 0

    again = subprocess.run(
        [sys.executable, "-m", "tightlink", "run", str(long_run), "-o", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode != 0
    assert "a part of a run only" in again.stderr


def test_an_interrupt_while_python_is_told_ends_the_run() -> None:
    def interrupt(_: SimulationProgress) -> None:
        raise KeyboardInterrupt

    scenario = tl.FourTier(**LONG).scenario()
    with pytest.raises(KeyboardInterrupt):
        tl.simulate(scenario, watch=interrupt)
    part = tl.simulate(scenario, watch=interrupt, part=True)
    assert 0 < part.manifest["part_until_s"] < 1500


def test_progress_is_shown_on_a_terminal(long_run: Path) -> None:
    reader, writer = pty.openpty()
    shown: list[bytes] = []

    def read() -> None:
        # What nobody reads would make the run wait.
        with contextlib.suppress(OSError):
            while text := os.read(reader, 1 << 16):
                shown.append(text)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    _interrupt(["run", str(long_run)], stderr=writer)
    os.close(writer)
    thread.join(timeout=10)
    text = b"".join(shown).decode(errors="replace")
    assert "sources sending" in text
    assert "packet-hops/s" in text
