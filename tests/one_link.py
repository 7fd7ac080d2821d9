"""Scenarios over one link, and what the engine gets of them."""

from __future__ import annotations

from typing import Any

import tightlink as tl


def resolve(text: str) -> dict[str, Any]:
    """What the engine gets of a scenario in TOML."""
    return tl.loads(text).resolve()


ONE = 'profile = "ns2"\nduration = "10 s"\nlink.a = {{ ends = ["x", "y"], rate = "2 Mbit/s", delay = "10 ms"{link} }}\n'
FLOW = 'traffic.t = {{ kind = "bulk", from = "x", to = "y"{flow} }}\n'


def simple(link: str = "", flow: str = "") -> str:
    """One bulk flow over one link, with more keys of either."""
    return ONE.format(link=link) + FLOW.format(flow=flow)
