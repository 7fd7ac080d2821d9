"""The one runner: every task once, on any engine; failures stay alone; what is ended ends."""

from __future__ import annotations

import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tightlink import cli
from tightlink.errors import TightlinkError
from tightlink.experiment import running
from tightlink.experiment.campaign import KEPT, Failed, Work, attempt
from tightlink.experiment.engines import engine
from tightlink.experiment.workplace import occupied

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Square(Work):
    def perform(self, check: Callable[[], None]) -> int:
        check()
        assert isinstance(self.key, int)
        if self.key % 5 == 4:
            raise TightlinkError(f"no square of {self.key}")
        return self.key**2


class Squares:
    """Task (n, i) is n²; those of multiples of seven are there, and negative ones cannot even begin."""

    def __init__(self) -> None:
        self.kept: list[int] = []

    def look(self, task: tuple[int, int]) -> int | Work:
        number, _ = task
        if number < 0:
            raise TightlinkError("negative")
        return number**2 if number % 7 == 0 or number in self.kept else Square(number)

    def keep(self, task: tuple[int, int], work: Work, outcome: int) -> int:
        assert work.key == task[0]
        self.kept.append(task[0])
        return outcome


def _expected(number: int) -> int | Failed:
    if number < 0:
        return Failed("negative")
    return number**2 if number % 7 == 0 or number % 5 != 4 else Failed(f"no square of {number}")


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(-3, 30), max_size=40), st.integers(1, 4))
def test_every_task_has_its_result_and_all_work_is_done_once(numbers: list[int], jobs: int) -> None:
    store, tasks = Squares(), list(zip(numbers, range(len(numbers)), strict=False))
    with closing(engine(jobs)) as on:
        found = list(attempt(tasks, store, on))
        assert on.running == 0
    assert sorted(task for task, _, _ in found) == sorted(tasks)
    assert all(result == _expected(number) for (number, _), result, _ in found)
    assert sorted(store.kept) == sorted({n for n in numbers if n > 0 and n % 7 and n % 5 != 4})
    made = [number for (number, _), result, made in found if made and not isinstance(result, Failed)]
    assert sorted(made) == sorted(store.kept)


class Waiting(Work):
    """Is done when it is told to end."""

    begun = 0

    def perform(self, check: Callable[[], None]) -> None:
        Waiting.begun += 1
        while True:
            time.sleep(0.005)
            check()


class Waits:
    def look(self, task: int) -> int | Work:
        return Waiting(task) if task else Square(1)

    def keep(self, task: int, work: Work, outcome: int) -> int:
        assert (task, work.key) == (0, 1)
        return outcome


def test_to_close_ends_what_is_under_way_and_begins_nothing_more() -> None:
    threads, Waiting.begun = threading.active_count(), 0
    with closing(attempt(range(100), Waits(), on := engine(3))) as finished:
        assert next(finished) == (0, 1, True)
        begin = time.monotonic()
    assert time.monotonic() - begin < 5
    assert Waiting.begun <= 3
    assert (threading.active_count(), on.running) == (threads, 0)


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_no_work_may_raise_is_raised_where_it_is_waited_for(jobs: int) -> None:
    class Wrong(Work):
        def perform(self, _: Callable[[], None]) -> None:
            raise ZeroDivisionError

    class Wrongs(Waits):
        def look(self, task: int) -> Work:
            return Wrong(task)

    with pytest.raises(ZeroDivisionError):
        list(attempt(range(10), Wrongs(), engine(jobs)))


def test_who_interrupts_reads_what_becomes_of_it(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt, match=KEPT), occupied(tmp_path / "out", "sweep.json", "sweep"):
        raise KeyboardInterrupt


def test_the_command_says_so(
    one_flow: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "execute_each", interrupted)
    (tmp_path / "base.toml").write_text(one_flow)
    command = ["sweep", str(tmp_path / "base.toml"), "--vary", "traffic.ftp.flows=1,2", "-o", str(tmp_path / "out")]
    assert cli.main(command) == 130
    assert capsys.readouterr().err == f"tightlink: interrupted; {KEPT}\n"
