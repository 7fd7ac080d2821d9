"""A run as its pictures need it: simulated again, observed, where it was not and that takes a second."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

from tightlink import control, units
from tightlink.diagnosis.completions import of_flows
from tightlink.errors import TightlinkError
from tightlink.lazy import _core, pl
from tightlink.reduce import largest
from tightlink.run import SIMULATION, Framed, Run, check_run
from tightlink.simulate import simulate

#: A table that observing adds.
Observed: TypeAlias = Literal["series", "delays"]
#: Of a run, in so many intervals or up to twice as many: two points to each pixel of a panel.
_INTERVALS: Final = 200
#: In fewer, down to these, where the busiest link would not transmit so many packets in each.
_FEWEST_INTERVALS: Final = 50
_PACKETS: Final = 5
#: Where these are shorter than a packet, in fewer still: so many packets, rounded down, are one at least.
_SLOW_INTERVALS: Final = 10
_ONE: Final = 2.5
#: Samples end so much later than the last packet, where that is earlier than this share of the run.
_AFTER: Final = 1.05
_WHOLE: Final = 0.75
#: What a flow has from its start on.
_WINDOWS: Final = ("cwnd_packets", "ssthresh_packets")
#: What one core simulates in about a second, samples included.
_MOST_PACKET_HOPS: Final = 10_000_000
#: The same where an ACK calls a control that is written in Python.
_MOST_IN_PYTHON: Final = 500_000


def begun(run: Run, samples: pl.DataFrame) -> pl.DataFrame:
    """Samples of a run without those of congestion windows from before their flows start, when there is none.

    >>> run = tl.simulate(tl.network("dsl").set_all({"duration": "1 s", "traffic.download.start": "0.5 s"}))
    >>> windows = run.series.filter(metric="cwnd_packets")
    >>> windows["time_s"].round(1)[0], begun(run, windows)["time_s"].round(1)[0]
    (0.1, 0.6)
    """
    if "flows" not in run.tables:
        return samples
    starts = run.flows.select(pl.col("label").alias("of_"), "start_s").unique("of_")
    each = samples.with_columns(of_=pl.col("entity").cast(pl.String))
    early = pl.col("metric").is_in(_WINDOWS) & (pl.col("time_s") <= pl.col("start_s"))
    found = each.join(starts, on="of_", how="left", maintain_order="left")
    return found.filter(~early.fill_null(value=False)).drop("of_", "start_s")


def observed(run: Run, *tables: Observed) -> Run:
    """The same run with samples over time or distributions of delays, or as it is if it has them or would take long.

    What is observed changes nothing of what happens: that its totals are the same is checked. Samples end when
    the last packet has arrived, where that is long before the end of the run, as of flows with a number of bytes.

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
    check_run(run)
    wanted = {*tables}.difference(run.tables)
    if not wanted or not _is_short(run):
        return run
    until_s = _until_s(run)
    service_s = _service_s(run)
    few_s = max(until_s / _FEWEST_INTERVALS, min(_ONE * service_s, until_s / _SLOW_INTERVALS))
    least_s = min(_PACKETS * service_s, few_s)
    interval = units.format_time(_round(max(until_s / _INTERVALS, least_s)))
    changes: dict[Observed, tuple[str, object]] = {
        "series": ("observe.interval", interval),
        "delays": ("observe.delays", True),
    }
    try:
        scenario = run.scenario.set_all(dict(changes[table] for table in wanted))
        again = simulate(scenario, threads=1)
    except TightlinkError:
        # A control that is written in Python and not here: `not_here` says so. Or a link is called as a flow.
        return run
    if not again.flows.equals(run.flows):
        return run
    if "series" not in wanted:
        return again
    shown = {"series": again.series.filter(pl.col("time_s") <= until_s)}
    return Run(scenario, again.manifest, Framed({name: again.table(name) for name in again.tables} | shown))


def not_here(run: Run) -> str:
    """A sentence where a run is not simulated again, as the code of a control is missing; nothing elsewhere."""
    name = control.absent(_controls(run)) if _is_short(run) else None
    return f"To observe it now takes the code of {name}: an import, or --controls FILE.py." if name else ""


def _is_short(run: Run) -> bool:
    """Whether a run would be the same once more, and that takes a second."""
    if run.source != SIMULATION or "flows" not in run.tables or "part_until_s" in run.manifest:
        return False
    in_python = any(control.find(name) or control.absent([name]) for name in _controls(run))
    most = _MOST_IN_PYTHON if in_python else _MOST_PACKET_HOPS
    return bool(run.manifest["packet_hops"] <= most and run.manifest["engine_behaviour"] == _core.engine_behaviour)


def _controls(run: Run) -> list[str]:
    """The names of the congestion controls of its flows."""
    return [name for name in run.flows["congestion"].drop_nulls().unique(maintain_order=True) if name]


def _service_s(run: Run) -> float:
    """How long the busiest link was busy with each packet."""
    row = run.links.sort("utilization", descending=True, nulls_last=True, maintain_order=True).row(0, named=True)
    return float(row["utilization"] * units.time(run.scenario.duration) / max(1, row["packets_out"]))


def _until_s(run: Run) -> float:
    """The end of the run, or a little after the last packet can have arrived, if that is long before."""
    duration_s = units.time(run.scenario.duration)
    # What a flow sent before its stop may wait in queues for long; a transfer stops when all has arrived.
    complete = of_flows(run).drop_nulls("completion_s")["label"].implode()
    waits_s = pl.when(pl.col("label").is_in(complete)).then(0.0).otherwise(pl.col("one_way_delay_max_s").fill_null(0.0))
    arrived_s = run.flows.select(pl.col("stop_s") + waits_s)["stop_s"]
    last_s = _AFTER * largest(arrived_s) if run.flows.height else duration_s
    return last_s if last_s < _WHOLE * duration_s else duration_s


def _round(seconds: float) -> float:
    """The next shorter of 1, 2 and 5 times a power of ten.

    >>> [_round(each) for each in (0.1, 0.3, 0.05, 0.009)]
    [0.1, 0.2, 0.05, 0.005]
    """
    digits, _, exponent = f"{seconds:e}".partition("e")
    first = max(each for each in (1, 2, 5) if each <= float(digits))
    return float(f"{first}e{exponent}")
