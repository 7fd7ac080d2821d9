"""The command ``tightlink analyze oscillation``: what goes up and down with a period."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from tightlink import units
from tightlink.commands.analyze_output import Figure, Json, Table, draw, free, plain, print_json
from tightlink.commands.options import option
from tightlink.errors import TightlinkError

if TYPE_CHECKING:
    import polars as pl

    from tightlink.analysis.oscillations import Found
    from tightlink.commands.analyze_output import Panel

_SERIES: Final = Path("tables") / "series.parquet"
#: Series that are drawn, and names that are listed; more cannot be read.
_MOST: Final = 12


def oscillation(
    table: Table,
    *,
    column: Annotated[list[str] | None, Parameter(negative="")] = None,
    begin: str = "0 s",
    end: str | None = None,
    json_: Json = False,
    output: Figure = None,
) -> None:
    """Find what goes up and down with a period: windows, queues, losses; tested against noise without one.

    Parameters
    ----------
    table
        Folder of a run that was observed at an interval, or of a sweep of such runs; or a table with time_s.
    column
        Column, or metric of a table of series; may be repeated (default: of a run, windows, and losses or
        what is sent again).
    begin
        Time before which nothing is looked at, such as the start of flows (default: 0 s).
    end
        Time after which nothing is looked at (default: none).
    json_
        Print what was found as JSON.
    output
        File for a figure, series and spectra: .png, .svg or .pdf.
    """
    from tightlink.analysis.oscillations import summary

    free(output)
    begin_s = float(option("--begin", begin, units.TIME, zero=True))
    end_s = float("inf") if end is None else float(option("--end", end, units.TIME))
    try:
        found = _found(table, tuple(column or ()), begin_s, end_s)
    except TightlinkError as error:
        raise TightlinkError(f"{table}: {error}") from None
    titled = {" ".join(name): each for name, each in found.items()}
    varying = {name: each for name, each in titled.items() if not each.spectrum.is_empty()}
    constant = [name for name in titled if name not in varying]
    if json_:
        rows = summary(found).to_dicts()
        sentences = [each.sentence() for each in found.values()]
        print_json([{"finding": sentence} | plain(row) for sentence, row in zip(sentences, rows, strict=True)])
    else:
        for name, each in varying.items():
            print(f"{name}: {each.sentence()}")
        if constant:
            print(f"do not vary: {', '.join(constant[:_MOST])}{', …' if len(constant) > _MOST else ''}")
    if output is not None:
        from tightlink import plots

        panels: dict[str, list[Panel]] = {
            name: [
                partial(plots.oscillation_series, each, column=name.rpartition(" ")[2]),
                partial(plots.oscillation_spectrum, each),
            ]
            for name, each in list((varying or titled).items())[:_MOST]
        }
        draw(output, panels)


def _found(table: Path, columns: tuple[str, ...], begin_s: float, end_s: float) -> Found:
    from tightlink.analysis.oscillations import each, of_run
    from tightlink.run import open_run

    if (table / "manifest.json").exists():
        return of_run(open_run(table), columns, begin_s=begin_s, end_s=end_s)
    frame = _read(table)
    if not columns:
        known = frame["metric"].unique(maintain_order=True) if "metric" in frame.columns else frame.columns
        raise TightlinkError(f"expected --column with one of {', '.join(known)}")
    return each(frame, columns, begin_s=begin_s, end_s=end_s)


def _read(table: Path) -> pl.DataFrame:
    from tightlink.analysis import measurements

    if table.is_dir():
        if not (table / _SERIES).exists():
            raise TightlinkError(f"expected a run, or a sweep with {_SERIES}: observe.interval makes series")
        table = table / _SERIES
    frame = measurements.read(table)
    return frame.drop(measurements.LINE, strict=False)
