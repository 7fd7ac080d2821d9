"""Claims: the findings of a document, each with what it says, what came out here, and a verdict.

What was observed is computed from the tables of a run, never typed in. A claim that cannot be
tested says why, and its verdict stays open.

Example:
    >>> goodput = compared("goodput", "The flow carries 1.9 Mbit/s", "p. 4", 1.9, 1.912, relative=0.02, unit="Mbit/s")
    >>> goodput.holds, goodput.tolerance_text, goodput.observed_text
    (True, '± 0.038 (2 %)', '1.912 Mbit/s')
    >>> sent = compared("sent", "2097 packets are sent", "p. 6", 2097, 2096, reason="another default of the timer")
    >>> exit_code([goodput, sent])
    3
    >>> import sys
    >>> print_table([goodput, sent], sys.stdout)
    claim                                  document          here                verdict
    The flow carries 1.9 Mbit/s  1.9 ± 0.038 Mbit/s  1.912 Mbit/s                  holds
    2097 packets are sent                     2,097         2,096  document contradicted
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TextIO, TypeAlias, get_args

from tightlink import units
from tightlink.console import print_table as print_columns
from tightlink.numbers import NONE, grouped

#: What a claim can expect and observe.
Value: TypeAlias = bool | int | float | str | None
#: Whose statement a claim is.
Origin: TypeAlias = Literal["document", "theory", "ours"]

#: Exit code of a study of which a claim does not hold.
DOES_NOT_HOLD: Final = 3

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
#: Digits with which numbers are shown, those of a claim that must be met exactly, and those at most.
_DIGITS: Final = 4
_EXACT_DIGITS: Final = 6
_ALL_DIGITS: Final = 12
#: By whose statement it is that does not hold.
_CONTRADICTED: Final = {
    "document": "document contradicted", "theory": "theory contradicted", "ours": "our own check fails"
}  # fmt: skip
_WHOSE: Final = {"document": "the document", "theory": "theory and others", "ours": "our own"}
_COUNTED: Final = (
    (True, ("holds", "hold")), (False, ("does not hold", "do not hold")), (None, ("is open", "are open")),
)  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """One finding of a document, beside ours.

    Example:
        >>> stated("wan", "The path carries 20 Mbit/s", "fig. 3", None, None, "its data were not published").verdict
        'open'
    """

    id: str
    """Name that never changes."""
    statement: str
    """What is claimed, in a sentence."""
    source: str
    """Where the document says so."""
    expected: Value
    """The document's figure; none where the statement is no figure."""
    observed: Value
    """Ours, computed from the tables of a run."""
    tolerance: float | None
    """The largest difference of the two, in the claim's unit; 0 if they must be equal."""
    unit: str
    holds: bool | None
    """None where it cannot be tested, for a reason."""
    reason: str
    origin: Origin = "document"
    """Whose statement it is: the document's, that of theory or of others' work, or our own."""
    condition: str = ""
    """Under which it holds, over what the study observed; none where a figure is compared."""
    tolerance_from: str = ""
    """Where the bound of the condition, or the tolerance, comes from."""

    def __post_init__(self) -> None:
        if not _ID.fullmatch(self.id):
            raise ValueError(f'claim "{self.id}": an id has letters, digits and . _ / - only')
        if self.holds is None and not self.reason:
            raise ValueError(f"claim {self.id}: without a verdict it needs a reason")

    @property
    def verdict(self) -> str:
        """In words: "holds", "open", or whose statement our result contradicts: "document contradicted".

        >>> compared("a", "It is 2", "this study, table 1", 2, 3, origin="ours").verdict
        'our own check fails'
        """
        return "open" if self.holds is None else "holds" if self.holds else _CONTRADICTED[self.origin]

    @property
    def expected_text(self) -> str:
        """What the document says, with its unit, for people; a dash where it gives no figure."""
        return self._text(self.expected)

    @property
    def observed_text(self) -> str:
        """What came out here, with its unit, for people.

        >>> compared("one", "A timeout leaves one", "p. 2", 1, 1, unit="packets").observed_text
        '1 packet'
        """
        return self._text(self.observed)

    @property
    def tolerance_text(self) -> str:
        """How far the two may be apart: "exact", "± 0.038 (2 %)", or nothing."""
        if self.tolerance is None:
            return ""
        if self.tolerance == 0:
            return "exact"
        share = ""
        if isinstance(self.expected, (int, float)) and self.expected:
            share = f" ({self.tolerance / abs(self.expected) * 100:.2g} %)"
        return f"± {self.tolerance:.3g}{share}"

    @property
    def bound_text(self) -> str:
        """What decides beside the figures: the condition, and where its bound or the tolerance comes from.

        >>> import dataclasses
        >>> claim = stated("loss", "Loss is small", "p. 1", 0.002, True)
        >>> dataclasses.replace(claim, condition="max(loss) < 0.01", tolerance_from="the document: 1 %").bound_text
        'Holds if max(loss) < 0.01 (the document: 1 %)'
        """
        said = f"Holds if {self.condition}" if self.condition else "Tolerance" if self.tolerance_from else ""
        return f"{said} ({self.tolerance_from})" if self.tolerance_from else said

    @property
    def compared_text(self) -> str:
        """What the document says, with the tolerance: "1.9 ± 0.038 Mbit/s"."""
        return self._text(self.expected, f" ± {self.tolerance:.3g}" if self.tolerance else "")

    def _text(self, value: Value, tolerance: str = "") -> str:
        if value is None:
            return NONE
        numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
        text = (self._rounded(value) if isinstance(value, float) else number(value)) + tolerance
        # "1 packet", but "1 ms" and "1 packets/s".
        unit = re.sub(r"^(\w{3,})s$", r"\1", self.unit) if text == "1" else self.unit
        return f"{text} {unit}" if unit and numeric else text

    def _rounded(self, value: float) -> str:
        """A figure as exact as the claim is about it: a digit more than its tolerance has, or enough to differ."""
        if not math.isfinite(value) or value.is_integer():
            return number(value)
        if self.tolerance:
            decimals = 1 - math.floor(math.log10(self.tolerance))
            return number(round(value, decimals), _ALL_DIGITS)
        other = self.observed if value == self.expected else self.expected
        digits = _DIGITS if self.tolerance is None else _EXACT_DIGITS
        while digits < _ALL_DIGITS and isinstance(other, float) and value != other:
            if number(value, digits) != number(other, digits):
                break
            digits += 1
        return number(value, digits)


