"""From what a measurement left to a run: its tables and its manifest."""

from __future__ import annotations

import contextlib
import datetime as dt
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Any, Final

import tightlink
from tightlink.errors import TightlinkError
from tightlink.lazy import _core, np, pl
from tightlink.measure import acknowledging, traced
from tightlink.measure.hosts import Device
from tightlink.measure.plan import Plan
from tightlink.measure.relay import InvalidMeasurementError, Relayed
from tightlink.measure.sending import Address, Job, Sender, Sent
from tightlink.measure.settings import UDP_HEADER
from tightlink.measure.traced import first_s, full_share, of_delays, of_flow, of_link
from tightlink.measure.up_time import capacities_bps
from tightlink.run import MEASUREMENT, Framed, Run
from tightlink.run.tables import framed
from tightlink.scenario import Scenario
from tightlink.tables import TABLES, schema

_BITS: Final = 8
_PROTOCOLS: Final = {True: 6, False: 17}
#: What the samples of senders are called in the table ``series``.
_SERIES: Final = ("cwnd_packets", "in_flight_packets", "rtt_s")


@dataclass(frozen=True)
class Measured:
    """What came of a measurement, before it is a run."""

    plan: Plan
    jobs: Sequence[Job]
    sender: Sender
    relayed: Relayed
    begin_ns: int
    """When the scenario began, of ``time.monotonic_ns()``."""
    began: float
    """The same as a time of day, in seconds."""
    echoes: tuple[list[float], list[float]] | None
    """Times and round trips of echoes."""

    @property
    def duration_s(self) -> float:
        """That of the scenario, in seconds."""
        return float(self.plan.resolved["duration_s"])

    def way(self, job: Job) -> list[tuple[str, str]]:
        """The ends of the links that a sender's packets cross."""
        return [self.plan.ends(link) for link in self.plan.route(job.sender, job.receiver).links]

    def before_s(self, job: Job) -> float:
        """Propagation from a sender to the first of these, in seconds."""
        return self.plan.route(job.sender, job.receiver).before_s

    def way_back(self, job: Job) -> list[tuple[str, str]]:
        """The same of its receiver's packets, such as ACKs."""
        return [self.plan.ends(link) for link in self.plan.route(job.receiver, job.sender).links]


def attempted(tries: int, once: Callable[[], Run]) -> Run:
    """What is measured, as often as it takes until the machine is not too busy.

    Raises:
        InvalidMeasurementError: The machine was too busy each time.
    """
    for _ in range(tries - 1):
        with contextlib.suppress(InvalidMeasurementError):
            return once()
    return once()


def identity(plan: Plan, *how: object) -> str:
    """A hash of what a measurement depends on, the time included: none is like another."""
    inputs = [plan.resolved, plan.links, *how]
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def manifest(scenario: Scenario, identity: str, **more: Any) -> dict[str, Any]:
    """The manifest of a measurement, with what all of them say of themselves first."""
    own = {"source": MEASUREMENT, "identity": identity, "scenario": scenario.explicit().written()}
    return {**own, "version": tightlink.__version__, **more}


def time_of_day(began: float) -> str:
    """When a measurement began, in seconds since 1970, as its manifest has it."""
    return dt.datetime.fromtimestamp(began, dt.UTC).isoformat(timespec="milliseconds")


