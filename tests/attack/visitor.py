"""An attack on ``tightlink measure path``: a server that answers at random, and datagrams that never were.

Whatever comes, the visitor has an answer of its kind or an error of one sentence, and what it makes of numbers that can be
is a table, JSON and a scenario that can be loaded.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import socket
import threading
import warnings
from functools import cache
from typing import TYPE_CHECKING, Final

import numpy as np

import tightlink as tl
from attack import Violation
from attack._messages import line
from tightlink.analysis.path.answer import PathAnswer, judged
from tightlink.analysis.path.estimate import PacketTrains, overload
from tightlink.commands import measure_path
from tightlink.errors import TightlinkError
from tightlink.measure import path as probes
from tightlink.measure.probe import listen
from tightlink.measure.talk import Received
from tightlink.measure.traffic import UdpReceived, UdpSent
from tightlink.measure.visitor import visiting

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from numpy.typing import NDArray

HERE: Final = "127.0.0.1"
_MOST: Final = 50
_PATIENCE_S: Final = 10.0
#: What a conversation costs is little beside what an analysis costs.
_ANALYSED: Final = 0.05
_PLAN: Final = probes.Plan(trains=20, train_packets=20)


def attempt(chance: Random, _place: Path) -> str:
    """Visit a server that lies, and now and then analyse what it may have said."""
    attack = _attack()
    return attack.analyse(chance) if chance.random() < _ANALYSED else attack.talk(chance)


@cache
def _attack() -> Attack:
    return Attack()


class Attack:
    """A server that lies, in a thread, which ends with the process."""

    def __init__(self) -> None:
        self._answers: list[bytes] = []
        self._end = listen(HERE)
        self._place = (HERE, int(self._end.getsockname()[1]))
        self._thread = threading.Thread(target=self._lie, daemon=True)
        self._thread.start()

    def talk(self, rng: Random) -> str:
        """Make one visit, and understand the answer or not."""
        ready = line(rng, {"ready": True}) if rng.random() < 0.3 else b'{"ready": true}\n'
        count = rng.choice([0, 1, 5, _MOST])
        answer = line(rng, {"overflowed": 0, "echoed": count, "seq": list(range(count)),
                            "received_ns": [10**18 + number for number in range(count)]})  # fmt: skip
        if rng.random() < 0.01:
            answer = rng.choice([b"[", b" ", b"1"]) * 100_000
        self._answers = [ready, answer]
        do = rng.choice(["echo", "receive"])
        try:
            with visiting(self._place, do, most=_MOST, seconds=0.01, idle_s=0.01, patience_s=_PATIENCE_S) as visit:
                if do == "echo":
                    visit.echoed()
                else:
                    received = visit.received()
                    with contextlib.suppress(ValueError):
                        probes.arrived(_sent(np.arange(20) * 1000), received, within_s=3.0)
        except TightlinkError as error:
            if "\n" in str(error) or len(str(error)) > 400:
                raise Violation(f"an error of more than a sentence: {error}") from None
            return "refused"
        except Exception as error:
            raise Violation(f"{error!r}; answers {ready[:200]!r} {answer[:200]!r}") from error
        return "understood"

    def analyse(self, chance: Random) -> str:
        """Take a measurement to its end with times and numbers that a server may have made up."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return _measured(chance)
        except TightlinkError:
            return "refused"
        except Violation:
            raise
        except Exception as error:
            # What cannot be is refused where the answer is read.
            if isinstance(error, ValueError) and str(error).startswith("an answer about"):
                return "refused"
            raise Violation(repr(error)) from error

    def _lie(self) -> None:
        while True:
            visitor, _ = self._end.accept()
            with visitor, contextlib.suppress(OSError):
                visitor.settimeout(_PATIENCE_S)
                visitor.recv(1000)
                for answer in self._answers:
                    visitor.sendall(answer)
                visitor.shutdown(socket.SHUT_WR)
                visitor.recv(1000)


