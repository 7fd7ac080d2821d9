"""What a finite receiver's window leaves of the gains (experiment ``window``)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.experiment.claims import Claim, holds_if, untestable, within
from tightlink.report import Section, Table, Text
from tightlink.studies.congestion_control import document
from tightlink.studies.congestion_control.mixed import Mixed
from tightlink.studies.congestion_control.part import Part

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tightlink.studies.congestion_control.evidence import Evidence

_LARGE: Final = "service-pack"
_FEWEST: Final = 8


@dataclass(frozen=True)
class Windows:
    """An experiment with several receiver's windows."""

    found: Evidence

    @cached_property
    def gains(self) -> pl.DataFrame:
        """By file, window and control: the geometric mean over conditions of own over standard throughput."""
        mixed = Mixed(self.found)
        parts = pl.col("algorithm").str.split_exact(", ", 1).struct.rename_fields(["control", "window"])
        own = mixed.table.filter((pl.col("own") > 0) & (pl.col("standard") > 0)).with_columns(parts).unnest("algorithm")
        ratio = (pl.col("own") / pl.col("standard")).log()
        return own.group_by("file", "window", "control", maintain_order=True).agg(
            gain=ratio.mean().exp(),
            own_pps=pl.col("own").mean(),
            standard_pps=pl.col("standard").mean(),
            cells=pl.len(),
        )

    def gain(self, window: str) -> tuple[float, int]:
        """Of large files, over all controls; and of how many cells that is the mean."""
        own = self.gains.filter((pl.col("file") == _LARGE) & (pl.col("window") == window))
        weighted = (own["gain"].log() * own["cells"]).sum() / max(int(own["cells"].sum()), 1)
        return float(pl.Series([weighted]).exp()[0]), int(own["cells"].sum())


def claims(one: Windows) -> Iterator[Claim]:
    """A replacement pays only where the receiver's window does not limit."""
    gains = {name: one.gain(name) for name in one.found.experiment.variants}
    source = document.UTILITY
    if min(cells for _, cells in gains.values()) < _FEWEST:
        yield untestable(
            "window.no-gain", "Where the receiver's window limits, replacements gain nothing", source,
            "Too few large files were completed: run it longer, or larger.",
        )  # fmt: skip
        return
    (small, _), (middle, _), (unlimited, cells) = gains.values()
    yield within(
        "window.no-gain", "Where the receiver's window limits, replacements gain nothing", source, 1.0, small,
        tolerance=0.05, reason=f"Geometric mean of own over standard throughput of large files with 64 KiB, {cells} "
        "cells of conditions, controls, paths and interfaces. Tolerance: ours.",
    )  # fmt: skip
    yield holds_if(
        "window.gain-grows", "The gain grows with the receiver's window", source, unlimited / small,
        small <= middle <= unlimited,
        f"64 KiB: {small:.3f}; 400 packets: {middle:.3f}; unlimited: {unlimited:.3f}. The last over the first.",
    )  # fmt: skip


def section(one: Windows) -> Section:
    """Gains by window and control."""
    table = one.gains.filter(pl.col("file") == _LARGE).pivot("window", index="control", values="gain")
    return Section(
        one.found.experiment.title,
        one.found.experiment.question,
        [
            Text(
                f"Large files, a low initial threshold, little congestion: where replacements pay. At {one.found.size}."
            ),
            Table(table, "Throughput of large files over that of the standard TCP beside it, by receiver's window."),
        ],
    )


def part(found: Evidence) -> Part:
    """What the experiment shows."""
    one = Windows(found)
    return Part(list(claims(one)), section(one))
