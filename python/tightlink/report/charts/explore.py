"""Runs to explore: parallel coordinates, levels, two responses and clusters, of which each filters all others.

A band drawn across the lines keeps the runs that lie within it at every coordinate that it covers. A click on a level
keeps the runs that have it (with the shift key, of several levels); the scatter shows any two responses, and a
rectangle in it keeps its runs; a click on a cluster keeps its runs. All choices hold together, and a double click, or
a click beside, takes a choice back.

Example:
    >>> from tightlink.analysis.effects.designed import designed
    >>> runs = pl.DataFrame({"queue": ["5 packets", "20 packets"] * 2, "loss": [0.2, 0.0, 0.3, 0.1],
    ...                      "rtt_s": [0.02, 0.05, 0.03, 0.06]})
    >>> len(explore(designed(runs)).vconcat)
    2
"""

from __future__ import annotations

from typing import Any, Final, Literal

from tightlink.analysis.effects.designed import Designed
from tightlink.analysis.measurements import MeasurementError
from tightlink.lazy import alt, pl
from tightlink.plots import palette
from tightlink.report.charts import explored
from tightlink.report.charts.dendrograms import cluster_colors
from tightlink.report.charts.explored import Explored
from tightlink.report.encoding import color, fixed, painted, tip, written
from tightlink.report.specs import MOST_ROWS

#: Of the whole, in pixels: what the text of a report has room for.
_WIDTH: Final = 940
_SCATTER: Final = (390, 300)
_LEVEL: Final = 26
_CELL: Final = 20
_PALE: Final = 0.13
_SMALL: Final = 10
#: Width of a letter beside a coordinate, in pixels.
_LETTER: Final = 5.5
_FEWEST: Final = 2
_STROKES: Final[dict[str, Any]] = {"title": None, "symbolType": "stroke", "symbolStrokeWidth": 2.5}

#: What is chosen, by the names that Vega has for it.
_BAND, _LEVELS, _AREA, _CLUSTER, _ACROSS, _UP = "band", "levels", "area", "cluster", "across", "up"

#: Whether a row of the long table is among what is chosen. A band lies across coordinates; an area is in the units of
#: the scatter; levels of one factor are alternatives, levels of several hold together.
_IN_BAND: Final = (
    f"!isDefined({_BAND}.axis) || !isDefined({_BAND}.scaled) || indexof({_BAND}.axis, datum.axis) < 0"
    f" || inrange(datum.scaled, {_BAND}.scaled)"
)
_IN_LEVELS: Final = (
    f"!isDefined({_LEVELS}.choice) || datum.kind == 'response' || indexof({_LEVELS}.choice, datum.choice) >= 0"
    f" || indexof('\\n' + join({_LEVELS}.choice, '\\n'), '\\n' + datum.axis + ' = ') < 0"
)
_IN_AREA: Final = f"!isDefined({_AREA}.x) || (inrange(datum.x, {_AREA}.x) && inrange(datum.y, {_AREA}.y))"
_IN_CLUSTER: Final = f"!isDefined({_CLUSTER}.group) || indexof({_CLUSTER}.group, datum.group) >= 0"


def explore(table: Designed, *, algorithm: str | None = None) -> alt.VConcatChart:
    """An interactive page of runs.

    Args:
        table: The runs, their factors and responses.
        algorithm: Factor by which lines and points are coloured, and whose levels are clustered under each condition,
            which is all other factors.

    Raises:
        MeasurementError: There are fewer than two responses, no runs, or more than a page can hold.
    """
    if len(table.responses) < _FEWEST or table.runs.is_empty():
        raise MeasurementError(
            f"{table.runs.height} runs with {len(table.responses)} responses: expected runs with at least two"
        )
    found = explored.explored(table, algorithm)
    if found.rows.height > MOST_ROWS:
        raise MeasurementError(
            f"{table.runs.height} runs with {len(found.axes)} factors and responses are too many for one page: "
            f"expected at most {MOST_ROWS} values; choose responses"
        )
    shade = color(found.rows, None if algorithm is None else "algorithm")
    scatter = _scatter(found, shade if algorithm is None else shade.legend(None))
    parts = [_parallel(found, shade if algorithm is None else shade.legend(**_STROKES))]
    parts.append(alt.hconcat(_levels(found), scatter, spacing=40) if found.choices.height else scatter)
    if found.cells is not None:
        parts.append(_strip(found.cells))
    chart = alt.vconcat(*parts, spacing=26).add_params(
        _choice(_ACROSS, "scatter, along ", found.responses[0], found.responses),
        _choice(_UP, "up ", found.responses[1], found.responses),
    )
    apart: alt.VConcatChart = chart.resolve_scale(color="independent")
    return apart


