"""Designs: which combinations of levels an experiment runs.

Example:
    >>> from tightlink.experiment.factors import Factor
    >>> queue = Factor.parse("link.wire.queue=5 packets,20 packets")
    >>> flows = Factor.parse("traffic.ftp.flows=1..3")
    >>> [len(make([queue, flows], kind).rows) for kind in ("full", "one-at-a-time")]
    [6, 6]
    >>> make([queue, flows], "two-level")
    Traceback (most recent call last):
    tightlink.errors.ScenarioError: traffic.ftp.flows: expected two levels for design two-level, not 3
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, Final, TypeAlias

from tightlink.errors import Argument, ScenarioError, closest, one_of
from tightlink.experiment.factors import Factor, Level, as_text, value_at
from tightlink.experiment.fractional import LOWEST, fewest_runs, fraction
from tightlink.scenario import Scenario, parse_value
from tightlink.scenario.toml import read

#: The level of each factor; nothing where its keys stay as the scenario has them.
Row: TypeAlias = tuple[Level | None, ...]

FULL: Final = "full"
ONE_AT_A_TIME: Final = "one-at-a-time"
LATIN: Final = "latin-hypercube"
CSV: Final = ".csv"
_TWO: Final = 2


@dataclass(frozen=True)
class Design:
    """The combinations to run."""

    kind: str
    factors: tuple[Factor, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """What must be known to read the results, such as generators."""
    aliases: tuple[tuple[str, ...], ...] = ()
    """Effects that the design cannot tell apart, a group each."""


@dataclass(frozen=True)
class Options:
    """What some designs ask for."""

    resolution: int | None = None
    """Of a fractional design: single effects are told apart from products of fewer than this minus one."""
    runs: int | None = None
    """Combinations of a Latin hypercube; the most that a fractional design may have."""
    seed: int | None = None
    """Of the choice that a Latin hypercube makes (default 1)."""
    replicated: bool = False
    """Whether a full design may be without a factor: there are several runs of its one combination."""
    check: Callable[[int], None] = lambda _: None
    """Told how many combinations a design has, before it is made; raises where these are too many."""


def make(factors: Sequence[Factor], kind: str = FULL, options: Options | None = None) -> Design:
    """The design of some factors, of a kind as `KINDS` names it, or in the CSV file of that name."""
    from_file = kind.endswith(CSV)
    if not from_file and kind not in KINDS:
        expected = f"{one_of(KINDS)}, or a file such as design.csv"
        raise ScenarioError(expected, key="design", value=kind, suggestion=closest(kind, KINDS))
    chosen = options or Options()
    _refuse_without_effect(kind, chosen)
    if from_file:
        return _read(Path(kind), factors)
    if not factors and not (kind == FULL and chosen.replicated):
        instead = ", or 2 replications at least" if kind == FULL else ""
        raise ScenarioError(f"at least one factor, such as traffic.bulk.flows=1..20{instead}", key=Argument("vary"))
    _refuse_repeated(factors)
    return KINDS[kind](kind, tuple(factors), chosen)


def _refuse_without_effect(kind: str, options: Options) -> None:
    for name, value, users in (
        ("resolution", options.resolution, ("fractional",)),
        ("runs", options.runs, ("fractional", LATIN)),
        ("design_seed", options.seed, (LATIN,)),
    ):
        if value is not None and kind not in users:
            message = f"nothing here: only design {' and '.join(users)} has it"
            raise ScenarioError(message, key=name, value=value)


def _full(kind: str, factors: tuple[Factor, ...], options: Options) -> Design:
    options.check(prod(len(factor.levels) or 1 for factor in factors))
    return Design(kind, factors, tuple(product(*(_listed(kind, factor) for factor in factors))))


def _two_level(kind: str, factors: tuple[Factor, ...], options: Options) -> Design:
    options.check(_TWO ** len(factors))
    return Design(kind, factors, tuple(product(*(_two(kind, factor) for factor in factors))))


def _fractional(kind: str, factors: tuple[Factor, ...], options: Options) -> Design:
    options.check(_fewest(len(factors), options))
    pairs = [_two(kind, factor) for factor in factors]
    names = [factor.name for factor in factors]
    found = fraction(len(factors), options.resolution, options.runs)
    rows = tuple(
        tuple(pair[0 if sign < 0 else 1] for pair, sign in zip(pairs, row, strict=True)) for row in found.signs.tolist()
    )
    told = "every combination" if found.resolution is None else f"resolution {found.resolution}"
    notes = (f"{len(rows)} of {2 ** len(factors)} combinations: {told}", *found.generators(names))
    return Design(kind, factors, rows, notes, tuple(map(tuple, found.aliases(names))))


def _one_at_a_time(kind: str, factors: tuple[Factor, ...], options: Options) -> Design:
    """The scenario as it stands, then each level of each factor by itself."""
    options.check(1 + sum(len(factor.levels) for factor in factors))
    nothing: Row = (None,) * len(factors)
    alone = [
        (*nothing[:place], level, *nothing[place + 1 :])
        for place, factor in enumerate(factors)
        for level in _listed(kind, factor)
    ]
    return Design(kind, factors, (nothing, *alone))


def _latin_hypercube(kind: str, factors: tuple[Factor, ...], options: Options) -> Design:
    import pydoe

    if options.runs is None or options.runs < 1:
        raise ScenarioError("how many combinations to choose, at least 1", key="runs", value=options.runs)
    options.check(options.runs)
    shares = pydoe.lhs(len(factors), samples=options.runs, seed=1 if options.seed is None else options.seed).tolist()
    rows = tuple(tuple(_at(factor, share) for factor, share in zip(factors, row, strict=True)) for row in shares)
    return Design(kind, factors, rows)


#: The kinds of designs.
KINDS: Final[dict[str, Callable[[str, tuple[Factor, ...], Options], Design]]] = {
    FULL: _full,
    "two-level": _two_level,
    "fractional": _fractional,
    ONE_AT_A_TIME: _one_at_a_time,
    LATIN: _latin_hypercube,
}


def _fewest(factors: int, options: Options) -> int:
    """Of a fraction: a resolution takes so many, and the highest for so many runs takes most of them."""
    if options.resolution is None and options.runs is not None:
        return 1 << min(options.runs.bit_length() - 1, factors)
    return fewest_runs(factors, options.resolution or LOWEST)


def _at(factor: Factor, share: float) -> Level:
    if factor.interval is not None:
        return (factor.interval.at(share),)
    return factor.levels[min(int(share * len(factor.levels)), len(factor.levels) - 1)]


def _listed(kind: str, factor: Factor) -> tuple[Level, ...]:
    if factor.interval is not None:
        low, high = factor.interval.at(0.0), factor.interval.at(1.0)
        expected = f'a step for design {kind}, such as "{low}..{high}:STEP"'
        raise ScenarioError(expected, key=factor.name, value=f"{low}..{high}")
    return factor.levels


def _two(kind: str, factor: Factor) -> tuple[Level, ...]:
    if factor.interval is not None:
        return ((factor.interval.at(0.0),), (factor.interval.at(1.0),))
    if len(factor.levels) != _TWO:
        raise ScenarioError(f"two levels for design {kind}, not {len(factor.levels)}", key=factor.name)
    return factor.levels


def _refuse_repeated(factors: Sequence[Factor]) -> None:
    seen: set[str] = set()
    for factor in factors:
        for key in factor.keys:
            if key in seen:
                raise ScenarioError("each key in one factor only", key=key)
            seen.add(key)


def _read(file: Path, factors: Sequence[Factor]) -> Design:
    """A design of which each line is a combination: the header names the keys."""
    if factors:
        raise ScenarioError("no factors beside a design from a file, which has its own", key=factors[0].name)
    lines = list(csv.reader(io.StringIO(read(file)), skipinitialspace=True))
    header, *rest = [line for line in lines if any(line)] or [[]]
    if not header or not rest:
        raise ScenarioError("a line of keys, and a line for each combination", file=str(file))
    for number, line in enumerate(rest, start=1):
        if len(line) != len(header):
            raise ScenarioError(f"{len(header)} values in combination {number}, not {len(line)}", file=str(file))
    values = [[parse_value(cell.strip()) if cell.strip() else None for cell in line] for line in rest]
    columns = list(zip(*values, strict=True))
    made = [
        Factor((key.strip(),), tuple((value,) for value in _distinct(column)))
        for key, column in zip(header, columns, strict=True)
    ]
    _refuse_repeated(made)
    rows = tuple(tuple(None if value is None else (value,) for value in line) for line in values)
    return Design(file.name, tuple(made), rows)


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Each value once, in the order in which they come; tables cannot be told apart by their hash."""
    return list({repr(value): value for value in values if value is not None}.values())


def write(design: Design, base: Scenario) -> str:
    """The design as CSV, as `make` reads it; what a combination leaves alone has the scenario's own value."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([key for factor in design.factors for key in factor.keys])
    own = {key: value_at(base, key) for factor in design.factors for key in factor.keys}
    for row in design.rows:
        cells: list[Any] = []
        for factor, level in zip(design.factors, row, strict=True):
            cells += [own[key] for key in factor.keys] if level is None else list(level)
        writer.writerow(["" if cell is None else as_text(cell) for cell in cells])
    return out.getvalue()
