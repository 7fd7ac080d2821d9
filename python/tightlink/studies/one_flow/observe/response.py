"""TCP against the response functions of Mathis and of Padhye et al. (PFTK), at random and at forced loss."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from tightlink.analysis.response import C_DELAYED, C_EVERY, fitted_c, mathis, pftk
from tightlink.reduce import largest
from tightlink.studies.one_flow.setup.response import DELAYS_MS, FEW_SEEDS, LOSSES, PAYLOADS, tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tightlink.run import Run

#: Up to here losses are few enough for Mathis' assumptions: no timeouts.
_FEW: Final = 0.002
#: From here on timeouts rule.
_MANY: Final = 0.02
_ACK_BITS: Final = 320
#: The retransmission timer's lower bound in ns-2, above two round trips of 0.1 s.
_RTO_S: Final = 0.2


def points(runs: Mapping[str, Run]) -> pl.DataFrame:
    """A row for each run under random or forced loss: what was lost, and packets a round trip."""
    rows = []
    for task in tasks():
        _, variant, setting, *seeds = task.name.split("/")
        if not seeds:
            continue
        own = task.scenario.link["bottleneck"]
        flow = runs[task.name].flows.row(0, named=True)
        delay_s, rate = float((own.delay or "0").split()[0]) / 1e3, float(own.rate.split()[0]) * 1e6
        rtt_s = flow["one_way_delay_mean_s"] + delay_s + _ACK_BITS / rate
        loss = flow["packets_dropped"] / flow["packets_sent"]
        rows.append(
            {
                "variant": variant,
                "forced": "queue" if setting.startswith("queue") else "random",
                "setting": setting,
                "loss": loss,
                "packets_per_rtt": flow["goodput_bps"] * rtt_s / 8000,
                "mathis": mathis(loss, _constant(variant)),
                "pftk": pftk(loss, rtt_s=rtt_s, rto_s=_RTO_S, per_ack=2 if "delayed" in variant else 1),
                "timeouts": flow["timeouts"],
            }
        )
    return pl.DataFrame(rows)


def means(frame: pl.DataFrame) -> pl.DataFrame:
    """The mean over the seeds of each setting."""
    keys = ["forced", "variant", "setting"]
    numbers = ["loss", "packets_per_rtt", "mathis", "pftk", "timeouts"]
    return frame.group_by(keys, maintain_order=True).agg(pl.col(number).mean() for number in numbers)


def values(mean: pl.DataFrame, runs: Mapping[str, Run]) -> dict[str, object]:
    """What claims compare, by name."""
    random = mean.filter(pl.col("forced") == "random")
    reno = random.filter(pl.col("variant") == "Reno")
    high = reno.filter(pl.col("loss") > _MANY)
    sizes = [(float(size), f"payload-{size}") for size in PAYLOADS]
    trips = [(2 * delay + _own_ms(delay), f"delay-{delay}") for delay in DELAYS_MS]
    return {
        "response.c_every": fitted(random, "Reno"),
        "response.c_second": fitted(random, "Reno, delayed ACKs"),
        "response.most_over_mathis": largest(reno["packets_per_rtt"] / reno["mathis"]),
        "response.off_reno": _error(random, "Reno"),
        "response.off_tahoe": _error(random, "Tahoe"),
        "response.exponent_of_size": _slope(sizes, runs),
        "response.exponent_of_rtt": _slope(trips, runs),
        "response.exponent_of_loss": _slope_of_loss(reno),
        "response.mathis_over_reno": fmean((high["mathis"] / high["packets_per_rtt"]).to_list()),
        "response.pftk_over_reno": fmean((high["pftk"] / high["packets_per_rtt"]).to_list()),
    }


def curves() -> pl.DataFrame:
    """The two functions, and Mathis' for delayed ACKs."""
    losses = np.geomspace(1e-4, 0.2, 60)
    kinds: dict[str, Callable[[float], float]] = {
        "Mathis, C = √(3/2)": mathis,
        "Mathis, C = √(3/4)": lambda loss: mathis(loss, C_DELAYED),
        "PFTK": lambda loss: pftk(loss, rtt_s=0.1, rto_s=_RTO_S),
    }
    return pl.concat(
        pl.DataFrame(
            {"loss": losses, "packets_per_rtt": [curve(float(loss)) for loss in losses], "curve": [name] * len(losses)}
        )
        for name, curve in kinds.items()
    )


def _constant(variant: str) -> float:
    return C_DELAYED if "delayed" in variant else C_EVERY


def fitted(random: pl.DataFrame, variant: str) -> float:
    """C of a variant, at few losses."""
    chosen = [f"loss-{loss}" for loss in LOSSES if loss <= _FEW]
    own = random.filter((pl.col("variant") == variant) & pl.col("setting").is_in(chosen))
    return fitted_c(own["loss"].to_list(), own["packets_per_rtt"].to_list())


def _error(random: pl.DataFrame, variant: str) -> float:
    """Mean of |W / Mathis − 1| at losses up to 1 %."""
    chosen = [f"loss-{loss}" for loss in LOSSES if loss <= 0.01]
    own = random.filter((pl.col("variant") == variant) & pl.col("setting").is_in(chosen))
    return fmean(abs(ratio - 1) for ratio in (own["packets_per_rtt"] / own["mathis"]).to_list())


def _slope(settings: list[tuple[float, str]], runs: Mapping[str, Run]) -> float:
    """The exponent with which the goodput follows a setting."""
    rates = [
        fmean(runs[f"response/{name}/{seed}"].flows["goodput_bps"][0] for seed in FEW_SEEDS) for _, name in settings
    ]
    return float(np.polyfit([math.log(value) for value, _ in settings], np.log(rates), 1)[0])


def _slope_of_loss(reno: pl.DataFrame) -> float:
    own = reno.filter(pl.col("loss") < 0.012)
    return float(np.polyfit(np.log(own["loss"].to_numpy()), np.log(own["packets_per_rtt"].to_numpy()), 1)[0])


def _own_ms(_delay: float) -> float:
    """What packet and ACK take on the 10 Mbit/s link themselves."""
    return (1040 * 8 + _ACK_BITS) / 1e4
