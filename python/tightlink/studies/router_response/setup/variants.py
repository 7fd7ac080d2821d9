"""Other routers and other links: what moves the onset, and what does not.

Example:
    >>> [setting.name for setting in VARIANTS][:3]
    ['A, T1', 'A, satellite', 'A, rings in bytes']
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from tightlink.experiment.execute import Task
from tightlink.studies.router_response.setup import costs, laws, probes
from tightlink.studies.router_response.setup.document import (
    B_END_PER_S,
    B_READING,
    INPUT_RING,
    LENGTHS,
    LEVEL,
    LEVEL_BPS,
    OUTPUT_RING,
    SHORTEST,
    datagram_bytes,
    per_s,
)
from tightlink.studies.router_response.setup.network import DOCUMENTED, Setting, processor

if TYPE_CHECKING:
    from tightlink.scenario import Scenario

_LONGEST: Final = LENGTHS[-1]
#: Variants are probed with the shortest and the longest packets.
ENDS: Final = (SHORTEST, _LONGEST)
_US: Final = 1e-6
#: A thinner grid than the document's, with probes about the onset and in the fall.
INTERVALS_MS: Final = (0.1, 0.2, 0.3, 0.4, 0.6, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0)
RATES_PER_S: Final = (3800, 4000, 4200, 4400, 7000)


def _rings_in_bytes() -> Setting:
    """As many bytes as the packets would have at most: short packets find room for many times as many."""
    rings = {
        "input_ring": f"{INPUT_RING * _LONGEST} B",
        "output_ring": f"{OUTPUT_RING * _LONGEST} B",
    }
    a, b = (processor(own, **rings) for own in (costs.A, costs.B))
    return Setting("A, rings in bytes", "rings that count bytes", a, b)


def _without_interrupts() -> Setting:
    """The same cost of a packet, and none of one that is dropped."""
    a, b = (processor(own, interrupt=None, per_packet=f"{own.packet_s / _US:g} us") for own in (costs.A, costs.B))
    return Setting("A, no interrupts", "no interrupts: what is dropped costs nothing", a, b)


def _per_byte() -> Setting:
    """What the shortest packet costs router A, shared out over its bytes."""
    per_byte = f"{costs.A.packet_s / datagram_bytes(SHORTEST) * 1e9:.0f} ns"
    router = processor(costs.A, interrupt=None, per_packet="0 s", per_byte=per_byte)
    return Setting("A, cost per byte", "a cost per byte instead of per packet", router, router)


def _plain_mean() -> Setting:
    """The same routers, the meter being a mean over a minute."""
    meter = costs.low_priority()["meter"] | {"average": "window"}
    a, b = (processor(own, meter=meter) for own in (costs.A, costs.B))
    return Setting("A, plain mean", "a meter that is a plain mean over 60 s", a, b)


def _linear() -> Setting:
    """The other reading of 72 % at 2 Mbit/s: it is the true load there."""
    meter = {"window": "60 s", "cpu": "1 ms", "every": "1 s"}
    both = [
        processor(costs.A, interrupt=None, background=None, meter=meter, per_packet=f"{load / rate / _US:.0f} us")
        for load, rate in ((LEVEL, per_s(LEVEL_BPS, SHORTEST)), (B_READING, B_END_PER_S))
    ]
    return Setting("A, linear", "72 % at 2 Mbit/s is the true load", both[0], both[1], read_s=61)


VARIANTS: Final = (
    Setting("A, T1", "serial link of 1.544 Mbit/s", DOCUMENTED.router_a, DOCUMENTED.router_b, "1.544 Mbit/s"),
    Setting("A, satellite", "serial link over a satellite: 250 ms", DOCUMENTED.router_a, DOCUMENTED.router_b,
            serial_delay="250 ms"),
    _rings_in_bytes(),
    _without_interrupts(),
    _per_byte(),
    _plain_mean(),
    _linear(),
)  # fmt: skip
BY_NAME: Final = {setting.name: setting for setting in (DOCUMENTED, *VARIANTS)}


def tasks() -> list[Task]:
    """Every variant, with the shortest and the longest packets."""
    every = [f"{interval:g} ms" for interval in INTERVALS_MS] + [probes.interval(rate) for rate in RATES_PER_S]
    return [
        Task(f"{setting.name}/{length}/{interval}", setting.probe(length, interval, probes.SHORT_S))
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
    by_length = [laws.setting(law, length) for law in laws.SIMULATED for length in probes.REFINED]
    return [(setting, (setting.links(), setting.nodes())) for setting in (*BY_NAME.values(), *by_length)]
