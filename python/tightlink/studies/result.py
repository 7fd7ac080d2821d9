"""What a study came to, and how one is run from Python.

Example:
    >>> import tempfile
    >>> import tightlink as tl
    >>> base = tl.loads('''
    ... duration = "2 s"
    ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms", queue = "50 packets" }
    ... traffic.ftp = { kind = "bulk", from = "a", to = "b", tcp = { window = "8 packets" } }
    ... ''')
    >>> window = tl.Study(
    ...     "window",
    ...     "a window that fills a link",
    ...     tasks=lambda: {"eight": base},
    ...     observe=lambda runs: {"eight.utilization": runs["eight"].links["utilization"][0]},
    ...     claims='''
    ...         [[claims]]
    ...         id = "full"
    ...         statement = "Eight packets fill the link"
    ...         source = "arithmetic"
    ...         origin = "theory"
    ...         observed = "eight.utilization"
    ...         holds = "eight.utilization > 0.95"
    ...     ''',
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = tl.study(window, folder)
    >>> found.claims[0].verdict, found.exit_code
    ('holds', 0)
"""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from tightlink.experiment import claims as claimed
from tightlink.studies import named
from tightlink.studies.study import run_study

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import polars as pl

    from tightlink.experiment.claims import Claim
    from tightlink.experiment.progress import ExperimentProgress
    from tightlink.studies.study import Study


@dataclass(frozen=True)
class StudyResult:
    """A study that was run."""

    name: str
    folder: Path
    """Where its runs, tables, figures and report are."""
    claims: Sequence[Claim]

    @property
    def report(self) -> Path:
        """The report, one HTML file."""
        return self.folder / "report.html"

    @property
    def exit_code(self) -> int:
        """3 if a claim does not hold, else 0."""
        return claimed.exit_code(self.claims)

    @property
    def table(self) -> pl.DataFrame:
        """The claims with their verdicts, a row each, in words."""
        import polars as pl

        rows = [
            (claim.id, claim.statement, claim.source, claim.compared_text, claim.observed_text, claim.verdict)
            for claim in self.claims
        ]
        return pl.DataFrame(rows, ["id", "statement", "source", "document", "here", "verdict"], orient="row")

    def __str__(self) -> str:
        out = StringIO()
        claimed.print_table(self.claims, out)
        return out.getvalue().rstrip()


def study(  # noqa: PLR0913
    what: str | os.PathLike[str] | Study,
    output: str | os.PathLike[str] | None = None,
    *,
    jobs: int = 1,
    cluster: str | None = None,
    options: Mapping[str, str] | None = None,
    with_lab: bool = False,
    progress: Callable[[str], None] | None = None,
    watch: Callable[[ExperimentProgress], None] | None = None,
) -> StudyResult:
    """Run a study, or finish one that was interrupted: runs that are in its folder are not run again.

    Args:
        what: Name of a study, as `tightlink.studies.names` lists them, a Python file that defines one, or a `Study`.
        output: Folder for runs, tables, claims, figures and report; without it, results/NAME.
        jobs: Runs to simulate at a time; the results do not depend on it.
        cluster: Address of a Dask scheduler to simulate the runs instead.
        options: What the study is asked for, by name: "live", or those of `Study.options`.
        with_lab: Whether the report opens the scenarios in the lab, for which it contains the engine.
        progress: Told, line by line, what it is doing.
        watch: Told after every run how far it is.

    Raises:
        ScenarioError: There is no such study, or it has no such option.
        TightlinkError: The folder holds something else, another process works in it, or runs failed.
    """
    chosen = named(what)
    folder = Path("results") / chosen.name if output is None else Path(output)
    asked = chosen.with_options(options or {})
    run_study(asked, folder, jobs, progress or (lambda _: None), cluster=cluster, watch=watch, with_lab=with_lab)
    return StudyResult(chosen.name, folder, claimed.load(folder / "claims.json"))
