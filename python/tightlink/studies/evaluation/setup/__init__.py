"""The packs of tests: what is simulated, for each control or queue, in each test.

The tests of congestion controls are in the terms of RFC 5166 (metrics), RFC 9743 (what to evaluate in a new control)
and the Common TCP Evaluation Suite (draft-irtf-iccrg-tcpeval). Those of queues are after RFC 7928.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tightlink.errors import ScenarioError, closest, one_of
from tightlink.studies.evaluation.setup import alone, aqm, changes, company, queues, short_flows
from tightlink.studies.evaluation.setup.pack import Test, Trial
from tightlink.studies.evaluation.setup.subjects import Kind, Subject


def chosen(kind: Kind, names: Iterable[str] | None = None) -> list[Test]:
    """The tests of these names, in the order of the report; all of the pack where there are none.

    Raises:
        ScenarioError: There is no test of a name.
    """
    of_controls = (*alone.TESTS, *company.TESTS, changes.TEST, queues.TEST, short_flows.TEST)
    known = {test.name: test for test in (aqm.TESTS if kind == "queue" else of_controls)}
    wanted = list(known if names is None else names)
    for name in wanted:
        if name not in known:
            raise ScenarioError(one_of(known), key="test", value=name, suggestion=closest(name, known))
    return [test for name, test in known.items() if name in wanted]


def trials(subjects: Sequence[Subject], tests: Sequence[Test]) -> list[Trial]:
    """Everything that an evaluation does, in the order of its tables."""
    return [
        Trial(subject, test, setting, value, seed)
        for subject in subjects
        for test in tests
        for setting, value in test.settings().items()
        for seed in test.seeds
    ]
