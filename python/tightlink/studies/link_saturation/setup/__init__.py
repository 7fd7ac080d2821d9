"""What is simulated: sweeps over packet sizes, perturbed links, mixed sizes, connections, random arrivals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.studies.link_saturation.setup import interface, variations

if TYPE_CHECKING:
    from tightlink.experiment.execute import Task


def tasks() -> list[Task]:
    """Everything that is simulated."""
    return [
        *interface.tasks(),
        *variations.perturbation_tasks(),
        *variations.mixes_tasks(),
        *variations.connections_tasks(),
        *variations.phases_tasks(),
    ]
