"""The charts and tables of the report, whose text is ``report.md``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.experiment.claims import Claim
from tightlink.lazy import alt
from tightlink.plots import palette
from tightlink.report import Table, charts
from tightlink.report.encoding import finished
from tightlink.studies.claims_table import failed
from tightlink.studies.expressions import Names
from tightlink.studies.l4s.observe import expected_ratio
from tightlink.studies.l4s.setup import SAWTOOTH
from tightlink.studies.report_text import page
from tightlink.studies.study import Report
from tightlink.studies.words import ms

_FRIENDLY: Final = 2
_CELL: Final = 44


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The report's text, tables and charts."""
    cubic = observed["pairs"].filter(pl.col("classic") == "cubic")
    names = {
        "listed": list(claims),
        "failed": failed(claims),
        "cubic": cubic,
        "within": sum(1 / _FRIENDLY <= ratio <= _FRIENDLY for ratio in cubic["ratio"]),
    }
    held = observed["held"].pivot("prague", index="flows", values="classic_s")
    blocks = {
        "plane": plane(cubic, 4),
        "formula": [_formula(observed["pairs"], classic) for classic in SAWTOOTH],
        "waiting": _waiting(cubic),
        "step": charts.line(observed["steps"], "time_s", "one_way_delay_s", by="flow", height=300, y_scale="log"),
        "alike": plane(observed["single"], 32),
        "held": held.rename({"0": "alone", "1": "beside"}),
    }
    figures = {"plane": blocks["plane"], "one-queue": blocks["alike"]}
    return page(
        Path(__file__).with_suffix(".md"), Names(names, observed), blocks, picture="Who gets how much", figures=figures
    )


def plane(table: pl.DataFrame, most: float) -> alt.LayerChart:
    """Rate of Prague over that of the other flow, over round trip and rate of the link; colours reach up to a ratio."""
    place: dict[str, Any] = {
        "x": alt.X("rtt_ms", type="ordinal", title="round trip of the empty path (ms)", axis=alt.Axis(labelAngle=0)),
        "y": alt.Y("rate_mbit", type="ordinal", sort="descending", title="rate of the link (Mbit/s)"),
    }
    # Grey, as pages on dark ground brighten charts, and white would hide what is near it.
    colors = [palette.SERIES[1], "#d4d4d4", palette.SERIES[0]]
    scale = alt.Scale(type="log", domain=[1 / most, 1, most], range=colors, clamp=True, interpolate="rgb")
    cells = alt.Chart(table.select("rate_mbit", "rtt_ms", "ratio"))
    squares = cells.mark_rect(stroke="white", strokeWidth=0.5).encode(
        **place, color=alt.Color("ratio", type="quantitative", scale=scale, legend=None),
        tooltip=[alt.Tooltip("ratio", type="quantitative", format=".3f")],
    )  # fmt: skip
    texts = cells.mark_text(fontSize=12).encode(
        **place,
        color=alt.condition(alt.datum.ratio > most / 2, alt.value("white"), alt.value("#222222")),
        text=alt.Text("ratio", type="quantitative", format=".2f"),
        tooltip=alt.TooltipValue(None),
    )
    whole = alt.LayerChart(layer=[squares, texts])
    height = _CELL * table["rate_mbit"].n_unique()
    return finished(whole, height, title="rate of Prague over that of CUBIC: number and colour")


def _formula(pairs: pl.DataFrame, classic: str) -> alt.LayerChart:
    """Ratios beside what the RFC computes."""
    own = pairs.filter(pl.col("classic") == classic).with_columns(pl.format("{} Mbit/s", "rate_mbit").alias("link"))
    rtts = [5 * 20 ** (step / 40) for step in range(41)]
    curve = pl.DataFrame(
        {"rtt_ms": rtts, "ratio": [expected_ratio(classic, rtt) for rtt in rtts], "of": "RFC 9332, C.2"}
    )
    return charts.points(
        own.select("rtt_ms", "ratio", "link"), "rtt_ms", "ratio", by="link", curves=curve, curve="of",
        title=f"beside {classic}", x_scale="log", y_scale="log", x_title="round trip of the empty path (ms)",
        y_title=f"rate of Prague over that of {classic}", height=260, x_domain=(4, 120), y_domain=(0.3, 4),
    )  # fmt: skip


def _waiting(cubic: pl.DataFrame) -> Table:
    """99th percentiles of both queues, a row for each rate."""
    rows = cubic.select("rate_mbit", "rtt_ms", pl.format("{} | {}", *(
        pl.col(f"{name}_p99_s").map_elements(ms, return_dtype=pl.String) for name in ("prague", "classic")
    )).alias("both"))  # fmt: skip
    wide = rows.pivot("rtt_ms", index="rate_mbit", values="both").rename({"rate_mbit": "Mbit/s, L4S | Classic"})
    return Table(wide.rename({name: f"{name} ms" for name in wide.columns[1:]}))
