"""``tightlink analyze effects`` and ``ten-steps``: which factors matter, of any table of a two-level experiment."""

import dataclasses
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tightlink import plots
from tightlink.analysis import measurements
from tightlink.analysis.effects import designed
from tightlink.analysis.effects import interactions as crossed
from tightlink.analysis.effects.designed import Designed
from tightlink.analysis.effects.influence import influence
from tightlink.analysis.effects.main import WEAK, held_against, main_effects, marked_by_chance
from tightlink.analysis.effects.noise import against
from tightlink.analysis.effects.ten_steps import Steps, steps
from tightlink.analysis.effects.two_level import TwoLevel, gaps, two_level
from tightlink.commands.analyze_output import Finding, finds
from tightlink.commands.options import Names
from tightlink.console import print_table, print_text
from tightlink.errors import ScenarioError, closest, one_of
from tightlink.lazy import pl
from tightlink.numbers import NONE, grouped, significant
from tightlink.plots import labels
from tightlink.report import charts

#: So many groups of effects that cannot be told apart are printed; JSON has all.
_GROUPS: Final = 6
_EFFECTS: Final = 16


@finds()
def effects(
    table: Path,
    *,
    factors: Names = None,
    responses: Names = None,
    by: Names = None,
    interactions: Annotated[bool, Parameter(negative="")] = False,
    draw_response: Annotated[str | None, Parameter(name="--draw")] = None,
) -> Finding:
    """Find which factors move which responses, how far, and how many responses each moves.

    Args:
        table: Runs of two-level factors: CSV, Parquet, or the folder of a sweep or study.
        factors: Columns that were varied; without them, what the sweep varied, otherwise columns of two values.
        responses: Columns of numbers that came out; without them, all other columns of numbers that vary.
        by: Columns, such as period or algorithm, for each value of which effects are found apart.
        interactions: Also find interactions of two factors, and what they cannot be told apart from.
        draw_response: Draw main effects on this response, not the map of all.
    """
    apart = by or []
    read, merged = _read(table, factors, responses, apart)
    with measurements.of_file(table):
        design = two_level(read.runs, read.factors)
        lacking = gaps(read.runs, design, read.responses)
        read = dataclasses.replace(read, responses=tuple(name for name in read.responses if name not in lacking))
        if not read.responses:
            said = "of every response some runs have no value, and the others do not tell the factors apart"
            raise measurements.MeasurementError(f"{said}, or are those whose transfers ended")
        found = main_effects(read.runs, read.factors, read.responses, apart)
        pairs = crossed.interactions(read.runs, read.factors, read.responses, apart) if interactions else None
    psi = influence(found, apart)
    if draw_response is not None and draw_response not in read.responses:
        meant = closest(draw_response, read.responses)
        raise ScenarioError(one_of(read.responses), key="--draw", value=draw_response, suggestion=meant)
    groups = design.fraction.aliases(design.factors)

    def words() -> None:
        _print_design(design, merged, groups)
        if lacking:
            left = "; the runs that have it do not tell the factors apart, or are those whose transfers ended"
            print_text(f"left out, as some runs have no value: {', '.join(lacking)}{left}\n")
        print_text(held_against(found))
        for name, part in _apart(found, apart):
            crossing = None if pairs is None else dict(_apart(pairs, apart))[name]
            _print_effects(name, part, crossing)
        if chance := marked_by_chance([*found["p"], *([] if pairs is None else pairs["p"])]):
            print_text(f"\n{chance}")
        _print_influence(psi, apart)

    facts = {"design": design.sentence(), "orthogonal": design.orthogonal, "changes_with": merged}
    facts |= {"left_out": lacking, "aliases": groups, "effects": found, "influence": psi}
    return Finding(
        lambda: facts | ({} if pairs is None else {"interactions": pairs}),
        words,
        lambda: [
            charts.significance_map(part, title=name) if draw_response is None
            else charts.main_effects(part, draw_response, title=name)
            for name, part in _apart(found, apart)
        ],
        named=True,
    )  # fmt: skip


