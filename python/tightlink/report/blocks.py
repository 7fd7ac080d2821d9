"""What a section of a report is made of.

Example:
    >>> from tightlink import report
    >>> section = report.Section(
    ...     "Base case",
    ...     "The window, not the queue, sets the latency.",
    ...     [report.Text("A window of **20 packets** fills the path.")],
    ... )
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from tightlink.lazy import pl
from tightlink.numbers import grouped

if TYPE_CHECKING:
    from markupsafe import Markup

#: How a column of a table is written: a format such as ".2f" or "{:.2f} ms", or a function.
Format: TypeAlias = str | Callable[[Any], str]


@dataclass(frozen=True)
class Text:
    """Paragraphs, as Markdown (HTML in it is shown, not obeyed) or as `markupsafe.Markup`."""

    text: str | Markup


@dataclass(frozen=True)
class Table:
    """A data frame. Columns that end in a unit are headed in words and scaled, unless a format is given."""

    frame: pl.DataFrame
    caption: str = ""
    formats: Mapping[str, Format] = field(default_factory=dict)
    widths: Mapping[str, str] = field(default_factory=dict)
    """By column, the column of half its confidence intervals: "9.00 ± 0.10"."""

    @classmethod
    def of(cls, heads: Mapping[str, Format], rows: Iterable[Sequence[Any]], caption: str = "") -> Table:
        """A table by its rows, below heads of which each has its format, or an empty one.

        >>> Table.of({"": "", "lost %": ".1f"}, [("at the queue", 50.0)]).formats
        {'lost %': '.1f'}
        """
        frame = pl.DataFrame([dict(zip(heads, row, strict=True)) for row in rows])
        return cls(frame, caption, {head: how for head, how in heads.items() if how})

    @classmethod
    def headed(cls, frame: pl.DataFrame, heads: Mapping[str, Any], caption: str = "") -> Table:
        """A table by its heads: of each the column or the expression below it, alone or with its format.

        >>> table = Table.headed(pl.DataFrame({"loss": [0.5]}), {"lost %": (100 * pl.col("loss"), ".1f")})
        >>> table.frame.rows(named=True), table.formats
        ([{'lost %': 50.0}], {'lost %': '.1f'})
        """
        given = {head: column if isinstance(column, tuple) else (column, None) for head, column in heads.items()}
        shown = frame.select(**{head: column for head, (column, _) in given.items()})
        return cls(shown, caption, {head: how for head, (_, how) in given.items() if how is not None})

    @classmethod
    def first(
        cls, frame: pl.DataFrame, most: int, what: str = "", caption: str = "", widths: Mapping[str, str] | None = None
    ) -> Table:
        """The first rows of a data frame; where it has more, the caption says so, with what they are called.

        >>> Table.first(pl.DataFrame({"loss": [0.0] * 1200}), 200, "runs").caption
        'The first 200 of 1,200 runs.'
        """
        if frame.height > most:
            caption += f" The first {most} of {f'{grouped(frame.height)} {what}'.rstrip()}."
        return cls(frame.head(most), caption.lstrip(), widths=widths or {})


@dataclass(frozen=True)
class Chart:
    """An Altair chart over the whole width; hover it for values."""

    chart: Any
    caption: str = ""


@dataclass(frozen=True)
class Row:
    """Small Altair charts beside each other, on narrow screens below each other."""

    charts: Sequence[Any]
    caption: str = ""


@dataclass(frozen=True)
class Details:
    """Text as it is, such as a scenario, behind a title to click on."""

    title: str
    text: str


Block: TypeAlias = Text | Table | Chart | Row | Details


@dataclass(frozen=True)
class Section:
    """A part of a report: its title, what was found in one sentence, and the evidence."""

    title: str
    finding: str = ""
    blocks: Sequence[Block] = ()
