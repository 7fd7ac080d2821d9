"""Laboratories: a scenario, sliders and the engine itself, in one HTML file or in a notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tightlink import arguments
from tightlink.calls import answered
from tightlink.errors import TightlinkError, not_installed
from tightlink.laboratory.page import write
from tightlink.scenario import Scenario
from tightlink.scenario.as_keys import as_keys
from tightlink.simulate import check_scenario

if TYPE_CHECKING:
    from tightlink.laboratory.widget import Widget

__all__ = ["lab", "write"]

_SLIDER: Final = 'a key and its values, such as "link.access.queue=10 packets..100 packets"'


@answered(as_keys("tl.lab(scenario.set({key}, {value}))"))
def lab(scenario: Scenario, *, sliders: Sequence[str] = (), text: str = "", title: str = "") -> Widget:
    """Open a laboratory in a notebook (Jupyter, marimo, VS Code, Colab): sliders simulate every packet again.

    ``run`` of what it returns is what the sliders show, as a `tightlink.Run`.

    Args:
        scenario: What it begins with.
        sliders: ``key=v1,v2,…`` or ranges; without any, sensible ones are chosen.
        text: A lesson in Markdown, in which ``{set: key=value}`` is a button.
        title: What stands above it (default: the name of the scenario's file).

    Returns:
        A widget, which the notebook shows.

    Raises:
        ScenarioError: A slider, or a button of the text, does not fit the scenario.
        TightlinkError: The scenario cannot be simulated in a browser, or anywidget or the engine is not installed.

    Example:
        >>> lab = tl.lab(tl.network("dsl"), sliders=["link.access.queue=10 packets,100 packets"])  # doctest: +SKIP
        >>> lab.run.flows["goodput_bps"].to_list()  # doctest: +SKIP
    """
    check_scenario(scenario)
    sliders = [arguments.text("sliders", each, _SLIDER) for each in arguments.several("sliders", sliders)]
    try:
        from tightlink.laboratory.widget import Widget
    except ModuleNotFoundError as error:
        raise TightlinkError(not_installed(error)) from None
    return Widget(scenario, sliders=sliders, text=text, title=title)
