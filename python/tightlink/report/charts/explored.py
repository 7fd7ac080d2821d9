"""The tables behind the chart of runs to explore: a row for each run and coordinate, levels, clusters.

Example:
    >>> from tightlink.analysis.effects.designed import designed
    >>> runs = pl.DataFrame({"queue": ["5 packets", "20 packets"] * 2, "loss": [0.2, 0.0, 0.3, 0.1]})
    >>> explored(designed(runs)).rows.select("run", "axis", "scaled", "choice").head(2).rows()
    [(0, 'queue', 0.0, 'queue = 5 packets'), (1, 'queue', 1.0, 'queue = 20 packets')]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tightlink.analysis.effects.designed import Designed
from tightlink.analysis.effects.factors import in_si, in_words
from tightlink.analysis.responses.clusters import Dendrogram, clusters
from tightlink.analysis.responses.compared import conditions
from tightlink.lazy import pl
from tightlink.plots import labels
from tightlink.reduce import largest, smallest

#: Where the only level of a factor, or the only value of a response, stands.
_MIDDLE: Final = 0.5


@dataclass(frozen=True)
class Explored:
    """What the chart is drawn from."""

    #: A row for each run and coordinate: run, name, axis, kind, scaled (0 to 1), value (in the unit of the axis),
    #: choice (of a factor: its name and level), algorithm, group (the cluster of the run).
    rows: pl.DataFrame
    #: The coordinates, factors first, by their titles.
    axes: list[str]
    #: The titles of the responses.
    responses: list[str]
    #: What stands beside coordinates: axis, scaled, text.
    marks: pl.DataFrame
    #: The levels to click on: axis, place, text, choice.
    choices: pl.DataFrame
    #: A row for each algorithm under each condition: condition, algorithm, cluster (0 for none), group, members.
    cells: pl.DataFrame | None


def explored(table: Designed, algorithm: str | None = None) -> Explored:
    """Make the tables that the interactive page draws."""
    runs = table.runs
    factors = [name for name in table.factors if runs[name].n_unique() > 1]
    others = [name for name in factors if name != algorithm]
    names = conditions(runs, table.factors) if table.factors else [str(place) for place in range(runs.height)]
    groups, cells = [""] * runs.height, None
    algorithms = [""] * runs.height if algorithm is None else [*map(str, runs[algorithm].cast(pl.String))]
    if algorithm is not None and others and runs[algorithm].n_unique() > 1:
        trees = clusters(runs, condition=others, algorithm=algorithm, responses=table.responses)
        cells = _cells(trees)
        keys = dict(zip(zip(cells["condition"], cells["algorithm"], strict=True), cells["group"], strict=True))
        groups = [keys[one] for one in zip(conditions(runs, others), algorithms, strict=True)]
    shared = pl.DataFrame({"run": range(runs.height), "name": names, "group": groups, "algorithm": algorithms})
    parts: list[pl.DataFrame] = []
    marks: list[tuple[str, float, str]] = []
    choices: list[tuple[str, int, str, str]] = []
    for name in factors:
        places, levels = _factor(runs[name].to_list())
        texts = [in_words(value) for value in runs[name]]
        choice = [f"{name} = {text}" for text in texts]
        own: dict[str, Any] = {"axis": pl.lit(name), "kind": pl.lit("factor"), "scaled": pl.Series(places)}
        parts.append(shared.with_columns(**own, value=pl.lit(None, pl.Float64), choice=pl.Series(choice)))
        marks += [(name, place, text) for text, place in levels.items()]
        choices += [(name, number, text, f"{name} = {text}") for number, text in enumerate(levels)]
    titles: dict[str, str] = {}
    for name in table.responses:
        numbers = runs[name].cast(pl.Float64).fill_nan(None)
        there = numbers.drop_nulls()
        low, high = (smallest(there), largest(there)) if there.len() else (0.0, 0.0)
        # Polars multiplies by the inverse of a scalar, which would make less than 1 of the last.
        scaled = numbers.clip(_MIDDLE, _MIDDLE)
        if low < high:
            scaled = pl.Series((numbers.to_numpy() - low) / (high - low)).fill_nan(None)
        axis = labels.axis_of(runs, name)
        title = axis.title if axis.title not in (*factors, *titles.values()) else name
        titles[name] = title
        own = {"axis": pl.lit(title), "kind": pl.lit("response"), "scaled": scaled}
        parts.append(shared.with_columns(**own, value=numbers * axis.factor, choice=pl.lit("")))
        if there.len():
            marks += [(title, float(place), _short(end * axis.factor)) for place, end in enumerate((low, high))]
    return Explored(
        rows=pl.concat(parts),
        axes=[*factors, *titles.values()],
        responses=list(titles.values()),
        marks=pl.DataFrame(marks, schema=["axis", "scaled", "text"], orient="row"),
        choices=pl.DataFrame(choices, schema={"axis": pl.String, "place": pl.Int64, "text": pl.String,
                                              "choice": pl.String}, orient="row"),
        cells=cells,
    )  # fmt: skip


def _factor(values: Sequence[Any]) -> tuple[list[float], dict[str, float]]:
    """The places of levels, evenly in their order, and each level's place."""
    levels = list(dict.fromkeys(values))
    numbers = in_si(levels)
    if numbers is not None:
        levels = [level for _, level in sorted(zip(numbers[1], levels, strict=True), key=lambda pair: pair[0])]
    last = len(levels) - 1
    places = {in_words(level): number / last if last else _MIDDLE for number, level in enumerate(levels)}
    return [places[in_words(value)] for value in values], places


def _short(value: float) -> str:
    """Three digits, thousands as k and M.

    >>> _short(306_961.0), _short(2.3456), _short(-1_200_000.0)
    ('307k', '2.35', '-1.2M')
    """
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _cells(trees: Sequence[Dendrogram]) -> pl.DataFrame:
    """The cluster of each algorithm under each condition; one in none is its own group."""
    rows = []
    for tree in trees:
        numbers = {name: number for number, group in enumerate(tree.clusters, 1) for name in group}
        for name in sorted(tree.order):
            number = numbers.get(name, 0)
            members = tree.clusters[number - 1] if number else (name,)
            group = f"{tree.condition}: {number or name}"
            rows.append((tree.condition, name, number, group, " ".join(members)))
    return pl.DataFrame(rows, schema=["condition", "algorithm", "cluster", "group", "members"], orient="row")
