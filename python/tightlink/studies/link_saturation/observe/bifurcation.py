"""The bifurcation: both branches, which of them the link is on, and whether it comes back to it."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import polars as pl

from tightlink.analysis.estimates import Fit, power_law
from tightlink.analysis.limits import bifurcation
from tightlink.analysis.limits.bifurcation import Return
from tightlink.lazy import Array
from tightlink.run import Run
from tightlink.studies.link_saturation.observe.saturation import FRAME, Found
from tightlink.studies.link_saturation.setup import variations
from tightlink.studies.link_saturation.setup.interface import BANDWIDTH_BPS, GAP_BYTES, HEADER_BYTES, PROBE
from tightlink.studies.link_saturation.setup.sweeps import NO_BYTES
from tightlink.studies.link_saturation.setup.variations import FILLED_S, PERTURBED, QUEUE, QUEUE_PACKETS

#: Counting whole packets for a second.
_COUNTED: Final = 1e-3
#: Above what counting whole packets in 10 ms does to a sample, ± 1 of 82 at least.
_WITHIN: Final = 0.02
#: Sizes of frames at which branches are drawn.
_SIZES: Final = range(20, 1521, 20)


def branches(found: Found) -> pl.DataFrame:
    """The bifurcation diagram of the main sweep, in frames."""
    critical, top = found.critical_bytes, found.law(FRAME, "cost").throughput_max_bps.value
    return bifurcation.branches(top, critical, sorted([*_SIZES, critical]))


def critical_payload(found: Found) -> float:
    """Payload in bytes below which the saturated branch is the stable one."""
    return found.critical_bytes - HEADER_BYTES


def series(run: Run, kind: str, *, plateau: bool) -> pl.DataFrame:
    """Goodput over time: of the sender alone, or of the whole link where its queue was filled with small packets."""
    own = run.series.filter(pl.col("metric") == "goodput_bps")
    if not (kind == QUEUE and plateau):
        own = own.filter(pl.col("entity") == PROBE)
    return own.group_by("time_s").agg(throughput_bps=pl.col("value").sum()).sort("time_s")


def outcomes(found: Found, runs: Mapping[str, Run]) -> pl.DataFrame:
    """What became of each disturbance.

    Returns:
        disturbance, payload_bytes, branch, start (relative distance from it), returned, end, settled_s, and drained_s,
        the time in which a queue that was filled should be empty.
    """
    goodput, rates = (
        dict(found.table.select("datagram_bytes", name).iter_rows()) for name in ("goodput_bps", "packets_per_s")
    )

    def returned(run: Run, disturbance: str, payload_bytes: int) -> dict[str, Any]:
        saturated = payload_bytes < critical_payload(found)
        own = series(run, disturbance, plateau=saturated)
        after: Return = bifurcation.returns_to_branch(own, goodput[payload_bytes], within=_WITHIN)
        line = BANDWIDTH_BPS / 8 / (payload_bytes + HEADER_BYTES + GAP_BYTES)
        filled = disturbance == QUEUE and saturated
        return {
            "branch": "saturated" if saturated else "free flow",
            **{name: getattr(after, name) for name in ("start", "returned", "end", "settled_s")},
            "drained_s": FILLED_S + QUEUE_PACKETS / (line - rates[payload_bytes]) if filled else None,
        }

    return PERTURBED.table(runs, returned)


def values(found: Found, perturbed: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> dict[str, object]:
    """What claims compare, by name; ``filled`` has the links that a full queue put on the plateau, unstable there."""
    filled = perturbed.filter((pl.col("disturbance") == QUEUE) & (pl.col("branch") == "saturated"))
    return {
        "branches": _nearest(found),
        "filled": filled.with_columns(left=pl.col("returned") & (pl.col("start") > _WITHIN)),
        "normal-form.misfit": _misfit(found.table),
        "normal-form.misfit_no_bytes": _misfit(tables[NO_BYTES.name]),
    }


def _misfit(table: pl.DataFrame) -> float:
    """The largest relative error of T_max · min(1, p / p_c) in line bytes, T_max the line's rate.

    p_c is where the packet rate of the largest saturated size fills the line: nothing is fitted.
    """
    table = table.with_columns(size=pl.col("frame_bytes") + GAP_BYTES)
    low = table.filter(pl.col("utilization") < 1 - _COUNTED).filter(pl.col("datagram_bytes") < 1000)
    fastest = float(low.sort("size")["packets_per_s"].to_list()[-1])
    critical = BANDWIDTH_BPS / 8 / fastest
    rows = table.select("size", "packets_per_s").iter_rows()
    stable = partial(bifurcation.stable_throughput_bps, BANDWIDTH_BPS, critical)
    return float(max(abs(stable(size) / (8 * size * rate) - 1) for size, rate in rows))


def _nearest(found: Found) -> pl.DataFrame:
    """For each measured size the branch that its throughput is nearer to, and the one that should be stable."""
    critical, top = found.critical_bytes, found.law(FRAME, "cost").throughput_max_bps.value
    size, bits = pl.col("frame_bytes"), pl.col("frame_throughput_bps")
    free = {"nearest": (bits - top).abs() < (bits - top * size / critical).abs(), "stable": size > critical}
    kinds = (pl.lit("free flow"), pl.lit("saturated"))
    return found.table.select(
        **{name: pl.when(there).then(kinds[0]).otherwise(kinds[1]) for name, there in free.items()}
    )


# Whether there is a phase between free flow and congestion: how long queues remember, over the load.

#: The sum over lags ends at so many correlation times, where what is left is noise (Sokal 1989, section 3).
_WINDOW: Final = 6.0
#: Of each run, while the queue fills.
_FILLING: Final = 0.02


def table(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each load: the integrated correlation time of the packets in the network, and their mean delay."""
    rows = []
    for load in variations.LOADS:
        tables = [run.table("scatter") for run in variations.PHASES.of(runs, load=load)]
        inside = [scatter["packets_in_network"][int(_FILLING * scatter.height) :] for scatter in tables]
        delivered, waited = (sum(values) for values in zip(*map(_delays, tables), strict=True))
        correlated = float(np.mean([correlation_steps(each.to_numpy().astype(float)) for each in inside]))
        correlation_s = correlated * variations.relaxation_s(load) / variations.SAMPLES
        rows.append((load, correlation_s, waited / delivered, delivered / waited / variations.CAPACITY_PER_S))
    return pl.DataFrame(rows, schema=["load", "correlation_s", "one_way_delay_s", "speed"], orient="row")


