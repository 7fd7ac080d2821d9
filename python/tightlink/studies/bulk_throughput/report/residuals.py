"""Residuals in the report: tables and charts of agreement, and the section on cells that Linux carried."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from tightlink import plots
from tightlink.analysis.estimates import Estimate
from tightlink.analysis.path.residuals import Agreement, agreement, share_within
from tightlink.lazy import alt
from tightlink.numbers import NONE
from tightlink.report import Section, Text, charts
from tightlink.studies.bulk_throughput.observe.linux import WITHIN, outside
from tightlink.studies.bulk_throughput.setup.paths import DOCUMENT_R2, KILOBYTES, SITES, Place
from tightlink.studies.report_text import page
from tightlink.studies.words import percent


def row(place: Place, part: str, value: Agreement) -> tuple[Any, ...]:
    """A row of the table of agreements: residuals in percent, their mean in kbit/s, and R²."""
    residuals = (100 * value.median, 100 * value.largest, round(value.mean_bps / 1e3))
    return (place.title, part, value.points, *residuals, _interval(value.origin), _interval(value.free))


def explained(found: Mapping[Place, Agreement], digits: int) -> str:
    """R² of each path beside the document's, in a sentence; without those that have none."""
    return ", ".join(
        f"{value.origin.value:.{digits}f} at {place.site} (the document: {DOCUMENT_R2[place.name]:g})"
        for place, value in found.items()
        if value.origin is not None
    )


def scatter(place: Place, frame: pl.DataFrame, *, by: str = "flows") -> alt.LayerChart:
    """Observed over predicted goodput, and the line of equality."""
    top = place.path.bandwidth_bps
    equality = pl.DataFrame({"predicted_bps": [0.0, top], "observed_bps": [0.0, top], "line": ["o = s"] * 2})
    named = frame.with_columns(line=pl.col(by).cast(pl.String))
    return charts.points(
        named, "predicted_bps", "observed_bps", by="line", curves=equality, curve="line", x_scale="linear",
        title=place.site,
    )  # fmt: skip


def over_windows(place: Place, frame: pl.DataFrame, *, by: str = "flows") -> alt.Chart:
    """Residuals over the window."""
    named = frame.with_columns(pl.col("residual") * 100, line=pl.col(by).cast(pl.String))
    return charts.line(
        named.sort(by, "window_packets"), "window_packets", "residual", by="line", title=place.site,
        x_title="window (packets)", y_title="(o − s) / o (%)", x_scale="log", height=180,
    )  # fmt: skip


def _interval(estimate: Estimate | None) -> str:
    return NONE if estimate is None else f"{estimate:.3f}"


def measured(title: str, found: pl.DataFrame, where: str) -> Section:
    """The section on cells that Linux carried, beside the same cells simulated."""
    if found.is_empty():
        return Section(title, "Nothing was measured: the machine was too busy.", [])
    parts = {place: found.filter(pl.col("path") == place.name) for place in SITES}
    parts = {place: part for place, part in parts.items() if not part.is_empty()}
    whole = {place: agreement(part) for place, part in parts.items()}
    series = pl.format("{}, {}", "congestion", "flows")
    rows = []
    for place, part in parts.items():
        rows.append(row(place, "both", whole[place]))
        for (control,), own in part.group_by("congestion", maintain_order=True):
            rows.append(row(place, str(control), agreement(own)))
    names = {
        "title": title, "cells": found.height, "within": share_within(found, WITHIN), "goal": WITHIN,
        "explained": explained(whole, 3), "where": where,
    }  # fmt: skip
    blocks = {
        "scatter": [scatter(place, part, by="kind") for place, part in parts.items()],
        "over-windows": [
            over_windows(place, part.with_columns(series=series), by="series") for place, part in parts.items()
        ],
        "agreements": rows,
        "misses": _misses(found),
    }
    (section,) = page(Path(__file__).parents[1] / "live.md", names, blocks).sections
    return section


def _misses(found: pl.DataFrame) -> Text | pl.DataFrame:
    missed = outside(found).sort(pl.col("residual").abs(), descending=True)
    if missed.is_empty():
        return Text(f"No cell misses by more than {percent(WITHIN)}.")
    return missed.with_columns(kb=pl.col("window_packets").replace_strict(KILOBYTES))


def draw(folder: Path, points: pl.DataFrame) -> list[Path]:
    """Draw observed over predicted goodput, a panel for each path that was measured."""
    parts = [(place, points.filter(pl.col("path") == place.name)) for place in SITES]
    drawn = [scatter(place, part, by="kind") for place, part in parts if not part.is_empty()]
    return plots.save(drawn, folder, "measured") if drawn else []
