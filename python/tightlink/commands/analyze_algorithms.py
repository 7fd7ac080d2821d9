"""``tightlink analyze clusters``, ``outliers``, ``ranks`` and ``fairness``: algorithms under many conditions."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from tightlink import plots
from tightlink.analysis import measurements
from tightlink.analysis.effects import designed
from tightlink.analysis.effects.designed import Designed
from tightlink.analysis.responses import clusters as clustered
from tightlink.analysis.responses import compared
from tightlink.analysis.responses import fairness as fair
from tightlink.analysis.responses import outliers as outlying
from tightlink.analysis.responses import ranks as ranked
from tightlink.analysis.responses.clusters import Dendrogram
from tightlink.analysis.responses.fairness import ALTERNATIVE, STANDARD
from tightlink.analysis.responses.outliers import EFFECTS, counts, effective
from tightlink.analysis.responses.ranks import Ranks
from tightlink.commands.analyze_output import Algorithm, Condition, Finding, finds
from tightlink.commands.options import Json, Names, Output
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_table, print_text
from tightlink.errors import ScenarioError
from tightlink.files import check_new
from tightlink.json_values import plain
from tightlink.lazy import pl
from tightlink.numbers import NONE, percent
from tightlink.report import charts


@finds()
def clusters(
    table: Path,
    *,
    algorithm: Algorithm,
    condition: Condition = None,
    responses: Names = None,
    spread: Literal["condition", "all"] = "condition",
) -> Finding:
    """Cluster algorithms under each condition by all of their responses: which behave alike where.

    Args:
        table: Runs: CSV, Parquet, or the folder of a sweep or study; a row a run, or columns "response" and "value".
        responses: Columns to compare by; without them, all responses.
        spread: What differences are divided by: each condition's standard deviation over its algorithms, or that over
            all conditions, which makes distances comparable.
    """
    read, keys, chosen = _read_compared(table, algorithm, condition, responses)
    with measurements.of_file(table):
        found = clustered.clusters(read.runs, condition=keys, algorithm=algorithm, responses=chosen, spread=spread)
    return Finding(
        lambda: [plain(each) | {"apart": each.apart} for each in found],
        lambda: _print_clusters(found),
        lambda: charts.dendrograms(found, same=spread == "all"),
    )


@finds()
def outliers(
    table: Path, *, algorithm: Algorithm, condition: Condition = None, responses: Names = None, level: float = 0.05
) -> Finding:
    """Find where an algorithm is unlike all others: an outlier by Grubbs' test, filtered by its relative effect.

    Args:
        table: Runs: CSV, Parquet, or the folder of a sweep or study; a row a run, or columns "response" and "value".
        responses: Columns to look at; without them, all responses.
        level: Probability of finding an outlier in a cell that has none.
    """
    if not 0 < level < 1:
        raise ScenarioError("a probability between 0 and 1", key="--level", value=level)
    read, keys, chosen = _read_compared(table, algorithm, condition, responses)
    with measurements.of_file(table):
        found = outlying.outliers(read.runs, condition=keys, algorithm=algorithm, responses=chosen, level=level)
    return Finding(
        lambda: {"counts": counts(found), "cells": found},
        lambda: _print_outliers(found, level),
        lambda: [charts.outlier_grid(found, least=least) for least in EFFECTS],
        named=True,
    )


@finds()
def ranks(
    table: Path,
    *,
    algorithm: Algorithm,
    condition: Condition = None,
    responses: Names = None,
    best: Literal["largest", "smallest"] = "largest",
) -> Finding:
    """Rank algorithms in each response under each condition: mean rank, and how far it varies.

    Args:
        table: Runs: CSV, Parquet, or the folder of a sweep or study; a row a run, or columns "response" and "value".
        responses: Columns to rank by, such as throughputs; without them, all responses.
        best: Whether the largest value or the smallest has rank 1.
    """
    read, keys, chosen = _read_compared(table, algorithm, condition, responses)
    with measurements.of_file(table):
        found = ranked.ranks(read.runs, condition=keys, algorithm=algorithm, responses=chosen, best=best)

    def words() -> None:
        _print_ranks(found)
        if (responses_ := len(chosen or ())) > 1:
            both = f"The {best} of each of {responses_} responses has rank 1, be that good or bad"
            print_text(f"\n{both}, and p is of the mean rank under each condition: --responses names one.")

    return Finding(
        lambda: {"finding": found.sentence()} | plain(found), words, lambda: charts.rank_scatter(found), named=True
    )


def _read_compared(
    table: Path, algorithm: str, condition: Names, responses: Names
) -> tuple["Designed", list[str], list[str] | None]:
    """The table, the columns of the condition, and the responses; of a long table, which it says itself."""
    named = condition or []
    read = designed.read(table)
    with measurements.of_file(table):
        designed.present(read.runs, [algorithm, *named])
        long = compared.is_long(read.runs)
        # What is asked for as a response is none, though it has two values.
        asked = [compared.RESPONSE] if long else responses or []
        factors = [name for name in read.factors if name not in asked]
        every = list(dict.fromkeys([*factors, algorithm, *named]))
        read = designed.designed(read.runs, factors=every, responses=None if long else responses)
        keys = named or [name for name in factors if name != algorithm]
        if not keys:
            raise measurements.MeasurementError("no factor beside the algorithm; expected --condition COLUMN")
        if long:
            return read, keys, responses
    return read, keys, list(read.responses)


def _print_clusters(found: "Sequence[Dendrogram]") -> None:
    apart = Counter(each.apart for each in found if each.apart is not None)
    counted = ", ".join(f"{name} under {count}" for name, count in apart.most_common()) or "no algorithm under any"
    print_text(f"apart from a cluster of all others: {counted} of {len(found)} conditions\n")
    print_table(["condition", "largest distance", "clusters below 70 % of it"], [
        [each.condition, f"{each.height:.2f}",
         "identical" if each.identical else "; ".join(" ".join(group) for group in each.clusters) or NONE]
        for each in found
    ], words=[2])  # fmt: skip


def _print_outliers(found: "pl.DataFrame", level: float) -> None:
    number, chance = int(found["outlier"].sum()), level * found.height
    print_text(f"in {number} of {found.height} cells of a condition and a response one algorithm is an outlier")
    if chance >= 1:
        print_text(f"were all alike, about {chance:.0f} would have one")
    print_text()
    if not number:
        return
    table = counts(found)
    header = ["algorithm", *(f"{100 * least:.0f} % and more" if least else "outliers" for least in EFFECTS)]
    rows = []
    for name in table["algorithm"].unique(maintain_order=True):
        cells = [table.filter(algorithm=name, least_effect=least) for least in EFFECTS]
        rows.append([name, *(f"{cell['above'].item()} + {cell['below'].item()} −" if cell.height else NONE
                             for cell in cells)])  # fmt: skip
    print_table(header, rows)
    largest = effective(found, 0).sort(pl.col("relative_effect").abs(), descending=True).head(12)
    print_text("\nthe largest")
    print_table(["condition", "response", "algorithm", "value", "mean of the others", "effect"], [
        [row["condition"], row["response"], row["algorithm"], f"{row['value']:.4g}", f"{row['others_mean']:.4g}",
         percent(row["relative_effect"], signed=True)]
        for row in largest.iter_rows(named=True)
    ], words=[1, 2])  # fmt: skip


def _print_ranks(found: "Ranks") -> None:
    print_text(found.sentence() + "\n")
    print_table(["algorithm", "mean rank", "its standard deviation", "leads in", "cells"], [
        [row["algorithm"], f"{row['rank_mean']:.2f}", NONE if row["rank_sd"] is None else f"{row['rank_sd']:.2f}",
         str(row["first"]), str(row["cells"])]
        for row in found.summary.iter_rows(named=True)
    ])  # fmt: skip


@with_table_options
def fairness(
    table: Path,
    *,
    algorithm: Algorithm,
    own: str,
    standard: str,
    available: str,
    condition: Condition = None,
    json_: Json = False,
    output: Output = None,
) -> None:
    """Compare each algorithm with the standard TCP beside it: shares of what was available, and who gets more.

    Args:
        table: Runs: CSV, Parquet, or the folder of a sweep or study; a row a run.
        own: Column of the throughput of flows that use it.
        standard: Column of the throughput of flows that use standard TCP beside it.
        available: Column of the throughput that was available, as numbers or such as "20 Mbit/s".
        output: File for a figure of the shares: .png, .svg or .pdf. A second one, NAME-beside, has the throughputs.
    """
    beside = None if output is None else output.with_stem(f"{output.stem}-beside")
    check_new(output)
    check_new(beside)
    read, keys, _ = _read_compared(table, algorithm, condition, [own, standard])
    with measurements.of_file(table):
        parts = fair.shares(read.runs, algorithm=algorithm, own=own, standard=standard, available=available)
        points = fair.beside(read.runs, condition=keys, algorithm=algorithm, own=own, standard=standard)
    found = fair.fairness(points)
    if json_:
        print_json({"shares": parts, "fairness": found, "conditions": points}, named=True)
    else:
        _print_shares(parts, found)
        lacking = [name for name in read.runs[algorithm].cast(pl.String).unique(maintain_order=True).drop_nulls()
                   if name not in found["algorithm"]]  # fmt: skip
        if lacking:
            print_text(f"\nleft out, as no run has both throughputs: {', '.join(lacking)}")
    if output is not None and beside is not None:
        plots.write(charts.share_bars(parts), output)
        plots.write(charts.beside_standard(points), beside)


def _print_shares(parts: "pl.DataFrame", found: "pl.DataFrame") -> None:
    share = {(name, flows): value for name, flows, value in parts.select("algorithm", "flows", "share").rows()}
    header = ["algorithm", "its share", "standard TCP beside it", "own / standard", "ahead", "behind", "sign test"]
    print_table(header, [
        [row["algorithm"], *(percent(share.get((row["algorithm"], flows)), 1) for flows in (ALTERNATIVE, STANDARD)),
         NONE if row["ratio"] is None else f"{row['ratio']:.2f}".replace("inf", "∞"),
         str(row["ahead"]), str(row["behind"]), f"p = {row['p']:.2g}"]
        for row in found.iter_rows(named=True)
    ])  # fmt: skip
