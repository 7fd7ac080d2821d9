"""The part of the report on capacity where it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tightlink.report import Section, Table, Text

if TYPE_CHECKING:
    import polars as pl


def section(found: pl.DataFrame) -> Section:
    """What to do about it."""
    most = found.sort("gain").row(-1, named=True)
    finding = (
        "The same capacity in all, given to links as they are used, raises the critical load up to "
        f"{most['gain']:.1f} times ({most['graph']}); beyond it everything congests at once."
    )
    text = (
        "λc is set by one link, so capacity elsewhere is no help. Where each link has a share by its betweenness, all "
        "are full at the same load, λc = capacity of all / (n L): nothing of the graph but its mean path length L "
        "matters any more. The price is the other side of it: the order parameter rises several times as steeply."
    )
    formats: dict[str, Any] = {
        "equal capacities": ".1f", "by betweenness": ".1f", "theory": ".1f", "gain": "× {:.2f}", "η at 1.1 λc": ".3f",
    }  # fmt: skip
    shown = Table(found.drop("normalised"), "λc in packets/s from each node.", formats)
    return Section("Capacity where it is needed", finding, [Text(text), shown])
