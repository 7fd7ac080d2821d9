"""The report: a lead, a section for each experiment, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from tightlink.experiment.claims import Claim
from tightlink.report import Section
from tightlink.studies.congestion_control.observe import Observed
from tightlink.studies.congestion_control.report import (
    boundary,
    choices,
    costs,
    figures,
    homogeneous,
    increase,
    mixed,
    mixture,
    newcomers,
    prices,
    sensitivity,
    thresholds,
    window,
)
from tightlink.studies.congestion_control.setup import THRESHOLDS, Chosen
from tightlink.studies.congestion_control.setup import boundary as oscillation
from tightlink.studies.congestion_control.setup import increase as increases
from tightlink.studies.congestion_control.setup import newcomers as arrivals
from tightlink.studies.study import Report

#: Sections and figures of an experiment by its name, else by how controls are mixed in it.
_SECTIONS: Final[dict[str, Any]] = {
    "alone": homogeneous.section,
    "half": mixed.section,
    "all": mixture.section,
    "window": window.section,
    "prices": prices.section,
    "choices": choices.section,
    THRESHOLDS: thresholds.section,
    oscillation.NAME: boundary.section,
    arrivals.NAME: newcomers.section,
    increases.NAME: increase.section,
}
_FIGURES: Final[dict[str, Any]] = {"alone": figures.homogeneous, "half": figures.mixed}


def report(observed: Observed, claims: Mapping[str, Claim]) -> Report:
    """Lead, sections, figures and tables."""
    mixing = {each.name: each.mixing for each in observed.chosen.experiments}
    sections: list[Section] = []
    drawn = []
    for name, found in observed.found.items():
        if name.startswith("sensitivity"):
            sections.append(sensitivity.section(found, claims))
            drawn.append((figures.sensitivity, found))
            continue
        kind = name if name in _SECTIONS else mixing[name]
        sections.append(_SECTIONS[kind](found))
        if kind in _FIGURES:
            drawn.append((_FIGURES[kind], found))
    spent, responses = observed.costs, observed.responses
    if spent is not None:
        sections.append(costs.section(spent))

    def draw(folder: Path) -> list[Path]:
        return [file for written, found in drawn for file in written(folder, found)]

    return Report(
        "Congestion controls in an Internet-like network",
        _lead(observed.chosen, claims),
        sections,
        draw,
        {name: table for name, table in (("responses", responses), ("costs", spent)) if table is not None},
    )


def _lead(chosen: Chosen, claims: Mapping[str, Claim]) -> str:
    failed = sum(claim.holds is False for claim in claims.values())
    return (
        "*Which of twenty parameters govern an Internet-like network, and what if it changed its TCP?* K. Mills and "
        "others at NIST simulated four tiers of routers and up to 278,000 sources (2010). Their experiments are redone "
        f"here: {', '.join(chosen.names)}.\n\n"
        f"**{_sizes(chosen)}** {_what_became_of_it(chosen)}What a claim says holds, or "
        f"not, at this size.\n\nOur runs contradict {failed} of {len(claims)} claims; each says what came out."
    )


def _sizes(chosen: Chosen) -> str:
    """At what size experiments were run, and what was not run but stored."""
    run = sorted({str(chosen.size_of(each.name)) for each in chosen.experiments if each.name not in chosen.stored})
    said = [f"At {'; '.join(run)}."] if run else []
    if chosen.stored:
        said.append(f"Stored responses, whose sections say their size, are those of {', '.join(chosen.stored)}.")
    return " ".join(said)


def _what_became_of_it(chosen: Chosen) -> str:
    size = chosen.size
    fewer = "" if size.routers == 1 else "The access routers that have users are what they are in the whole network. "
    if size.scale == 1:
        return fewer
    return (
        f"{fewer}Sources and routers' speeds go down together, interfaces and files stay: the smaller the scale, the "
        "fewer users share a router, and the more one transfer fills it. "
    )
