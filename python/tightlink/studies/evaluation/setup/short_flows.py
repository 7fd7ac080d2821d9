"""Short flows of standard TCP beside a long flow of the control: how long they take."""

from __future__ import annotations

from typing import Any, Final

import polars as pl

from tightlink.reduce import median_of
from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.studies.evaluation.setup.pack import Headline, Test
from tightlink.studies.evaluation.setup.path import Path

PATH: Final = Path(rate_mbit=20, rtt_ms=40)
BYTES: Final = 100_000
EVERY_S: Final = 1
FIRST_S: Final = 20
FLOWS: Final = 80
DURATION_S: Final = 120
_STANDARD: Final = "reno"


def _beside(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    start = {"first": f"{FIRST_S} s", "every": f"{EVERY_S} s"}
    short = {"short": path.bulk(_STANDARD, flows=FLOWS, bytes=f"{BYTES} B", start=start)}
    return [
        path.scenario({**traffic, **path.background()}, duration_s=DURATION_S, interval_ms=1000, seed=seed)
        for traffic in ({"long": path.bulk(congestion), **short}, short)
    ]


def _measure(_: Path, run: Run, alone: Run) -> dict[str, float | None]:
    return {**completions(run, FLOWS), "completion_alone_s": completions(alone, FLOWS)["completion_median_s"]}


def completions(run: Run, flows: int, size: int = BYTES) -> dict[str, float | None]:
    """How long the short flows that came to an end took, and how many did not."""
    short = run.flows.filter(pl.col("label").str.starts_with("short["))
    took = pl.col("stop_s") - pl.col("start_s")
    times = short.filter((pl.col("goodput_bps") * took / 8).round() >= size).select(took).to_series()
    return {
        "completion_median_s": median_of(times) if times.len() else None,
        "completion_p95_s": times.quantile(0.95) if times.len() else None,
        "unfinished": float(flows - times.len()),
    }


TEST: Final = Test(
    "short-flows",
    "Short flows beside a long one",
    f"{FLOWS} flows of {_STANDARD} of {BYTES // 1000} kB each, one a second, beside one long flow of the control over "
    f"{PATH.label}: how long they take, the median and the 95th percentile, and how long without the long flow "
    "(RFC 9743 §5.2: short flows beside long ones).",
    lambda: {PATH.label: PATH},
    _beside,
    _measure,
    [
        Headline("median time of short flows beside it", "completion_median_s"),
        Headline("p95 time of short flows beside it", "completion_p95_s"),
    ],
)
