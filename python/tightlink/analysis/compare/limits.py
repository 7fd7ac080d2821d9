"""Limits of changes: what of a comparison went further than somebody allows, for jobs that have to fail then.

Example:
    >>> limit = Limit.parse("one_way_delay_p95_s=+10 %")
    >>> limit.is_passed(0.1), limit.is_passed(0.12), limit.is_passed(-0.5)
    (False, True, False)
    >>> Limit.parse("goodput_bps=-5 %").is_passed(-0.06), Limit.parse("loss=1 %").is_passed(-0.02)
    (True, True)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

from tightlink.analysis.compare.comparison import Comparison
from tightlink.analysis.compare.pairs import SIDES
from tightlink.errors import Argument, ScenarioError, closest, one_of
from tightlink.lazy import pl
from tightlink.numbers import is_share
from tightlink.tables import as_now

_FORM: Final = re.compile(r"\s*([\w.]+)\s*=\s*([-+−]?)\s*(\d+\.?\d*|\.\d+)\s*%\s*", re.ASCII | re.IGNORECASE)
#: A change that is rounded to the limit is none beyond it.
_ROUNDING: Final = 1 + 1e-9


@dataclass(frozen=True)
class Limit:
    """How far a metric may change from the first to the second."""

    text: str
    """As it was written."""
    metric: str
    sign: str
    """Whether it may grow so far, "+", or fall, "-"; either where it is empty."""
    most: float
    """The largest change: a share of the first, or of shares a difference."""

    @classmethod
    def parse(cls, text: str) -> Self:
        """A limit as it stands in ``--limit``: ``metric=+10 %``, ``metric=-5 %``, or ``metric=2 %`` for both ways.

        Raises:
            ScenarioError: It cannot be understood.
        """
        match = _FORM.fullmatch(text)
        if match is None:
            raise ScenarioError('METRIC=CHANGE, such as "one_way_delay_p95_s=+10 %"', key=Argument("limit"), value=text)
        metric, sign, number = match.groups()
        return cls(text.strip(), as_now(metric), sign.replace("−", "-"), float(number) / 100)

    def is_passed(self, change: float) -> bool:
        """Whether a change is larger than that."""
        amount = {"+": change, "-": -change}.get(self.sign, abs(change))
        return amount > self.most * _ROUNDING


def passed(found: Comparison, limit: Limit) -> list[dict[str, Any]]:
    """What of a comparison changed further than a limit.

    Looked at are the lines of the summary with that metric, or where it has none all flows, links and nodes, or all
    combinations of sweeps.

    Returns:
        Of each ``limit``, ``metric``, ``of``, ``first``, ``second`` and ``change``: a share of the first, infinite
        from zero on; of shares the difference.

    Raises:
        ScenarioError: The two do not have this metric in common.
    """
    values = found.values.rename({"entity": "of"})
    over_time = pl.col("table") == "series"
    for rows in (found.summary, values.filter(~over_time), values.filter(over_time)):
        these = rows.filter(metric=limit.metric)
        if these.height:
            changed = [(row, _change(row)) for row in these.iter_rows(named=True)]
            return [
                {"limit": limit.text, "metric": limit.metric, **{key: row[key] for key in ("of", *SIDES)}, "change": by}
                for row, by in changed
                if limit.is_passed(by)
            ]
    known = list(dict.fromkeys([*found.summary["metric"], *values["metric"]]))
    raise ScenarioError(one_of(known), key=Argument("limit"), value=limit.text, suggestion=closest(limit.metric, known))


def _change(row: Mapping[str, Any]) -> float:
    difference = row.get("difference")
    if difference is None:
        difference = row["second"] - row["first"]
    if is_share(row["metric"].rpartition(".")[2]):
        return float(difference)
    if row["change"] is not None:
        return float(row["change"])
    return math.copysign(math.inf, difference) if difference else 0.0