def _measured(rng: Random) -> str:
    trips = {}
    for size in _PLAN.sizes:
        sent = _sent(np.arange(_PLAN.echoes) * 20_000_000)
        found = probes.round_trips(sent, _back(rng, sent))
        if found.size:
            trips[size + _PLAN.headers_bytes] = found
    count = _PLAN.train_packets * _PLAN.trains
    apart = rng.choice([20_000_000, 200_000_000])
    sent = _sent(np.arange(count) // _PLAN.train_packets * apart + np.arange(count) % _PLAN.train_packets * 1000)
    trained = probes.arrived(sent, _said(rng, sent), within_s=10.0)
    trains = PacketTrains(probes.of_trains(trained, _PLAN), _PLAN.train_packets, _PLAN.packet_bytes)
    rough = trains.rate_bps()
    flood = None
    interval_ns = rng.choice([1, 1000, 100_000, 10_000_000])
    if rough is not None:
        if not (math.isfinite(rough.value) and rough.value > 0):
            raise Violation(f"a rate of {rough}")
        sent = _sent(np.arange(rng.choice([10, 100, 300])) * interval_ns)
        flooded = probes.arrived(sent, _said(rng, sent), within_s=10.0)
        flood = overload(flooded.seq, flooded.sent_s, flooded.received_seq, flooded.delay_s, _PLAN.packet_bytes)
    answer = judged(HERE, round_trips_s=trips, trains=trains, flood=flood, overflowed=rng.choice([0, 5, 2**62]))
    return _shown(answer)


def _shown(answer: PathAnswer) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
        measure_path._show(answer)
        measure_path._warned(answer, None)
    if not out.getvalue().replace("\n", "").isprintable():
        raise Violation(f"not printable: {out.getvalue()!r}")
    json.dumps(answer.as_json(), allow_nan=False)
    if answer.whole:
        tl.loads(answer.scenario(_PLAN.packet_bytes)).resolve()
        return "scenario"
    return "analysed"


def _times(rng: Random, sent: UdpSent) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Numbers and times as a server may say them: a plausible path, and then anything done to it."""
    generator = np.random.default_rng(rng.randrange(2**32))
    service = rng.choice([1, 1000, 100_000, 1_000_000, 100_000_000])
    times = np.empty_like(sent.sent_ns)
    free = 0
    for number, at in enumerate(sent.sent_ns.tolist()):
        free = max(free, at) + service
        times[number] = free
    times += rng.choice([0, 1000, 10**9, -(10**12), 10**18])
    seq = sent.seq.copy()
    kept = generator.random(seq.size) < rng.choice([0.0, 0.05, 0.5, 0.9, 1.0, 1.0])
    seq, times = seq[kept], times[kept]
    for _ in range(rng.choice([0, 0, 1, 2])):
        match rng.randrange(7):
            case 0:
                times = times[::-1].copy()
            case 1:
                times = np.full_like(times, times[0] if times.size else 0)
            case 2:
                generator.shuffle(seq)
            case 3:
                times = times + generator.integers(0, rng.choice([2, 10**6, 10**9, 10**10]), times.size)
            case 4:
                seq = np.repeat(seq, 2)[: times.size]
            case 5:
                times = np.sort(times)
            case _:
                seq = seq + rng.choice([0, 1, 1000])
    return seq, np.clip(times, 0, 2**62)


def _said(rng: Random, sent: UdpSent) -> Received:
    seq, times = _times(rng, sent)
    return Received(overflowed=0, seq=seq.tolist(), received_ns=times.tolist())


def _back(rng: Random, sent: UdpSent) -> UdpReceived:
    seq, times = _times(rng, sent)
    return UdpReceived("done", 0, 0, np.zeros_like(seq), seq, times[::-1].copy(), times, np.zeros_like(seq))


def _sent(after_ns: NDArray[np.int64]) -> UdpSent:
    times = after_ns.astype(np.int64) + 10**18
    number = np.arange(times.size, dtype=np.int64)
    return UdpSent(0, "done", 0, 0, 0.0, np.zeros_like(number), number, times, times)
