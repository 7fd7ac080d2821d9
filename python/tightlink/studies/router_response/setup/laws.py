"""What a packet costs router A by its length: three laws of the document's onsets, and two of them simulated.

The document lays its onsets to "the buffer slot allocation policy, which is based on packet number rather than byte
size". IOS takes a packet's buffer from the first of its public pools that is large enough: small (104 B), middle
(600 B), big (1524 B, in later releases 1536 B), then larger ones (Cisco, Buffer Tuning for all Cisco Routers,
document 15091; command reference, ``buffers``). So 65 and 90 B take a small buffer, 130 B a middle one, 1200 and
1500 B a big one, and a cost of handling them may step from pool to pool. Three laws of a packet's time:

- one cost for all lengths;
- linear: a cost of each packet, and one of each byte;
- pools: a cost of each packet, and one more of it for each pool that is larger: steps of one height.

These pools are said to hold packets that are process-switched; how its router switched, the document does not say.
With its own height for each step the third law passes through any three figures, and says nothing.

Example:
    >>> [pool(length) for length in (65, 90, 130, 1200, 1500)]
    ['small', 'small', 'middle', 'big', 'big']
    >>> [round(POOLS.onset_per_s(length)) for length in (65, 130, 1500)]
    [4287, 4097, 3923]
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tightlink.analysis.estimates import Fit
from tightlink.experiment.execute import Task
from tightlink.lazy import Array
from tightlink.studies.router_response.setup import document, network
from tightlink.studies.router_response.setup.costs import LOW_LOAD, A, Router
from tightlink.studies.router_response.setup.network import DOCUMENTED, Setting, processor
from tightlink.studies.words import US

#: Bytes that a buffer of each of IOS's public pools holds, of those that the document's packets need.
POOL_BYTES: Final = {"small": 104, "middle": 600, "big": 1524}
#: An onset: packet length and packets/s.
Figure = tuple[int, float]
#: As printed in packets/s (III-2), and with those in Mbit/s (III-1), of which 4.6 is read as 46.
IN_PACKETS: Final[tuple[Figure, ...]] = tuple(document.ONSETS_PER_S.items())
ALL: Final[tuple[Figure, ...]] = (
    *IN_PACKETS, *((length, document.per_s(mbit * 1e6, length)) for length, mbit in document.ONSETS_MBIT.items()),
)  # fmt: skip
#: About the onsets every 100 packets/s, and where the load follows.
RATES_PER_S: Final = (1000, 2000, 3000, 3500, *range(3700, 4501, 100), 5000)


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
        return 1 / (float(np.dot(self.terms(length), self._costs)) * US)

    def packet_s(self, length: int) -> float:
        """A packet's time, so that with low-priority work the processor is full at the onset."""
        return (1 - LOW_LOAD) / self.onset_per_s(length)

    @cached_property
    def _costs(self) -> Array:
        return self._solved(IN_PACKETS)[0]

    def _solved(self, figures: Iterable[Figure]) -> tuple[Array, Fit]:
        lengths, rates = zip(*figures, strict=True)
        return Fit.least_squares(np.array([self.terms(length) for length in lengths]), 1 / np.array(rates) / US)


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
    own = Router(A.interrupt_us, round(law.packet_s(length) / US - A.interrupt_us, 1))
    return Setting(f"A, {law.title}", law.title, processor(own), DOCUMENTED.router_b)


def tasks() -> list[Task]:
    """Laws that tell lengths apart, with the lengths whose onset the document prints."""
    return [
        task
        for law in SIMULATED
        for length in network.REFINED
        for task in network.short_probes(law.name, RATES_PER_S, [length], setting(law, length))
    ]
