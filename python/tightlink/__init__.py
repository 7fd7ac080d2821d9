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

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tightlink import analyze as analyze
    from tightlink import control as control
    from tightlink import errors as errors
    from tightlink import experiment as experiment
    from tightlink import plots as plots
    from tightlink import report as report
    from tightlink import scenario as scenario
    from tightlink import tables as tables
    from tightlink import units as units
    from tightlink._core import Ack, Handshake, Loss, RateSample, Report
    from tightlink.analysis.compare.comparison import Comparison, compare
    from tightlink.capture import capture
    from tightlink.control import CongestionControl
    from tightlink.diagnosis import Why
    from tightlink.errors import ScenarioError, TightlinkError, TightlinkWarning
    from tightlink.experiment import sweep
    from tightlink.experiment.execute import Task
    from tightlink.experiment.folder import Experiment
    from tightlink.laboratory import lab
    from tightlink.run import Run, open_run
    from tightlink.scenario import *
    from tightlink.scenario.new import network
    from tightlink.simulate import simulate
    from tightlink.studies.evaluation import evaluate
    from tightlink.studies.evaluation.observe import Evaluation
    from tightlink.studies.running import StudyResult, study
    from tightlink.studies.study import Study

    __version__: str

__all__ = [
    "AbileneFourTier",
    "Ack",
    "AggregatingRate",
    "Arq",
    "Background",
    "BitErrors",
    "Bulk",
    "Cake",
    "Cbr",
    "Chain",
    "Cobalt",
    "Codel",
    "Comparison",
    "CongestionControl",
    "Control",
    "Crowd",
    "DatagramSize",
    "DelayMarkov",
    "DelayOrnsteinUhlenbeck",
    "DelayRandomWalk",
    "DelayRedraw",
    "DelaySchedule",
    "DelayState",
    "DelayStep",
    "DelayTable",
    "Distribution",
    "DropTail",
    "Drr",
    "DualPi2",
    "Dumbbell",
    "Duplex",
    "Edge",
    "Evaluation",
    "Experiment",
    "FatTree",
    "File",
    "FourTier",
    "FqCobalt",
    "FqCodel",
    "FqPie",
    "Framing",
    "GammaJitter",
    "GilbertElliott",
    "Graph",
    "GraphLink",
    "GroupLink",
    "GroupReverse",
    "Handshake",
    "Interface",
    "JitterTable",
    "LargerFile",
    "LeafSpine",
    "LeoDelay",
    "Link",
    "LongLived",
    "Loss",
    "LossPattern",
    "LossSchedule",
    "LossStep",
    "LossTable",
    "Markov",
    "Meter",
    "Node",
    "NormalJitter",
    "Observe",
    "OnOff",
    "OrnsteinUhlenbeck",
    "Outage",
    "Outages",
    "ParetoJitter",
    "ParkingLot",
    "Patience",
    "Pie",
    "Place",
    "Policer",
    "Processor",
    "RandomOutages",
    "RandomWalk",
    "RateSample",
    "RateSchedule",
    "RateState",
    "RateStep",
    "RateTable",
    "RateTrace",
    "Red",
    "Rem",
    "Reorder",
    "Report",
    "Reverse",
    "Routing",
    "Rto",
    "Run",
    "Saturate",
    "Scatter",
    "Scenario",
    "ScenarioError",
    "Shaper",
    "SizeDistribution",
    "Spread",
    "Starts",
    "Strict",
    "Study",
    "StudyResult",
    "Task",
    "Tcp",
    "Think",
    "Threshold",
    "TierLink",
    "TightlinkError",
    "TightlinkWarning",
    "Transfers",
    "Udp",
    "UniformJitter",
    "Users",
    "Video",
    "Why",
    "capture",
    "compare",
    "evaluate",
    "lab",
    "load",
    "loads",
    "network",
    "open_run",
    "simulate",
    "study",
    "sweep",
]

#: Where names come from that are not of `tightlink.scenario`.
_PLACES: Final = {
    "Ack": "_core",
    "Handshake": "_core",
    "Comparison": "analysis.compare.comparison",
    "CongestionControl": "control",
    "Evaluation": "studies.evaluation.observe",
    "Experiment": "experiment.folder",
    "Loss": "_core",
    "RateSample": "_core",
    "Report": "_core",
    "Run": "run",
    "ScenarioError": "errors",
    "Study": "studies.study",
    "StudyResult": "studies.running",
    "Task": "experiment.execute",
    "TightlinkError": "errors",
    "TightlinkWarning": "errors",
    "Why": "diagnosis",
    "capture": "capture",
    "compare": "analysis.compare.comparison",
    "evaluate": "studies.evaluation",
    "lab": "laboratory",
    "network": "scenario.new",
    "open_run": "run",
    "simulate": "simulate",
    "study": "studies.running",
    "sweep": "experiment",
}
#: Modules that need no import of their own.
_MODULES: Final = ("analyze", "control", "errors", "experiment", "plots", "report", "scenario", "tables", "units")
#: What is meant by names that are close to others.
_MEANT: Final = {"run": "simulate"}


# Hidden from type checkers, which would take any name for one that there is.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Look a name up when it is asked for: loading all takes longer than a command may that only says a word."""
        if name == "__version__":
            from importlib.metadata import version

            return version("tightlink")
        if name in _MODULES:
            return importlib.import_module(f"tightlink.{name}")
        if name not in __all__:
            from tightlink.errors import closest

            # What begins with an underscore a tool asks for, of every module.
            meant = None if name.startswith("_") else _MEANT.get(name) or closest(name, __dir__())
            ending = f"; did you mean tl.{meant}?" if meant else ""
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}{ending}", name=name)
        found = getattr(importlib.import_module(f"tightlink.{_PLACES.get(name, 'scenario')}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    """What a user has of it, whether it was looked up already or not: what editors and notebooks complete."""
    return sorted({*__all__, *_MODULES, "__version__"})


class _Package(ModuleType):
    """This package, of which `capture` and `simulate` are functions and `run` is nothing, although modules are."""

    def __setattr__(self, name: str, value: object) -> None:
        if (name in __all__ or name in _MEANT) and isinstance(value, ModuleType):
            # What imports a module also makes it an attribute of its package.
            return
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
