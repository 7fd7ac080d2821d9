"""What is observed: the phases of a flow, what paths are used for, response functions, and points of rest."""

import itertools
import math
from collections.abc import Iterator, Mapping
from statistics import fmean
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import polars as pl
from scipy.special import stdtrit

from tightlink import units
from tightlink.analysis.estimates import power_law
from tightlink.analysis.path.sawtooth import queue_for, utilization
from tightlink.lazy import Array
from tightlink.reduce import largest, mean_of, samples, smallest
from tightlink.run import Run
from tightlink.studies.congestion_basics import setup
from tightlink.studies.congestion_basics.setup import FLOW, LINK, PACKET_BYTES, RATE, RTT_S, THRESHOLD

Rows: TypeAlias = "list[tuple[float, float]]"

#: The share of 252 Mbit/s that the document states.
STATED: Final = 0.89
#: Beyond this window packets wait in the queue, and the round trip grows.
_FILLS: Final = 400
#: A window that is left with less than this was cut.
_CUT: Final = 0.6
#: Seconds after which a queue is what it stays.
_SETTLED_S: Final = 10
_DELAY_SETTLED_S: Final = 20
#: Samples before these do not count: the beginning is where the window of a response comes from.
_SETTLED: Final = 8


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name."""
    return {
        "setup": vars(setup),
        "phases": _phases(runs[setup.PHASES]),
        "path": _path(runs),
        "dublin": _dublin(runs),
        "response": _responses(runs),
        **_points(runs),
    }


def _sampled(run: Run, entity: str, metric: str) -> pl.DataFrame:
    return samples(run.series, metric, entity).sort("time_s")


def _phases(run: Run) -> dict[str, Any]:
    """The congestion window at each round trip, and name, begin and end of each phase, in seconds."""
    window = _sampled(run, FLOW, "cwnd_packets").select("time_s", cwnd_packets="value")
    rows = window.rows()
    connected = run.flows.row(0, named=True)["limited_by_handshake"] * setup.END_S
    slow = next(time for time, size in rows if size >= THRESHOLD)
    lost = next(time for time, _, after in _steps(rows) if after < _CUT * _at(rows, time))
    expired = next(time for time, size in rows if time > setup.FLOOD_S and size <= 1)
    again = next(time for time, size, after in _steps(rows) if time > expired and after < 1.5 * size)
    ends = {
        "connection": connected,
        "slow start": slow,
        "congestion avoidance": lost,
        "congestion avoidance after a loss": float(setup.FLOOD_S),
        "nothing comes back": expired,
        "slow start after the timeout": again,
        "congestion avoidance after it": float(setup.END_S),
    }
    listed = pl.DataFrame({"phase": list(ends), "begin_s": [0.0, *list(ends.values())[:-1]], "end_s": ends.values()})

    def sizes(begin: float, end: float) -> list[float]:
        # What is wholly within the phase.
        return [size for time, size in rows if begin + RTT_S < time < end - RTT_S]

    growing = sizes(connected, slow)
    steady = [size for size in sizes(slow, lost) if size < _FILLS]
    return {
        "window": window,
        "listed": listed,
        "connected_s": connected,
        "slow_start_s": slow - connected,
        "growth_per_rtt": (growing[-1] / growing[0]) ** (1 / (len(growing) - 1)),
        "packets_per_rtt": (steady[-1] - steady[0]) / (len(steady) - 1),
        "before_loss_packets": _at(rows, lost),
        "after_loss_packets": min(size for time, size in rows if lost < time < lost + 5 * RTT_S),
        "before_flood_packets": _at(rows, setup.FLOOD_S),
        "after_timeout_packets": next(size for time, size in rows if time >= expired),
        "avoidance_again_packets": sizes(again, setup.END_S)[0],
    }


def _steps(rows: Rows) -> Iterator[tuple[float, float, float]]:
    """Each sample with the one after it."""
    return ((time, size, after) for (time, size), (_, after) in itertools.pairwise(rows))


def _at(rows: Rows, time_s: float) -> float:
    """The window at a time."""
    return next(size for time, size in reversed(rows) if time <= time_s)


def _path(runs: Mapping[str, Run]) -> dict[str, Any]:
    """What is used of 252 Mbit/s after the first losses, and with which queues that is the stated share."""
    grid = setup.PATHS.table(
        runs, lambda run, queue_bdp: {"utilization": _epochs_used(run), "sawtooth": utilization(queue_bdp)}
    )
    reached = _reached(grid)
    alone, several = (grid.filter(pl.col("flows") == flows) for flows in (1, largest(grid["flows"])))
    gained = several["utilization"] - alone["utilization"]
    own = reached.filter(pl.col("flows") == 1)
    chosen, queues = own.filter(pl.col("rtt_ms") == setup.CHOSEN_MS)["queue_bdp"][0], own["queue_bdp"].drop_nulls()
    return {
        "grid": grid,
        "reached": reached,
        "rtts_ms": [int(rtt) for rtt in setup.PATHS.levels["rtt_ms"]],
        "off_sawtooth_most": (alone["utilization"] - alone["sawtooth"]).abs().max(),
        "chosen_reached": chosen is not None,
        "chosen_queue_bdp": chosen,
        "queues_bdp": queues.to_list(),
        "sawtooth_queue_bdp": queue_for(STATED),
        "several_gain_least": smallest(gained),
        "several_gain_most": largest(gained),
    }


def _reached(grid: pl.DataFrame) -> pl.DataFrame:
    """The queue at which the stated share is used, interpolated; missing where every queue of the grid reaches it."""
    rows = []
    for (rtt, flows), part in grid.group_by("rtt_ms", "flows", maintain_order=True):
        points = part.sort("queue_bdp").select("queue_bdp", "utilization").rows()
        crossing = (
            low + (STATED - used) / (more - used) * (high - low)
            for (low, used), (high, more) in itertools.pairwise(points)
            if used < STATED <= more
        )
        rows.append((rtt, flows, next(crossing, None)))
    return pl.DataFrame(rows, schema={"rtt_ms": pl.Float64, "flows": pl.Int64, "queue_bdp": pl.Float64}, orient="row")


def _epochs_used(run: Run) -> float:
    """Utilization over whole epochs: from the first loss to the last one."""
    used, dropped = (_sampled(run, LINK, metric)["value"] for metric in ("utilization", "packets_dropped"))
    losses = (dropped > 0).arg_true()
    return fmean(used[losses[0] + 1 : losses[-1] + 1].to_list())


def _dublin(runs: Mapping[str, Run]) -> dict[str, Any]:
    """What one flow of each control uses of 1 Gbit/s from Chicago to Dublin, and its goodput over time."""
    standard, replacements = (
        cases.table(runs, lambda run: {"utilization": run.links.filter(pl.col("link") == LINK)["utilization"][0]})
        for cases in (setup.STANDARD, setup.REPLACEMENTS)
    )
    goodput = [
        _sampled(run, FLOW, "goodput_bps").select("time_s", goodput_bps="value", control=pl.lit(control))
        for control, run in zip(replacements["control"], setup.REPLACEMENTS.of(runs), strict=True)
    ]
    clean = (pl.col("loss") == 0) & (pl.col("slow_start_to") == "unlimited")
    return {
        "standard": standard,
        "replacements": replacements,
        "goodput": pl.concat(goodput),
        "clean": standard.filter(clean)["utilization"][0],
        "lossy": standard.filter(~clean)["utilization"].to_list(),
        "others": replacements.filter(pl.col("control") != "reno")["utilization"].to_list(),
    }


def _points(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Where controls come to rest that measure delay or know the path's rate, and what managed queues hold."""
    delay = setup.DELAY.table(
        runs, lambda run, flows: {"waiting": (_mean(run, "queue_packets", _DELAY_SETTLED_S) + 1) / flows}
    )
    waiting = {control: part["waiting"].to_list() for (control,), part in delay.group_by("control")}
    found = setup.BBR.table(
        runs,
        lambda run: {"in_flight_bdp": _in_flight_bdp(run), "utilization": _mean(run, "utilization")} | _waiting(run),
    )
    gaps = np.diff(runs[setup.CODEL].packets.filter(pl.col("reason") == "queue management")["time_s"].to_list())
    power, interval_s = power_law(np.arange(1, len(gaps) + 1), gaps)
    return {
        "delay": delay,
        "waiting": waiting,
        "vegas": {"alone": waiting["vegas"][0], "several": waiting["vegas"][1:]},
        "bbrs": found,
        "bbr": {control: part for (control,), part in found.group_by("control")},
        "pie": setup.PIE.table(runs, lambda run: _waiting(run) | {"utilization": _mean(run, "utilization")}),
        # Of the times from drop to drop: the interval and the power of their number that fit them best.
        "codel": {"interval_s": interval_s, "power": power},
    }