def _delays(scatter: pl.DataFrame) -> tuple[float, float]:
    """Packets delivered, and the sum of their delays."""
    delivered = scatter["packets_delivered"].to_numpy().astype(float)
    return float(delivered.sum()), float((scatter["one_way_delay_mean_s"].fill_null(0.0).to_numpy() * delivered).sum())


def correlation_steps(series: Array) -> float:
    """The integrated correlation time of a series in steps: half of one, and the correlations of all lags.

    >>> noise = np.random.default_rng(1).normal(size=20_000)
    >>> bool(abs(correlation_steps(noise) - 0.5) < 0.1)
    True
    """
    centred = series - series.mean()
    power = np.abs(np.fft.rfft(centred, 2 * len(centred))) ** 2
    covariances = np.fft.irfft(power)[: len(centred)] / np.arange(len(centred), 0, -1)
    sums = np.cumsum(covariances / covariances[0]) - 0.5
    enough = np.flatnonzero(np.arange(len(sums)) >= _WINDOW * sums)
    return float(sums[enough[0]])


def phases_values(found: pl.DataFrame) -> dict[str, object]:
    """What claims compare, by name: the exponent of 1 − ρ, and whether a power law breaks somewhere."""
    gaps, times = 1 - found["load"].to_numpy(), found["correlation_s"].to_numpy()
    x, y = np.log(gaps), np.log(times)
    straight = np.column_stack([np.ones_like(x), x])
    # Two power laws that meet at one of the inner loads.
    broken = (Fit.least_squares(np.column_stack([straight, np.maximum(0, x - at)]), y, breaks=1) for at in x[1:-1])
    return {
        "phases.exponent": power_law(gaps, times)[0],
        "phases.straight": Fit.least_squares(straight, y)[1],
        "phases.broken": min((fit for _, fit in broken), key=lambda fit: fit.squares),
    }