def run(
    measured: Measured,
    *,
    device: Device,
    mtu: int,
    warnings: Sequence[str],
    host: Mapping[str, Any],
    timing: Mapping[str, float],
) -> Run:
    """The run of a measurement."""
    relayed = measured.relayed
    shift_s = relayed.summary["began_monotonic_s"] - measured.begin_ns / 1e9
    packets = traced.in_time(
        relayed.tables["packets"], _numbers(measured), shift_s=shift_s, duration_s=measured.duration_s
    )
    sent = measured.sender.results(_first_data(measured, packets))
    found = {each.index: each for each in sent}
    frames = {
        "flows": _flows(measured, packets, found),
        "links": frame("links", _links(measured, packets)),
        "delays": _delays(measured, packets, found),
        "series": _series(measured, packets, found),
        "packets": packets.select(column.name for column in TABLES["packets"]),
    }
    if "nodes" in relayed.tables:
        # The relay is there for longer than the scenario, which is when there is work for it.
        longer = relayed.summary["duration_s"] / measured.duration_s
        frames["nodes"] = relayed.tables["nodes"].with_columns(load_true=pl.col("load_true") * longer)
    frames |= _completions(measured, frames["flows"], found)
    if frames["series"].is_empty():
        del frames["series"]
    errors = [f"{job.label}: {error}" for job in measured.jobs for error in found[job.index].errors]
    receivers = acknowledging.of_receivers(
        acknowledging.late_s(packets.filter(pl.col("flow") == job.index), comes=measured.way(job)[-1], leaves=back[0])
        for job in measured.jobs
        if job.tcp and (back := measured.way_back(job))
    )
    refused = relayed.summary["refused"]
    kernel = {job.label: found[job.index].kernel for job in measured.jobs if found[job.index].kernel}
    scenario = measured.plan.scenario
    told = manifest(
        scenario,
        identity(measured.plan, measured.sender.name, device, measured.began),
        sender={"name": measured.sender.name, **measured.sender.facts()},
        link={"names": list(measured.plan.links), "device": device, "mtu_bytes": mtu},
        tcp_info=kernel,
        began=time_of_day(measured.began),
        host=dict(host),
        relay={
            name: relayed.summary[name]
            for name in ("lateness", "priority", "cpu_s", "memory_locked", "refused", "full", "duration_s")
        },
        receivers=receivers,
        timing=dict(timing),
        warnings=[
            *warnings,
            *errors,
            *([f"hosts did not take {refused} packets when they were due"] if refused else []),
            *acknowledging.warnings(receivers, relayed.summary["lateness"]["bound_s"]),
        ],
    )
    return Run(scenario, told, Framed(frames))


def _numbers(measured: Measured) -> dict[int, int]:
    """The scenario's number of each flow of the trace that the scenario has."""
    flows = measured.relayed.summary["flows"]
    known = {
        (flow["protocol"], _key(flow["source"], flow["destination"])): number
        for number, flow in enumerate(flows)
        if flow["source"] is not None
    }
    tcp = {job.index: job.tcp for job in measured.jobs}
    found = {}
    for index, ends in measured.sender.ends().items():
        number = known.get((_PROTOCOLS[tcp[index]], _key(*ends)))
        if number is not None:
            found[number] = index
    return found


def _key(*ends: Sequence[Any] | Address) -> frozenset[tuple[Any, ...]]:
    """The same for both directions."""
    return frozenset(tuple(end) for end in ends)


def _first_data(measured: Measured, packets: pl.DataFrame) -> dict[int, float]:
    found = {
        job.index: first_s(packets, job.index, way=measured.way(job), before_s=measured.before_s(job), data=True)
        for job in measured.jobs
    }
    return {index: first for index, first in found.items() if first is not None}


def _flows(measured: Measured, packets: pl.DataFrame, found: Mapping[int, Sent]) -> pl.DataFrame:
    rows = []
    for job in measured.jobs:
        way, before_s = measured.way(job), measured.before_s(job)
        sent = found[job.index]
        started = first_s(packets, job.index, way=way, before_s=before_s)
        row = {
            "flow": job.index,
            "label": job.label,
            "from": job.sender,
            "to": job.receiver,
            "transport": "tcp" if job.tcp else "udp",
            "congestion": job.congestion,
            "start_s": job.start_s if started is None else started,
            "stop_s": job.stop_s,
            **of_flow(packets, job.index, way=way, before_s=before_s),
            **sent.columns,
        }
        lasted = row["stop_s"] - row["start_s"]
        if lasted > 0:
            row["throughput_bps"] = _BITS * row["bytes_delivered"] / lasted
            if not job.tcp:
                payload = row["bytes_delivered"] - UDP_HEADER * row["packets_delivered"]
                row["goodput_bps"] = _BITS * payload / lasted
            elif "goodput_bps" not in row and "delivered_bytes" in sent.samples:
                (delivered,) = _delivered(*sent.samples["delivered_bytes"], [row["stop_s"]])
                row["goodput_bps"] = _BITS * delivered / lasted
        if "rtt_s" in sent.samples:
            row |= of_delays("rtt", round_trips(sent.samples, job.payload_bytes))
        _share_window(measured, packets, job, row)
        rows.append(row)
    return frame("flows", rows)


