"""What other versions wrote: tables with other columns, and scenarios with keys that this one does not know.

Example:
    >>> import polars as pl
    >>> older = pl.DataFrame({"link": ["wire"], "interface": [0], "node": ["a"], "packets_captured": [7]})
    >>> completed(older, "interfaces", "capture/interfaces.parquet").row(0, named=True)["capture_drops"] is None
    True
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Final

import tightlink
from tightlink.checksums import DamagedError
from tightlink.errors import ScenarioError, TightlinkError
from tightlink.lazy import pl
from tightlink.scenario import Scenario, loads_stored
from tightlink.tables import schema

#: Columns that identify a row, and those that diagnoses, reports and comparisons count on: all others may be missing.
_KEYS: Final = frozenset({"flow", "label", "link", "node", "from", "to", "time_s", "entity", "metric", "value"})
_NEEDED: Final = {
    "flows": frozenset({"transport", "start_s", "stop_s", "packets_dropped", "bytes_sent", "goodput_bps"}),
    "links": frozenset({"packets_in", "packets_out", "bytes_out", "utilization"}),
    "completions": frozenset({"transfer", "start_s"}),
    "completion_times": frozenset({"size_class", "transfers", "unfinished"}),
    "connections": frozenset({
        "connection", "data_packets", "payload_bytes", "delivered_bytes", "retransmitted_bytes", "lost_segments",
        "keep_alives", "duplicate_acks", "acked_unseen", "in_flight_max_bytes", "rtt_samples", "rtt_median_s", "idle_s",
        "idle_beyond_rtt_s", "window_limited_s", "options",
    }),
}  # fmt: skip


def completed(frame: pl.DataFrame, table: str, file: str | os.PathLike[str]) -> pl.DataFrame:
    """A table as it was stored, with the columns that it has now: those that it was written without have no values.

    What a newer version added stands behind them.

    Raises:
        DamagedError: A column is of another type, or one is missing without which the table says too little.
    """
    known = schema(table)
    if missing := sorted(known.keys() & (_KEYS | _NEEDED.get(table, frozenset())) - {*frame.columns}):
        raise DamagedError(file, f"it has no column {missing[0]}, as what older versions of Tightlink wrote")
    for name in known.keys() & {*frame.columns}:
        given = frame.schema[name]
        if given != known[name] and pl.String in {given, known[name]} and given != pl.Null:
            raise DamagedError(file, f"its column {name} is {given}, where {known[name]} was expected")
    own = [pl.col(name).cast(kind) if name in frame.columns else pl.lit(None, kind).alias(name)
           for name, kind in known.items()]  # fmt: skip
    return frame if frame.schema == known else frame.select(*own, pl.exclude(*known))


def stored_scenario(text: str, file: str, manifest: Mapping[str, Any]) -> Scenario:
    """The scenario of a stored run.

    Raises:
        TightlinkError: It cannot be understood; where another version wrote it, the message says so.
    """
    try:
        return loads_stored(text, file)
    except ScenarioError as error:
        if (made := manifest.get("version", tightlink.__version__)) == tightlink.__version__:
            raise
        raise TightlinkError(f"{error}; Tightlink {made} wrote it, and this is {tightlink.__version__}") from None
