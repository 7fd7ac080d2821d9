"""Study ``congestion-control``: which of twenty parameters matter, and what if the Internet changed its TCP.

K. Mills and others at NIST simulate an Internet-like network of up to 278,000 sources (Study of Proposed Internet
Congestion Control Mechanisms, Special Publication 500-282, 2010): first which of its parameters matter, then seven
replacements of TCP, alone and beside it. Their method is redone here from design to conclusions, at a chosen scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from tightlink import units
from tightlink.errors import ScenarioError, closest, one_of
from tightlink.experiment.metrics import metrics
from tightlink.studies.congestion_control import (
    boundary,
    costs,
    homogeneous,
    mixed,
    mixture,
    newcomers,
    prices,
    sensitivity,
    window,
)
from tightlink.studies.congestion_control.evidence import Evidence, gather, together
from tightlink.studies.congestion_control.experiment import LARGE, NAMES, OF_ONE, Experiment, Size, experiment
from tightlink.studies.study import Findings, Study
from tightlink.tables import counted, measured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.execute import Task
    from tightlink.run import Run
    from tightlink.studies.congestion_control.part import Part

#: What runs in about ten minutes on two cores, with `CHOSEN`.
DEFAULT: Final = Size(Fraction(1, 100), "2 min")
CHOSEN: Final = ("sensitivity", "1b", boundary.NAME, newcomers.NAME)
WHOLE: Final = "sensitivity"
#: Those on a single link, which have one size.
_ON_ONE_LINK: Final = {boundary.NAME: boundary, newcomers.NAME: newcomers}
#: That `--experiments` knows: the sensitivity analysis is one with its designs of one control.
_KNOWN: Final = (*(name for name in NAMES if name not in OF_ONE), *_ON_ONE_LINK)
#: What the table of runs has of users and of flows.
_EVERY_RUN: Final = ("loss", "utilization", "queue_mean_packets")
#: A period must have some intervals.
_SHORTEST_S: Final = 30


@dataclass(frozen=True)
class Chosen:
    """What is run: experiments in the four-tier network, at a size, and those on a single link."""

    experiments: tuple[Experiment, ...]
    size: Size
    on_one_link: tuple[str, ...]

    def tasks(self) -> list[Task]:
        """Everything that is simulated."""
        own = [task for each in self.experiments for task in each.tasks(self.size)]
        return [*own, *(task for name in self.on_one_link for task in _ON_ONE_LINK[name].tasks())]

    def findings(self, runs: Mapping[str, Run]) -> Findings:
        """Claims, report and figures, all from the runs."""
        found = {each.name: gather(each, self.size, runs) for each in self.experiments}
        parts = [*_parts(found), *(_ON_ONE_LINK[name].part(runs) for name in self.on_one_link)]
        claims = [claim for each in parts for claim in each.claims]
        spent = costs.table(list(found.values())) if found else None
        return Findings(
            "Congestion controls in an Internet-like network",
            _lead([*found, *self.on_one_link], claims, self.size),
            claims,
            [*(each.section for each in parts), *([] if spent is None else [costs.section(spent)])],
            lambda folder: [file for each in parts for file in each.draw(folder)],
            {} if spent is None else {"responses": together(found.values()), "costs": spent},
        )


def _parts(found: Mapping[str, Evidence]) -> Iterator[Part]:
    """Of each experiment in the four-tier network."""
    alone = {each.experiment.algorithms[0]: each for name, each in found.items() if name in OF_ONE}
    for name, each in found.items():
        if name in {WHOLE, LARGE}:
            yield sensitivity.part(each, alone if name == WHOLE else {})
        elif name not in OF_ONE:
            yield _PARTS.get(name, _BY_MIXING[each.experiment.mixing])(each)


_BY_MIXING: Final = {"alone": homogeneous.part, "half": mixed.part, "all": mixture.part}
_PARTS: Final = {"window": window.part, prices.CONTROL: prices.part}


def row(run: Run) -> dict[str, float | str]:
    """What the table of runs says of a run: of one of users more than of one of flows."""
    found = metrics(run)
    return {name: found.get(name, math.nan) for name in (*counted("users"), *measured("users"), *_EVERY_RUN)}


def _lead(names: Sequence[str], claims: Sequence[Claim], size: Size) -> str:
    failed = sum(claim.holds is False for claim in claims)
    return (
        "*Which of twenty parameters govern an Internet-like network, and what if it changed its TCP?* K. Mills and "
        "others at NIST simulated four tiers of routers and up to 278,000 sources (2010). Their experiments are redone "
        f"here: {', '.join(names)}.\n\n"
        f"**At {size}.** Sources and routers' speeds go down together, interfaces and files stay: the smaller the "
        "scale, the fewer users share a router, and the more one transfer fills it. What a claim says holds, or not, "
        f"at this scale.\n\nOur runs contradict {failed} of {len(claims)} claims; each says what came out."
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


_OPTIONS: Final = {
    "scale": "the part of the document's networks to simulate, such as 1/100",
    "duration": 'simulated time of each run, such as "25 min"',
    "experiments": "which to run, such as sensitivity,1b",
}


def _study(names: Sequence[str], size: Size, command: str = "") -> Study:
    experiments = tuple(experiment(name) for name in NAMES if name in names or (name in OF_ONE and WHOLE in names))
    for each in experiments:
        each.check(size)
    chosen = Chosen(experiments, size, tuple(name for name in _ON_ONE_LINK if name in names))
    return Study(
        "congestion-control",
        "which of twenty parameters govern an Internet-like network, and seven controls in it (NIST 2010)",
        chosen.tasks,
        findings=chosen.findings,
        measure=row,
        command=command,
        options=_OPTIONS,
        adapt=_adapted,
    )


STUDY: Final = _study(CHOSEN, DEFAULT)
