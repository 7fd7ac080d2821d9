"""What the runs of the experiments found, as one table.

Columns: ``experiment``, ``condition``, ``algorithm`` (the control that is compared; empty where it is a factor),
``replication``, ``control`` (whose transfers a throughput is of; empty for the whole network), ``period``,
``response``, ``value``.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import polars as pl

from tightlink import _core, units
from tightlink.analysis.responses.nist import responses
from tightlink.run import Run
from tightlink.studies.congestion_control.setup.experiment import Experiment, Size, file_of

#: Sums of doubles end in other digits where they are added in another order.
_DIGITS: Final = 9
#: Fewer transfers than these tell nothing of a group's throughput.
FEWEST: Final = 3
#: Ends of intervals that are this near to those of a period are the same.
_NEAR_S: Final = 1e-3
#: What the document speaks of beside its 22 responses: sources that connect, and how windows swing.
BESIDE: Final = ("sources_connecting", "cwnd_swing")
#: The period that the document's summaries are of.
CONGESTION: Final = "congestion"


@dataclass(frozen=True)
class Evidence:
    """What all runs of an experiment found."""

    experiment: Experiment
    size: Size
    table: pl.DataFrame
    runs: Mapping[str, Run]
    """By condition, what is compared, and replication, as "00/reno/1"; none where the responses are stored ones."""
    origin: str = ""
    """Of stored responses: what made them, in words."""

    @property
    def name(self) -> str:
        """The name of the experiment that was run."""
        return self.experiment.name

    @property
    def packet_hops(self) -> int:
        """Of all runs, added."""
        return sum(int(run.manifest["packet_hops"]) for run in self.runs.values())

    @property
    def largest_share(self) -> float:
        """The packet-hops of the run with most, as a share of all."""
        return max(int(run.manifest["packet_hops"]) for run in self.runs.values()) / self.packet_hops

    @property
    def stored_bytes(self) -> int:
        """Of all runs, added."""
        return sum(run.stored_bytes for run in self.runs.values())

    def responses(self, period: str = CONGESTION) -> pl.DataFrame:
        """A row for each condition, algorithm and replication, with its factors; a column for each response."""
        chosen = self.table.filter(pl.col("period") == period, pl.col("control") == "")
        keys = ["condition", "algorithm", "replication"]
        wide = chosen.pivot("response", index=keys, values="value", aggregate_function="mean", maintain_order=True)
        return wide.join(self.experiment.conditions, on="condition", maintain_order="left").sort(keys)


def stored(found: Experiment) -> Evidence:
    """What is stored of an experiment (`HEAVIER`), and what made it."""
    file = file_of(found.name)
    made = pl.read_parquet_metadata(file)
    table = pl.read_parquet(file, glob=False).select(pl.lit(found.name).alias("experiment"), pl.all())
    origin = (
        f"Stored responses of {made['command']} at commit {made['commit']}, engine behaviour "
        f"{made['engine_behaviour']}; this engine's is {_core.engine_behaviour}."
    )
    size = Size(Fraction(made["scale"]), made["duration"], Fraction(made["routers"]))
    return Evidence(found, size, table, {}, origin)


def as_stored(table: pl.DataFrame) -> pl.DataFrame:
    """A table as it is stored: without the experiment, and to the digits that any machine has."""
    return table.drop("experiment").with_columns(pl.col("value").round_sig_figs(_DIGITS))


def gather(found: Experiment, size: Size, runs: Mapping[str, Run]) -> Evidence:
    """Read the runs of an experiment."""
    own = {name.partition("/")[2]: run for name, run in runs.items() if name.partition("/")[0] == found.name}
    return Evidence(found, size, pl.concat([rows(found.name, name, run) for name, run in own.items()]), own)


def rows(experiment: str, name: str, run: Run) -> pl.DataFrame:
    """What one run found; its name is the condition, what is compared, and the replication."""
    condition, algorithm, replication = name.split("/")
    network = responses(run).select("period", "response", "value", control=pl.lit(""))
    others = [table.select(network.columns) for table in (_beside(run), _groups(run.transfers))]
    found = pl.concat([network, *others])
    return found.select(
        experiment=pl.lit(experiment),
        condition=pl.lit(int(condition), dtype=pl.Int64),
        algorithm=pl.lit(algorithm),
        replication=pl.lit(int(replication), dtype=pl.Int64),
        control="control",
        period="period",
        response="response",
        value="value",
    )


def _beside(run: Run) -> pl.DataFrame:
    """The responses of `BESIDE`, by period.

    ``cwnd_swing`` is how far the mean window changes from one interval to the next, over its mean.
    """
    window, connecting = pl.col("cwnd_mean_packets"), pl.col("sources_connecting")
    tables = []
    for name, period in run.manifest["scenario"]["observe"]["periods"].items():
        start, stop = (units.time(end) for end in period)
        inside = run.users.filter(pl.col("time_s") > start + _NEAR_S, pl.col("time_s") <= stop + _NEAR_S)
        values = inside.select(sources_connecting=connecting.mean(), cwnd_swing=window.diff().std() / window.mean())
        tables.append(values.unpivot(variable_name="response").with_columns(period=pl.lit(name), control=pl.lit("")))
    return pl.concat(tables)


def _groups(transfers: pl.DataFrame) -> pl.DataFrame:
    """Mean throughput of each group of transfers: of a kind of file, a class of paths, the slower interface."""
    kept = transfers.filter((pl.col("completed") >= FEWEST) & (pl.col("period") != ""))
    return kept.select(
        "period",
        control="congestion",
        response=pl.format("{}, {}, {}", "file", "path", "interface"),
        value="throughput_mean_pps",
    )