def _completions(measured: Measured, flows: pl.DataFrame, found: Mapping[int, Sent]) -> dict[str, pl.DataFrame]:
    """The tables of transfers; nothing where all flows are without end, or the sender does not know when they end."""
    if not measured.sender.times_transfers:
        return {}
    seen = []
    for job, row in zip(measured.jobs, flows.iter_rows(named=True), strict=True):
        done_s = found[job.index].done_s
        took_s = None if done_s is None else done_s - row["start_s"]
        seen.append((took_s, row["packets_retransmitted"] or 0, row["timeouts"] or 0))
    tables = _core.completions(json.dumps(measured.plan.resolved), seen)
    return {name: framed(name, columns) for name, columns in tables.items()}


def _share_window(measured: Measured, packets: pl.DataFrame, job: Job, row: dict[str, Any]) -> None:
    """Divide time at the windows between these and the network: a saturated path sets the pace itself.

    When exactly a sender was at its window nobody wrote down: the links are taken to have been as full then as in all
    of the flow's time.
    """
    if row.get("limited_by_receiver_window") is None:
        return
    plan = measured.plan
    links = [(plan.directions[link], plan.ends(link)) for link in plan.route(job.sender, job.receiver).links]
    round_trip_s = row.get("rtt_mean_s") or plan.round_trip_s(job.sender, job.receiver)
    full = full_share(packets, links, round_trip_s=round_trip_s, start_s=row["start_s"], stop_s=row["stop_s"])
    row["limited_by_network"] = 0.0
    for name in ("receiver_window", "congestion_window"):
        at_window = row[f"limited_by_{name}"] or 0.0
        row["limited_by_network"] += at_window * full
        row[f"limited_by_{name}"] = at_window * (1 - full)


def round_trips(samples: Mapping[str, tuple[Sequence[float], Sequence[float]]], payload_bytes: int) -> pl.Series:
    """A round-trip time for each packet that was delivered: the sender's next sample.

    Samples are taken at equal times, and ACKs come as packets are delivered: where a path is slow for a while, samples
    are as many and ACKs are few. Where nobody knows what was delivered when, it is one for each sample.

    >>> samples = {"rtt_s": ([1.0, 2.0], [0.1, 0.3]), "delivered_bytes": ([0.0, 1.0, 2.0], [0.0, 3000.0, 4000.0])}
    >>> round_trips(samples, 1000).to_list()
    [0.1, 0.1, 0.1, 0.3]
    """
    at, values = samples["rtt_s"]
    if "delivered_bytes" not in samples:
        return pl.Series(values, dtype=pl.Float64)
    packets = np.diff(np.rint(_delivered(*samples["delivered_bytes"], at) / payload_bytes), prepend=0.0)
    return pl.Series(np.repeat(np.array(values, dtype=float), packets.astype(int)), dtype=pl.Float64)


def _delivered(at: Sequence[float], values: Sequence[float], times: Sequence[float]) -> Any:
    """What had been delivered at some times, between two samples in proportion."""
    return np.interp(times, at, values, left=0.0) if at else np.zeros(len(times))


