"""What is simulated: experiments in the four-tier network, at a size, and some on a single link."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from tightlink.studies.congestion_control.setup import boundary, increase, newcomers
from tightlink.studies.congestion_control.setup.experiment import NAMES, OF_ONE, Experiment, Size, experiment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tightlink.experiment.execute import Task

WHOLE: Final = "sensitivity"
#: The same conditions with a high and a low initial threshold, and what is claimed of both beside each other.
MIXED: Final = ("2a", "2b")
THRESHOLDS: Final = "thresholds"
ON_ONE_LINK: Final = {boundary.NAME: boundary, newcomers.NAME: newcomers, increase.NAME: increase}
#: That can be chosen: the sensitivity analysis is one with its designs of one control.
KNOWN: Final = (*(name for name in NAMES if name not in OF_ONE), *ON_ONE_LINK)
#: What runs in about ten minutes on two cores, with these experiments.
DEFAULT: Final = Size(Fraction(1), "30 s", routers=Fraction(1, 6))
CHOSEN: Final = (WHOLE, "1b", *ON_ONE_LINK)


@dataclass(frozen=True)
class Chosen:
    """The experiments that are run, and the size of those in the four-tier network."""

    experiments: tuple[Experiment, ...]
    size: Size
    on_one_link: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """The names of all of them, and of what two show together."""
        own = [each.name for each in self.experiments]
        return [*own, *([THRESHOLDS] if set(MIXED) <= set(own) else []), *self.on_one_link]

    def tasks(self) -> list[Task]:
        """Everything that is simulated."""
        own = [task for each in self.experiments for task in each.tasks(self.size)]
        return [*own, *(task for name in self.on_one_link for task in ON_ONE_LINK[name].tasks())]


def chosen(names: Iterable[str] = CHOSEN, size: Size = DEFAULT) -> Chosen:
    """The experiments of these names, in the order of `NAMES`.

    Raises:
        ScenarioError: One of them has no such size.
    """
    wanted = set(names)
    found = tuple(experiment(name) for name in NAMES if name in wanted or (name in OF_ONE and WHOLE in wanted))
    for each in found:
        each.check(size)
    return Chosen(found, size, tuple(name for name in ON_ONE_LINK if name in wanted))
