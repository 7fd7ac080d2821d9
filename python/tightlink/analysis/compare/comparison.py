"""Two runs, or two folders of runs, side by side: the second against the first.

Flows are paired by their labels, links and nodes by their names, runs of sweeps by what was varied. What only one of
the two has is listed.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tightlink import arguments, units
from tightlink.analysis.compare.pairs import SIDES, common, means, paired, same_service, samples, totals, unpivoted
from tightlink.analysis.compare.summary import nothing, summary
from tightlink.analysis.compare.sweeps import BLOCK, COPIED, levels_of, matched, varied, with_defaults
from tightlink.analysis.path.residuals import NEAR, Agreement, agreement
from tightlink.calls import answered
from tightlink.errors import TightlinkError, did_you_mean, one_of
from tightlink.experiment.folder import RUNS, Experiment, holds_experiment
from tightlink.experiment.precision import half_width
from tightlink.experiment.summary import summary as over_replications
from tightlink.experiment.summary import width_of
from tightlink.files import folder_of
from tightlink.lazy import pl
from tightlink.reduce import largest, smallest
from tightlink.run import CAPTURE, MEASUREMENT, SIMULATION, TRACE, Run, holds_run, open_run
from tightlink.scenario.toml import literal

#: The table that the runs of a sweep make.
RUNS_TABLE: Final = "runs"
#: What a side is called by where it comes from.
_TITLES: Final = {SIMULATION: "simulated", MEASUREMENT: "measured", CAPTURE: "captured", TRACE: "traced"}
#: Tables with a row for each of what has this name.
_NAMED: Final = {"flows": "label", "links": "link", "nodes": "node", "completion_times": "label"}
#: Numbers that a scenario gives.
GIVEN: Final = ("start_s", "stop_s")

#: Durations of a flow that differ by a larger share make its counts differ.
_UNLIKE: Final = 0.05

#: Of runs of one scenario.
_BY_CHANCE: Final = "the scenarios differ in their seed alone: what differs is chance, and several seeds tell how much"


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two runs, or two folders of runs, side by side: what `tightlink.compare` returns. Printed, it is a summary.

    Example:
        >>> base = tl.network("dsl").set("duration", "1 s")
        >>> found = tl.compare(tl.simulate(base), tl.simulate(base.set("link.access.delay", "40 ms")))
        >>> found.differences.columns, found.values.columns[:3]
        (['key', 'first', 'second'], ['table', 'entity', 'metric'])
    """

    titles: tuple[str, str]
    """What the sides are called: by where they come from, such as measured and simulated; or by their folders, or first
    and second, where both come from the same."""
    values: pl.DataFrame
    """``table``, ``entity``, ``metric``, ``first``, ``second``, ``change``: (second − first) / first, below zero where
    the second is less; none where only the first is zero. Of series, means over the time that both have. Of sweeps,
    means over replications, with ``first_half_width`` and ``second_half_width``: half of 95 % confidence intervals; and
    ``difference``, second − first over the seeds that both have, of which ``change`` is the share, with
    ``difference_half_width`` and ``change_half_width``: what chance does to both alike is not in these."""
    alone: pl.DataFrame
    """``side``, ``table``, ``entity``, ``metric``, ``value``: what only one of the two knows."""
    agreements: Mapping[str, Agreement]
    """By TABLE.METRIC, over what the table has several of: how well a simulation predicts what was measured; empty
    where the two have the same source."""
    series: pl.DataFrame
    """``side``, ``time_s``, ``entity``, ``metric``, ``value``: samples of what both have."""
    differences: pl.DataFrame
    """``key``, ``first``, ``second``: where the scenarios differ."""
    summary: pl.DataFrame
    """What got better and what worse, of two runs (`tightlink.analysis.compare.summary`)."""
    warnings: tuple[str, ...]
    """What must be read before the comparison is trusted."""
    notes: tuple[str, ...] = ()
    """Of sweeps that varied unlike keys: which levels are held against which."""

    def __repr__(self) -> str:
        """What differs, and what became better and worse, as tables of text."""
        # Words are of comparisons.
        from tightlink.analysis.compare.words import text

        return text(self)

    def _repr_html_(self) -> str:
        """For notebooks: the same as tables, and what must be read before it is trusted."""
        from tightlink.analysis.compare.words import as_html

        return as_html(self)

    def of(self, table: str, metric: str) -> pl.DataFrame:
        """One metric: ``entity``, ``first``, ``second``, ``change`` to three digits.

        Raises:
            TightlinkError: The two have no such table, or no such metric of it, in common.
        """
        rows = self.values
        for column, wanted in (("table", table), ("metric", metric)):
            known = rows[column].unique(maintain_order=True).to_list()
            if wanted not in known:
                meant = did_you_mean(str(wanted), known)
                raise TightlinkError(f"the two have no {column} {wanted!r} in common: expected {one_of(known)}{meant}")
            rows = rows.filter(pl.col(column) == wanted)
        return rows.select("entity", *SIDES, pl.col("change").round(3))

    def nothing(self) -> bool:
        """Whether the two have nothing in common."""
        return self.values.is_empty()


