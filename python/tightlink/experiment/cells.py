"""Cells: the scenarios of a design's combinations, checked before anything is run.

Example:
    >>> import tightlink as tl
    >>> from tightlink.experiment import designs
    >>> from tightlink.experiment.factors import Factor
    >>> base = tl.network("dsl").set("duration", "1 s")
    >>> [cell.values for cell in cells(base, designs.make([Factor.parse("link.access.queue=5 packets,20 packets")]))]
    [{'link.access.queue': '5 packets'}, {'link.access.queue': '20 packets'}]
    >>> cells(base, designs.make([Factor.parse("link.access.rate=5 packets,20 packets")]))
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: vary: link.access.rate = "5 packets": expected a rate such as "2 Mbit/s" \
or a packet rate such as "20 packets/ms"; did you mean "5 packets/s"?
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tightlink.errors import Argument, ScenarioError, located
from tightlink.experiment.designs import CSV, ONE_AT_A_TIME, Design
from tightlink.experiment.factors import Factor, same, value_at
from tightlink.scenario import Scenario
from tightlink.scenario.congestion import congestion_spec
from tightlink.scenario.values import LARGEST_SEED


@dataclass(frozen=True)
class Cell:
    """A combination of levels, and its scenario."""

    number: int
    values: dict[str, Any]
    """What differs from the experiment's scenario, by key."""
    scenario: Scenario

    def replication(self, number: int) -> Scenario:
        """The scenario of a replication, from 0 on.

        Its seed is the same in every cell, so that cells differ by their levels, not by their luck (common
        random numbers).
        """
        if number == 0:
            return self.scenario
        return self.scenario.set("seed", (self.scenario.seed + number) % (LARGEST_SEED + 1))


def cells(base: Scenario, design: Design) -> list[Cell]:
    """The cells of a design, in its order; combinations that come out the same are one."""
    _check_conditions(base, design.factors)
    found: dict[str, Cell] = {}
    for row in design.rows:
        levels = {
            key: value
            for factor, level in zip(design.factors, row, strict=True)
            if level is not None
            for key, value in zip(factor.keys, level, strict=True)
        }
        if design.kind == ONE_AT_A_TIME:
            # A level that the scenario has already is the scenario itself.
            levels = {key: value for key, value in levels.items() if not same(value, value_at(base, key))}
        for factor in design.factors:
            if factor.only and not factor.matters(levels, base):
                levels = {key: value for key, value in levels.items() if key not in factor.keys}
        text = json.dumps(levels, sort_keys=True, default=str)
        if text not in found:
            with _of_factors(design):
                found[text] = Cell(len(found), levels, base.set_all(levels))
        elif found[text].values != levels:
            expected = "controls of different names (class attribute name), or one control with an option"
            raise ScenarioError(expected, key=", ".join(levels), value=[*levels.values()])
    listed = list(found.values())
    # What takes the whole scenario to see is found here if it is the same everywhere, and else with its run.
    with _of_factors(design):
        listed[0].scenario.resolve()
        _check_controls(listed)
    return listed


def _check_controls(listed: Sequence[Cell]) -> None:
    """Names of congestion controls, which scenarios leave to the run, as they may be written in Python."""
    named = {(key, value) for cell in listed for key, value in cell.values.items() if isinstance(value, str)}
    for key, value in sorted(named):
        if key.endswith(".congestion"):
            with located(Argument("set")):
                congestion_spec(key, value)


@contextmanager
def _of_factors(design: Design) -> Iterator[None]:
    """Errors of keys that were changed are of factors, or of the file that has the combinations."""
    try:
        yield
    except ScenarioError as error:
        for problem in (error, *error.others):
            if isinstance(problem.file, Argument):
                problem.file = design.kind if design.kind.endswith(CSV) else Argument("vary")
        raise


def _check_conditions(base: Scenario, factors: tuple[Factor, ...]) -> None:
    keys = {key for factor in factors for key in factor.keys}
    for factor in factors:
        for key in factor.only:
            if key not in keys and value_at(base, key) is None:
                message = f"the key of another factor or of the scenario after if, not {key}"
                raise ScenarioError(message, key=factor.name)
