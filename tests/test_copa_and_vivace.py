"""What Copa's and Vivace's papers say of the queue that they keep and of how rates converge (both NSDI 2018)."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tightlink as tl

COPA = """\
duration = "60 s"
observe = { interval = "1 ms" }
link.wire = { ends = ["a", "b"], rate = "50 Mbit/s", delay = "50 ms", queue = "4000 packets" }
traffic.copa = { kind = "bulk", flows = FLOWS, from = "a", to = "b", start = { first = "0 s", every = "0.5 s" }, tcp = { congestion = { kind = "copa", delta = DELTA } } }
"""
RTT_S = 0.1
#: By when all have come and slow start is over. Ours.
SETTLED_S = 20.0


@pytest.mark.parametrize(("flows", "delta"), [(1, 0.5), (2, 0.5), (4, 0.5), (8, 0.5), (1, 0.1), (2, 0.1)])
def test_copas_queue_goes_from_empty_to_a_peak_in_five_round_trips(flows: int, delta: float) -> None:
    """Section 3: where the path is long beside the queue, this goes from none to 2.5/δ packets and back within five round
    trips, δ of all flows the harmonic sum of theirs. Each flow's window is whole packets, of which one may wait more or less;
    a direction is kept for whole round trips, and so a cycle known to half of one."""
    run = tl.simulate(tl.loads(COPA.replace("FLOWS", str(flows)).replace("DELTA", str(delta))))
    series = run.series.filter(
        (pl.col("entity") == "wire") & (pl.col("metric") == "queue_packets") & (pl.col("time_s") > SETTLED_S)
    )
    queue = series["value"].to_numpy()
    cycles = queue[: len(queue) // 500 * 500].reshape(-1, 500)
    peak = 2.5 * flows / delta
    assert np.median(cycles.min(axis=1)) == 0
    assert np.median(cycles.max(axis=1)) == pytest.approx(peak, abs=flows)
    assert queue.mean() == pytest.approx(peak / 2, abs=flows)
    power = np.abs(np.fft.rfft(queue - queue.mean())) ** 2
    period_s = 1 / np.fft.rfftfreq(len(queue), 1e-3)[power.argmax()]
    assert period_s / RTT_S == pytest.approx(5, abs=0.5)


SHARED = """\
duration = "200 s"
observe = { interval = "1 s" }
link.wire = { ends = ["a", "b"], rate = "100 Mbit/s", delay = "15 ms", queue = "QUEUE" }
traffic.flow = { kind = "bulk", flows = FLOWS, from = "a", to = "b", start = { first = "0 s", every = "40 s" }, tcp = { congestion = "CONTROL" } }
"""


def _shared(control: str, flows: int, queue: str) -> tl.Run:
    text = SHARED.replace("QUEUE", queue).replace("FLOWS", str(flows)).replace("CONTROL", control)
    return tl.simulate(tl.loads(text))


@pytest.mark.parametrize("queue", ["5 packets", "10 packets", "25 packets", "250 packets"])
def test_vivace_needs_and_keeps_hardly_a_queue(queue: str) -> None:
    """Vivace's set-up of 100 Mbit/s and 30 ms: nine tenths of the link with a few packets of buffer, and no more than one waits
    on average where there is room for a bandwidth-delay product."""
    links = _shared("vivace", 1, queue).links
    assert links["utilization"][0] > 0.9
    assert links["queue_mean_packets"][0] < 1


def test_rates_converge_and_vivaces_vary_less_than_cubics() -> None:
    """The same path, a flow more every 40 s: when the last has come all have a third (Jain's index above 0.99 in most seconds),
    and a rate varies less from second to second than CUBIC's, with which Vivace's paper compares. Copa's flows sometimes take
    each other for others that fill the queue (Jiang et al. 2022, Copa+): then theirs varies for seconds."""

    def settled(control: str) -> np.ndarray:
        rates = _shared(control, 3, "250 packets").series.filter(pl.col("metric") == "throughput_bps")
        wide = rates.filter(pl.col("entity").str.starts_with("flow")).pivot("entity", index="time_s", values="value")
        return wide.filter(pl.col("time_s") > 120).drop("time_s").to_numpy()

    def varies(rates: np.ndarray) -> float:
        return float(np.diff(rates, axis=0).std() / rates.mean())

    rates = {control: settled(control) for control in ("copa", "vivace", "cubic")}
    for control in ("copa", "vivace"):
        jain = rates[control].sum(axis=1) ** 2 / (3 * (rates[control] ** 2).sum(axis=1))
        assert np.median(jain) > 0.99, control
    assert varies(rates["vivace"]) < varies(rates["cubic"])
