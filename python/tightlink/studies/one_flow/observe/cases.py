"""What the study measures of each case, from its packet trace.

Example:
    >>> from tightlink.simulate import simulate
    >>> from tightlink.studies.one_flow.setup import BASE, tcp
    >>> measured = measure(BASE, simulate(tcp(BASE), trace=True))
    >>> measured.sent, measured.dropped, measured.printed_kilobytes
    (2385, 0, 2421.289062)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import polars as pl

from tightlink.analysis.traffic import trace
from tightlink.reduce import largest, mean_of, median_of, smallest
from tightlink.run import Run
from tightlink.studies.expressions import Names
from tightlink.studies.one_flow import setup
from tightlink.studies.one_flow.setup import CASES, RECEIVER, SENDER, START_S, STOP_S, Case
from tightlink.studies.words import KBIT, MS, percent

#: The document's α, the weight of the past in its moving average.
KEEP: Final = 0.9
#: The second half of the run, when all that starts has started.
STEADY_S: Final = 5.0
#: The smoothed instant throughput is steady from this share of its final value on; claims name others beside it.
_REACHED: Final = {"reaches_99_s": 0.99, "settles_s": 0.999, "reaches_99_99_s": 0.9999}
#: The document's Kbit: 1024 bit, as its KB are 1024 B and its Mbit are 1024 × 1024 bit.
_KIBIT: Final = 1024
#: Differences of latencies below this are what adding up times leaves.
_NO_TIME: Final = 1e-9


@dataclass(frozen=True)
class Measured:
    """A case with its tables and its figures, most of them of the steady half."""

    case: Case
    run: Run
    trips: pl.DataFrame
    """Journeys of the data packets that arrived."""
    throughput: pl.DataFrame
    """Instant (raw and smoothed) and system throughput, headers included."""
    payload: pl.DataFrame
    """The same of the payload alone, as the document words it."""
    jitter: pl.DataFrame
    queue: pl.DataFrame
    """Queue length after each event."""
    held: pl.DataFrame
    """Share of the steady time at each queue length."""
    accepted_bytes: int

    @cached_property
    def flow(self) -> dict[str, Any]:
        """The row of the table ``flows``."""
        return self.run.flows.row(0, named=True)

    @property
    def sent(self) -> int:
        """Packets offered to the queue, SYN included."""
        return int(self.flow["packets_sent"])

    @property
    def dropped(self) -> int:
        """Packets that the queue refused."""
        return int(self.flow["packets_dropped"])

    @property
    def loss(self) -> float:
        """The share of packets sent that were dropped."""
        return self.dropped / self.sent

    @property
    def kilobytes(self) -> float:
        """KiB that entered the queue and were not dropped, headers and SYN included."""
        return self.accepted_bytes / 1024

    @property
    def printed_kilobytes(self) -> float:
        """The same as the document's awk prints it: six decimals, ties to the even digit."""
        return float(f"{self.kilobytes:.6f}")

    @cached_property
    def latency(self) -> pl.Series:
        """Of the packets of the steady half."""
        return _steady(self.trips, "arrived_s")["latency_s"]

    @property
    def latency_s(self) -> float:
        """Median latency in the steady half."""
        return median_of(self.latency)

    @property
    def header_bytes(self) -> int:
        """The header bytes of each packet."""
        return _header_bytes(self.run)

    @property
    def queue_mean(self) -> float:
        """Mean of the packets waiting, weighted by time."""
        return float((self.held["packets"] * self.held["share"]).sum())

    @property
    def quality(self) -> Quality:
        """What an application notices of it."""
        most, nearly = (float(self.latency.quantile(share, "nearest") or 0.0) for share in (0.999, 0.99))
        carried = self.case.payload_share if self.header_bytes else 1.0
        share = self.flow["goodput_bps"] / (carried * self.case.rate_bps)
        return Quality(nearly, most - min(self.latency, default=0.0), self.loss, share)

    @cached_property
    def names(self) -> Names:
        """What claims name of it: its own, those of case and flow, and what is seen in its tables."""
        case, flow, quality = self.case, self.flow, self.quality
        trips, smoothed = _steady(self.trips, "arrived_s"), _steady(self.throughput)["smoothed_bps"]
        steady_bps, curve = mean_of(smoothed), self.throughput
        payload_bits = 8 * float((trips["size_bytes"] - self.header_bytes)[1:].sum())
        changes, jitter = pl.col("jitter_s").abs() > _NO_TIME, mean_of(_steady(self.jitter)["jitter_s"].abs())
        system_bps, payload_bps = (frame["system_bps"][-1] for frame in (self.throughput, self.payload))
        packet_s = 8 * case.packet_bytes / case.rate_bps
        lengths = sorted(_steady(self.queue)["packets"].unique().to_list())
        waiting = dict(self.held.select("packets", "share").rows())
        derived = {
            "payload_rate_kbit": payload_bits / (largest(trips["arrived_s"]) - smallest(trips["arrived_s"])) / KBIT,
            "smoothed_low_kbit": smallest(smoothed) / KBIT,
            "smoothed_high_kbit": largest(smoothed) / KBIT,
            "steady_kibit": steady_bps / _KIBIT,
            "smoothed_low_kibit": smallest(smoothed) / _KIBIT,
            "smoothed_high_kibit": largest(smoothed) / _KIBIT,
            **{
                name: smallest(curve.filter(pl.col("smoothed_bps") >= share * steady_bps)["time_s"])
                for name, share in _REACHED.items()
            },
            "system_bps": system_bps,
            "system_kbit": system_bps / KBIT,
            "system_kibit": system_bps / _KIBIT,
            "payload_system_kbit": payload_bps / KBIT,
            "latency_ms": self.latency_s / MS,
            "latency_spread_ms": (largest(self.latency) - smallest(self.latency)) / MS,
            "jitter_ms": (jitter if jitter > _NO_TIME else 0.0) / MS,
            "jitter_ends_s": self.jitter.filter(changes)["time_s"].max(),
            "queue_max": int(self.run.links["queue_max_packets"][0]),
            "queues_sum_ms": (self.queue_mean * packet_s + packet_s + case.delay_s) / MS,
            "lengths": ", ".join(map(str, lengths)),
            "held": ", ".join(f"{length}: {percent(share)}" for length, share in self.held.rows()),
            "longest_share": largest(self.held["share"]),
            **{f"waiting_{packets}": waiting.get(packets, 0.0) for packets in (0, 14, 15)},
            "real_time": quality.real_time(),
            "interactive": quality.interactive(),
            "bulk": quality.bulk(repairs=flow["transport"] == "tcp"),
        }
        return Names(derived, self, case, flow)


