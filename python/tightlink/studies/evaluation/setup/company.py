"""Flows that share a bottleneck: with their own kind, beside standard TCP, and over paths of two lengths."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

import polars as pl

from tightlink.reduce import jain
from tightlink.run import Run
from tightlink.scenario import Link, Scenario
from tightlink.studies.evaluation.setup.controls import Control
from tightlink.studies.evaluation.setup.pack import SEEDS, Case, Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, RECEIVER, SENDER, Path
from tightlink.studies.evaluation.setup.samples import each_second, evenness, first_that_stays, mean_after, series

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
#: Round trips, in ms, of what they share.
_SHARED_MS: Final = 10


def _converging(control: Control) -> Iterator[Case]:
    for flows in (2, FLOWS):
        traffic = {
            "flows": SLOW.bulk(control.value, flows=flows, start={"every": f"{APART_S} s"}),
            **SLOW.background(),
        }
        for seed in SEEDS:
            scenario = SLOW.scenario(traffic, duration_s=CONVERGENCE_S + APART_S * (flows - 1), seed=seed)
            yield Case(f"{flows} flows", {"run": scenario}, partial(_convergence, flows), partial(_shares, flows), seed)


def _convergence(flows: int, runs: Mapping[str, Run]) -> dict[str, float | None]:
    begin = APART_S * (flows - 1)
    rows = evenness(runs["run"], _labels("flows", flows), begin, OVER_S)
    even = first_that_stays(rows, lambda index: index >= EVEN, STAY_S)
    return {
        "convergence_s": None if even is None else even - begin,
        "time_even": sum(index >= EVEN for _, index in rows) / len(rows),
    }


def _shares(flows: int, runs: Mapping[str, Run]) -> pl.DataFrame:
    return each_second(series(runs["run"], "goodput_bps", _labels("flows", flows)), "goodput_bps")


def _own(control: Control) -> Iterator[Case]:
    for path in PATHS:
        for seed in SEEDS:
            yield Case(path.label, {"run": _own_kind(path, control.value, seed)}, _fairness, seed=seed)


def _own_kind(path: Path, congestion: Any, seed: int) -> Scenario:
    traffic = {"flows": path.bulk(congestion, flows=FLOWS, start={"every": "0.1 s"}), **path.background()}
    return path.scenario(traffic, duration_s=SHARED_S, interval_ms=1000, seed=seed)


def _fairness(runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    shares = [mean_after(run, "goodput_bps", label, SETTLED_S) for label in _labels("flows", FLOWS)]
    return {"jain": jain(shares), "utilization": mean_after(run, "utilization", BOTTLENECK, SETTLED_S)}


def _beside(standard: str, control: Control) -> Iterator[Case]:
    half = FLOWS // 2
    for path in PATHS:
        # Neither kind is there first: own, standard, standard, own.
        traffic = {
            "own": path.bulk(control.value, flows=half, start=["0 s", "0.3 s"]),
            "standard": path.bulk(standard, flows=half, start=["0.1 s", "0.2 s"]),
            **path.background(),
        }
        for seed in SEEDS:
            scenarios = {
                "run": path.scenario(traffic, duration_s=SHARED_S, interval_ms=1000, seed=seed),
                "alone": _own_kind(path, standard, seed),
            }
            yield Case(path.label, scenarios, _kept, seed=seed)


def _kept(runs: Mapping[str, Run]) -> dict[str, float | None]:
    half = FLOWS // 2
    kept, alone, own = (
        sum(mean_after(runs[run], "goodput_bps", label, SETTLED_S) for label in labels) / len(labels)
        for run, labels in (
            ("run", _labels("standard", half)),
            ("alone", _labels("flows", FLOWS)),
            ("run", _labels("own", half)),
        )
    )
    return {"standard_kept": kept / alone, "own_goodput_bps": own, "standard_goodput_bps": kept}


def _round_trips(control: Control) -> Iterator[Case]:
    traffic: dict[str, Any] = dict(SLOW.background())
    links: dict[str, Link] = {BOTTLENECK: SLOW.link(delay=f"{_SHARED_MS / 2:g} ms")}
    for rtt in ROUND_TRIPS_MS:
        name = f"rtt_{rtt}_ms"
        delay = f"{(rtt - _SHARED_MS) / 2:g} ms"
        links[name] = Link(ends=(name, SENDER), rate=f"{SLOW.rate_mbit * 10:g} Mbit/s", delay=delay, queue="unlimited")
        traffic[name] = SLOW.bulk(control.value, **{"from": name, "to": RECEIVER})
    for seed in SEEDS:
        scenario = SLOW.scenario(traffic, duration_s=SHARED_S, interval_ms=1000, seed=seed, links=links)
        yield Case(" and ".join(f"{rtt} ms" for rtt in ROUND_TRIPS_MS), {"run": scenario}, _long_over_short, seed=seed)


def _long_over_short(runs: Mapping[str, Run]) -> dict[str, float | None]:
    short, long = (mean_after(runs["run"], "goodput_bps", f"rtt_{rtt}_ms", SETTLED_S) for rtt in ROUND_TRIPS_MS)
    return {"long_over_short": long / short if short > 0 else None}


def _labels(name: str, flows: int) -> Sequence[str]:
    return [f"{name}[{place}]" for place in range(flows)]


def _beside_test(standard: str) -> Test:
    return Test(
        f"beside-{standard}",
        f"Beside {standard}",
        f"{FLOWS // 2} flows of the control and {FLOWS // 2} of {standard}, for {SHARED_S} s: what a flow of "
        f"{standard} gets, over what it gets where all {FLOWS} are of its own kind (RFC 5166 §2.3, RFC 9743 §5.2). 1 "
        "is fair.",
        partial(_beside, standard),
        [Headline(f"goodput that {standard} keeps, {name}", "standard_kept", path.label)
         for name, path in (("20 Mbit/s", SLOW), ("200 Mbit/s", FAST))],
    )  # fmt: skip


TESTS: Final = (
    Test(
        "convergence",
        "Convergence",
        f"2, then {FLOWS} flows over {SLOW.label} that start {APART_S} s apart: the time from the last start until the "
        f"shares, as means over {OVER_S} s, are within 10 % of equal (in root mean square) and stay so for "
        f"{STAY_S} s (RFC 5166 §2.3); and the share of the {CONVERGENCE_S} s after it in which they are.",
        _converging,
        [Headline("time until 2 flows share evenly", "convergence_s", "2 flows", f"> {CONVERGENCE_S} s"),
         Headline("time in which 2 flows share evenly", "time_even", "2 flows"),
         Headline(f"time in which {FLOWS} flows share evenly", "time_even", f"{FLOWS} flows")],
    ),
    Test(
        "own-kind",
        "Fairness among its own kind",
        f"{FLOWS} flows of the control for {SHARED_S} s: Jain's index of what they get after {SETTLED_S} s, and what "
        "of the bottleneck is used (RFC 5166 §2.3).",
        _own,
        [Headline("Jain's index, 20 Mbit/s", "jain", SLOW.label),
         Headline("Jain's index, 200 Mbit/s", "jain", FAST.label)],
    ),
    *(_beside_test(standard) for standard in STANDARD),
    Test(
        "round-trips",
        "Unequal round trips",
        f"Two flows of the control over 20 Mbit/s, with round trips of {' and '.join(map(str, ROUND_TRIPS_MS))} ms: "
        "what the longer path gets over what the shorter one gets (RFC 5166 §2.3).",
        _round_trips,
        [Headline("goodput over 80 ms / over 20 ms", "long_over_short")],
    ),
)  # fmt: skip
