"""How runs are put together for workers: by time, smaller towards the end, none lost."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from tightlink.experiment.parcels import Parcels


def _all(parcels: Parcels[int], each_s: float) -> list[list[int]]:
    found = []
    while parcel := parcels.next():
        found.append(parcel)
        parcels.took(len(parcel), each_s * len(parcel))
    return found


@given(st.integers(0, 3000), st.floats(0, 2), st.integers(1, 64))
def test_every_run_is_in_one_parcel(count: int, each_s: float, ahead: int) -> None:
    found = _all(Parcels(range(count), together_s=0.5, ahead=ahead), each_s)
    assert list(itertools.chain(*found)) == list(range(count))


def test_parcels_take_about_the_same_time_until_the_end() -> None:
    sizes = [len(parcel) for parcel in _all(Parcels(range(600), together_s=0.5, ahead=4), 0.034)]
    # Half a second is 14 runs; the last 56 are shared out, in parcels of no less than a tenth of a second.
    assert sizes[0] == 1
    assert set(sizes[1:38]) == {14}
    assert sizes[38:] == sorted(sizes[38:], reverse=True)
    assert set(sizes[38:-1]) <= set(range(2, 15))
    assert sizes[-2] < 4


def test_long_runs_go_alone() -> None:
    assert {len(parcel) for parcel in _all(Parcels(range(40), together_s=0.5, ahead=4), 0.5)} == {1}


def test_runs_are_not_made_long_before_they_are_sent() -> None:
    """Workers would wait meanwhile, and the memory of a large experiment would be full."""
    taken = 0

    def works() -> Iterator[int]:
        nonlocal taken
        for number in range(100_000):
            taken += 1
            yield number

    parcels = Parcels(works(), together_s=0.5, ahead=1000)
    sent = len(parcels.next())
    parcels.took(1, 0.01)
    for _ in range(200):
        before = taken
        sent += len(parcels.next())
        assert taken - before <= 100
    assert taken - sent <= 4096
