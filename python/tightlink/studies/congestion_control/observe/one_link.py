"""What the experiments on a single link show, setting by setting, and what claims compare of it."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl

from tightlink import units
from tightlink.analysis.traffic.oscillation import oscillation
from tightlink.lazy import Array
from tightlink.run import Run
from tightlink.studies.congestion_control.observe.ratios import of_ratios
from tightlink.studies.congestion_control.setup import one_link
from tightlink.studies.congestion_control.setup.experiment import STANDARD

#: Slow start is over.
_SETTLED_S: Final = 10.0
#: Of a window's standard deviation over its mean: from here on it does not rest.
SWINGS: Final = 0.1
#: Noise to compare with: enough for the level of 0.01.
_SIMULATIONS: Final = 199
#: A window is that of the link from this share of what the path holds on.
_FULL: Final = 0.95
#: What a packet takes of the link: 1500 B.
_PACKET_BITS: Final = 12_000
#: No control leaves more of a window after a loss than 0.9 (RFC 3649, High_Decrease).
_LEFT: Final = 0.95


def read(name: str, runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each setting: its levels, and what was measured.

    Of ``oscillation``: ``room`` (buffer / flows · alpha), whether windows oscillate and how much, ``loss``. Of
    ``newcomers``: ``share``, the newcomer's goodput over an equal part of the link's rate. Of ``increase``:
    ``full_s``, ``goodput_bps``, ``loss``, and what is ``kept`` of a window after a loss.
    """
    return one_link.CASES[name].table(runs, _KINDS[name][0])


