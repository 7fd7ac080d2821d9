"""Effects of factors: means of a response at two levels, and how far they are apart.

In a design in which the levels of other factors are the same at each level of one (full, two-level and
fractional designs), the means differ by that factor alone, as far as the design tells effects apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from tightlink import units
from tightlink.analysis.effects.designed import numbers, present
from tightlink.analysis.measurements import MeasurementError
from tightlink.errors import ScenarioError, show
from tightlink.lazy import Array, NDArray, np, pl

#: What the columns of quantities end in, as in all tables.
_SUFFIXES: Final = {
    units.RATE: "bps",
    units.PACKET_RATE: "pps",
    units.TIME: "s",
    units.SIZE: "bytes",
    units.PACKETS: "packets",
    units.FRACTION: "",
    units.BDP: "bdp",
}
#: Below these an effect is marked so.
STRONG: Final = 0.01
WEAK: Final = 0.05
_MARKS: Final = ((STRONG, "**"), (WEAK, "*"))
_LEVELS: Final = 2
#: A mean this small beside the largest value is zero but for rounding.
_ROUNDING: Final = 1e-12
_MEASURED: Final = ("mean_low", "mean_high", "mean", "effect", "relative_effect", "p")


def alone(runs: pl.DataFrame, key: str, others: Sequence[str]) -> pl.DataFrame:
    """The runs in which the other factors are as in the first one: what a one-at-a-time design compares."""
    first = runs.row(0, named=True)
    return runs.filter(*(pl.col(name).eq_missing(first[name]) for name in others if name != key))


def in_si(levels: Sequence[object]) -> tuple[str, list[float]] | None:
    """Levels as numbers, with the unit that their column's name ends in; nothing where some are words."""
    numbers = [level for level in levels if isinstance(level, int | float) and not isinstance(level, bool)]
    if len(numbers) == len(levels):
        return "", [float(number) for number in numbers]
    if not all(isinstance(level, str) for level in levels):
        return None
    try:
        parsed = [units.parse(level, *_SUFFIXES) for level in levels]
    except ScenarioError:
        return None
    kinds = {kind for kind, _ in parsed}
    if len(kinds) != 1:
        return None
    return _SUFFIXES[kinds.pop()], [float(quantity.exact) for _, quantity in parsed]


def main_effects(
    runs: pl.DataFrame, factors: Sequence[str], responses: Sequence[str], by: Sequence[str] = ()
) -> pl.DataFrame:
    """The main effect of each factor on each response: mean(high) − mean(low), and how sure that is.

    ``p`` is that of Student's two-sample test, of equal variances, between the runs at the low and those at the
    high level: what other factors do is noise to it. NIST 2010 gives marks, and does not say by which test; this
    is the usual one for a two-level factor. Runs without a response are left out.

    Args:
        runs: A row for each run; each factor has two levels.
        factors: Columns of what was varied.
        responses: Columns of numbers that came out.
        by: Columns, such as period or algorithm, for each value of which effects are found apart.

    Returns:
        Columns ``*by``, factor, response, ``low`` and ``high`` (the levels in words), ``mean_low``,
        ``mean_high``, ``mean`` (of all runs), ``effect``, ``relative_effect`` (effect / |mean|), ``p`` (NaN where
        there is no test), ``mark`` ("**" for p < 0.01, "*" for p < 0.05) and ``sign`` ("+", "−"; "" where there is
        no effect).

    Raises:
        MeasurementError: A column is missing or no numbers, or a factor has other than two levels.

    Example:
        >>> queues = ["5 packets", "20 packets", "5 packets", "20 packets"]
        >>> runs = pl.DataFrame({"queue": queues, "flows": [1, 1, 2, 2], "loss": [0.2, 0.0, 0.4, 0.1]})
        >>> in_si(["5 packets", "20 packets"])
        ('packets', [5.0, 20.0])
        >>> tl.analyze.main_effects(runs, ["queue"], ["loss"]).select("low", "high", "effect", "mark", "sign").rows()
        [('5 packets', '20 packets', -0.25000000000000006, '', '−')]
    """
    factors, responses = ([names] if isinstance(names, str) else names for names in (factors, responses))
    found = []
    pairs = {factor: levels(runs, factor) for factor in factors}
    for names, part in parts(runs, by):
        values = dict(zip(responses, numbers(part, responses).T, strict=True))
        for factor in factors:
            at_high = signs(part, factor, pairs[factor]) > 0
            low, high = (in_words(level) for level in pairs[factor])
            found += [
                names | {"factor": factor, "response": response, "low": low, "high": high} | contrast(column, at_high)
                for response, column in values.items()
            ]
    text = (*by, "factor", "response", "low", "high", "mark", "sign")
    order = (*by, "factor", "response", "low", "high", *_MEASURED, "mark", "sign")
    return pl.DataFrame(found, schema={name: pl.String if name in text else pl.Float64 for name in order})


