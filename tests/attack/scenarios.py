"""Absurd numbers in scenarios that are run: tables, a sentence, or an interruption that is heard; nothing else.

`tests/test_fuzz.py` tries random text up to the resolved scenario; here each value is well formed and the engine runs.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import tightlink as tl
from attack import Violation
from tightlink import _core
from tightlink.scenario.held_disciplines import HELD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from random import Random

#: Seconds of work after which a run is interrupted, and after which it must have heard of that. Machines are busy.
_ALLOWED_S: Final = 2.0
_HEARD_S: Final = 30.0

_WIRES: Final = """
profile = "ns2"
duration = "20 ms"
link.one = { ends = ["a", "b"], rate = "10 Mbit/s", delay = "1 ms", queue = "20 packets" }
link.two = { ends = ["b", "c"], rate = "10 Mbit/s", delay = "1 ms", queue = "20 packets" }
"""
#: Texts, and what their traffic can have.
_TEXTS: Final[dict[str, tuple[str, ...]]] = {
    _WIRES + 'traffic.t = { kind = "bulk", from = "a", to = "c", tcp.window = "50 packets" }': (
        *("start", "stop", "flows", "bytes", "tcp"),
    ),
    _WIRES + 'traffic.t = { kind = "cbr", from = "a", to = "c", rate = "1 Mbit/s", udp.payload = "100 B" }': (
        *("start", "stop", "flows", "rate", "udp"),
    ),
    _WIRES
    + """
traffic.t = { kind = "cbr", from = "a", to = "c", interval = "1 ms" }
node.b.processor = { per_packet = "10 us", interrupt = "1 us", background = { cpu = "1 us", every = "1 ms", guaranteed = 0.1 }, meter = {} }
observe.interval = "1 ms"
""": ("start", "stop", "interval", "udp", "node"),
    _WIRES
    + """
