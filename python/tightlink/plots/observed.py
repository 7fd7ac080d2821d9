"""A run as its pictures need it: simulated again, observed, where it was not and that takes a second."""

from __future__ import annotations

from typing import Any, Final

from tightlink import control, units
from tightlink.errors import TightlinkError
from tightlink.lazy import _core
from tightlink.run import SIMULATION, Run
from tightlink.simulate import simulate

#: Of a run, in so many intervals or up to twice as many: two points to each pixel of a panel.
_INTERVALS: Final = 200
#: What one core simulates in about a second, samples included.
_MOST_PACKET_HOPS: Final = 10_000_000
#: The same where an ACK calls a control that is written in Python.
_MOST_IN_PYTHON: Final = 500_000


def observed(run: Run) -> Run:
    """The same run with samples over time and distributions of delays, or as it is if it has them or would take long.

    What is observed changes nothing of what happens: that its totals are the same is checked.

    Args:
        run: Simulated, measured or captured.

    Example:
        >>> run = tl.simulate(tl.loads('''
        ... duration = "1 s"
        ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
        ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        ... '''))
        >>> run.tables, observed(run).tables
        (['flows', 'links', 'nodes'], ['flows', 'links', 'nodes', 'series', 'delays'])
    """
    tables = run.tables
    if run.source != SIMULATION or "flows" not in tables or "part_until_s" in run.manifest:
        return run
    if {"series", "delays"} <= {*tables}:
        return run
    hops = run.manifest["packet_hops"]
    most = _MOST_IN_PYTHON if any(map(control.find, run.flows["congestion"].drop_nulls())) else _MOST_PACKET_HOPS
    if hops > most or run.manifest["engine_behaviour"] != _core.engine_behaviour:
        return run
    observe: dict[str, Any] = {"delays": True}
    if "series" not in tables:
        observe["interval"] = units.format_time(_round(units.time(run.scenario.duration) / _INTERVALS))
    scenario = run.scenario
    for key, value in observe.items():
        scenario = scenario.set(f"observe.{key}", value)
    try:
        again = simulate(scenario, threads=1)
    except TightlinkError:
        # A control of the user's that this process does not know.
        return run
    return again if again.flows.equals(run.flows) else run


def _round(seconds: float) -> float:
    """The next shorter of 1, 2 and 5 times a power of ten.

    >>> [_round(each) for each in (0.1, 0.3, 0.05, 0.009)]
    [0.1, 0.2, 0.05, 0.005]
    """
    digits, _, exponent = f"{seconds:e}".partition("e")
    first = max(each for each in (1, 2, 5) if each <= float(digits))
    return float(f"{first}e{exponent}")
