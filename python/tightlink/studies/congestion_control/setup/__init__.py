"""What is simulated: experiments in the four-tier network, at a size, and some on a single link."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Final

from tightlink.experiment.execute import Task
from tightlink.studies.congestion_control.setup import one_link
from tightlink.studies.congestion_control.setup.experiment import NAMES, Experiment, Size, experiment, heavier

SENSITIVITY: Final = "sensitivity"
#: The same conditions with a high and a low initial threshold, and what is claimed of both beside each other.
MIXED: Final = ("2a", "2b")
THRESHOLDS: Final = "thresholds"
#: That can be chosen.
KNOWN: Final = (*NAMES, *one_link.CASES)
#: What runs in at most twelve minutes on two cores, with these experiments: 1000 s of one core, and the analysis.
DEFAULT: Final = Size(Fraction(1), "30 s", routers=Fraction(1, 6))
CHOSEN: Final = (SENSITIVITY, "1b", *one_link.CASES)


@dataclass(frozen=True)
class Chosen:
    """The experiments that are run, and the size of those in the four-tier network."""

    experiments: tuple[Experiment, ...]
    size: Size
    on_one_link: tuple[str, ...]
    sizes: Mapping[str, Size] = field(default_factory=dict)
    """Of experiments that have another one, by name."""
    stored: Collection[str] = ()
    """Of which the responses are taken that are stored with the study."""

    @property
    def names(self) -> list[str]:
        """The names of all of them, and of what two show together."""
        own = [each.name for each in self.experiments]
        return [*own, *([THRESHOLDS] if set(MIXED) <= set(own) else []), *self.on_one_link]

    def size_of(self, name: str) -> Size:
        """The size of an experiment in the four-tier network."""
        return self.sizes.get(name, self.size)

    def tasks(self) -> list[Task]:
        """Everything that is simulated."""
        run = [each for each in self.experiments if each.name not in self.stored]
        own = [task for each in run for task in each.tasks(self.size_of(each.name))]
        return [*own, *(task for name in self.on_one_link for task in one_link.CASES[name].tasks())]


def chosen(names: Iterable[str] = CHOSEN, size: Size = DEFAULT) -> Chosen:
    """The experiments of these names, in the order of `NAMES`.

    Raises:
        ScenarioError: One of them has no such size.
    """
    wanted = set(names)
    found = tuple(experiment(name) for name in NAMES if name in wanted)
    for each in found:
        each.check(size)
    return Chosen(found, size, tuple(name for name in one_link.CASES if name in wanted))


def at_heavier_sizes(chosen: Chosen, sizes: Mapping[str, Size], *, stored: bool = False) -> Chosen:
    """The same with some of the heavier experiments in place of those of their names, and beside the others."""
    found = {each.name: each for each in chosen.experiments} | {name: heavier(name)[0] for name in sizes}
    for name, size in sizes.items():
        found[name].check(size)
    return replace(
        chosen,
        experiments=tuple(found[name] for name in NAMES if name in found),
        sizes=sizes,
        stored=tuple(sizes) if stored else (),
    )
