"""What a packet costs the two routers: closed formulas, from figures that the document prints.

The document has readings, no costs. The router's time is shared so: interrupts first (i for each arrival,
dropped or not), then packets (p each), then low-priority work: background and the meter, of which a share g
of what interrupts leave is guaranteed. The meter is the "one minute" of such routers: a low-priority process
that every 5 s moves the reading by 5/60 of the difference towards the load of the last 5 s. So n samples
after the load changed from b to L it reads b + (1 − (11/12)ⁿ)(L − b), and never all of L.

Printed and used here, hence no confirmation of anything:

1. the mean of the three onsets, 4,102 packets/s: there (i + p) f + b = 1, with b the share of low-priority work;
2. router B's end at 65 B, where the serial link is full: of the document's probes only that of 5,000/s (or of
   10,000/s) can have filled it, so there A still forwards as much: (1 − g)(1 − 5000 i) / p;
3. the fall of the reading from 3 Mbit/s of 65 B on: there a job of background and one of the meter take the
   meter's whole period, g (1 − i f) 5 s, and beyond it the meter misses samples;
4. the level of 72 %, which gives n, and so when the meter was read;
5. router B's reading of 66 % at its end, which gives its i + p; its i is in the same proportion as A's.

Not printed, and chosen: 5 % guaranteed, as much as such routers reserve by default (200 µs for processes
after 4 ms of interrupts), and background of 10 ms every 100 ms. With less background 1. and 2. leave less
for interrupts, as `interrupt_s` says.

Example:
    >>> A.interrupt_us, A.per_packet_us, B.interrupt_us, B.per_packet_us
    (86.3, 127.5, 75.7, 111.7)
    >>> METER_MS, SAMPLES, READ_S
    (116, 13, 70)
"""

import math
from dataclasses import dataclass
from typing import Any, Final

from tightlink.studies.router_response.setup import document
from tightlink.studies.words import MS, US

GUARANTEED: Final = 0.05
BACKGROUND_MS: Final = 10
BACKGROUND_EVERY_MS: Final = 100
METER_EVERY_S: Final = 5
WINDOW_S: Final = 60
#: The only probe of the document between the onsets and 10,000 packets/s.
_PROBE_PER_S: Final = 5000

#: 1.: what the load follows up to, for all lengths.
ONSET_PER_S: Final = sum(document.ONSETS_PER_S.values()) / len(document.ONSETS_PER_S)


@dataclass(frozen=True)
class Router:
    """What an arrival and what a packet costs a router, to a tenth of a microsecond."""

    interrupt_us: float
    per_packet_us: float

    @property
    def packet_s(self) -> float:
        """Time of a packet that is forwarded."""
        return (self.interrupt_us + self.per_packet_us) * US


def interrupt_s(background_ms: float = BACKGROUND_MS) -> float:
    """What an arrival costs router A: 1., 2. and 3. are linear in i + p, i and the meter's time; this is their i.

    Args:
        background_ms: Of background every 100 ms.

    >>> [round(interrupt_s(background_ms) * 1e6, 1) for background_ms in (7, 9, 10)]
    [48.9, 73.8, 86.3]
    """
    serial_per_s = document.SERIAL_BPS / (8 * document.serial_bytes(document.SHORTEST))
    idle, slope = 1 - _low_load(0.0, background_ms), GUARANTEED * document.FALL_PER_S
    free = (1 - GUARANTEED) / serial_per_s - idle / ONSET_PER_S
    return free / (slope / ONSET_PER_S - 1 + (1 - GUARANTEED) * _PROBE_PER_S / serial_per_s)


def _meter_s(of_interrupt_s: float, background_ms: float) -> float:
    """3., solved for the processor time of a sample."""
    return (1 - of_interrupt_s * document.FALL_PER_S) * GUARANTEED * METER_EVERY_S - background_ms * MS


def _low_load(of_interrupt_s: float, background_ms: float) -> float:
    return background_ms / BACKGROUND_EVERY_MS + _meter_s(of_interrupt_s, background_ms) / METER_EVERY_S


_INTERRUPT_S: Final = interrupt_s()


#: Processor time of a sample of the meter, in milliseconds.
METER_MS: Final = round(_meter_s(_INTERRUPT_S, BACKGROUND_MS) / MS)
#: Share of the time that low-priority work asks for.
LOW_LOAD: Final = _low_load(_INTERRUPT_S, BACKGROUND_MS)


def moved(samples: int) -> float:
    """How far the meter has moved towards a new load after so many samples.

    >>> round(moved(13), 3)
    0.677
    """
    return 1 - (1 - METER_EVERY_S / WINDOW_S) ** samples


#: 4.: samples of the meter in a reading; those since the first packet of a probe.
SAMPLES: Final = round(math.log((1 - document.LEVEL) / (1 - LOW_LOAD)) / math.log(1 - METER_EVERY_S / WINDOW_S))
#: When the meter is read: as the next sample begins, and before it counts.
READ_S: Final = (SAMPLES + 1) * METER_EVERY_S


def reading(load: float) -> float:
    """What the meter shows when it is read, if the load was low-priority work's before, and is this one since.

    >>> round(reading(1.0), 3)
    0.717
    """
    return LOW_LOAD + moved(SAMPLES) * (min(load, 1.0) - LOW_LOAD)


def _router(packet_s: float, of_interrupt_s: float) -> Router:
    interrupt_us = round(of_interrupt_s / US, 1)
    return Router(interrupt_us, round(packet_s / US - interrupt_us, 1))


_A_S: Final = (1 - LOW_LOAD) / ONSET_PER_S
_B_S: Final = (document.B_READING - LOW_LOAD) / moved(SAMPLES) / document.B_END_PER_S
#: Router A, between the fast link and the serial one.
A: Final = _router(_A_S, _INTERRUPT_S)
#: Router B, behind the serial link.
B: Final = _router(_B_S, _INTERRUPT_S * _B_S / _A_S)


def low_priority() -> dict[str, Any]:
    """Background and meter of a router, as a scenario has them."""
    return {
        "background": {"cpu": f"{BACKGROUND_MS} ms", "every": f"{BACKGROUND_EVERY_MS} ms", "guaranteed": GUARANTEED},
        "meter": {
            "window": f"{WINDOW_S} s", "cpu": f"{METER_MS} ms", "every": f"{METER_EVERY_S} s", "average": "exponential",
        },
    }  # fmt: skip
