"""The table of a study's claims, ``claims.toml``: what the document says, and what is held against it.

A study is audited by reading this file. Each entry of ``claims`` is a claim, or has ``rows`` and the ``each`` that
every row fills, in which ``<key>`` stands for the row's value. Rows of several entries stand in the table ``rows``,
and the entries have their name. Of a claim:

``id``, ``statement``
    Its name, which never changes, and what is claimed.
``place`` or ``source``
    Where the document says so; the document's name comes before it. Another source is named in full.
``observed``
    An expression over what the study observed, or a sentence with such expressions in braces.
``expected``, ``tolerance`` or ``relative``, ``tolerance_from``
    The document's figure, how far ours may be from it, and where that bound comes from; without one they must be equal.
    An ``expected`` or a ``tolerance`` in braces is an expression.
``holds``
    Instead of a figure, the condition under which the claim holds.
``unit``, ``reason``
    The reason is a sentence with expressions in braces. A claim of which nothing is observed is open for this reason,
    and so is one whose condition comes to nothing.

Entries of ``live`` are claims on what a study measures. Where it was not measured, they are open for the reason that
``open`` gives.

Example:
    >>> table = ClaimsTable.parsed('''
    ... document = "Doe 2003"
    ... [[claims]]
    ... rows = [{ case = "short", sent = 10 }, { case = "long", sent = 20 }]
    ... [[claims.each]]
    ... id = "<case>.sent"
    ... statement = "queue <case>: packets sent"
    ... place = "table 1"
    ... observed = "<case>.sent"
    ... expected = "<sent>"
    ... [[claims]]
    ... id = "order"
    ... statement = "The long queue sends more"
    ... place = "p. 2"
    ... observed = "long.sent / short.sent"
    ... holds = "long.sent > short.sent"
    ... reason = "{short.sent} packets are sent over the short one."
    ... ''')
    >>> claims = table.judged({"short.sent": 10, "long.sent": 18})
    >>> [(claim.id, claim.source, claim.verdict) for claim in claims]  # doctest: +NORMALIZE_WHITESPACE
    [('short.sent', 'Doe 2003, table 1', 'holds'),
     ('long.sent', 'Doe 2003, table 1', 'document contradicted'),
     ('order', 'Doe 2003, p. 2', 'holds')]
    >>> claims[-1].observed, claims[-1].reason
    (1.8, '10 packets are sent over the short one.')
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tightlink.errors import TightlinkError, closest
from tightlink.experiment.claims import Claim, Value, exact, holds_if, untestable, within
from tightlink.studies.expressions import NotObservedError, evaluate, fill

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Row: TypeAlias = "Mapping[str, Any]"

_MARK: Final = re.compile(r"<([a-z_]+)>")
_TEXT: Final = frozenset(
    {"id", "statement", "place", "source", "observed", "holds", "unit", "reason", "open", "tolerance_from"}
)


@dataclass(frozen=True)
class Statement:
    """A claim before anything was observed, as the table has it."""

    id: str
    statement: str
    source: str
    observed: str = ""
    expected: Value = None
    tolerance: float | str | None = None
    relative: float | None = None
    tolerance_from: str = ""
    holds: str = ""
    unit: str = ""
    reason: str = ""
    open: str = "The machine was too busy to measure it."

    def __post_init__(self) -> None:
        figure, bounds = self.expected is not None, [self.tolerance, self.relative]
        if not self.observed and (figure or self.holds):
            raise ValueError("observed is missing")
        if self.observed and figure is bool(self.holds):
            raise ValueError("either expected or holds must be given")
        if not self.observed and not self.reason:
            raise ValueError("observed is missing, or the reason why nothing can be observed")
        if bounds.count(None) < 1 or (not figure and bounds != [None, None]):
            raise ValueError("a figure that is expected has one of tolerance and relative, or must be met exactly")
        if bounds != [None, None] and not self.tolerance_from:
            raise ValueError("tolerance_from must say where the tolerance comes from")

    def judged(self, observed: Mapping[str, object]) -> Claim:
        """The claim, with what was observed."""
        head = (self.id, self.statement, self.source)
        reason = fill(self.reason, observed)
        if not self.observed:
            return untestable(*head, reason)
        ours = fill(self.observed, observed) if "{" in self.observed else evaluate(self.observed, observed)
        if self.holds:
            verdict = evaluate(self.holds, observed)
            if verdict is None:
                return untestable(*head, reason)
            return holds_if(*head, ours, verdict, reason, unit=self.unit)
        wanted, tolerance = _value(self.expected, observed), _value(self.tolerance, observed)
        if self.tolerance is None and self.relative is None:
            return exact(*head, wanted, ours, unit=self.unit, reason=reason)
        bound = {"tolerance": tolerance, "relative": self.relative}
        return within(*head, wanted, ours, **bound, unit=self.unit, reason=reason)


@dataclass(frozen=True)
class ClaimsTable:
    """All claims of a study, in their order."""

    name: str
    """Of the file."""
    statements: tuple[Statement, ...]
    live: tuple[Statement, ...] = ()
    """Those on what is measured."""

    @classmethod
    def read(cls, path: Path) -> ClaimsTable:
        """The table in a file.

        Raises:
            TightlinkError: The file cannot be read, or an entry is not a claim.
        """
        try:
            return cls.parsed(path.read_text(encoding="utf-8"), path.name)
        except OSError as error:
            raise TightlinkError(f"{path}: cannot be read: {(error.strerror or str(error)).lower()}") from None

    @classmethod
    def parsed(cls, text: str, name: str = "claims.toml") -> ClaimsTable:
        """The table that a text holds.

        Raises:
            TightlinkError: An entry is not a claim.
        """
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise TightlinkError(f"{name}: not TOML: {error}") from None
        return cls(name, *(tuple(_statements(table, kind, name)) for kind in ("claims", "live")))

    def judged(self, observed: Mapping[str, object]) -> list[Claim]:
        """The claims, each beside what was observed.

        Raises:
            TightlinkError: A claim needs what was not observed.
        """
        return [self._judged(statement, observed) for statement in self.statements]

    def judged_live(self, observed: Mapping[str, object]) -> list[Claim]:
        """Those on what is measured; open where a measurement is missing."""
        claims = []
        for statement in self.live:
            try:
                claims.append(self._judged(statement, observed))
            except NotObservedError:
                head = (statement.id, statement.statement, statement.source)
                claims.append(untestable(*head, fill(statement.open, observed)))
        return claims

    def _judged(self, statement: Statement, observed: Mapping[str, object]) -> Claim:
        try:
            return statement.judged(observed)
        except NotObservedError as error:
            raise NotObservedError(f"{self.name}: claim {statement.id}: {error}") from None
        except (ValueError, TypeError, ZeroDivisionError) as error:
            raise TightlinkError(f"{self.name}: claim {statement.id}: {error}") from None


def figure(claims: Mapping[str, Claim], name: str) -> float:
    """The document's figure in a claim, for tables and charts beside ours."""
    expected = claims[name].expected
    if not isinstance(expected, (int, float)):
        raise TypeError(f"claim {name}: expected must be a number, not {expected!r}")
    return expected


