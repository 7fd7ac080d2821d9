"""What probes say of a path, on times that are worked out exactly: no clock, no network."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import tightlink as tl
from tightlink.analysis.estimates import Estimate
from tightlink.analysis.path.answer import PathAnswer, judged, of_others
from tightlink.analysis.path.estimate import Overload, PacketTrains, empty_rtt, overload

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZE = 1428
#: Of the two ends' clocks, and of propagation.
APART = 12_345.678


def bottleneck(sent_s: NDArray[np.float64], rate_bps: float, limit: int, *, burst: int = 0) -> NDArray[np.float64]:
    """Delays through a drop-tail link, NaN where its queue was full; the first ``burst`` take no time."""
    service = 8 * SIZE / rate_bps
    departures: list[float] = []
    delays = []
    for place, at in enumerate(sent_s):
        waiting = sum(departure > at for departure in departures[-limit:])
        if waiting >= limit:
            delays.append(math.nan)
            continue
        begin = max(at, departures[-1] if departures else at)
        departures.append(begin + (0 if place < burst else service))
        delays.append(departures[-1] - at + APART)
    return np.array(delays)


def trains(rate_bps: float, limit: int, *, noise_s: float = 0, burst: int = 0, count: int = 25) -> PacketTrains:
    generator = np.random.default_rng(5)
    arrivals = []
    for start in range(count):
        sent = np.full(24, float(start))
        times = sent + bottleneck(sent, rate_bps, limit, burst=burst)
        arrivals.append(
            np.sort(
                times[~np.isnan(times)] + noise_s * generator.exponential(size=len(times))[: np.sum(~np.isnan(times))]
            )
        )
    return PacketTrains(arrivals, 24, SIZE)


def flood(
    rate_bps: float, limit: int, *, packets: int = 1500, over: float = 1.4142, capacity_bps: float | None = None
) -> Overload:
    interval = 8 * SIZE / (over * rate_bps)
    sent = np.arange(packets, dtype=np.float64) * interval
    return Overload(sent, bottleneck(sent, capacity_bps or rate_bps, limit), SIZE)


def lasting(found: Overload) -> float:
    """The rate while the queue was full."""
    rate = found.sustained_bps()
    assert rate is not None
    assert rate.low <= rate.value <= rate.high
    return rate.value


@pytest.mark.parametrize("rate_bps", [2e6, 10e6, 45e6, 100e6])
def test_trains_give_the_rate_whether_the_queue_holds_them_or_not(rate_bps: float) -> None:
    for limit in (80, 20):
        found = trains(rate_bps, limit).rate_bps()
        assert found is not None
        assert found.value == pytest.approx(rate_bps, rel=1e-6)
        assert rate_bps == pytest.approx(found.low, rel=1e-6) == pytest.approx(found.high, rel=1e-6)


@pytest.mark.parametrize("burst", [2, 3, 6])
def test_what_a_token_bucket_lets_through_at_once_is_not_the_rate(burst: int) -> None:
    found = trains(10e6, 80, burst=burst).rate_bps()
    assert found is not None
    assert found.value == pytest.approx(10e6, rel=1e-6)


def test_late_receivers_widen_the_interval_and_the_median_holds() -> None:
    found = trains(10e6, 80, noise_s=50e-6).rate_bps()
    assert found is not None
    assert found.low < found.value < found.high
    assert found.value == pytest.approx(10e6, rel=0.01)


def test_too_few_trains_or_packets_say_nothing() -> None:
    assert trains(10e6, 80, count=9).rate_bps() is None
    # A queue of one lets only one of each train pass.
    assert trains(10e6, 1).rate_bps() is None
    assert PacketTrains([np.zeros(24)] * 20, 24, SIZE).rate_bps() is None


@pytest.mark.parametrize("limit", [5, 20, 80, 100])
def test_the_queue_comes_out_by_delays_and_by_what_lost_packets_found(limit: int) -> None:
    found = flood(10e6, limit)
    rate = Estimate(10e6, 10e6, 10e6)
    assert found.offered_bps == pytest.approx(14.142e6)
    assert lasting(found) == pytest.approx(10e6, rel=1e-3)
    assert round(found.queue_by_delay(rate).value) == limit
    assert set(found.places_at_losses(10e6).tolist()) == {limit}
    assert found.queue_by_losses(10e6) == (limit, limit, limit)


def test_a_sender_that_stops_for_a_while_does_not_slow_the_path() -> None:
    sent = flood(10e6, 20).sent_s
    # Twice it is not running, for longer than the queue lasts.
    sent = sent + 0.05 * (np.arange(sent.size) > 600) + 0.05 * (np.arange(sent.size) > 1100)
    found = Overload(sent, bottleneck(sent, 10e6, 20), SIZE)
    assert lasting(found) == pytest.approx(10e6, rel=1e-3)
    assert found.queue_by_losses(10e6) == (20, 20, 20)


def test_without_losses_the_queue_is_known_from_below_only() -> None:
    found = flood(10e6, 1000, packets=300)
    assert not found.lost.any()
    assert found.sustained_bps() is None
    assert found.queue_by_losses(10e6) is None
    assert found.queue_by_delay(Estimate(10e6, 10e6, 10e6)).value == pytest.approx(88.8, abs=1.5)


def test_what_arrives_in_another_order_or_not_at_all_finds_its_place() -> None:
    found = overload(
        np.array([0, 1, 2, 3]), np.array([0.0, 1.0, 2.0, 3.0]), np.array([3, 0]), np.array([0.5, 0.2]), SIZE
    )
    assert found.lost.tolist() == [False, True, True, False]
    assert found.delay_s[[0, 3]].tolist() == [0.2, 0.5]


def test_sizes_take_the_transmission_times_from_the_round_trip() -> None:
    # 10 Mbit/s there, 100 Mbit/s back, 20 ms; some of the samples waited.
    per_bit = 1 / 10e6 + 1 / 100e6
    waits = np.array([0, 0, 0.003, 0.0001])
    samples = {size: 0.02 + 8 * size * per_bit + waits for size in (92, 1428)}
    found, slope = empty_rtt(samples)
    assert found.value == pytest.approx(0.02, rel=1e-9)
    assert slope == pytest.approx(per_bit)
    assert found.low <= found.value <= found.high
    # Larger packets that are no slower tell nothing.
    assert empty_rtt({92: np.array([0.02]), 1428: np.array([0.019])}) == (Estimate(0.019, 0.019, 0.019), 0.0)


def answer(*, rate_bps: float = 10e6, limit: int = 20, **kwargs: object) -> PathAnswer:
    given = {
        "round_trips_s": {92: np.full(20, 0.0201472), 1428: np.full(20, 0.0222848)},
        "trains": trains(rate_bps, limit),
        "flood": flood(rate_bps, limit),
        "overflowed": 0,
    }
    return judged("far", **{**given, **kwargs})  # type: ignore[arg-type]


def test_a_path_without_doubts_becomes_a_scenario() -> None:
    found = answer()
    assert (found.doubts, found.whole) == ((), True)
    scenario = tl.loads(found.scenario(SIZE))
    link = scenario.link["path"]
    assert (link.rate, link.delay, link.queue) == ("10 Mbit/s", "10 ms", "20 packets")
    assert tl.simulate(scenario.set("duration", "1 s")).flows["goodput_bps"][0] > 1e6


def test_what_disagrees_is_said() -> None:
    shaped = answer(flood=flood(19.5e6, 20, capacity_bps=10e6), trains=trains(19.5e6, 80))
    assert shaped.bandwidth_bps is not None
    assert shaped.bandwidth_bps.value == pytest.approx(10e6, rel=1e-3)
    assert "token bucket" in shaped.doubts_of("bandwidth")[0]
    slow = answer(overflowed=3)
    assert slow.doubts_of("bandwidth") == ["the other end was too slow for 3 datagrams"]
    weak = answer(flood=flood(10e6, 20, over=1.1))
    assert weak.queue_packets is None
    assert weak.doubts_of("queue") == ["this end cannot send faster than the path carries"]
    assert not weak.whole
    with pytest.raises(ValueError, match="makes no scenario"):
        weak.scenario(SIZE)
    long = answer(limit=1000, flood=flood(10e6, 1000, packets=300))
    assert long.doubts_of("queue")[0].startswith("at least this: 0 datagrams were lost")
    nobody = answer(round_trips_s={})
    assert (nobody.rtt_s, nobody.doubts_of("rtt")) == (None, ["no answer"])


def test_what_an_overload_gets_through_a_path_whose_delay_varies_is_the_least_that_it_carries() -> None:
    generator = np.random.default_rng(3)
    apart = [np.sort(train + generator.uniform(0, 0.03, train.size)) for train in trains(20e6, 200).arrivals_s]
    found = PacketTrains(apart, 24, SIZE).rate_bps()
    assert found is not None
    assert found.high < 12e6
    sent = flood(found.value, 200, over=1.5, capacity_bps=20e6)
    varied = Overload(sent.sent_s, sent.delay_s + generator.uniform(0, 0.03, sent.sent_s.size), SIZE)
    known = answer(trains=PacketTrains(apart, 24, SIZE), flood=varied)
    assert known.bandwidth_bps is not None
    assert known.bandwidth_bps.value == known.bandwidth_bps.low == pytest.approx(1.5 * found.value, rel=0.03)
    assert known.bandwidth_bps.high == math.inf
    assert known.doubts_of("bandwidth")[-1].startswith("at least this, which an overload got through; trains say ")
    assert not known.whole


def test_transmission_times_and_other_traffic_in_a_round_trip_are_told_apart() -> None:
    alike = {92: np.full(20, 0.0402), 1428: np.full(20, 0.0402)}
    # 74 us of 40 ms do not matter, and of 1 ms they do.
    assert answer(round_trips_s=alike).doubts_of("rtt") == []
    short = answer(round_trips_s={92: np.full(20, 1e-3), 1428: np.full(20, 1e-3)})
    assert "larger ones took no longer" in short.doubts_of("rtt")[0]
    full = flood(10e6, 40)
    late = full.delay_s + 0.02 * (np.arange(full.sent_s.size) % 100 < 10)
    beside = answer(round_trips_s=alike, flood=Overload(full.sent_s, late, SIZE), limit=40)
    assert "there is other traffic" in beside.doubts_of("queue")[0]
    assert beside.doubts_of("rtt") == ["at most this: if there is other traffic, round trips wait in its queue"]


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3])
def test_a_wire_that_loses_packets_makes_the_rate_no_smaller(share: float) -> None:
    lost = np.random.default_rng(7)
    arrivals = []
    for start in range(25):
        sent = np.full(24, float(start))
        arrivals.append(np.where(lost.random(24) < share, math.nan, sent + bottleneck(sent, 10e6, 100)))
    full = flood(10e6, 100, over=1.5)
    wire = Overload(full.sent_s, np.where(lost.random(full.sent_s.size) < share, math.nan, full.delay_s), SIZE)
    found = answer(trains=PacketTrains(arrivals, 24, SIZE), flood=wire, limit=100)
    assert found.bandwidth_bps is not None
    assert found.queue_packets is not None
    assert found.bandwidth_bps.low <= found.bandwidth_bps.high == pytest.approx(10e6, rel=1e-3)
    assert found.bandwidth_bps.value == pytest.approx(10e6, rel=1e-3)
    assert found.queue_packets.value == pytest.approx(100, abs=1)
    assert found.doubts_of("bandwidth") == []
    assert "are lost where no queue is full, on a wire or as there is other traffic" in found.doubts_of("queue")[0]


@pytest.mark.parametrize("burst", [7, 8, 12])
def test_a_token_bucket_of_more_than_a_quarter_of_a_train_does_not_make_the_path_faster(burst: int) -> None:
    shaped = trains(10e6, 80, burst=burst)
    rough = shaped.rate_bps()
    assert rough is not None
    found = answer(trains=shaped, flood=flood(10e6, 80, over=1.5 * rough.value / 10e6))
    assert found.bandwidth_bps is not None
    assert found.bandwidth_bps.value == pytest.approx(10e6, rel=1e-3)
    assert found.bandwidth_bps.low <= 10e6 * (1 + 1e-6)


def test_of_a_policer_the_lasting_rate_is_that_of_all_that_passes() -> None:
    # A bucket of twenty packets, no queue: of what follows, one passes whenever there is a token.
    line, rate = 200e6, 10e6

    def policed(sent_s: NDArray[np.float64]) -> NDArray[np.float64]:
        tokens, before, delays = 20.0, sent_s[0], []
        for at in sent_s:
            tokens, before = min(20.0, tokens + (at - before) * rate / (8 * SIZE)), at
            delays.append(APART if tokens >= 1 else math.nan)
            tokens -= tokens >= 1
        return np.array(delays)

    at_once = np.arange(24) * 8 * SIZE / line
    sent = np.arange(1500) * 8 * SIZE / (1.5 * line)
    arrivals = [start + at_once + policed(at_once) for start in range(25)]
    for over in (sent, np.arange(1500) * 8 * SIZE / (1.5 * rate)):
        found = answer(trains=PacketTrains(arrivals, 24, SIZE), flood=Overload(over, policed(over), SIZE))
        if over is sent:
            assert found.bandwidth_bps is not None
            assert found.bandwidth_bps.low <= rate * 1.05
            assert found.bandwidth_bps.value == pytest.approx(rate, rel=0.1)
        else:
            assert lasting(Overload(over, policed(over), SIZE)) == pytest.approx(rate, rel=0.05)


@pytest.mark.parametrize("limit", [2, 3, 6, 10])
def test_a_queue_that_holds_a_few_packets_of_a_train_is_measured_by_an_overload(limit: int) -> None:
    short = trains(10e6, limit)
    assert short.short
    found = answer(trains=short, flood=flood(10e6, limit))
    assert found.doubts == ()
    assert found.bandwidth_bps is not None
    assert found.bandwidth_bps.value == pytest.approx(10e6, rel=1e-3)
    assert found.queue_packets == Estimate(limit, limit, limit)
    # A rate that a few packets say and nothing checks is none.
    assert answer(trains=short, flood=None).bandwidth_bps is None
    assert answer(trains=short, flood=flood(10e6, 1000, packets=300)).bandwidth_bps is None


def test_packets_that_overtake_each_other_are_named_and_do_not_slow_the_path() -> None:
    chance = np.random.default_rng(2)
    late = [np.where(chance.random(24) < 0.1, 5e-3, 0) for _ in range(25)]
    overtaken = PacketTrains(
        [each + add for each, add in zip(trains(10e6, 40).arrivals_s, late, strict=True)], 24, SIZE
    )
    full = flood(10e6, 40, over=1.5)
    delays = full.delay_s + np.where(chance.random(full.sent_s.size) < 0.05, 5e-3, 0)
    found = answer(trains=overtaken, flood=Overload(full.sent_s, delays, SIZE), limit=40)
    assert found.bandwidth_bps is not None
    assert found.bandwidth_bps.value == pytest.approx(10e6, rel=1e-3)
    assert found.doubts_of("queue") == ["by delays it would be 44.4: packets overtake each other (5 %)"]
    assert found.doubts_of("rtt") == []


def test_a_sender_that_overflows_the_queue_in_bursts_is_no_slow_one() -> None:
    sent = np.repeat(np.arange(15) * 0.2, 100)
    found = answer(flood=Overload(sent, bottleneck(sent, 10e6, 20), SIZE))
    assert found.doubts_of("queue") == ["this end sent in bursts and not as fast as planned: a machine is busy"]


def test_a_queue_that_drops_before_it_is_full_is_doubted() -> None:
    full = flood(10e6, 40)
    # Lost on their way to the queue: they find it at every length.
    sent = np.delete(np.arange(full.sent_s.size), slice(100, 400, 3))
    delays = np.full(full.sent_s.size, math.nan)
    delays[sent] = bottleneck(full.sent_s[sent], 10e6, 40)
    found = answer(flood=Overload(full.sent_s, delays, SIZE), limit=40)
    assert "lost packets found" in found.doubts_of("queue")[0]
    # What they found lies in the interval.
    assert found.queue_packets is not None
    assert found.queue_packets.low <= float(
        np.percentile(Overload(full.sent_s, delays, SIZE).places_at_losses(10e6), 10)
    )
    assert found.queue_packets.low < found.queue_packets.value <= found.queue_packets.high


def test_a_late_machine_moves_delays_and_not_what_lost_packets_found() -> None:
    full = flood(10e6, 40)
    late = full.delay_s.copy()
    there = np.flatnonzero(~full.lost)
    late[there[500:540]] += 0.02
    found = answer(flood=Overload(full.sent_s, late, SIZE), limit=40)
    assert found.queue_packets == Estimate(40, 40, 40)
    assert found.doubts_of("queue")[0].startswith("by delays it would be 5")


def test_without_a_listener_little_is_known_and_json_says_so() -> None:
    found = of_others("far", round_trips_s={92: np.full(5, 0.02)}, carried_bps=9e6, doubts=[])
    told = json.loads(json.dumps(found.as_json()))
    assert told["bandwidth_bps"] == {"value": 9e6, "low": 9e6, "high": None}
    assert told["queue_packets"] is None
    assert {doubt["of"] for doubt in told["doubts"]} == {"bandwidth", "queue", "rtt"}


def test_an_overload_of_which_nothing_arrives_after_the_first_loss() -> None:
    sent = np.arange(20, dtype=np.float64) * 1e-3
    delays: NDArray[np.float64] = np.where(np.arange(20) < 8, 0.01 + 1e-3 * np.arange(20), math.nan)
    found = Overload(sent, delays, SIZE).queue_by_delay(Estimate(10e6, 10e6, 10e6))
    assert 1 < found.low <= found.value <= found.high


def test_a_queue_that_is_full_for_a_moment_lies_in_its_interval() -> None:
    sent = np.arange(1000, dtype=np.float64) * 1e-4
    delays: NDArray[np.float64] = np.where(np.isin(np.arange(1000), [995, 998]), math.nan, 0.01 + 0.1 * sent)
    found = Overload(sent, delays, SIZE).queue_by_delay(Estimate(1e9, 1e9, 1e9))
    assert found.low <= found.value <= found.high
