"""Studies: documents that are simulated again from end to end, with their figures beside ours.

Example:
    >>> [name for name, _ in names()]  # doctest: +NORMALIZE_WHITESPACE
    ['one-flow', 'link-saturation', 'router-response', 'congestion-basics', 'bulk-throughput', 'congestion-control',
     'network-congestion']
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink.errors import ScenarioError, closest, one_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from tightlink.experiment.progress import ExperimentProgress
    from tightlink.studies.study import Study

#: Every study: its name, a line of help, and the module that defines it as STUDY.
_STUDIES: Final = {
    "one-flow": ("one TCP or UDP flow over one link, then with company (Balliache 2003)", "one_flow"),
    "link-saturation": (
        "UDP of all packet sizes over one link: limited by bits, then by packets (Smith 2009)",
        "link_saturation",
    ),
    "router-response": (
        "a router's load over packet rate, bit rate and packet length (Paredes-Farrera et al. 2006)",
        "router_response",
    ),
    "congestion-basics": (
        "phases of a flow, 89 % of a path, and response functions of congestion controls (NIST 2011)",
        "congestion_basics",
    ),
    "bulk-throughput": (
        "windows and flows on four wide-area paths: what to expect, what to choose (SLAC 2000)",
        "bulk_throughput",
    ),
    "congestion-control": (
        "which of twenty parameters govern an Internet-like network, and seven controls in it (NIST 2010)",
        "congestion_control",
    ),
    "network-congestion": (
        "where congestion begins on graphs of many kinds: critical load, fluctuations, invariants (Smith 2009)",
        "network_congestion",
    ),
}


def names() -> list[tuple[str, str]]:
    """Names of the studies, with a line of help each."""
    return [(name, text) for name, (text, _) in _STUDIES.items()]


def run(  # noqa: PLR0913
    name: str,
    out: str | os.PathLike[str],
    jobs: int = 1,
    progress: Callable[[str], None] | None = None,
    *,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
    options: Mapping[str, str] | None = None,
    with_lab: bool = False,
) -> int:
    """Redo a study and leave its results in a folder.

    Args:
        name: As `names` lists it.
        out: Folder for runs, table, claims, figures and report; an interrupted study goes on where it was.
        jobs: Runs to simulate at a time; the results do not depend on it.
        progress: Told, line by line, what it is doing.
        cluster: Address of a Dask scheduler to simulate the runs instead.
        watch: Told after every run how far it is.
        options: What the study is asked for, by name, such as scale, if it has options.
        with_lab: Whether the report opens the scenarios in the lab, for which it contains the engine.

    Returns:
        0, or 3 if a claim of the document does not hold.

    Raises:
        ScenarioError: There is no such study, or it has no such option.
        TightlinkError: The folder holds something else.
    """
    if name not in _STUDIES:
        raise ScenarioError(one_of(list(_STUDIES)), key="study", value=name, suggestion=closest(name, list(_STUDIES)))
    from tightlink.studies.study import run_study

    study: Study = import_module(f"tightlink.studies.{_STUDIES[name][1]}").STUDY
    study = study.with_options(options or {})
    return run_study(
        study, Path(out), jobs, progress or (lambda _: None), cluster=cluster, watch=watch, with_lab=with_lab
    )