def _value(given: Value, observed: Mapping[str, object]) -> Any:
    """A value, or what an expression in braces comes to."""
    return evaluate(given[1:-1], observed) if isinstance(given, str) and given.startswith("{") else given


def _statements(table: Mapping[str, Any], kind: str, name: str) -> Iterator[Statement]:
    """Every claim, the rows of families filled in."""
    document = str(table.get("document", ""))
    for number, entry in enumerate(table.get(kind, ()), start=1):
        rows = entry.get("rows", ({},))
        if isinstance(rows, str):
            if rows not in table.get("rows", {}):
                raise TightlinkError(f'{name}: there are no rows "{rows}"')
            rows = table["rows"][rows]
        for row in rows:
            for claim in entry.get("each", (entry,)):
                filled = {key: _filled(value, row) for key, value in claim.items()}
                try:
                    yield _statement(filled, document)
                except (ValueError, TypeError) as error:
                    raise TightlinkError(f"{name}: claim {filled.get('id', number)}: {error}") from None


def _filled(value: Any, row: Row) -> Any:
    """A value with those of a row: as it is where it is nothing but one of them, else as text in its place.

    >>> _filled("from <rate> packets/s", {"rate": 4290.0}), _filled("<rate>", {"rate": 4290.0})
    ('from 4290 packets/s', 4290.0)
    """
    if not isinstance(value, str) or not row:
        return value
    whole = _MARK.fullmatch(value)
    if whole and whole[1] in row:
        return row[whole[1]]

    def written(found: re.Match[str]) -> str:
        part = row.get(found[1], found[0])
        return str(part).removesuffix(".0") if isinstance(part, float) else str(part)

    return _MARK.sub(written, value)


def _statement(entry: dict[str, Any], document: str) -> Statement:
    known = {field.name for field in fields(Statement)} | {"place"}
    for key, value in entry.items():
        if key not in known:
            like = closest(key, sorted(known))
            raise ValueError(f'"{key}" is no key of a claim' + (f'; did you mean "{like}"?' if like else ""))
        if key in _TEXT and not isinstance(value, str):
            raise TypeError(f"{key} must be text, not {value!r}")
    if ("place" in entry) is ("source" in entry):
        raise ValueError("either place, in the document, or source must be given")
    if "place" in entry:
        entry = {key: value for key, value in entry.items() if key != "place"} | {
            "source": f"{document}, {entry['place']}" if entry["place"] else document
        }
    return Statement(**entry)
