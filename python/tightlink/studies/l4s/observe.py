"""What is observed: rates, windows and delays of Prague and Classic flows, what queues mark and drop."""

from collections.abc import Mapping
from math import inf, nan, sqrt
from statistics import fmean, geometric_mean
from typing import Any, Final

import polars as pl

from tightlink.lazy import np, stats
from tightlink.reduce import largest, mean_of, samples, smallest
from tightlink.run import Run
from tightlink.studies.l4s import setup
from tightlink.studies.l4s.setup import BATCH_S, LINK, PACKET_BYTES, SETTLED_S, settled_s

_EQUATION_10: Final = setup.PRAGUE / (setup.COUPLING * setup.RENO)
#: A quantile is off by this share of itself and of a sixteenth of the delay of the empty path (docs/limitations.md).
_QUANTILE: Final = 0.008


def observe(runs: Mapping[str, Run]) -> dict[str, Any]:
    """From runs to values and tables, by name."""
    pairs = setup.PAIRS.table(runs, _coupled_pair)
    cubic = pairs.filter(pl.col("classic") == "cubic")
    marking = setup.SINGLE.table(runs, _pair)
    single, pie = (marking.filter(pl.col("queue") == queue).drop("queue") for queue in ("codel", "pie"))
    several = setup.MANY.table(runs, _many)
    overload = setup.OVERLOAD.table(runs, _overload)
    return {
        "setup": vars(setup),
        "pairs": pairs,
        "coexist": {
            classic: {rtt: _over_rates(part) for (rtt,), part in of.group_by("rtt_ms")}
            for (classic,), of in pairs.group_by("classic")
        },
        "delay": {rate: _worst(part) for (rate,), part in cubic.group_by("rate_mbit")},
        "grid": {
            "classic_mean": _range(cubic, "classic_mean_s"),
            "classic_p99": _range(cubic, "classic_p99_s"),
            "prague_dropped": cubic["prague_dropped"].sum(),
            "utilization": cubic["utilization"].min(),
        },
        "coupled_by_rate": ", ".join(
            f"{smallest(part['coupled']):.2f} to {largest(part['coupled']):.2f} at {rate} Mbit/s"
            for (rate,), part in cubic.group_by("rate_mbit", maintain_order=True)
        ),
        "several": several,
        "many": {
            classic: {row["rtt_ms"]: row for row in of.iter_rows(named=True)}
            for (classic,), of in several.group_by("classic")
        },
        "single": single,
        "alike": {
            "most": largest(single["ratio"]),
            "slow_near": largest(_slow(single, 20)["ratio"]),
            "slow": largest(_slow(single, 100)["ratio"]),
            "most_pie": largest(pie["ratio"]),
            "delays": geometric_mean((single["prague_mean_s"] / single["classic_mean_s"]).to_list()),
        },
        "held": setup.PI2.table(runs, lambda run: {"classic_s": _queueing_s(run, "classic")}).with_columns(
            case=pl.format("{}-{}", "flows", "prague")
        ).select("case", "flows", "prague", "classic_s"),
        "step": {mix: _step(run) for mix, run in zip(setup.STEP.levels["mix"], setup.STEP.of(runs), strict=True)},
        "steps": _delays(runs["step/both"]),
        "overload": overload.select(pl.format("{}-{}", "side", pl.col("load").cast(pl.String)).alias("case"),
                                    pl.all()),
        "capable": setup.CAPABLE.table(runs, _overload),
        "apart": {"ratio": _ratio(runs[setup.APART], "near", "far")},
        "small": setup.SMALL.table(runs, _small),
    }  # fmt: skip


def _slow(table: pl.DataFrame, below_ms: float) -> pl.DataFrame:
    """Of the slowest link, what has shorter round trips."""
    return table.filter((pl.col("rate_mbit") == table["rate_mbit"].min()) & (pl.col("rtt_ms") < below_ms))


def _flow(run: Run, label: str) -> dict[str, Any]:
    """The totals of a group of flows."""
    return run.flows.row(by_predicate=pl.col("label") == label, named=True)


def _samples(run: Run, group: str, metric: str, begin_s: float = SETTLED_S, end_s: float = inf) -> pl.Series:
    """The samples of a group's flows, or of a link, within an interval."""
    named = (pl.col("entity") == group) | pl.col("entity").str.starts_with(f"{group}[")
    within = (pl.col("time_s") > begin_s) & (pl.col("time_s") <= end_s)
    return run.series.filter(named & within & (pl.col("metric") == metric))["value"].drop_nulls()


def _mean(run: Run, group: str, metric: str, *interval: float) -> float:
    return mean_of(_samples(run, group, metric, *interval))


def _queueing_s(
    run: Run, group: str, begin_s: float = SETTLED_S, end_s: float = inf, rtt_ms: float = setup.RTT_MS
) -> float:
    """Mean delay of a group's packets in queues, where the rate is not varied."""
    empty_s = rtt_ms / 2e3 + 8 * PACKET_BYTES / (setup.RATE_MBIT * 1e6)
    return _mean(run, group, "one_way_delay_s", begin_s, end_s) - empty_s


