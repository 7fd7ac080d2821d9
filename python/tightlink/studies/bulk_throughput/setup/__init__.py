"""What is simulated: the grids of the document's paths, then recoveries, pings, properties, other traffic, Linux."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.studies.bulk_throughput.setup import cross_traffic, linux, paths, pings, unknown, variants

if TYPE_CHECKING:
    from tightlink.experiment.execute import Task


def tasks() -> list[Task]:
    """Everything that is simulated; the grids of the document come first."""
    return [
        *paths.tasks(),
        *variants.recovery_tasks(),
        *pings.tasks(),
        *variants.property_tasks(),
        *cross_traffic.tasks(),
        *unknown.tasks(),
        *linux.tasks(),
    ]
