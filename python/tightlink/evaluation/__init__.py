"""The evaluation pack: one set of tests for every congestion control, and one comparable report.

Example:
    >>> import tightlink as tl
    >>> found = tl.evaluate(["reno", "fast:alpha=20 packets"], tests=["ramp-up"])
    >>> found.summary.columns
    ['control', 'test', 'setting', 'measure', 'value', 'half_width', 'replications', 'never']
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable

    from tightlink.evaluation.controls import Given
    from tightlink.evaluation.found import Evaluation
    from tightlink.experiment.progress import ExperimentProgress


def evaluate(
    controls: Iterable[Given],
    *,
    tests: Iterable[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> Evaluation:
    """Put congestion controls through the evaluation pack.

    Args:
        controls: Names, NAME:option=value,…, or tables with a ``kind``, as ``tcp.congestion`` has them.
        tests: Names of tests; without them, all.
        output: Folder for runs, measures and report, in which an interrupted evaluation goes on; without it, a
            temporary one.
        jobs: Runs to simulate at a time; the results do not depend on it.
        cluster: Address of a Dask scheduler to simulate them instead.
        watch: Told after every run how far it is.

    Raises:
        ScenarioError: There is no such control, option or test.
        TightlinkError: The folder holds something else.
    """
    from tightlink.evaluation.controls import controls as checked
    from tightlink.evaluation.pack import chosen
    from tightlink.evaluation.running import run

    return run(checked(controls), chosen(tests), output, jobs=jobs, cluster=cluster, watch=watch)
