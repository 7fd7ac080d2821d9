"""The tables of one execution of a scenario, whatever its source, in memory or in a folder."""

from tightlink.run.folder import CAPTURE, MEASUREMENT, SIMULATION, TRACE, holds_run, is_there
from tightlink.run.given import check_run
from tightlink.run.run import Run, open_run
from tightlink.run.tables import Framed, Simulated
from tightlink.run.versions import completed, stored_scenario

__all__ = [
    "CAPTURE",
    "MEASUREMENT",
    "SIMULATION",
    "TRACE",
    "Framed",
    "Run",
    "Simulated",
    "check_run",
    "completed",
    "holds_run",
    "is_there",
    "open_run",
    "stored_scenario",
]
