"""The command ``tightlink analyze pinger``."""

from pathlib import Path
from typing import Annotated, Any, Final

from cyclopts import Parameter

from tightlink.analysis.path import pinger as tables
from tightlink.checksums import write_table
from tightlink.commands.options import Json, Output
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_table, quantity, say
from tightlink.errors import TightlinkError
from tightlink.files import check_new, write_text
from tightlink.lazy import pl

_KINDS: Final = (".csv", ".parquet")
_COLUMNS: Final = ("rtt_mean_s", "loss", "throughput_bps", "mathis_bps", "of_it")
_SUMMARY: Final = ("periods", "rtt median", "loss", "throughput", "Mathis", "of it")


@with_table_options
def pinger(
    *files: Path,
    metric: str | None = None,
    date: str | None = None,
    fill: Annotated[bool, Parameter(negative="")] = False,
    json_: Json = False,
    output: Output = None,
) -> None:
    """Read PingER's tables of round trips, losses and more; beside its throughput, what Mathis' formula allows.

    Args:
        files: Tables as PingER publishes them, one metric each, compressed by gzip or not.
        metric: That of all files, such as average_rtt (default: what their names tell).
        date: Year, month or day of all files, such as 2014-09-10 (default: what their names tell).
        fill: Fill gaps by straight lines, for analyses that need a value at every time.
        output: File for the table, for tightlink analyze: .csv or .parquet.
    """
    if not files:
        raise TightlinkError("expected tables of PingER: tightlink analyze pinger FILE...")
    check_new(output)
    if output is not None and output.suffix not in _KINDS:
        raise TightlinkError(f"{output}: expected a name that ends in {' or '.join(_KINDS)}")
    table = tables.read(files, metric=metric, date=date)
    if fill:
        table, count = tables.filled(table)
        say(f"{count} missing values were filled by straight lines")
    if {"rtt_mean_s", "loss"} <= set(table.columns):
        table = tables.with_mathis(table)
    if output is not None:
        _write(table, output)
        say(f"wrote {output}")
    if json_:
        print_json(table)
    else:
        _show(table)


def _write(table: "pl.DataFrame", output: Path) -> None:
    if output.suffix == ".csv":
        write_text(output, table.write_csv())
    else:
        write_table(output, table)


def _show(table: "pl.DataFrame") -> None:
    """A line for each path: medians of times and rates, the mean of losses."""
    known = [name for name in table.columns if name in {"rtt_mean_s", "throughput_bps", "mathis_bps"}]
    metrics = table.columns[table.columns.index("time_s") + 1 :]
    seen = pl.any_horizontal(pl.col(metrics).is_not_null()).sum().alias("seen")
    losses = [pl.col("loss").mean()] if "loss" in table.columns else []
    # Where no loss was measured there is nothing to hold against what the table says.
    shares = (
        [(pl.col("throughput_bps") / pl.col("mathis_bps")).median().alias("of_it")]
        if {"throughput_bps", "mathis_bps"} <= set(table.columns)
        else []
    )
    paths = table.group_by("path", maintain_order=True).agg(pl.len(), seen, pl.col(known).median(), *losses, *shares)

    def cell(row: dict[str, Any], column: str) -> str:
        return quantity("loss" if column == "of_it" else column, row.get(column))

    rows = [
        [row["path"], f"{row['seen']} of {row['len']}", *(cell(row, column) for column in _COLUMNS)]
        for row in paths.iter_rows(named=True)
    ]
    print_table(["path", *_SUMMARY], rows, drop=["periods"])
