"""What is simulated: the seven cases, the same with the window opened, random loss, and company."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tightlink.studies.one_flow.setup import cases, company, phase, response

if TYPE_CHECKING:
    from tightlink.experiment.execute import Task


def tasks() -> list[Task]:
    """Everything that is simulated."""
    return [*cases.tasks(), *cases.opened(), *response.tasks(), *company.tasks(), *phase.tasks()]