def _steady(frame: pl.DataFrame, time: str = "time_s") -> pl.DataFrame:
    """The rows of the steady half."""
    return frame.filter(pl.col(time) >= STEADY_S)


def _header_bytes(run: Run) -> int:
    return setup.TCP_HEADER_BYTES if run.flows["transport"][0] == "tcp" else 0


def measure(case: Case, run: Run) -> Measured:
    """Measure a case from its run, which has a packet trace."""
    packets = run.packets
    trips = trace.journeys(packets, to=RECEIVER)
    payload = trips.with_columns(pl.col("size_bytes") - _header_bytes(run))
    queue = trace.queue_length(packets, SENDER, RECEIVER)
    whole, carried = (trace.throughput(each, start_s=START_S, keep=KEEP) for each in (trips, payload))
    held = trace.occupancy(queue, start_s=STEADY_S, stop_s=STOP_S)
    accepted = trace.accepted_bytes(packets, SENDER, RECEIVER)
    return Measured(case, run, trips, whole, carried, trace.jitter(trips), queue, held, accepted)


def values(tcp: Mapping[str, Measured], udp: Mapping[str, Measured], runs: Mapping[str, Run]) -> dict[str, object]:
    """What claims compare of all cases: CASE.…, udp.CASE.…, and new-timer.…, the short queue in ns-2.35."""
    found: dict[str, object] = {
        **{name: measured.names for name, measured in tcp.items()},
        **{f"udp.{name}": measured.names for name, measured in udp.items()},
        "new-timer": measure(setup.BY_NAME["queue-5"], runs[setup.NEW_TIMER]).names,
    }
    for case in CASES:
        for kind in ("window-20-100s", "opened-100s"):
            run = runs[f"{kind}/{case.name}"]
            flow = run.flows.row(0, named=True)
            found[f"{kind}.{case.name}.dropped"] = flow["packets_dropped"]
            found[f"{kind}.{case.name}.queue_mean"] = run.links["queue_mean_packets"][0]
            found[f"{kind}.{case.name}.goodput_bps"] = flow["goodput_bps"]
            found[f"{kind}.{case.name}.one_way_delay_ms"] = flow["one_way_delay_mean_s"] / MS
    return found | {
        "fast-acks.goodput_bps": runs[setup.FAST_ACKS].flows["goodput_bps"][0],
        "queue-50.same_events": tcp["queue-50"].run.packets.equals(tcp["base"].run.packets),
        "udp.loss_least": min(case.loss for case in udp.values()),
        "udp.loss_most": max(case.loss for case in udp.values()),
        "tcp.loss_most": max(case.loss for case in tcp.values()),
    }


