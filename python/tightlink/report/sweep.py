"""The report of a sweep: the effect of each factor, every combination, what failed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from tightlink.analysis import effects
from tightlink.analysis.influence import influence
from tightlink.analysis.two_level import two_level
from tightlink.experiment import open as open_folder
from tightlink.experiment.designs import ONE_AT_A_TIME
from tightlink.experiment.summary import metric_names, summary, width_of
from tightlink.plots import labels
from tightlink.reduce import largest, smallest
from tightlink.report import charts
from tightlink.report.blocks import Chart, Details, Row, Section, Table, Text
from tightlink.report.page import write

if TYPE_CHECKING:
    import os

    import polars as pl

    from tightlink.experiment.folder import Experiment
    from tightlink.report.blocks import Block

#: What is shown of flows, of users and of scattered datagrams, as far as there are such.
_METRICS: Final = (
    *("goodput_bps", "sources_transmitting", "transfers_completed", "packets_in_network", "loss", "latency_mean_s"),
    *("rtt_mean_s", "queue_mean_packets", "utilization"),
)
#: Of which there are charts.
_DRAWN: Final = ("goodput_bps", "transfers_completed", "loss", "latency_mean_s", "rtt_mean_s")
_MOST_ROWS: Final = 500
_MOST_FAILURES: Final = 20
_FEWEST: Final = 2


def write_sweep(folder: str | os.PathLike[str]) -> Path:
    """Write ``report.html`` of a finished sweep into its folder, in place of an older one."""
    experiment = open_folder(folder)
    runs = experiment.runs.collect()
    keys = [key for group in experiment.description["factors"] for key in group if key in runs.columns]
    cells = summary(runs, keys)
    parts = [_what_matters(runs, keys, experiment)]
    parts += [_effect(runs, key, keys, experiment) for key in keys if runs[key].n_unique() >= _FEWEST]
    parts += [_design(experiment), _cells(cells, keys), _failures(experiment)]
    sections = [part for part in parts if part is not None]
    place = Path(folder)
    return write(
        place / "report.html",
        title=f"Sweep {place.resolve().name}",
        lead=_lead(runs, cells, keys),
        sections=sections,
        seeds=sorted(set(runs["seed"].to_list())),
        command="tightlink sweep",
        warnings=_warnings(experiment),
    )


def _lead(runs: pl.DataFrame, cells: pl.DataFrame, keys: list[str]) -> str:
    done = runs.filter(runs["status"] == "done")
    counted = f"{done.height} runs of {cells.height} combinations of {', '.join(f'`{key}`' for key in keys)}."
    if "goodput_bps" not in cells.columns or (goodput := cells["goodput_bps"].drop_nulls()).is_empty():
        return counted
    from tightlink import units
    from tightlink.console import rounded

    low, high = (rounded(value, units.format_rate) for value in (smallest(goodput), largest(goodput)))
    return f"{counted} Goodput, over all flows, goes from {low} to {high}."


def _effect(runs: pl.DataFrame, key: str, keys: list[str], experiment: Experiment) -> Section | None:
    import polars as pl

    done = runs.filter(pl.col("status") == "done")
    if done.is_empty():
        return None
    one_at_a_time = experiment.description["design"] == ONE_AT_A_TIME
    compared = effects.alone(done, key, keys) if one_at_a_time else done
    found = effects.means(compared, key, _there(_METRICS, compared))
    blocks: list[Block] = []
    numbers = effects.in_si(found[key].to_list())
    if numbers is not None:
        suffix, values = numbers
        name = "_".join(filter(None, [key.rpartition(".")[2].replace("[*]", ""), suffix]))
        drawn = found.with_columns(pl.Series(name, values)).sort(name)
        blocks.append(
            Row([charts.line(drawn, name, metric, width=300, height=180) for metric in _there(_DRAWN, drawn)])
        )
    blocks.append(Table(found))
    over = "the other factors as in the first combination" if one_at_a_time else "means over all runs at each level"
    return Section(f"Effect of {key}", f"{over[0].upper()}{over[1:]}.", blocks)


def _what_matters(runs: pl.DataFrame, keys: list[str], experiment: Experiment) -> Section | None:
    """Of two-level designs: which factors move which metrics, and how many each moves."""
    import polars as pl

    done = runs.filter(pl.col("status") == "done")
    varied = [key for key in keys if done[key].n_unique() >= _FEWEST]
    if experiment.description["design"] == ONE_AT_A_TIME or any(done[key].n_unique() > _FEWEST for key in varied):
        return None
    merged = two_level(done, varied).changing_together() if varied else {}
    factors = [key for key in varied if key not in merged]
    metrics = [name for name in metric_names(done, keys) if done[name].drop_nans().n_unique() > 1]
    if len(factors) < _FEWEST or not metrics:
        return None
    design, found = two_level(done, factors), effects.main_effects(done, factors, metrics)
    psi = influence(found).sort("psi", descending=True, maintain_order=True).select("factor", pl.col("psi").alias("Ψ"))
    short = labels.shortest(factors)
    most = [f"{short[factor]} (Ψ = {share:.2f})" for factor, share in psi.head(_FEWEST).rows() if share]
    moved = f"What moves most metrics: {', then '.join(most)}" if most else "No factor moves any metric significantly"
    return Section(
        "What matters",
        f"{moved}. {design.sentence()}.",
        [
            Chart(charts.significance_map(found), "The high level raises (+) or lowers (−) the metric."),
            Table(psi, f"Ψ: the share of the {len(metrics)} metrics that a factor moves; of p < 0.05, a half."),
        ],
    )


def _there(metrics: tuple[str, ...], frame: pl.DataFrame) -> list[str]:
    return [metric for metric in metrics if metric in frame.columns]


def _design(experiment: Experiment) -> Section | None:
    notes, aliases = experiment.description["notes"], experiment.description["aliases"]
    if not notes:
        return None
    blocks: list[Block] = [Text("\n".join(f"- {note}" for note in notes))]
    if aliases:
        blocks.append(Details("Effects that cannot be told apart", "\n".join(" = ".join(group) for group in aliases)))
    return Section("Design", "", blocks)


def _cells(cells: pl.DataFrame, keys: list[str]) -> Section:
    several = cells["runs"].max() != 1
    shown = ["cell", *keys, "runs"]
    for metric in _there(_METRICS, cells):
        shown += [metric, width_of(metric)] if several else [metric]
    first = cells.head(_MOST_ROWS).select(shown)
    caption = f"The first {_MOST_ROWS} of {cells.height}." if cells.height > _MOST_ROWS else ""
    finding = "Means over replications, with half their 95 % confidence intervals." if several else ""
    return Section("Combinations", finding, [Table(first, caption)])


def _failures(experiment: Experiment) -> Section | None:
    failures = experiment.failures
    if not failures:
        return None
    shown = list(failures.items())[:_MOST_FAILURES]
    blocks: list[Block] = [Details(f"{name}: {entry['error']}", entry["scenario"]) for name, entry in shown]
    return Section("Failed", f"{len(failures)} runs failed.", blocks)


def _warnings(experiment: Experiment) -> list[str]:
    found = []
    if unsettled := experiment.description["not_precise"]:
        found.append(f"{len(unsettled)} combinations did not get to {experiment.description['precision']}: "
                     f"{', '.join(unsettled)}.")  # fmt: skip
    if experiment.description["same_replications"]:
        found.append("Nothing in this scenario is random: its replications are all the same.")
    return found
