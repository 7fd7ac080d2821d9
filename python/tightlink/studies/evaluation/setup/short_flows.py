"""Short flows, of standard TCP or of its own kind, beside a long flow of the control: how long they take."""

from __future__ import annotations

from functools import partial
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


def _beside(own_kind: bool, congestion: Any, path: Path, seed: int) -> list[Scenario]:  # noqa: FBT001
    start = {"first": f"{FIRST_S} s", "every": f"{EVERY_S} s"}
    control = congestion if own_kind else _STANDARD
    short = {"short": path.bulk(control, flows=FLOWS, bytes=f"{BYTES} B", start=start)}
    return [
        path.scenario({**traffic, **path.background()}, duration_s=DURATION_S, interval_ms=1000, seed=seed)
        for traffic in ({"long": path.bulk(congestion), **short}, short)
    ]


def _measure(_: Path, run: Run, alone: Run) -> dict[str, float | None]:
    beside, without = completions(run, FLOWS), completions(alone, FLOWS)["completion_median_s"]
    median = beside["completion_median_s"]
    ratio = None if median is None or without is None else median / without
    return {**beside, "completion_alone_s": without, "completion_over_alone": ratio}


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


def _test(name: str, title: str, kind: str, place: str, headlines: list[Headline]) -> Test:
    return Test(
        name,
        title,
        f"{FLOWS} flows of {kind} of {BYTES // 1000} kB each, one a second, beside one long flow of the control over "
        f"{PATH.label}: how long they take, the median and the 95th percentile, and how long without the long flow "
        f"({place}).",
        lambda: {PATH.label: PATH},
        partial(_beside, kind != _STANDARD),
        _measure,
        headlines,
    )


TESTS: Final = (
    _test(
        "short-flows",
        "Short flows beside a long one",
        _STANDARD,
        "RFC 9743 §5.2.3",
        [
            Headline("median time of short flows beside it", "completion_median_s"),
            Headline("p95 time of short flows beside it", "completion_p95_s"),
        ],
    ),
    _test(
        "own-short-flows",
        "Short flows of its own kind beside a long one",
        "the control",
        "RFC 9743 §5.1.5",
        [Headline("median time of its own short flows beside it", "completion_median_s")],
    ),
)
