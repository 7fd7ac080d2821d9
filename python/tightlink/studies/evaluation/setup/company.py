"""Flows that share a bottleneck: with their own kind, beside standard TCP, and over paths of two lengths."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from statistics import fmean
from typing import Any, Final

import polars as pl

from tightlink.reduce import jain
from tightlink.run import Run
from tightlink.scenario import Link, Scenario
from tightlink.studies.evaluation.setup.pack import Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, RECEIVER, SENDER, Path
from tightlink.studies.evaluation.setup.samples import (
    each_second,
    evenness,
    first_that_stays,
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
#: Round trips, in ms, of what they share.
_SHARED_MS: Final = 10


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
    shares = _goodputs(run, _labels("flows", FLOWS))
    return {
        "jain": jain(shares),
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
    kept, own = (fmean(_goodputs(run, _labels(name, FLOWS // 2))) for name in ("standard", "own"))
    among_its_own = fmean(_goodputs(alone, _labels("flows", FLOWS)))
    return {"standard_kept": kept / among_its_own, "own_goodput_bps": own, "standard_goodput_bps": kept}


def _two_paths(congestion: Any, round_trips_ms: Sequence[int], seed: int) -> list[Scenario]:
    traffic: dict[str, Any] = dict(SLOW.background())
    links: dict[str, Link] = {BOTTLENECK: SLOW.link(delay=f"{_SHARED_MS / 2:g} ms")}
    for rtt in round_trips_ms:
        name = f"rtt_{rtt}_ms"
        delay = f"{(rtt - _SHARED_MS) / 2:g} ms"
        links[name] = Link(ends=(name, SENDER), rate=f"{SLOW.rate_mbit * 10:g} Mbit/s", delay=delay, queue="unlimited")
        traffic[name] = SLOW.bulk(congestion, **{"from": name, "to": RECEIVER})
    return [SLOW.scenario(traffic, duration_s=SHARED_S, interval_ms=1000, seed=seed, links=links)]


def _long_over_short(round_trips_ms: Sequence[int], run: Run) -> dict[str, float | None]:
    short, long = _goodputs(run, [f"rtt_{rtt}_ms" for rtt in round_trips_ms])
    return {"long_over_short": long / short if short > 0 else None}


def _beside_test(standard: str) -> Test:
    return Test(
        f"beside-{standard}",
        f"Beside {standard}",
        f"{FLOWS // 2} flows of the control and {FLOWS // 2} of {standard}, for {SHARED_S} s: what a flow of "
        f"{standard} gets, over what it gets where all {FLOWS} are of its own kind (RFC 5166 §2.3, RFC 9743 §5.2.1). 1 "
        "is fair.",
        _paths,
        partial(_beside, standard),
        _kept,
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
        lambda: {f"{flows} flows": flows for flows in (2, FLOWS)},
        _converging,
        _convergence,
        [Headline("time until 2 flows share evenly", "convergence_s", "2 flows", f"> {CONVERGENCE_S} s"),
         Headline("time in which 2 flows share evenly", "time_even", "2 flows"),
         Headline(f"time in which {FLOWS} flows share evenly", "time_even", f"{FLOWS} flows")],
        _shares,
    ),
    Test(
        "own-kind",
        "Fairness among its own kind",
        f"{FLOWS} flows of the control for {SHARED_S} s: Jain's index of what they get after {SETTLED_S} s, what of "
        "the bottleneck is used, and what they lose (RFC 5166 §2.3).",
        _paths,
        _own_kind,
        _fairness,
        [Headline("Jain's index, 20 Mbit/s", "jain", SLOW.label),
         Headline("Jain's index, 200 Mbit/s", "jain", FAST.label)],
    ),
    *(_beside_test(standard) for standard in STANDARD),
    Test(
        "round-trips",
        "Unequal round trips",
        f"Two flows of the control over 20 Mbit/s, with round trips of {' and '.join(map(str, ROUND_TRIPS_MS))} ms: "
        "what the longer path gets over what the shorter one gets (RFC 5166 §2.3).",
        lambda: {" and ".join(f"{rtt} ms" for rtt in ROUND_TRIPS_MS): ROUND_TRIPS_MS},
        _two_paths,
        _long_over_short,
        [Headline("goodput over 80 ms / over 20 ms", "long_over_short")],
    ),
)  # fmt: skip
