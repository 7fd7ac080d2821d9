"""The packs: what a test is, and which there are.

The tests of congestion controls are in the terms of RFC 5166 (metrics), RFC 9743 (what to evaluate in a new control)
and the Common TCP Evaluation Suite (draft-irtf-iccrg-tcpeval). Those of queues are after RFC 7928.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import polars as pl

from tightlink.errors import ScenarioError, closest, one_of
from tightlink.run import Run
from tightlink.scenario import Scenario

#: What is evaluated: a congestion control, or a queue.
Kind: TypeAlias = Literal["control", "queue"]
#: Seeds of the tests in which something is random.
SEEDS: Final = (1, 2, 3)


@dataclass(frozen=True)
class Subject:
    """A control or a queue under evaluation."""

    label: str
    """What tables and figures call it: its name, and the options that were set."""
    value: str | dict[str, Any]
    """As a scenario has it."""


@dataclass(frozen=True)
class Case:
    """One setting of a test with one seed: what to simulate, and what to read from it."""

    setting: str
    """For people; cases that differ in the seed alone have the same."""
    scenarios: Mapping[str, Scenario]
    """One, or one and what it is compared with, by name."""
    measure: Callable[[Mapping[str, Run]], Mapping[str, float | None]]
    """Values by name, with the unit at its end; none where something did not happen in the simulated time."""
    curve: Callable[[Mapping[str, Run]], pl.DataFrame] | None = None
    """What the report draws over time."""
    seed: int = 1


@dataclass(frozen=True)
class Headline:
    """A column of the table of all subjects."""

    title: str
    measure: str
    setting: str | None = None
    """Without it, the mean over all settings."""
    never: str = "never"
    """What stands there if it did not happen in the simulated time."""


@dataclass(frozen=True)
class Test:
    """A test of the pack."""

    name: str
    title: str
    about: str
    """What is simulated and measured, in the report."""
    cases: Callable[[Any], Iterator[Case]]
    """For a subject of the pack."""
    headlines: Sequence[Headline]


def tests(kind: Kind) -> list[Test]:
    """All tests of a pack, in the order of the report."""
    from tightlink.studies.evaluation.setup import alone, aqm, changes, company, queues, short_flows

    if kind == "queue":
        return list(aqm.TESTS)
    return [*alone.TESTS, *company.TESTS, changes.TEST, queues.TEST, short_flows.TEST]


def chosen(names: Iterable[str] | None, kind: Kind = "control") -> list[Test]:
    """The tests of these names, in the order of the report; all of the pack where there are none.

    Raises:
        ScenarioError: There is no test of a name.
    """
    known = {test.name: test for test in tests(kind)}
    wanted = list(known if names is None else names)
    for name in wanted:
        if name not in known:
            raise ScenarioError(one_of(known), key="test", value=name, suggestion=closest(name, known))
    return [test for name, test in known.items() if name in wanted]
