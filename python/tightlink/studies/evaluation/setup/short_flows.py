"""Short flows of standard TCP beside a long flow of the control: how long they take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from tightlink.reduce import median_of
from tightlink.run import Run
from tightlink.studies.evaluation.setup.controls import Control
from tightlink.studies.evaluation.setup.pack import SEEDS, Case, Headline, Test
from tightlink.studies.evaluation.setup.path import Path

PATH: Final = Path(rate_mbit=20, rtt_ms=40)
BYTES: Final = 100_000
EVERY_S: Final = 1
FIRST_S: Final = 20
FLOWS: Final = 80
DURATION_S: Final = 120
_STANDARD: Final = "reno"


def _cases(control: Control) -> Iterator[Case]:
    short = PATH.bulk(
        _STANDARD, flows=FLOWS, bytes=f"{BYTES} B", start={"first": f"{FIRST_S} s", "every": f"{EVERY_S} s"}
    )
    long = PATH.bulk(control.value)
    for seed in SEEDS:
        scenarios = {
            name: PATH.scenario(traffic | PATH.background(), duration_s=DURATION_S, interval_ms=1000, seed=seed)
            for name, traffic in (("run", {"long": long, "short": short}), ("alone", {"short": short}))
        }
        yield Case(PATH.label, scenarios, _measure, _completions, seed)


def _measure(runs: Mapping[str, Run]) -> dict[str, float | None]:
    times, alone = (times_s(runs[name]) for name in ("run", "alone"))
    return {
        "completion_median_s": median_of(times) if times.len() else None,
        "completion_p95_s": times.quantile(0.95) if times.len() else None,
        "completion_alone_s": median_of(alone) if alone.len() else None,
        "unfinished": float(FLOWS - times.len()),
    }


def times_s(run: Run, size: int = BYTES) -> pl.Series:
    """How long the short flows that came to an end took, in their order."""
    short = run.flows.filter(pl.col("label").str.starts_with("short["))
    took = pl.col("stop_s") - pl.col("start_s")
    whole = (pl.col("goodput_bps") * took / 8).round() >= size
    return short.filter(whole).select(took.alias("time_s"))["time_s"]


def _completions(runs: Mapping[str, Run]) -> pl.DataFrame:
    times = times_s(runs["run"]).sort()
    return pl.DataFrame({"completion_s": times, "share": [(place + 1) / FLOWS for place in range(times.len())]})


TEST: Final = Test(
    "short-flows",
    "Short flows beside a long one",
    f"{FLOWS} flows of {_STANDARD} of {BYTES // 1000} kB each, one a second, beside one long flow of the control over "
    f"{PATH.label}: how long they take, the median and the 95th percentile, and how long without the long flow "
    "(RFC 9743 §5.2: short flows beside long ones).",
    _cases,
    [
        Headline("median time of short flows beside it", "completion_median_s"),
        Headline("p95 time of short flows beside it", "completion_p95_s"),
    ],
)