@answered()
def compare(
    first: Run | Experiment | str | os.PathLike[str],
    second: Run | Experiment | str | os.PathLike[str],
    *,
    by: Sequence[str] | None = None,
    pairs: Mapping[str, str] | None = None,
) -> Comparison:
    """Put two runs, or two sweeps or studies, side by side.

    Args:
        first: A run, or the folder of a run, a sweep or a study: what was before, or what was measured.
        second: The same kind of thing: what was after, or what was simulated.
        by: Columns by which the runs of two folders are paired; without it, what was varied.
        pairs: Of two runs: names of flows, links or nodes of the first that stand for others in the second, such as
            those of a capture, which has addresses.

    Returns:
        What is on both sides, the second against the first, and what is on one; printed, a summary.

    Raises:
        TightlinkError: One is a run and the other a folder of runs; a name is of nothing; or nobody says what was
            varied.

    Example:
        >>> base = tl.loads('''
        ... profile = "ns2"
        ... duration = "2 s"
        ... link.wire = { ends = ["a", "b"], rate = "2 Mbit/s", delay = "10 ms" }
        ... traffic.ftp = { kind = "bulk", from = "a", to = "b" }
        ... ''')
        >>> found = tl.compare(tl.simulate(base), tl.simulate(base.set("link.wire.delay", "20 ms")))
        >>> found.of("flows", "goodput_bps").rows()
        [('ftp', 1868000.0, 1792000.0, -0.041)]
        >>> found.differences.rows()
        [('link.wire.delay', '10 ms', '20 ms')]
    """
    names = _names(first, second)
    by = None if by is None else [arguments.text("by", name) for name in arguments.several("by", by)]
    match _opened(first), _opened(second):
        case Run() as before, Run() as after:
            if by is not None:
                raise TightlinkError(f"by {', '.join(by)}: two runs are paired by the names of flows, links and nodes")
            stands = {} if pairs is None else arguments.table("pairs", pairs, 'a table, such as {"a": "b"}')
            return _of_runs(before, after, stands, names)
        case Experiment() as before, Experiment() as after:
            if pairs is not None:
                raise TightlinkError(f"pairs {', '.join(pairs)}: the runs of folders are paired by what was varied")
            return _of_experiments(before, after, by, names)
        case before, _:
            kinds = ("a run", "a folder of runs") if isinstance(before, Run) else ("a folder of runs", "a run")
            raise TightlinkError(f"the first is {kinds[0]} and the second {kinds[1]}: expected two of a kind")


def _opened(source: Run | Experiment | str | os.PathLike[str]) -> Run | Experiment:
    if isinstance(source, Run | Experiment):
        return source
    if not isinstance(source, str | os.PathLike):
        raise TightlinkError(f"expected a run, a sweep, a study, or the folder of one, not {type(source).__name__}")
    folder = Path(source)
    if holds_run(folder):
        return open_run(folder)
    if not holds_experiment(folder):
        what = "there is no such folder"
        if folder.exists():
            what = "nothing to compare is there" if folder.is_dir() else "it is a file"
        expected = f"the folder of a run (it has manifest.json) or of a sweep or a study (it has {RUNS})"
        raise TightlinkError(f"{folder}: {what}; expected {expected}{folder_of(folder)}")
    return Experiment(folder)


