"""How soon a flow has all of a link, what it gives up after a loss, and what its threshold does under congestion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl

from tightlink import units
from tightlink.studies.congestion_control.setup.increase import FLOW, NAME, RATE, WATCHED_S, runs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tightlink.run import Run
    from tightlink.studies.congestion_control.setup.increase import Setting

#: A window is that of the link from this share of what the path holds on.
_FULL: Final = 0.95
#: What a packet takes of the link: 1500 B.
_PACKET_BITS: Final = 12_000
#: A window that is smaller by so much than its largest of the last round trip was reduced.
_REDUCED: Final = 0.05
STANDARD: Final = "reno"


def read(found: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run: its setting; ``full_s``, ``goodput_bps``, ``kept`` (of a window, median over losses)."""
    return pl.DataFrame([_row(control, setting, found[name]) for name, control, setting in runs()])


def _row(control: str, setting: Setting, run: Run) -> dict[str, Any]:
    own = run.series.filter(pl.col("metric") == "cwnd_packets", pl.col("entity") == FLOW).sort("time_s")
    time, window = own["time_s"].to_numpy() - setting.arrives_s, own["value"].to_numpy()
    round_trip = 2 * units.time(setting.delay)
    holds = units.rate(RATE) * round_trip / _PACKET_BITS
    full = time[window >= _FULL * holds]
    return {
        "control": control,
        "load": setting.load,
        "delay": setting.delay,
        "initial_ssthresh": setting.threshold,
        "full_s": float(full[0]) if full.size else float(WATCHED_S),
        "goodput_bps": float(run.flows.filter(pl.col("label") == FLOW)["goodput_bps"].item()),
        "kept": _kept(time, window, round_trip) if setting.load == "alone" else math.nan,
    }


def _kept(time: NDArray[np.float64], window: NDArray[np.float64], round_trip: float) -> float:
    """The part of the window that is left two round trips after a loss, median over all; NaN without one.

    The first is left out: it ends slow start, which overshoots.
    """
    kept, place = [], 0
    step = float(np.median(np.diff(time)))
    width = max(round(2 * round_trip / step), 1)
    while place + 2 * width < len(window):
        before = float(window[place])
        after = float(window[place + 1])
        if after < (1 - _REDUCED) * before:
            kept.append(float(window[place + 1 : place + 1 + 2 * width].min()) / before)
            place += 2 * width
        place += 1
    return float(np.median(kept[1:])) if len(kept) > 1 else math.nan


def values(table: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name."""
    alone, congested = (table.filter(pl.col("load") == load) for load in ("alone", "congested"))
    named: dict[str, object] = {}
    for control in table["control"].unique(maintain_order=True):
        low, high = (_ratios(alone, control, threshold) for threshold in ("100 packets", "unlimited"))
        kept = alone.filter(pl.col("control") == control)["kept"].to_numpy()
        found = {
            "low": float(np.max(low)),
            "high": float(high[np.argmax(np.abs(np.log(high)))]),
            "kept": float(np.nanmedian(kept)) if np.isfinite(kept).any() else math.nan,
            "losses": "" if np.isfinite(kept).any() else "It lost nothing after slow start.",
            "threshold.congested": _of_threshold(congested, control),
            "threshold.alone": _of_threshold(alone, control),
        }
        named |= {f"{NAME}.{control}.{name}": value for name, value in found.items()}
    return named


def _ratios(table: pl.DataFrame, control: str, threshold: str) -> NDArray[np.float64]:
    """A control's time to a full link over standard TCP's, by delay."""
    own = table.filter(pl.col("initial_ssthresh") == threshold).pivot("control", index="delay", values="full_s")
    return (own[control] / own[STANDARD]).to_numpy()


def _of_threshold(table: pl.DataFrame, control: str) -> float:
    """The goodput with a high threshold over that with a low one, geometric mean over delays."""
    own = table.filter(pl.col("control") == control).pivot("initial_ssthresh", index="delay", values="goodput_bps")
    return float(np.exp(np.log((own["unlimited"] / own["100 packets"]).to_numpy()).mean()))
