"""What is simulated: the grids of the document's paths, then recoveries, pings, properties, other traffic, Linux."""

from __future__ import annotations

from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup import linux, paths


def tasks() -> list[Task]:
    """Everything that is simulated; the grids of the document come first."""
    return [
        *paths.tasks(),
        *paths.recovery_tasks(),
        *linux.pings_tasks(),
        *paths.property_tasks(),
        *linux.cross_traffic_tasks(),
        *linux.unknown_tasks(),
        *linux.tasks(),
    ]
