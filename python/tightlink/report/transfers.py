"""What a report says of transfers: slowdown over size, completion times by class of sizes."""

from __future__ import annotations

import math
from typing import Final

from tightlink import units
from tightlink.diagnosis.completions import of_groups, open_loop
from tightlink.diagnosis.transfers import completed
from tightlink.lazy import pl
from tightlink.numbers import grouped, several
from tightlink.report import charts
from tightlink.report.blocks import Chart, Section, Table
from tightlink.run import Run

#: Points that are drawn; of more, so many by chance.
_MOST_POINTS: Final = 2000
#: Digits of a slowdown that is drawn.
_DIGITS: Final = 6
#: Groups of transfers of similar size of which quantiles are taken, and how many a group holds at least.
_MOST_GROUPS: Final = 20
_FEWEST_WITHIN: Final = 100
#: The class of transfers of any size.
_ALL: Final = "all"
_SHOWN: Final = (
    *("size_class", "transfers", "unfinished", "completion_p50_s", "completion_p95_s", "completion_p99_s"),
    *("slowdown_mean", "slowdown_p50", "slowdown_p95", "slowdown_p99"),
)
_QUANTILES: Final = {"median": 0.5, "p95": 0.95, "p99": 0.99}


def sections(run: Run) -> list[Section]:
    """Completion times and slowdowns of groups of transfers; nothing of runs without."""
    times = of_groups(run)
    labels = times["label"].unique(maintain_order=True).to_list()
    made = []
    for label in labels:
        title = "Transfers" if len(labels) == 1 else f"Transfers {label}"
        each = run.completions.filter(label=label)
        classes = times.filter(label=label)
        made.append(
            Section(title, f"{completed(classes.row(0, named=True))}.", [*_charts(each, classes), _table(classes)])
        )
    return made


def lead(run: Run) -> str | None:
    """How many transfers and other flows there were; nothing of runs without open-loop transfers."""
    groups = open_loop(run) if "completions" in run.tables else ()
    if not groups:
        return None
    others = run.flows.height - len(groups)
    counted = several(run.completions.filter(pl.col("label").is_in(groups)).height, "transfer")
    return f"{counted} and {several(others, 'flow')}" if others > 0 else counted


def _charts(each: pl.DataFrame, classes: pl.DataFrame) -> list[Chart]:
    spread = each.sort("bytes").select("completion_s", sizes=_class(classes))
    cdf = charts.distribution(spread, "completion_s", by="sizes", censored=True, x_scale="log")
    said = "Share of all transfers that were complete after so long, by size."
    return [*_over_size(each), Chart(cdf, said)] if each["completion_s"].count() else []


def _over_size(each: pl.DataFrame) -> list[Chart]:
    """The slowdown over the size, where there are several."""
    # What rounding leaves of one below it would begin the axis at a tenth.
    slowdown = pl.col("slowdown").round_sig_figs(_DIGITS)
    done = each.drop_nulls("slowdown").select("from", "to", size_bytes=pl.col("bytes"), slowdown=slowdown)
    if done["size_bytes"].n_unique() < 2:  # noqa: PLR2004
        return []
    shown = done if done.height <= _MOST_POINTS else done.sample(_MOST_POINTS, seed=0)
    caption = "Completion time over that on an empty path, by size."
    if shown.height < done.height:
        caption += f" {grouped(shown.height)} of {grouped(done.height)} transfers."
    curves = _quantiles(each.select(size_bytes=pl.col("bytes"), slowdown=slowdown))
    if curves is not None:
        caption += f" Lines: {', '.join(_QUANTILES)} of transfers of similar size."
    chart = charts.points(
        shown, "size_bytes", "slowdown", curves=curves, curve=None if curves is None else "share", x_scale="log",
        y_scale="log", x_title="size (B)", y_title="slowdown",
    )  # fmt: skip
    return [Chart(chart, caption)]


def _class(classes: pl.DataFrame) -> pl.Expr:
    """The class of a transfer's size, as the table below calls it."""
    names = [name for name in classes["size_class"] if name != _ALL]
    found = pl.lit(names[-1] if names else _ALL)
    for name in reversed(names[:-1]):
        limit = units.size(name.removeprefix("up to "))
        found = pl.when(pl.col("bytes") <= limit).then(pl.lit(name)).otherwise(found)
    return found


def _quantiles(each: pl.DataFrame) -> pl.DataFrame | None:
    """Quantiles of the slowdown in groups of similar size, equally many in each; nothing where sizes are alike.

    What was not complete is slower than all that were: quantiles that fall on it are left out.
    """
    groups = min(_MOST_GROUPS, each.height // _FEWEST_WITHIN)
    if groups < 2 or each["size_bytes"].n_unique() < 2:  # noqa: PLR2004
        return None
    ranked = each.with_columns(pl.col("slowdown").fill_null(math.inf)).sort("size_bytes").with_row_index("rank")
    place = (pl.col("rank") * groups) // each.height
    # Transfers of one size stay together.
    ranked = ranked.with_columns(group=place.min().over("size_bytes"))
    size = pl.col("size_bytes").log10().mean().map_elements(lambda power: math.pow(10, power), return_dtype=pl.Float64)
    parts = [
        ranked.group_by("group").agg(size.alias("size_bytes"), pl.col("slowdown").quantile(share, "nearest"))
        .sort("group").select("size_bytes", "slowdown", share=pl.lit(name))
        for name, share in _QUANTILES.items()
    ]  # fmt: skip
    curves = pl.concat(parts).filter(pl.col("slowdown").is_finite())
    return curves if curves["size_bytes"].n_unique() > 1 else None


def _table(classes: pl.DataFrame) -> Table:
    shown = classes.filter((classes["transfers"] > 0) | (classes["size_class"] == _ALL)).select(_SHOWN)
    return Table(shown, "By size; what was not complete at the end is in no mean, and above every percentile.")
