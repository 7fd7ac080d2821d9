"""Scenarios: the model that TOML files and Python objects share, and what the engine gets of it."""

from __future__ import annotations

from tightlink.scenario.delays import (
    DelayRedraw,
    DelaySchedule,
    DelayStep,
    JitterTable,
    NormalJitter,
    ParetoJitter,
    UniformJitter,
)
from tightlink.scenario.disciplines import DropTail, Pie, Red, Rem, Threshold
from tightlink.scenario.four_tier import PARAMETERS, Distribution, FourTier, LargerFile
from tightlink.scenario.held_disciplines import (
    Cake,
    Cobalt,
    Codel,
    Drr,
    DualPi2,
    FqCobalt,
    FqCodel,
    FqPie,
    Strict,
)
from tightlink.scenario.links import Framing, Link, Reverse
from tightlink.scenario.load import load, loads, understood
from tightlink.scenario.loss import BitErrors, GilbertElliott, LossPattern, LossSchedule, LossStep
from tightlink.scenario.model import Scenario
from tightlink.scenario.nodes import Background, Meter, Node, Processor
from tightlink.scenario.observe import Observe
from tightlink.scenario.overrides import parse_option, parse_value
from tightlink.scenario.profiles import PROFILES, Profile
from tightlink.scenario.protocols import Rto, Tcp, Udp
from tightlink.scenario.rates import Markov, OrnsteinUhlenbeck, RandomWalk, RateSchedule, RateState, RateStep, RateTrace
from tightlink.scenario.routing import Routing
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.size_distribution import SizeDistribution
from tightlink.scenario.sizes import DatagramSize
from tightlink.scenario.topologies import (
    TOPOLOGIES,
    AbileneFourTier,
    Chain,
    Dumbbell,
    FatTree,
    Graph,
    ParkingLot,
    Spread,
)
from tightlink.scenario.traffic import Bulk, Cbr, OnOff, Saturate, Starts, Video
from tightlink.scenario.transfers import Transfers
from tightlink.scenario.users import Control, Crowd, File, Interface, LongLived, Patience, Place, Think, Users

__all__ = [
    "PARAMETERS",
    "PROFILES",
    "TOPOLOGIES",
    "AbileneFourTier",
    "Background",
    "BitErrors",
    "Bulk",
    "Cake",
    "Cbr",
    "Chain",
    "Cobalt",
    "Codel",
    "Control",
    "Crowd",
    "DatagramSize",
    "DelayRedraw",
    "DelaySchedule",
    "DelayStep",
    "Distribution",
    "DropTail",
    "Drr",
    "DualPi2",
    "Dumbbell",
    "FatTree",
    "File",
    "FourTier",
    "FqCobalt",
    "FqCodel",
    "FqPie",
    "Framing",
    "GilbertElliott",
    "Graph",
    "Interface",
    "JitterTable",
    "LargerFile",
    "Link",
    "LongLived",
    "LossPattern",
    "LossSchedule",
    "LossStep",
    "Markov",
    "Meter",
    "Node",
    "NormalJitter",
    "Observe",
    "OnOff",
    "OrnsteinUhlenbeck",
    "ParetoJitter",
    "ParkingLot",
    "Patience",
    "Pie",
    "Place",
    "Processor",
    "Profile",
    "RandomWalk",
    "RateSchedule",
    "RateState",
    "RateStep",
    "RateTrace",
    "Red",
    "Rem",
    "Reverse",
    "Routing",
    "Rto",
    "Saturate",
    "Scatter",
    "Scenario",
    "SizeDistribution",
    "Spread",
    "Starts",
    "Strict",
    "Tcp",
    "Think",
    "Threshold",
    "Transfers",
    "Udp",
    "UniformJitter",
    "Users",
    "Video",
    "load",
    "loads",
    "parse_option",
    "parse_value",
    "understood",
]
