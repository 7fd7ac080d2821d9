"""Flows that share a bottleneck: with their own kind, beside standard TCP, short ones and a call, in each queue."""

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any, Final

import polars as pl

from tightlink.errors import ScenarioError
from tightlink.lazy import _core
from tightlink.reduce import jain, mean_of
from tightlink.run import Run
from tightlink.scenario import Link, Scenario
from tightlink.scenario.congestion import control_name, reads_marks
from tightlink.studies.evaluation.setup.pack import Made, tests
from tightlink.studies.evaluation.setup.path import BOTTLENECK, VOICE, Path, two_round_trips
from tightlink.studies.evaluation.setup.samples import (
    completions,
    each_second,
    evenness,
    first_that_stays,
    flows_of,
    loss_of,
    mean_after,
    series,
)

#: On the first standard TCP does well; the second is too fast and too long for it.
SLOW: Final = Path(rate_mbit=20, rtt_ms=40)
FAST: Final = Path(rate_mbit=200, rtt_ms=80)
PATHS: Final = (SLOW, FAST)
#: Who was there first.
STANDARD: Final = ("reno", "cubic")
SHARED_S: Final = 120
#: From here on shares count.
SETTLED_S: Final = 40
#: Flows that share a bottleneck; beside standard TCP, half of them.
FLOWS: Final = 4
#: How far apart flows start that are to converge.
APART_S: Final = 30
CONVERGENCE_S: Final = 150
#: Goodput is averaged over this, some epochs of standard TCP, so that a sawtooth does not count as unfair.
OVER_S: Final = 20
#: Shares that stay even for so long count as converged.
STAY_S: Final = 30
#: Shares within 10 % of the equal share, in root mean square: J = 1 / (1 + 0.1²).
EVEN: Final = 1 / 1.01
#: Round trips, in ms, of the two flows with unequal paths.
ROUND_TRIPS_MS: Final = (20, 80)


def _paths() -> dict[str, Path]:
    return {path.label: path for path in PATHS}


def _goodputs(run: Run, labels: Sequence[str]) -> list[float]:
    return [mean_after(run, "goodput_bps", label, SETTLED_S) for label in labels]


def _labels(name: str, flows: int) -> list[str]:
    return [f"{name}[{place}]" for place in range(flows)]


def _converging(congestion: Any, flows: int, seed: int) -> list[Scenario]:
    traffic = {"flows": SLOW.bulk(congestion, flows=flows, start={"every": f"{APART_S} s"}), **SLOW.background()}
    return [SLOW.scenario(traffic, duration_s=CONVERGENCE_S + APART_S * (flows - 1), seed=seed)]


def _convergence(flows: int, run: Run) -> dict[str, float | None]:
    begin = APART_S * (flows - 1)
    rows = evenness(run, _labels("flows", flows), begin, OVER_S)
    even = first_that_stays(rows, lambda index: index >= EVEN, STAY_S)
    return {
        "convergence_s": None if even is None else even - begin,
        "time_even": sum(index >= EVEN for _, index in rows) / len(rows),
    }


def _shares(flows: int, run: Run) -> pl.DataFrame:
    return each_second(series(run, "goodput_bps", _labels("flows", flows)), "goodput_bps")


