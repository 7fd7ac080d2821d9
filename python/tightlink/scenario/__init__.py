"""Scenarios: the model that TOML files and Python objects share, and what the engine gets of it."""

from __future__ import annotations

from tightlink.scenario.arq import Arq
from tightlink.scenario.delays import (
    DelayMarkov,
    DelayOrnsteinUhlenbeck,
    DelayRandomWalk,
    DelayRedraw,
    DelaySchedule,
    DelayState,
    DelayStep,
    DelayTable,
    GammaJitter,
    JitterTable,
    LeoDelay,
    NormalJitter,
    ParetoJitter,
    UniformJitter,
)
from tightlink.scenario.disciplines import DropTail, Pie, Policer, Red, Rem, Threshold
from tightlink.scenario.four_tier import PARAMETERS, Distribution, FourTier, LargerFile
from tightlink.scenario.held_disciplines import Cake, Cobalt, Codel, Drr, DualPi2, FqCobalt, FqCodel, FqPie, Strict
from tightlink.scenario.links import Duplex, Framing, Link, Reverse
from tightlink.scenario.load import load, loads, loads_stored, understood
from tightlink.scenario.loss import BitErrors, GilbertElliott, LossPattern, LossSchedule, LossStep, LossTable
from tightlink.scenario.model import Scenario
from tightlink.scenario.nodes import Background, Meter, Node, Processor
from tightlink.scenario.observe import Observe
from tightlink.scenario.outages import Outage, Outages, RandomOutages
from tightlink.scenario.overrides import parse_option, parse_value
from tightlink.scenario.profiles import PROFILES, Profile
from tightlink.scenario.protocols import Rto, Tcp, Udp
from tightlink.scenario.rates import (
    AggregatingRate,
    Markov,
    OrnsteinUhlenbeck,
    RandomWalk,
    RateSchedule,
    RateState,
    RateStep,
    RateTable,
    RateTrace,
)
from tightlink.scenario.reorder import Reorder
from tightlink.scenario.routing import Routing
from tightlink.scenario.scatter import Scatter
from tightlink.scenario.shaper import Shaper
from tightlink.scenario.size_distribution import SizeDistribution
from tightlink.scenario.sizes import DatagramSize
from tightlink.scenario.topologies import (
    TOPOLOGIES,
    AbileneFourTier,
    Chain,
    Dumbbell,
    FatTree,
    Graph,
    GroupLink,
    GroupReverse,
    LeafSpine,
    ParkingLot,
    Spread,
)
from tightlink.scenario.topologies.four_tier import TierLink
from tightlink.scenario.topologies.graph import Edge, GraphLink
from tightlink.scenario.traffic import Bulk, Cbr, OnOff, Saturate, Starts, Video
from tightlink.scenario.transfers import Transfers
from tightlink.scenario.users import Control, Crowd, File, Interface, LongLived, Patience, Place, Think, Users

__all__ = [
    "PARAMETERS",
    "PROFILES",
    "TOPOLOGIES",
    "AbileneFourTier",
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
    "Interface",
    "JitterTable",
    "LargerFile",
    "LeafSpine",
    "LeoDelay",
    "Link",
    "LongLived",
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
    "Profile",
    "RandomOutages",
    "RandomWalk",
    "RateSchedule",
    "RateState",
    "RateStep",
    "RateTable",
    "RateTrace",
    "Red",
    "Rem",
    "Reorder",
    "Reverse",
    "Routing",
    "Rto",
    "Saturate",
    "Scatter",
    "Scenario",
    "Shaper",
    "SizeDistribution",
    "Spread",
    "Starts",
    "Strict",
    "Tcp",
    "Think",
    "Threshold",
    "TierLink",
    "Transfers",
    "Udp",
    "UniformJitter",
    "Users",
    "Video",
    "load",
    "loads",
    "loads_stored",
    "parse_option",
    "parse_value",
    "understood",
]