traffic.t = { kind = "users", think = "10 ms", places.all = { at = ["a", "c"], sources = 3, receivers = 2 }, interfaces.only = { rate = "100 Mbit/s", delay = "0.1 ms" }, files.page = { mean = "5 packets" } }
""": ("think", "places", "interfaces", "files", "tcp"),
    _WIRES
    + 'traffic.t = { kind = "scatter", at = ["a", "b", "c"], rate = "1000 packets/s", sizes.full.size = "500 B" }': (
        *("start", "stop", "sizes"),
    ),
}


def _number(chance: Random) -> str:
    """A number of any order of magnitude, or one of those that break things."""
    if chance.random() < 0.2:
        return chance.choice(
            ["0", "1", "2", "3", "65535", "65536", "4294967296", "9007199254740993", "1e-300", "1e300"]
        )
    return f"{10 ** chance.uniform(-4, 4):.3g}" if chance.random() < 0.5 else f"{10 ** chance.uniform(-13, 13):.3g}"


def _of(*units: str) -> Callable[[Random], object]:
    return lambda chance: f"{_number(chance)} {chance.choice(units)}"


_TIME: Final = _of("s", "ms", "us", "ns")
_RATE: Final = _of("bit/s", "Mbit/s", "Gbit/s", "packets/s", "packets/ms")
_SIZE: Final = _of("B", "kB", "KiB", "MB")
_LIMIT: Final = _of("packets", "B", "kB", "BDP")


def _share(chance: Random) -> object:
    return chance.choice([0.0, 1e-300, 1e-9, 0.5, 1 - 1e-16, 1.0])


def _count(chance: Random) -> object:
    # Larger ones that are allowed are only large.
    return chance.choice([0, 1, 2, 7, 100, 3000, 2**31, 2**63])


def _queue(chance: Random) -> object:
    kind = chance.choice(
        ["drop-tail", "threshold", "policer", "red", "pie", "rem", *(kind for kind in HELD if kind != "strict")]
    )
    needed: dict[str, dict[str, object]] = {
        "threshold": {"mark": _LIMIT(chance)},
        "policer": {"rate": _RATE(chance), "burst": _SIZE(chance)},
    }
    return {"kind": kind, "limit": _LIMIT(chance)} | needed.get(kind, {})


def _control(chance: Random) -> object:
    return chance.choice([name for name, _ in _core.congestion()])


_KEYS: Final[dict[str, Callable[[Random], object]]] = {
    "duration": _TIME,
    "profile": lambda chance: chance.choice(["ns2", "rfc", "linux"]),
    "link.one.rate": _RATE,
    "link.one.delay": _TIME,
    "link[*].delay": _TIME,
    "link.two.queue": _queue,
    "link.one.queue": _LIMIT,
    "link.one.loss": _share,
    "link.one.mtu": _SIZE,
    "link.one.framing.overhead": _SIZE,
    "traffic.t.start": _TIME,
    "traffic.t.stop": _TIME,
    "traffic.t.flows": _count,
    "traffic.t.bytes": _SIZE,
    "traffic.t.rate": _RATE,
    "traffic.t.interval": _TIME,
    "traffic.t.think": _TIME,
    "traffic.t.places.all.sources": _count,
    "traffic.t.interfaces.only.delay": _TIME,
    "traffic.t.interfaces.only.rate": _RATE,
    "traffic.t.files.page.mean": _LIMIT,
    "traffic.t.sizes.full.size": _SIZE,
    "traffic.t.udp.payload": _SIZE,
    "traffic.t.tcp.payload": _SIZE,
    "traffic.t.tcp.window": _LIMIT,
    "traffic.t.tcp.initial_window": _LIMIT,
    "traffic.t.tcp.congestion": _control,
    "traffic.t.tcp.ecn": lambda chance: chance.choice([False, True, "accecn"]),
    "traffic.t.tcp.rto.min": _TIME,
    "traffic.t.tcp.rto.granularity": _TIME,
    "traffic.t.tcp.delayed_ack_timeout": _TIME,
    "node.b.processor.per_packet": _TIME,
    "node.b.processor.interrupt": _TIME,
    "node.b.processor.input_ring": _LIMIT,
    "node.b.processor.background.every": _TIME,
    "node.b.processor.background.cpu": _TIME,
    "node.b.processor.background.guaranteed": _share,
    "node.b.processor.meter.every": _TIME,
    "node.b.processor.meter.window": _TIME,
}


class _Overdue(KeyboardInterrupt):
    """A run was interrupted since it takes long."""


def attempt(chance: Random, place: Path) -> str:
    """Change some keys of a scenario to numbers of any size, and run it."""
    _ = place
    text = chance.choice([*_TEXTS])
    keys = [key for key in _KEYS if _fits(key, _TEXTS[text])]
    changes = {key: _KEYS[key](chance) for key in chance.sample(keys, chance.choice([1, 1, 2, 3]))}
    begin = time.monotonic()
    try:
        with _interrupted_after(_ALLOWED_S):
            run = tl.simulate(tl.loads(text, set=changes))
            wrong = _no_numbers(run)
    except tl.TightlinkError as error:
        if any(word in str(error) for word in ("Error", "None", "<", "object at")):
            raise Violation(f"{error} of {changes} in {text}") from None
        return "refused"
    except KeyboardInterrupt:
        if time.monotonic() - begin > _ALLOWED_S + _HEARD_S:
            raise Violation(f"interrupted after {time.monotonic() - begin:.0f} s only: {changes} in {text}") from None
        return "interrupted"
    except MemoryError:
        return "too large"
    except Exception as error:
        raise Violation(f"{error!r} of {changes} in {text}") from error
    if wrong:
        raise Violation(f"{wrong}: {changes} in {text}")
    return "warned" if run.warnings else "run"


def _fits(key: str, traffic: tuple[str, ...]) -> bool:
    table, _, rest = key.partition(".")
    if table == "traffic":
        return rest.split(".")[1] in traffic
    return table != "node" or table in traffic


def _no_numbers(run: Any) -> str:
    for row in run.links.iter_rows(named=True):
        for key, value in row.items():
            if isinstance(value, float) and not (math.isfinite(value) and value >= 0):
                return f"{key} of {row['link']} is {value}"
        if row["utilization"] > 1:
            return f"utilization of {row['link']} is {row['utilization']!r}"
    return ""


@contextmanager
def _interrupted_after(seconds: float) -> Iterator[None]:
    """Ctrl-C, as it were, where this thread can hear it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise _Overdue

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
