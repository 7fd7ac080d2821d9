"""Calls and cameras over a link, with changes: their runs, what is said of them, and their rows."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

import tightlink as tl
from tightlink.diagnosis import Diagnosis
from tightlink.run import Run

CALL: Final = 'traffic.call = { kind = "cbr", from = "a", to = "b", interval = "20 ms", udp.payload = "160 B" }\n'
CAMERA: Final = 'traffic.camera = { kind = "video", from = "a", to = "b", rate = "4 Mbit/s", frames_per_second = 30 }\n'
#: An upload in a part of a call.
BACKUP: Final = f"""
duration = "20 s"
link.up = {{ ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", queue = "256 packets" }}
traffic.backup = {{ kind = "bulk", from = "a", to = "b", start = "8 s", stop = "14 s", tcp.congestion = "cubic" }}
{CALL}"""
#: A camera that sends more than its link carries.
BEYOND: Final = f"""
duration = "10 s"
link.up = {{ ends = ["a", "b"], rate = "3 Mbit/s", delay = "10 ms", queue = "100 packets" }}
{CAMERA}{CALL}"""


def simulated(text: str, *changes: tuple[str, Any]) -> Run:
    """A scenario with changes, simulated."""
    return tl.simulate(tl.loads(text, file="case.toml").set_all(dict(changes)))


def diagnosed(text: str, flow: str, *changes: tuple[str, Any]) -> Diagnosis:
    """What is said of a flow of a scenario with changes."""
    return simulated(text, *changes).why(flow).diagnoses[0]


def row_with(text: str, flow: str, changes: dict[str, Any]) -> dict[str, Any]:
    """A flow's row with changes: those of a suggestion."""
    run = tl.simulate(tl.loads(text).set_all(changes))
    return run.flows.row(by_predicate=pl.col("label") == flow, named=True)
