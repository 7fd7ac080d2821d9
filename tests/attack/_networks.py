"""Random small scenarios for attacks: one link or three, one flow or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tightlink import _core

if TYPE_CHECKING:
    from random import Random

_RATES: Final = ("1 Mbit/s", "2.3 Mbit/s", "10 Mbit/s", "50 Mbit/s", "100 Mbit/s", "2 packets/ms")
_DELAYS: Final = ("0 s", "0.1 ms", "1 ms", "5 ms", "10 ms", "25 ms", "50 ms", "100 ms")
_DURATIONS: Final = ("0.5 s", "2 s", "5 s", "10 s")
_PROFILES: Final = ("ns2", "rfc", "linux")


def link(chance: Random, *ends: str) -> dict[str, Any]:
    """A link between two nodes, with a queue that may be large or small, and sometimes loss."""
    queue = chance.choice(["unlimited", "1 packet", "4 packets", "20 packets", "100 packets", "64 KiB"])
    made = {"ends": list(ends), "rate": chance.choice(_RATES), "delay": chance.choice(_DELAYS), "queue": queue}
    return made | ({"loss": chance.choice([0.001, 0.02, 0.3])} if chance.random() < 0.2 else {})


def tcp(chance: Random, profile: str, controls: list[str] | None = None) -> dict[str, Any]:
    """A table ``tcp`` with a congestion control and a loss recovery that work together."""
    control = chance.choice(controls or [name for name, _ in _core.congestion()])
    # ns-2.35 has no RACK.
    recoveries = [name for name in _core.congestion_recoveries(control) if profile != "ns2" or name != "rack"]
    return {"congestion": control, "recovery": chance.choice(recoveries)}


def scenario(chance: Random) -> dict[str, Any]:
    """A dictionary for `Scenario.from_dict`, without links and traffic."""
    return {
        "profile": chance.choice(_PROFILES),
        "duration": chance.choice(_DURATIONS),
        "seed": chance.randrange(1000),
    }
