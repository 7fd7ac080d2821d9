"""All that takes its time says how far it is in one way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tightlink.capture import CaptureProgress
from tightlink.experiment.measured import GridProgress
from tightlink.experiment.progress import ExperimentProgress
from tightlink.measure.measuring import MeasurementProgress
from tightlink.progress import shown
from tightlink.simulate import SimulationProgress

if TYPE_CHECKING:
    from tightlink.progress import Progress


@pytest.mark.parametrize(
    ("progress", "line"),
    [
        (SimulationProgress(1.0, 3.0, 2_000_000, 5, 1.0), "33 %: 1 s of 3 s, 5 sources sending, 2.0 M packet-hops/s, 2 s left"),
        (MeasurementProgress(1.5, 2.0), "75 %: measuring, 1.5 s of 2 s"),
        (
            ExperimentProgress(total=4, done=1, found=1, failed=0, running=2, packet_hops=0, elapsed_s=0.0),
            "25 %: 1 of 4 runs, 2 running",
        ),
        # How much there is nobody knows.
        (CaptureProgress(2_500_000, 10**9), "2.5 M packets, 1000 MB read"),
        (GridProgress(2, 3, 4, {"flows": 8}), "round 2, 3 of 4: flows 8"),
    ],
)  # fmt: skip
def test_a_line_says_it(progress: Progress, line: str) -> None:
    assert shown(progress) == line
