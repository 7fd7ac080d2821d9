"""How soon a flow has all of a link, what it gives up after a loss, and what its threshold does under congestion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tightlink import units
from tightlink.run import Run
from tightlink.studies.congestion_control.observe.ratios import of_ratios
from tightlink.studies.congestion_control.setup.increase import (
    FLOW,
    INTERVAL_S,
    NAME,
    RATE,
    WATCHED,
    WATCHED_S,
    Setting,
    runs,
)
from tightlink.studies.congestion_control.setup.one_link import CONTROLS

#: A window is that of the link from this share of what the path holds on.
_FULL: Final = 0.95
#: What a packet takes of the link: 1500 B.
_PACKET_BITS: Final = 12_000
STANDARD: Final = "reno"
#: No control leaves more of a window after a loss than 0.9 (RFC 3649, High_Decrease).
_LEFT: Final = 0.95


def read(found: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run: its setting; ``full_s``, ``goodput_bps``, ``loss``, ``kept`` of a window after a loss."""
    return pl.DataFrame([_row(control, setting, found[name]) for name, control, setting in runs()])


def _row(control: str, setting: Setting, run: Run) -> dict[str, Any]:
    flow = run.flows.filter(pl.col("label") == FLOW)
    return {
        "control": control,
        "load": setting.load,
        "arrives_s": setting.arrives_s,
        "delay": setting.delay,
        "initial_ssthresh": setting.threshold,
        "goodput_bps": float(flow["goodput_bps"].item()),
        "loss": float(flow["packets_dropped"].item() / flow["packets_sent"].item()),
        **(_of_window(setting, run) if setting.load in WATCHED else {"full_s": math.nan, "kept": math.nan}),
    }


def _of_window(setting: Setting, run: Run) -> dict[str, float]:
    own = run.series.filter(pl.col("entity") == FLOW).pivot("metric", index="time_s", values="value").sort("time_s")
    own = own.drop_nulls("cwnd_packets").with_columns(pl.col("ssthresh_packets").fill_null(math.inf))
    time, window = own["time_s"].to_numpy() - setting.arrives_s, own["cwnd_packets"].to_numpy()
    round_trip = 2 * units.time(setting.delay)
    full = time[window >= _FULL * units.rate(RATE) * round_trip / _PACKET_BITS]
    return {
        "full_s": float(full[0]) if full.size else float(WATCHED_S[setting.load]),
        "kept": kept_after_losses(
            window, own["ssthresh_packets"].to_numpy(), max(round(2 * round_trip / INTERVAL_S), 1)
        ),
    }


def kept_after_losses(window: NDArray[np.float64], threshold: NDArray[np.float64], after: int) -> float:
    """The part of the window that is left so many intervals after a loss, median over all; NaN without one.

    A loss sets the threshold to less than the window; other things that make a window smaller, as Compound's delay
    does, leave it, or take it along as FAST's does. The first loss is left out: it ends slow start, which overshoots.
    """
    kept: list[float] = []
    last = -after
    for place in np.flatnonzero((threshold[1:] != threshold[:-1]) & (threshold[1:] <= _LEFT * window[:-1])):
        if place >= last + after and place + after < len(window):
            kept.append(float(window[place + 1 : place + 1 + after].min() / window[place]))
            last = int(place)
    return float(np.median(kept[1:])) if len(kept) > 1 else math.nan


def values(table: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name."""
    alone, congested, extreme = (table.filter(pl.col("load") == load) for load in WATCHED_S)
    named: dict[str, object] = {}
    for control in table["control"].unique(maintain_order=True):
        low, high = (_ratios(alone, control, threshold) for threshold in ("100 packets", "unlimited"))
        kept = _first(alone, congested, control)
        found = {
            "low": float(np.max(low)),
            "high": float(high[np.argmax(np.abs(np.log(high)))]),
            "kept": kept,
            "losses": "It lost nothing after slow start." if math.isnan(kept) else "",
            "threshold.alone": float(np.median(_of_threshold(alone, control))),
        }
        named |= {f"{NAME}.{control}.{name}": value for name, value in found.items()}
        named |= of_ratios(f"{NAME}.{control}.threshold", _of_threshold(congested, control))
        for load, own in (("congested", congested), ("extreme", extreme)):
            named |= of_ratios(f"{NAME}.{control}.{load}", _over(own, "goodput_bps", control, [STANDARD]))
        named |= of_ratios(f"{NAME}.{control}.lost", _over(extreme, "loss", control, [STANDARD]))
        others = [name for name in CONTROLS if name not in {control, STANDARD}]
        named |= of_ratios(f"{NAME}.{control}.others", _over(congested, "goodput_bps", control, others))
    return named


def _over(table: pl.DataFrame, column: str, control: str, others: Sequence[str]) -> NDArray[np.float64]:
    """What a control has over the mean of others, setting by setting."""
    wide = table.pivot("control", index=["delay", "arrives_s", "initial_ssthresh"], values=column)
    wide = wide.with_columns(others=pl.mean_horizontal(others)).filter(pl.col("others") > 0)
    return (wide[control] / wide["others"]).to_numpy()


def _first(alone: pl.DataFrame, congested: pl.DataFrame, control: str) -> float:
    """What a control keeps, on an empty link; under congestion, where it loses nothing on an empty one."""
    for table in (alone, congested):
        kept = table.filter(pl.col("control") == control)["kept"].to_numpy()
        if np.isfinite(kept).any():
            return float(np.nanmedian(kept))
    return math.nan


def _ratios(table: pl.DataFrame, control: str, threshold: str) -> NDArray[np.float64]:
    """A control's time to a full link over standard TCP's, by delay."""
    own = table.filter(pl.col("initial_ssthresh") == threshold).pivot("control", index="delay", values="full_s")
    return (own[control] / own[STANDARD]).to_numpy()


def _of_threshold(table: pl.DataFrame, control: str) -> NDArray[np.float64]:
    """The goodput with a high threshold over that with a low one, by delay and arrival."""
    own = table.filter(pl.col("control") == control)
    wide = own.pivot("initial_ssthresh", index=["delay", "arrives_s"], values="goodput_bps")
    return (wide["unlimited"] / wide["100 packets"]).to_numpy()
