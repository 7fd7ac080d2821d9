"""One flow alone: how much of the path it uses, and how soon."""

import itertools
from typing import Any, Final

import polars as pl

from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.studies.evaluation.setup.pack import Made, tests
from tightlink.studies.evaluation.setup.path import BOTTLENECK, Path
from tightlink.studies.evaluation.setup.samples import first_above, loss_of, mean_after, series

RATES_MBIT: Final = (10, 100, 1000)
RTTS_MS: Final = (10, 50, 200)
BUFFERS_BDP: Final = (0.2, 1.0)
DURATION_S: Final = 60
#: From here on utilization counts; before it is the ramp-up.
SETTLED_S: Final = 20
#: What counts as full in the ramp-up.
FULL: Final = 0.9
RAMP: Final = Path(rate_mbit=100, rtt_ms=100)
#: The low threshold of NIST SP 500-282: what slow start leaves to the control.
THRESHOLDS: Final = {"unlimited threshold": "unlimited", "threshold of 100 packets": "100 packets"}


def _paths() -> dict[str, Path]:
    paths = (Path(*each) for each in itertools.product(RATES_MBIT, RTTS_MS, BUFFERS_BDP))
    return {path.label: path for path in paths}


def _alone(congestion: Any, path: Path, seed: int) -> list[Scenario]:
    return [path.scenario({"flow": path.bulk(congestion)}, duration_s=DURATION_S, interval_ms=1000, seed=seed)]


def _utilization(_: Path, run: Run) -> dict[str, float | None]:
    return {"utilization": mean_after(run, "utilization", BOTTLENECK, SETTLED_S), "loss": loss_of(run, "flow")}


def _rising(congestion: Any, threshold: str, seed: int) -> list[Scenario]:
    flow = RAMP.bulk(congestion, tcp={"initial_ssthresh": threshold})
    return [RAMP.scenario({"flow": flow}, duration_s=DURATION_S, interval_ms=RAMP.rtt_ms, seed=seed)]


def _used(_: str, run: Run) -> pl.DataFrame:
    return series(run, "utilization", [BOTTLENECK]).drop("entity")


def _ramp_up(threshold: str, run: Run) -> dict[str, float | None]:
    return {"ramp_up_s": first_above(_used(threshold, run).rows(), FULL)}


TESTS: Final = tests(
    {
        "utilization": Made(_paths, _alone, _utilization),
        "ramp-up": Made(lambda: THRESHOLDS, _rising, _ramp_up, _used),
    },
    globals(),
)
