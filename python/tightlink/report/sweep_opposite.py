"""What the means of a sweep's report hide: factors whose effect is the opposite at another level of another factor."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from tightlink.analysis.effects.factors import called, in_si
from tightlink.analysis.effects.levels import over_levels
from tightlink.analysis.effects.opposite import Opposite, opposite
from tightlink.experiment.designs import LATIN
from tightlink.experiment.summary import known_width
from tightlink.lazy import alt, pl
from tightlink.plots import labels
from tightlink.report import charts, ranks
from tightlink.report.blocks import Block, Row, Text
from tightlink.report.changes import Change, between

if TYPE_CHECKING:
    from tightlink.report.sweep import Found

#: Effects that are told of a factor.
_MOST: Final = 3
#: Levels of the other factor up to which each has its line.
_MOST_LINES: Final = 8
_HEIGHT: Final = 220


def opposites(found: Found, factor: str) -> list[Opposite]:
    """The opposite effects of a factor, the largest first, one of each kind of response.

    Only where all its levels meet all of the other factor, and no effect is mixed with another one. `Found.opposites`
    keeps them, as what is said first of the factor that changes most asks for them, too.
    """
    if found.one_at_a_time or found.description["design"] == LATIN or found.description["aliases"]:
        return []
    done = found.cells.filter(found.cells["runs"] > 0)
    apart = {*ranks.together(done, factor, found.varied), "seed", factor}
    others = [] if factor == "seed" else [other for other in found.varied if other not in apart]
    each = (opposite(found.told(factor), factor, other, name) for other in others for name in found.responses)
    kinds: dict[str, Opposite] = {}
    for one in sorted(filter(None, each), key=lambda one: -one.size):
        kinds.setdefault(_change(one, rises=True).kind, one)
    return list(kinds.values())[:_MOST]


def blocks(found: Found, factor: str) -> list[Block]:
    """What means over the other factors hide of a factor's effect, in words and a chart of each; nothing usually."""
    there = found.opposites(factor)
    if not there:
        return []
    told = "; ".join(map(_sentence, there))
    return [Text(f"**These means hide opposite effects:** {told}."), Row([_drawn(found, one) for one in there])]


def headline(found: Found, factor: str, told: Collection[str]) -> str:
    """The largest of a factor's opposite effects on the responses of which a report tells first; nothing usually."""
    there = [one for one in found.opposites(factor) if one.response in told] if factor else []
    return f" But {_sentence(there[0])}." if there else ""


def _sentence(one: Opposite) -> str:
    """A response and what the factor does to it at two levels of the other one."""
    both = sorted([(one.rises[0], True), (one.falls[0], False)], key=lambda each: one.others.index(each[0]))
    (first, before), (second, after) = ((level, _change(one, rises=rises)) for level, rises in both)
    short = labels.shortest([one.factor, one.other])
    low, high = between(*map(called, one.levels))
    return (
        f"{before.text} as {short[one.factor]} goes from {low} to {high} where {short[one.other]} is "
        f"{called(first)}, and {after.means_in_words} where it is {called(second)}"
    )


def _change(one: Opposite, *, rises: bool) -> Change:
    _, low, high = one.rises if rises else one.falls
    return Change(one.factor, one.response, one.levels, (low, high), one.size)


def _drawn(found: Found, one: Opposite) -> alt.LayerChart:
    """A response over the levels of a factor, a line for each level of the other factor."""
    runs = found.told(one.factor)
    levels = [level for level in one.others if len(one.others) <= _MOST_LINES or level in {one.rises[0], one.falls[0]}]
    name = labels.shortest([one.factor, one.other])[one.other]
    parts = [
        over_levels(runs.filter(pl.col(one.other) == level), one.factor, [one.response], found.copies)
        .with_columns(pl.lit(f"{name} {called(level)}").alias(name))
        for level in levels
    ]  # fmt: skip
    each = pl.concat(parts)
    return charts.over_levels(
        each, one.factor, one.response, half_width=known_width(each, one.response), by=name,
        ordered=in_si(levels) is not None, height=_HEIGHT,
    )  # fmt: skip
