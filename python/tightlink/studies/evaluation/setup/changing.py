"""One flow over links that change: rates in steps, outages, phones, Wi-Fi, jitter, bursts of losses, satellites.

All say the same of it: its throughput, what its packets wait for at the link, and the share that it uses of what the
link could have sent. A packet waits through an outage, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import polars as pl

from tightlink.run import Run
from tightlink.scenario import Link, Scenario
from tightlink.studies.evaluation.setup.pack import Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, RECEIVER, SENDER, Path
from tightlink.studies.evaluation.setup.samples import each_second, first_above, loss_of, series, smoothed

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
#: Link filled again: mean over a second.
_FULL: Final = 0.95
_OVER_S: Final = 1.0
JITTER: Final = {"kind": "uniform", "most": "10 ms"}
#: 0.5 % of the packets, in bursts of five.
TO_BAD: Final = 0.001
TO_GOOD: Final = 0.2
#: A tenth of the ready network's rate, with deeper fades.
_FADING: Final = {
    "kind": "ornstein-uhlenbeck", "mean": "2 Mbit/s", "deviation": "1.5 Mbit/s", "memory": "2 s", "every": "20 ms",
    "least": "0.1 Mbit/s",
}  # fmt: skip
LTE: Final = "lte"
BAD_COVERAGE: Final = "bad coverage"


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
    rates = smoothed(series(run, "throughput_bps", ["flow"]), "throughput_bps", _OVER_S)
    after = rates.filter(pl.col("time_s") >= OUTAGE_S[1] + _OVER_S).select("time_s", "throughput_bps").rows()
    filled = first_above(after, _FULL * PATH.rate_bps)
    return {**_measure(link, run), "refill_s": None if filled is None else filled - OUTAGE_S[1]}


def _curve(_: Mapping[str, Any], run: Run) -> pl.DataFrame:
    return each_second(series(run, "throughput_bps", ["flow"]), "throughput_bps").drop("entity")


def _schedule(steps: Mapping[float, float], **more: str) -> dict[str, Any]:
    return {
        "rate": {"schedule": [{"at": f"{at:g} s", "rate": f"{rate:g} Mbit/s"} for at, rate in steps.items()]} | more
    }


def _test(  # noqa: PLR0913
    name: str,
    title: str,
    about: str,
    links: Mapping[str, Mapping[str, Any]],
    headlines: list[Headline],
    *,
    duration_s: float = DURATION_S,
    measure: Callable[..., dict[str, float | None]] = _measure,
    **more: Any,
) -> Test:
    """A test over some links, by what tables call them."""
    scenarios = partial(_over, duration_s)
    return Test(name, title, about, lambda: links, scenarios, measure, headlines, plane=True, **more)


_OUTAGE_LENGTH_S: Final = OUTAGE_S[1] - OUTAGE_S[0]
_OUTAGE: Final = {"at": f"{OUTAGE_S[0]} s", "for": f"{_OUTAGE_LENGTH_S} s"}
TESTS: Final = (
    _test(
        "rate-steps",
        "A rate in steps",
        f"One flow over {PATH.label}, of which the rate is a quarter every other {STEP_S} s, for {STEPS_S} s; the "
        "queue stays, four times as long in time: throughput, queueing delay, loss, and what of the link is used "
        "(RFC 9743 §7.9).",
        {STEPS_LABEL: _schedule(dict(STEPS), period=f"{2 * STEP_S} s")},
        [Headline("utilization, rate in steps", "utilization"),
         Headline("p95 queueing delay, rate in steps", "queueing_p95_s")],
        duration_s=STEPS_S,
        curve=_curve,
        random=False,
    ),
    _test(
        "outages",
        "An outage",
        f"One flow over {PATH.label}, which is down for {_OUTAGE_LENGTH_S} s, both ways, and keeps its queue: the "
        f"same, and how long until the flow has {100 * _FULL:.0f} % of the link again, over a second (RFC 9743 §7.8).",
        {f"{_OUTAGE_LENGTH_S} s": {"outages": {"schedule": [_OUTAGE]}}},
        [Headline(f"time to fill the link after an outage of {_OUTAGE_LENGTH_S} s", "refill_s",
                  never=f"> {DURATION_S - OUTAGE_S[1]} s")],
        measure=_after_outage,
        random=False,
    ),
    _test(
        "cellular",
        "Phones",
        "One flow down to a phone, over the ready network `lte`, and with bad coverage: a tenth of its rate, with "
        'fades to a hundredth (RFC 8869, "Varying Network Load" and "Bad Radio Coverage", with the load and the fades '
        "as a random rate).",
        {LTE: {"network": "lte"}, BAD_COVERAGE: {"network": "lte", "rate": _FADING}},
        [Headline("utilization, LTE", "utilization", LTE),
         Headline("p95 queueing delay, LTE", "queueing_p95_s", LTE),
         Headline("p95 queueing delay, bad coverage", "queueing_p95_s", BAD_COVERAGE)],
    ),
    _test(
        "wifi",
        "Wi-Fi",
        'One flow down the ready network `wifi`, which is the bottleneck (RFC 8869, "Bottleneck in Wi-Fi Network", '
        "with other stations as the wait before a burst).",
        {"wifi": {"network": "wifi"}},
        [Headline("throughput, Wi-Fi", "throughput_bps"), Headline("p95 queueing delay, Wi-Fi", "queueing_p95_s")],
        duration_s=_FAST_S,
    ),
    _test(
        "jitter",
        "Jitter",
        f"One flow over {PATH.label}, of which each packet comes up to {JITTER['most']} later, in order "
        '(RFC 9743 §6.4; RFC 8869, "Bottleneck in Wired Network", with the Wi-Fi behind it as jitter).',
        {f"up to {JITTER['most']}": {"jitter": JITTER}},
        [Headline("utilization, jitter", "utilization")],
    ),
    _test(
        "loss-bursts",
        "Bursts of losses",
        f"One flow over {PATH.label}, which loses 0.5 % of the packets on the wire in bursts of five in the mean "
        "(Gilbert 1960, Elliott 1963), for reasons of its own (RFC 9743 §6.4).",
        {"0.5 % in bursts of 5": {"loss": {"kind": "gilbert-elliott", "to_bad": TO_BAD, "to_good": TO_GOOD}}},
        [Headline("utilization, 0.5 % lost in bursts", "utilization")],
    ),
    _test(
        "satellites",
        "Satellites",
        "One flow down the ready networks `leo`, with a new path each 15 s and losses in bursts, and `geo`, with a "
        "round trip of more than half a second (RFC 9743 §7.3 and §7.5).",
        {"leo": {"network": "leo"}, "geo": {"network": "geo"}},
        [Headline("utilization, low orbit", "utilization", "leo"),
         Headline("utilization, geostationary", "utilization", "geo")],
    ),
)  # fmt: skip
