"""What a study measures on real hosts, over a link in real time, beside what it simulates.

Each measurement is a run in a folder of its own, whole or not at all, so an interrupted study goes on where it was.
What varies is measured again and again, in rounds, until the median of a number is firm.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.loads('''
    ... duration = "1 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
    ... ''')
    >>> [each.name for each in Measurement("base", scenario).repeated(2)]
    ['base/0', 'base/1']
"""

from __future__ import annotations

import queue
import random
import statistics
import threading
import time
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from tightlink.errors import TightlinkError
from tightlink.experiment.precision import median_is_firm
from tightlink.run import Framed, Run, open_run
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path

    from tightlink.scenario import Scenario

#: A machine that is busy for a moment is asked again.
_TRIES: Final = 3
#: A machine that is too busy for so many, one after the other, is too busy for the rest.
_MOST_IN_A_ROW: Final = 10
_PACKETS: Final = "packets"
#: What a measurement may take to end when it is told to, in seconds; its processes end with this one.
_ENDS_S: Final = 15.0


Over = Literal["relay", "kernel"]


@dataclass(frozen=True)
class Firm:
    """When something was measured often enough."""

    number: Callable[[Run], float]
    """What of a run shall be known well."""
    share: float = 0.02
    """Half the 95 % interval of its median, over the median, that is narrow enough."""
    fewest: int = 3
    most: int = 5
    """Times it is measured, however much it varies."""

    def enough(self, runs: Sequence[Run]) -> bool:
        """Whether these suffice."""
        if len(runs) < self.fewest:
            return False
        values = [self.number(run) for run in runs]
        return len(runs) >= self.most or median_is_firm(values, self.share)


@dataclass(frozen=True)
class Measurement:
    """One scenario, to be measured."""

    name: str
    """Of its run, such as base/0: its folder; findings get it as live/base/0."""
    scenario: Scenario
    over: Over = "relay"
    """What its packets cross: a link in real time, or this machine's own kernel, which forwards them."""
    sender: str = "probe"
    """What sends and receives: `tightlink.measure.measuring.SENDERS`."""
    echo_s: float | None = None
    """Interval of echoes beside the traffic, in seconds; none: no echoes."""
    burn: bool = False
    """Whether a router's processor time is spent, rather than added up."""
    pace_s: float | None = None
    """99 % of the datagrams must leave within this after they are due, in seconds: what a ring bridges; none: any."""
    alone: bool = False
    """Whether nothing else may be measured meanwhile, as it takes whole processors."""
    trace: bool = False
    """Whether the table ``packets`` is kept: some megabytes each."""
    firm: Firm | None = None
    """When it was repeated often enough, as NAME/0, NAME/1, …; none: it is measured once, as NAME."""

    def repeated(self, times: int) -> list[Measurement]:
        """The same several times, as NAME/0, NAME/1, …."""
        return [replace(self, name=f"{self.name}/{number}", firm=None) for number in range(times)]


def repeats(runs: Mapping[str, Run], name: str) -> list[Run]:
    """The runs of a measurement that was repeated, among those that findings get, in the order of their numbers."""
    start = f"{name}/"
    numbers = {key.removeprefix(start): run for key, run in runs.items() if key.startswith(start)}
    return [numbers[number] for number in sorted(filter(str.isdecimal, numbers), key=int)]


def measure_all(
    wanted: Sequence[Measurement], folder: Path, jobs: int, progress: Callable[[str], None]
) -> dict[str, Run]:
    """Measure what is not there yet, in random order, so that no drift of the machine looks like an effect.

    Args:
        wanted: What to measure.
        folder: For their runs, a folder each.
        jobs: Measurements at a time, but for those that must be alone.
        progress: Told, line by line, what it is doing.

    Returns:
        The runs by name, in the order of ``wanted``; without those that the machine was too busy for, several times.

    Raises:
        TightlinkError: The machine cannot measure: no namespaces, no TUN devices; or a folder holds something else.
    """
    there: dict[str, Run] = {}
    found = sum(_open(each, folder, there) for each in wanted)
    if found:
        progress(f"{found} measurements are in {folder} already")
    in_a_row = 0
    with closing(_rounds(wanted, folder, jobs, there)) as done:
        for place, name, run in done:
            in_a_row = in_a_row + 1 if run is None else 0
            progress(f"{place}: {'given up, the machine is too busy:' if run is None else 'measured'} {name}")
            if in_a_row == _MOST_IN_A_ROW:
                progress(f"{in_a_row} given up in a row: no more is measured; the same command tries again")
                break
    names = (name for each in wanted for name in _names(each))
    return {name: there[name] for name in names if name in there}


