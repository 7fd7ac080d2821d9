"""Large runs, of users and of flows: on several threads, watched, and interrupted."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import tightlink as tl
from processes import processors
from tightlink import _core
from tightlink.simulate import SimulationProgress

if TYPE_CHECKING:
    from pathlib import Path


class Interrupted(NamedTuple):
    """A run that was interrupted: how it was called, what it left, and what it said."""

    command: list[str]
    folder: Path
    code: int
    printed: str
    shown: str


SMALL: dict[str, Any] = {"scale": 0.01, "duration": "3 s"}
LONG: dict[str, Any] = {"scale": 0.02, "duration": "25 min"}


def test_threads_do_not_change_the_tables() -> None:
    scenario = tl.FourTier(**SMALL).scenario()
    one, two = (tl.simulate(scenario, threads=threads) for threads in (1, 2))
    # As the estimate says, which is for two where the machine has as many processors.
    used = [run.manifest["timing"]["threads"] for run in (one, two)]
    assert used == [1, _core.threads(json.dumps(scenario.resolve()), 2)[0]] == [1, min(2, processors())]
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


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Interrupted:
    """A run on a terminal that Ctrl-C ends as soon as it has said how far it is."""
    place = tmp_path_factory.mktemp("long")
    file, folder = place / "long.toml", place / "out"
    file.write_text(tl.FourTier(**LONG).scenario().to_toml(), encoding="utf-8")
    command = [sys.executable, "-m", "tightlink", "run", str(file), "-o", str(folder)]
    reader, writer = pty.openpty()
    shown = b""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writer, text=True) as run:
        os.close(writer)
        # A terminal whose other side has gone reads as an error.
        with contextlib.suppress(OSError):
            while part := os.read(reader, 1 << 16):
                before, shown = shown, shown + part
                if b"sources sending" in shown and b"sources sending" not in before:
                    run.send_signal(signal.SIGINT)
        printed, _ = run.communicate(timeout=60)
    os.close(reader)
    # A terminal folds its lines.
    said = " ".join(shown.decode(errors="replace").split())
    return Interrupted(command, folder, run.returncode, printed, said)


def test_progress_is_shown_on_a_terminal(interrupted: Interrupted) -> None:
    assert "sources sending" in interrupted.shown
    assert "packet-hops/s" in interrupted.shown


def test_what_was_measured_until_ctrl_c_is_kept_and_marked(interrupted: Interrupted) -> None:
    assert interrupted.code == 3, interrupted.shown
    assert "interrupted: a part of the run only, until " in interrupted.shown
    assert "users" in interrupted.printed
    manifest = json.loads((interrupted.folder / "manifest.json").read_text(encoding="utf-8"))
    until = manifest["part_until_s"]
    assert 0 < until < 1500
    assert manifest["warnings"]
    users = tl.open_run(interrupted.folder).users
    assert users["time_s"].max() == pytest.approx(until)
    assert users["packets_sent"].sum() > 0

    again = subprocess.run(interrupted.command, capture_output=True, text=True, check=False)
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
