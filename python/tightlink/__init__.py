"""Tightlink: what a network does when traffic meets the link, router or window that limits it.

Describe a network and its traffic, simulate it packet by packet, and get data frames.

Example:
    >>> import tightlink as tl
    >>> scenario = tl.Scenario(
    ...     profile="ns2",
    ...     duration="10 s",
    ...     link={"bottleneck": tl.Link(ends=("sender", "receiver"), rate="2 Mbit/s", delay="10 ms")},
    ...     traffic={"ftp": tl.Bulk(from_="sender", to="receiver", start="0.1 s")},
    ... )
    >>> run = tl.simulate(scenario)
    >>> run.flows["packets_dropped"].to_list()
    [0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tightlink.capture import capture
from tightlink.control import CongestionControl
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.run import Run, open_run
from tightlink.scenario import (
    AbileneFourTier,
    Background,
    Bulk,
    Cbr,
    Chain,
    Codel,
    Control,
    Crowd,
    DatagramSize,
    Distribution,
    DropTail,
    Dumbbell,
    FatTree,
    File,
    FourTier,
    FqCodel,
    Framing,
    Graph,
    Interface,
    LargerFile,
    Link,
    LongLived,
    Meter,
    Node,
    Observe,
    OnOff,
    ParkingLot,
    Patience,
    Pie,
    Place,
    Processor,
    Red,
    Rem,
    Reverse,
    Rto,
    Saturate,
    Scatter,
    Scenario,
    Spread,
    Starts,
    Tcp,
    Think,
    Threshold,
    Udp,
    Users,
    Video,
    load,
    loads,
)
from tightlink.simulate import simulate

if TYPE_CHECKING:
    from tightlink._core import Ack, Loss, Report
    from tightlink.analysis.comparison import compare
    from tightlink.evaluation import evaluate
    from tightlink.experiment import sweep

__all__ = [
    "AbileneFourTier",
    "Ack",
    "Background",
    "Bulk",
    "Cbr",
    "Chain",
    "Codel",
    "CongestionControl",
    "Control",
    "Crowd",
    "DatagramSize",
    "Distribution",
    "DropTail",
    "Dumbbell",
    "FatTree",
    "File",
    "FourTier",
    "FqCodel",
    "Framing",
    "Graph",
    "Interface",
    "LargerFile",
    "Link",
    "LongLived",
    "Loss",
    "Meter",
    "Node",
    "Observe",
    "OnOff",
    "ParkingLot",
    "Patience",
    "Pie",
    "Place",
    "Processor",
    "Red",
    "Rem",
    "Report",
    "Reverse",
    "Rto",
    "Run",
    "Saturate",
    "Scatter",
    "Scenario",
    "ScenarioError",
    "Spread",
    "Starts",
    "Tcp",
    "Think",
    "Threshold",
    "TightlinkError",
    "Udp",
    "Users",
    "Video",
    "capture",
    "compare",
    "evaluate",
    "load",
    "loads",
    "open_run",
    "simulate",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        # Looked up when it is asked for: it takes longer than all else here.
        from importlib.metadata import version

        return version("tightlink")
    if name == "evaluate":
        from tightlink.evaluation import evaluate

        return evaluate
    if name == "compare":
        from tightlink.analysis.comparison import compare

        return compare
    if name == "sweep":
        # As an experiment needs more than the scenario model.
        from tightlink.experiment import sweep

        return sweep
    if name in {"Ack", "Loss", "Report"}:
        from tightlink import _core

        return getattr(_core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
