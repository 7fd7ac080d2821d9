"""Digests of scenarios natively and in a browser, in which one page runs one after the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

import tightlink as tl
from tightlink import studies
from tightlink.laboratory import write
from tightlink.laboratory.page import data

if TYPE_CHECKING:
    from browser import Page
    from tightlink.experiment.execute import Task

_RUN: Final = """(async () => {
    const { engine } = document.getElementById("lab").laboratory;
    const other = new engine.constructor(engine.module, %s, engine.script);
    const answer = await other.run({ positions: [%d], samples: %s });
    other.close();
    return answer.ok ? JSON.parse(answer.text).digest : answer.text;
})()"""


class Engines:
    """A page whose engine runs any scenario.

    Args:
        page: Of a browser.
        folder: For the laboratory that brings the engine.
    """

    def __init__(self, page: Page, folder: Path) -> None:
        self._page = page
        scenario = tl.load(Path(__file__).resolve().parent.parent / "examples" / "one-flow.toml")
        page.open(write(folder / "engine.html", scenario, sliders=["seed=1,2"]).as_uri())
        page.wait("Boolean(document.getElementById('lab')?.laboratory)")

    def digest(self, scenario: tl.Scenario, *, samples: bool = True) -> str:
        """The digest of a scenario in the browser.

        Args:
            scenario: What to simulate.
            samples: Whether charts are sampled, as a page does; without, as a sweep of one slider does.

        Raises:
            ScenarioError: A browser does not take it.
        """
        given = data(scenario, sliders=[f"seed={scenario.seed + 1}"])
        asked = json.dumps(json.dumps(given["document"])), given["sliders"][0]["start"], "600" if samples else "null"
        return str(self._page.run(_RUN % asked))


def tasks(study: str) -> list[Task]:
    """What a study simulates."""
    return studies.named(study).all_tasks()
