"""A run as its pictures need it: simulated again, observed, where it was not and that takes a second."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from tightlink import control, units
from tightlink.errors import TightlinkError
from tightlink.lazy import _core
from tightlink.run import SIMULATION, Run
from tightlink.simulate import simulate

#: A table that observing adds.
Observed: TypeAlias = Literal["series", "delays"]
#: Of a run, in so many intervals or up to twice as many: two points to each pixel of a panel.
_INTERVALS: Final = 200
#: What one core simulates in about a second, samples included.
_MOST_PACKET_HOPS: Final = 10_000_000
#: The same where an ACK calls a control that is written in Python.
_MOST_IN_PYTHON: Final = 500_000


def observed(run: Run, *tables: Observed) -> Run:
    """The same run with samples over time or distributions of delays, or as it is if it has them or would take long.

    What is observed changes nothing of what happens: that its totals are the same is checked.

    Args:
        run: Simulated, measured or captured.
        tables: What is wanted of it.

    Example:
        >>> run = tl.simulate(tl.loads('''
        ... duration = "1 s"
        ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
        ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        ... '''))
        >>> run.tables, observed(run, "series", "delays").tables
        (['flows', 'links', 'nodes'], ['flows', 'links', 'nodes', 'series', 'delays'])
    """
    wanted = {*tables}.difference(run.tables)
    if not wanted or run.source != SIMULATION or "flows" not in run.tables or "part_until_s" in run.manifest:
        return run
    hops = run.manifest["packet_hops"]
    most = _MOST_IN_PYTHON if any(map(control.find, run.flows["congestion"].drop_nulls())) else _MOST_PACKET_HOPS
    if hops > most or run.manifest["engine_behaviour"] != _core.engine_behaviour:
        return run
    interval = units.format_time(_round(units.time(run.scenario.duration) / _INTERVALS))
    changes: dict[Observed, tuple[str, object]] = {
        "series": ("observe.interval", interval),
        "delays": ("observe.delays", True),
    }
    scenario = run.scenario.set_all(dict(changes[table] for table in wanted))
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
