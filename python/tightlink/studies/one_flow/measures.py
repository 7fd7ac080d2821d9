"""What the study measures of each case, from its packet trace.

Example:
    >>> from tightlink.simulate import simulate
    >>> measured = measure(BASE, simulate(tcp(BASE), trace=True))
    >>> measured.sent, measured.dropped, measured.printed_kilobytes
    (2385, 0, 2421.289062)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from tightlink.analysis import trace
from tightlink.studies.one_flow.cases import (
    BASE,
    RECEIVER,
    SENDER,
    START_S,
    STOP_S,
    TCP_HEADER_BYTES,
    Case,
    tcp,
)

if TYPE_CHECKING:
    from tightlink.run import Run

__all__ = ["BASE", "KEEP", "STEADY_S", "Measured", "measure", "tcp"]

#: The document's α, the weight of the past in its moving average.
KEEP: Final = 0.9
#: The second half of the run, when all that starts has started.
STEADY_S: Final = 5.0
_KIB: Final = 1024
#: Differences of latencies below this are what adding up times leaves.
_NO_TIME: Final = 1e-9


@dataclass(frozen=True)
class Measured:
    """A case with its tables and its figures."""

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

    @property
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
        """Dropped / sent."""
        return self.dropped / self.sent

    @property
    def kilobytes(self) -> float:
        """KiB that entered the queue and were not dropped, headers and SYN included."""
        return self.accepted_bytes / _KIB

    @property
    def printed_kilobytes(self) -> float:
        """The same as the document's awk prints it: six decimals, ties to the even digit."""
        return float(f"{self.kilobytes:.6f}")

    @property
    def latency_s(self) -> float:
        """Median latency in the steady half."""
        return _number(self.steady(self.trips, "arrived_s")["latency_s"].median())

    @property
    def latency_spread_s(self) -> float:
        """Largest less smallest latency in the steady half."""
        latency = self.steady(self.trips, "arrived_s")["latency_s"]
        return _number(latency.max()) - _number(latency.min())

    @property
    def latency_most_s(self) -> float:
        """The latency that 99 % of the packets of the whole run do not exceed."""
        return _number(self.trips["latency_s"].quantile(0.99, "nearest"))

    @property
    def jitter_s(self) -> float:
        """Mean absolute difference of successive latencies in the steady half."""
        mean = _number(self.steady(self.jitter)["jitter_s"].abs().mean())
        return mean if mean > _NO_TIME else 0.0

    @property
    def jitter_ends_s(self) -> float:
        """When the latency changed for the last time."""
        return _number(self.jitter.filter(pl.col("jitter_s").abs() > _NO_TIME)["time_s"].max())

    @property
    def smoothed_range_bps(self) -> tuple[float, float]:
        """Least and greatest smoothed instant throughput in the steady half, headers included."""
        smoothed = self.steady(self.throughput)["smoothed_bps"]
        return _number(smoothed.min()), _number(smoothed.max())

    @property
    def payload_rate_bps(self) -> float:
        """Mean rate of the payload in the steady half, as packets arrive."""
        steady = self.steady(self.trips, "arrived_s")
        times = steady["arrived_s"]
        bits = 8 * (steady["size_bytes"] - self.header_bytes)[1:].sum()
        return float(bits) / (_number(times.max()) - _number(times.min()))

    @property
    def header_bytes(self) -> int:
        """Of each packet."""
        return TCP_HEADER_BYTES if self.flow["transport"] == "tcp" else 0

    @property
    def queue_mean(self) -> float:
        """Mean of the packets waiting in the steady half, weighted by time."""
        return float((self.held["packets"] * self.held["share"]).sum())

    def share_of_time(self, packets: int) -> float:
        """The share of the steady half with so many packets waiting."""
        return float(self.held.filter(pl.col("packets") == packets)["share"].sum())

    def reaches(self, share: float) -> float:
        """When the smoothed instant throughput first is this share of its mean in the steady half."""
        level = _number(self.steady(self.throughput)["smoothed_bps"].mean())
        return _number(self.throughput.filter(pl.col("smoothed_bps") >= share * level)["time_s"].min())

    @staticmethod
    def steady(frame: pl.DataFrame, time: str = "time_s") -> pl.DataFrame:
        """The rows of the steady half."""
        return frame.filter(pl.col(time) >= STEADY_S)


def measure(case: Case, run: Run) -> Measured:
    """Measure a case from its run, which has a packet trace."""
    packets = run.packets
    trips = trace.journeys(packets, to=RECEIVER)
    header = TCP_HEADER_BYTES if run.flows["transport"][0] == "tcp" else 0
    payload = trips.with_columns(pl.col("size_bytes") - header)
    queue = trace.queue_length(packets, SENDER, RECEIVER)
    return Measured(
        case,
        run,
        trips,
        trace.throughput(trips, start_s=START_S, keep=KEEP),
        trace.throughput(payload, start_s=START_S, keep=KEEP),
        trace.jitter(trips),
        queue,
        trace.occupancy(queue, start_s=STEADY_S, stop_s=STOP_S),
        trace.accepted_bytes(packets, SENDER, RECEIVER),
    )


def _number(value: Any) -> float:
    """What polars gives for a column of numbers; it is typed wider than that."""
    return float(value)