def _names(first: object, second: object) -> tuple[str, str]:
    """What two things of one kind are called: their folders, if these have names that differ."""
    found = [Path(each).name if isinstance(each, str | os.PathLike) else "" for each in (first, second)]
    return (found[0], found[1]) if all(found) and found[0] != found[1] else SIDES


def _of_runs(first: Run, second: Run, pairs: Mapping[str, str], names: tuple[str, str]) -> Comparison:
    runs = (first, second)
    tables = [tuple(totals(run, name, key) for run in runs) for name, key in _NAMED.items()]
    tables.append((samples(first), samples(second)))
    for name, other in pairs.items():
        _check_pair(name, other, tables)
    services = _services(runs, tables[0], pairs)
    names_of = ({**services[0], **pairs}, services[1])
    renamed = [
        tuple(side.with_columns(pl.col("entity").replace(names)) for side, names in zip(both, names_of, strict=True))
        for both in tables
    ]
    parts = [paired(name, *sides) for name, sides in zip(_NAMED, renamed, strict=False)]
    series = common(*renamed[-1])
    parts.append(paired("series", *map(means, series)))
    values, alone = (pl.concat([part[place] for part in parts]) for place in (0, 1))
    shown = pl.concat(
        [
            taken.join(values.filter(pl.col("table") == "series"), on=["entity", "metric"], how="semi")
            .with_columns(side=pl.lit(side))
            .select("side", "time_s", "entity", "metric", "value")
            for side, taken in zip(SIDES, series, strict=True)
        ]
    )
    differences = _differences(*(run.manifest.get("scenario", {}) for run in runs))
    by_chance = differences["key"].to_list() == ["seed"]
    said = [_BY_CHANCE] if by_chance else []
    return Comparison(
        names if first.source == second.source else (_TITLES[first.source], _TITLES[second.source]),
        values,
        alone,
        _agreements(values) if (first.source == SIMULATION) != (second.source == SIMULATION) else {},
        shown,
        differences,
        summary(first, second, judged=not by_chance),
        (*said, *_warnings(runs, values)),
    )


