"""Tests of queues under a load or a rate that changes, in both directions, with marks, and where two links have them.

Sections are those of RFC 7928: 4.5 (ECN), 8.2.5 and 8.2.6 (a load and a capacity that change), 9 (mixed traffic and
traffic in both directions), 10 (several queues on a path).
"""

from collections.abc import Mapping
from statistics import fmean
from typing import Any, Final

import polars as pl

from tightlink.run import Run
from tightlink.scenario import Link, Reverse, Udp, Video
from tightlink.studies.evaluation.setup import queued
from tightlink.studies.evaluation.setup.pack import tests
from tightlink.studies.evaluation.setup.path import BOTTLENECK, RECEIVER, SENDER, VOICE, Path
from tightlink.studies.evaluation.setup.queued import completed, goodput, made, of_flows, several, short
from tightlink.studies.evaluation.setup.samples import flows_of, loss_of, refill_s, series, smoothed

#: Flows that are there all the time, and those that come and go.
MILD: Final = 2
HEAVY: Final = 62
COMES_S: Final = 20
GOES_S: Final = 40
_SAMPLES_MS: Final = 100
#: Share of the link at which it counts as full.
FULL: Final = 0.95
#: Over this time a delay or a rate is averaged that is looked at over time.
OVER_S: Final = 1.0
#: Steps of the rate, in Mbit/s, and how long each lasts.
RATES_MBIT: Final = (20, 2)
STEPS_S: Final = {"every 20 s": 20.0, "every 0.1 s": 0.1}
VIDEO_MBIT: Final = 4
_VIDEO: Final = Video(from_=SENDER, to=RECEIVER, rate=f"{VIDEO_MBIT} Mbit/s", udp=Udp(payload="1400 B"))
#: Flows over both links, and over one of them.
PAIR: Final = 2
_SECOND: Final = "second"
_FAR: Final = "far"


def _marked(run: Run) -> dict[str, float | None]:
    link = queued.bottleneck(run)
    return of_flows(run) | {"marked": link["packets_marked"] / link["packets_in"]}


def _peak_s(run: Run, begin_s: float = 0, end_s: float = queued.DURATION_S) -> float | None:
    """The longest queueing delay of the bottleneck, as a mean over `OVER_S` between two times."""
    delay = smoothed(series(run, "queueing_delay_s", [BOTTLENECK]), "queueing_delay_s", OVER_S)
    longest = delay.filter(pl.col("time_s").is_between(begin_s + OVER_S, end_s))["queueing_delay_s"].max()
    return longest if isinstance(longest, float) else None


def _varied(run: Run) -> dict[str, float | None]:
    """The longest delay while many flows are there, and how soon the link is full when they have gone."""
    return {
        "queueing_peak_s": _peak_s(run, COMES_S, GOES_S),
        "refill_s": refill_s(run, "utilization", BOTTLENECK, FULL, since_s=GOES_S, over_s=OVER_S),
    }


def _in_steps(path: Path, step_s: float) -> Mapping[str, Link]:
    schedule = [{"at": f"{at * step_s:g} s", "rate": f"{rate:g} Mbit/s"} for at, rate in enumerate(RATES_MBIT)]
    rate = {"schedule": schedule, "period": f"{len(RATES_MBIT) * step_s:g} s"}
    return {BOTTLENECK: path.link(rate=rate, reverse=Reverse(rate=f"{path.rate_mbit:g} Mbit/s", queue="unlimited"))}


def _of_mix(run: Run) -> dict[str, float | None]:
    call, video = (flows_of(run, name).row(0, named=True) for name in ("voice", "video"))
    return {
        "goodput_bps": goodput(run, "flows"),
        **completed(run),
        "voice_delay_p95_s": call["one_way_delay_p95_s"],
        "voice_loss": loss_of(run, "voice"),
        "frames_complete": video["frames_complete"] / video["frames_sent"],
    }


def _alike(path: Path, _: object) -> Mapping[str, Link]:
    return {BOTTLENECK: path.link(reverse=Reverse())}


def _of_two_ways(run: Run) -> dict[str, float | None]:
    return {"goodput_bps": goodput(run, "flows") + goodput(run, "back"), "loss": loss_of(run, "flows")}


def _in_a_row(path: Path, _: object) -> Mapping[str, Link]:
    delay = f"{path.rtt_ms / 4:g} ms"
    return {BOTTLENECK: path.link(delay=delay), _SECOND: path.link(delay=delay, ends=(RECEIVER, _FAR))}


def _crossing(_: object) -> dict[str, Any]:
    ends = {"through": (SENDER, _FAR), "near": (SENDER, RECEIVER), "far": (RECEIVER, _FAR)}
    return {name: several(PAIR, **{"from": first, "to": last}) for name, (first, last) in ends.items()}


def _of_row(run: Run) -> dict[str, float | None]:
    beside = (goodput(run, "near") + goodput(run, "far")) / 2
    return {
        "through_over_one": goodput(run, "through") / beside,
        "queueing_through_p95_s": fmean(flows_of(run, "through")["queueing_delay_p95_s"]),
    }


TESTS: Final = tests(
    {
        "ecn": made(lambda _: {"flows": several()}, _marked, ecn=True),
        "varying-load": made(
            lambda _: {
                "flows": several(MILD),
                "others": several(HEAVY, start={"first": f"{COMES_S} s", "every": "0.01 s"}, stop=f"{GOES_S} s"),
            },
            _varied,
            interval_ms=_SAMPLES_MS,
        ),
        "varying-capacity": made(
            lambda _: {"flows": several()},
            lambda run: of_flows(run) | {"queueing_peak_s": _peak_s(run)},
            STEPS_S,
            links=_in_steps,
            interval_ms=_SAMPLES_MS,
        ),
        "traffic-mix": made(
            lambda _: {"flows": several(MILD), "short": short(), "video": _VIDEO, "voice": VOICE}, _of_mix
        ),
        "two-way": made(
            lambda _: {"flows": several(), "back": several(queued.FLOWS, **{"from": RECEIVER, "to": SENDER})},
            _of_two_ways,
            links=_alike,
        ),
        "two-bottlenecks": made(_crossing, _of_row, links=_in_a_row),
    },
    vars(queued) | globals(),
)