def _rounds(
    wanted: Sequence[Measurement], folder: Path, jobs: int, there: dict[str, Run]
) -> Generator[tuple[str, str, Run | None]]:
    """Where in a round it is, names and runs, until nothing is due; runs join those that are there."""
    # Given up in this session: not asked for again.
    tried: set[str] = set()
    while left := [due for each in wanted for due in _due(each, there, tried)]:
        # Always the same order: only that it is none of the study's matters.
        random.Random(len(left)).shuffle(left)  # noqa: S311
        for alone in (True, False):
            part = [each for each in left if each.alone is alone]
            with closing(_round(part, folder, 1 if alone else jobs)) as done:
                for number, (name, run) in enumerate(done, start=1):
                    tried.add(name)
                    if run is not None:
                        there[name] = run
                    yield f"{number} of {len(part)}", name, run


def _names(wanted: Measurement) -> list[str]:
    """What its runs may be called."""
    return [wanted.name] if wanted.firm is None else [f"{wanted.name}/{number}" for number in range(wanted.firm.most)]


def _open(wanted: Measurement, folder: Path, there: dict[str, Run]) -> int:
    """Open the runs of a measurement that are there, and say how many."""
    scenario = wanted.scenario.explicit().written()
    found = 0
    for name in _names(wanted):
        if (folder / name).exists():
            run = open_run(folder / name)
            if run.manifest.get("scenario") != scenario:
                raise TightlinkError(
                    f"{folder / name}: the measurement there is of another scenario; choose another folder"
                )
            there[name] = run
            found += 1
    return found


def _due(wanted: Measurement, there: Mapping[str, Run], tried: set[str]) -> list[Measurement]:
    """What is to be measured of it in the next round: what it takes at least, then one at a time."""
    names = _names(wanted)
    left = [name for name in names if name not in there and name not in tried]
    if wanted.firm is None:
        return [replace(wanted, name=name) for name in left]
    runs = [there[name] for name in names if name in there]
    missing = wanted.firm.fewest - len(runs)
    if missing <= 0:
        missing = 0 if wanted.firm.enough(runs) else 1
    return [replace(wanted, name=name, firm=None) for name in left[:missing]]


class _StoppedError(Exception):
    """Somebody ended the study."""


def _round(left: Sequence[Measurement], folder: Path, jobs: int) -> Generator[tuple[str, Run | None]]:
    """Names and runs as they come; whatever ends it, ends those at work within moments.

    With plain threads and queues: an executor's locks stay locked where Ctrl-C comes while they are taken.
    """
    waiting: queue.SimpleQueue[Measurement] = queue.SimpleQueue()
    found: queue.SimpleQueue[tuple[str, Run | None] | BaseException] = queue.SimpleQueue()
    for each in left:
        waiting.put(each)
    stop = threading.Event()
    work = partial(_work, waiting, found, folder, stop, min(jobs, len(left)) - 1)
    threads = [threading.Thread(target=work, daemon=True) for _ in range(min(jobs, len(left)))]
    try:
        for thread in threads:
            thread.start()
        for _ in left:
            one = found.get()
            if isinstance(one, BaseException):
                raise one
            yield one
    finally:
        stop.set()
        until = time.monotonic() + _ENDS_S
        for thread in threads:
            if thread.ident is not None:
                thread.join(max(0.0, until - time.monotonic()))


