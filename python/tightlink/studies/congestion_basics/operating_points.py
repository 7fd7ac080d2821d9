"""Where controls that know the path's rate operate, and what queues that manage themselves hold: BBR, CoDel, PIE."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink import units
from tightlink.experiment.claims import Claim, within
from tightlink.experiment.execute import Task
from tightlink.reduce import mean_of
from tightlink.report import Section, Table
from tightlink.scenario import Cbr, Codel, Pie, Udp
from tightlink.studies.congestion_basics.document import FLOW, LINK, PACKET_BYTES, RECEIVER, SENDER, scenario
from tightlink.studies.words import percent

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tightlink.run import Run
    from tightlink.scenario import Scenario

BBRS: Final = ("bbr", "bbr3")
#: Of the buffers in front of BBR, in bandwidth-delay products.
BUFFERS_BDP: Final = (1, 2, 8)
PIE_FLOWS: Final = (4, 10, 20)
_RATE: Final = "50 Mbit/s"
_RTT_MS: Final = 40
_DURATION_S: Final = 40
_SETTLED_S: Final = 10
_BDP_PACKETS: Final = units.rate(_RATE) * _RTT_MS / 1e3 / (8 * PACKET_BYTES)
#: RFC 8033 §4.2 and RFC 8289 §4.2 and §4.3.
_PIE_TARGET_S: Final = 0.015
_CODEL_TARGET_S: Final = 0.005
_CODEL_INTERVAL_S: Final = 0.1
#: What is offered to CoDel over what its line carries.
_OVERLOAD: Final = 1.2
_OVERLOADED_S: Final = 5
_CODEL: Final = "point/codel"


def tasks() -> list[Task]:
    """Single flows of BBR, a constant overload of CoDel, and PIE with several flows of standard TCP."""
    bbr = [
        Task(
            _bbr(control, buffer),
            scenario(
                _RATE, _RTT_MS, f"{math.ceil(buffer * _BDP_PACKETS)} packets", _DURATION_S, interval_s=0.01,
                congestion=control, recovery="rack",
            ),
        )
        for control in BBRS
        for buffer in BUFFERS_BDP
    ]  # fmt: skip
    pie = [
        Task(
            f"point/pie/{flows}",
            scenario(
                _RATE, _RTT_MS, Pie(limit="2000 packets"), _DURATION_S, interval_s=0.01, flows=flows,
                recovery="rack",
            ),
        )
        for flows in PIE_FLOWS
    ]  # fmt: skip
    return [*bbr, *pie, Task(_CODEL, _overload(), trace=True)]


def in_flight(run: Run) -> float:
    """What BBR keeps in flight, in bandwidth-delay products of the empty path: rate times round trip."""
    flow = run.flows.row(0, named=True)
    return float(flow["throughput_bps"] * flow["rtt_mean_s"] / (units.rate(_RATE) * _RTT_MS / 1e3))


def used(run: Run) -> float:
    """Utilization of the link after the beginning."""
    return _mean(run, "utilization")


def delay_s(run: Run) -> float:
    """Mean time that a packet waits at the link, after the beginning."""
    return _mean(run, "queue_packets") * 8 * PACKET_BYTES / units.rate(_RATE)


def drop_times_s(run: Run) -> list[float]:
    """When CoDel dropped."""
    packets = run.packets
    assert packets is not None
    return packets.filter(pl.col("reason") == "queue management")["time_s"].to_list()


def law(times_s: list[float]) -> tuple[float, float]:
    """Of the times from drop to drop: the interval and the power of their number that fit them best."""
    gaps = np.diff(times_s)
    power, level = np.polyfit(np.log(np.arange(1, len(gaps) + 1)), np.log(gaps), 1)
    return float(np.exp(level)), float(power)


def claims(runs: Mapping[str, Run]) -> Iterator[Claim]:
    """One bandwidth-delay product; interval over the root of the count; the target."""
    for control in BBRS:
        own = {buffer: runs[_bbr(control, buffer)] for buffer in BUFFERS_BDP}
        held = [in_flight(run) for run in own.values()]
        yield within(
            f"{control}.in-flight", f"{control}: one flow keeps near a bandwidth-delay product in flight",
            "Cardwell et al. 2016, §Characterizing the bottleneck", 1, fmean(held), tolerance=0.25, unit="BDP",
            reason=f"Rate times mean round trip; buffers of {', '.join(map(str, BUFFERS_BDP))} BDP find "
            f"{min(held):.2f} to {max(held):.2f}. The probes for bandwidth and their drain are in the mean.",
        )  # fmt: skip
        least = min(used(run) for run in own.values())
        yield within(
            f"{control}.utilization", f"{control}: and uses the link", "the same", 1, least, tolerance=0.05,
            reason="The least of the buffers; missing are the probes for the round trip, with little in flight.",
        )  # fmt: skip
    interval_s, power = law(drop_times_s(runs[_CODEL]))
    yield within(
        "codel.interval", "CoDel drops again an interval after its first drop", "RFC 8289 §5.3",
        _CODEL_INTERVAL_S * 1e3, interval_s * 1e3, relative=0.05, unit="ms",
        reason="From a fit of the times from drop to drop, while the link is overloaded throughout.",
    )  # fmt: skip
    yield within(
        "codel.law", "and from then on with the square root of the number of drops", "RFC 8289 §5.3",
        -0.5, power, tolerance=0.02, reason="The power of the drops' number in the same fit.",
    )  # fmt: skip
    for flows in PIE_FLOWS:
        yield within(
            f"pie.{flows}", f"PIE holds its target of 15 ms for {flows} flows", "RFC 8033 §4.2",
            _PIE_TARGET_S * 1e3, delay_s(runs[f"point/pie/{flows}"]) * 1e3, tolerance=5, unit="ms",
            reason="Mean time in the queue; the RFC promises to be near the target, and gives no figure.",
        )  # fmt: skip


def section(runs: Mapping[str, Run]) -> Section:
    """The part of the report."""
    rows = [
        (control, buffer, in_flight(run), 100 * used(run), 1e3 * delay_s(run))
        for control in BBRS
        for buffer in BUFFERS_BDP
        for run in (runs[_bbr(control, buffer)],)
    ]
    bbr = pl.DataFrame(
        rows, schema=["control", "buffer (BDP)", "in flight (BDP)", "utilization %", "waiting (ms)"], orient="row"
    )
    pie = pl.DataFrame({
        "flows": PIE_FLOWS,
        "waiting (ms)": [1e3 * delay_s(runs[f"point/pie/{flows}"]) for flows in PIE_FLOWS],
        "utilization %": [100 * used(runs[f"point/pie/{flows}"]) for flows in PIE_FLOWS],
    })  # fmt: skip
    interval_s, power = law(drop_times_s(runs[_CODEL]))
    finding = (
        f"BBR keeps {mean_of(bbr['in flight (BDP)']):.2f} bandwidth-delay products in flight, whatever the buffer. "
        f"Overloaded by {percent(_OVERLOAD - 1)}, CoDel drops {1e3 * interval_s:.0f} ms apart at first and with the "
        f"power {power:.2f} of the number of drops. PIE holds {min(pie['waiting (ms)']):.0f} to "
        f"{max(pie['waiting (ms)']):.0f} ms."
    )
    formats = {"in flight (BDP)": ".2f", "utilization %": ".1f", "waiting (ms)": ".1f"}
    about = f"{_RATE}, {_RTT_MS} ms, recovery by RACK"
    return Section(
        "Where BBR, CoDel and PIE operate",
        finding,
        [
            Table(bbr, f"A single flow of BBR: {about}", dict(formats)),
            Table(pie, f"Flows of standard TCP through PIE: {about}", dict(formats)),
        ],
    )


def _mean(run: Run, metric: str) -> float:
    assert run.series is not None
    chosen = (pl.col("entity") == LINK) & (pl.col("metric") == metric) & (pl.col("time_s") > _SETTLED_S)
    return mean_of(run.series.filter(chosen)["value"])


def _overload() -> Scenario:
    rate = units.rate(_RATE) * _OVERLOAD
    flow = Cbr(from_=SENDER, to=RECEIVER, rate=f"{rate / 1e6:g} Mbit/s", udp=Udp(datagram=f"{PACKET_BYTES} B"))
    base = scenario(_RATE, _RTT_MS, Codel(limit="1000000 packets"), _OVERLOADED_S)
    return base.model_copy(update={"traffic": {FLOW: flow}})


def _bbr(control: str, buffer: float) -> str:
    return f"point/{control}/{buffer}"