def _own_kind(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    traffic = {"flows": path.bulk(congestion, flows=FLOWS, start={"every": "0.1 s"}), **path.background()}
    return [path.scenario(traffic, duration_s=SHARED_S, interval_ms=1000, seed=seed)]


def _fairness(_: Path, run: Run) -> dict[str, float | None]:
    return {
        "jain": jain(_goodputs(run, _labels("flows", FLOWS))),
        "utilization": mean_after(run, "utilization", BOTTLENECK, SETTLED_S),
        "loss": loss_of(run, "flows"),
    }


def _beside(standard: str, congestion: Any, path: Path, seed: int) -> list[Scenario]:
    # Neither kind is there first: own, standard, standard, own.
    traffic = {
        "own": path.bulk(congestion, flows=FLOWS // 2, start=["0 s", "0.3 s"]),
        "standard": path.bulk(standard, flows=FLOWS // 2, start=["0.1 s", "0.2 s"]),
        **path.background(),
    }
    shared = path.scenario(traffic, duration_s=SHARED_S, interval_ms=1000, seed=seed)
    return [shared, *_own_kind(standard, path, seed)]


def _kept(_: Path, run: Run, alone: Run) -> dict[str, float | None]:
    standard, own = (_goodputs(run, _labels(name, FLOWS // 2)) for name in ("standard", "own"))
    among_its_own = fmean(_goodputs(alone, _labels("flows", FLOWS)))
    return {
        "standard_kept": fmean(standard) / among_its_own,
        "standard_least_kept": min(standard) / among_its_own,
        "own_goodput_bps": fmean(own),
        "standard_goodput_bps": fmean(standard),
    }


def _two_paths(congestion: Any, round_trips_ms: Sequence[int], seed: int) -> list[Scenario]:
    names = {f"rtt_{rtt}_ms": rtt for rtt in round_trips_ms}
    traffic: dict[str, Any] = SLOW.background() | {name: SLOW.bulk(congestion, **{"from": name}) for name in names}
    links: dict[str, Link] = two_round_trips(SLOW, names, f"{SLOW.rate_mbit * 10:g} Mbit/s")
    return [SLOW.scenario(traffic, duration_s=SHARED_S, interval_ms=1000, seed=seed, links=links)]


def _long_over_short(round_trips_ms: Sequence[int], run: Run) -> dict[str, float | None]:
    short, long = _goodputs(run, [f"rtt_{rtt}_ms" for rtt in round_trips_ms])
    return {"long_over_short": long / short if short > 0 else None}


# Queueing delay and loss, under every queue discipline of the engine with its defaults.

QUEUED: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=2)
QUEUED_S: Final = 60
_QUEUED_SETTLED_S: Final = 20
DROP_TAIL: Final = "drop-tail"
#: Long enough for a queue to change, so that its samples are the queue's distribution.
_INTERVAL_MS: Final = 20


def kinds() -> dict[str, str]:
    """The queue disciplines of the engine that are complete with a limit: those that need more have no defaults."""
    return {name: name for name, _ in _core.queues() if _complete(name)}


def _complete(kind: str) -> bool:
    try:
        QUEUED.beside(kind).link()
    except ScenarioError:
        return False
    return True


def _several(congestion: Any, kind: str, seed: int) -> list[Scenario]:
    reads = reads_marks(control_name(congestion))
    path = QUEUED.beside(kind, marks=reads and hasattr(QUEUED.beside(kind).link().queue, "ecn"))
    traffic = {"flows": path.bulk(congestion, flows=FLOWS, start={"every": "0.1 s"}), **path.background()}
    return [path.scenario(traffic, duration_s=QUEUED_S, interval_ms=_INTERVAL_MS, seed=seed)]


def _queueing(_: str, run: Run) -> dict[str, float | None]:
    queue = series(run, "queue_packets", [BOTTLENECK])
    waiting = queue.filter(queue["time_s"] > _QUEUED_SETTLED_S)["queue_packets"] * QUEUED.packet_s
    throughputs, goodputs = (
        [mean_after(run, metric, label, _QUEUED_SETTLED_S) for label in _labels("flows", FLOWS)]
        for metric in ("throughput_bps", "goodput_bps")
    )
    return {
        "queueing_mean_s": mean_of(waiting) if waiting.len() else None,
        "queueing_p95_s": waiting.quantile(0.95),
        "throughput_bps": sum(throughputs),
        "loss": loss_of(run, "flows"),
        "utilization": mean_after(run, "utilization", BOTTLENECK, _QUEUED_SETTLED_S),
        "jain": jain(goodputs),
    }


# Short flows, of standard TCP or of its own kind, and a call, beside a long flow of the control.

SHORT: Final = 80
SHORT_BYTES: Final = 100_000
#: A long queue, as many homes have: 200 ms.
LONG_QUEUE: Final = Path(rate_mbit=20, rtt_ms=40, buffer_bdp=5)
CALL_S: Final = 60


def _short_beside(kind: str | None, congestion: Any, path: Path, seed: int) -> list[Scenario]:
    start = {"first": "20 s", "every": "1 s"}
    short = {"short": path.bulk(kind or congestion, flows=SHORT, bytes=f"{SHORT_BYTES} B", start=start)}
    return [
        path.scenario({**traffic, **path.background()}, duration_s=SHARED_S, interval_ms=1000, seed=seed)
        for traffic in ({"long": path.bulk(congestion), **short}, short)
    ]


def _took(_: Path, run: Run, alone: Run) -> dict[str, float | None]:
    beside, without = (completions(each, SHORT, SHORT_BYTES) for each in (run, alone))
    median, alone_s = beside["completion_median_s"], without["completion_median_s"]
    ratio = None if median is None or alone_s is None else median / alone_s
    return {**beside, "completion_alone_s": alone_s, "completion_over_alone": ratio}


def _call(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    traffic = {"flow": path.bulk(congestion), "call": VOICE, **path.background()}
    return [path.scenario(traffic, duration_s=CALL_S, interval_ms=1000, seed=seed)]


def _heard(_: Path, run: Run) -> dict[str, float | None]:
    return {"voice_delay_p95_s": flows_of(run, "call")["one_way_delay_p95_s"][0], "voice_loss": loss_of(run, "call")}


TESTS: Final = tests(
    {
        "convergence": Made(
            lambda: {f"{flows} flows": flows for flows in (2, FLOWS)}, _converging, _convergence, _shares
        ),
        "own-kind": Made(_paths, _own_kind, _fairness),
        **{f"beside-{standard}": Made(_paths, partial(_beside, standard), _kept) for standard in STANDARD},
        "round-trips": Made(
            lambda: {" and ".join(f"{rtt} ms" for rtt in ROUND_TRIPS_MS): ROUND_TRIPS_MS}, _two_paths, _long_over_short
        ),
        "queues": Made(kinds, _several, _queueing),
        "short-flows": Made(lambda: {SLOW.label: SLOW}, partial(_short_beside, STANDARD[0]), _took),
        "own-short-flows": Made(lambda: {SLOW.label: SLOW}, partial(_short_beside, None), _took),
        "call": Made(lambda: {LONG_QUEUE.label: LONG_QUEUE}, _call, _heard),
    },
    globals(),
)
