"""What is simulated: the document's probes, extra ones, other routers and links, costs by length, and videos."""

from tightlink.experiment.execute import Task
from tightlink.studies.router_response.setup import laws, network, variants, video


def tasks() -> list[Task]:
    """Everything that is simulated."""
    return [*network.probes_tasks(), *variants.tasks(), *laws.tasks(), *video.video_tasks()]
