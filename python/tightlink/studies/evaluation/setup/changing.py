"""One flow over paths that change: half of a link goes, rates in steps, outages, phones, Wi-Fi, satellites, a blackout.

Of links that change all say the same of the flow: its throughput, what its packets wait for at the link, and the share
that it uses of what the link could have sent. A packet waits through an outage, too.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import polars as pl

from tightlink.run import Run
from tightlink.scenario import Cbr, Link, Scenario, Udp
from tightlink.studies.evaluation.setup.pack import Made, tests
from tightlink.studies.evaluation.setup.path import BOTTLENECK, PACKET_BITS, RECEIVER, SENDER, Path
from tightlink.studies.evaluation.setup.samples import each_second, loss_of, mean_after, refill_s, series

#: Link filled again: mean over a second.
FULL: Final = 0.95
_OVER_S: Final = 1.0


def _curve(_: Any, run: Run) -> pl.DataFrame:
    return each_second(series(run, "throughput_bps", ["flow"]), "throughput_bps").drop("entity")


def _dropped(run: Run, begin_s: float, end_s: float, closed: Any = "both") -> float:
    """Packets that the link lost in some time."""
    lost = series(run, "packets_dropped", [BOTTLENECK]).filter(pl.col("time_s").is_between(begin_s, end_s, closed))
    return float(lost["packets_dropped"].sum())


# Sudden changes of the bandwidth that is left: traffic that does not answer takes half of the link, and goes.

FAST: Final = Path(rate_mbit=100, rtt_ms=50)
COMES_S: Final = 40
GOES_S: Final = 70
ENDS_S: Final = 110
#: Share of the link that is taken.
TAKEN: Final = 0.5
#: While the flow makes room.
AT_FIRST_S: Final = 2


def _halved(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    taken = Cbr(
        from_=SENDER, to=RECEIVER, rate=f"{TAKEN * FAST.rate_mbit:g} Mbit/s", udp=Udp(datagram=f"{PACKET_BITS // 8} B"),
        start=f"{COMES_S} s", stop=f"{GOES_S} s",
    )  # fmt: skip
    return [path.scenario({"flow": path.bulk(congestion), "taken": taken}, duration_s=ENDS_S, seed=seed)]


def _of_half(_: Path, run: Run) -> dict[str, float | None]:
    through, lost = FAST.rate_bps / PACKET_BITS * AT_FIRST_S, _dropped(run, COMES_S, COMES_S + AT_FIRST_S)
    left = mean_after(run, "throughput_bps", "flow", COMES_S + AT_FIRST_S, GOES_S)
    return {
        "loss_at_first": lost / (through + lost),
        "kept_of_half": left / (FAST.rate_bps * (1 - TAKEN)),
        "refill_s": refill_s(run, "utilization", BOTTLENECK, FULL, since_s=GOES_S, over_s=_OVER_S),
    }


# Links that change.

PATH: Final = Path(rate_mbit=20, rtt_ms=40)
DURATION_S: Final = 60
#: Links of hundreds of megabits send as much in less time.
_FAST_S: Final = 30
#: The link has a quarter of its rate every other 20 s.
STEPS: Final = ((0, 20.0), (20, 5.0))
STEPS_LABEL: Final = " and ".join(f"{rate:g}" for _, rate in STEPS) + " Mbit/s"
STEP_S: Final = 20
STEPS_S: Final = 80
#: The link is down from here to there.
OUTAGE_S: Final = (30, 32)
_DOWN_S: Final = OUTAGE_S[1] - OUTAGE_S[0]
JITTER: Final = {"kind": "uniform", "most": "10 ms"}
#: 0.5 % of the packets, in bursts of five.
TO_BAD: Final = 0.001
TO_GOOD: Final = 0.2
#: A tenth of the ready network's rate, with deeper fades.
_FADING: Final = {
    "kind": "ornstein-uhlenbeck", "mean": "2 Mbit/s", "deviation": "1.5 Mbit/s", "memory": "2 s", "every": "20 ms",
    "least": "0.1 Mbit/s",
}  # fmt: skip
_SCHEDULE: Final = [{"at": f"{at:g} s", "rate": f"{rate:g} Mbit/s"} for at, rate in STEPS]
#: Keys of the link in each setting of each test.
_LINKS: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "rate-steps": {STEPS_LABEL: {"rate": {"schedule": _SCHEDULE, "period": f"{2 * STEP_S} s"}}},
    "outages": {f"{_DOWN_S} s": {"outages": {"schedule": [{"at": f"{OUTAGE_S[0]} s", "for": f"{_DOWN_S} s"}]}}},
    "cellular": {"lte": {"network": "lte"}, "bad coverage": {"network": "lte", "rate": _FADING}},
    "wifi": {"wifi": {"network": "wifi"}},
    "jitter": {f"up to {JITTER['most']}": {"jitter": JITTER}},
    "loss-bursts": {
        "0.5 % in bursts of 5": {"loss": {"kind": "gilbert-elliott", "to_bad": TO_BAD, "to_good": TO_GOOD}}
    },
    "satellites": {
        "leo": {"network": "leo"},
        "leo without losses": {"network": "leo", "loss": 0.0},
        "geo": {"network": "geo"},
    },
}


def _over(duration_s: float, congestion: Any, link: Mapping[str, Any], seed: int) -> list[Scenario]:
    made = Link(ends=(SENDER, RECEIVER), **link) if "network" in link else PATH.link(**link)
    traffic = {"flow": PATH.bulk(congestion)}
    return [PATH.scenario(traffic, duration_s=duration_s, seed=seed, links={BOTTLENECK: made})]


def _measure(_: Mapping[str, Any], run: Run) -> dict[str, float | None]:
    link = run.links.row(by_predicate=pl.col("link") == BOTTLENECK, named=True)
    return {
        "throughput_bps": run.flows["throughput_bps"][0],
        "queueing_p95_s": link["queueing_delay_p95_s"],
        "utilization": link["utilization"],
        "loss": loss_of(run, "flow"),
    }


def _after_outage(link: Mapping[str, Any], run: Run) -> dict[str, float | None]:
    return _measure(link, run) | {
        "refill_s": refill_s(run, "throughput_bps", "flow", FULL * PATH.rate_bps, since_s=OUTAGE_S[1], over_s=_OVER_S)
    }


def _changing(name: str, duration_s: float, measure: Callable[..., Any] = _measure, curve: Any = None) -> Made:
    return Made(lambda: _LINKS[name], partial(_over, duration_s), measure, curve)


# A network that loses everything.

#: All packets are lost from here to there.
BLACKOUT_S: Final = (20, 40)
#: By then all packets are gone that were under way, and the timer of RFC 6298 has expired.
_BEGINNING_S: Final = 1


def _blackout(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    begin, end = BLACKOUT_S
    link = path.link(loss={"from": f"{begin} s", "to": f"{end} s"}, reverse={"queue": "unlimited", "loss": 0.0})
    traffic = {"flow": path.bulk(congestion)}
    return [path.scenario(traffic, duration_s=45, seed=seed, links={BOTTLENECK: link})]


def _sent(_: Path, run: Run) -> dict[str, float | None]:
    return {"sent_into_blackout": _dropped(run, BLACKOUT_S[0] + _BEGINNING_S, BLACKOUT_S[1], "right")}


TESTS: Final = tests(
    {
        "changes": Made(lambda: {FAST.label: FAST}, _halved, _of_half, _curve),
        "rate-steps": _changing("rate-steps", STEPS_S, curve=_curve),
        "outages": _changing("outages", DURATION_S, _after_outage),
        "wifi": _changing("wifi", _FAST_S),
        **{name: _changing(name, DURATION_S) for name in ("cellular", "jitter", "loss-bursts", "satellites")},
        "blackout": Made(lambda: {PATH.label: PATH}, _blackout, _sent),
    },
    globals(),
)
