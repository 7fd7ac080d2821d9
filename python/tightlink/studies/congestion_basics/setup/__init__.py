"""What is simulated: the phases of a flow, two paths, response functions, and controls that come to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.studies.congestion_basics.setup import long_path, operating_points, paths, phases, responses

if TYPE_CHECKING:
    from tightlink.experiment.execute import Task


def tasks() -> list[Task]:
    """Everything that is simulated, the longest first, so that none is left to the end alone."""
    parts = (long_path, paths, operating_points, phases)
    return [*responses.tasks()[::-1], *(task for part in parts for task in part.tasks())]