def _services(
    runs: tuple[Run, Run], flows: tuple[pl.DataFrame, ...], pairs: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """Names under which flows of two captures are the same service, other than those that are paired by hand."""
    if any(run.source != CAPTURE for run in runs):
        return {}, {}
    began = [dict(side.filter(pl.col("metric") == "start_s").select("entity", "value").iter_rows()) for side in flows]
    paired = {*pairs, *pairs.values()}
    first, second = ({name: at for name, at in side.items() if name not in paired} for side in began)
    return same_service(first, second)


def _check_pair(name: str, other: str, tables: Sequence[tuple[pl.DataFrame, ...]]) -> None:
    known = [{entity for table in tables for entity in table[side]["entity"]} for side in (0, 1)]
    for place, (wanted, there) in enumerate(zip((name, other), known, strict=True)):
        if wanted not in there:
            has = one_of(sorted(there)).removeprefix("one of ")
            raise TightlinkError(f"{name} = {other}: {wanted} is nothing of the {SIDES[place]}, which has {has}")
    if other in known[0]:
        raise TightlinkError(f"{name} = {other}: the first has {other}, too")


def _warnings(runs: tuple[Run, Run], values: pl.DataFrame) -> tuple[str, ...]:
    found = [f"{title}: {warning}" for title, run in zip(SIDES, runs, strict=True) for warning in run.warnings]
    found += _engines(*(run.manifest.get("engine_behaviour") for run in runs))
    first, second = (run.source for run in runs)
    if first == SIMULATION and second != SIMULATION:
        found.append(f"the first is a {first} and the second a {second}: changes are relative to the first")
    if values.is_empty():
        found.append("the two have no flow, link or node in common")
    return (*found, *(_unlike_durations(values) if CAPTURE in {first, second} else ()))


def _engines(first: int | None, second: int | None) -> tuple[str, ...]:
    """That two versions simulated, which is no difference of what was simulated."""
    if first is None or second is None or first == second:
        return ()
    made = f"the first was simulated by engine behaviour {first}, the second by {second}"
    return (f"{made}: what differs may be the engine's; simulate both by one version to know what is not",)


def _unlike_durations(values: pl.DataFrame) -> Iterator[str]:
    """That a flow lasts longer on one side, which no scenario of a capture would tell."""
    flows = values.filter(pl.col("table") == "flows")
    starts, stops = (flows.filter(pl.col("metric") == name).select("entity", *SIDES) for name in GIVEN)
    for entity, *each in starts.join(stops, on="entity", maintain_order="left").iter_rows():
        first_s, second_s = each[2] - each[0], each[3] - each[1]
        if abs(second_s - first_s) > _UNLIKE * max(first_s, second_s):
            both = " and ".join(units.format_time(float(f"{time_s:.3g}")) for time_s in (first_s, second_s))
            yield f"{entity} lasts {both}: compare its rates and shares, not its numbers of packets"


def _agreements(values: pl.DataFrame) -> dict[str, Agreement]:
    """Of each metric that differs among what a table has several of."""
    found = {}
    given = pl.col("metric").is_in(GIVEN)
    usable = values.filter((pl.col(SIDES[0]) != 0) & (pl.col("table") != "series") & ~given)
    for (table, metric), rows in usable.group_by("table", "metric", maintain_order=True):
        answer = agreement(rows, SIDES) if rows[SIDES[0]].n_unique() > 1 else None
        if answer is not None and answer.origin is not None:
            sizes = rows[SIDES[0]].abs()
            apart = largest(sizes) - smallest(sizes) > NEAR * largest(sizes)
            # Of values that are nearly equal, no line is nearer than their mean, however well they agree.
            says = apart or answer.origin.value >= 0
            found[f"{table}.{metric}"] = answer if says else replace(answer, origin=None, free=None)
    return found


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> pl.DataFrame:
    """The keys of two scenarios that do not have the same value."""
    flat = [dict(_flat(scenario)) for scenario in (first, second)]
    # Of what has no scenario, nothing is known.
    keys = dict.fromkeys([*flat[0], *flat[1]]) if all(flat) else {}
    rows = [
        (key, *(side.get(key, "") for side in flat))
        for key in keys
        # What stops with the run differs by that alone.
        if [side.get(key) for side in flat] != [side.get("duration") for side in flat] or key == "duration"
        if flat[0].get(key) != flat[1].get(key)
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(("key", *SIDES), pl.String), orient="row")


def _flat(thing: Any, path: str = "") -> Iterable[tuple[str, str]]:
    if not isinstance(thing, dict):
        # As a scenario writes it.
        yield path, thing if isinstance(thing, str) else literal(thing)
        return
    for key, value in thing.items():
        yield from _flat(value, f"{path}.{key}" if path else str(key))


def _of_experiments(
    first: Experiment, second: Experiment, by: Sequence[str] | None, names: tuple[str, str]
) -> Comparison:
    sides = (first, second)
    frames = [side.runs.collect() for side in sides]
    shared = list(by) if by is not None else varied(sides, frames)
    for side, frame in zip(sides, frames, strict=True):
        missing = next((key for key in shared if key not in frame.columns), None)
        if missing is not None:
            raise TightlinkError(f"{side.folder}: {missing}: expected {one_of(frame.columns)}")
    runs, notes = matched(sides, frames, shared, names, over_others=by is not None)
    cells = [_cells(side) for side in runs]
    values, alone = paired(RUNS_TABLE, *(means for means, _ in cells))
    for name, (_, half) in zip(SIDES, cells, strict=True):
        widths = half.rename({"value": f"{name}_half_width"})
        values = values.join(widths, on=["entity", "metric"], how="left", maintain_order="left")
    values = _paired_by_seed(values, runs)
    empty = pl.DataFrame(
        schema={"side": pl.String, "time_s": pl.Float64, "entity": pl.String, "metric": pl.String, "value": pl.Float64}
    )
    combination = f"combination of {', '.join(shared)}" if shared else "run that ended"
    engines = _engines(*(side.engine_behaviour for side in sides))
    warnings = (*engines, *(() if values.height else (f"the two have no {combination} in common",)))
    measured = ["source" in frame.columns for frame in frames]
    agreements = {}
    if measured[0] != measured[1]:
        agreements = _agreements(values)
        sources = [MEASUREMENT if each else SIMULATION for each in measured]
        names = (_TITLES[sources[0]], _TITLES[sources[1]])
    written = [
        _with_levels(side, frame, other) for side, frame, other in zip(sides, frames, reversed(sides), strict=True)
    ]
    differences = _differences(*(with_defaults(*each) for each in zip(sides, written, reversed(written), strict=True)))
    return Comparison(
        names, values, alone, agreements, empty, differences, nothing(), warnings, (*notes, *_unlike_seeds(runs, names))
    )


def _unlike_seeds(sides: Sequence[pl.DataFrame], names: tuple[str, str]) -> tuple[str, ...]:
    """That changes leave out the seeds that one side alone has."""
    seeds = [side.filter(~pl.col(COPIED)).select("entity", *BLOCK).drop_nulls() for side in sides]
    both = seeds[0].join(seeds[1], on=["entity", *BLOCK], how="semi")
    shared = [side.join(both, on="entity", how="semi") for side in seeds]
    of = " and of ".join(name for name, side in zip(names, shared, strict=True) if side.height > both.height)
    return (f"changes are over the seeds that both have; the means of {of} are over more",) if of else ()


def _with_levels(side: Experiment, frame: pl.DataFrame, other: Experiment) -> dict[str, Any]:
    """The scenario of a sweep with the levels of what it alone varied, which its runs have instead of its values."""
    scenario = dict(_flat(tomllib.loads(side.description.get("scenario", ""))))
    for key in side.varied:
        scenario = {name: value for name, value in scenario.items() if name != key and not name.startswith(f"{key}.")}
        if key not in other.varied:
            scenario[key] = levels_of(frame, key)
    return scenario


def _paired_by_seed(values: pl.DataFrame, sides: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """The values with their differences over the seeds that both have, and half the confidence intervals of these.

    What other seeds did is chance that only one side had, and no part of a difference. Without common seeds it is
    that of the means. No interval where fewer than two seeds are on both sides, or where both have copies of one run.

    A change is a ratio of two means, of which both are known to their intervals only: its own is that of what the
    second has beyond its share of the first (W. G. Cochran: Sampling Techniques, 1977, section 2.11).
    """
    keys = ["entity", *BLOCK]
    by_seed = [side.unpivot(index=[*keys, COPIED], variable_name="metric").drop_nulls() for side in sides]
    pairs = by_seed[0].join(by_seed[1], on=[*keys, "metric"], suffix="_after")
    told = (~(pl.col(COPIED) & pl.col(f"{COPIED}_after"))).all()
    before, after = pl.col("value"), pl.col("value_after")
    # The second's share of the first is one where the first has nothing, of which there is no change.
    share = pl.when(before.mean() != 0).then(after.mean() / before.mean()).otherwise(1.0)
    found = pairs.group_by("entity", "metric", maintain_order=True).agg(
        before.mean(), apart=after - before, beyond=after - share * before, told=told
    )
    widths = {
        name: [half_width(one) if len(one) > 1 and known else None for one, known in found.select(name, "told").rows()]
        for name in ("apart", "beyond")
    }
    found = found.select(
        "entity", "metric", _before="value", difference=pl.col("apart").list.mean(),
        difference_half_width=pl.Series(widths["apart"], dtype=pl.Float64),
        change_half_width=pl.Series(widths["beyond"], dtype=pl.Float64) / pl.col("value").abs(),
    )  # fmt: skip
    joined = values.join(found, on=["entity", "metric"], how="left", maintain_order="left")
    first = pl.coalesce("_before", SIDES[0])
    difference = pl.coalesce("difference", pl.col(SIDES[1]) - pl.col(SIDES[0]))
    change = pl.when(difference == 0).then(0.0).when(first != 0).then(difference / first.abs())
    return joined.with_columns(difference=difference, change=change).drop("_before")


def _cells(runs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The mean of each metric over the replications of a combination, and half its confidence interval if known."""
    metrics = [name for name in runs.columns if name not in {"entity", *BLOCK, COPIED}]
    each = runs.drop(BLOCK).with_columns(run=pl.col("entity").rank("dense").cast(pl.String), status=pl.lit("done"))
    copies = each.filter(pl.col(COPIED))["run"].unique().to_list()
    found = over_replications(each.drop(COPIED), ["entity"], copies)
    half = found.select("entity", *(pl.col(width_of(name)).alias(name) for name in metrics))
    return unpivoted(found, ["entity"], metrics), unpivoted(half, ["entity"], metrics)
