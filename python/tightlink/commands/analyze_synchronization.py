"""The command ``tightlink analyze synchronization``: whether flows lose packets together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from tightlink import plots
from tightlink.analysis.measurements import read_plain
from tightlink.analysis.traffic.losses import of_packets
from tightlink.analysis.traffic.synchronization import Synchronization, of_places
from tightlink.analysis.traffic.synchronization import synchronization as of_run
from tightlink.capture import capture, is_capture
from tightlink.commands.analyze_output import MOST, Finding, Table, finds, named, panels
from tightlink.commands.options import seconds
from tightlink.console import print_table, print_text
from tightlink.json_values import plain
from tightlink.lazy import pl
from tightlink.numbers import percent
from tightlink.run import Run, holds_run, open_run

#: Tables of what is found of a link.
_TABLES: Final = ("flows", "events", "losses")


@finds("a figure, losses of each flow and the share of flows in each event")
def synchronization(
    table: Table, *, link: str | None = None, round_trip: str | None = None, begin: str = "0 s", end: str | None = None
) -> Finding:
    """Find whether flows that share a link lose packets in the same congestion events, beyond chance.

    Args:
        table: Folder of a run with --trace; a capture (pcap, pcapng), of which retransmissions stand for drops; or a
            table with event (+ or d), time_s and flow, and from and to where it has several links.
        link: Link to look at (default: all at which two TCP flows or more are active in a congestion event).
        round_trip: Drops that are no further apart are one congestion event (default: the median of the flows' mean
            round-trip times).
        begin: Time before which no drop counts, such as the end of slow start.
        end: Time after which no drop counts (default: none).
    """
    begin_s, end_s = seconds("--begin", begin, zero=True), seconds("--end", end, math.inf)
    apart_s = None if round_trip is None else seconds("--round-trip", round_trip)
    source = _read(table)
    with named(table):
        if isinstance(source, Run):
            found = of_run(source, link, round_trip_s=apart_s, begin_s=begin_s, end_s=end_s)
        else:
            found = of_places(of_packets(source), link, round_trip_s=apart_s, begin_s=begin_s, end_s=end_s)
    return Finding(
        lambda: _facts(found),
        lambda: _print(found),
        lambda: panels({
            name: [partial(plots.losses_by_flow, each), partial(plots.synchronization_over_time, each)]
            for name, each in list(found.items())[:MOST]
        }),
    )  # fmt: skip


def _read(table: Table) -> Run | pl.DataFrame:
    if holds_run(table):
        return open_run(table)
    return capture(table, packets=True) if is_capture(table) else read_plain(table)


def _facts(found: Mapping[str, Synchronization]) -> dict[str, Any]:
    """A row for each link, and its tables with a column for the link."""
    links = [{"link": name, "finding": each.sentence()} | plain(each) for name, each in found.items()]
    rows = {key: [{"link": row["link"]} | part for row in links for part in row.pop(key)] for key in _TABLES}
    return {"links": links} | rows


def _print(found: Mapping[str, Synchronization]) -> None:
    for name, each in found.items():
        if name != next(iter(found)):
            print_text()
        print_text(f"{name}: {each.sentence()}")
        print_text(f"{name}: {each.counted()}")
        if each.windows is not None:
            print_text(f"{name}: {each.windows.sentence()}")
        print_text()
        columns = {
            "packets in events": "packets",
            "retransmitted" if each.retransmitted else "dropped": "packets_dropped",
            "marked": "packets_marked",
            "events": "events",
            "with losses": "share",
            "by chance": "by_chance",
        }
        if not each.flows["packets_marked"].sum():
            del columns["marked"]
        columns = {header: column for header, column in columns.items() if column in each.flows.columns}
        rows = [
            [
                row["flow"],
                *((percent if isinstance(row[column], float) else str)(row[column]) for column in columns.values()),
            ]
            for row in each.flows.iter_rows(named=True)
        ]
        print_table(["flow", *columns], rows)