def _links(measured: Measured, packets: pl.DataFrame) -> list[dict[str, Any]]:
    plan, duration_s = measured.plan, measured.duration_s
    possible = capacities_bps(plan.resolved, interval_s=duration_s, intervals=1)
    rows = []
    for place, link in enumerate(plan.directions):
        marked = measured.relayed.summary["links"][place]["packets_marked"]
        (capacity_bps,) = possible.get(link["name"], [None])
        of_whole = {"marked": marked, "capacity_bps": capacity_bps}
        rows.append(of_link(packets, link, plan.ends(place), duration_s, **of_whole))
    return rows


def _delays(measured: Measured, packets: pl.DataFrame, found: Mapping[int, Sent]) -> pl.DataFrame:
    parts: list[tuple[str, str, pl.Series]] = []
    for job in measured.jobs:
        way, before_s = measured.way(job), measured.before_s(job)
        own = traced.delays_of_flow(packets, job.index, way=way, before_s=before_s)
        samples = found[job.index].samples
        if "rtt_s" in samples:
            own["rtt"] = round_trips(samples, job.payload_bytes)
        parts += [(job.label, delay, values) for delay, values in own.items()]
    for place, link in enumerate(measured.plan.directions):
        parts.append((link["name"], "queueing_delay", traced.delays_of_link(packets, measured.plan.ends(place))))
    columns = list(schema("delays"))
    return pl.concat(
        traced.steps(values).with_columns(entity=pl.lit(name), delay=pl.lit(delay)).select(columns)
        for name, delay, values in parts
    )


def _series(measured: Measured, packets: pl.DataFrame, found: Mapping[int, Sent]) -> pl.DataFrame:
    frames = []
    interval_s = measured.plan.resolved["observe"]["interval_s"]
    times = [] if interval_s is None else _times(interval_s, measured.duration_s)
    if times:
        possible = capacities_bps(measured.plan.resolved, interval_s=interval_s, intervals=len(times))
        for place, link in enumerate(measured.plan.directions):
            own_bps = possible.get(link["name"])
            frames.append(traced.series_of_link(packets, link, measured.plan.ends(place), times, own_bps))
        for job in measured.jobs:
            header = None if job.tcp else UDP_HEADER
            own = (job.index, job.label, measured.way(job))
            frames.append(traced.series_of_flow(packets, *own, times, header_bytes=header))
            samples = found[job.index].samples
            if job.tcp and "delivered_bytes" in samples:
                frames.append(_goodput(job.label, *samples["delivered_bytes"], times))
            kept = [name for name in _SERIES if name in samples]
            frames += [traced.sampled(*samples[name], name, job.label, times) for name in kept]
    if measured.echoes is not None:
        sent_s, trips = measured.echoes
        columns = {"time_s": sent_s, "entity": "echo", "metric": "rtt_s", "value": trips}
        frames.append(pl.DataFrame(columns, schema("series")))
    if not frames:
        return pl.DataFrame(schema=schema("series"))
    # As the engine has them: at each time, links before flows.
    return pl.concat(frames).sort("time_s", maintain_order=True)


def _times(interval_s: float, duration_s: float) -> list[float]:
    return list(takewhile(lambda time: time < duration_s, (number * interval_s for number in count(1))))


def _goodput(label: str, at: Sequence[float], values: Sequence[float], times: Sequence[float]) -> pl.DataFrame:
    rates = _BITS * np.diff(_delivered(at, values, times), prepend=0.0) / times[0]
    columns = {"time_s": times, "entity": label, "metric": "goodput_bps", "value": rates}
    return pl.DataFrame(columns, schema("series"))


def frame(table: str, rows: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """A table with all of its columns; what is not known is null.

    Raises:
        TightlinkError: A row has a column that the table does not have: a mistake of this program.
    """
    types = schema(table)
    for row in rows:
        if beyond := set(row) - set(types):
            raise TightlinkError(f"table {table} has no column {min(beyond)}")
    return pl.DataFrame([{name: row.get(name) for name in types} for row in rows], types)