def _choice(name: str, label: str, first: str, options: list[str]) -> Any:
    """A drop-down list that chooses a column or a level."""
    return alt.param(name=name, value=first, bind=alt.binding_select(options=options, name=label))


def _chosen(found: Explored) -> alt.Chart:
    """The rows with ``x`` and ``y`` of the scatter, and ``shown``: whether their run is among all that is chosen."""
    # Vega knows only what there is to choose from.
    tests = [_IN_BAND, _IN_AREA]
    tests += [_IN_LEVELS] if found.choices.height else []
    tests += [_IN_CLUSTER] if found.cells is not None else []
    hit = " && ".join(f"({test})" for test in tests)
    return (
        alt.Chart(found.rows)
        .transform_calculate(
            x_=f"datum.axis == {_ACROSS} ? datum.value : null", y_=f"datum.axis == {_UP} ? datum.value : null"
        )
        .transform_joinaggregate(x="max(x_)", y="max(y_)", groupby=["run"])
        .transform_calculate(hit=f"{hit} ? 1 : 0")
        .transform_joinaggregate(shown="min(hit)", groupby=["run"])
    )


def _parallel(found: Explored, shade: Any) -> Any:
    """A line for each run, over all factors and responses; those that are not chosen are pale."""
    axis = alt.Axis(labelAngle=-35, labelLimit=150, labelOverlap=False, domain=False, ticks=False, grid=True)
    x = alt.X(
        "axis", type="nominal", scale=alt.Scale(domain=found.axes, type="point", padding=0.3), axis=axis, title=None
    )
    y = alt.Y("scaled", type="quantitative", scale=alt.Scale(domain=[-0.06, 1.06], nice=False), axis=None)
    band = alt.selection_interval(name=_BAND, encodings=["x", "y"])
    line: dict[str, Any] = {"strokeWidth": 1, "clip": True, "strokeJoin": "round"}
    place = {"x": x, "y": y, "detail": alt.Detail("run", type="nominal")}
    pale = alt.Chart(found.rows).mark_line(**line)
    pale = pale.encode(**place, color=alt.ColorValue(palette.NEUTRAL), opacity=alt.OpacityValue(_PALE))
    chosen = _chosen(found).transform_filter("datum.shown == 1").mark_line(**line)
    chosen = chosen.encode(**place, color=shade, opacity=alt.OpacityValue(0.75), tooltip=alt.TooltipValue(None))
    # Where texts have no room beside each other, they stand upright, within the ends of their axis.
    widest = max(map(len, found.marks["text"]), default=0) * _LETTER
    upright = widest > _WIDTH / len(found.axes)
    stand: dict[str, Any] = {"angle": 270, "baseline": "top", "dy": 2} if upright else {"dx": 3}
    texts = [
        written(
            alt.Chart(part).mark_text(**stand, align=align, fontSize=_SMALL - 1, color="currentColor"),
            "text", x=x, y=y,
        )
        for (top,), part in found.marks.group_by(pl.col("scaled") == 1, maintain_order=True)
        for align in ("right" if upright and top else "left",)
    ]  # fmt: skip
    return alt.layer(pale.add_params(band), chosen, *texts).properties(width=_WIDTH, height=230)


