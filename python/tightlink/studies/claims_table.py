"""The table of a study's claims, ``claims.toml``: what the document says, and what is held against it.

A study is audited by reading this file. Each entry of ``claims`` is a claim, or has ``rows`` and the ``each`` that
every row fills, in which ``<key>`` stands for the row's value; other keys of such an entry are for rows without that
key. Rows of several entries stand in the table ``rows``, and the entries have their name; with a list of names, each
row of the first is taken with each row of the next. Of a claim:

``id``, ``statement``
    Its name, which never changes, and what is claimed.
``place`` or ``source``
    Where the document says so; the document's name comes before it. Another source is named in full, with its
    ``origin``: "theory" of what theory or others say, "ours" of our own.
``observed``
    An expression over what the study observed, or a sentence with such expressions in braces.
``expected``, ``tolerance`` or ``relative``, ``tolerance_from``
    The document's figure, how far ours may be from it, and where that bound comes from; without one they must be equal.
    An ``expected`` or a ``tolerance`` in braces is an expression.
``holds``
    Instead of a figure, the condition under which the claim holds; where its bound comes from says ``tolerance_from``.
``unit``, ``reason``
    The reason is a sentence with expressions in braces. A claim of which nothing is observed is open for this reason,
    and so is one whose condition comes to nothing.
``why_not``
    What the reason says beside that where the claim does not hold.

``open``, ``open_if``
    Why there is no verdict although something is observed, as a sentence, and under which condition, else always; a
    sentence without words is none.
``unmeasured``
    Of a claim on what is measured: why it is open where that was not measured, if not because the machine was too busy.

Entries of ``live`` are claims on what a study measures.

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
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from itertools import product
from pathlib import Path
from typing import Any, Final, TypeAlias

from tightlink.errors import TightlinkError, did_you_mean
from tightlink.experiment.claims import Claim, Origin, Value, compared, stated
from tightlink.studies.expressions import NotObservedError, check, evaluate, fill

Row: TypeAlias = "Mapping[str, Any]"

_MARK: Final = re.compile(r"<([a-z_]+)>")


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
    why_not: str = ""
    open: str = ""
    open_if: str = ""
    unmeasured: str = "The machine was too busy to measure it."
    origin: Origin = "document"

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
        share: Any = self.relative
        if isinstance(share, str):
            raise TypeError(f'relative = "{share}": expected a share such as 0.05')
        if self.open_if and not self.open:
            raise ValueError("open must say why there is no verdict under the condition open_if")
        if bounds != [None, None] and not self.tolerance_from:
            raise ValueError("tolerance_from must say where the tolerance comes from")
        self._check_expressions()

    def _check_expressions(self) -> None:
        if (
            (self.tolerance, self.relative) != (None, None)
            and isinstance(self.expected, str)
            and not _expression(self.expected)
        ):
            raise ValueError(f"expected must be a number, or an expression in braces, not {self.expected!r}")
        given = (self.observed, self.holds, self.open_if, *map(_expression, (self.expected, self.tolerance)))
        for text in filter(None, given):
            check(text)
        for sentence in (self.reason, self.why_not, self.open, self.unmeasured):
            if "{" in sentence:
                check(sentence)

    def __str__(self) -> str:
        """For reading: name and source, statement, what is compared with what, and when it is open.

        >>> print(Statement("a", "It takes 2 s", "p. 3", "run.time_s", 2, 0.1, tolerance_from="ours", unit="s"))
        a (p. 3)
          It takes 2 s
          run.time_s = 2 ± 0.1 s (ours)
        >>> opened = {"open": "Few runs.", "open_if": "runs < 9"}
        >>> print(Statement("b", "It is short", "p. 4", "run.s", holds="run.s < 2", **opened))
        b (p. 4)
          It is short
          holds if run.s < 2
          open if runs < 9: Few runs.
        """
        lines = [f"{self.id} ({self.source})", f"  {self.statement}"]
        when = f" if {self.open_if}" if self.open_if else ""
        opened = [f"  open{when}{_opening(self.open)}"] if self.open else []
        if not self.observed:
            return "\n".join([*lines, f"  open: {self.reason}"])
        bound = "" if self.tolerance is None else f" ± {_plain(self.tolerance)}"
        bound = bound if self.relative is None else f" ± {100 * self.relative:g} %"
        wanted = _plain(self.expected)
        unit = f" {self.unit}" if self.unit else ""
        compared = f"holds if {self.holds}" if self.holds else f"{self.observed} = {wanted}{bound}{unit}"
        compared += f" ({self.tolerance_from})" if self.tolerance_from else ""
        return "\n".join([*lines, f"  {compared}", *opened])

    def judged(self, observed: Mapping[str, object]) -> Claim:
        """The claim, with what was observed."""
        claim = self._compared(observed)
        # Of several clauses most are empty.
        opened = not self.open_if or evaluate(self.open_if, observed)
        if opened and (why := " ".join(fill(self.open, observed).split())):
            return replace(claim, holds=None, reason=why)
        if claim.holds is False and self.why_not:
            claim = replace(claim, reason=f"{claim.reason} {fill(self.why_not, observed)}".lstrip())
        return claim

    def without_verdict(self, reason: str) -> Claim:
        """The claim, of which nothing was observed."""
        return self._bounded(stated(self.id, self.statement, self.source, None, None, reason, origin=self.origin))

    def _bounded(self, claim: Claim) -> Claim:
        return replace(claim, condition=self.holds, tolerance_from=self.tolerance_from)

    def _compared(self, observed: Mapping[str, object]) -> Claim:
        head = (self.id, self.statement, self.source)
        reason = fill(self.reason, observed)
        if not self.observed:
            return self.without_verdict(reason)
        ours = fill(self.observed, observed) if "{" in self.observed else evaluate(self.observed, observed)
        if self.holds:
            verdict = evaluate(self.holds, observed)
            if verdict is None:
                return self.without_verdict(reason)
            if not isinstance(verdict, bool):
                raise ValueError(f"holds must be a condition, not {type(verdict).__name__}; all(…) is one of a column")
            return self._bounded(stated(*head, ours, verdict, reason, unit=self.unit, origin=self.origin))
        wanted, tolerance = _value(self.expected, observed), _value(self.tolerance, observed)
        bound = {"tolerance": tolerance, "relative": self.relative}
        return self._bounded(compared(*head, wanted, ours, **bound, unit=self.unit, reason=reason, origin=self.origin))


@dataclass(frozen=True)
class ClaimsTable:
    """All claims of a study, in their order."""

    name: str
    """Of the file."""
    statements: tuple[Statement, ...]
    live: tuple[Statement, ...] = ()
    """Those on what is measured."""

    def __str__(self) -> str:
        """The table as text, claim by claim."""
        return "\n".join(str(statement) for statement in (*self.statements, *self.live))

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
        for key in table:
            if key not in _ENTRIES:
                raise TightlinkError(f'{name}: "{key}" is no key of a table of claims{did_you_mean(key, _ENTRIES)}')
            entries = table[key]
            tables = isinstance(entries, list) and all(isinstance(each, dict) for each in entries)
            if key in {"claims", "live"} and not tables:
                raise TightlinkError(f"{name}: {key} must be tables, each below a line [[{key}]]")
        claims, live = (tuple(_statements(table, kind, name)) for kind in ("claims", "live"))
        ids = [statement.id for statement in (*claims, *live)]
        if twice := next((each for place, each in enumerate(ids) if each in ids[:place]), None):
            raise TightlinkError(f"{name}: two claims have the id {twice}")
        return cls(name, claims, live)

    def of(self, parts: Collection[str]) -> ClaimsTable:
        r"""The claims of some parts of the study: those whose ids begin with their names, up to the first dot.

        >>> text = '[[claims]]\nid = "{}.a"\nstatement = "a"\nplace = ""\nreason = "Nobody knows."\n'
        >>> table = ClaimsTable.parsed(text.format("one") + text.format("two"))
        >>> [statement.id for statement in table.of(["two"]).statements]
        ['two.a']
        """
        kept = tuple(each for each in self.statements if each.id.partition(".")[0] in parts)
        return replace(self, statements=kept)

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
                claims.append(statement.without_verdict(fill(statement.unmeasured, observed)))
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


def failed(claims: Mapping[str, Claim], *origins: Origin) -> int:
    """How many claims do not hold; of these origins, such as "document", if there are any."""
    return sum(claim.holds is False for claim in claims.values() if not origins or claim.origin in origins)


#: A clause of a sentence that is there under a condition, or that another value says.
_CLAUSE: Final = re.compile(
    r"\{(?:'(?P<words>[^']+)' if (?P<when>[^{}]+?) else ''|"
    r"'' if (?P<unless>[^{}]+?) else (?P<other>[^{}]+)|(?P<name>[\w./<>-]+))\}"
)


def _opening(sentence: str) -> str:
    """Why a claim is open and, where it is not always, when.

    >>> _opening("Never published: {a:.0f} is ours."), _opening("{'' if p < 0.05 else 'Not told apart.'} {few}")
    (': Never published: {a:.0f} is ours.', ' unless p < 0.05: Not told apart.; where few says why')
    """
    if _CLAUSE.sub("", sentence).strip():
        return f": {sentence.strip()}"
    said = []
    for found in _CLAUSE.finditer(sentence):
        words, when, unless, other, name = found.groups()
        said.append(
            f"if {when}: {words}"
            if when
            else f"unless {unless}: {other.strip(chr(39))}"
            if unless
            else f"where {name} says why"
        )
    return " " + "; ".join(said)


def _plain(given: Value) -> str:
    """A value or an expression, for reading."""
    return str(given).removeprefix("{").removesuffix("}")


def _value(given: Value, observed: Mapping[str, object]) -> Any:
    """A value, or what an expression in braces comes to."""
    text = _expression(given)
    return evaluate(text, observed) if text else given


def _expression(given: Value) -> str:
    """The expression in braces that stands for a value, if one does."""
    return given[1:-1] if isinstance(given, str) and given.startswith("{") else ""


def _statements(table: Mapping[str, Any], kind: str, name: str) -> Iterator[Statement]:
    """Every claim, the rows of families filled in."""
    document = str(table.get("document", ""))
    for number, entry in enumerate(table.get(kind, ()), start=1):
        rows = _rows(entry.get("rows", ({},)), table.get("rows", {}), name)
        others = {key: value for key, value in entry.items() if "each" in entry and key not in {"rows", "each"}}
        for own in rows:
            row = {key: _filled(value, own) for key, value in others.items()} | own
            for claim in entry.get("each", (entry,)):
                filled = {key: _filled(value, row) for key, value in claim.items()}
                try:
                    yield _statement(filled, document)
                except (ValueError, TypeError) as error:
                    raise TightlinkError(f"{name}: claim {filled.get('id', number)}: {error}") from None


def _rows(rows: Any, known: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The rows of an entry: its own, those of a name, or each of one name with each of the next."""
    if not isinstance(rows, str) and not any(isinstance(each, str) for each in rows):
        return [dict(row) for row in rows]
    names = [rows] if isinstance(rows, str) else rows
    for each in names:
        if each not in known:
            raise TightlinkError(f'{name}: there are no rows "{each}"')
    products = product(*(known[each] for each in names))
    return [{key: value for row in taken for key, value in row.items()} for taken in products]


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


#: What a table of claims may have.
_ENTRIES: Final = ("document", "rows", "claims", "live")
#: What an entry may have; what has the type of text in `Statement` must be text.
_KEYS: Final = sorted({field.name for field in fields(Statement)} | {"place"})
_TEXT: Final = frozenset(field.name for field in fields(Statement) if field.type == "str") | {"place"}


def _statement(entry: dict[str, Any], document: str) -> Statement:
    for key, value in entry.items():
        if key not in _KEYS:
            raise ValueError(f'"{key}" is no key of a claim{did_you_mean(key, _KEYS)}')
        if key in _TEXT and not isinstance(value, str):
            raise TypeError(f"{key} must be text, not {value!r}")
    for key in ("id", "statement"):
        if key not in entry:
            raise ValueError(f"{key} is missing")
    if ("place" in entry) is ("source" in entry):
        raise ValueError("either place, in the document, or source must be given")
    if ("source" in entry) is not (entry.get("origin") in {"theory", "ours"}):
        raise ValueError('origin must be "theory" or "ours" where source is given, and only there')
    if "place" in entry:
        entry = {key: value for key, value in entry.items() if key != "place"} | {
            "source": f"{document}, {entry['place']}" if entry["place"] else document
        }
    return Statement(**entry)
