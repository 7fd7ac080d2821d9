"""The charts, tables and figures of the report, whose text is ``report.md``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import polars as pl

from tightlink.analysis.path.sawtooth import utilization
from tightlink.experiment.claims import Claim
from tightlink.lazy import alt
from tightlink.report import Table, charts
from tightlink.studies.claims_table import failed
from tightlink.studies.congestion_basics import setup
from tightlink.studies.expressions import Names
from tightlink.studies.report_text import page
from tightlink.studies.study import Report
from tightlink.studies.words import percent

#: Its formula is not for what it does: it counts what an ACK acknowledges.
_ANOTHER_FORMULA: Final = "reno-delayed-rfc"

_RAISED: Final = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def report(observed: Mapping[str, Any], claims: Mapping[str, Claim]) -> Report:
    """The report's text, tables and charts."""
    fits, standard = observed["response"]["fit"], observed["dublin"]["standard"]
    names = {
        "failed": failed(claims),
        "low": standard.filter(pl.col("loss") == setup.COMPARED_LOSS)["utilization"].to_list(),
        "compared": observed["dublin"]["replacements"].sort("utilization", descending=True),
        "worst": 100 * max(abs(fit.beside_law - 1) for fit in fits.values()),
        "off": 100 * max(abs(fit.level - 1) for name, fit in fits.items() if name != _ANOTHER_FORMULA),
    }
    blocks = _of_paths(observed["phases"], observed["path"], observed["dublin"]) | _of_controls(observed)
    figures = {"phases": "window", "utilization-252": "utilization", "response-functions": "responses"}
    return page(
        Path(__file__).with_suffix(".md"),
        Names(names, observed),
        blocks | {"compared": names["compared"]},
        picture="252 Mbit/s, and 89 % of it",
        figures={name: blocks[block] for name, block in figures.items()},
    )


def _of_paths(phases: Mapping[str, Any], path: Mapping[str, Any], dublin: Mapping[str, Any]) -> dict[str, Any]:
    """The phases of a flow, and the two paths."""
    words = pl.when(pl.col("flows") == 1).then(pl.lit("flow")).otherwise(pl.lit("flows"))
    grid = path["grid"].with_columns(of=pl.format("{} {}, {} ms", "flows", words, pl.col("rtt_ms").cast(pl.Int64)))
    sizes = [place / 100 for place in range(56)]
    used = [utilization(size) for size in sizes]
    curve = pl.DataFrame({"queue_bdp": sizes, "utilization": used, "theory": "sawtooth of one flow"})
    share = pl.col("utilization") * 100
    loss = pl.col("loss").map_elements(_loss, return_dtype=pl.String)
    start = pl.when(pl.col("slow_start_to") == "100").then(pl.lit("100 packets")).otherwise("slow_start_to")
    standard = dublin["standard"].with_columns(loss, slow_start_to=start)
    wide = standard.pivot("loss", index="slow_start_to", values="utilization")
    return {
        "window": charts.line(phases["window"], "time_s", "cwnd_packets", height=300, x_domain=(0, setup.END_S)),
        "phases": phases["listed"],
        "utilization": charts.points(
            grid.select("queue_bdp", share, "of", "flows", "rtt_ms"), "queue_bdp", "utilization", by="of",
            curves=curve.with_columns(share), curve="theory", x_title="queue (bandwidth-delay products)",
            y_title="utilization (%)", x_domain=(0, 0.55), y_domain=(70, 100), height=340,
        ),
        "standard": Table(wide, formats=dict.fromkeys(wide.columns[1:], percent)),
        "goodput": charts.line(dublin["goodput"], "time_s", "goodput_bps", by="control", height=340),
    }  # fmt: skip


def _loss(loss: float) -> str:
    """A loss that is a power of ten, as the head of a column."""
    if not loss:
        return "no loss"
    return f"loss 10{str(round(math.log10(loss))).translate(_RAISED)}"


def _of_controls(observed: Mapping[str, Any]) -> dict[str, Any]:
    """Response functions, and points of rest."""
    delay = observed["delay"].pivot("flows", index="control", values="waiting")
    delay = delay.rename({name: f"{name} flow{'s' * (name != '1')}" for name in delay.columns[1:]})
    mean, found = observed["response"]["mean"], observed["response"]["fit"].items()
    heads = ["control", "slope", "±", "over formula", "± formula", "law / formula", "over law", "± law"]
    widths = {"slope": "±", "over formula": "± formula", "over law": "± law"}
    fits = pl.DataFrame([(name, *fit) for name, fit in found], schema=heads, orient="row")
    return {
        "responses": [_response(mean.filter(pl.col("control") == name), name) for name, _ in found],
        "fits": Table(fits, formats=dict.fromkeys(heads[1:], ".3f"), widths=widths),
        "delay": Table(delay, formats=dict.fromkeys(delay.columns[1:], ".2f")),
    }


def _response(own: pl.DataFrame, name: str) -> alt.LayerChart | alt.Chart:
    """What was found of one control, beside its formula and its rules."""
    loss = pl.col("loss") * 100
    kinds = (("formula", "formula"), ("law", "rules"))
    curves = pl.concat(own.select(loss, packets_per_rtt=column, of=pl.lit(words)) for column, words in kinds)
    return charts.points(
        own.select("control", loss, "packets_per_rtt"), "loss", "packets_per_rtt", curves=curves, curve="of",
        title=name, x_scale="log", y_scale="log", x_title="loss (%)", y_title="packets per round trip",
        x_domain=(5e-5, 2), y_domain=(5, 2e5), height=220,
    )  # fmt: skip
