"""The part of the report on response functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from tightlink.report import Row, Section, Table, charts
from tightlink.studies.congestion_basics.setup.responses import CURVES, FEW, RTT_S

if TYPE_CHECKING:
    from tightlink.studies.congestion_basics.observe.responses import Responses

#: Its formula is not for what it does: it counts what an ACK acknowledges.
_ANOTHER_FORMULA: Final = "reno-delayed-rfc"


def section(found: Responses) -> Section:
    """A chart for each control, and the fits."""
    drawn = [
        charts.points(
            found.mean.filter(pl.col("control") == curve.name).select(
                "control", pl.col("loss") * 100, "packets_per_rtt"
            ),
            "loss", "packets_per_rtt", curves=_curves(found.mean, curve.name), curve="of", title=curve.name,
            x_scale="log", y_scale="log", x_title="loss (%)", y_title="packets per round trip", x_domain=(5e-5, 2),
            y_domain=(5, 2e5), height=220,
        )
        for curve in CURVES
    ]  # fmt: skip
    names = ["control", "slope", "slope ±", "over formula", "formula ±", "law / formula", "over law", "law ±"]
    table = pl.DataFrame([(name, *fit) for name, fit in found.fits.items()], schema=names, orient="row")
    worst = max(abs(fit.beside_law - 1) for fit in found.fits.values())
    off = max(abs(fit.level - 1) for name, fit in found.fits.items() if name != _ANOTHER_FORMULA)
    finding = (
        f"All {len(CURVES)} follow the rules of their sources within {100 * worst:.0f} %, down to one loss in a "
        f"million. Where losses are random, formulas for losses at equal distances are off by up to {100 * off:.0f} %."
    )
    about = (
        f"Mean window at random losses on a path of {RTT_S * 1e3:.0f} ms without queue, over three seeds. At 1 % "
        "losses of retransmissions cost timeouts, which neither formulas nor rules have."
    )
    caption = f"Fits where the formulas are meant to hold, at losses of at most {100 * FEW:g} %, with 95 % intervals"
    fits = Table(table, caption, dict.fromkeys(names[1:], ".3f"))
    return Section("Response functions", finding, [Row(drawn, about), fits])


def _curves(mean: pl.DataFrame, name: str) -> pl.DataFrame:
    own = mean.filter(pl.col("control") == name)
    return pl.concat([
        own.select(pl.col("loss") * 100, packets_per_rtt=column, of=pl.lit(words))
        for column, words in (("formula", "formula"), ("law", "rules"))
    ])  # fmt: skip
