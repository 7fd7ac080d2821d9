"""What became of each mark of a document's table of effects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tightlink.lazy import alt, pl
from tightlink.plots import palette
from tightlink.report.encoding import finished, marked_cells, painted, tooltip

_CELL: Final = 26
_COLUMN: Final = 34
#: By the verdict on a claim; marks on which there is none have the ground's colour.
_COLORS: Final = {
    "holds": palette.SERIES[2],
    "document contradicted": palette.SERIES[1],
    "open": palette.NEUTRAL,
    "no claim": "transparent",
}
#: Of what is open.
_PALE: Final = 0.35
#: Letters of the longest mark.
_LONGEST: Final = 3


def verdict_map(marks: pl.DataFrame, columns: Sequence[str]) -> alt.LayerChart:
    """A document's own table, as it prints it, each mark in the colour of its verdict.

    Args:
        marks: A row for each mark: its `row` and `column` in the table, its `text`, and `verdict`, that of the
            document's claim on it or "no claim"; what else there is stands in the cell's tip.
        columns: All of the table, in its order, with those that have no mark.

    Example:
        >>> marks = pl.DataFrame({"row": ["Y1"], "column": ["X1"], "text": ["−**"], "verdict": ["holds"]})
        >>> [layer.mark.type for layer in verdict_map(marks, ["X1", "X2"]).layer]
        ['rect', 'text']
    """
    cells = marked_cells(
        marks,
        _LONGEST * len(columns),
        x=alt.X("column", type="nominal", scale=alt.Scale(domain=list(columns)), title=None,
                axis=alt.Axis(labelAngle=-45, labelLimit=240, labelOverlap=False)),
        y=alt.Y("row", type="nominal", sort=None, title=None, axis=alt.Axis(labelLimit=240, labelOverlap=False)),
        color=painted("verdict", _COLORS, alt.Legend(title=None, values=list(_COLORS)[:-1])),
        opacity=alt.condition(alt.datum.verdict == "open", alt.value(_PALE), alt.value(1)),
        dark=(alt.datum.verdict == "holds") | (alt.datum.verdict == "document contradicted"),
        tips=tooltip(marks, {name: name for name in marks.columns}),
    )  # fmt: skip
    return finished(cells, _CELL * marks["row"].n_unique(), paper=_COLUMN * len(columns))
