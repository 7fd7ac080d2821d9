"""One property of a path at a time: the document's example figures, whose values it does not give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.analysis.bulk_vary import one_at_a_time
from tightlink.experiment.execute import Task
from tightlink.studies.bulk_throughput.setup.paths import DARESBURY

if TYPE_CHECKING:
    from tightlink.analysis.bulk_vary import Variation

#: The path of Daresbury with windows that overflow its queue, and with ones that do not.
_BASES: Final = {"1 × 128 kB": (88, 1), "4 × 64 kB": (44, 4), "10 × 128 kB": (88, 10)}


def variations() -> dict[str, tuple[str, Variation]]:
    """By the name of their task: which base, and what is changed."""
    return {
        f"one-property/{window}/{flows}/{place.factor}/{place.value:g}": (base, place)
        for base, (window, flows) in _BASES.items()
        for place in one_at_a_time(DARESBURY.path, window, flows)
    }


def tasks() -> list[Task]:
    """A task for each variation."""
    return [Task(name, place.path.scenario(place.window, place.flows)) for name, (_, place) in variations().items()]
