"""What is observed: named values that claims compare, and the tables that the report shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tightlink.studies.congestion_basics.observe.long_path import LongPath
from tightlink.studies.congestion_basics.observe.operating_points import OperatingPoints
from tightlink.studies.congestion_basics.observe.paths import Paths
from tightlink.studies.congestion_basics.observe.phases import Phases
from tightlink.studies.congestion_basics.observe.responses import Responses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run


@dataclass(frozen=True)
class Observed:
    """All that was observed."""

    values: Mapping[str, object]
    phases: Phases
    paths: Paths
    long_path: LongPath
    responses: Responses
    points: OperatingPoints


def observe(runs: Mapping[str, Run]) -> Observed:
    """From runs to values and tables."""
    phases, paths, long_path, responses = Phases.of(runs), Paths.of(runs), LongPath.of(runs), Responses.of(runs)
    points = OperatingPoints.of(runs)
    values = phases.values() | paths.values() | long_path.values() | responses.values() | points.values()
    return Observed(values, phases, paths, long_path, responses, points)
