"""Other routers and other links: what moves the onset, and what does not.

Example:
    >>> [setting.name for setting in VARIANTS][:3]
    ['A, T1', 'A, satellite', 'A, rings in bytes']
"""

from functools import lru_cache
from typing import Any, Final

from tightlink.experiment.execute import Task
from tightlink.scenario import Processor, Scenario
from tightlink.studies.router_response.setup import document, laws, network
from tightlink.studies.router_response.setup.costs import A, B, Router, low_priority
from tightlink.studies.router_response.setup.network import DOCUMENTED, Setting, processor
from tightlink.studies.words import US

_LONGEST: Final = document.LENGTHS[-1]
#: Variants are probed with the shortest and the longest packets.
ENDS: Final = (document.SHORTEST, _LONGEST)
#: A thinner grid than the document's, with probes about the onset and in the fall.
INTERVALS_MS: Final = (0.1, 0.2, 0.3, 0.4, 0.6, 1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0)
RATES_PER_S: Final = (3800, 4000, 4200, 4400, 7000)


def _both(**changes: Any) -> tuple[Processor, Processor]:
    """The two routers, with the same keys changed."""
    return processor(A, **changes), processor(B, **changes)


def _uninterrupted(own: Router) -> Processor:
    """The same cost of a packet, and none of one that is dropped."""
    return processor(own, interrupt=None, per_packet=f"{own.packet_s / US:g} us")


#: What the shortest packet costs router A, shared out over its bytes.
_PER_BYTE: Final = f"{A.packet_s / document.datagram_bytes(document.SHORTEST) * 1e9:.0f} ns"
_BY_BYTES: Final = processor(A, interrupt=None, per_packet="0 s", per_byte=_PER_BYTE)


def _linear() -> Setting:
    """The other reading of 72 % at 2 Mbit/s: it is the true load there."""
    meter = {"window": "60 s", "cpu": "1 ms", "every": "1 s"}
    both = [
        processor(A, interrupt=None, background=None, meter=meter, per_packet=f"{load / rate / US:.0f} us")
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
    Setting("A, no interrupts", "no interrupts: what is dropped costs nothing", _uninterrupted(A), _uninterrupted(B)),
    Setting("A, cost per byte", "a cost per byte instead of per packet", _BY_BYTES, _BY_BYTES),
    Setting("A, plain mean", "a meter that is a plain mean over 60 s", *_both(
        meter=low_priority()["meter"] | {"average": "window"},
    )),
    _linear(),
)  # fmt: skip
BY_NAME: Final = {setting.name: setting for setting in (DOCUMENTED, *VARIANTS)}


def tasks() -> list[Task]:
    """Every variant, with the shortest and the longest packets."""
    every = [f"{interval:g} ms" for interval in INTERVALS_MS] + [network.interval(rate) for rate in RATES_PER_S]
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
    by_length = [laws.setting(law, length) for law in laws.SIMULATED for length in network.REFINED]
    return [(setting, (setting.links(), setting.nodes())) for setting in (*BY_NAME.values(), *by_length)]
