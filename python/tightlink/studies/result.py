"""What a study came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import polars as pl

from tightlink.experiment import claims as claimed
from tightlink.experiment.claims import Claim
from tightlink.studies.study import Report


@dataclass(frozen=True, repr=False)
class StudyResult:
    """A study that was run."""

    name: str
    folder: Path
    """Where its runs, tables, figures and report are."""
    claims: Sequence[Claim]
    observed: Any
    """What the study observed: its values by name, or more than these."""
    said: Report
    """What the report says of it."""

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
        rows = [
            (claim.id, claim.statement, claim.source, claim.compared_text, claim.observed_text, claim.verdict)
            for claim in self.claims
        ]
        return pl.DataFrame(rows, ["id", "statement", "source", "document", "here", "verdict"], orient="row")

    def __str__(self) -> str:
        out = StringIO()
        claimed.print_table(self.claims, out)
        return out.getvalue().rstrip()

    __repr__ = __str__
