"""``tightlink analyze fairness``: algorithms beside the standard TCP that competes with them."""

from pathlib import Path

from tightlink import plots
from tightlink.analysis import measurements
from tightlink.analysis.responses import fairness as analysis
from tightlink.analysis.responses.fairness import ALTERNATIVE, STANDARD
from tightlink.commands.analyze_algorithms import read_compared
from tightlink.commands.analyze_output import Algorithm, Condition, plain
from tightlink.commands.options import Json, Output
from tightlink.commands.table_options import with_table_options
from tightlink.console import print_json, print_table, print_text
from tightlink.files import check_new
from tightlink.lazy import pl
from tightlink.numbers import NONE, percent
from tightlink.report import charts


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
    read, keys, _ = read_compared(table, algorithm, condition, [own, standard])
    with measurements.of_file(table):
        parts = analysis.shares(read.runs, algorithm=algorithm, own=own, standard=standard, available=available)
        points = analysis.beside(read.runs, condition=keys, algorithm=algorithm, own=own, standard=standard)
    found = analysis.fairness(points)
    if json_:
        print_json({"shares": plain(parts), "fairness": plain(found), "conditions": plain(points)})
    else:
        _print_shares(parts, found)
        lacking = [name for name in read.runs[algorithm].cast(pl.String).unique(maintain_order=True).drop_nulls()
                   if name not in found["algorithm"]]  # fmt: skip
        if lacking:
            print_text(f"\nleft out, as no run has both throughputs: {', '.join(lacking)}")
    if output is not None and beside is not None:
        plots.write(charts.share_bars(parts), output)
        plots.write(charts.beside_standard(points), beside)


def _print_shares(parts: "pl.DataFrame", fairness: "pl.DataFrame") -> None:
    share = {(name, flows): value for name, flows, value in parts.select("algorithm", "flows", "share").rows()}

    header = ["algorithm", "its share", "standard TCP beside it", "own / standard", "ahead", "behind", "sign test"]
    print_table(header, [
        [row["algorithm"], *(percent(share.get((row["algorithm"], flows)), 1) for flows in (ALTERNATIVE, STANDARD)),
         NONE if row["ratio"] is None else f"{row['ratio']:.2f}".replace("inf", "∞"),
         str(row["ahead"]), str(row["behind"]), f"p = {row['p']:.2g}"]
        for row in fairness.iter_rows(named=True)
    ])  # fmt: skip
