"""Study ``congestion-control``: which of twenty parameters matter, and what if the Internet changed its TCP.

K. Mills and others at NIST simulate an Internet-like network of up to 278,000 sources (Study of Proposed Internet
Congestion Control Mechanisms, Special Publication 500-282, 2010): first which of its parameters matter, then seven
replacements of TCP, alone and beside it. Their method is redone here from design to conclusions, at a chosen scale.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from tightlink import units
from tightlink.errors import ScenarioError, closest, one_of
from tightlink.studies.congestion_control import costs, figures, homogeneous, mixed, sensitivity
from tightlink.studies.congestion_control.evidence import Evidence, gather, together
from tightlink.studies.congestion_control.experiment import NAMES, Experiment, Size, experiment
from tightlink.studies.congestion_control.homogeneous import Homogeneous
from tightlink.studies.congestion_control.mixed import Mixed
from tightlink.studies.congestion_control.sensitivity import Sensitivity
from tightlink.studies.study import Findings, Study

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.report import Section
    from tightlink.run import Run

#: What runs in about ten minutes on two cores.
DEFAULT: Final = Size(Fraction(1, 100), "3 min")
CHOSEN: Final = ("sensitivity", "1b", "2b")
_ALONE: Final = "sensitivity-"
#: That `--experiments` knows: the sensitivity analysis is one.
_KNOWN: Final = tuple(name for name in NAMES if not name.startswith(_ALONE))


def tasks(experiments: Sequence[Experiment], size: Size) -> list[Task]:
    """Everything that is simulated."""
    return [task for each in experiments for task in each.tasks(size)]


def findings(experiments: Sequence[Experiment], size: Size, runs: Mapping[str, Run]) -> Findings:
    """Claims, report and figures, all from the runs."""
    found = {each.name: gather(each, size, runs) for each in experiments}
    claims: list[Claim] = []
    sections: list[Section] = []
    analysed: list[Sensitivity | Homogeneous | Mixed] = []
    if "sensitivity" in found:
        alone = {name.removeprefix(_ALONE): each for name, each in found.items() if name.startswith(_ALONE)}
        own = Sensitivity(found["sensitivity"], alone)
        claims += sensitivity.claims(own)
        sections.append(sensitivity.section(own, claims))
        analysed.append(own)
    for each in found.values():
        if each.experiment.name.startswith("sensitivity"):
            continue
        if each.experiment.beside:
            two = Mixed(each)
            claims += mixed.claims(two)
            sections.append(mixed.section(two))
            analysed.append(two)
        else:
            one = Homogeneous(each)
            claims += homogeneous.claims(one)
            sections.append(homogeneous.section(one))
            analysed.append(one)
    sections.append(costs.section(list(found.values())))
    return Findings(
        "Congestion controls in an Internet-like network",
        _lead(list(found.values()), claims, size),
        claims,
        sections,
        lambda folder: figures.draw(folder, analysed),
        {"responses": together(found.values()), "costs": costs.table(list(found.values()))},
    )


def _lead(found: Sequence[Evidence], claims: Sequence[Claim], size: Size) -> str:
    failed = sum(claim.holds is False for claim in claims)
    names = ", ".join(each.experiment.name for each in found)
    return (
        "*Which of twenty parameters govern an Internet-like network, and what if it changed its TCP?* K. Mills and "
        "others at NIST simulated four tiers of routers and up to 278,000 sources (2010). Their experiments are redone "
        f"here: {names}.\n\n"
        f"**At {size}.** Sources and routers' speeds go down together, interfaces and files stay: the smaller the "
        "scale, the fewer users share a router, and the more one transfer fills it. What a claim says holds, or not, "
        f"at this scale.\n\n{failed} of {len(claims)} claims do not hold; each says what came out."
    )


def _adapted(options: Mapping[str, str]) -> Study:
    """The study with another size or other experiments.

    Raises:
        ScenarioError: An option has no such value.
    """
    size = DEFAULT
    if "scale" in options:
        size = replace(size, scale=_scale(options["scale"]))
    if "duration" in options:
        size = replace(size, duration=_duration(options["duration"]))
    names = CHOSEN if "experiments" not in options else _names(options["experiments"])
    command = "".join(
        f' --{name} "{value}"' if " " in value else f" --{name} {value}" for name, value in options.items()
    )
    return _study(names, size, command)


def _scale(text: str) -> Fraction:
    try:
        scale = Fraction(text)
    except (ValueError, ZeroDivisionError):
        scale = Fraction(0)
    if not 0 < scale <= 1:
        raise ScenarioError("a part of the document's networks, such as 1/100 or 0.01", key="--scale", value=text)
    return scale


def _duration(text: str) -> str:
    try:
        seconds = units.time(text)
    except ScenarioError as error:
        raise ScenarioError('a time, such as "25 min"', key="--duration", value=text) from error
    if seconds < _SHORTEST_S:
        raise ScenarioError(
            f'at least "{_SHORTEST_S} s", of which three periods are a fifth each', key="--duration", value=text
        )
    return text


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    for name in names:
        if name not in _KNOWN:
            raise ScenarioError(one_of(_KNOWN), key="--experiments", value=name, suggestion=closest(name, _KNOWN))
    return names


#: A period must have some intervals.
_SHORTEST_S: Final = 30


def _study(names: Sequence[str], size: Size, command: str = "") -> Study:
    chosen = [experiment(name) for name in NAMES if name.removesuffix("-reno").removesuffix("-compound") in names]
    for each in chosen:
        each.check(size)
    return Study(
        "congestion-control",
        "which of twenty parameters govern an Internet-like network, and seven controls in it (NIST 2010)",
        partial(tasks, chosen, size),
        partial(findings, chosen, size),
        command=command,
        adapt=_adapted,
    )


STUDY: Final = _study(CHOSEN, DEFAULT)