def _levels(found: Explored) -> Any:
    """The levels of each factor, to click on."""
    picked = alt.selection_point(name=_LEVELS, fields=["choice"], toggle="event.shiftKey")
    axis = alt.Axis(domain=False, ticks=False, grid=False, labelLimit=110)
    base = alt.Chart(found.choices).encode(
        x=alt.X("place", type="ordinal", axis=None),
        y=alt.Y("axis", type="nominal", sort=None, axis=axis, title="factors: click on a level"),
    )
    boxes = base.mark_rect(cornerRadius=3, cursor="pointer", stroke="white", strokeWidth=2).encode(
        color=alt.condition(picked, alt.value(palette.SERIES[0]), alt.value(palette.NEUTRAL), empty=False),
        opacity=alt.condition(picked, alt.value(0.6), alt.value(0.25), empty=False),
        tooltip=[tip("choice", title="level")],
    )
    names = written(base.mark_text(fontSize=_SMALL, color="currentColor"), "text")
    widest = int(found.choices["place"].n_unique())
    rows = int(found.choices["axis"].n_unique())
    width = min(_WIDTH - _SCATTER[0] - 150, max(150, 58 * widest))
    return alt.layer(boxes.add_params(picked), names).properties(width=width, height=_LEVEL * rows)


def _scatter(found: Explored, shade: Any) -> Any:
    """Two responses that the reader chooses, in their own units, with how many runs are chosen above."""
    area = alt.selection_interval(name=_AREA)
    axis = alt.Axis(tickCount=5, grid=False)
    x = alt.X("x", type="quantitative", scale=alt.Scale(zero=False), axis=axis, title=None)
    y = alt.Y("y", type="quantitative", scale=alt.Scale(zero=False), axis=axis, title=None)
    one = _chosen(found).transform_filter(f"datum.axis == {_ACROSS}")
    told = [tip("name", title="run"), tip("x", ",.4~r"), tip("y", ",.4~r")]
    dots = one.mark_point(filled=True, size=44).encode(
        x=x, y=y, order=alt.Order("shown", type="quantitative"), tooltip=told,
        color=alt.condition("datum.shown == 1", shade, alt.value(palette.NEUTRAL)),
        opacity=alt.condition("datum.shown == 1", alt.value(0.9), alt.value(0.25)),
    )  # fmt: skip
    width, height = _SCATTER
    return alt.layer(
        dots.add_params(area),
        _words(one, "'up: ' + " + _UP, 0, -8), _words(one, "'along: ' + " + _ACROSS, 0, height + 30),
        _words(one, "datum.kept + ' of ' + datum.runs + ' runs'", width, -8, "right", kept="sum(shown)"),
    ).properties(width=width, height=height)  # fmt: skip


def _words(one: Any, expression: str, x: int, y: int, align: Literal["left", "right"] = "left", **sums: str) -> Any:
    """Words that follow what is chosen, at a place of the scatter."""
    said = one.transform_aggregate(**sums, runs="count()").transform_calculate(words=expression)
    said = said.mark_text(align=align, fontSize=11, fontWeight=600, color="currentColor")
    return written(said, "words", **fixed(x=x, y=y))


def _strip(cells: pl.DataFrame) -> Any:
    """A cell for each algorithm under each condition, coloured by its cluster; those that are not chosen are pale."""
    picked = alt.selection_point(name=_CLUSTER, fields=["group"], toggle="event.shiftKey")
    colors = cluster_colors(sorted(cells["cluster"].unique().to_list()))
    columns = cells["condition"].unique(maintain_order=True).to_list()
    base = alt.Chart(cells).encode(
        x=alt.X("condition", type="nominal", sort=columns, title=None,
                axis=alt.Axis(labelAngle=-55, labelLimit=200, labelOverlap=False, ticks=False, domain=False)),
        y=alt.Y("algorithm", type="nominal", sort=None, title="clusters: click on one",
                axis=alt.Axis(ticks=False, domain=False)),
    )  # fmt: skip
    boxes = base.mark_rect(cursor="pointer", stroke="white", strokeWidth=1).encode(
        color=painted("cluster", colors),
        opacity=alt.condition(picked, alt.value(0.85), alt.value(0.2)),
        tooltip=[tip("algorithm"), tip("condition"), tip("members", title="cluster")],
    )  # fmt: skip
    height = _CELL * int(cells["algorithm"].n_unique())
    return boxes.add_params(picked).properties(width=_WIDTH - 80, height=height)
