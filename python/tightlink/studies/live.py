"""What a study measures on real hosts, over a link in real time, beside what it simulates.

Each measurement is a run in a folder of its own, whole or not at all, so an interrupted study goes on where it was.
"""

from __future__ import annotations

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from tightlink.run import open_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from tightlink.run import Run
    from tightlink.scenario import Scenario

#: A machine that is busy for a moment is asked again.
_TRIES: Final = 3


@dataclass(frozen=True)
class Measurement:
    """One scenario, to be measured."""

    name: str
    """Of its run, such as base/0: its folder; findings get it as live/base/0."""
    scenario: Scenario
    sender: str = "probe"
    """What sends and receives: `tightlink.measure.measuring.SENDERS`."""
    echo_s: float | None = None
    """Interval of echoes beside the traffic, in seconds; none: no echoes."""

    def repeated(self, times: int) -> list[Measurement]:
        """The same several times, as NAME/0, NAME/1, …."""
        return [replace(self, name=f"{self.name}/{number}") for number in range(times)]


def measure_all(
    wanted: Sequence[Measurement], folder: Path, jobs: int, progress: Callable[[str], None]
) -> dict[str, Run]:
    """Measure what is not there yet, in random order, so that no drift of the machine looks like an effect.

    Args:
        wanted: What to measure.
        folder: For their runs, a folder each.
        jobs: Measurements at a time.
        progress: Told, line by line, what it is doing.

    Returns:
        The runs by name, in the order of ``wanted``; without those that the machine was too busy for, several times.

    Raises:
        TightlinkError: The machine cannot measure: no namespaces, no TUN devices.
    """
    there = {each.name: open_run(folder / each.name) for each in wanted if (folder / each.name).exists()}
    left = [each for each in wanted if each.name not in there]
    if there:
        progress(f"{len(there)} measurements are in {folder} already")
    # Always the same order: only that it is none of the study's matters.
    random.Random(len(wanted)).shuffle(left)  # noqa: S311
    stop = threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for number, (name, run) in enumerate(pool.map(lambda each: _measured(each, folder, stop), left), start=1):
                if run is not None:
                    there[name] = run
                said = "measured" if run is not None else "given up, the machine is too busy:"
                progress(f"{number} of {len(left)}: {said} {name}")
        finally:
            stop.set()
    return {each.name: there[each.name] for each in wanted if each.name in there}


def _measured(wanted: Measurement, folder: Path, stop: threading.Event) -> tuple[str, Run | None]:
    for run in _tries(wanted):
        if stop.is_set():
            break
        if run is not None:
            return wanted.name, open_run(run.save(folder / wanted.name))
    return wanted.name, None


def _tries(wanted: Measurement) -> Iterator[Run | None]:
    """A run each, or nothing where the machine was too busy."""
    from tightlink.measure.measuring import measure
    from tightlink.measure.relay import SpoiledError

    for _ in range(_TRIES):
        try:
            yield measure(wanted.scenario, sender=wanted.sender, echo_s=wanted.echo_s)
        except SpoiledError:
            yield None
