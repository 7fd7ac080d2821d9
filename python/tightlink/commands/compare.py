"""The command ``tightlink compare``: the second of two runs against the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from tightlink import plots
from tightlink.analysis.compare.comparison import RUNS_TABLE, Comparison
from tightlink.analysis.compare.comparison import compare as put_together
from tightlink.analysis.compare.limits import Limit, passed
from tightlink.analysis.compare.pairs import SIDES
from tightlink.analysis.compare.words import (
    agreements,
    changed_most,
    in_order,
    is_main,
    main_agreements,
    summarized,
    written,
)
from tightlink.checksums import write_table
from tightlink.commands.options import Json, Names, Output, WithLab  # cyclopts evaluates it
from tightlink.commands.table_options import with_table_options
from tightlink.console import (
    CAUTION,
    is_everything_asked_for,
    print_json,
    print_table,
    print_text,
    quantity,
    say,
    warned,
)
from tightlink.errors import ScenarioError, TightlinkError, show
from tightlink.files import check_empty
from tightlink.json_values import plain
from tightlink.laboratory.embedded import Offer
from tightlink.lazy import pl
from tightlink.numbers import TOO_FEW, UNKNOWN
from tightlink.plots.observed import observed
from tightlink.report import charts
from tightlink.report.side_by_side import write_comparison
from tightlink.run import SIMULATION, holds_run, open_run

#: A limit that took less of the time on both sides is not printed.
_LEAST_SHARE: Final = 0.05
_SINGULAR: Final = {
    "flows": "flow",
    "links": "link",
    "nodes": "node",
    "completion_times": "transfers",
    "runs": "runs with",
    "series": "mean of series",
}
_PLURAL: Final = {"completion_times": "groups and sizes of transfers", "series": "flows and links with samples"}
#: Of more flows, links or nodes, those that changed most are printed.
_MOST_ENTITIES: Final = 20
_CHANGED_MOST: Final = 10
_MOST_FIGURES: Final = 12
_MOST_NAMES: Final = 12


@with_table_options
def compare(
    first: Path,
    second: Path,
    *,
    by: Names = None,
    pair: Names = None,
    limit: Names = None,
    json_: Json = False,
    output: Output = None,
    with_lab: WithLab = False,
) -> int:
    """Compare the second of two runs with the first, or two sweeps or studies: −16 % means that the second has less.

    Args:
        first: Folder of a run, a sweep or a study: what was before, or what was measured or captured.
        second: Folder of the same kind of thing: what was after, or what was simulated.
        by: Of sweeps and studies: columns by which their runs are paired (default: what was varied).
        pair: FIRST=SECOND, to pair flows, links or nodes of two runs that have different names.
        limit: METRIC=CHANGE, such as "one_way_delay_p95_s=+10 %" or "goodput_bps=-5 %": exit code 3 where the metric
            grew or fell further; of shares, such as loss, in percentage points. May be repeated.
        output: New folder for a report, figures and the table of all values.
    """
    if with_lab and output is None:
        raise TightlinkError("--with-lab is for the report: add -o DIR, a new folder for it")
    if output is not None:
        check_empty(output)
    pairs = None if pair is None else dict(map(_pair, pair))
    limits = [Limit.parse(text) for text in limit or []]
    found = put_together(first, second, by=by, pairs=pairs)
    beyond = [each for limit_ in limits for each in passed(found, limit_)]
    if output is not None:
        _write(_over_time(found, (first, second), pairs), output, (str(first), str(second)), with_lab=with_lab)
    if json_:
        print_json(_described(found) | {"beyond": beyond}, named=True)
    else:
        _print(found)
    for row in beyond:
        sides = " to ".join(quantity(row["metric"], row[side]) for side in SIDES)
        say(f"beyond --limit {show(row['limit'])}: {row['of']}, from {sides}")
    return max(warned(found.warnings), CAUTION if beyond else 0)


def _pair(text: str) -> tuple[str, str]:
    name, sign, other = text.partition("=")
    if not (name and sign and other):
        raise ScenarioError("FIRST=SECOND, two names", key="--pair", value=text)
    return name.strip(), other.strip()


def _over_time(found: Comparison, folders: tuple[Path, Path], pairs: dict[str, str] | None) -> Comparison:
    """The same with samples over time, of runs that were simulated without and can be again."""
    if not all(map(holds_run, folders)):
        return found
    runs = [open_run(folder) for folder in folders]
    first, second = seen = [observed(run, "series") for run in runs]
    # What has its samples is compared already.
    return found if seen == runs else replace(found, series=put_together(first, second, pairs=pairs).series)


def _described(found: Comparison) -> dict[str, Any]:
    names = ("titles", "summary", "values", "alone", "differences", "warnings", "notes")
    # Agreements have (o − s) / o, as SLAC 2000; everything here is that of the second against the first.
    agreements = {
        name: plain(each) | {"median": -each.median, "mean_bps": -each.mean_bps}
        for name, each in found.agreements.items()
    }
    return {name: plain(getattr(found, name)) for name in names} | {"agreements": agreements}


@dataclass(frozen=True)
class _Printed:
    """A table on standard output, and what is said below it."""

    header: list[str]
    rows: list[tuple[Any, ...]]
    words: tuple[int, ...] = ()
    note: str = ""


def _print(found: Comparison) -> None:
    tables = list(_tables(found))
    unknown = any(f"± {UNKNOWN}" in str(cell) for table in tables for row in table.rows for cell in row)
    for place, table in enumerate(tables):
        if place:
            print_text()
        if table.rows:
            print_table(table.header, table.rows, words=table.words, whole=bool(table.note))
        if table.note:
            print_text(table.note)
    lines = [*([TOO_FEW] if unknown else []), *found.notes, *_one_sided(found)]
    if lines and tables:
        print_text()
    print_text("\n".join(lines), end="\n" if lines else "")


def _tables(found: Comparison) -> Iterator[_Printed]:
    first, second = found.titles
    if found.differences.height:
        yield _Printed(["scenario", first, second], found.differences.rows(), (1, 2))
    if found.summary.height:
        table = summarized(found)
        yield _Printed(table.columns, table.rows(), (4,))
    for (name,), rows in found.values.group_by("table", maintain_order=True):
        main = rows if name == "series" else _main(rows, every=name == RUNS_TABLE)
        if main.height:
            shown, note = _chosen(main, str(name))
            header = [_SINGULAR.get(str(name), str(name)), "metric", first, second, "change"]
            yield _Printed(header, written(shown).rows(), (1,), note)
    if found.agreements:
        table = agreements(found, main_agreements(found))
        yield _Printed(["how near", *table.columns[1:]], [tuple(map(str, row)) for row in table.rows()])


def _offers(names: tuple[str, str]) -> list[Offer]:
    """What the report opens in the lab: of the two, what was simulated."""
    runs = [(name, open_run(name)) for name in names if holds_run(name)]
    offers = [Offer(Path(name).resolve().name, run.scenario) for name, run in runs if run.source == SIMULATION]
    if not offers:
        raise TightlinkError("--with-lab is for runs that were simulated, and neither of the two is one")
    return offers


def _chosen(rows: pl.DataFrame, table: str) -> tuple[pl.DataFrame, str]:
    """Of many flows, links or nodes the rows of those that changed most, and how many there are."""
    there = rows["entity"].n_unique()
    if table == RUNS_TABLE or there <= _MOST_ENTITIES or is_everything_asked_for():
        return rows, ""
    shown = changed_most(rows, _CHANGED_MOST)
    kept, of = shown["entity"].n_unique(), _PLURAL.get(table, table)
    if not kept:
        return shown, f"None of {there} {of} changed (--wide shows all)."
    return shown, f"The {kept} that changed most of {there} {of} (--wide shows all)."


def _main(rows: pl.DataFrame, *, every: bool) -> pl.DataFrame:
    """The rows that are printed; with ``every`` all, if none of them is usual."""
    large = pl.max_horizontal(*SIDES) >= _LEAST_SHARE
    limits = pl.col("metric").str.starts_with("limited_by_") & large
    shown = rows.filter(is_main() | limits)
    return in_order(rows if every and shown.is_empty() else shown)


def _one_sided(found: Comparison) -> list[str]:
    """What is on one side only, in short: whole flows, links and nodes by name, then metrics of the others."""
    titles = dict(zip(SIDES, found.titles, strict=True))
    both = found.values.select("table", "entity").unique()
    lines = []
    for (side, table), rows in found.alone.group_by("side", "table", maintain_order=True):
        where = f"{table}, {titles[str(side)]} only"
        whole = rows.join(both, on=["table", "entity"], how="anti")["entity"].unique(maintain_order=True).to_list()
        if whole:
            lines.append(f"{where}: {_listed(whole)}")
        partly = rows.join(both, on=["table", "entity"], how="semi")["metric"].unique(maintain_order=True).to_list()
        if partly:
            lines.append(f"{where}, of what both have: {_listed(partly)}")
    return lines


def _listed(names: list[str]) -> str:
    more = f" and more ({len(names)} in all)" if len(names) > _MOST_NAMES else ""
    # Combinations of several keys have commas already.
    return ("; " if any(", " in name for name in names) else ", ").join(names[:_MOST_NAMES]) + more


def _write(found: Comparison, output: Path, names: tuple[str, str], *, with_lab: bool) -> None:
    offers = _offers(names) if with_lab else ()
    figures = output / "figures"
    figures.mkdir(parents=True)
    write_table(output / "comparison.parquet", found.values)
    write_table(output / "alone.parquet", found.alone)
    values = (name.partition(".") for name in main_agreements(found)[:_MOST_FIGURES])
    series = found.series.select("entity", "metric").unique(maintain_order=True).head(_MOST_FIGURES)
    drawn: dict[str, list[Any]] = {
        "agreement": [charts.compared_values(found, table, metric) for table, _, metric in values],
        "series": [charts.compared_series(found, entity, metric) for entity, metric in series.rows()],
    }
    for name, listed in drawn.items():
        if listed:
            plots.write(listed, figures / f"{name}.svg")
    say(f"wrote {write_comparison(found, output, names, laboratories=offers)}")
