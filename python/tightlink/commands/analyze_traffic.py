"""What traffic looks like: ``tightlink analyze traffic``, ``arrivals``, ``sizes`` and ``cross-correlation``."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from tightlink import plots
from tightlink.analysis.measurements import read_plain
from tightlink.analysis.traffic.arrivals import interarrivals
from tightlink.analysis.traffic.burstiness import LEAST_VALUES as LEAST_BURSTS
from tightlink.analysis.traffic.burstiness import burstiness
from tightlink.analysis.traffic.cross_correlation import LEAST_VALUES, lag
from tightlink.analysis.traffic.cycles import Cycle, cycles
from tightlink.analysis.traffic.over_time import Series, series_of
from tightlink.analysis.traffic.sizes import tail
from tightlink.analysis.traffic.spikes import spikes
from tightlink.capture import capture, is_capture
from tightlink.commands.analyze_output import MOST, Finding, Panel, Table, finds, named, panels, print_constant
from tightlink.commands.options import Names, seconds
from tightlink.console import print_text
from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.json_values import plain
from tightlink.lazy import Array, np, pl
from tightlink.run import CAPTURE, holds_run, open_run

#: Tables of runs over time, the first that is there.
_OVER_TIME: Final = ("series", "users", "scatter")
#: What is looked at where nothing is said.
_USUAL: Final = ("throughput_bps", "packets_delivered", "packets", "bytes")
#: Table of a run with a row for each transfer, of which the flows are a row together.
_TRANSFERS: Final = "completions"
#: Of the series of a capture file.
_INTERVAL: Final = "10 ms"


@finds("a figure, variance over time scales and spikes")
def traffic(
    table: Table, *, column: Names = None, begin: str = "0 s", end: str | None = None, interval: str = _INTERVAL
) -> Finding:
    """Find bursts at all time scales, spikes, and cycles of a day and a week, in counts over time.

    Args:
        table: Folder of a run that was observed at an interval; a capture (pcap, pcapng); or a table with time_s at
            equal intervals.
        column: Column, or metric of a table of series (default: the throughput, or packets, or bytes).
        begin: Time before which nothing is looked at.
        end: Time after which nothing is looked at (default: none).
        interval: Of the series of a capture file.
    """
    begin_s, end_s = seconds("--begin", begin, zero=True), seconds("--end", end, math.inf)
    frame = _over_time(table, interval)
    there = _series(table, frame, column, (begin_s, end_s), LEAST_BURSTS)
    varying = [series for series in there if (series.values != series.values[0]).any()]
    found = {}
    for series in varying:
        with named(table, series.title):
            found[series.title] = _described(series)
    constant = [series.title for series in there if series.title not in found]
    if not there:
        raise TightlinkError(f"{table}: nothing between {begin_s:g} s and {end_s:g} s: expected values over time there")
    rows: dict[str, list[Panel]] = {
        name: [
            partial(plots.variance_time, parts["burstiness"]),
            partial(plots.spikes_over_time, parts["spikes"], column=name.rpartition(" ")[2]),
        ]
        for name, parts in list(found.items())[:MOST]
    }
    figure = (lambda: panels(rows)) if found else None
    return Finding(lambda: found, lambda: _print_traffic(found, constant), figure, each="series")


@finds("a figure, times between arrivals beside exponential ones")
def arrivals(table: Table, *, column: str = "time_s", of: str = "packets") -> Finding:
    """Test arrivals against a Poisson process: of packets at links, of flows, or of anything with a time.

    Args:
        table: Folder of a run; a capture (pcap, pcapng); or a table with a row for each arrival.
        column: Column of the time, in seconds.
        of: Table of a run: packets, which --trace records, has their arrivals at each link; flows has start_s, and so
            has completions, of each transfer.
    """
    frame = _rows(table, of)
    found = {}
    for name, part in _places(frame):
        with named(table, name or column):
            found[name] = interarrivals(_numbers(part, column))
    shown = list(found.items())[:MOST]
    return Finding(
        lambda: [{"of": name, "finding": each.sentence()} | plain(each) for name, each in found.items()],
        lambda: print_text("\n".join(f"{name}: {each.sentence()}" if name else each.sentence()
                                     for name, each in found.items())),
        lambda: panels({name: [partial(plots.interarrival_times, each)] for name, each in shown}),
    )  # fmt: skip


@finds("a figure, the share of flows that are larger")
def sizes(table: Table, *, column: str | None = None, of: str | None = None) -> Finding:
    """Find how heavy the tail of sizes is, and how much the largest flows carry.

    Args:
        table: Folder of a run with flows; a capture (pcap, pcapng); or a table with a row for each flow.
        column: Column of the size (default: bytes_delivered; of completions bytes; of a capture bytes_sent, those that
            were captured).
        of: Table of a run: flows, or completions, which has each transfer (default: completions where there are some).
    """
    if of is None:
        of = _TRANSFERS if holds_run(table) and _TRANSFERS in open_run(table).tables else "flows"
    rows = _rows(table, of)
    if column is None:
        known = [name for name in ("bytes_delivered", "bytes_sent", "bytes") if name in rows.columns]
        column = next((name for name in known if not rows[name].is_null().all()), "bytes_delivered")
    with named(table, column):
        found = tail(_numbers(rows, column))
    return Finding(
        lambda: {"finding": found.sentence()} | plain(found),
        lambda: print_text(found.sentence()),
        lambda: panels({"": [partial(plots.size_tail, found, column=column)]}),
    )


@finds("a figure, the correlation over the lag")
def cross_correlation(table: Table, first: str, second: str, *, longest: str | None = None) -> Finding:
    """Find which of two series follows the other, and by how much time.

    Args:
        table: Folder of a run that was observed at an interval; or a table with time_s at equal intervals.
        first: Column; of a table of series, whose and which: "bottleneck queue_packets".
        second: The same of the other.
        longest: Longest lag to look at (default: a quarter of the time).
    """
    longest_s = seconds("--longest", longest, math.inf)
    frame = _over_time(table)
    columns = dict.fromkeys(name.rpartition(" ")[2] for name in (first, second))
    there = {series.title: series for series in _series(table, frame, list(columns), (0.0, math.inf), LEAST_VALUES)}
    chosen = []
    for name in (first, second):
        if name not in there:
            raise TightlinkError(f"{table}: no series {name}: expected {one_of(there)}{did_you_mean(name, there)}")
        chosen.append(there[name])
    one, other = chosen
    if one.interval_s != other.interval_s or one.begin_s != other.begin_s:
        raise TightlinkError(f"{table}: {first} and {second} were not taken at the same times")
    with named(table):
        found = lag(one.values, other.values, one.interval_s, longest_s=longest_s)
    return Finding(
        lambda: {"finding": found.sentence(first, second)} | plain(found),
        lambda: print_text(found.sentence(first, second)),
        lambda: panels({"": [partial(plots.correlation_over_lag, found)]}),
    )


def _print_traffic(found: Mapping[str, dict[str, Any]], constant: Sequence[str]) -> None:
    for name, parts in found.items():
        there = ", ".join(each.name for each in parts["cycles"] if each.there)
        without = f"without its cycles ({there}): " if there else ""
        print_text(f"{name}: {without}{parts['burstiness'].sentence()}")
        for each in (parts["spikes"], *parts["cycles"]):
            print_text(f"{name}: {each.sentence()}")
    print_constant(constant)


def _over_time(table: Path, interval: str = _INTERVAL) -> pl.DataFrame:
    if holds_run(table):
        run = open_run(table)
    else:
        if not is_capture(table):
            return read_plain(table)
        run = capture(table, interval=interval)
    found = run.table(next((name for name in _OVER_TIME if name in run.tables), _OVER_TIME[0]))
    if run.source != CAPTURE:
        return found
    # Traffic as a whole: its flows come and go.
    return found.filter(found["entity"].is_in([*run.links["link"], *run.table("protocols")["protocol"]]))


def _rows(table: Path, name: str) -> pl.DataFrame:
    """A table of a run or of a capture, or the only one."""
    if holds_run(table):
        return open_run(table).table(name)
    return capture(table, packets=name == "packets").table(name) if is_capture(table) else read_plain(table)


def _series(
    table: Path, frame: pl.DataFrame, columns: list[str] | None, during: tuple[float, float], least: int
) -> list[Series]:
    if columns is None:
        known = frame["metric"].unique().to_list() if "metric" in frame.columns else frame.columns
        columns = [name for name in _USUAL if name in known][:1]
        if not columns:
            raise TightlinkError(f"{table}: expected --column with {one_of(known)}")
    with named(table):
        return list(series_of(frame, columns, least=least, begin_s=during[0], end_s=during[1]))


def _described(series: Series) -> dict[str, Any]:
    try:
        found: list[Cycle] = cycles(series.values, series.interval_s, begin_s=series.begin_s)
    except TightlinkError:
        # Shorter than two half days: nothing to look for.
        found = []
    # A cycle is neither a burst nor a lack of them: at frequencies below its own there is less, above it more.
    times: Array = series.begin_s + series.interval_s * np.arange(len(series.values), dtype=np.float64)
    rest: Array = series.values
    for each in found:
        rest = rest - each.at(times) if each.there else rest
    return {
        "burstiness": burstiness(rest, series.interval_s),
        "spikes": spikes(series.values, series.interval_s, begin_s=series.begin_s),
        "cycles": found,
    }


def _places(frame: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Of packets, those that arrive at each link; of all else, everything."""
    if not {"event", "from", "to"} <= set(frame.columns):
        return [("", frame)]
    # Of a capture all packets are received, where it was taken.
    arrived = frame.filter(pl.col("event") == ("+" if (frame["event"] == "+").any() else "r"))
    parts = arrived.group_by("from", "to", maintain_order=True)
    return [(f"{begin} to {end}", part) for (begin, end), part in parts]


def _numbers(frame: pl.DataFrame, column: str) -> Any:
    if column not in frame.columns:
        known = frame.columns
        raise TightlinkError(f"no such column: expected {one_of(known)}{did_you_mean(column, known)}")
    # CSV files have text in columns that are not known.
    numbers = frame[column].cast(pl.Float64, strict=False)
    if numbers.is_null().all():
        raise TightlinkError("expected a column of numbers")
    return numbers.fill_null(float("nan")).to_numpy()