def contrast(values: Array, at_high: NDArray[np.bool_]) -> dict[str, Any]:
    """What `main_effects` says of one factor and one response, which is NaN where a run has none."""
    there = ~np.isnan(values)
    low, high = values[there & ~at_high], values[there & at_high]
    if not (low.size and high.size):
        return {**dict.fromkeys(_MEASURED, math.nan), "mark": "", "sign": ""}
    moves = bool(np.ptp(values[there]))
    effect, mean = float(high.mean() - low.mean()) if moves else 0.0, float(values[there].mean())
    balanced = abs(mean) <= _ROUNDING * float(abs(values[there]).max())
    p = _p_value(low, high)
    return {
        "mean_low": float(low.mean()),
        "mean_high": float(high.mean()),
        "mean": mean,
        "effect": effect,
        "relative_effect": math.nan if balanced else effect / abs(mean),
        "p": p,
        "mark": mark(p),
        "sign": "+" if effect > 0 else "−" if effect < 0 else "",
    }


def mark(p: float) -> str:
    """How an effect is marked.

    >>> mark(0.003), mark(0.03), mark(0.3), mark(math.nan)
    ('**', '*', '', '')
    """
    return next((text for limit, text in _MARKS if p < limit), "")


def levels(runs: pl.DataFrame, factor: str) -> tuple[Any, Any]:
    """The low and the high level of a factor: in the order of their numbers in SI, else as they come.

    Raises:
        MeasurementError: The column is missing, has other than two values, or a run has none.
    """
    present(runs, [factor])
    values = list(dict.fromkeys(runs[factor].to_list()))
    if None in values or any(isinstance(value, float) and math.isnan(value) for value in values):
        raise MeasurementError(f"{factor}: expected a level in every run, and one has none")
    if len(values) != _LEVELS:
        there = f"is one: {show(values[0])}" if len(values) == 1 else f"are {len(values) or 'none'}"
        raise MeasurementError(f"{factor}: expected two levels, and there {there}")
    if all(isinstance(value, bool) for value in values):
        return False, True
    known = in_si(values)
    one, two = values
    return (two, one) if known is not None and known[1][0] > known[1][1] else (one, two)


def signs(runs: pl.DataFrame, factor: str, pair: tuple[Any, Any]) -> NDArray[np.int64]:
    """−1 for each run at the first of two levels, 1 for the others."""
    return np.where((runs[factor] == pair[0]).to_numpy(), -1, 1)


def parts(runs: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[dict[str, str], pl.DataFrame]]:
    """The runs of each combination of values of some columns, in the order in which they come."""
    present(runs, by)
    if not by:
        yield {}, runs
        return
    for values, part in runs.group_by(by, maintain_order=True):
        yield {name: in_words(value) for name, value in zip(by, values, strict=True)}, part


def in_words(level: object) -> str:
    """A level as it is written in tables.

    >>> in_words("5 packets"), in_words(20.0), in_words(True)
    ('5 packets', '20', 'true')
    """
    return level if isinstance(level, str) else f"{level:.12g}" if isinstance(level, float) else show(level)


def _p_value(low: Array, high: Array) -> float:
    """Two-sided, of Student's test for two samples of one variance; NaN where nothing varies or there are too few."""
    from scipy.special import stdtr

    freedom = low.size + high.size - _LEVELS
    apart = abs(float(high.mean() - low.mean()))
    if not (np.ptp(low) or np.ptp(high)):
        # Asked of the values, as the mean of equal numbers need not be that number.
        return 0.0 if freedom and low[0] != high[0] else math.nan
    squares = float(((low - low.mean()) ** 2).sum() + ((high - high.mean()) ** 2).sum())
    error = math.sqrt(squares / freedom * (1 / low.size + 1 / high.size))
    # What varies by less than the square root of the smallest number does not vary.
    return float(2 * stdtr(freedom, -apart / error)) if error else 0.0 if apart else math.nan
