"""What is simulated: sweeps over packet sizes, perturbed links, mixed sizes, connections, random arrivals."""

from __future__ import annotations

from tightlink.experiment.execute import Task
from tightlink.studies.link_saturation.setup import interface, variations


def tasks() -> list[Task]:
    """Everything that is simulated."""
    return [*interface.tasks(), *variations.tasks()]