def _in_flight_bdp(run: Run) -> float:
    """What BBR keeps in flight, in bandwidth-delay products of the empty path: rate times round trip."""
    flow = run.flows.row(0, named=True)
    return float(flow["throughput_bps"] * flow["rtt_mean_s"] / (units.rate(RATE) * setup.POINTS_RTT_MS / 1e3))


def _waiting(run: Run) -> dict[str, float]:
    """Mean time that a packet waits at the link, after the beginning."""
    return {"waiting_s": _mean(run, "queue_packets") * 8 * PACKET_BYTES / units.rate(RATE)}


def _mean(run: Run, metric: str, settled_s: float = _SETTLED_S) -> float:
    """Of the link, after the beginning."""
    return mean_of(_sampled(run, LINK, metric).filter(pl.col("time_s") > settled_s)["value"])


class Fit(NamedTuple):
    """Of the points of a control on logarithmic axes: slope and level, with half their 95 % intervals."""

    slope: float
    slope_half: float
    level: float
    """Geometric mean of what was found over the formula."""
    level_half: float
    law: float
    """The same of the law with losses at random over the formula."""
    beside_law: float
    """Geometric mean of what was found over the law."""
    beside_law_half: float


def _responses(runs: Mapping[str, Run]) -> dict[str, Any]:
    """Packets per round trip beside formula and law at the loss that there was, means over seeds; and fits of them.

    That loss differs from the loss of the link, ``set``, by chance, and the window with it.
    """
    rows = []
    for curve in setup.CURVES:
        for loss in curve.losses:
            for seed, losses in setup.seeds(loss):
                had, window = _response(runs[setup.response_name(curve, loss, seed)])
                formula = curve.formula(had)
                law = setup.at_random(curve.name, loss) * formula / curve.formula(loss)
                rows.append((curve.name, loss, had, window, formula, law, losses))
    found = ["loss", "packets_per_rtt", "formula", "law"]
    points = pl.DataFrame(rows, schema=["control", "set", *found, "losses"], orient="row")
    mean = points.group_by("control", "set", maintain_order=True).agg(pl.col(found).mean())
    return {"mean": mean, "curve": {curve.name: curve for curve in setup.CURVES}} | {
        "fit": {curve.name: _fit(points, curve) for curve in setup.CURVES}
    }


