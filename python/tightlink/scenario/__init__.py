"""Scenarios: the model that TOML files and Python objects share, and what the engine gets of it."""

from __future__ import annotations

from tightlink.scenario.links import Framing, Link, Reverse
from tightlink.scenario.load import load, loads, understood
from tightlink.scenario.model import Observe, Scenario
from tightlink.scenario.nodes import Background, Meter, Node, Processor
from tightlink.scenario.overrides import parse_option, parse_value
from tightlink.scenario.profiles import PROFILES, Profile
from tightlink.scenario.queues import Codel, DropTail, FqCodel, Pie, Red, Threshold
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
from tightlink.scenario.traffic import Bulk, Cbr, OnOff, Rto, Saturate, Starts, Tcp, Udp, Video

__all__ = [
    "PROFILES",
    "TOPOLOGIES",
    "AbileneFourTier",
    "Background",
    "Bulk",
    "Cbr",
    "Chain",
    "Codel",
    "DropTail",
    "Dumbbell",
    "FatTree",
    "FqCodel",
    "Framing",
    "Graph",
    "Link",
    "Meter",
    "Node",
    "Observe",
    "OnOff",
    "ParkingLot",
    "Pie",
    "Processor",
    "Profile",
    "Red",
    "Reverse",
    "Rto",
    "Saturate",
    "Scenario",
    "Spread",
    "Starts",
    "Tcp",
    "Threshold",
    "Udp",
    "Video",
    "load",
    "loads",
    "parse_option",
    "parse_value",
    "understood",
]
