"""Experiments: what is varied, what is claimed, and what came out.

Example:
    >>> from tightlink.experiment import claims
    >>> claims.compared("packets", "2385 packets are sent", "table 1", 2385, 2385).holds
    True
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tightlink.experiment.factors import Factor
from tightlink.experiment.folder import Experiment
from tightlink.experiment.plan import Plan
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.running import run
from tightlink.scenario import Scenario
from tightlink.simulate import check_scenario


def open(folder: str | os.PathLike[str]) -> Experiment:  # noqa: A001
    """The results of a sweep or a study, as lazy polars frames, by SQL, or run by run.

    Raises:
        TightlinkError: The folder holds neither, or a newer version wrote it.
    """
    return Experiment(folder)


def sweep(
    scenario: Scenario,
    vary: Mapping[Any, object] | Iterable[Factor] | None = None,
    *,
    output: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
    **settings: Any,
) -> Experiment:
    """Run a scenario at many levels of what is varied.

    Args:
        scenario: What is varied.
        vary: Levels by key: a list, or a text such as ``"1..20"``. Several keys that change together are a
            tuple of keys, with tuples of values.
        output: Folder for the results, in which an interrupted sweep continues; without it, a temporary one.
        jobs: Runs to simulate at a time; the results do not depend on it.
        cluster: Address of a Dask scheduler to simulate them instead.
        watch: Told after every run how far it is.
        settings: ``design``, ``replications``, ``precision`` and others, see `tightlink.experiment.plan.Settings`.

    Raises:
        ScenarioError: A factor hits nothing, a level is wrong, or a design does not suit.
        TightlinkError: The folder holds something else.

    Example:
        >>> import tightlink as tl
        >>> base = tl.loads('''
        ... profile = "ns2"
        ... duration = "1 s"
        ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
        ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        ... ''')
        >>> found = tl.sweep(base, {"traffic.ftp.tcp.window": ["2 packets", "20 packets"]}, jobs=2)
        >>> found.runs.select("run", "packets_sent").collect().rows()
        [('0/0', 83.0), ('1/0', 245.0)]
    """
    check_scenario(scenario)
    return run(Plan.of(scenario, vary, **settings), output, jobs=jobs, cluster=cluster, watch=watch)