@finds("a page with the ten figures")
def ten_steps(table: Path, *, response: str | None = None, factors: Names = None) -> Finding:
    """Look at one response in ten steps: which effects are more than noise, and what they leave unexplained.

    Args:
        table: Runs of two-level factors: CSV, Parquet, or the folder of a sweep or study.
        response: Column of numbers that came out; may be left out where there is one.
        factors: Columns that were varied; without them, what the sweep varied, otherwise columns of two values.
    """
    read, merged = _read(table, factors, None if response is None else [response], [])
    if response is None and len(read.responses) != 1:
        raise ScenarioError(one_of(read.responses), key="--response")
    with measurements.of_file(table):
        found = steps(read.runs, read.responses[0], read.factors)
    facts = {"design": found.design.sentence(), "orthogonal": found.design.orthogonal, "changes_with": merged}
    facts |= {"levels": dict(zip(found.design.factors, found.design.levels, strict=True))}
    facts |= {"standing_out": found.half_normal.standing_out}
    return Finding(
        lambda: facts | {name: value for name, value in vars(found).items() if name != "design"},
        lambda: _print_steps(found, merged),
        lambda: plots.ten_steps.page(found),
        named=True,
    )


def _read(table: Path, factors: Names, responses: Names, by: list[str]) -> "tuple[Designed, dict[str, str]]":
    """The table, without responses that nothing moves, and which factors are left out for the one they change with."""
    read = designed.read(table, factors=factors, responses=responses)
    kept = [name for name in read.factors if name not in by]
    measured = [name for name in read.responses if name not in by]
    if responses is None:
        measured = [name for name in measured if read.runs[name].drop_nulls().drop_nans().n_unique() > 1]
    with measurements.of_file(table):
        if not measured:
            raise measurements.MeasurementError("expected a response: a column of numbers that vary, and no factor")
        merged = two_level(read.runs, kept).changing_together()
    names = tuple(name for name in kept if name not in merged)
    return dataclasses.replace(read, factors=names, responses=tuple(measured)), merged


def _apart(frame: "pl.DataFrame", by: list[str]) -> "list[tuple[str, pl.DataFrame]]":
    """Parts of what was found, by the values of some columns in words."""
    if not by:
        return [("", frame)]
    parts = frame.group_by(by, maintain_order=True)
    return [
        (", ".join(f"{name} {value}" for name, value in zip(by, values, strict=True)), part) for values, part in parts
    ]


def _print_design(design: "TwoLevel", merged: dict[str, str], groups: list[list[str]]) -> None:
    print_text(design.sentence())
    for factor, other in merged.items():
        print_text(f"{factor} changes with {other}: what is said of {other} is of both")
    short = labels.shortest(design.factors)
    singles = [group for group in groups if any(name in design.factors for name in group)] or groups
    for group in singles[:_GROUPS]:
        print_text(f"cannot be told apart: {' = '.join(_short(name, short) for name in group)}")
    if len(groups) > _GROUPS:
        print_text(f"and so on: {len(groups)} groups, in --json")


def _print_effects(name: str, found: "pl.DataFrame", pairs: "pl.DataFrame | None") -> None:
    print_text(f"\n{name}" if name else "")
    responses = found["response"].unique(maintain_order=True).to_list()
    short = labels.shortest(found["factor"].unique(maintain_order=True).to_list())
    width = max(map(len, responses))
    for response in responses:
        texts = [_effect(row["factor"], row, short) for row in _marked(found, response)]
        named: set[str] = set()
        for row in _marked(pairs, response) if pairs is not None else []:
            # Of several that cannot be told apart the first stands for all.
            if f"{row['factor']} × {row['other']}" not in named:
                texts += [_effect(f"{row['factor']} × {row['other']}", row, short)]
                named |= {alias.removeprefix("−") for alias in row["aliases"].split(", ")}
        print_text(f"{response:{width}}  {', '.join(texts) or 'nothing significant'}")


