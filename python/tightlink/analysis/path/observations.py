"""Measured goodputs, one row a point: from CSV or Parquet, iperf3's JSON, or the tables of runs.

A table needs ``flows``, ``goodput_bps`` (or ``goodput_mbit_per_s`` …) and ``window_packets`` or ``window_bytes``.
Windows in bytes, as grids of iperf3's tests have them, are what was asked for: where goodput times ``rtt_mean_s`` says
that more was in flight, that counts. iperf3's JSON may be one file a point, or one with a JSON document on each line;
its window is the one asked for with ``-w``. A study's or a sweep's folder is a table; a run's folder is one point.

Example:
    >>> frame = pl.DataFrame({"window_bytes": [65536.0], "flows": [2.0], "goodput_bps": [5e6]})
    >>> points(frame, payload_bytes=1460).rows()
    [(44, 2, 5000000.0)]
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tightlink.analysis import measurements
from tightlink.analysis.measurements import MeasurementError
from tightlink.analysis.path.bulk_path import BulkPath
from tightlink.files import content
from tightlink.lazy import pl
from tightlink.run import holds_run, open_run

COLUMNS: Final = ("window_packets", "flows", "goodput_bps")
_NEEDED: Final = {"flows": "the number of flows", "goodput_bps": "a goodput such as goodput_mbit_per_s"}
#: What a study's table says of the path of each row, by the name that `BulkPath` has for it.
_PATH: Final = {
    **{name: name for name in ("bandwidth_bps", "rtt_s", "queue_packets", "factor", "cross", "duration_s")},
    "traffic.bulk.tcp.recovery": "recovery",
}
_ALIKE: Final = 1e-6
#: In flight by so much more than a window, on average, is no inaccuracy of the two means.
_LARGER: Final = 1.02


def read(files: Iterable[str | os.PathLike[str]], path: BulkPath) -> pl.DataFrame:
    """The points of some files or folders: ``window_packets``, ``flows``, ``goodput_bps``."""
    return pl.concat([_file(Path(file), path) for file in files])


def points(frame: pl.DataFrame, *, payload_bytes: int) -> pl.DataFrame:
    """A table of measurements with windows in packets, rounded down; every value is checked."""
    names = frame.columns
    window = next((name for name in ("window_packets", "window_bytes") if name in names), None)
    if window is None:
        raise MeasurementError("no column window_packets or window_bytes: expected the window of each flow")
    for name, what in _NEEDED.items():
        if name not in names:
            raise MeasurementError(f"no column {name}: expected {what}")
    rows = []
    for place, row in enumerate(frame.iter_rows(named=True)):
        at = measurements.at(frame, place)
        size, flows, goodput = (_positive(row[name], name, at) for name in (window, "flows", "goodput_bps"))
        packets = size
        if window == "window_bytes":
            packets = max(size // payload_bytes, math.ceil(_in_flight(row, goodput / flows, size) / payload_bytes))
        if packets < 1:
            raise MeasurementError(f"{at}: {window} = {size:g}: expected at least a packet of {payload_bytes} B")
        if flows != int(flows):
            raise MeasurementError(f"{at}: flows = {flows:g}: expected a whole number")
        rows.append((int(packets), int(flows), goodput))
    return pl.DataFrame(rows, schema=list(COLUMNS), orient="row")


def _in_flight(row: Mapping[str, Any], goodput_bps: float, asked_bytes: float) -> float:
    """What a flow had in flight on average, where that is more than the window that was asked for; otherwise nothing.

    >>> _in_flight({"rtt_mean_s": 0.0425}, 14.08e6, 65536), _in_flight({"rtt_mean_s": 0.0425}, 12e6, 65536)
    (74800.0, 0.0)
    """
    found = goodput_bps * (row.get("rtt_mean_s") or 0.0) / 8
    return found if found > _LARGER * asked_bytes else 0.0


def _file(file: Path, path: BulkPath) -> pl.DataFrame:
    with measurements.of_file(file):
        if file.is_dir() and not (file / "runs.parquet").exists() and holds_run(file):
            return points(_run(file), payload_bytes=path.payload_bytes)
        if file.suffix in {".json", ".jsonl"}:
            return points(_iperf3(file), payload_bytes=path.payload_bytes)
    table = measurements.read(file)
    with measurements.of_file(file):
        return points(_of_path(table, path), payload_bytes=path.payload_bytes)


def _of_path(table: pl.DataFrame, path: BulkPath) -> pl.DataFrame:
    """The rows of a path, where a table tells paths apart."""
    named = [column for column in _PATH if column in table.columns]
    for column in named:
        wanted = getattr(path, _PATH[column])
        if isinstance(wanted, str):
            kept = table.filter((pl.col(column) == wanted) | (pl.col(column) == ""))
        else:
            kept = table.filter((pl.col(column).cast(pl.Float64) - wanted).abs() <= _ALIKE * max(1.0, abs(wanted)))
        if kept.is_empty():
            there = ", ".join(f"{value}" for value in table[column].unique().sort().head(5))
            raise MeasurementError(f"no row matches {column} = {wanted}: there is {there}")
        table = kept
    return table


def _run(folder: Path) -> pl.DataFrame:
    """A run as one point: its TCP flows must have one window."""
    run = open_run(folder)
    flows = run.flows.filter(pl.col("transport") == "tcp")
    found = {entry["tcp"]["window"] for entry in run.manifest["scenario"]["traffic"].values() if "tcp" in entry}
    if flows.is_empty() or len(found) != 1:
        raise MeasurementError("expected a run whose TCP flows have one window")
    (text,) = found
    if not text.endswith(("packet", "packets")):
        raise MeasurementError(f"a window of {text}: expected one in packets")
    return pl.DataFrame({
        "window_packets": [float(text.split()[0])],
        "flows": [float(flows.height)],
        "goodput_bps": [float(flows["goodput_bps"].sum())],
    })  # fmt: skip


def _iperf3(file: Path) -> pl.DataFrame:
    """The points of a file that iperf3 wrote with -J, or of several, a line each."""
    try:
        text = content(file).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise MeasurementError(f"cannot be read: {error}") from None
    try:
        documents = [("", json.loads(text))]
    except RecursionError:
        raise MeasurementError("expected iperf3's JSON, and it is nested too deep") from None
    except ValueError:
        lines = enumerate(text.splitlines(), start=1)
        documents = [(f"line {number}: ", _document(line, number)) for number, line in lines if line.strip()]
    if not documents:
        raise MeasurementError("expected iperf3's JSON, and the file is empty")
    return pl.DataFrame([_point(place, document) for place, document in documents])


def _document(line: str, number: int) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        raise MeasurementError(f"line {number}: expected a JSON document") from None


def _point(place: str, document: Any) -> dict[str, float]:
    try:
        if "error" in document:
            raise MeasurementError(f"{place}iperf3 failed: {document['error']}")
        start, end = document["start"], document["end"]
        if start["test_start"]["protocol"] != "TCP":
            raise MeasurementError(f"{place}expected a TCP test")
        window = float(start.get("sock_bufsize") or 0)
        received = end.get("sum_received") or end["sum"]
        flows, goodput = float(start["test_start"]["num_streams"]), float(received["bits_per_second"])
    except (KeyError, TypeError, ValueError, AttributeError):
        raise MeasurementError(f"{place}expected a document that iperf3 -J wrote") from None
    if window <= 0:
        raise MeasurementError(f"{place}the test has no window: expected one made with iperf3 -w")
    return {"window_bytes": window, "flows": flows, "goodput_bps": goodput}


def _positive(value: Any, name: str, at: str) -> float:
    try:
        found = float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not (math.isfinite(found) and found > 0):
        raise MeasurementError(f"{at}: {name} = {value}: expected a number above zero")
    return found