def _ratio(run: Run, first: str, second: str, metric: str = "goodput_bps", *interval: float) -> float:
    return _mean(run, first, metric, *interval) / _mean(run, second, metric, *interval)


def expected_ratio(classic: str, rtt_ms: float) -> float:
    """Rate of Prague over that of a Classic control (RFC 9332 Appendix C.2, equations 8 and 10)."""
    rtt_s = rtt_ms / 1e3
    there = setup.SAWTOOTH[classic] * (rtt_s + setup.TARGET_S)
    return _EQUATION_10 * there / max(rtt_s, setup.REFERENCE_RTT_S)


def _pair(run: Run, rate_mbit: float, rtt_ms: float) -> dict[str, Any]:
    """One flow of each kind: rates and windows after the beginning, delays and drops of the whole run."""
    prague, other = _flow(run, "prague"), _flow(run, "classic")
    begin_s = settled_s(rate_mbit, rtt_ms)
    low, high = _ratio_interval(run, begin_s)
    return {
        "settled_s": begin_s,
        "ratio": _ratio(run, "prague", "classic", "goodput_bps", begin_s),
        "ratio_low": low,
        "ratio_high": high,
        "window_ratio": _ratio(run, "prague", "classic", "cwnd_packets", begin_s),
        "utilization": _mean(run, LINK, "utilization", begin_s),
        # Above 1 ms on slow links the RFC allows two packets (§1.4).
        "two_packets_s": 2 * 8 * PACKET_BYTES / (rate_mbit * 1e6),
        **{f"{name}_{what}_s": flow[f"queueing_delay_{what}_s"] for name, flow in
           (("prague", prague), ("classic", other)) for what in ("mean", "p99")},
        "prague_p99_error_s": _quantile_error_s(prague["queueing_delay_p99_s"], rtt_ms),
        "prague_dropped": prague["packets_dropped"],
    }  # fmt: skip


def _coupled_pair(run: Run, rate_mbit: float, rtt_ms: float) -> dict[str, Any]:
    """One flow of each kind in two queues."""
    return _pair(run, rate_mbit, rtt_ms) | _marks(run, settled_s(rate_mbit, rtt_ms))


def _ratio_interval(run: Run, begin_s: float) -> tuple[float, float]:
    """The interval of 95 % of the ratio of rates, from the ratios of batches after the beginning."""
    rates = run.series.filter((pl.col("metric") == "goodput_bps") & (pl.col("time_s") > begin_s))
    batch = ((pl.col("time_s") - begin_s) / BATCH_S).ceil()
    wide = rates.group_by(batch, "entity", maintain_order=True).agg(pl.col("value").mean())
    both = wide.pivot("entity", index="time_s", values="value").drop_nulls()
    logs = np.log((both["prague"] / both["classic"]).to_numpy())
    if logs.size < 2:
        return 0.0, inf
    reach = stats.t.ppf(0.975, logs.size - 1) * logs.std(ddof=1) / sqrt(logs.size)
    return float(np.exp(logs.mean() - reach)), float(np.exp(logs.mean() + reach))


def _quantile_error_s(delay_s: float, rtt_ms: float) -> float:
    """How far a quantile of queueing delays may be off.

    >>> round(_quantile_error_s(0.002, 20) * 1e6)
    21
    """
    return _QUANTILE * (delay_s + rtt_ms / 2e3 / 16)


def _marks(run: Run, begin_s: float = SETTLED_S) -> dict[str, float]:
    """Marks that a flow of Prague gets in a round trip, and over what the share of drops asks for, k √p.

    After the beginning, as rates are: slow start loses much and is marked little, by no probability of the controller.
    """
    dropped = float(_samples(run, LINK, "packets_dropped", begin_s).sum())
    sent_bps = float(_samples(run, "classic", "throughput_bps", begin_s).sum())
    sent = sent_bps * setup.INTERVAL_S / (8 * PACKET_BYTES)
    marked, rate_bps, rtt_s = (
        _mean(run, "prague", metric, begin_s) for metric in ("marked_share", "throughput_bps", "rtt_s")
    )
    return {
        "marks_per_rtt": marked * rate_bps / (8 * PACKET_BYTES) * rtt_s,
        "coupled": marked / (setup.COUPLING * sqrt(dropped / sent)) if dropped else nan,
    }


def _off(ratio: float) -> float:
    """A ratio as a factor of at least one, whichever of the two is the larger."""
    return max(ratio, 1 / ratio)


def _over_rates(part: pl.DataFrame) -> dict[str, Any]:
    """Of one round trip: how far rates are from equal, at worst, at most and surely."""
    worst = max(part.iter_rows(named=True), key=lambda row: _off(row["ratio"]))
    ends = part.select("ratio_low", "ratio_high").rows()
    return {
        "ratios": [f"{ratio:.2f}" for ratio in part.sort("rate_mbit")["ratio"]],
        "off": _off(worst["ratio"]),
        "off_most": max(max(1 / low if low else inf, high) for low, high in ends),
        "off_surely": max(max(low, 1 / high) for low, high in ends),
        "worst": worst,
        "window_ratio": geometric_mean(part["window_ratio"].to_list()),
        "marks_per_rtt": fmean(part["marks_per_rtt"].to_list()),
    }


