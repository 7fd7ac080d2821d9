"""What is simulated: the grids of the document's paths, then recoveries, pings, properties, other traffic, Linux."""

from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup import cross_traffic, linux, paths, pings, unknowns


def tasks() -> list[Task]:
    """Everything that is simulated; the grids of the document come first."""
    return [
        *paths.tasks(),
        *paths.recovery_tasks(),
        *pings.tasks(),
        *paths.property_tasks(),
        *cross_traffic.tasks(),
        *unknowns.tasks(),
        *linux.tasks(),
    ]