# What each case is good for: real-time, interactive and bulk traffic.
#
# Latency is one-way and that of the 99 % of packets that do best; delay variation is the 99.9 % quantile
# less the least latency (ITU-T Y.1541's IPDV); both of the second half of the run, after the start.
# Thresholds: ITU-T G.114 (2003): up to 150 ms for most applications, 400 ms at most. ITU-T Y.1541
# (2011): variation up to 50 ms for real time (classes 0 and 1), latency up to 100 ms for highly
# interactive and 400 ms for interactive data (classes 2 and 3), up to 1 s for bulk data (class 4), loss
# up to 0.1 % in all of them. The document's own limit for real time is 300 ms.

GOOD: Final = "good"
FAIR: Final = "fair"
BAD: Final = "bad"
G114_GOOD_S: Final = 0.150
G114_MOST_S: Final = 0.400
DOCUMENT_MOST_S: Final = 0.300
Y1541_INTERACTIVE_S: Final = 0.100
Y1541_BULK_S: Final = 1.0
Y1541_VARIATION_S: Final = 0.050
Y1541_LOSS: Final = 0.001
#: Shares of the link's payload rate with which a transfer is content; ours, no standard's.
BULK_GOOD: Final = 0.95
BULK_FAIR: Final = 0.80


@dataclass(frozen=True)
class Quality:
    """What an application notices of a path."""

    latency_s: float
    variation_s: float
    loss: float
    share: float
    """Goodput over the rate that the link has for payload."""

    def real_time(self) -> str:
        """For calls: latency, its variation, loss.

        >>> Quality(0.073, 0.0, 0.0, 1.0).real_time(), Quality(0.313, 0.0, 0.0, 1.0).real_time()
        ('good', 'bad: latency')
        """
        if self.loss > Y1541_LOSS:
            return f"{BAD}: loss"
        if self.variation_s > Y1541_VARIATION_S:
            return f"{BAD}: delay variation"
        if self.latency_s > DOCUMENT_MOST_S:
            return f"{BAD}: latency"
        return GOOD if self.latency_s <= G114_GOOD_S else f"{FAIR}: latency"

    def interactive(self) -> str:
        """For terminals and pages: latency and loss."""
        if self.loss > Y1541_LOSS:
            return f"{BAD}: loss"
        if self.latency_s > G114_MOST_S:
            return f"{BAD}: latency"
        return GOOD if self.latency_s <= Y1541_INTERACTIVE_S else f"{FAIR}: latency"

    def bulk(self, *, repairs: bool) -> str:
        """For files: goodput, where the transport repairs losses."""
        if self.loss > Y1541_LOSS and not repairs:
            return f"{BAD}: loss, not repaired"
        if self.latency_s > Y1541_BULK_S:
            return f"{BAD}: latency"
        if self.share >= BULK_GOOD:
            return GOOD
        return f"{FAIR if self.share >= BULK_FAIR else BAD}: {percent(self.share)} of the link"