def _worst(part: pl.DataFrame) -> dict[str, Any]:
    """Of one rate: the longest delays of L4S packets, how far their percentile may be off, and two packets."""
    columns = ("prague_mean_s", "prague_p99_s", "two_packets_s")
    error = part.sort("prague_p99_s").row(-1, named=True)["prague_p99_error_s"]
    return {column: largest(part[column]) for column in columns} | {"error_s": error}


def _range(cubic: pl.DataFrame, column: str) -> dict[str, Any]:
    """Of delays: the least and the most of all places, by rate in words, and their mean."""
    by_rate = [
        f"{smallest(part[column]) * 1e3:.1f} to {largest(part[column]) * 1e3:.1f} ms at {rate} Mbit/s"
        for (rate,), part in cubic.group_by("rate_mbit", maintain_order=True)
    ]
    return {
        "least": smallest(cubic[column]), "most": largest(cubic[column]), "mean": mean_of(cubic[column]),
        "by_rate": ", ".join(by_rate),
    }  # fmt: skip


def _step(run: Run) -> dict[str, Any]:
    """While more flows are there: delays of both queues, and rates of the two kinds, after ten seconds."""
    l4s = [_flow(run, label) for label in ("prague", "prague-joining")]
    found: dict[str, Any] = {what: max(flow[f"queueing_delay_{what}_s"] for flow in l4s) for what in ("mean", "p99")}
    found["error_s"] = _quantile_error_s(found["p99"], setup.RTT_MS)
    late = (setup.JOIN_S + 10, setup.LEAVE_S)
    found["newcomers"] = _ratio(run, "prague-joining", "prague", "goodput_bps", *late)
    queue = samples(run.series, "queueing_delay_s", LINK)
    for name, begin_s, end_s in (("before_s", 10, setup.JOIN_S), ("with_more_s", *late)):
        found[name] = float(queue.filter(pl.col("time_s").is_between(begin_s, end_s))["value"].quantile(0.99) or 0)
    if "classic" in run.flows["label"]:
        found["classic_s"] = _queueing_s(run, "classic", *late)
        found["ratio"] = _ratio(run, "prague-joining", "classic-joining", "goodput_bps", *late)
    return found


def _overload(run: Run) -> dict[str, float]:
    """Beside traffic that does not respond: what the others have, how long all wait, and what is dropped."""
    dropped = {name: _flow(run, name) for name in ("prague", "classic", "unresponsive")}
    lost = {name: flow["packets_dropped"] / flow["packets_sent"] for name, flow in dropped.items()}
    rest = sum(_mean(run, name, "throughput_bps") for name in ("prague", "classic"))
    return {
        "ratio": _ratio(run, "prague", "classic"),
        "rest": rest / (setup.RATE_MBIT * 1e6),
        "prague_s": _queueing_s(run, "prague"),
        "classic_s": _queueing_s(run, "classic"),
        "unresponsive_s": _queueing_s(run, "unresponsive"),
        "unresponsive": _mean(run, "unresponsive", "throughput_bps") / (setup.RATE_MBIT * 1e6),
        **{f"{name}_lost": share for name, share in lost.items()},
    }


def _many(run: Run, classic: str, rtt_ms: float) -> dict[str, float]:
    """Rates and windows of ten flows of each kind; and what equation 10 gives with the round trips that there were."""
    prague_s, other_s = (_flow(run, name)["rtt_mean_s"] for name in ("prague", "classic"))
    measured = _EQUATION_10 * other_s / max(prague_s, setup.REFERENCE_RTT_S)
    return {
        "formula": expected_ratio(classic, rtt_ms),
        "measured": measured,
        "ratio": _ratio(run, "prague", "classic"),
        "window_ratio": _ratio(run, "prague", "classic", "cwnd_packets"),
        **_marks(run),
    }


def _small(run: Run, flows: int) -> dict[str, float]:
    """More flows than windows of two packets fit into the path; their windows are what they have in a round trip."""
    flow = _flow(run, "prague")
    return {
        "mean_s": flow["queueing_delay_mean_s"],
        "rtt_s": flow["rtt_mean_s"],
        "window": flow["packets_delivered"] / flows / setup.DURATION_S * flow["rtt_mean_s"],
        "marked": flow["packets_marked"] / flow["packets_delivered"],
    }


def _delays(run: Run) -> pl.DataFrame:
    """One-way delay over time, of the first flow of each kind."""
    own = pl.col("entity").is_in(["prague", "classic"]) & (pl.col("metric") == "one_way_delay_s")
    return run.series.filter(own).select("time_s", one_way_delay_s="value", flow="entity").drop_nulls()
