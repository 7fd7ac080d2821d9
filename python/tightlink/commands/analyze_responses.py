"""``tightlink analyze correlation`` and ``pca``: from many responses to a few."""

from pathlib import Path
from typing import Any, Final, Literal

from tightlink.analysis import measurements
from tightlink.analysis.effects import designed
from tightlink.analysis.effects.main import WEAK
from tightlink.analysis.responses import correlation as correlated
from tightlink.analysis.responses.correlation import Correlation
from tightlink.analysis.responses.pca import Components, components
from tightlink.commands.analyze_output import Finding, drawable, finds
from tightlink.commands.options import Names
from tightlink.console import print_table, print_text
from tightlink.errors import ScenarioError
from tightlink.json_values import plain
from tightlink.lazy import pl
from tightlink.numbers import NONE, grouped, percent, several
from tightlink.report import charts

#: Share of the variance up to which components are listed.
_NEARLY_ALL: Final = 0.99


@finds()
def correlation(table: Path, *, responses: Names = None, factors: Names = None, threshold: str = "0.65") -> Finding:
    """Find which responses say the same, in groups of mutual correlation, and one of each to keep.

    Args:
        table: Runs: CSV, Parquet, or the folder of a sweep or study.
        responses: Columns to correlate; without them, all columns of numbers that are no factors.
        factors: Columns that are no responses; without them, what the sweep varied, otherwise columns of two values.
        threshold: |r| above which a pair is kept, or "gap": the middle of the widest gap between moderate |r|.
    """
    limit = _threshold(threshold)
    read = designed.read(table, factors=factors, responses=responses)
    with measurements.of_file(table):
        found = correlated.correlation(read.runs, read.responses, threshold=limit)
    return Finding(
        lambda: {"finding": found.sentence(), "dimension": found.dimension} | plain(found),
        lambda: _print_correlation(found),
        lambda: _figures_of_correlation(table, found),
        named=True,
    )


@finds()
def pca(table: Path, *, responses: Names = None, factors: Names = None, by: str | None = None) -> Finding:
    """Find the principal components of standardised responses: how few numbers say nearly the same.

    Args:
        table: Runs: CSV, Parquet, or the folder of a sweep or study.
        responses: Columns to take; without them, all columns of numbers that are no factors.
        factors: Columns that are no responses; without them, what the sweep varied, otherwise columns of two values.
        by: Column that tells groups of runs apart in the figure.
    """
    read = designed.read(table, factors=factors, responses=responses)
    with measurements.of_file(table):
        designed.present(read.runs, [by] if by is not None else [])
        found = components(read.runs, read.responses)
    return Finding(
        lambda: {"finding": found.sentence(), "above_one": found.above_one} | plain(found),
        lambda: _print_components(found),
        lambda: _figures_of_components(table, found, by),
        named=True,
    )


def _figures_of_correlation(table: Path, found: Correlation) -> list[Any]:
    drawable(table, found.responses)
    return [charts.correlation_matrix(found), charts.correlation_histogram(found), charts.index_index(found)]


def _figures_of_components(table: Path, found: Components, by: str | None) -> list[Any]:
    drawable(table, found.responses)
    return [charts.scree(found), charts.component_loadings(found), charts.component_scores(found, by=by, arrows=True)]


def _threshold(text: str) -> float | Literal["gap"]:
    if text == "gap":
        return "gap"
    try:
        limit = float(text)
    except ValueError:
        limit = -1.0
    if not 0 <= limit < 1:
        raise ScenarioError('a number from 0 to less than 1, or "gap"', key="--threshold", value=text)
    return limit


def _print_correlation(found: Correlation) -> None:
    print_text(found.sentence() + "\n")
    partners = dict(found.places.select("response", "partners").rows())
    print_table(["response", "group", "partners", "least |r| in the group", "represented by"], [
        [name, str(number), str(partners[name]), NONE if group.weakest is None else f"{group.weakest:.2f}",
         group.representative if group.representative != name else "itself"]
        for number, group in enumerate(found.groups, 1) for name in group.responses
    ], words=[4])  # fmt: skip
    few = found.pairs.filter((pl.col("p") >= WEAK) & pl.col("kept")).sort("p", descending=True, maintain_order=True)
    if few.height:
        row = few.row(0, named=True)
        r = grouped(f"{row['r']:.2f}")
        worst = f"{row['first']} and {row['second']} (r = {r} of {row['runs']} runs, p = {row['p']:.2g})"
        print_text(f"\n{several(few.height, 'pair')} may be kept by chance, as few runs have both: p ≥ {WEAK}; "
                   f"most so {worst}")  # fmt: skip


def _print_components(found: Components) -> None:
    print_text(found.sentence())
    if found.left_out:
        print_text(f"{found.left_out} runs were left out, as they lack a response")
    if found.constant:
        print_text(f"{', '.join(found.constant)} did not vary")
    print_text()
    some = found.variances.head(found.needed(_NEARLY_ALL))
    print_table(["component", "variance", "share", "up to it"], [
        [row["component"], f"{row['variance']:.3f}", percent(row["share"], 1), percent(row["cumulated"], 1)]
        for row in some.iter_rows(named=True)
    ])  # fmt: skip
    shown = found.variances["component"].to_list()[:3]
    correlations = {name: found.loadings.filter(component=name)["correlation"].to_list() for name in shown}
    print_text("\ncorrelation of each response with the first components")
    print_table(["response", *shown], [
        [name, *(f"{values[place]:.2f}" for values in correlations.values())]
        for place, name in enumerate(found.responses)
    ])  # fmt: skip
