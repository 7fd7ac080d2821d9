"""Laboratories in notebooks, by anywidget: the page's own code, and what it ran as a run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from tightlink.laboratory.engine import engine
from tightlink.laboratory.page import asset, described, document_of, script, style
from tightlink.run import Run
from tightlink.scenario import Scenario
from tightlink.simulate import simulate


class Widget(anywidget.AnyWidget):
    """A laboratory in a notebook (`tightlink.lab` makes it)."""

    _esm = "\n".join((asset("uplot.js"), script("widget")))
    _css = style()
    _given = traitlets.Dict().tag(sync=True)
    _document = traitlets.Unicode().tag(sync=True)
    _engine = traitlets.Bytes().tag(sync=True)
    _worker = traitlets.Unicode(asset("worker.js")).tag(sync=True)
    positions = traitlets.List(traitlets.Int()).tag(sync=True)
    """Where each slider was in the last run that the widget shows; setting it moves the sliders."""

    def __init__(self, scenario: Scenario, *, sliders: Sequence[str] = (), text: str = "", title: str = "") -> None:
        self._laboratory = document_of(scenario, sliders, text)
        given = described(self._laboratory, text=text, title=title)
        self._ran: tuple[tuple[int, ...], Run] | None = None
        super().__init__(
            # The engine's own text: JavaScript would round what is in it.
            _document=json.dumps(given.pop("document"), allow_nan=False),
            _given=given,
            _engine=engine(),
            positions=[slider.start for slider in self._laboratory.sliders],
        )

    @traitlets.validate("positions")
    def _is_there(self, proposal: dict[str, Any]) -> list[int]:
        positions: list[int] = proposal["value"]
        sliders = self._laboratory.sliders
        if len(positions) != len(sliders):
            raise traitlets.TraitError(f"positions: expected one for each of {len(sliders)} sliders")
        for slider, place in zip(sliders, positions, strict=True):
            if not 0 <= place < len(slider.values):
                raise traitlets.TraitError(
                    f"positions: {slider.key} = {place}: expected a whole number from 0 to {len(slider.values) - 1}"
                )
        return positions

    @property
    def scenario(self) -> Scenario:
        """The scenario of the last run that the widget shows."""
        return self._laboratory.scenario(dict(enumerate(self.positions)))

    @property
    def run(self) -> Run:
        """What the widget ran, simulated here when it is asked for: the same packets, the same digest."""
        positions = tuple(self.positions)
        if self._ran is None or self._ran[0] != positions:
            self._ran = positions, simulate(self.scenario)
        return self._ran[1]
