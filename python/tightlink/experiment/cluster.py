"""Runs on a Dask cluster: many processes on many machines, over TCP.

Workers need Tightlink and no files: a run goes to them resolved, and its file comes back. The scheduler needs Dask
only. A worker that is lost costs the runs that it had in hand, which go to others.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import pickle
import time
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import CancelledError
from typing import Any, Final
from uuid import uuid4

import distributed
from distributed.scheduler import KilledWorker

from tightlink.errors import TightlinkError
from tightlink.experiment.campaign import KEPT, Failed, Work, perform
from tightlink.experiment.engines import Performed
from tightlink.experiment.parcels import Parcels
from tightlink.lazy import _core

#: Its types are those of a part of it.
_DASK: Final[Any] = distributed
_REACHED_WITHIN_S: Final = 10
#: Runs are sent together until they take about this long: a parcel costs client, scheduler and worker ten milliseconds.
_TOGETHER_S: Final = 1.0
#: Parcels for each place of a worker, so that none waits for the next.
_AHEAD: Final = 2
_COUNTED_EVERY_S: Final = 2


class Cluster:
    """The workers of a Dask scheduler."""

    def __init__(self, address: str) -> None:
        """Connect to the scheduler of a Dask cluster, by an address such as ``tcp://10.0.0.1:8786``.

        Raises:
            TightlinkError: No scheduler answers there, or its workers have another Tightlink.
        """
        self._address = address
        self._sent: dict[Any, list[Work]] = {}
        # What it has to say of lost connections is said here, in a sentence.
        for name in ("distributed", "distributed.client", "distributed.comm"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            self._client = _DASK.Client(address, timeout=_REACHED_WITHIN_S, set_as_default=False)
        except (TimeoutError, OSError, ValueError, TypeError):
            raise TightlinkError(
                f"{address}: no Dask scheduler answers there within {_REACHED_WITHIN_S} s: start one with "
                "dask scheduler, and workers with dask worker ADDRESS"
            ) from None
        self._check_workers()
        self.places = 1
        self._counted_at = -math.inf
        self._count()

    @property
    def running(self) -> int:
        """As `Engine` says, on a cluster's workers."""
        return min(self.places, sum(map(len, self._sent.values())))

    def perform(self, works: Iterable[Work]) -> Generator[Performed]:
        """As `Engine` says, on a cluster's workers."""
        finished = _DASK.as_completed(loop=self._client.loop)
        parcels = Parcels(works, together_s=_TOGETHER_S, ahead=_AHEAD * self.places)
        try:
            while True:
                self._count()
                parcels.ahead = _AHEAD * self.places
                while len(self._sent) < parcels.ahead and (parcel := parcels.next()):
                    self._send(parcel, finished)
                if not self._sent:
                    return
                future = next(finished)
                parcel = self._sent.pop(future.key)
                try:
                    results, took_s = future.result()
                except KilledWorker as error:
                    yield from self._lost(parcel, finished, error)
                    continue
                parcels.took(len(parcel), took_s)
                yield from zip(parcel, results, strict=True)
        except (TimeoutError, OSError, CancelledError) as error:
            if isinstance(error, OSError) and error.filename is not None:
                raise
            raise TightlinkError(f"{self._address}: the scheduler is gone; {KEPT}") from None
        finally:
            self._sent.clear()

    def close(self) -> None:
        """See `Engine`. What the workers have in hand is dropped."""
        with contextlib.suppress(OSError, asyncio.TimeoutError, RuntimeError):
            self._client.close(timeout=_REACHED_WITHIN_S)

    def _count(self) -> None:
        """Workers come and go; to ask takes a message."""
        now = time.monotonic()
        if now - self._counted_at > _COUNTED_EVERY_S:
            self.places = max(1, sum(self._client.nthreads().values()))
            self._counted_at = now

    def _send(self, parcel: list[Work], finished: Any) -> None:
        # The scheduler unpacks the function and its arguments. It would load Tightlink for a function of ours; this one
        # it knows, and bytes it forwards as they are.
        content = pickle.dumps(_Parcel(parcel))
        future = self._client.submit(pickle.loads, content, key=f"tightlink-{uuid4()}")
        self._sent[future.key] = parcel
        finished.add(future)

    def _lost(self, parcel: list[Work], finished: Any, error: KilledWorker) -> Iterator[tuple[Work, Failed]]:
        """Workers died again and again of a parcel: of which run shows when they go one by one."""
        if len(parcel) == 1:
            attempts = error.allowed_failures + 1
            yield parcel[0], Failed(f"the worker that ran it was lost, {attempts} times in a row")
            return
        for work in parcel:
            self._send([work], finished)

    def _check_workers(self) -> None:
        """Before anything is sent: workers need the same engine."""
        found = self._client.run(_behaviour, on_error="return")
        for worker, behaviour in found.items():
            if isinstance(behaviour, BaseException):
                self.close()
                raise TightlinkError(f"{worker}: this worker cannot load Tightlink: {behaviour}")
            if behaviour != _core.engine_behaviour:
                self.close()
                raise TightlinkError(
                    f"{worker}: this worker's engine has behaviour {behaviour} instead of {_core.engine_behaviour}: "
                    "install the same version of Tightlink there"
                )


def _behaviour() -> int:
    return _core.engine_behaviour


class _Parcel:
    """Runs on their way to a worker: to unpack them is to simulate them."""

    def __init__(self, works: list[Work]) -> None:
        self._works = works

    def __reduce__(self) -> tuple[Any, ...]:
        return _each, (self._works,)


def _each(parcel: list[Work]) -> tuple[list[object], float]:
    begin = time.perf_counter()
    results = [perform(work) for work in parcel]
    return results, time.perf_counter() - begin
