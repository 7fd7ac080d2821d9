"""A larger receiver's window does not lower the goodput of a flow that is alone on a link and loses nothing.

Losses end this: a larger window fills a queue sooner. So does profile `linux`, whose receivers acknowledge at other
times with another window (docs/limitations.md), BBR and Vivace, which probe for the rate of the path at set intervals,
Copa, which empties the queue now and then unless a window keeps it short, and LEDBAT++, which slows down after slow
start: from a larger window it has more to regain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import tightlink as tl
from attack import Violation, _networks
from tightlink import _core

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

_WINDOWS: Final = (1, 2, 4, 8, 16, 20, 32, 50, 64, 100, 200, 500, 1000, 3000, 10_000)
_OF_ITS_OWN: Final = ("bbr", "bbr3", "copa", "ledbat++", "vivace")
_ROUNDING: Final = 1e-9


def attempt(chance: Random, place: Path) -> str:
    """Run one flow over one link with two windows."""
    _ = place
    table = _networks.scenario(chance)
    controls = [name for name, _ in _core.congestion() if name not in _OF_ITS_OWN]
    wire = _networks.link(chance, "a", "b") | {"queue": chance.choice(["unlimited", "100 packets", "1000 packets"])}
    wire.pop("loss", None)
    table["link"] = {"wire": wire}
    tcp = _networks.tcp(chance, table["profile"], controls)
    table["traffic"] = {"flow": {"kind": "bulk", "from": "a", "to": "b", "tcp": tcp}}
    windows = sorted(chance.sample(_WINDOWS, 2))
    scenarios = [tl.Scenario.from_dict(table).set("traffic.flow.tcp.window", f"{count} packets") for count in windows]
    runs = [tl.simulate(scenario) for scenario in scenarios]
    if any(run.links["packets_dropped"].sum() for run in runs):
        return "with losses"
    narrow, wide = (run.flows["goodput_bps"][0] for run in runs)
    if wide >= narrow * (1 - _ROUNDING):
        return "higher" if wide > narrow * (1 + _ROUNDING) else "equal"
    if table["profile"] == "linux":
        return "lower under linux"
    raise Violation(f"{narrow:.0f} bit/s with {windows[0]} packets, {wide:.0f} with {windows[1]}: {table}")
