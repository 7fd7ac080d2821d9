"""Scenarios and runs that tests of comparisons put side by side."""

from __future__ import annotations

import polars as pl

from tightlink.run import MEASUREMENT, Framed, Run

BASE = """
profile = "ns2"
duration = "3 s"
link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "10 packets" }
traffic.ftp = { kind = "bulk", flows = 4, from = "a", to = "b", start = { first = "0 s", every = "100 ms" } }
observe.interval = "100 ms"
"""


# Of which every seed makes another run.
NOISY = (
    BASE + 'traffic.noise = { kind = "on-off", from = "a", to = "b", rate = "1 Mbit/s", on = "50 ms", off = "50 ms" }'
)


def measurement(flows: pl.DataFrame, **tables: pl.DataFrame) -> Run:
    """A measurement of which the tables are known."""
    return Run(None, {"source": MEASUREMENT, "identity": "x", "warnings": []}, Framed({"flows": flows, **tables}))
