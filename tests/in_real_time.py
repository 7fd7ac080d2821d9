"""What tests use that run in real time over links that this machine emulates: marks, and measurements side by side.

A test that compares figures is tried three times: what is wrong is wrong each time, a machine that others keep busy is not. One
of several that are made side by side has three tries alone after that. What begins, ends and is cleaned up has one try.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import pytest

from tightlink.measure.machine import missing
from tightlink.measure.measuring import measure
from tightlink.measure.relay import InvalidMeasurementError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tightlink.run import Run
    from tightlink.scenario import Scenario


def _needs(feature: str) -> pytest.MarkDecorator:
    why = missing(feature)
    return pytest.mark.skipif(bool(why), reason=str(why))


#: Needs hosts and links between them.
needs_links: Final = _needs("tun")
#: Needs a router that is this machine's kernel.
needs_router: Final = _needs("forwarding")
#: Compares figures.
tried_again: Final = pytest.mark.flaky(reruns=2)


def measures(test: Any) -> Any:
    """Needs hosts and links between them, and compares figures."""
    return needs_links(tried_again(test))


def measures_side_by_side(test: Any) -> Any:
    """Needs hosts and links between them, and compares figures of one of `SideBySide`, then of three that are alone."""
    return needs_links(pytest.mark.flaky(reruns=3)(test))


class SideBySide:
    """Measurements that are made side by side, in the time of one: by name their scenarios, and options of `measure`.

    One that a busy machine made invalid, or that is asked for again, as by a test that is tried again, is made alone.
    """

    def __init__(self, wanted: Mapping[str, tuple[Scenario, Mapping[str, Any]]]) -> None:
        self._wanted = wanted
        self._made: dict[str, Run] | None = None

    def run(self, name: str) -> Run:
        """The measurement of a name."""
        if self._made is None:
            self._made = self._together()
        made = self._made.pop(name, None)
        if made is not None:
            return made
        scenario, options = self._wanted[name]
        return measured(scenario, **options)

    def _together(self) -> dict[str, Run]:
        others = len(self._wanted) - 1
        with ThreadPoolExecutor(len(self._wanted)) as pool:
            begun = {
                name: pool.submit(measure, scenario, beside=others, **options)
                for name, (scenario, options) in self._wanted.items()
            }
        return {name: each.result() for name, each in begun.items() if each.exception() is None}


def measured(scenario: Scenario, **options: Any) -> Run:
    """A measurement; where the machine is too busy for it three times, the test is skipped."""
    try:
        return measure(scenario, **options, tries=3)
    except InvalidMeasurementError as error:
        pytest.skip(str(error))
