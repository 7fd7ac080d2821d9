"""A comparison as text: values with their units, residuals in percent, agreements with their intervals.

Example:
    >>> percent(0.1234, 1), percent(-0.5, 1, signed=True), percent(None, 1)
    ('12.3 %', '-50.0 %', '–')
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tightlink.analysis.comparison_pairs import SIDES
from tightlink.console import quantity

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from tightlink.analysis.comparison import Comparison


#: What is looked at first of flows, links, nodes and runs.
MAIN: Final = (
    *("goodput_bps", "packets_sent", "packets_dropped", "packets_retransmitted", "timeouts", "loss"),
    *("latency_mean_s", "jitter_mean_s", "rtt_mean_s", "utilization", "queue_mean_packets", "load_true"),
)


def percent(share: float | None, digits: int, *, signed: bool = False) -> str:
    """A share in percent; a dash for none, and zero without digits."""
    if share is None:
        return "–"
    if share == 0:
        return "0 %"
    return f"{100 * share:{'+' if signed else ''}.{digits}f} %"


def written(rows: pl.DataFrame) -> pl.DataFrame:
    """Values with their units and residuals in percent, as text."""
    import polars as pl

    def values(side: str) -> list[str]:
        return [quantity(metric, value) for metric, value in rows.select("metric", side).iter_rows()]

    residuals = [percent(residual, 1, signed=True) for residual in rows["residual"].to_list()]
    sides = {side: values(side) for side in SIDES}
    return rows.select("entity", "metric").with_columns(
        *(pl.Series(side, texts, dtype=pl.String) for side, texts in sides.items()),
        pl.Series("residual", residuals, dtype=pl.String),
    )


def main_agreements(found: Comparison) -> list[str]:
    """Which agreements are looked at first; all, if none of them is usual."""
    names = [name for name in found.agreements if name.partition(".")[2] in MAIN]
    return names or list(found.agreements)


def agreements(found: Comparison, names: Iterable[str]) -> pl.DataFrame:
    """A row for each of these metrics: points, both R², slope, residuals; for people."""
    import polars as pl

    rows = [
        {
            "metric": name,
            "points": each.points,
            "R², origin": f"{each.origin:.3f}" if each.origin else "–",
            "R², free": f"{each.free:.3f}" if each.free else "–",
            "slope": None if each.slope is None else round(each.slope, 3),
            "residual, median": percent(each.median, 1, signed=True),
            "largest": percent(each.largest, 1),
            "within ±10 %": percent(each.within, 0),
        }
        for name in names
        for each in [found.agreements[name]]
    ]
    return pl.DataFrame(rows)
