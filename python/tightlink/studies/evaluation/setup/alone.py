"""One flow alone: how much of the path it uses, and how soon."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Final

import polars as pl

from tightlink.run import Run
from tightlink.studies.evaluation.setup.controls import Control
from tightlink.studies.evaluation.setup.pack import Case, Headline, Test
from tightlink.studies.evaluation.setup.path import BOTTLENECK, Path
from tightlink.studies.evaluation.setup.samples import first_above, mean_after, series

RATES_MBIT: Final = (10, 100, 1000)
RTTS_MS: Final = (10, 50, 200)
BUFFERS_BDP: Final = (0.2, 1.0)
DURATION_S: Final = 60
#: From here on utilization counts; before it is the ramp-up.
SETTLED_S: Final = 20
#: What counts as full in the ramp-up.
_FULL: Final = 0.9
_RAMP: Final = Path(rate_mbit=100, rtt_ms=100)
_RAMP_S: Final = 60
#: The low threshold of NIST SP 500-282: what slow start leaves to the control.
THRESHOLDS: Final = {"unlimited threshold": "unlimited", "threshold of 100 packets": "100 packets"}


def _grid(control: Control) -> Iterator[Case]:
    for rate, rtt, buffer in itertools.product(RATES_MBIT, RTTS_MS, BUFFERS_BDP):
        path = Path(rate, rtt, buffer)
        scenario = path.scenario({"flow": path.bulk(control.value)}, duration_s=DURATION_S, interval_ms=1000)
        yield Case(path.label, {"run": scenario}, _utilization)


def _utilization(runs: Mapping[str, Run]) -> dict[str, float | None]:
    run = runs["run"]
    flow = run.flows.row(0, named=True)
    return {
        "utilization": mean_after(run, "utilization", BOTTLENECK, SETTLED_S),
        "loss": flow["packets_dropped"] / flow["packets_sent"],
    }


def _ramps(control: Control) -> Iterator[Case]:
    for name, threshold in THRESHOLDS.items():
        flow = _RAMP.bulk(control.value, tcp={"initial_ssthresh": threshold})
        scenario = _RAMP.scenario({"flow": flow}, duration_s=_RAMP_S, interval_ms=_RAMP.rtt_ms)
        yield Case(name, {"run": scenario}, _ramp, _rising)


def _ramp(runs: Mapping[str, Run]) -> dict[str, float | None]:
    rows = series(runs["run"], "utilization", [BOTTLENECK]).select("time_s", "utilization").rows()
    return {"ramp_up_s": first_above(rows, _FULL)}


def _rising(runs: Mapping[str, Run]) -> pl.DataFrame:
    return series(runs["run"], "utilization", [BOTTLENECK]).drop("entity")


UTILIZATION: Final = Test(
    "utilization",
    "Utilization, one flow",
    f"One flow alone for {DURATION_S} s, over {', '.join(map(str, RATES_MBIT))} Mbit/s × "
    f"{', '.join(map(str, RTTS_MS))} ms × buffers of {' and '.join(f'{size:g}' for size in BUFFERS_BDP)} "
    f"bandwidth-delay products: the share of the bottleneck that it uses after the first {SETTLED_S} s "
    "(RFC 5166 §2.1).",
    _grid,
    [Headline("utilization, mean over all paths", "utilization")],
)
RAMP_UP: Final = Test(
    "ramp-up",
    "Ramp-up",
    f"One flow alone over {_RAMP.label}: when it first fills {100 * _FULL:.0f} % of the bottleneck for a round trip; "
    "with slow start to the end, then with slow start up to 100 packets, after which the control must find the way.",
    _ramps,
    [
        Headline(f"time to fill {100 * _FULL:.0f} % of the link", "ramp_up_s", "unlimited threshold", f"> {_RAMP_S} s"),
        Headline("the same, slow start to 100 packets", "ramp_up_s", "threshold of 100 packets", f"> {_RAMP_S} s"),
    ],
)  # fmt: skip
TESTS: Final = (UTILIZATION, RAMP_UP)
