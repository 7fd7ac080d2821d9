"""The packs of tests: what is simulated, for each control or queue, in each test.

The tests of congestion controls are in the terms of RFC 5166 (metrics), RFC 9743 (what to evaluate in a new control)
and the Common TCP Evaluation Suite (draft-irtf-iccrg-tcpeval). Those of queues are after RFC 7928.
"""

from collections.abc import Iterable, Sequence

from tightlink.errors import ScenarioError, closest, one_of
from tightlink.studies.evaluation.setup import alone, aqm, changing, competing
from tightlink.studies.evaluation.setup.pack import TABLE, Test, Trial, pack_named
from tightlink.studies.evaluation.setup.subjects import Kind, Subject


def chosen(kind: Kind, names: Iterable[str] | None = None, pack: str | None = None) -> list[Test]:
    """The tests of these names or of a named pack, in the order of the report; all where there are none.

    Raises:
        ScenarioError: There is no test or no pack of a name, or both are named.
    """
    if pack is not None:
        if kind == "queue":
            raise ScenarioError(
                "nothing here: the tests of queues are one pack, that of RFC 7928", key="pack", value=pack
            )
        if names is not None:
            raise ScenarioError("either a pack or tests, not both", key="pack", value=pack)
        names = pack_named(pack).tests
    known = aqm.TESTS if kind == "queue" else alone.TESTS | competing.TESTS | changing.TESTS
    wanted = list(known if names is None else names)
    for name in wanted:
        if name not in known:
            raise ScenarioError(one_of(known), key="test", value=name, suggestion=closest(name, known))
    return [known[name] for name in TABLE if name in known and name in wanted]


def trials(subjects: Sequence[Subject], tests: Sequence[Test]) -> list[Trial]:
    """Everything that an evaluation does, in the order of its tables."""
    return [
        Trial(subject, test, setting, value, seed)
        for subject in subjects
        for test in tests
        for setting, value in test.made.settings().items()
        for seed in test.seeds
    ]
