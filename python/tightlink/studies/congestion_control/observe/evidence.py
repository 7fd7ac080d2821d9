"""What the runs of the experiments found, as one table.

Columns: ``experiment``, ``condition``, ``algorithm`` (the control that is compared; empty where it is a factor),
``control`` (whose transfers a throughput is of; empty for the whole network), ``period``, ``response``, ``value``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.analysis.responses import responses

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tightlink.run import Run
    from tightlink.studies.congestion_control.setup.experiment import Experiment, Size

#: Fewer transfers than these tell nothing of a group's throughput.
FEWEST: Final = 3
#: The period that the document's summaries are of.
CONGESTION: Final = "congestion"


@dataclass(frozen=True)
class Evidence:
    """What all runs of an experiment found."""

    experiment: Experiment
    size: Size
    table: pl.DataFrame
    runs: Mapping[str, Run]
    """By condition and what is compared, as "00/reno"."""

    @property
    def packet_hops(self) -> int:
        """Of all runs, added."""
        return sum(int(run.manifest["packet_hops"]) for run in self.runs.values())

    @property
    def stored_bytes(self) -> int:
        """Of all runs, added."""
        return sum(run.stored_bytes for run in self.runs.values())

    def responses(self, period: str = CONGESTION) -> pl.DataFrame:
        """A row for each condition and algorithm, with its factors; a column for each response of the network."""
        chosen = self.table.filter(pl.col("period") == period, pl.col("control") == "")
        keys = ["condition", "algorithm"]
        wide = chosen.pivot("response", index=keys, values="value", aggregate_function="mean", maintain_order=True)
        return wide.join(self.experiment.conditions, on="condition", maintain_order="left").sort(keys)


def gather(found: Experiment, size: Size, runs: Mapping[str, Run]) -> Evidence:
    """Read the runs of an experiment."""
    own = {name.partition("/")[2]: run for name, run in runs.items() if name.partition("/")[0] == found.name}
    return Evidence(found, size, pl.concat([_rows(found.name, name, run) for name, run in own.items()]), own)


def _rows(experiment: str, name: str, run: Run) -> pl.DataFrame:
    condition, algorithm = name.split("/")
    network = responses(run).select("period", "response", "value", control=pl.lit(""))
    found = pl.concat([network, _groups(run.transfers).select(network.columns)])
    return found.select(
        experiment=pl.lit(experiment),
        condition=pl.lit(int(condition), dtype=pl.Int64),
        algorithm=pl.lit(algorithm),
        control="control",
        period="period",
        response="response",
        value="value",
    )


def _groups(transfers: pl.DataFrame) -> pl.DataFrame:
    """Mean throughput of each group of transfers: of a kind of file, a class of paths, the slower interface."""
    kept = transfers.filter((pl.col("completed") >= FEWEST) & (pl.col("period") != ""))
    return kept.select(
        "period",
        control="congestion",
        response=pl.format("{}, {}, {}", "file", "path", "interface"),
        value="throughput_mean_pps",
    )


def together(found: Iterable[Evidence]) -> pl.DataFrame:
    """The table of all experiments."""
    tables: Sequence[pl.DataFrame] = [each.table for each in found]
    return pl.concat(tables)
