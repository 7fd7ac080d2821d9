"""The sections of a sweep's report that say what its factors do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tightlink.analysis.effects.factors import called, in_si
from tightlink.analysis.effects.influence import influence
from tightlink.analysis.effects.main import held_against, main_effects, marked_by_chance
from tightlink.analysis.effects.noise import REPLICATIONS
from tightlink.analysis.effects.two_level import gaps, two_level
from tightlink.console import quantity
from tightlink.diagnosis import words
from tightlink.experiment.summary import known_width, width_of, without_copies
from tightlink.lazy import alt, pl
from tightlink.numbers import TOO_FEW, too_few
from tightlink.plots import labels, palette
from tightlink.reduce import largest, smallest
from tightlink.report import charts, sweep_opposite
from tightlink.report.blocks import Block, Chart, Row, Section, Table, Text
from tightlink.report.changes import changes, is_delay, response_name
from tightlink.report.charts.levels import is_wide
from tightlink.report.encoding import Kind

if TYPE_CHECKING:
    from tightlink.report.sweep import Found

_TWO: Final = 2
#: Traffic groups up to which each has its line.
_MOST_LINES: Final = 8
#: Traffic groups up to which each has a column beside the metrics of all.
_MOST_COLUMNS: Final = 2
#: Means that differ by less, as a share of the largest, have no chart: it would look like a change.
_SAME: Final = 0.02
_TALL: Final = 300


def sections(found: Found) -> Iterator[Section]:
    """What matters, in designs of two levels; then each factor, the one that changes most first."""
    matters = _what_matters(found)
    if matters is not None:
        yield matters
    for factor in found.order:
        yield _effect(found, factor)


def _effect(found: Found, factor: str) -> Section:
    levels = found.levels[factor]
    together = [factor, *found.tied(factor)]
    over = (
        "the other factors as in the first combination" if found.one_at_a_time
        else "means over all combinations that have the level" if len(found.varied) > 1 else ""
    )  # fmt: skip
    main = _main(found, factor)
    blocks: list[Block] = [Row(_large(found, factor, main))]
    moved = [name for name in found.metrics if name != main and _moves(levels[name])]
    if moved:
        blocks.append(Row([_drawn(found, levels, factor, name, 170) for name in moved]))
    blocks += sweep_opposite.blocks(found, factor)
    still = [name for name in found.metrics if not _moves(levels[name])]
    if told := [text for name in still if (text := _told(levels, name))]:
        blocks.append(Text(f"Hardly changed: {', '.join(told)}."))
    replicated = any(levels[width_of(name)].is_not_null().any() for name in found.metrics)
    if replicated:
        few = with_unknown(levels, found.metrics)
        blocks.append(Text(f"Bars, and what stands behind ±, are 95 % confidence intervals over replications{few}."))
    if len(found.varied) == 1:
        # Its levels are the combinations, which have a table of their own.
        return Section(f"Effect of {' & '.join(together)}", "", blocks)
    # Of groups only where the page has room: "Combinations" has them all.
    goodputs = list(found.groups.get("goodput_bps", {}).values())
    first = goodputs if len(goodputs) <= _MOST_COLUMNS and not replicated else []
    columns = [*found.metrics[:1], *first, *found.metrics[1:]]
    widths = {name: width_of(name) for name in columns}
    # A key may be called like a metric: link.wire.loss.
    short = labels.shortest([*together, *columns])
    beside = found.cells.group_by(factor).agg(
        pl.col(key).cast(pl.String).unique(maintain_order=True).str.join(", ") for key in together[1:]
    )
    shown = levels.join(beside, on=factor, how="left", maintain_order="left")
    named = (pl.col(key).alias(short[key]) for key in together)
    blocks.append(Table(shown.select(*named, "runs", *columns, *widths.values()), widths=widths))
    finding = f"{words.sentence(over)}." if over else ""
    return Section(f"Effect of {' & '.join(together)}", finding, blocks)


def with_unknown(means: pl.DataFrame, metrics: Sequence[str]) -> str:
    """What "± ?" is, in brackets, where some interval of a table is one."""
    unknown = any(too_few(*pair) for name in metrics for pair in zip(means[name], means[width_of(name)], strict=True))
    return f" ({TOO_FEW})" if unknown else ""


def _main(found: Found, factor: str) -> str:
    """The first metric where it or that of a traffic group moves; otherwise what changes most."""
    first, levels = found.metrics[0], found.levels[factor]
    if any(_moves(levels[name]) for name in (first, *found.groups.get(first, {}).values())):
        return first
    return next((change.response for change in changes({factor: levels}, found.metrics, found.known)), first)


def _large(found: Found, factor: str, main: str) -> list[alt.LayerChart]:
    """A metric, of each traffic group by itself, beside the plane of delay and throughput."""
    levels = found.levels[factor]
    first = _drawn(found, levels, factor, main, _TALL)
    delay = next((name for name in found.metrics if is_delay(name)), None)
    if delay is None or "throughput_bps" not in levels.columns:
        return [first]
    name = labels.shortest([factor])[factor]
    values = levels[factor].to_list()
    points = levels.select(pl.Series(name, map(called, values)), "throughput_bps", delay)
    ordered = in_si(values) is not None
    return [first, charts.delay_throughput(points, delay=delay, by=name, ordered=ordered, height=_TALL)]


def _drawn(found: Found, levels: pl.DataFrame, factor: str, metric: str, height: int) -> alt.LayerChart:
    """A metric over the levels of a factor, a line for each traffic group where there are a few."""
    columns = found.groups.get(metric, {})
    lines = {group: column for group, column in columns.items() if levels[column].is_not_nan().any()}
    kind = _kind_of_delays(found, levels) if is_delay(metric) else None
    if not 1 < len(lines) <= _MOST_LINES:
        # Beside the colours of traffic groups what is of all has that of none.
        paint = palette.NEUTRAL if len(found.groups.get(found.metrics[0], {})) > 1 else palette.SERIES[0]
        half_width = known_width(levels, metric)
        return charts.over_levels(levels, factor, metric, half_width=half_width, paint=paint, kind=kind, height=height)
    parts = [
        levels.select(
            factor, pl.lit(group).alias("traffic"), pl.col(column).alias(metric),
            pl.col(width_of(column)).alias(width_of(metric)),
        )
        for group, column in lines.items()
    ]  # fmt: skip
    each = pl.concat(parts)
    half_width = known_width(each, metric)
    return charts.over_levels(each, factor, metric, half_width=half_width, by="traffic", kind=kind, height=height)


def _kind_of_delays(found: Found, levels: pl.DataFrame) -> Kind | None:
    """The kind of the axes of all delays, which stand beside each other: where one is logarithmic, all are."""
    for metric in filter(is_delay, found.metrics):
        columns = [metric, *found.groups.get(metric, {}).values()]
        values = pl.concat([levels[column].cast(pl.Float64).alias(metric) for column in columns]).drop_nulls()
        values = values.filter(values.is_finite())
        if is_wide(metric, values.min(), values.max()):
            return "log"
    return None


def _moves(means: pl.Series) -> bool:
    values = means.drop_nulls().drop_nans()
    if values.len() < _TWO:
        return False
    low, high = smallest(values), largest(values)
    return high - low > _SAME * max(abs(low), abs(high))


def _told(levels: pl.DataFrame, name: str) -> str:
    """A response and its means; nothing where fewer than two levels have one."""
    values = levels[name].drop_nulls().drop_nans()
    if values.len() < _TWO:
        return ""
    low, high = (quantity(name, float(value)) for value in (smallest(values), largest(values)))
    return f"{response_name(name)} {low}" + (f" to {high}" if high != low else "")


def _what_matters(found: Found) -> Section | None:
    """In two-level designs: which factors move which responses, and how many each moves."""
    done = without_copies(found.done, found.copies)
    if found.one_at_a_time or any(done[key].n_unique() > _TWO for key in found.varied):
        return None
    varied = [key for key in found.varied if done[key].n_unique() == _TWO]
    merged = two_level(done, varied).changing_together() if varied else {}
    factors = [key for key in varied if key not in merged]
    responses = [name for name in found.responses if done[name].drop_nans().n_unique() > 1]
    if len(factors) < _TWO or not responses:
        return None
    design = two_level(done, factors)
    lacking = gaps(done, design, responses)
    shares = [name for name in responses if name.endswith(".share")]
    # What one of two traffic groups gets, the other does not.
    alike = shares[1:] if len(shares) == _TWO else []
    responses = [name for name in responses if name not in {*lacking, *alike}]
    if not responses:
        return None
    effects = main_effects(done, factors, responses)
    psi = influence(effects).sort("psi", descending=True, maintain_order=True)
    short = labels.shortest(factors)
    most = [f"{short[factor]} (Ψ = {share:.2f})" for factor, share, _ in psi.head(_TWO).rows() if share]
    moved = (
        f"What moves most responses: {', then '.join(most)}" if most
        else "No factor moves any response significantly" if (effects["test"] == REPLICATIONS).any()
        else "No replications differ, so that effects are held against each other, and none stands out: how far each "
        "factor moves a response, its section says"
    )  # fmt: skip
    names, tested = ", ".join(map(response_name, responses)), held_against(effects)
    left = f". Left out, as some runs have none: {', '.join(map(response_name, lacking))}" if lacking else ""
    low, high = (pl.col("factor").replace_strict(dict(zip(design.factors, ends, strict=True)))
                 for ends in zip(*design.levels, strict=True))  # fmt: skip
    table = psi.select("factor", low=low, high=high, Ψ="psi")
    return Section(
        "What matters",
        ". ".join(filter(None, [moved, design.sentence(), tested, marked_by_chance(effects["p"])])) + ".",
        [
            Chart(
                charts.significance_map(effects),
                "How much more (+) or less (−) a response is at the high level of a factor, as a share of its mean; "
                "the stronger the colour, the more. Without colour: not significant.",
            ),
            Table(table, f"Ψ: the share of {len(responses)} responses that a factor moves, those of p < 0.05 counted "
                         f"half: {names}{left}."),
        ],
    )  # fmt: skip