def _marked(found: "pl.DataFrame", response: str) -> list[dict[str, Any]]:
    """The significant effects on a response, all where there is no test; the largest first, aliases in their order."""
    told = (pl.col("mark") != "") | ((pl.col("test") == "") & (pl.col("sign") != ""))
    rows = found.filter((pl.col("response") == response) & told)
    # Sums in another order differ in their last digits.
    size = pl.col("effect").abs().round_sig_figs(9)
    return rows.sort(size, descending=True, maintain_order=True).to_dicts()


def _short(text: str, names: Mapping[str, str]) -> str:
    """Factors, products of them and lists of these, by the names that tell them apart."""
    parts = re.split("( × |, |^−|(?<= )−)", text)
    return "".join(names.get(part, part) for part in parts)


def _effect(name: str, row: dict[str, Any], names: Mapping[str, str]) -> str:
    """An effect in words: its sign and mark, how large it is beside the mean, what else it may be."""
    relative = row["relative_effect"]
    share = f" ({significant(100 * relative, 3, signed=True)} %)" if math.isfinite(relative) else ""
    others = f" or {_short(row['aliases'], names)}" if row.get("aliases") else ""
    return f"{row['sign']}{_short(name, names)}{row['mark']}{share}{others}"


def _print_influence(psi: "pl.DataFrame", by: list[str]) -> None:
    parts = _apart(psi, by)
    shares = {name: dict(zip(part["factor"], part["psi"], strict=True)) for name, part in parts}
    first = next(iter(shares.values()))
    order = sorted(first, key=lambda factor: -sum(part[factor] for part in shares.values()))
    print_text()
    header = ["factor", *(f"Ψ {name}".strip() for name in shares)]
    print_table(header, [[factor, *(f"{part[factor]:.2f}" for part in shares.values())] for factor in order])


def _print_steps(found: "Steps", merged: dict[str, str]) -> None:
    print_text(f"{found.response}: ", end="")
    _print_design(found.design, merged, [])
    largest = max(abs(effect) for effect in found.effects["effect"])
    up = labels.axis(found.response, largest)
    left = dict(zip(found.residual_sd["term"], found.residual_sd["residual_sd"], strict=True))
    standing_out, short = found.half_normal.standing_out, labels.shortest(found.design.factors)
    rows = [
        [
            _short(row["term"], short),
            grouped(f"{row['effect'] * up.factor:+.4g}"),
            "yes" if row["term"] in standing_out else "",
            f"{left[row['term']] * up.factor:.4g}" if row["term"] in left else NONE,
            _short(row["aliases"], short),
        ]
        for row in found.effects.head(_EFFECTS).iter_rows(named=True)
    ]
    mean, alone = (grouped(f"{value * up.factor:.4g}") for value in (found.mean, left["mean"]))
    print_text(f"{up.title}: mean {mean}, residual standard deviation of the mean alone {alone}\n")
    print_table(["effect", up.title, "stands out", "left with it", "cannot be told apart from"], rows, words=[4])
    if found.effects.height > _EFFECTS:
        print_text(f"and {found.effects.height - _EFFECTS} smaller ones, in --json")
    noise = found.half_normal
    error = "unknown, as there are no replications and fewer than three effects"
    if noise.test:
        error = f"{noise.error * up.factor:.4g}, by {against(noise.test, noise.freedom)}; from p < {WEAK} it stands out"
    print_text(f"\nstandard error of an effect: {error}")
    print_text(f"stands out from noise: {_short(', '.join(standing_out), short) or 'nothing'}")
    if (surface := found.surface) is not None:
        for word, (x, y) in (("highest", surface.highest), ("lowest", surface.lowest)):
            across, along = surface.across_levels[x > 0], surface.up_levels[y > 0]
            print_text(f"{word} at {short[surface.across]} = {across}, {short[surface.up]} = {along}: "
                  f"{grouped(f'{surface.at(x, y) * up.factor:.4g}')}")  # fmt: skip
