"""Laboratories in a report: its scenarios, each with sliders, and one engine for all."""

from __future__ import annotations

import base64
import gzip
import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tightlink.errors import ScenarioError
from tightlink.laboratory.engine import engine
from tightlink.laboratory.page import as_json, asset, data, script, style
from tightlink.laboratory.sliders import Slider
from tightlink.scenario import Scenario

#: More scenarios than this have fewer positions of each slider: all of them are resolved when the report is written.
_FEW: Final = 12


@dataclass(frozen=True)
class Offer:
    """A scenario that a report opens in the lab."""

    title: str
    scenario: Scenario
    sliders: Sequence[Slider] = ()


def embedded(offers: Sequence[Offer]) -> str:
    """The section of a report that opens its scenarios in the lab, with the engine.

    Raises:
        ScenarioError: None of them can be simulated in a browser.
        TightlinkError: The engine is not installed.
    """
    module = engine()
    packed, titles, refused = [], [], []
    for offer in offers:
        try:
            given = data(offer.scenario, sliders=offer.sliders, title=offer.title, coarse=len(offers) > _FEW)
        except ScenarioError as error:
            refused.append(error)
            continue
        packed.append([given, as_json(given.pop("document"))])
        titles.append(offer.title)
    if not packed and refused:
        raise refused[0]
    options = "".join(f'<option value="{place}">{html.escape(title)}</option>' for place, title in enumerate(titles))
    finding = "What was simulated, with sliders: each move simulates every packet again, here in this page."
    if refused:
        finding += f" Left out are {len(refused)} that a browser cannot simulate."
    scenarios = base64.b64encode(gzip.compress(as_json(packed).encode(), mtime=0)).decode()
    return f"""<section id="laboratory">
<h2>Laboratory</h2>
<p class="finding">{finding}</p>
<p><select id="laboratory-choice" aria-label="scenario" style="font: inherit; max-width: 100%">{options}</select> \
<button type="button" id="laboratory-open">Open in the lab</button></p>
<div id="laboratory-place"></div>
<script type="text/plain" id="laboratory-scenarios">{scenarios}</script>
<script type="text/plain" id="laboratory-engine">{base64.b64encode(module).decode()}</script>
<script type="text/plain" id="laboratory-worker">{asset("worker.js")}</script>
<script type="text/plain" id="laboratory-style">{style()}</script>
<script>(() => {{
{asset("uplot.js")}
{script("report")}
openReport();
}})();</script>
</section>"""
