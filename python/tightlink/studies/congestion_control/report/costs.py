"""The section on what the experiments cost."""

from __future__ import annotations

import polars as pl

from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control.observe.costs import NANOSECONDS, on_cluster


def section(costs: pl.DataFrame) -> Section:
    """What it cost, and what all of it would, from the table."""
    whole = costs.group_by("experiment", maintain_order=True).last()["core_hours"].sum()
    return Section(
        "What it costs",
        f"At the document's size, these experiments are {whole:,.0f} core-hours.",
        [
            Text(
                f"Core-hours are packet-hops at {min(NANOSECONDS.values())} to {max(NANOSECONDS.values())} ns of one "
                "core, by the number of sources, measured with nothing else running: a busy machine takes longer."
            ),
            Table(costs, formats={"packet_hops": ".2e", "core_hours": ".1f", "longest_hours": ".2f"}),
            Text(
                "Runs are independent of each other: with `--cluster tcp://SCHEDULER:8786` a Dask scheduler spreads "
                "them over its workers, on each machine `dask worker tcp://SCHEDULER:8786 --nthreads N` with a thread "
                "for each core. More cores than runs do not help, and nothing is done sooner than its longest run."
            ),
            Table(on_cluster(costs), "At the document's size, a run on each core at a time."),
        ],
    )