def values(name: str, table: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name."""
    return {f"{name}.{key}": value for key, value in _KINDS[name][1](table).items()}


def _swings(run: Run, control: tuple[str, int | None], flows: int, buffer_packets: int) -> dict[str, Any]:
    own = run.series.filter(pl.col("metric") == "cwnd_packets", pl.col("time_s") > _SETTLED_S).sort("entity", "time_s")
    value = pl.col("value")
    swings = own.group_by("entity", maintain_order=True).agg(swing=value.std(ddof=0) / value.mean())
    windows = own.group_by("time_s", maintain_order=True).agg(value.mean()).sort("time_s")
    found = oscillation(
        windows["value"].to_numpy(), one_link.INTERVAL_S, round_trip_s=one_link.ROUND_TRIP_S, simulations=_SIMULATIONS
    )
    dropped, sent = (int(run.flows[name].sum()) for name in ("packets_dropped", "packets_sent"))
    kind, alpha = control
    return {
        "control": kind,
        "alpha_packets": alpha,
        "room": None if alpha is None else buffer_packets / (flows * alpha),
        "swing": float(np.mean(swings["swing"].to_numpy())),
        "periodic": found.oscillates,
        "period_s": found.period_s if found.oscillates else None,
        "loss": dropped / sent,
    }


def _of_oscillation(table: pl.DataFrame) -> dict[str, object]:
    fast, adapted = (table.filter(pl.col("control") == name) for name in ("fast", "fast-at"))
    # On the edge itself, the last packet of all decides.
    inside = fast.filter(pl.col("room") != 1)
    short, long = inside.filter(pl.col("room") < 1), inside.filter(pl.col("room") > 1)
    least, alpha = table["buffer_packets"].min(), fast["alpha_packets"].max()
    shortest = pl.col("buffer_packets") == least
    groups = {
        "fast-at": adapted,
        "fast-at.shortest": adapted.filter(shortest),
        "fast.shortest": fast.filter(shortest),
        "fixed": fast.filter(pl.col("alpha_packets") == alpha),
    }
    found: dict[str, object] = {
        "right": float(((inside["swing"] > SWINGS) == (inside["room"] < 1)).to_numpy().mean()),
        "settings": inside.height,
        "swings": SWINGS,
        "short.settings": short.height,
        "short.swing": short["swing"].median(),
        "short.loss": short["loss"].median(),
        "short.periodic": short["periodic"].sum(),
        "short.round_trips": float(np.median(short["period_s"].drop_nulls())) / one_link.ROUND_TRIP_S,
        "long.loss": long["loss"].median(),
        "fast-at.shortest.buffer": least,
        "fixed.alpha": alpha,
    }
    for name, own in groups.items():
        found |= {f"{name}.settings": own.height, f"{name}.oscillates": int((own["swing"] > SWINGS).sum())}
    return found


def _share(run: Run, rate: str, settled: int) -> dict[str, float]:
    goodput = run.flows.filter(pl.col("label") == one_link.NEWCOMER)["goodput_bps"].item()
    return {"share": goodput / (units.rate(rate) / (settled + 1))}


def by_control(table: pl.DataFrame) -> pl.DataFrame:
    """Of each control the mean and the smallest share of newcomers, the least first."""
    share = pl.col("share")
    grouped = table.group_by("control", maintain_order=True)
    return grouped.agg(mean=share.mean(), smallest=share.min(), largest=share.max(), settings=pl.len()).sort("mean")


def _of_newcomers(table: pl.DataFrame) -> dict[str, object]:
    means = dict(by_control(table).select("control", "mean").rows())
    shares = {f"{control}.share": mean for control, mean in means.items()}
    return shares | {"least": ", ".join(list(means)[:3]), "watched_s": one_link.NEWCOMER_S}


def _growth(run: Run, load: tuple[str, int, str], delay: str) -> dict[str, Any]:
    kind, arrives_s, threshold = load
    flow = run.flows.row(by_predicate=pl.col("label") == one_link.FLOW, named=True)
    watched = kind in one_link.WINDOWS
    return {
        "load": kind,
        "arrives_s": arrives_s,
        "initial_ssthresh": threshold,
        "goodput_bps": flow["goodput_bps"],
        "loss": flow["packets_dropped"] / flow["packets_sent"],
        **(_of_window(run, kind, arrives_s, delay) if watched else {"full_s": math.nan, "kept": math.nan}),
    }


def _of_window(run: Run, kind: str, arrives_s: int, delay: str) -> dict[str, float]:
    own = run.series.filter(pl.col("entity") == one_link.FLOW).pivot("metric", index="time_s", values="value")
    own = own.sort("time_s").drop_nulls("cwnd_packets").with_columns(pl.col("ssthresh_packets").fill_null(math.inf))
    time, window = own["time_s"].to_numpy() - arrives_s, own["cwnd_packets"].to_numpy()
    round_trip = 2 * units.time(delay)
    full = time[window >= _FULL * units.rate(one_link.RATE) * round_trip / _PACKET_BITS]
    after = max(round(2 * round_trip / one_link.INTERVAL_S), 1)
    return {
        "full_s": float(full[0]) if full.size else float(one_link.WATCHED_S[kind]),
        "kept": kept_after_losses(window, own["ssthresh_packets"].to_numpy(), after),
    }


def kept_after_losses(window: Array, threshold: Array, after: int) -> float:
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


def _of_increase(table: pl.DataFrame) -> dict[str, object]:
    alone, congested, extreme = (table.filter(pl.col("load") == load) for load in one_link.WATCHED_S)
    named: dict[str, object] = {}
    for control in table["control"].unique(maintain_order=True):
        # The time to a full link over standard TCP's, by delay.
        low, high = (
            _over(alone.filter(pl.col("initial_ssthresh") == threshold), "full_s", control, [STANDARD])
            for threshold in one_link.THRESHOLDS
        )
        kept = _first(alone, congested, control)
        named |= {
            f"{control}.low": float(np.max(low)),
            f"{control}.high": float(high[np.argmax(np.abs(np.log(high)))]),
            f"{control}.kept": kept,
            f"{control}.losses": "It lost nothing after slow start." if math.isnan(kept) else "",
            f"{control}.threshold.alone": float(np.median(_of_threshold(alone, control))),
        }
        named |= of_ratios(f"{control}.threshold", _of_threshold(congested, control))
        for load, own in (("congested", congested), ("extreme", extreme)):
            named |= of_ratios(f"{control}.{load}", _over(own, "goodput_bps", control, [STANDARD]))
        named |= of_ratios(f"{control}.lost", _over(extreme, "loss", control, [STANDARD]))
        others = [name for name in one_link.CONTROLS if name not in {control, STANDARD}]
        named |= of_ratios(f"{control}.others", _over(congested, "goodput_bps", control, others))
    return named


def _over(table: pl.DataFrame, column: str, control: str, others: Sequence[str]) -> Array:
    """What a control has over the mean of others, setting by setting.

    Where slow start ends below both thresholds, two runs are one.
    """
    wide = table.pivot("control", index=["delay", "arrives_s", "initial_ssthresh"], values=column)
    wide = wide.unique(["delay", "arrives_s", control, *others], maintain_order=True)
    wide = wide.with_columns(others=pl.mean_horizontal(others)).filter(pl.col("others") > 0)
    return (wide[control] / wide["others"]).to_numpy()


def _first(alone: pl.DataFrame, congested: pl.DataFrame, control: str) -> float:
    """What a control keeps, on an empty link; under congestion, where it loses nothing on an empty one."""
    for table in (alone, congested):
        kept = table.filter(pl.col("control") == control)["kept"].to_numpy()
        if np.isfinite(kept).any():
            return float(np.nanmedian(kept))
    return math.nan


def _of_threshold(table: pl.DataFrame, control: str) -> Array:
    """The goodput with a high threshold over that with a low one, by delay and arrival."""
    own = table.filter(pl.col("control") == control)
    wide = own.pivot("initial_ssthresh", index=["delay", "arrives_s"], values="goodput_bps")
    return (wide["unlimited"] / wide["100 packets"]).to_numpy()


#: What is measured of a run, and what claims compare of the table of all.
_KINDS: Final[dict[str, tuple[Callable[..., Mapping[str, Any]], Callable[[pl.DataFrame], dict[str, object]]]]] = {
    "oscillation": (_swings, _of_oscillation),
    "newcomers": (_share, _of_newcomers),
    "increase": (_growth, _of_increase),
}
