"""Other routers, other links, and costs by packet length: what moves the onset, and what does not.

Example:
    >>> [setting.name for setting in VARIANTS][:3]
    ['A, T1', 'A, satellite', 'A, rings in bytes']
    >>> [pool(length) for length in (65, 90, 130, 1200, 1500)]
    ['small', 'small', 'middle', 'big', 'big']
    >>> [round(POOLS.onset_per_s(length)) for length in (65, 130, 1500)]
    [4287, 4097, 3923]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from tightlink.analysis.estimates import Fit
from tightlink.experiment.execute import Task
from tightlink.lazy import Array
from tightlink.scenario import Processor, Scenario
from tightlink.studies.router_response.setup import document, network
from tightlink.studies.router_response.setup.costs import LOW_LOAD, A, B, Router, low_priority
from tightlink.studies.router_response.setup.network import _US, DOCUMENTED, Setting, processor

_LONGEST: Final = document.LENGTHS[-1]
#: Variants are probed with the shortest and the longest packets.
ENDS: Final = (document.SHORTEST, _LONGEST)
#: A thinner grid than the document's, with probes about the onset and in the fall.
INTERVALS_MS: Final = (0.1, 0.2, 0.3, 0.4, 0.6, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0)
VARIANTS_RATES_PER_S: Final = (3800, 4000, 4200, 4400, 7000)


def _both(**changes: Any) -> tuple[Processor, Processor]:
    """The two routers, with the same keys changed."""
    return processor(A, **changes), processor(B, **changes)


def _without_interrupts() -> Setting:
    """The same cost of a packet, and none of one that is dropped."""
    a, b = (processor(own, interrupt=None, per_packet=f"{own.packet_s / _US:g} us") for own in (A, B))
    return Setting("A, no interrupts", "no interrupts: what is dropped costs nothing", a, b)


def _per_byte() -> Setting:
    """What the shortest packet costs router A, shared out over its bytes."""
    per_byte = f"{A.packet_s / document.datagram_bytes(document.SHORTEST) * 1e9:.0f} ns"
    router = processor(A, interrupt=None, per_packet="0 s", per_byte=per_byte)
    return Setting("A, cost per byte", "a cost per byte instead of per packet", router, router)


def _linear() -> Setting:
    """The other reading of 72 % at 2 Mbit/s: it is the true load there."""
    meter = {"window": "60 s", "cpu": "1 ms", "every": "1 s"}
    both = [
        processor(A, interrupt=None, background=None, meter=meter, per_packet=f"{load / rate / _US:.0f} us")
        for load, rate in (
            (document.LEVEL, document.per_s(document.LEVEL_BPS, document.SHORTEST)),
            (document.B_READING, document.B_END_PER_S),
        )
    ]
    return Setting("A, linear", "72 % at 2 Mbit/s is the true load", both[0], both[1], read_s=61)


VARIANTS: Final = (
    Setting("A, T1", "serial link of 1.544 Mbit/s", *_both(), "1.544 Mbit/s"),
    Setting("A, satellite", "serial link over a satellite: 250 ms", *_both(), serial_delay="250 ms"),
    # As many bytes as the packets would have at most: short packets find room for many times as many.
    Setting("A, rings in bytes", "rings that count bytes", *_both(
        input_ring=f"{document.INPUT_RING * _LONGEST} B", output_ring=f"{document.OUTPUT_RING * _LONGEST} B",
    )),
    _without_interrupts(),
    _per_byte(),
    Setting("A, plain mean", "a meter that is a plain mean over 60 s", *_both(
        meter=low_priority()["meter"] | {"average": "window"},
    )),
    _linear(),
)  # fmt: skip
BY_NAME: Final = {setting.name: setting for setting in (DOCUMENTED, *VARIANTS)}


def variants_tasks() -> list[Task]:
    """Every variant, with the shortest and the longest packets."""
    every = [f"{interval:g} ms" for interval in INTERVALS_MS] + [
        network.interval(rate) for rate in VARIANTS_RATES_PER_S
    ]
    return [
        Task(f"{setting.name}/{length}/{interval}", setting.probe(length, interval, network.SHORT_S))
        for setting in VARIANTS
        for length in ENDS
        for interval in every
    ]


def setting_of(scenario: Scenario) -> Setting | None:
    """Which of the settings a probe was made in; none where it is no probe."""
    if set(scenario.traffic) != {"probe"}:
        return None
    return next((setting for setting, tables in _tables() if tables == (scenario.link, scenario.node)), None)


@lru_cache(maxsize=1)
def _tables() -> list[tuple[Setting, tuple[object, object]]]:
    by_length = [setting(law, length) for law in SIMULATED for length in network.REFINED]
    return [(setting, (setting.links(), setting.nodes())) for setting in (*BY_NAME.values(), *by_length)]


# What a packet costs router A by its length: three laws of the document's onsets, and two of them simulated.
#
# The document lays its onsets to "the buffer slot allocation policy, which is based on packet number rather than byte
# size". IOS takes a packet's buffer from the first of its public pools that is large enough: small (104 B), middle
# (600 B), big (1524 B, in later releases 1536 B), then larger ones (Cisco, Buffer Tuning for all Cisco Routers,
# document 15091; command reference, ``buffers``). So 65 and 90 B take a small buffer, 130 B a middle one, 1200 and
# 1500 B a big
# one, and a cost of handling them may step from pool to pool. Three laws of a packet's time:
#
# - one cost for all lengths;
# - linear: a cost of each packet, and one of each byte;
# - pools: a cost of each packet, and one more of it for each pool that is larger: steps of one height.
#
# These pools are said to hold packets that are process-switched; how its router switched, the document does not say.
# With its own height for each step the third law passes through any three figures, and says nothing.

#: Bytes that a buffer of each of IOS's public pools holds, of those that the document's packets need.
POOL_BYTES: Final = {"small": 104, "middle": 600, "big": 1524}
_MBIT: Final = 1e6
#: An onset: packet length and packets/s.
Figure = tuple[int, float]
#: As printed in packets/s (III-2), and with those in Mbit/s (III-1), of which 4.6 is read as 46.
IN_PACKETS: Final[tuple[Figure, ...]] = tuple(document.ONSETS_PER_S.items())
ALL: Final[tuple[Figure, ...]] = (
    *IN_PACKETS, *((length, document.per_s(mbit * _MBIT, length)) for length, mbit in document.ONSETS_MBIT.items()),
)  # fmt: skip
#: About the onsets every 100 packets/s, and where the load follows.
LAWS_RATES_PER_S: Final = (1000, 2000, 3000, 3500, *range(3700, 4501, 100), 5000)


def pool(length: int) -> str:
    """The pool that a packet's buffer comes from: the first whose buffers hold it."""
    return next(name for name, size in POOL_BYTES.items() if size >= length)


