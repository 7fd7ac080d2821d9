"""What is simulated: sweeps over packet sizes, perturbed links, mixed sizes, connections, random arrivals."""

from tightlink.experiment.execute import Task
from tightlink.studies.link_saturation.setup import sweeps
from tightlink.studies.link_saturation.setup.variations import DENSITY, LATENCY, MIXES, PERTURBED, PHASES


def tasks() -> list[Task]:
    """Everything that is simulated."""
    varied = (PERTURBED, MIXES, DENSITY, LATENCY, PHASES)
    return [*sweeps.tasks(), *(task for cases in varied for task in cases.tasks())]
