"""Studies: documents that are simulated again from end to end, with their figures beside ours; and evaluations.

Example:
    >>> [name for name, _ in names()]  # doctest: +NORMALIZE_WHITESPACE
    ['one-flow', 'link-saturation', 'router-response', 'congestion-basics', 'bulk-throughput', 'congestion-control',
     'network-congestion', 'l4s', 'evaluation']
"""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink import arguments
from tightlink.errors import ScenarioError, TightlinkError, closest, one_of
from tightlink.files import run_python

# What lists the names of studies loads none of them.
if TYPE_CHECKING:
    from tightlink.studies.study import Study

#: Every study, with a line of help; the module of its name, with "_", defines it as STUDY.
_STUDIES: Final = {
    "one-flow": "one TCP or UDP flow over one link, then sharing it (Balliache 2003)",
    "link-saturation": "UDP of all packet sizes over one link: limited by bits, then by packets (Smith 2009)",
    "router-response": "a router's load over packet rate, bit rate and packet length (Paredes-Farrera et al. 2006)",
    "congestion-basics": "phases of a flow, 89 % of a path, and response functions of congestion controls (NIST 2011)",
    "bulk-throughput": "windows and flows on four wide-area paths: what to expect, what to choose (SLAC 2000)",
    "congestion-control": (
        "which of twenty parameters govern an Internet-like network, and seven controls in it (NIST 2010)"
    ),
    "network-congestion": (
        "where congestion begins on graphs of many kinds: critical load, fluctuations, invariants (Smith 2009)"
    ),
    "l4s": "Prague and CUBIC through DualPI2: coexistence, delay of both queues, overload (RFC 9332)",
    "evaluation": (
        "congestion controls or queues of your choice through one pack of tests (RFC 5166, RFC 9743, RFC 7928)"
    ),
}


def names() -> list[tuple[str, str]]:
    """Names of the studies, with a line of help each."""
    return list(_STUDIES.items())


def named(what: str | os.PathLike[str] | Study) -> Study:
    """A study that comes with Tightlink, by its name, or one of your own, by its file or as it is.

    Raises:
        ScenarioError: There is no such study.
        TightlinkError: The file cannot be run, or defines no STUDY.
    """
    from tightlink.studies.study import Study

    if isinstance(what, Study):
        return what
    arguments.path("study", what)
    name = os.fspath(what)
    if name in _STUDIES:
        found: Study = import_module(f"tightlink.studies.{name.replace('-', '_')}").STUDY
        return found
    if name.endswith(".py"):
        return _of_file(Path(name))
    if Path(name).exists():
        raise ScenarioError("the name of a study, or a Python file that defines one", key="study", value=name)
    known = list(_STUDIES)
    raise ScenarioError(
        f"{one_of(known)}, or a Python file that defines one", key="study", value=name, suggestion=closest(name, known)
    )


def _of_file(path: Path) -> Study:
    """The STUDY that a Python file defines."""
    from tightlink.studies.study import Study

    found = getattr(run_python(path, "that defines a STUDY"), "STUDY", None)
    if not isinstance(found, Study):
        raise TightlinkError(f"{path}: it defines no STUDY, a tightlink.Study")
    return replace(found, file=str(path))