@dataclass(frozen=True)
class Law:
    """A packet's time as a sum of terms, each with a cost that is fitted to the document's onsets."""

    name: str
    title: str
    terms: Callable[[int], tuple[float, ...]]
    """Of a packet length."""

    def fit(self, figures: Iterable[Figure]) -> Fit:
        """How well the law meets some onsets, by the time from packet to packet in microseconds."""
        return self._solved(figures)[1]

    def onset_per_s(self, length: int) -> float:
        """The onset of a length, by the law as fitted to those printed in packets/s."""
        return 1 / (float(np.dot(self.terms(length), self._costs)) * _US)

    def packet_s(self, length: int) -> float:
        """A packet's time, so that with low-priority work the processor is full at the onset."""
        return (1 - LOW_LOAD) / self.onset_per_s(length)

    @cached_property
    def _costs(self) -> Array:
        return self._solved(IN_PACKETS)[0]

    def _solved(self, figures: Iterable[Figure]) -> tuple[Array, Fit]:
        lengths, rates = zip(*figures, strict=True)
        return Fit.least_squares(np.array([self.terms(length) for length in lengths]), 1 / np.array(rates) / _US)


ONE: Final = Law("one", "one cost for all lengths", lambda _: (1.0,))
LINEAR: Final = Law(
    "linear", "a cost per packet and one per byte", lambda length: (1.0, float(document.datagram_bytes(length)))
)
POOLS: Final = Law(
    "pools", "a step for each larger pool of buffers", lambda length: (1.0, float(list(POOL_BYTES).index(pool(length))))
)
LAWS: Final = (ONE, LINEAR, POOLS)
#: One cost is the documented routers'.
SIMULATED: Final = (LINEAR, POOLS)


def setting(law: Law, length: int) -> Setting:
    """The routers as documented, with A's packets at the cost that a law gives to a length.

    The engine has no cost by pool of buffers, so each length has its own router.
    """
    own = Router(A.interrupt_us, round(law.packet_s(length) / _US - A.interrupt_us, 1))
    return Setting(f"A, {law.title}", law.title, processor(own), DOCUMENTED.router_b)


def laws_tasks() -> list[Task]:
    """Laws that tell lengths apart, with the lengths whose onset the document prints."""
    return [
        task
        for law in SIMULATED
        for length in network.REFINED
        for task in network.short_probes(law.name, LAWS_RATES_PER_S, [length], setting(law, length))
    ]