def _work(
    waiting: queue.SimpleQueue[Measurement],
    found: queue.SimpleQueue[tuple[str, Run | None] | BaseException],
    folder: Path,
    stop: threading.Event,
    beside: int,
) -> None:
    """Measure what waits, until there is no more or somebody ends it; an error is raised where runs are waited for."""
    while not stop.is_set():
        try:
            found.put(_measured(waiting.get_nowait(), folder, stop, beside))
        except (queue.Empty, _StoppedError):
            return
        except BaseException as error:  # noqa: BLE001  # none is lost
            stop.set()
            found.put(error)


def _measured(wanted: Measurement, folder: Path, stop: threading.Event, beside: int) -> tuple[str, Run | None]:
    from tightlink.measure.relay import SpoiledError

    def check() -> None:
        if stop.is_set():
            raise _StoppedError

    failed: TightlinkError | None = None
    for _ in range(_TRIES):
        check()
        try:
            run = _once(wanted, beside, check)
        except SpoiledError:
            continue
        except TightlinkError as error:
            # A program may fail once; what the machine lacks it lacks again.
            failed = error
            continue
        if _in_time(run, wanted.pace_s):
            kept = run if wanted.trace else _without_packets(run)
            return wanted.name, open_run(kept.save(folder / wanted.name))
    if failed is not None:
        raise failed
    return wanted.name, None


def _once(wanted: Measurement, beside: int, check: Callable[[], None]) -> Run:
    if wanted.over == "kernel":
        from tightlink.measure.forwarding import forward

        return forward(wanted.scenario, watch=lambda _: check())
    from tightlink.measure.measuring import measure

    return measure(
        wanted.scenario,
        sender=wanted.sender,
        echo_s=wanted.echo_s,
        burn=wanted.burn,
        beside=beside,
        watch=lambda _: check(),
    )


def _in_time(run: Run, pace_s: float | None) -> bool:
    """Whether the senders of datagrams kept the pace."""
    return pace_s is None or float(run.manifest["sender"].get("late_p99_s", 0.0)) <= pace_s


def _without_packets(run: Run) -> Run:
    return Run(run.scenario, run.manifest, Framed({name: run.table(name) for name in run.tables if name != _PACKETS}))


def machine(runs: Sequence[Run]) -> str:
    """On what runs over links in real time were measured, and how busy it was, in a sentence or two for a report."""
    late = max(float(run.manifest["relay"]["lateness"]["share_late"]) for run in runs)
    return (
        f"{_where(runs)}, between network namespaces, over links in real time. These handed on at most "
        f"{percent(late, 2)} of the packets late; a measurement with more than {percent(0.01)} is not counted."
        f"{_busy(runs)}"
    )


def kernel(runs: Sequence[Run]) -> str:
    """The same of runs over the kernel's own forwarding."""
    from tightlink.measure.forwarding import WAITS

    own = [run.manifest["forwarding"] for run in runs]
    waited = max(float(each["waited_s"]) / float(each["passed_s"]) for each in own)
    steal = [run.manifest["host"]["cpu_steal"] or 0.0 for run in runs]
    placed = "" if all(each["pinned"] for each in own) else " It was not allowed to keep the thread on its processor."
    return (
        f"{_where(runs)}. The router's thread waited for its processor for at most {percent(waited, 2)} of the time; a "
        f"measurement with more than {percent(WAITS)} is not counted. Other machines had {percent(max(steal), 1)} of "
        f"the processors' time at most.{placed}"
    )


def _where(runs: Sequence[Run]) -> str:
    hosts = [run.manifest["host"] for run in runs]
    kernels = " and ".join(sorted({str(host["kernel"]) for host in hosts}))
    processors = " or ".join(sorted({str(host["cpus"]) for host in hosts}))
    return f"{len(runs)} measurements on {kernels} with {processors} processors"


def _busy(runs: Sequence[Run]) -> str:
    busy = [run.manifest["host"]["cpu_busy"] for run in runs if run.manifest["host"]["cpu_busy"] is not None]
    return f" Its processors were busy for {percent(statistics.median(busy))} of the time." if busy else ""