def _fit(points: pl.DataFrame, curve: setup.Curve) -> Fit:
    """Slope and level of a control where its formula is meant to hold."""
    low, high = curve.range
    own = points.filter((pl.col("control") == curve.name) & pl.col("set").is_between(low * 0.99, high * 1.01))
    # The variance of a run's mean falls with the number of its losses.
    weights = own["losses"].to_numpy().astype(float)
    losses = np.log(own["loss"].to_numpy())
    ratios = np.log((own["packets_per_rtt"] / own["formula"]).to_numpy())
    beside = np.log((own["packets_per_rtt"] / own["law"]).to_numpy())
    slope, half = _leading(1, losses, np.log(own["packets_per_rtt"].to_numpy()), weights)
    (level, level_half), (law, _), (beside_law, beside_half) = (
        (math.exp(mean), math.exp(mean) * reach)
        for mean, reach in (_leading(0, losses, logs, weights) for logs in (ratios, ratios - beside, beside))
    )
    return Fit(slope, half, level, level_half, law, beside_law, beside_half)


def _leading(degree: int, x: Array, y: Array, weights: Array) -> tuple[float, float]:
    """The slope of the weighted line through points, or their weighted mean, with half its 95 % interval."""
    found, covariance = np.polyfit(x, y, degree, w=np.sqrt(weights), cov=True)
    return float(found[0]), float(stdtrit(len(x) - degree - 1, 0.975) * np.sqrt(covariance[0, 0]))


def _response(run: Run) -> tuple[float, float]:
    """Share of packets lost and packets per round trip, after the beginning."""
    goodput, dropped = (
        _sampled(run, *of)["value"].to_list()[_SETTLED:] for of in ((FLOW, "goodput_bps"), (LINK, "packets_dropped"))
    )
    step_s = float(run.series["time_s"].unique().sort().diff().drop_nulls()[0])
    arrived = sum(goodput) * step_s / (8 * setup.PAYLOAD_BYTES)
    return sum(dropped) / (arrived + sum(dropped)), fmean(goodput) * RTT_S / (8 * setup.PAYLOAD_BYTES)
