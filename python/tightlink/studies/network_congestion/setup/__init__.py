"""What is simulated: networks of many graphs, each at loads around its critical one."""

from __future__ import annotations

from tightlink.experiment.execute import Task
from tightlink.studies.network_congestion.setup import cases


def tasks() -> list[Task]:
    """Everything that is simulated."""
    listed = [
        *cases.order_parameter(), *cases.in_time(), *cases.in_size(), *cases.limited_queues(), *cases.invariants(),
        *cases.packet_sizes(), *cases.balanced(), *cases.networks(),
    ]  # fmt: skip
    return [task for case in listed for task in case.tasks()]
