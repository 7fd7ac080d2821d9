"""Enough replications: how many it takes until the mean of a metric is known well enough.

The half width of the confidence interval of a mean is t·s/√n (Law and Kelton, Simulation Modeling and
Analysis, section 9.4). As n is chosen by looking at s, intervals are a little narrower than they say; few
first replications make that worse.

Repeated measurements are told by their median, which one disturbed measurement hardly moves; it widens the interval.

Example:
    >>> wanted = Precision.parse("goodput_bps=5 %")
    >>> wanted.enough([9.0, 10.0, 11.0, 10.0, 10.0]), wanted.further([9.0, 10.0, 11.0, 10.0, 10.0])
    (False, 6)
    >>> round(half_width([9.0, 10.0, 11.0, 10.0, 10.0]), 3)
    0.878
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from tightlink import units
from tightlink.console import largest
from tightlink.errors import ScenarioError
from tightlink.tables import as_now

CONFIDENCE: Final = 0.95
#: With fewer, the first guess of the spread is too rough to stop at.
FEWEST: Final = 5
#: Replications of a cell at most, where nothing else is said.
MOST_REPLICATIONS: Final = 100
#: Cells that a sentence names.
_MOST_SHOWN: Final = 20


@dataclass(frozen=True)
class Precision:
    """How narrow the confidence interval of a metric's mean shall be."""

    metric: str
    half_width: float
    relative: bool
    """Whether that is a share of the mean, rather than in the metric's unit."""
    most: int = MOST_REPLICATIONS
    """Replications of a cell at most."""

    @classmethod
    def parse(cls, text: str, most: int = MOST_REPLICATIONS) -> Self:
        """A precision as it stands in ``--precision``: ``metric=5 %``, or ``metric=NUMBER`` in the metric's unit."""
        metric, _, value = (part.strip() for part in text.partition("="))
        relative = value.endswith("%")
        try:
            number = units.fraction(value) if relative else float(value)
        except (ScenarioError, ValueError):
            number = math.nan
        if not metric or not (number > 0 and math.isfinite(number)):
            expected = 'metric=SHARE or metric=NUMBER, such as "goodput_bps=5 %"'
            raise ScenarioError(expected, key="precision", value=text)
        if not relative and number >= (most_of := largest(metric.rpartition(".")[2])):
            expected = (
                f"less than {most_of:g}, the largest {metric} that there can be, or a share of the mean in per cent"
            )
            raise ScenarioError(expected, key="precision", value=text, suggestion=f'"{metric}={value} %"')
        return cls(as_now(metric), number, relative, most)

    def allowed(self, values: Sequence[float]) -> float:
        """The largest half width that is narrow enough for these replications."""
        return self.half_width * abs(statistics.fmean(values)) if self.relative else self.half_width

    def enough(self, values: Sequence[float]) -> bool:
        """Whether the interval is narrow enough."""
        return len(values) > 1 and half_width(values) <= self.allowed(values)

    def needed(self, values: Sequence[float]) -> int:
        """How many replications it will probably take in all, by the spread of these; at most `most`."""
        allowed = self.allowed(values)
        guess = math.inf if allowed == 0 else len(values) * (half_width(values) / allowed) ** 2
        return math.ceil(guess) if guess < self.most else self.most

    def further(self, values: Sequence[float]) -> int:
        """How many more replications to make next; at most as many as there are, plus one."""
        there = len(values)
        return max(1, min(self.needed(values) - there, there + 1))

    def __str__(self) -> str:
        width = f"{100 * self.half_width:g} %" if self.relative else f"{self.half_width:g}"
        return f"{self.metric} ± {width}"


def missed(cells: Sequence[str], total: int, precision: str, most: int | None) -> str:
    """What to say of cells that did not get to a precision.

    >>> missed(["0", "2"], 3, "goodput_bps ± 2 %", 5)
    '2 of 3 combinations did not get to goodput_bps ± 2 % within 5 replications: 0, 2'
    """
    within = "" if most is None else f" within {most} replications"
    named = ", ".join(cells[:_MOST_SHOWN]) + (", …" if len(cells) > _MOST_SHOWN else "")
    return f"{len(cells)} of {total} combinations did not get to {precision}{within}: {named}"


def half_width(values: Sequence[float]) -> float:
    """Half the confidence interval of the mean of independent replications, by Student's t; NaN of fewer than two."""
    if len(values) < 2:  # noqa: PLR2004
        return math.nan
    deviation = statistics.stdev(values)
    return deviation and student_t(len(values)) * deviation / math.sqrt(len(values))


def student_t(count: int) -> float:
    """Half the confidence interval of the mean of so many replications, in standard errors.

    >>> round(student_t(5), 3)
    2.776
    """
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, (1 + CONFIDENCE) / 2))


def median_half_width(values: Sequence[float]) -> float:
    """Half the 95 % interval of the median of independent replications; NaN of fewer than two.

    √(π/2) times that of the mean, by Student's t: the standard error of the median of many normal values is larger by
    that factor (H. Cramér: Mathematical Methods of Statistics, 1946, section 28.5). It holds the median of normal and
    exponential values, and of those with heavier tails, in at least 95 % of cases from three values on; of uniform
    ones in 92 % at up to ten, and in fewer of more.

    >>> round(median_half_width([9.0, 10.0, 11.0, 10.0, 10.0]), 3)
    1.1
    """
    return math.sqrt(math.pi / 2) * half_width(values)


def median_has_converged(values: Sequence[float], share: float) -> bool:
    """Whether half the 95 % interval of the median is at most this share of it; not of fewer than two.

    >>> [median_has_converged([9.0, 10.0, 11.0, 10.0, 10.0], share) for share in (0.15, 0.1)]
    [True, False]
    """
    return len(values) > 1 and median_half_width(values) <= share * abs(statistics.median(values))
