"""Study ``evaluation``: congestion controls, or queues, of one's choice through one pack of tests, side by side.

The tests of controls are in the terms of RFC 5166 (metrics), RFC 9743 (what to evaluate in a new control) and the
Common TCP Evaluation Suite (draft-irtf-iccrg-tcpeval), those of queues after RFC 7928. It claims nothing; named packs
say whether each control meets what they ask.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final
from warnings import warn

from tightlink import arguments
from tightlink.calls import CALLER, answered
from tightlink.errors import ScenarioError, TightlinkWarning
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.workplace import place_of
from tightlink.studies.evaluation.observe import Evaluation, observe
from tightlink.studies.evaluation.setup import chosen, trials
from tightlink.studies.evaluation.setup.subjects import Given, Kind, listed, subjects
from tightlink.studies.running import study
from tightlink.studies.study import Study, typed

#: Standard TCP (RFC 5681), the default of most systems (RFC 9438), and what does not wait for losses.
_CONTROLS: Final = ("reno", "cubic", "bbr")
_OPTIONS: Final = {
    "congestion": 'congestion controls to evaluate, such as "reno, fast:alpha=20 packets"',
    "queues": 'queues to evaluate instead, by the pack of RFC 7928, such as "codel, cake:isolation=flows"',
    "tests": "which tests to make, such as ramp-up,queues",
    "pack": "named pack of tests to make instead of all, such as rfc9743, with a verdict on each requirement",
}


def of(
    given: Iterable[Given], tests: Iterable[str] | None = None, *, queues: bool = False, pack: str | None = None
) -> Study:
    """The study of these controls or queues in these tests, or in those of a named pack; in all if none is named.

    Raises:
        ScenarioError: There is no such control, queue, option, test or pack.
    """
    kind: Kind = "queue" if queues else "control"
    those, made = subjects(given, kind), chosen(kind, tests, pack)
    planned = trials(those, made)
    words = {"queues" if queues else "congestion": ", ".join(label for label, _ in those)}
    if pack is not None:
        words["pack"] = pack
    elif len(made) < len(chosen(kind)):
        words["tests"] = ",".join(test.name for test in made)
    return Study.shipped(
        __file__,
        tasks=lambda: [task for trial in planned for task in trial.tasks()],
        observe=partial(observe, kind, those, made, pack, planned),
        claims=None,
        folder="queues" if queues else "",
        command=typed(words),
        options=_OPTIONS,
        adapt=_adapted,
        partial=True,
    )


def _adapted(options: Mapping[str, str]) -> Study:
    """The study that was asked for."""
    tests = [name.strip() for name in options["tests"].split(",")] if "tests" in options else None
    pack = options.get("pack")
    if {"queues", "congestion"} <= options.keys():
        raise ScenarioError("either congestion or queues, not both", key="queues", value=options["queues"])
    if "queues" in options:
        return of(listed(options["queues"]), tests, queues=True, pack=pack)
    return of(listed(options["congestion"]) if "congestion" in options else _CONTROLS, tests, pack=pack)


@answered()
def evaluate(  # noqa: PLR0913
    those: Iterable[Given],
    *,
    queues: bool = False,
    tests: Iterable[str] | None = None,
    pack: str | None = None,
    output: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    with_lab: bool = False,
    progress: Callable[[str], None] | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> Evaluation:
    """Put congestion controls, or queue disciplines, through their pack of tests.

    Args:
        those: Names, NAME:option=value,…, classes of controls written in Python, or tables with a ``kind``, as
            ``tcp.congestion`` or a link's ``queue`` has them.
        queues: Whether they are queues; else they are congestion controls.
        tests: Names of tests; without them, all.
        pack: Name of a pack of tests instead, "rfc9743" or "wireless", of whose requirements there are verdicts.
        output: Folder for runs, tables and report, in which an interrupted evaluation continues; without it, a
            temporary one that goes when Python ends.
        jobs: Runs to simulate at a time; the results do not depend on it.
        cluster: Address of a Dask scheduler to simulate them instead.
        with_lab: Whether the report opens the scenarios in the lab, for which it contains the engine.
        progress: Told, line by line, what it is doing.
        watch: Told after every run how far it is.

    Returns:
        The tables of the tests and, of a pack, its verdicts; without the runs that failed, if some did.

    Raises:
        ScenarioError: There is no such control, queue, option, test or pack.
        TightlinkError: The folder holds something else, another process works in it, or all runs failed.

    Warns:
        TightlinkWarning: Runs failed.

    Example:
        >>> import tightlink as tl
        >>> found = tl.evaluate(["reno", "cubic"], tests=["ramp-up"])
        >>> found.summary.filter(setting="threshold of 100 packets").select("control", "never").rows()
        [('reno', 1), ('cubic', 0)]
        >>> found
        <Evaluation of reno, cubic: 1 test, 4 measures>
    """
    those = arguments.several("those", those)
    tests = None if tests is None else [arguments.text("tests", name) for name in arguments.several("tests", tests)]
    wanted = of(those, tests, queues=arguments.truth("queues", queues), pack=pack)
    folder = place_of(output)
    found = study(wanted, folder, jobs=jobs, cluster=cluster, with_lab=with_lab, progress=progress, watch=watch)
    for text in found.warnings:
        warn(text, TightlinkWarning, stacklevel=CALLER)
    evaluation: Evaluation = replace(found.observed, folder=folder)
    return evaluation


STUDY: Final = _adapted({})
