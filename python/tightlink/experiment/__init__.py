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
from warnings import warn

from tightlink import arguments
from tightlink.calls import CALLER, answered
from tightlink.errors import TightlinkWarning
from tightlink.experiment.factors import Factor
from tightlink.experiment.folder import Experiment
from tightlink.experiment.invalid import CHECK_FIRST_S, invalid
from tightlink.experiment.plan import Plan
from tightlink.experiment.progress import ExperimentProgress
from tightlink.experiment.running import run
from tightlink.experiment.store import Store
from tightlink.progress import check_watch
from tightlink.scenario import Scenario
from tightlink.scenario.as_keys import as_keys
from tightlink.simulate import check_scenario

__all__ = ["Experiment", "open", "sweep"]


@answered()
def open(folder: str | os.PathLike[str]) -> Experiment:  # noqa: A001
    """The results of a sweep or a study, as lazy polars frames, by SQL, or run by run.

    Raises:
        TightlinkError: The folder holds neither, or a newer version wrote it.
    """
    return Experiment(folder)


@answered(as_keys("tl.sweep(scenario.set({key}, {value}), …)", "tl.sweep(scenario, {{{key}: {value}}})"))
def sweep(  # noqa: PLR0913
    scenario: Scenario,
    vary: Mapping[Any, object] | Iterable[Factor] | None = None,
    *,
    replications: int | None = None,
    design: str = "full",
    resolution: int | None = None,
    runs: int | None = None,
    design_seed: int | None = None,
    precision: str | None = None,
    max_replications: int | None = None,
    max_runs: int = 100_000,
    output: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> Experiment:
    """Run a scenario at many levels of what is varied.

    Args:
        scenario: What is varied.
        vary: Levels by key: a list, or a text such as ``"1..20"``. Several keys that change together are a
            tuple of keys, with tuples of values. Without them, the scenario itself in so many replications.
        replications: Runs of each combination, with seeds from the scenario's on (default 1; with a precision, 5 to
            begin with).
        design: Which combinations: "full", "two-level", "fractional", "one-at-a-time", "latin-hypercube", or the name
            of a CSV file.
        resolution: Least resolution of a fractional design.
        runs: Combinations of a Latin hypercube; the most of a fractional design.
        design_seed: Seed of the choice that a Latin hypercube makes (default 1).
        precision: Metric and half width of its 95 % confidence interval, such as "goodput_bps=5 %", to replicate until
            it is met.
        max_replications: Replications of a combination at most where a precision is asked for (default 100).
        max_runs: Runs that there may be; what would make more is refused before it begins.
        output: Folder for the results, in which an interrupted sweep continues; without it, a temporary one that goes
            when Python ends.
        jobs: Runs to simulate at a time; the results do not depend on it.
        cluster: Address of a Dask scheduler to simulate them instead.
        watch: Told after every run how far it is.

    Raises:
        ScenarioError: A factor hits nothing, a level is wrong, or a design does not suit.
        TightlinkError: The folder holds something else.

    Warns:
        TightlinkWarning: A combination cannot be simulated, or runs in the folder are of another engine, which is told
            before the first run; later, one missed its precision, or runs failed (`Experiment.warnings`).

    Example:
        >>> import tightlink as tl
        >>> base = tl.network("dsl").set("duration", "1 s")
        >>> found = tl.sweep(base, {"traffic.download.tcp.window": ["2 packets", "20 packets"]}, jobs=2)
        >>> found.runs.select("run", "packets_sent").collect().rows()
        [('0/0', 44.0), ('1/0', 409.0)]
    """
    check_scenario(scenario)
    check_watch(watch)
    settings = {
        "replications": replications, "design": design, "resolution": resolution, "runs": runs,
        "design_seed": design_seed, "precision": precision, "max_replications": max_replications, "max_runs": max_runs,
    }  # fmt: skip
    plan = Plan.of(scenario, vary, **settings)
    if told := invalid(plan.cells, within_s=CHECK_FIRST_S).sentences():
        warn("\n".join(told), TightlinkWarning, stacklevel=CALLER)
    if output is not None and (outdated := Store(arguments.path("output", output) / "runs").outdated()):
        warn(f"{output}: {outdated}", TightlinkWarning, stacklevel=CALLER)
    found = run(plan, output, jobs=jobs, cluster=cluster, watch=watch)
    for text in found.warnings:
        warn(text, TightlinkWarning, stacklevel=CALLER)
    return found


def __dir__() -> list[str]:
    """What is offered, without what it takes."""
    return __all__
