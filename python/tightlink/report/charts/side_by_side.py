"""Two runs side by side: values over each other, series in one chart. Both take what `tightlink.compare` gives."""

from __future__ import annotations

from typing import Final

from tightlink.analysis.compare.comparison import Comparison
from tightlink.analysis.compare.pairs import SIDES
from tightlink.analysis.path.residuals import NEAR
from tightlink.lazy import alt, pl
from tightlink.numbers import percent
from tightlink.plots import labels
from tightlink.reduce import samples
from tightlink.report.charts.lines import line
from tightlink.report.charts.marks import points

#: Of a chart of values, and height of one of series, in pixels.
_SIZE: Final = (260, 200)


def compared_values(found: Comparison, table: str, metric: str) -> alt.LayerChart:
    """The first over the second of two runs or sweeps, with lines where both are equal and a tenth beside.

    Example:
        >>> dsl = tl.network("dsl").set("duration", "1 s")
        >>> found = tl.compare(tl.simulate(dsl), tl.simulate(dsl.set("link.access.queue", "20 packets")))
        >>> compared_values(found, "flows", "goodput_bps").to_dict()["layer"][1]["encoding"]["x"]["title"]
        'second goodput (Mbit/s)'
    """
    rows = found.of(table, metric)
    first, second = (f"{title} {metric}" for title in found.titles)
    most = max((abs(value) for side in SIDES for value in rows[side].to_list()), default=1.0) or 1.0
    # (second − first) / first = ±NEAR.
    near = percent(NEAR, 0)
    lines = {"equal": 1.0, f"within +{near}": 1 / (1 + NEAR), f"within −{near}": 1 / (1 - NEAR)}
    curves = pl.DataFrame(
        [(end, end * slope, name) for name, slope in lines.items() for end in (0.0, most)],
        schema=[second, first, "line"], orient="row",
    )  # fmt: skip
    renamed = rows.rename({SIDES[0]: first, SIDES[1]: second}).select("entity", second, first, "change")
    width, height = _SIZE
    return points(
        renamed, second, first, curves=curves, curve="line", title=labels.plain(metric), width=width, height=height
    )


def compared_series(found: Comparison, entity: str, metric: str) -> alt.Chart:
    """A metric such as "queue_packets" of a flow, link or node over time, of both runs."""
    rows = samples(found.series, metric, entity)
    sides = pl.col("side").replace(dict(zip(SIDES, found.titles, strict=True)))
    shown = rows.select(sides, "time_s", pl.col("value").alias(metric))
    return line(shown, "time_s", metric, by="side", title=f"{entity}: {labels.plain(metric)}", height=190)