def compared(  # noqa: PLR0913
    id: str,  # noqa: A002
    statement: str,
    source: str,
    expected: object,
    observed: object,
    *,
    tolerance: float | None = None,
    relative: float | None = None,
    unit: str = "",
    reason: str = "",
    origin: Origin = "document",
) -> Claim:
    """A claim with a figure, a word or a truth, that holds if ours is near it, or equal where no tolerance is given.

    Args:
        id: Name that never changes.
        statement: What is claimed.
        source: Where the document says so.
        expected: The document's.
        observed: Ours; numbers may be NumPy's.
        tolerance: The largest difference, in the unit of the two. Differences are those of the
            decimals as written: 0.4 is within 0.1 of 0.3.
        relative: The same as a share of what is expected.
        unit: Unit of the two.
        reason: Why the tolerance is what it is, or why it does not hold.
        origin: Whose statement it is.

    >>> compared("sent", "2385 packets are sent", "table 1", 2385, 2385.0).holds
    True
    """
    wanted, found = _plain(expected), _plain(observed)
    if tolerance is None and relative is None:
        holds = wanted == found and found is not None
        return Claim(id, statement, source, wanted, found, 0.0, unit, holds, reason, origin)
    if tolerance is not None and relative is not None:
        raise ValueError(f"claim {id}: give either tolerance or relative")
    if not isinstance(wanted, (int, float)):
        raise TypeError(f"expected must be a number, not {expected!r}")
    allowed = units.exact(tolerance) if tolerance is not None else units.exact(relative or 0.0) * units.exact(wanted)
    allowed = abs(allowed)
    holds = isinstance(found, (int, float)) and abs(units.exact(found) - units.exact(wanted)) <= allowed
    return Claim(id, statement, source, wanted, found, float(allowed), unit, holds, reason, origin)


def stated(  # noqa: PLR0913, PLR0917
    id: str,  # noqa: A002
    statement: str,
    source: str,
    observed: object,
    holds: object,
    reason: str = "",
    *,
    unit: str = "",
    origin: Origin = "document",
) -> Claim:
    """A claim that is no figure: the statement says what is expected; open, for a reason, where nobody can tell.

    >>> stated("order", "Reno beats Tahoe", "fig. 2", 1.3, 1.3 > 1, "ratio of the goodputs").verdict
    'holds'
    """
    verdict = None if holds is None else bool(holds)
    return Claim(id, statement, source, None, _plain(observed), None, unit, verdict, reason, origin)


def exit_code(claims: Iterable[Claim]) -> int:
    """3 if a claim does not hold, else 0."""
    return DOES_NOT_HOLD if any(claim.holds is False for claim in claims) else 0


def counted(claims: Iterable[Claim]) -> list[str]:
    """How many claims hold, by whose they are.

    >>> counted([compared("a", "It is 2", "p. 1", 2, 2), compared("b", "It is 2", "ours", 2, 3, origin="ours")])
    ['1 of the document: 1 holds', '1 of our own: 1 does not hold']
    """
    found: dict[str, list[bool | None]] = {}
    for claim in claims:
        found.setdefault(claim.origin, []).append(claim.holds)
    said = []
    for origin in get_args(Origin):
        own = found.get(origin, [])
        counts = [(own.count(holds), words) for holds, words in _COUNTED]
        parts = [f"{count} {one if count == 1 else several}" for count, (one, several) in counts if count]
        if own:
            said.append(f"{len(own)} of {_WHOSE[origin]}: {', '.join(parts)}")
    return said


def print_table(claims: Sequence[Claim], out: TextIO | None = None) -> None:
    """The claims on a terminal in colour, or aligned in plain text where the output is piped."""
    out = out or sys.stdout
    cells = [[claim.statement, claim.compared_text, claim.observed_text, claim.verdict] for claim in claims]
    styles = {claim.verdict: _STYLES[claim.holds] for claim in claims}
    # Figures may be words, which a narrow terminal folds.
    print_columns(_HEADER, cells, out, words=(1, 2) if out.isatty() else (), whole=True, styles=styles)


_HEADER: Final = ("claim", "document", "here", "verdict")
_STYLES: Final = {True: "green", False: "bold red", None: "dim"}


def number(value: Value, digits: int = _DIGITS) -> str:
    """A value for people: whole numbers in full, others with some significant digits.

    >>> number(2385.0), number(1.91191919), number(31415.9), number(True), number(1e-7)
    ('2,385', '1.912', '31,416', 'yes', '1e-07')
    """
    match value:
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 10**_ALL_DIGITS:
            return grouped(int(value))
        case float() if digits <= math.log10(abs(value)) < _ALL_DIGITS:
            return grouped(f"{value:.0f}")
        case float():
            return grouped(f"{value:.{digits}g}")
        case int():
            return grouped(value)
        case _:
            return NONE if value is None else str(value)


def _plain(value: object) -> Value:
    """A value of Python's own; numbers that are none are not there."""
    value = getattr(value, "item", lambda: value)()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    raise TypeError(f"a claim compares numbers and words, not {value!r}")
